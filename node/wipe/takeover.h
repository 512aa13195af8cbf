/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_TAKEOVER_H
#define PM_TAKEOVER_H

/*
 * Gives files and directories of a user to root and clears the flags that protect them. All is done
 * by descriptors: no link is followed, and no other file system is entered.
 */
#include <stdbool.h>

#include "base/err.h"

/* Clears the immutable and append-only flags of a file or directory; false: it had none. */
bool pm_make_ordinary(int dir_fd, const char *name);

/*
 * Opens a directory and makes it root's, 0700; works on a full file system. Returns a descriptor
 * that the caller closes, or a negative errno; -EXDEV: something is mounted on it.
 */
int pm_take_over(int dir_fd, const char *name);

/* Truncates a large file without other links, so that a process that has it open keeps no space. */
void pm_empty_file(int dir_fd, const char *name);

#endif
