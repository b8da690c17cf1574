/* SPDX-License-Identifier: Apache-2.0 */
/* landlock.c - the wall that the kernel itself offers. */
#include <errno.h>

#include "supervisor/runner/runner.h"

int aw_landlock_probe(struct aw_error *err)
{
	return aw_fail(err, ENOTSUP, "it is not available in this version");
}
