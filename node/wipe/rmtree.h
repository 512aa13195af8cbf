/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_RMTREE_H
#define PM_RMTREE_H

/*
 * Removes a directory that a user has filled, and everything in it, as root. Whatever the tree is
 * like: only descriptors are used, no path; symbolic links are removed and not followed; a mount
 * point stays, and all else goes; each directory is made ours and closed to others before it is
 * looked into, so that a process that lives on cannot keep up with us; immutable and append-only
 * files are made ordinary first. A tree of any depth takes two open directories and no memory,
 * because what is below the second level is moved up before it is removed; a full file system gets
 * room for that by the ends of paths, which go first.
 */
#include "base/err.h"

/*
 * Removes `name`, one component, of the open directory. One that is not there is fine.
 * -EINVAL `name` is more than one component, -ENOTDIR it is no directory, -EBUSY
 * something is mounted in it; else an errno. Names that the user gave are in no message.
 */
int pm_rmtree(int dir_fd, const char *name, struct pm_err *err);

#endif
