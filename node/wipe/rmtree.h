/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_RMTREE_H
#define PM_RMTREE_H

/*
 * As root, removes a tree that a user has made, whatever is in it. It works with descriptors and no
 * paths. Symbolic links are removed and not followed. A mount point stays, everything else is
 * removed. Each directory is made root's and closed to others before it is read, so that a living
 * process cannot keep adding entries. Immutable and append-only files are made ordinary first.
 *
 * A tree of any depth takes two open directories and no memory: entries below the second level are
 * moved up before they are removed. If the file system is too full for the move, files at the ends
 * of paths are removed first.
 */
#include "base/err.h"

/*
 * Removes `name`, one component below the open directory; a missing one is fine. -EINVAL: `name`
 * has more components; -ENOTDIR: it is not a directory; -EBUSY: something is mounted in it; else
 * an errno. Messages have no names that the user chose.
 */
int pm_rmtree(int dir_fd, const char *name, struct pm_err *err);

#endif
