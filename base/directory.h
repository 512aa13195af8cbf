/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_DIRECTORY_H
#define PM_DIRECTORY_H

/* Directories of sysfs. */
#include "base/err.h"

/* What is done with an entry, named relative to the open directory; not 0 ends the walk. */
typedef int pm_entry_action(int dir_fd, const char *name, void *context, struct pm_err *err);

/*
 * Calls `each` for the entries of a directory whose names begin with `prefix`, in the directory's
 * order; returns what it last returned. A directory that is not there has no entries: no PMem, no
 * HMAT.
 */
int pm_directory_each(int root_fd, const char *path, const char *prefix, pm_entry_action *each,
	void *context, struct pm_err *err);

#endif
