/* SPDX-License-Identifier: Apache-2.0 */
/* trust_store.c - the file of records: read whole, replaced whole. */
#include <cjson/cJSON.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "supervisor/launch/trust.h"
#include "supervisor/session/folders.h"
#include "supervisor/util/cleanup.h"
#include "supervisor/util/json.h"

enum { RECORDS_MAX = 4096, BYTES_MAX = 4 * 1024 * 1024 };

/* A file of agentwatch's state directory, which is made when make is true. */
static int name_file(bool make, const char *name, char **ret, struct aw_error *err)
{
	AW_FREE char *sessions = NULL;

	if (aw_sessions_directory(make, &sessions, err) < 0)
		return -1;
	*strrchr(sessions, '/') = '\0';
	if (asprintf(ret, "%s/%s", sessions, name) < 0)
		return aw_fail(err, ENOMEM, "out of memory");
	return 0;
}

void aw_trust_records_release(struct aw_trust_records *records)
{
	for (size_t i = 0; i < records->count; i++)
		free(records->items[i].workspace);
	free(records->items);
	memset(records, 0, sizeof(*records));
}

const struct aw_trust_record *aw_trust_find(
	const struct aw_trust_records *records, const char *workspace)
{
	for (size_t i = 0; i < records->count; i++)
		if (strcmp(records->items[i].workspace, workspace) == 0)
			return &records->items[i];
	return NULL;
}

static int add(struct aw_trust_records *records, const struct aw_trust_record *record,
	struct aw_error *err)
{
	struct aw_trust_record *items =
		realloc(records->items, (records->count + 1) * sizeof(*items));
	AW_FREE char *workspace = strdup(record->workspace);

	if (items)
		records->items = items;
	if (!items || !workspace)
		return aw_fail(err, ENOMEM, "out of memory");
	items[records->count] = *record;
	items[records->count++].workspace = aw_take_ptr(&workspace);
	return 0;
}

static void drop(struct aw_trust_records *records, size_t i)
{
	free(records->items[i].workspace);
	records->count--;
	memmove(&records->items[i], &records->items[i + 1],
		(records->count - i) * sizeof(*records->items));
}

static const char *text_of(const cJSON *root, const char *key, size_t size)
{
	const cJSON *item = cJSON_GetObjectItemCaseSensitive(root, key);
	const char *text = cJSON_IsString(item) ? item->valuestring : NULL;

	return text && *text && (!size || strlen(text) < size) ? text : NULL;
}

static int take_line(
	struct aw_trust_records *records, const cJSON *root, struct aw_error *err)
{
	const char *sha256 = text_of(root, "sha256", AW_SHA256_TEXT);
	struct aw_trust_record record = {.workspace = NULL};
	const char *date = text_of(root, "date", sizeof(record.date));
	const char *workspace = text_of(root, "workspace", 0);
	const cJSON *owner = cJSON_GetObjectItemCaseSensitive(root, "owner");
	AW_FREE char *decoded = workspace ? strdup(workspace) : NULL;

	if (!sha256 || strlen(sha256) != AW_SHA256_TEXT - 1 || !date || !decoded ||
		!cJSON_IsNumber(owner))
		return aw_fail(err, EINVAL, "it is no record");
	aw_text_decode(decoded, strlen(decoded));
	record.workspace = decoded;
	memcpy(record.sha256, sha256, AW_SHA256_TEXT);
	snprintf(record.date, sizeof(record.date), "%s", date);
	record.owner = (unsigned)owner->valuedouble;
	return add(records, &record, err);
}

static int take_text(struct aw_trust_records *records, char *text, struct aw_error *err)
{
	char *line, *rest = text;

	for (unsigned n = 1; (line = strsep(&rest, "\n")); n++) {
		cJSON *root = *line ? cJSON_Parse(line) : NULL;
		int r = 0;

		if (*line && (!root || n > RECORDS_MAX))
			r = aw_fail(err, EINVAL, "it is no record");
		if (*line && !r)
			r = take_line(records, root, err);
		cJSON_Delete(root);
		if (r < 0)
			return aw_while(err, "line %u", n);
	}
	return 0;
}

/* The text of the file, terminated; NULL in *ret when there is none. */
static int read_text(const char *path, char **ret, struct aw_error *err)
{
	AW_CLOSE int fd =
		open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
	AW_FREE char *text = NULL;
	size_t len = 0;
	struct stat st;
	ssize_t n;

	if (fd < 0 && (errno == ENOENT || errno == ENOTDIR))
		return 0;
	if (fd < 0 || fstat(fd, &st) < 0)
		return aw_fail(err, errno, "%s",
			errno == ELOOP ? "it is a symbolic link" : strerror(errno));
	if (!S_ISREG(st.st_mode))
		return aw_fail(err, EPERM, "it is not a regular file");
	if (st.st_uid != geteuid() && st.st_uid != 0)
		return aw_fail(err, EPERM,
			"it belongs to user %u, not to you; set HOME or XDG_STATE_HOME "
			"to a directory of your own",
			(unsigned)st.st_uid);
	if (st.st_mode & 022)
		return aw_fail(
			err, EPERM, "others can write to it; after a look, chmod 600");
	if (st.st_size > BYTES_MAX)
		return aw_fail(err, EFBIG, "it is larger than 4 MiB");
	text = malloc((size_t)st.st_size + 1);
	if (!text)
		return aw_fail(err, ENOMEM, "out of memory");
	while (len < (size_t)st.st_size &&
		(n = read(fd, text + len, (size_t)st.st_size - len)) != 0) {
		if (n < 0 && errno != EINTR)
			return aw_fail(err, errno, "%s", strerror(errno));
		len += n > 0 ? (size_t)n : 0;
	}
	text[len] = '\0';
	*ret = aw_take_ptr(&text);
	return 0;
}

