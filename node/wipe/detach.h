/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_DETACH_H
#define PM_DETACH_H

/*
 * Mounts that were left in a job's directory: a FUSE file system of the user's (fusermount), a
 * bind mount of a prolog's. They are detached, lazily, and what is mounted stays as it is. Only
 * mounts of this mount namespace stand in the way of renaming and removing; those of others the
 * kernel drops by itself.
 */
#include "base/err.h"

/*
 * Detaches all that is mounted on `name`, one component of the open directory, and below it.
 * `root_path` is where mountinfo has that directory. A mount point is opened through no link and
 * must be the mount that mountinfo showed, so that a user who replaces a directory by a link makes
 * us unmount nothing else. -EBUSY: something stays mounted.
 */
int pm_detach(int root_fd, const char *root_path, const char *name, struct pm_err *err);

#endif
