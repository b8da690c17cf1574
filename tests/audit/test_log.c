/* SPDX-License-Identifier: Apache-2.0 */
/* test_log.c - what is written to the audit log can be read again, all of it. */
#include <cjson/cJSON.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "tests/audit/plain_event.h"
#include "tests/unit/tap.h"

/* The line that one event becomes, owned by the caller. */
static char *line_of(const struct aw_event *event)
{
	AW_CLOSE int fd = scratch_file();
	struct aw_error err = {0};
	struct aw_log *log;

	if (aw_log_open(dup(fd), "s1", &log, &err) < 0 ||
		aw_log_write(log, event, &err) < 0)
		note("%s", err.text);
	aw_log_close(log);
	return slurp(fd);
}

/* True when the line of event has text, byte for byte, as its member key. */
static bool comes_back(
	const char *key, const struct aw_event *event, struct aw_text text)
{
	AW_FREE char *line = line_of(event);
	cJSON *root = cJSON_Parse(line);
	char *value = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(root, key));
	size_t len = value ? aw_text_decode(value, strlen(value)) : 0;
	bool same = value && len == text.len && !memcmp(value, text.bytes, len);

	cJSON_Delete(root);
	return same;
}

static void a_call_has_its_fields_in_order(void)
{
	static const struct aw_rule rule = {"p.yaml", 7, "~/.ssh", "global"};
	struct aw_event event = plain;
	AW_FREE char *line = NULL;

	event.verdict = AW_DENY;
	event.enforced = true;
	event.rule = &rule;
	event.strength = "supervisor";
	event.source = AW_FROM_KERNEL;
	event.result_known = true;
	event.result = EACCES;
	event.extra = "\"mcp\":\"files\"";
	line = line_of(&event);
	ok(!strcmp(line,
		   "{\"v\":1,\"seq\":1,\"ts\":\"2023-11-14T22:13:20.123456789Z\","
		   "\"session\":\"s1\",\"pid\":42,\"ppid\":1,\"exe\":\"/bin/cat\","
		   "\"event\":\"call\",\"call\":\"openat\",\"action\":\"read\","
		   "\"path\":\"/etc/passwd\",\"verdict\":\"deny\",\"enforced\":true,"
		   "\"rule\":{\"file\":\"p.yaml\",\"line\":7,\"text\":\"~/.ssh\","
		   "\"layer\":\"global\"},\"strength\":\"supervisor\","
		   "\"source\":\"kernel\",\"result\":\"EACCES\",\"mcp\":\"files\"}\n"),
		"a call is one line with its fields in order");
}

static void the_other_kinds(void)
{
	static const struct aw_text argv[] = {{"git", 3}, {"push", 4}, {"", 0}};
	struct aw_event exec = plain, end = plain, net = plain, asked = plain;
	AW_FREE char *exec_line = NULL;
	AW_FREE char *end_line = NULL;
	AW_FREE char *signal_line = NULL;
	AW_FREE char *net_line = NULL;
	AW_FREE char *asked_line = NULL;

	exec.kind = AW_EV_EXEC;
	exec.argv = argv;
	exec.argc = 3;
	exec.cwd = TEXT("/src");
	exec_line = line_of(&exec);
	ok(strstr(exec_line, "\"argv\":[\"git\",\"push\",\"\"],\"cwd\":\"/src\"") !=
			NULL,
		"an exec carries its whole vector, empty strings too");
	ok(strstr(exec_line, "\"verdict\":\"allow\"") != NULL, "and its verdict");

	end.kind = AW_EV_EXIT;
	end.status = 3;
	end_line = line_of(&end);
	ok(strstr(end_line, "\"status\":3}") != NULL, "an exit has a number");
	end.status_signal = "SIGKILL";
	signal_line = line_of(&end);
	ok(strstr(signal_line, "\"status\":\"SIGKILL\"}") != NULL,
		"or a signal's name");

	net.action = AW_CONNECT;
	net.path = (struct aw_text){0};
	net.family = AF_INET6;
	net.address = TEXT("::1");
	net.port = 443;
	net.host = TEXT("api.example.com");
	net_line = line_of(&net);
	ok(strstr(net_line,
		   "\"address\":\"::1\",\"port\":443,\"host\":\"api.example.com\","
		   "\"family\":\"inet6\"") != NULL,
		"a connection has address, port, host and family");

	asked.verdict = AW_ASK;
	asked.ask_denied = true;
	asked_line = line_of(&asked);
	ok(strstr(asked_line, "\"verdict\":\"ask-deny\"") != NULL,
		"a question that nobody granted is ask-deny");
}

static void every_byte_comes_back(void)
{
	static const struct {
		const char *what;
		struct aw_text text;
	} cases[] = {
		{"plain text", {"/tmp/a", 6}},
		{"quotes and backslashes", {"a\"b\\c", 5}},
		{"control characters", {"\x01\t\n\x1b[31m\x7f", 9}},
		{"UTF-8 of all lengths", {"a\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80", 10}},
		{"a lone continuation byte", {"x\x80y", 3}},
		{"a cut sequence at the end", {"x\xe2\x82", 3}},
		{"an overlong slash", {"\xc0\xaf", 2}},
		{"a surrogate", {"\xed\xa0\x80", 3}},
		{"past the last character", {"\xf4\x90\x80\x80", 4}},
		{"bytes that no text has", {"\xff\xfe\xf8", 3}},
		{"a genuine U+EF80", {"\xee\xbe\x80", 3}},
		{"a genuine U+EFFF", {"\xee\xbf\xbf", 3}},
		{"a genuine U+EF00", {"\xee\xbc\x80", 3}},
		{"their neighbours", {"\xee\xbd\xbf\xef\x80\x80", 6}},
		{"NUL in an abstract name", {"@a\0b", 4}},
		{"a C1 control character", {"\xc2\x9b"
					    "31m",
						   5}},
		{"a byte order mark", {"\xef\xbb\xbf", 3}},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct aw_event event = plain;

		event.path = cases[i].text;
		ok(comes_back("path", &event, cases[i].text), "%s comes back exactly",
			cases[i].what);
	}
}

