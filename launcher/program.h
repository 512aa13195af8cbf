/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_PROGRAM_H
#define PM_PROGRAM_H

/* Looks up the user's program before any rank starts, so that an error is printed once. */
#include "base/err.h"

#define PM_EXIT_NOT_EXECUTABLE 126 /* as shells have it */
#define PM_EXIT_NOT_FOUND      127

/*
 * The file that execvp(3) would run for this word: the word itself if it has a '/', else the first
 * file in PATH that may be executed. malloc'ed. -ENOENT, -EACCES (also for a directory), -ENOMEM.
 */
int pm_program_find(const char *word, char **ret, struct pm_err *err);

/* The exit status for such an error. */
int pm_program_status(int rc);

#endif
