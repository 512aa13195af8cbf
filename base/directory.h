/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_DIRECTORY_H
#define PM_DIRECTORY_H

/* Directories of sysfs. */
#include "base/err.h"

/* Visits an entry, named relative to the open directory; a result other than 0 ends the walk. */
typedef int pm_entry_action(int dir_fd, const char *name, void *context, struct pm_err *err);

/*
 * Calls `each` for the entries with names that begin with `prefix`, in the directory's order, and
 * returns its last result. A missing directory counts as empty: the machine has no PMem, or no
 * HMAT.
 */
int pm_directory_each(int root_fd, const char *path, const char *prefix, pm_entry_action *each,
	void *context, struct pm_err *err);

#endif
