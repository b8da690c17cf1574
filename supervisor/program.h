/* SPDX-License-Identifier: Apache-2.0 */
/*
 * program.h - what kind of program a file is, as far as the shim is concerned.
 */
#ifndef AW_SUPERVISOR_PROGRAM_H
#define AW_SUPERVISOR_PROGRAM_H

#include <stdbool.h>

enum aw_program_kind {
	AW_PROGRAM_UNKNOWN, /* cannot be read, or neither ELF nor a script */
	AW_PROGRAM_DYNAMIC, /* our architecture, with a loader: gets the shim */
	AW_PROGRAM_STATIC,
	AW_PROGRAM_FOREIGN, /* another architecture */
};

struct aw_program {
	enum aw_program_kind kind; /* of the interpreter, for a script */
	bool script;		   /* the kernel runs its interpreter */
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

/* path is absolute and resolved. */
void aw_program_inspect(const char *path, struct aw_program *ret);

#endif
