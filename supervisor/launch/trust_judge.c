/* SPDX-License-Identifier: Apache-2.0 */
/* trust_judge.c - is a workspace's policy still the one that was trusted? */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "supervisor/cli/say.h"
#include "supervisor/launch/trust.h"
#include "supervisor/util/cleanup.h"

enum { FILE_MAX = 1024 * 1024 };

/* Why a file that is there can not be trusted, as the end of a sentence about it. */
static int check_fit(const struct stat *st, struct aw_error *err)
{
	if (!S_ISREG(st->st_mode))
		return aw_fail(err, EPERM, "is not a regular file");
	if (st->st_uid != geteuid() && st->st_uid != 0)
		return aw_fail(err, EPERM, "belongs to user %u, neither you nor root",
			(unsigned)st->st_uid);
	if (st->st_mode & 022)
		return aw_fail(err, EPERM,
			"can be written by others (mode %04o; chmod go-w changes that)",
			(unsigned)st->st_mode & 07777);
	if (st->st_size > FILE_MAX)
		return aw_fail(err, EPERM, "is larger than 1 MiB");
	return 0;
}

static int read_all(int fd, char **ret, size_t *ret_len, struct aw_error *err)
{
	AW_FREE char *bytes = malloc(FILE_MAX + 1);
	size_t len = 0;
	ssize_t n;

	if (!bytes)
		return aw_fail(err, ENOMEM, "out of memory");
	while (len <= FILE_MAX && (n = read(fd, bytes + len, FILE_MAX + 1 - len)) != 0)
		if (n > 0)
			len += (size_t)n;
		else if (errno != EINTR)
			return aw_fail(
				err, errno, "cannot be read: %s", strerror(errno));
	if (len > FILE_MAX)
		return aw_fail(err, EPERM, "is larger than 1 MiB");
	*ret = aw_take_ptr(&bytes);
	*ret_len = len;
	return 0;
}

int aw_trust_read_file(const char *file, char **ret_bytes, size_t *ret_len,
	uid_t *ret_owner, struct aw_error *err)
{
	AW_CLOSE int fd =
		open(file, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
	struct stat st;

	if (fd < 0 && errno == ELOOP)
		return aw_fail(err, EPERM, "is a symbolic link");
	if (fd < 0 || fstat(fd, &st) < 0)
		return aw_fail(err, errno == EPERM ? EACCES : errno,
			"cannot be read: %s", strerror(errno));
	if (check_fit(&st, err) < 0 || read_all(fd, ret_bytes, ret_len, err) < 0)
		return -1;
	*ret_owner = st.st_uid;
	return 0;
}

const char *aw_trust_word(enum aw_trust_state state)
{
	static const char *const words[] = {"not trusted", "trusted", "changed",
		"unfit", "gone", "unreadable", "no records"};

	return words[state];
}

void aw_trust_print(
	const struct aw_trust_judgement *judgement, const char *prefix, FILE *out)
{
	AW_FREE char *file = aw_shown(judgement->file, strlen(judgement->file));
	const char *text = judgement->text;
	AW_FREE char *shown = text ? aw_shown(text, strlen(text)) : NULL;

	if (judgement->state == AW_TRUST_HOLDS)
		fprintf(out, "%s%s: trusted since %s\n", prefix, file ? file : "?",
			judgement->date);
	else if (shown)
		fprintf(out, "%s%s: %s\n", prefix, file ? file : "?", shown);
	else if (access(judgement->file, F_OK) == 0)
		fprintf(out, "%s%s: not trusted, so it can only tighten\n", prefix,
			file ? file : "?");
}

void aw_trust_free(struct aw_trust_judgement *judgement)
{
	if (!judgement)
		return;
	free(judgement->file);
	free(judgement->bytes);
	free(judgement->text);
	free(judgement->advice);
	free(judgement);
}

/* Compare the file with its record; *ret_why is the end of a sentence. */
static enum aw_trust_state compare(struct aw_trust_judgement *j,
	const struct aw_trust_record *record, struct aw_error *ret_why)
{
	char sha256[AW_SHA256_TEXT];
	size_t len = 0;
	uid_t owner;

	if (aw_trust_read_file(j->file, &j->bytes, &len, &owner, ret_why) < 0)
		return ret_why->code == EPERM ? AW_TRUST_UNFIT
		       : ret_why->code == ENOENT || ret_why->code == ENOTDIR
			       ? AW_TRUST_GONE
			       : AW_TRUST_UNREADABLE;
	aw_sha256(j->bytes, len, sha256);
	if (strcmp(sha256, record->sha256) == 0) {
		j->judged.bytes = j->bytes;
		j->judged.len = len;
		return AW_TRUST_HOLDS;
	}
	free(j->bytes);
	j->bytes = NULL;
	return AW_TRUST_CHANGED;
}

/* The sentence for a state that is worth one. */
static int put_text(
	struct aw_trust_judgement *j, const char *workspace, const struct aw_error *why)
{
	switch (j->state) {
	case AW_TRUST_CHANGED:
		return asprintf(&j->text,
			"has changed since it was trusted on %.10s, so it can only "
			"tighten; read it and say: agentwatch trust %s",
			j->date, workspace);
	case AW_TRUST_UNFIT:
		return asprintf(&j->text,
			"was trusted on %.10s, but %s, so it can only tighten; mend "
			"that, or say: agentwatch untrust %s",
			j->date, why->text, workspace);
	case AW_TRUST_GONE:
		return asprintf(&j->text,
			"was trusted on %.10s and is not there any more; put it back, "
			"or say: agentwatch untrust %s",
			j->date, workspace);
	case AW_TRUST_NO_RECORDS:
		return asprintf(&j->text,
			"nothing is trusted, since the records cannot be used: %s",
			why->text);
	default:
		return 0;
	}
}

static int judge(
	struct aw_trust_judgement *j, const char *workspace, struct aw_error *err)
{
	struct aw_trust_records records;
	const struct aw_trust_record *record;
	struct aw_error why = {.code = 0};

	if (asprintf(&j->file, "%s/" AW_TRUST_FILE, workspace) < 0 ||
		asprintf(&j->advice,
			"this file is not trusted and can only tighten; once you have "
			"read it, say: agentwatch trust %s",
			workspace) < 0)
		return aw_fail(err, ENOMEM, "out of memory");
	if (aw_trust_read(&records, &why) < 0) {
		/* without a home nothing was ever recorded */
		j->state = why.code == ENOENT ? AW_TRUST_NOTHING : AW_TRUST_NO_RECORDS;
	} else if ((record = aw_trust_find(&records, workspace))) {
		snprintf(j->date, sizeof(j->date), "%s", record->date);
		j->state = compare(j, record, &why);
	}
	aw_trust_records_release(&records);
	return put_text(j, workspace, &why) < 0 ? aw_fail(err, ENOMEM, "out of memory")
						: 0;
}

int aw_trust_judge(
	const char *workspace, struct aw_trust_judgement **ret, struct aw_error *err)
{
	struct aw_trust_judgement *j = calloc(1, sizeof(*j));

	if (!j)
		return aw_fail(err, ENOMEM, "out of memory");
	if (judge(j, workspace, err) < 0) {
		aw_trust_free(j);
		return -1;
	}
	j->judged.file = j->file;
	j->judged.complaint = j->text;
	j->judged.advice = j->advice;
	j->judged.fatal = j->state == AW_TRUST_GONE || j->state == AW_TRUST_NO_RECORDS;
	*ret = j;
	return 0;
}
