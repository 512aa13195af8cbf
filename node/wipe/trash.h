/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_TRASH_H
#define PM_TRASH_H

/*
 * Directories of jobs that are over, on the file system of a region until somebody has the time to
 * remove them: root's, 0700, in the root of the file system, named trash_N. Making trash of a tree
 * takes the same time whatever is in it.
 */
#include <stdbool.h>

#include "base/err.h"

/* "trash_7": is that what trash is called? */
bool pm_trash_is_name(const char *name);

/*
 * Makes trash of the directory `name` in the root that is mounted at `root_path`: detaches what is
 * mounted in it, closes it to its owner and gives it a name of trash. One that is empty is removed
 * at once, one that is not there is fine. *ret_left: there is something to be removed later.
 * -ENOSPC, -EBUSY: it keeps its name and is closed all the same; else the errno.
 */
int pm_trash_make(
	int root_fd, const char *root_path, const char *name, bool *ret_left, struct pm_err *err);

/* Is there any? */
int pm_trash_find(int root_fd, bool *ret, struct pm_err *err);

/* Removes all of it, for as long as that takes. The first failure is told; the rest goes. */
int pm_trash_empty(int root_fd, const char *root_path, struct pm_err *err);

#endif
