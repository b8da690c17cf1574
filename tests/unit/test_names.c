/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_names.c - the addresses of allowed names, against a hosts file and a name server
 * of the test's own.
 */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <pthread.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <net/if.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <time.h>

#include "supervisor/decide/host_names.h"
#include "tests/unit/policy_text.h"

static char hosts[] = "/tmp/aw-hosts-XXXXXX", resolver[] = "/tmp/aw-resolv-XXXXXX";

static void write_file(const char *path, const char *text)
{
	FILE *file = fopen(path, "w");

	if (!file || fputs(text, file) < 0)
		abort();
	fclose(file);
}

static void map_self(const char *file, unsigned id)
{
	char text[64];
	FILE *out = fopen(file, "w");

	snprintf(text, sizeof(text), "0 %u 1\n", id);
	if (out) {
		fputs(text, out);
		fclose(out);
	}
}

/* Loopback up, and files of our own in place of the system's. */
static bool own_world(void)
{
	struct ifreq lo = {.ifr_name = "lo", .ifr_flags = IFF_UP};
	unsigned user = geteuid(), group = getegid();
	int fd;

	if (unshare(CLONE_NEWNS | CLONE_NEWNET) < 0) {
		if (unshare(CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWNET) < 0)
			return false;
		write_file("/proc/self/setgroups", "deny");
		map_self("/proc/self/uid_map", user);
		map_self("/proc/self/gid_map", group);
	}
	fd = socket(AF_INET, SOCK_DGRAM, 0);
	if (fd < 0 || ioctl(fd, SIOCSIFFLAGS, &lo) < 0)
		return false;
	close(fd);
	return mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0 &&
	       mount(hosts, "/etc/hosts", NULL, MS_BIND, NULL) == 0 &&
	       mount(resolver, "/etc/resolv.conf", NULL, MS_BIND, NULL) == 0;
}

static struct aw_names *names_for(const char *allow)
{
	struct aw_names *names = NULL;
	struct aw_image *image;
	struct aw_error err;
	char text[512];

	snprintf(text, sizeof(text), "network: {default: deny, allow: [%s]}", allow);
	image = image_of(text);
	if (aw_names_create(image, &names, &err) < 0)
		abort();
	free(image);
	return names;
}

/* Whose address is this?  Names with blanks between them. */
static const char *whose(struct aw_names *names, const char *text)
{
	struct aw_address address = {.family = AF_INET, .port = 443};
	static char all[256];
	const char *found[4];
	size_t count;

	if (inet_pton(AF_INET, text, address.bytes) != 1) {
		address.family = AF_INET6;
		if (inet_pton(AF_INET6, text, address.bytes) != 1)
			abort();
	}
	count = aw_names_of(names, &address, found, 4);
	all[0] = '\0';
	for (size_t i = 0; i < count; i++)
		snprintf(all + strlen(all), sizeof(all) - strlen(all), "%s%s",
			i ? " " : "", found[i]);
	return all;
}

static double seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* The same as soon as something is known, or after two seconds. */
static const char *soon(struct aw_names *names, const char *text)
{
	double end = seconds() + 2;

	while (!*whose(names, text) && seconds() < end)
		usleep(1000);
	return whose(names, text);
}

static void allowed_names_are_known_by_their_addresses(void)
{
	struct aw_names *names = names_for(
		"'api.test:443', 'two.test', '*.wild.test', '!gone.test', localhost, nowhere.test");

	ok(!*whose(names, "192.0.2.10"), "nobody waits for the first look-ups");
	/* the rest of the round */
	ok(strcmp(soon(names, "192.0.2.10"), "api.test") == 0 &&
			strcmp(soon(names, "192.0.2.20"), "two.test") == 0,
		"an IPv4 address");
	ok(strcmp(whose(names, "2001:db8::7"), "api.test") == 0, "an IPv6 address");
	ok(strcmp(whose(names, "::ffff:192.0.2.10"), "api.test") == 0,
		"IPv4 in IPv6 clothing");
	ok(!*whose(names, "192.0.2.30"), "a wildcard has no addresses");
	ok(!*whose(names, "192.0.2.40"), "a name that is taken out has none");
	ok(!*whose(names, "192.0.2.99"), "an address that nobody has");
	ok(!*whose(names, "127.0.0.1"), "localhost is not looked up");
	aw_names_free(names);
}

static void other_rules_come_with_a_reload(void)
{
	struct aw_names *names = names_for("api.test");
	struct aw_image *image =
		image_of("network: {default: deny, allow: [two.test, same.test]}");
	struct aw_error err;
	const char *both;

	ok(*soon(names, "192.0.2.10"), "before, one name is known");
	ok(aw_names_reload(names, image, &err) == 0, "a reload");
	free(image);
	ok(!*whose(names, "192.0.2.10"), "after, it is not");
	for (int i = 0; i < 2000 && !strchr(whose(names, "192.0.2.20"), ' '); i++)
		usleep(1000);
	both = whose(names, "192.0.2.20");
	ok(strstr(both, "two.test") && strstr(both, "same.test"),
		"but others are, two of one address");
	aw_names_free(names);
}