/* Mostly bytes around the lead bytes of UTF-8, where the mistakes are. */
static void fill_random(char *bytes, size_t len)
{
	static unsigned state = 12345;

	for (size_t i = 0; i < len; i++) {
		state = state * 1103515245 + 12345;
		bytes[i] = (char)(state >> 16 & 1 ? 0xe0 | (state >> 20 & 0x1f)
						  : state >> 20);
	}
}

static void random_bytes_come_back(void)
{
	bool all = true;

	for (int round = 0; round < 2000 && all; round++) {
		struct aw_event event = plain;
		char bytes[64];

		fill_random(bytes, sizeof(bytes));
		event.path = (struct aw_text){bytes, 1 + (size_t)round % 64};
		all = comes_back("path", &event, event.path);
	}
	ok(all, "2,000 random names come back exactly");
}

/* The same with a reader that shares no code with us. */
static void another_reader_agrees(void)
{
	char name[] = "/tmp/aw-test-log.XXXXXX", command[128], hex[160];
	struct aw_error err = {0};
	struct aw_log *log;
	int r;

	if (system("python3 -c pass 2>/dev/null")) {
		printf("ok %u - another reader agrees # SKIP no python3\n",
			++tap_count);
		return;
	}
	aw_log_open(mkstemp(name), "s1", &log, &err);
	for (int round = 0; round < 2000; round++) {
		struct aw_event event = plain;
		char bytes[64];
		int at = snprintf(hex, sizeof(hex), "\"hex\":\"");

		fill_random(bytes, sizeof(bytes));
		event.path = (struct aw_text){bytes, 1 + (size_t)round % 64};
		for (size_t i = 0; i < event.path.len; i++)
			at += sprintf(hex + at, "%02x", (unsigned char)bytes[i]);
		strcpy(hex + at, "\"");
		event.extra = hex;
		aw_log_write(log, &event, &err);
	}
	aw_log_close(log);
	snprintf(command, sizeof(command), "python3 tests/audit/read_log.py %s", name);
	r = system(command);
	ok(r == 0, "another reader agrees");
	unlink(name);
}

static void huge_paths(void)
{
	struct aw_event event = plain;
	char path[4095 + 1];

	/* Not terminated: the byte behind it would show. */
	memset(path, 'p', sizeof(path));
	path[4095] = 'X';
	event.path = (struct aw_text){path, 4095};
	ok(comes_back("path", &event, event.path), "a path of 4,095 bytes comes back");
	memset(path, 0xff, 4095);
	ok(comes_back("path", &event, event.path), "and one where no byte is UTF-8");
	memset(path, 1, 4095);
	ok(comes_back("path", &event, event.path),
		"and one of control characters only");
}

static void seq_has_no_gaps(void)
{
	enum { MANY = 5000 };
	AW_CLOSE int fd = scratch_file();
	AW_FREE char *text = NULL;
	struct aw_error err = {0};
	struct aw_log *log;
	unsigned long expected = 1;
	bool good = true;

	aw_log_open(dup(fd), "s1", &log, &err);
	for (int i = 0; i < MANY; i++)
		aw_log_write(log, &plain, &err);
	ok(aw_log_counts(log)->calls == MANY, "every call is counted");
	aw_log_close(log);
	text = slurp(fd);
	for (char *line = strtok(text, "\n"); line && good; line = strtok(NULL, "\n")) {
		cJSON *root = cJSON_Parse(line);
		const cJSON *seq = cJSON_GetObjectItemCaseSensitive(root, "seq");

		good = seq && seq->valuedouble == (double)expected++;
		cJSON_Delete(root);
	}
	ok(good && expected == MANY + 1, "5,000 lines are numbered without a gap");
}

static void counting_without_a_file(void)
{
	struct aw_event event = plain;
	struct aw_error err = {0};
	struct aw_log *log;
	char line[256];

	aw_log_open(-1, "s1", &log, &err);
	aw_log_write(log, &plain, &err);
	ok(!aw_summary_line(aw_log_counts(log), AW_AUDIT, "s1", line, sizeof(line)),
		"without denials there is nothing to say");
	event.verdict = AW_HIDE;
	aw_log_write(log, &event, &err);
	event.verdict = AW_ASK;
	aw_log_write(log, &event, &err);
	event.ask_denied = true;
	aw_log_write(log, &event, &err);
	aw_summary_line(aw_log_counts(log), AW_AUDIT, "s1", line, sizeof(line));
	ok(!strcmp(line,
		   "2 of 4 calls would have been denied; see: agentwatch log --denied s1"),
		"%s", line);
	aw_summary_line(aw_log_counts(log), AW_ENFORCE, "s1", line, sizeof(line));
	ok(!strcmp(line, "2 of 4 calls were denied; see: agentwatch log --denied s1"),
		"%s", line);
	aw_log_close(log);
	aw_log_close(NULL);
}

int main(void)
{
	a_call_has_its_fields_in_order();
	the_other_kinds();
	every_byte_comes_back();
	random_bytes_come_back();
	another_reader_agrees();
	huge_paths();
	seq_has_no_gaps();
	counting_without_a_file();
	return done();
}