int aw_trust_read(struct aw_trust_records *ret, struct aw_error *err)
{
	struct aw_trust_records records = {.items = NULL};
	AW_FREE char *path = NULL;
	AW_FREE char *text = NULL;

	memset(ret, 0, sizeof(*ret));
	if (name_file(false, "trusted.jsonl", &path, err) < 0)
		return -1;
	if (read_text(path, &text, err) < 0 ||
		(text && take_text(&records, text, err) < 0)) {
		aw_trust_records_release(&records);
		return aw_while(err, "%s", path);
	}
	*ret = records;
	return 0;
}

static void put_record(struct aw_json *json, const struct aw_trust_record *record)
{
	AW_JSON_LITERAL(json, "{\"workspace\":");
	aw_json_string(json, record->workspace, strlen(record->workspace));
	AW_JSON_LITERAL(json, ",\"file\":\"" AW_TRUST_FILE "\",\"sha256\":");
	aw_json_string(json, record->sha256, strlen(record->sha256));
	AW_JSON_LITERAL(json, ",\"date\":");
	aw_json_string(json, record->date, strlen(record->date));
	AW_JSON_LITERAL(json, ",\"owner\":");
	aw_json_unsigned(json, record->owner);
	AW_JSON_LITERAL(json, "}\n");
}

static int write_all(int fd, const char *bytes, size_t len)
{
	while (len > 0) {
		ssize_t n = write(fd, bytes, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return -1;
		bytes += n;
		len -= (size_t)n;
	}
	return 0;
}

static int replace_text(const char *path, const struct aw_json *text)
{
	AW_FREE char *fresh = NULL;
	AW_CLOSE int fd = -1;

	if (text->failed || asprintf(&fresh, "%s.new", path) < 0) {
		errno = ENOMEM;
		return -1;
	}
	unlink(fresh); /* of a writer that died: we hold the lock */
	fd = open(fresh, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0)
		return -1;
	if (write_all(fd, text->bytes, text->len) < 0 || fsync(fd) < 0 ||
		rename(fresh, path) < 0) {
		int saved = errno;

		unlink(fresh);
		errno = saved;
		return -1;
	}
	return 0;
}

static int write_records(
	const char *path, const struct aw_trust_records *records, struct aw_error *err)
{
	struct aw_json text = {.bytes = NULL};
	int r;

	for (size_t i = 0; i < records->count; i++)
		put_record(&text, &records->items[i]);
	r = replace_text(path, &text);
	if (r < 0)
		aw_fail(err, errno,
			"writing %s: %s; from inside a session nothing can be trusted",
			path, strerror(errno));
	aw_json_free(&text);
	return r;
}

/*
 * One writer at a time, and each for a moment: who holds the lock longer, which takes
 * no more than a descriptor to read by, is not waited for.  The lock goes when the
 * descriptor does.
 */
enum { LOCK_TRIES = 250 };

static int lock_records(int *ret_fd, struct aw_error *err)
{
	const struct timespec pause = {.tv_nsec = 20000000};
	AW_FREE char *path = NULL;
	AW_CLOSE int fd = -1;

	if (name_file(true, "trusted.lock", &path, err) < 0)
		return -1;
	fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0)
		return aw_fail(err, errno,
			"writing %s: %s; from inside a session nothing can be trusted",
			path, strerror(errno));
	for (int tries = LOCK_TRIES; flock(fd, LOCK_EX | LOCK_NB) < 0; tries--) {
		if ((errno != EWOULDBLOCK && errno != EINTR) || !tries)
			return aw_fail(err, errno,
				"locking %s: %s; another program holds the lock, "
				"`fuser %s` names it",
				path, strerror(errno), path);
		nanosleep(&pause, NULL);
	}
	*ret_fd = aw_take_fd(&fd);
	return 0;
}

/* Take out the record of a workspace, and put in record when there is one. */
static int change(const char *workspace, const struct aw_trust_record *record,
	bool *ret_found, struct aw_error *err)
{
	struct aw_trust_records records = {.items = NULL};
	AW_FREE char *path = NULL;
	AW_CLOSE int lock = -1;
	bool found = false;
	int r;

	if (name_file(true, "trusted.jsonl", &path, err) < 0 ||
		lock_records(&lock, err) < 0 || aw_trust_read(&records, err) < 0)
		return -1;
	for (size_t i = records.count; i-- > 0;)
		if (strcmp(records.items[i].workspace, workspace) == 0) {
			drop(&records, i);
			found = true;
		}
	r = record && records.count == RECORDS_MAX
		    ? aw_fail(err, EFBIG, "%s has %d records already", path,
			      RECORDS_MAX)
		    : 0;
	if (!r && record)
		r = add(&records, record, err);
	if (!r && (record || found))
		r = write_records(path, &records, err);
	aw_trust_records_release(&records);
	if (!r && ret_found)
		*ret_found = found;
	return r;
}

int aw_trust_record(
	const char *workspace, const char *sha256, uid_t owner, struct aw_error *err)
{
	struct aw_trust_record record = {
		.workspace = (char *)workspace, .owner = (unsigned)owner};
	time_t now = time(NULL);
	struct tm utc;

	snprintf(record.sha256, sizeof(record.sha256), "%s", sha256);
	if (!gmtime_r(&now, &utc) ||
		!strftime(record.date, sizeof(record.date), "%Y-%m-%dT%H:%M:%SZ", &utc))
		return aw_fail(err, EOVERFLOW, "the clock makes no sense");
	return change(workspace, &record, NULL, err);
}

int aw_trust_forget(const char *workspace, bool *ret_found, struct aw_error *err)
{
	return change(workspace, NULL, ret_found, err);
}
