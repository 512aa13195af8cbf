/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_TAKEOVER_H
#define PM_TAKEOVER_H

/*
 * Takes what a user has made away from him, by descriptors alone: nothing is followed, no file
 * system is left, and immutable and append-only files become ordinary ones.
 */
#include <stdbool.h>

#include "base/err.h"

/* Opens `name` below the directory, on its own file system, through no link. A descriptor, or a
 * negative errno; -EXDEV: something is mounted there. */
int pm_open_below(int dir_fd, const char *name, int flags);

/* Makes a file or directory ordinary that cannot be changed; false when it was so already. */
bool pm_make_ordinary(int dir_fd, const char *name);

/* Opens a directory and makes it root's, 0700; works on a full file system. Returns as
 * pm_open_below(). */
int pm_take_over(int dir_fd, const char *name);

/* Frees the bytes of a large file that has no other name, so that a process that has it open
 * keeps none of them. */
void pm_empty_file(int dir_fd, const char *name);

#endif
