/* SPDX-License-Identifier: Apache-2.0 */
/* program.c - reading the first bytes of ELF files and scripts. */
#include "supervisor/process/program.h"

#include <dirent.h>
#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "supervisor/util/cleanup.h"

#if defined(__x86_64__)
#define OUR_MACHINE EM_X86_64
#elif defined(__aarch64__)
#define OUR_MACHINE EM_AARCH64
#endif

enum { HEAD = 2048 }; /* program headers follow the file header at once, in practice */

static enum aw_program_kind elf_kind(
	int fd, const Elf64_Ehdr *elf, const char *head, size_t n)
{
	Elf64_Phdr header;

	if (elf->e_ident[EI_CLASS] != ELFCLASS64 || elf->e_machine != OUR_MACHINE)
		return AW_PROGRAM_FOREIGN;
	for (int i = 0; i < elf->e_phnum && i < 64; i++) {
		uint64_t at = elf->e_phoff + (uint64_t)i * elf->e_phentsize;

		if (at <= n && n - at >= sizeof(header))
			memcpy(&header, head + at, sizeof(header));
		else if (pread(fd, &header, sizeof(header), (off_t)at) !=
			 sizeof(header))
			return AW_PROGRAM_UNKNOWN;
		if (header.p_type == PT_INTERP)
			return AW_PROGRAM_DYNAMIC;
	}
	return AW_PROGRAM_STATIC;
}

/* Cut the interpreter out of "#! /bin/sh -e". */
static char *interpreter(char *line)
{
	char *at = line + 2;

	at += strspn(at, " \t");
	at[strcspn(at, " \t\n")] = '\0';
	return *at == '/' ? at : NULL;
}

static void inspect(const char *path, struct aw_program *ret, int depth)
{
	union {
		char text[HEAD];
		Elf64_Ehdr elf;
	} head;
	AW_CLOSE int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	struct stat st;
	ssize_t n;

	if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
		return;
	ret->files[depth] = (struct aw_file_id){st.st_dev, st.st_ino};
	n = pread(fd, &head, sizeof(head) - 4, 0);
	if (n < 0)
		return;
	head.text[n] = '\0';
	if (n > 2 && head.text[0] == '#' && head.text[1] == '!') {
		char *next = interpreter(head.text);

		ret->script = true;
		if (next && depth < 5)
			inspect(next, ret, depth + 1);
		return;
	}
	if ((size_t)n < sizeof(head.elf) ||
		memcmp(head.elf.e_ident, ELFMAG, SELFMAG) != 0)
		return;
	ret->kind = elf_kind(fd, &head.elf, head.text, (size_t)n);
	ret->privileged = (st.st_mode & S_ISUID) ||
			  (st.st_mode & (S_ISGID | S_IXGRP)) == (S_ISGID | S_IXGRP) ||
			  fgetxattr(fd, "security.capability", NULL, 0) > 0;
}

void aw_program_inspect(const char *path, struct aw_program *ret)
{
	*ret = (struct aw_program){.kind = AW_PROGRAM_UNKNOWN};
	inspect(path, ret, 0);
}

bool aw_program_script(const char *path, char *line, const char **ret_interpreter,
	const char **ret_argument)
{
	AW_CLOSE int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	struct stat st;
	char *at, *end;
	ssize_t n;

	if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
		return false;
	n = pread(fd, line, AW_PROGRAM_LINE - 1, 0);
	line[n > 0 ? n : 0] = '\0';
	if (n < 3 || line[0] != '#' || line[1] != '!')
		return false;
	line[strcspn(line, "\n")] = '\0';
	at = line + 2 + strspn(line + 2, " \t");
	end = at + strlen(at);
	while (end > at && (end[-1] == ' ' || end[-1] == '\t'))
		*--end = '\0';
	*ret_interpreter = at;
	at += strcspn(at, " \t");
	*ret_argument = *at ? at + 1 + strspn(at + 1, " \t") : NULL;
	*at = '\0';
	return **ret_interpreter == '/';
}

/* One of /proc/sys/fs/binfmt_misc: a line of it is "interpreter PATH". */
static bool is_for(const char *entry, const struct aw_file_id *file)
{
	static const char word[] = "interpreter ";
	char path[300], line[4200];
	AW_FCLOSE FILE *lines = NULL;
	struct stat st;

	snprintf(path, sizeof(path), "/proc/sys/fs/binfmt_misc/%s", entry);
	lines = fopen(path, "re");
	while (lines && fgets(line, sizeof(line), lines)) {
		line[strcspn(line, "\n")] = '\0';
		if (strncmp(line, word, sizeof(word) - 1) == 0 &&
			stat(line + sizeof(word) - 1, &st) == 0 &&
			st.st_dev == file->device && st.st_ino == file->inode)
			return true;
	}
	return false;
}

bool aw_program_is_registered(const struct aw_file_id *file)
{
	AW_CLOSEDIR DIR *all = opendir("/proc/sys/fs/binfmt_misc");
	struct dirent *entry;

	while (all && (entry = readdir(all)))
		if (entry->d_name[0] != '.' && strcmp(entry->d_name, "register") != 0 &&
			strcmp(entry->d_name, "status") != 0 &&
			is_for(entry->d_name, file))
			return true;
	return false;
}
