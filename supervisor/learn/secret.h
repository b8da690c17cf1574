/* SPDX-License-Identifier: Apache-2.0 */
/*
 * secret.h - names of files and sockets that nobody should be given by accident.
 *
 * Beyond what policy/load/protections.def holds whatever a policy says: these may have
 * to be allowed, but only by a person.
 */
#ifndef AW_SUPERVISOR_LEARN_SECRET_H
#define AW_SUPERVISOR_LEARN_SECRET_H

/* What the file at an absolute path probably is ("a private key"), or NULL. */
const char *aw_secret_file(const char *path);

/* The same for the path of a Unix socket, "@name" when it is abstract. */
const char *aw_secret_socket(const char *path);

#endif
