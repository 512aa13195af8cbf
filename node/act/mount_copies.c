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
	unsigned long *seen; /* numbers of namespaces, which are the inodes of their files */
	size_t n_seen;
};

static void search_done(const struct search *search)
{
	pm_cleanup_close(&search->proc_fd);
	free(search->seen);
}

/* Out of "mnt:[4026531841]"; 0 if it is not a mount namespace's. */
static unsigned long number_in(const char *text)
{
	unsigned long number = 0;

	return sscanf(text, "mnt:[%lu]", &number) == 1 ? number : 0;
}

/*
 * Of a process's namespace; 0, with errno, if it has ended or the kernel does not tell. Read, not
 * looked at by stat(): the file has no path, so a profile of AppArmor's refuses that, in complain
 * mode, too.
 */
static unsigned long number_of(const struct search *search, const char *path)
{
	char text[64];
	ssize_t length = readlinkat(search->proc_fd, path, text, sizeof(text) - 1);

	if (length < 0)
		return 0;
	text[length] = '\0';
	errno = EBADMSG;
	return number_in(text);
}

static bool is_seen(const struct search *search, unsigned long number)
{
	for (size_t i = 0; i < search->n_seen; i++)
		if (search->seen[i] == number)
			return true;
	return false;
}

/* False also out of memory: then the namespace is not visited. */
static bool is_first_visit(struct search *search, unsigned long number)
{
	unsigned long *next;

	if (is_seen(search, number))
		return false;
	next = pm_list_next(&search->seen, search->n_seen, sizeof(*next));
	if (!next)
		return false;
	*next = number;
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

/*
 * False: the namespace still has a mount of the device. The process may have entered another since
 * its number was read, so what is opened counts.
 */
static bool clear(struct search *search, int ns_fd)
{
	struct stat ns;

	return fstat(ns_fd, &ns) || !is_first_visit(search, ns.st_ino) || visit(search, ns_fd);
}

/* By the mounts that the process sees, which are all of its namespace's unless it has a root of its
 * own. One that has ended sees none. */
static bool sees_copy(const struct search *search, const char *pid)
{
	cleanup_with(pm_mounts_done) struct pm_mounts mounts = {0};
	char path[300];

	snprintf(path, sizeof(path), "%s/mountinfo", pid);
	if (pm_mounts_load_at(search->proc_fd, path, &mounts, NULL))
		return false;
	for (size_t i = 0; i < mounts.n; i++)
		if (!strcmp(mounts.list[i].device, search->device))
			return true;
	return false;
}

/* A namespace that cannot be opened, as by a profile of AppArmor's, does no harm without a copy. */
static int clear_unopened(
	const struct search *search, const char *pid, int code, struct pm_err *err)
{
	if (code == -ENOENT || code == -ESRCH || !sees_copy(search, pid))
		return 0;
	return pm_err_sys(err, code,
		"the file system of device %s stays mounted in the mount namespace of process %s; "
		"end that process: open '/proc/%s/ns/mnt'",
		search->device, pid, pid);
}

static int clear_process(struct search *search, const char *pid, struct pm_err *err)
{
	cleanup_close int fd = -1;
	char path[300];

	snprintf(path, sizeof(path), "%s/ns/mnt", pid);
	if (is_seen(search, number_of(search, path)))
		return 0;
	fd = openat(search->proc_fd, path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return clear_unopened(search, pid, -errno, err);
	if (clear(search, fd))
		return 0;
	return pm_err_set(err, -EIO,
		"the file system of device %s stays mounted in the mount namespace of process %s; "
		"end that process",
		search->device, pid);
}

static int clear_processes(struct search *search, struct pm_err *err)
{
	cleanup_dir DIR *dir = fdopendir(openat(search->proc_fd, ".", O_RDONLY | O_CLOEXEC));
	const struct dirent *entry;
	int rc = dir ? 0 : pm_err_sys(err, -errno, "open '/proc'");

	while (!rc && (entry = readdir(dir)))
		if (isdigit((unsigned char)*entry->d_name))
			rc = clear_process(search, entry->d_name, err);
	return rc;
}

/* False: the namespace that this file keeps still has a mount of the device. */
static bool clear_file(struct search *search, const struct pm_mount *mount)
{
	cleanup_close int fd = -1;

	if (is_seen(search, number_in(mount->root)))
		return true;
	fd = open(mount->point, O_RDONLY | O_CLOEXEC);
	return fd < 0 || clear(search, fd);
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
		if (!clear_file(search, mount))
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
	unsigned long own = number_of(&search, "self/ns/mnt");
	int rc;

	if (!own)
		return pm_err_sys(err, -errno, "read '/proc/self/ns/mnt'");
	(void)is_first_visit(&search, own);
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
