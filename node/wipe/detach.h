/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_DETACH_H
#define PM_DETACH_H

/*
 * Mounts that a job has left in its directory: a FUSE file system of the user (fusermount(1)), a
 * bind mount of a prolog. They are detached lazily; the mounted file system stays as it is. Only
 * mounts of this mount namespace block rename and removal; the kernel detaches mounts of other
 * mount namespaces by itself.
 */
#include "base/err.h"

/*
 * Detaches all mounts on `name`, one component below the open directory, and below it.
 * `root_path`: the path of that directory in mountinfo. Each mount point is opened without
 * following links, and must have the mount ID that mountinfo showed: a user who replaces a
 * directory by a link cannot redirect the unmount. -EBUSY: a mount is left.
 */
int pm_detach(int root_fd, const char *root_path, const char *name, struct pm_err *err);

#endif
