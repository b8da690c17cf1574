/* SPDX-License-Identifier: Apache-2.0 */
/*
 * runner.h - the sandboxes: one row each.
 *
 * A runner turns a plan into a sandbox: a program to start the command with, or
 * something that agentwatch-enter does as its last step, or both.
 */
#ifndef AW_SUPERVISOR_SANDBOX_RUNNER_H
#define AW_SUPERVISOR_SANDBOX_RUNNER_H

#include "supervisor/sandbox/plan.h"

/* What stands around the command, once it is decided. */
struct aw_sandbox {
	const struct aw_runner *runner;
	char **prefix; /* owned, with its strings: argv before agentwatch-enter, or NULL
			*/
	char **shown;  /* owned, with its strings: the same for people, where prefix
			  hands its options over in a file; or NULL */
	char *profile; /* owned; text of a file that prefix names, or NULL */
	int *fds;      /* owned: descriptors that prefix names by number, inherited */
	size_t fd_count;
	bool binds; /* it mounts the plan's own files: aw_plan_check() */
	bool own_mounts, own_pids, own_network; /* namespaces that it makes */
	bool no_devices; /* no device file opens but those of its own /dev */
	bool landlock;	 /* agentwatch-enter applies the plan as a Landlock ruleset */
};

struct aw_runner {
	const char *name;
	const char *install; /* how to get it, for the message when it is missing */
	/* Can it be used here? 0, or -1 with a sentence that says what is missing. */
	int (*probe)(struct aw_error *err);
	/* Turn the plan into a sandbox. */
	int (*build)(const struct aw_plan_params *params, const struct aw_plan *plan,
		struct aw_sandbox *ret, struct aw_error *err);
};

/* The row of this name, or NULL: known names have a row, whether they work or not. */
const struct aw_runner *aw_runner_find(const char *name);

/* Names of all rows, ", " between them. */
const char *aw_runner_names(void);

/* Free the contents, not the struct itself. */
void aw_sandbox_release(struct aw_sandbox *sandbox);

/* Plan, then the runner's command line, for plan.txt. */
void aw_sandbox_print(
	const struct aw_plan *plan, const struct aw_sandbox *sandbox, FILE *out);

/* The rows that have a file of their own. */
extern const struct aw_runner aw_runner_bwrap, aw_runner_firejail;

/*
 * known.c: what a probe has found out is noted in the user's state directory, so that
 * the next start does without it.  A note holds for this boot, program, namespaces and
 * rights; one that cannot be written is not there.
 */
bool aw_runner_works(const char *name, const char *program);
void aw_runner_note(const char *name, const char *program);
/* It did not work after all. */
void aw_runner_forget(const char *name);

/* supervisor/sandbox/landlock.c: can a ruleset be used here? */
int aw_landlock_probe(struct aw_error *err);

/* For runners that are programs: aw_find_helper(), or NULL with a sentence.  Owned. */
char *aw_runner_program(const char *name, struct aw_error *err);

/* Run argv with no input; 0 when it succeeds, else -1 with the first line it wrote to
 * stderr in line. */
int aw_runner_try(char *const *argv, char *line, size_t size);

/* A growing argv. */
struct aw_arguments {
	char **items; /* owned, with the strings; NULL at the end */
	size_t count;
	bool failed; /* out of memory */
};

/* Append copies of count strings. */
void aw_arguments_add(struct aw_arguments *args, size_t count, ...);
#define AW_ARG_COUNT(...) (sizeof((const char *[]){__VA_ARGS__}) / sizeof(char *))
#define AW_ARGS(args, ...)                                                             \
	aw_arguments_add(args, AW_ARG_COUNT(__VA_ARGS__), __VA_ARGS__)
void aw_arguments_free(struct aw_arguments *args);

#endif
