/* SPDX-License-Identifier: Apache-2.0 */
/*
 * find.h - where programs are.
 */
#ifndef AW_SUPERVISOR_SESSION_FIND_H
#define AW_SUPERVISOR_SESSION_FIND_H

#include "policy/error.h"

/* Exit statuses of run, as env(1) and sudo(8) have them. */
enum { AW_RUN_FAILED = 125, AW_RUN_NOT_EXECUTABLE = 126, AW_RUN_NOT_FOUND = 127 };

/* Beside the program, or where `make install` puts it; NULL when in neither.  Owned. */
char *aw_find_part(const char *name);

/* As execvp(3) would find it; 0, AW_RUN_NOT_FOUND or AW_RUN_NOT_EXECUTABLE. */
int aw_find_program(const char *name, char **ret, struct aw_error *err);

/*
 * A program of another project that we start for ourselves: bwrap, firejail,
 * notify-send. System directories before PATH, and only where our user could not have
 * put it: else what the agent writes today would be our sandbox, or run outside of it,
 * tomorrow.  Owned; NULL when there is none, with *passed_over (unless NULL) a path
 * that was not taken, owned.
 */
char *aw_find_helper(const char *name, char **passed_over);

#endif
