/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_MOUNTS_H
#define PM_MOUNTS_H

/* Parser of /proc/self/mountinfo, see proc_pid_mountinfo(5). */
#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

struct pm_mount {
	unsigned long id;
	const char *device;		     /* "259:0" */
	const char *root;		     /* in the file system; "mnt:[4026531841]" of nsfs */
	const char *point;		     /* mount point, unescaped */
	const char *type;		     /* "ext4" */
	const char *source;		     /* "/dev/pmem0" */
	const char *options, *super_options; /* of the mount and of the file system */
};

struct pm_mounts {
	char *text; /* the list points into it */
	struct pm_mount *list;
	size_t n;
};

/*
 * -EBADMSG: a line cannot be parsed; -ENOMEM. On failure *ret is untouched; release with
 * pm_mounts_done().
 */
int pm_mounts_read(const char *text, struct pm_mounts *ret, struct pm_err *err);

/* The mounts of this process, from /proc below `fs_root`. Errors as above, or of the read. */
int pm_mounts_load(const char *fs_root, struct pm_mounts *ret, struct pm_err *err);

/* The same from the file `path` below the open directory, such as "self/mountinfo" below /proc. */
int pm_mounts_load_at(int dir_fd, const char *path, struct pm_mounts *ret, struct pm_err *err);

/* The mount that `fd` was opened in, by /proc of the open directory; 0: not known. */
unsigned long pm_mount_id_of(int proc_fd, int fd);

/* True if the mount or its file system has the option. */
bool pm_mount_has(const struct pm_mount *mount, const char *option);

/* The mount that is visible at `point`, the last one there; NULL: there is none. */
const struct pm_mount *pm_mounts_at(const struct pm_mounts *mounts, const char *point);

void pm_mounts_done(struct pm_mounts *mounts);

#endif
