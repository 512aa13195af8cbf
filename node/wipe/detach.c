/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "node/wipe/detach.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "node/tools/mounts.h"

/* Each round detaches at least one mount; fusermount(1) allows a user 1000. */
#define MAX_ROUNDS 5000

/* O_PATH: the mounted file system is not asked, as a FUSE server may not answer. */
static int open_point(int root_fd, const char *relative)
{
	const struct open_how how = {
		.flags = O_PATH | O_CLOEXEC | O_NOFOLLOW,
		.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS,
	};

	return (int)syscall(SYS_openat2, root_fd, relative, &how, sizeof(how));
}

static unsigned long mount_of(int fd)
{
	cleanup_close int proc_fd = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	return proc_fd < 0 ? 0 : pm_mount_id_of(proc_fd, fd);
}

static bool detach_one(int root_fd, const struct pm_mount *mount, const char *relative)
{
	cleanup_close int fd = open_point(root_fd, relative);
	char path[64];

	if (fd < 0 || mount_of(fd) != mount->id)
		return false;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	return !umount2(path, MNT_DETACH);
}

/*
 * "job_1/a" of the mount point "/mnt/socket0/job_1/a"; NULL: the point is not `name` or below it.
 */
static const char *below(const char *point, const char *root_path, const char *name)
{
	size_t root = strlen(root_path), length = strlen(name);
	const char *relative = point + root + 1;

	if (strncmp(point, root_path, root) || point[root] != '/' ||
		strncmp(relative, name, length))
		return NULL;
	return !relative[length] || relative[length] == '/' ? relative : NULL;
}

/*
 * Counts the mounts that were found, and the mounts that were detached. MNT_DETACH of a mount also
 * detaches the mounts on it.
 */
static int detach_all(int root_fd, const char *root_path, const char *name, size_t *ret_there,
	size_t *ret_gone, struct pm_err *err)
{
	cleanup_with(pm_mounts_done) struct pm_mounts mounts = {0};
	int rc = pm_mounts_load("", &mounts, err);

	*ret_there = *ret_gone = 0;
	for (size_t i = 0; !rc && i < mounts.n; i++) {
		const char *relative = below(mounts.list[i].point, root_path, name);

		if (!relative)
			continue;
		*ret_there += 1;
		*ret_gone += detach_one(root_fd, &mounts.list[i], relative);
	}
	return rc;
}

int pm_detach(int root_fd, const char *root_path, const char *name, struct pm_err *err)
{
	size_t there = 1, gone = 1;
	int rc = 0;

	for (int i = 0; !rc && there && gone && i < MAX_ROUNDS; i++)
		rc = detach_all(root_fd, root_path, name, &there, &gone, err);
	if (rc || !there)
		return rc;
	return pm_err_set(err, -EBUSY,
		"'%s/%s' has %zu mounts that cannot be detached; 'findmnt' shows them", root_path,
		name, there);
}