static void *ask_often(void *names)
{
	size_t wrong = 0;

	for (int i = 0; i < 2000; i++) {
		struct aw_address address = {
			.family = AF_INET, .bytes = {192, 0, 2, 10}};
		const char *found[2];

		wrong += aw_names_of(names, &address, found, 2) != 1 ||
			 strcmp(found[0], "api.test") != 0;
	}
	return (void *)wrong;
}

static void threads_may_ask_at_once(void)
{
	struct aw_names *names = names_for("api.test, two.test");
	size_t wrong = !*soon(names, "192.0.2.10");
	pthread_t threads[4];
	void *result;

	for (int i = 0; i < 4; i++)
		if (pthread_create(&threads[i], NULL, ask_often, names))
			abort();
	for (int i = 0; i < 4; i++) {
		pthread_join(threads[i], &result);
		wrong += (size_t)result;
	}
	ok(wrong == 0, "four threads get the same answers");
	aw_names_free(names);
}

static void a_denial_is_judged_again_by_name(void)
{
	struct aw_names *names = names_for("'api.test:443'");
	struct aw_image *image =
		image_of("network: {default: deny, allow: ['api.test:443']}");
	struct aw_address address = {
		.family = AF_INET, .port = 443, .bytes = {192, 0, 2, 10}};
	struct aw_decision denied = {AW_DENY, AW_NO_RULE}, decision = denied;

	aw_names_decide(names, image, 0, AW_CONNECT, &address, &decision);
	ok(decision.verdict == AW_DENY && !address.host, "at first it stands");
	soon(names, "192.0.2.10");
	aw_names_decide(names, image, 0, AW_CONNECT, &address, &decision);
	ok(decision.verdict == AW_ALLOW && address.host &&
			strcmp(address.host, "api.test") == 0,
		"once it is known the name allows the address");
	address.host = NULL;
	address.port = 80;
	decision = denied;
	aw_names_decide(names, image, 0, AW_CONNECT, &address, &decision);
	ok(decision.verdict == AW_DENY && !address.host, "at its port alone");
	address.port = 443;
	decision = (struct aw_decision){AW_DENY, 0};
	aw_names_decide(names, image, 0, AW_CONNECT, &address, &decision);
	ok(decision.verdict == AW_DENY, "a rule that denies it stands");
	decision = denied;
	aw_names_decide(names, image, 0, AW_BIND, &address, &decision);
	ok(decision.verdict == AW_DENY, "listening has nothing to do with it");
	free(image);
	aw_names_free(names);
}

static void a_new_address_is_found(void)
{
	struct aw_names *names = names_for("api.test");

	ok(*soon(names, "192.0.2.10") && !*whose(names, "192.0.2.11"),
		"an address that a name does not have yet");
	write_file(hosts, "192.0.2.11 api.test\n");
	sleep(AW_NAMES_RETRY_S);
	ok(*soon(names, "192.0.2.11"), "is known soon after the name has it");
	aw_names_free(names);
}

static void a_dead_name_server_holds_nobody_up(void)
{
	struct sockaddr_in here = {.sin_family = AF_INET,
		.sin_port = htons(53),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	int fd = socket(AF_INET, SOCK_DGRAM, 0);
	struct aw_names *names = names_for("dead.example");
	double start = seconds();

	if (fd < 0 || bind(fd, (struct sockaddr *)&here, sizeof(here)) < 0)
		abort();
	ok(!*whose(names, "192.0.2.10") && !*whose(names, "192.0.2.10"),
		"nothing is known without a name server");
	aw_names_free(names);
	ok(seconds() - start < 0.5, "and nobody waits for it, nor for its end (%.1f s)",
		seconds() - start);
	close(fd);
}

static void without_names_there_is_no_wait(void)
{
	struct aw_names *names = names_for("'10.0.0.0/8', localhost");
	double start = seconds();

	ok(!*whose(names, "10.0.0.1") && seconds() - start < 0.2,
		"rules without names cost no time");
	aw_names_free(names);
}

int main(void)
{
	int a = mkstemp(hosts), b = mkstemp(resolver);

	if (a < 0 || b < 0)
		abort();
	write_file(hosts, "127.0.0.1 localhost\n192.0.2.10 api.test\n2001:db8::7 "
			  "api.test\n192.0.2.20 two.test same.test\n192.0.2.30 "
			  "x.wild.test\n192.0.2.40 gone.test\n");
	write_file(resolver, "nameserver 127.0.0.1\n");
	if (!own_world()) {
		unlink(hosts);
		unlink(resolver);
		printf("1..0 # SKIP no mount or network namespace here\n");
		return 0;
	}
	without_names_there_is_no_wait();
	allowed_names_are_known_by_their_addresses();
	other_rules_come_with_a_reload();
	threads_may_ask_at_once();
	a_denial_is_judged_again_by_name();
	a_new_address_is_found();
	a_dead_name_server_holds_nobody_up();
	unlink(hosts);
	unlink(resolver);
	return done();
}
