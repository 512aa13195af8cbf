/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_TRASH_H
#define PM_TRASH_H

/*
 * Trash: directories of ended jobs on the file system of a region, which wait for removal. They
 * are in the root of the file system, root's, 0700, named trash_N. To make trash of a tree takes
 * the same time whatever is in it.
 */
#include <stdbool.h>

#include "base/err.h"

/* True for a name of trash, such as "trash_7". */
bool pm_trash_is_name(const char *name);

/*
 * Makes trash of the directory `name` in the root that is mounted at `root_path`: detaches the
 * mounts in it, closes it to its owner and renames it. An empty directory is removed at once, a
 * missing one is fine. *ret_left: there is trash to remove later. -ENOSPC, -EBUSY: it keeps its
 * name and is closed all the same; else an errno.
 */
int pm_trash_make(
	int root_fd, const char *root_path, const char *name, bool *ret_left, struct pm_err *err);

/* *ret: the root has trash. */
int pm_trash_find(int root_fd, bool *ret, struct pm_err *err);

/*
 * Removes all trash, however long that takes. The first failure is returned; the rest is removed
 * all the same.
 */
int pm_trash_empty(int root_fd, const char *root_path, struct pm_err *err);

#endif
