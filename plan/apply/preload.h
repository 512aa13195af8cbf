/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_PRELOAD_H
#define PM_PRELOAD_H

/*
 * A placement runtime gets into a program by LD_PRELOAD, which the loader reads: ld.so(8). A
 * program without a loader (statically linked), of another processor, or one that runs with other
 * rights than its caller's (setuid, setgid, file capabilities: AT_SECURE) starts without it, and
 * without a word. So whoever sets LD_PRELOAD looks before.
 */
#include <stdbool.h>

#include "base/err.h"

/*
 * The runtime that a user's words ask for, NULL for none: `name`, unless that is "none"; without a
 * name our own, if something that only it does (`own`: profiles, advice) is asked for.
 */
const char *pm_preload_asked(const char *name, bool own);

/*
 * The file of a runtime: a name without '/' is PM_RUNTIMEDIR/libpmNAME.so, anything else a path,
 * which is made absolute. *ret is malloc'ed. -ENOENT: there is no such file; -EINVAL: a path that
 * LD_PRELOAD cannot hold (with a colon or white space).
 */
int pm_preload_find(const char *name, char **ret, struct pm_err *err);

/* "RUNTIME:OLD": what LD_PRELOAD becomes; `old` may be NULL or empty. malloc'ed; NULL: no memory.
 */
char *pm_preload_prepend(const char *runtime, const char *old);

/*
 * Why the loader of this program, or of the interpreter that its first line names, would not read
 * LD_PRELOAD: "it is statically linked"; NULL when it would, and also when that cannot be seen
 * because the file is not readable.
 */
const char *pm_preload_obstacle(const char *program);

#endif
