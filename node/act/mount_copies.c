/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "node/act/mount_copies.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "base/list.h"
#include "node/tools/mounts.h"

/* A container's FUSE server on the way to a mount may never answer: the child is killed. */
#define CHILD_S 10

struct search {
	int proc_fd; /* of this process's /proc: a namespace may have none, or a false one */
	const char *device;
	struct stat *seen; /* namespaces */
	size_t n_seen;
};

static void search_done(const struct search *search)
{
	pm_cleanup_close(&search->proc_fd);
	free(search->seen);
}

/* False also out of memory: then the namespace is not visited. */
static bool is_first_visit(struct search *search, const struct stat *ns)
{
	struct stat *next;

	for (size_t i = 0; i < search->n_seen; i++)
		if (search->seen[i].st_ino == ns->st_ino && search->seen[i].st_dev == ns->st_dev)
			return false;
	next = pm_list_next(&search->seen, search->n_seen, sizeof(*next));
	if (!next)
		return false;
	*next = *ns;
	search->n_seen++;
	return true;
}

/* Without symbolic links, which a container may have put there. */
static int open_point(const char *point)
{
	const struct open_how how = {
		.flags = O_PATH | O_CLOEXEC | O_NOFOLLOW,
		.resolve = RESOLVE_NO_SYMLINKS,
	};

	return (int)syscall(SYS_openat2, AT_FDCWD, point, &how, sizeof(how));
}

static bool detach_one(const struct search *search, const struct pm_mount *mount)
{
	cleanup_close int fd = open_point(mount->point);

	return fd >= 0 && pm_mount_id_of(search->proc_fd, fd) == mount->id && !fchdir(fd) &&
	       !umount2(".", MNT_DETACH);
}

/* One pass over this process's mounts: how many are of the device, and how many of them went. */
static bool pass(const struct search *search, size_t *ret_there, size_t *ret_gone)
{
	cleanup_with(pm_mounts_done) struct pm_mounts mounts = {0};

	*ret_there = *ret_gone = 0;
	if (pm_mounts_load_at(search->proc_fd, "self/mountinfo", &mounts, NULL))
		return false;
	for (size_t i = mounts.n; i-- > 0;) {
		if (strcmp(mounts.list[i].device, search->device))
			continue;
		*ret_there += 1;
		*ret_gone += detach_one(search, &mounts.list[i]);
	}
	return true;
}

/* In the child. A mount below others can be opened only after these have gone: so several passes.
 */
static bool detach_all(const struct search *search, int ns_fd)
{
	size_t there, gone;

	(void)alarm(CHILD_S);
	if (setns(ns_fd, CLONE_NEWNS))
		return false;
	do {
		if (!pass(search, &there, &gone))
			return false;
	} while (there && gone);
	return !there;
}

/* As a process never gets its own root and working directory back, a child enters. */
static bool visit(const struct search *search, int ns_fd)
{
	pid_t child = fork();
	int status = -1;

	if (child == 0)
		_exit(detach_all(search, ns_fd) ? 0 : 1);
	while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR)
		;
	return child > 0 && status == 0;
}

/* False: the namespace still has a mount of the device. One that has ended meanwhile has none. */
static bool clear(struct search *search, int dir_fd, const char *path)
{
	cleanup_close int fd = openat(dir_fd, path, O_RDONLY | O_CLOEXEC);
	struct stat ns;

	return fd < 0 || fstat(fd, &ns) || !is_first_visit(search, &ns) || visit(search, fd);
}

static int clear_processes(struct search *search, struct pm_err *err)
{
	cleanup_dir DIR *dir = fdopendir(openat(search->proc_fd, ".", O_RDONLY | O_CLOEXEC));
	const struct dirent *entry;
	char path[300];

	while (dir && (entry = readdir(dir))) {
		if (!isdigit((unsigned char)*entry->d_name))
			continue;
		snprintf(path, sizeof(path), "%s/ns/mnt", entry->d_name);
		if (!clear(search, search->proc_fd, path))
			return pm_err_set(err, -EIO,
				"the file system of device %s stays mounted in the mount namespace "
				"of process %s; end that process",
				search->device, entry->d_name);
	}
	return dir ? 0 : pm_err_sys(err, -errno, "open '/proc'");
}

/* Namespaces without a process, as Slurm keeps them until the job's end. Others are of no matter.
 */
static int clear_kept(struct search *search, struct pm_err *err)
{
	cleanup_with(pm_mounts_done) struct pm_mounts mounts = {0};
	int rc = pm_mounts_load_at(search->proc_fd, "self/mountinfo", &mounts, err);

	for (size_t i = 0; !rc && i < mounts.n; i++) {
		const struct pm_mount *mount = &mounts.list[i];

		if (strcmp(mount->type, "nsfs") || strncmp(mount->root, "mnt:", strlen("mnt:")))
			continue;
		if (!clear(search, AT_FDCWD, mount->point))
			rc = pm_err_set(err, -EIO,
				"the file system of device %s stays mounted in the mount namespace "
				"that '%s' keeps; 'umount %s' ends it",
				search->device, mount->point, mount->point);
	}
	return rc;
}

int pm_mount_copies_detach(const char *device, struct pm_err *err)
{
	cleanup_with(search_done) struct search search = {
		.proc_fd = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC), .device = device};
	struct stat own;
	int rc;

	if (search.proc_fd < 0 || fstatat(search.proc_fd, "self/ns/mnt", &own, 0))
		return pm_err_sys(err, -errno, "look at '/proc/self/ns/mnt'");
	(void)is_first_visit(&search, &own);
	rc = clear_processes(&search, err);
	return rc ? rc : clear_kept(&search, err);
}

int pm_mount_copies_free(const char *blockdev, struct pm_err *err)
{
	char path[64], device[32];
	struct stat st;

	snprintf(path, sizeof(path), "/dev/%s", blockdev);
	if (!*blockdev || stat(path, &st) || !S_ISBLK(st.st_mode))
		return 0;
	snprintf(device, sizeof(device), "%u:%u", major(st.st_rdev), minor(st.st_rdev));
	return pm_mount_copies_detach(device, err);
}
