/* SPDX-License-Identifier: Apache-2.0 */
/*
 * environ.h - carrying the shim on into a child's environment.
 */
#ifndef AW_PRELOAD_ENVIRON_H
#define AW_PRELOAD_ENVIRON_H

#include <stdbool.h>
#include <stddef.h>

/* The value of a variable of this process, or NULL. */
const char *aw_environ_get(const char *name);

/* The process's own vector as it is now; never NULL. */
char **aw_environ(void);

/* A vector for a child, made from another one without malloc. */
struct aw_child_env {
	char **vector; /* what to pass to exec */
	void *mapping; /* to give back when exec failed; NULL: vector is the caller's
			  own */
	size_t size;
};

/*
 * Put the shim in front of LD_PRELOAD in env (NULL: empty) and the session's socket
 * behind it; foreign true takes the shim out instead, for a program it cannot be loaded
 * into. The caller's vector is used as it is when nothing has to change.  Never fails:
 * without memory the caller's vector comes back and the kernel layer has the child
 * alone.
 */
void aw_child_env_make(char *const *env, bool foreign, struct aw_child_env *ret);
void aw_child_env_release(struct aw_child_env *env);

#endif
