/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_MOUNTS_H
#define PM_MOUNTS_H

/* Reader of /proc/self/mountinfo, see proc_pid_mountinfo(5). */
#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

struct pm_mount {
	unsigned long id;
	const char *device;		     /* "259:0" */
	const char *point;		     /* where, with its escapes undone */
	const char *type;		     /* "ext4" */
	const char *source;		     /* "/dev/pmem0" */
	const char *options, *super_options; /* of the mount and of the file system */
};

struct pm_mounts {
	char *text; /* what the list points into */
	struct pm_mount *list;
	size_t n;
};

/* -EBADMSG: a line cannot be understood; -ENOMEM. On failure *ret is untouched. */
int pm_mounts_read(const char *text, struct pm_mounts *ret, struct pm_err *err);

/* The calling process's mounts, from /proc below `fs_root`. As above, or what reading the file
 * gave. */
int pm_mounts_load(const char *fs_root, struct pm_mounts *ret, struct pm_err *err);

/* Is `option` one of the mount's, or of its file system's? */
bool pm_mount_has(const struct pm_mount *mount, const char *option);

/* What is seen at `point`: the last one mounted there; NULL when nothing is. */
const struct pm_mount *pm_mounts_at(const struct pm_mounts *mounts, const char *point);

void pm_mounts_done(struct pm_mounts *mounts);

#endif
