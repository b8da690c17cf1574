/* SPDX-License-Identifier: Apache-2.0 */
/*
 * program.h - what kind of program a file is, as far as the shim is concerned.
 */
#ifndef AW_SUPERVISOR_PROCESS_PROGRAM_H
#define AW_SUPERVISOR_PROCESS_PROGRAM_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

enum aw_program_kind {
	AW_PROGRAM_UNKNOWN, /* cannot be read, or neither ELF nor a script */
	AW_PROGRAM_DYNAMIC, /* our architecture, with a loader: gets the shim */
	AW_PROGRAM_STATIC,
	AW_PROGRAM_FOREIGN, /* another architecture */
};

/* A file, whatever its name (stat(2)); inode 0: none. */
struct aw_file_id {
	dev_t device;
	ino_t inode;
};

/* The file itself, and the interpreter of a script, which may be a script. */
enum { AW_PROGRAM_FILES = 7 };

struct aw_program {
	enum aw_program_kind kind; /* of the interpreter, for a script */
	struct aw_file_id files[AW_PROGRAM_FILES]; /* what may run: in order, 0 ends */
	bool script;				   /* the kernel runs its interpreter */
	bool privileged; /* set-id bits or file capabilities: loaders ignore LD_PRELOAD
			  */
};

/*
 * The interpreter and its argument, if any, that the first line of a script names; NULL
 * where there is none.  line has room for AW_PROGRAM_LINE bytes.
 */
enum { AW_PROGRAM_LINE = 256 };
bool aw_program_script(const char *path, char *line, const char **ret_interpreter,
	const char **ret_argument);

/*
 * Is it what the kernel runs for files of some other kind (kernel:
 * Documentation/admin-guide/binfmt-misc.rst)?
 */
bool aw_program_is_registered(const struct aw_file_id *file);

/* path is absolute and resolved. */
void aw_program_inspect(const char *path, struct aw_program *ret);

#endif
