/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_SECURE_H
#define PM_SECURE_H

/*
 * Checks that only root can change a path. Each component, from "/" to the last, with symbolic
 * links and their targets, must belong to root and must not be writable by group or others. A
 * sticky directory such as /tmp is not accepted.
 */
#include "base/err.h"

/* -EINVAL not absolute, -EPERM another user could change it (the text names the component), -ELOOP,
 * or the errno of lstat(2). */
int pm_secure_path(const char *path, struct pm_err *err);

/* Checks the path, opens it read-only and checks the open file: regular, root's, not writable by
 * others. Returns the descriptor in *ret_fd. Errors as above and of open(2); -EINVAL not regular.
 */
int pm_secure_open(const char *path, int *ret_fd, struct pm_err *err);

/* Makes a directory, 0755, if need be, and checks that only root can change it. */
int pm_secure_make_dir(const char *path, struct pm_err *err);

#endif
