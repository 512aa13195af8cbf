/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_PRELOAD_H
#define PM_PRELOAD_H

/*
 * LD_PRELOAD brings a placement runtime into a program: ld.so(8). A program that is statically
 * linked, is for another processor, or runs in secure-execution mode (setuid, setgid, file
 * capabilities) ignores it silently. So pmrun and the plugin look at the program before they set
 * it.
 */
#include <stdbool.h>

#include "base/err.h"

/*
 * Resolves a user's request to the name of a runtime; NULL: none. `name` is --pm-runtime, or NULL
 * without that option: then it is this project's runtime if the user asks for a profile or advice
 * (`own`), which only this runtime has. The name "none" gives NULL.
 */
const char *pm_preload_asked(const char *name, bool own);

/*
 * The name that a mistyped one was meant to be, of this project's runtime or "none"; NULL: it is
 * one of them, a path, or near neither.
 */
const char *pm_preload_meant(const char *name);

/*
 * Finds the file of a runtime. A name without '/' is PM_RUNTIMEDIR/libpmNAME.so, any other is a
 * path, which becomes absolute. *ret is malloc'ed. -ENOENT: no such file; -EINVAL: the path has a
 * colon or white space, the separators of LD_PRELOAD; -ENOMEM.
 */
int pm_preload_find(const char *name, char **ret, struct pm_err *err);

/* New value of LD_PRELOAD, "RUNTIME:OLD"; `old` may be NULL or empty. malloc'ed; NULL: no memory.
 */
char *pm_preload_prepend(const char *runtime, const char *old);

/*
 * Reason why a program, or the interpreter of a script's first line, ignores LD_PRELOAD, as "it is
 * statically linked". NULL: it reads LD_PRELOAD, or the file is not readable.
 */
const char *pm_preload_obstacle(const char *program);

#endif
