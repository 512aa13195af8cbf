/* SPDX-License-Identifier: Apache-2.0 */
/* What users leave in a job's directory, on full file systems of both kinds; root's, where there
 * are loop devices. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include "node/wipe/rmtree.h"
#include "node/wipe/trash.h"
#include "tests/unit/loop.h"
#include "tests/unit/scratch.h"
#include "tests/unit/tap.h"

#define MIB    ((size_t)1 << 20)
#define NOBODY 65534

static char root_path[2000];
static int root_fd;

static bool is_there(const char *name)
{
	struct stat st;

	return !fstatat(root_fd, name, &st, AT_SYMLINK_NOFOLLOW);
}

static struct statvfs space(void)
{
	struct statvfs st;

	syncfs(root_fd);
	fstatvfs(root_fd, &st);
	return st;
}

static int make_job(void)
{
	int fd;

	mkdirat(root_fd, "job_1", 0700);
	fd = openat(root_fd, "job_1", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	ok(fd >= 0 && !fchown(fd, NOBODY, NOBODY), "a job's directory");
	return fd;
}

/* Takes all blocks, then all inodes. */
static void fill(int fd, const char *name)
{
	static const char block[MIB];
	int file = openat(fd, name, O_CREAT | O_WRONLY | O_CLOEXEC, 0600), made = 0;

	for (size_t size = sizeof(block); size >= 512; size /= 2)
		while (write(file, block, size) == (ssize_t)size)
			;
	fsync(file);
	close(file);
	for (int i = 0; i < 100000; i++, made++) {
		char other[40];

		snprintf(other, sizeof(other), "%s-%d", name, i);
		file = openat(fd, other, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
		if (file < 0)
			break;
		close(file);
	}
	is_number(errno, ENOSPC, "the file system is full");
}

/* The job's end as pmctl does it, and the removal. */
static void end_job(const char *what)
{
	struct pm_err err = {0};
	bool is_left = false, is_found = true;

	is_number(pm_trash_make(root_fd, root_path, "job_1", &is_left, &err), 0, err.text);
	ok(is_left && !is_there("job_1"), "%s: the name is free at once", what);
	is_number(pm_trash_empty(root_fd, root_path, &err), 0, err.text);
	is_number(pm_trash_find(root_fd, &is_found, &err), 0, err.text);
	ok(!is_found, "%s: all of it is removed", what);
}

/* A directory that is not empty, and below it neither. */
static bool make_tree(int fd, const char *name)
{
	int below = mkdirat(fd, name, 0700) ? -1 : openat(fd, name, O_RDONLY | O_CLOEXEC);
	bool done = !mkdirat(below, "x", 0700) && !mkdirat(below, "x/y", 0700) &&
		    !mkdirat(below, "x/y/z", 0700);

	close(below);
	return done;
}

/* A block of 4 KiB holds 15 of the longest names and 8 of the shortest, and no more. */
static void test_full_directory(void)
{
	int fd = make_job(), made = 0, other;
	char name[256] = "";

	for (int i = 0; i < 15; i++) {
		memset(name, 'a' + i, 255);
		made += make_tree(fd, name);
	}
	for (int i = 0; i < 8; i++)
		made += make_tree(fd, (char[]){(char)('0' + i), 0});
	is_number(made, 23, "a directory without room for another name");
	mkdirat(root_fd, "job_2", 0700);
	other = openat(root_fd, "job_2", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	fill(other, "other");
	end_job("a full directory on a full file system");
	is_number(pm_rmtree(root_fd, "job_2", NULL), 0, "and so is the other job's");
	close(other);
	close(fd);
}

/* What the job itself has filled. */
static void test_full(void)
{
	struct statvfs before = space(), after;
	int fd = make_job();

	fill(fd, "own");
	close(fd);
	end_job("a full file system");
	after = space();
	ok(after.f_bfree + 16 >= before.f_bfree && after.f_ffree + 64 >= before.f_ffree,
		"its space and inodes are free again");
}

/* The largest file that the file system takes. */
static void make_sparse(int fd)
{
	int file = openat(fd, "sparse", O_CREAT | O_RDWR | O_CLOEXEC, 0600);
	off_t size = INT64_MAX;

	while (size > 1 && ftruncate(file, size))
		size /= 2;
	ok(size > (off_t)1 << 40, "a sparse file of %lld bytes", (long long)size);
	(void)!pwrite(file, "x", 1, size - 2);
	close(file);
}

static int make_deep(int fd, unsigned depth)
{
	int made = 0;

	fd = dup(fd);
	for (unsigned i = 0; i < depth; i++) {
		int below;

		made += !mkdirat(fd, "d", 0700);
		below = openat(fd, "d", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		close(fd);
		fd = below;
	}
	close(fd);
	return made;
}

static int make_names(int fd, unsigned n)
{
	unsigned char name[256] = "";
	int made = 0;

	for (unsigned i = 0; i < n; i++) {
		for (int at = 0; at < 255; at++) {
			unsigned char byte = (unsigned char)(at * 7 + i * 13 + (i >> at % 8));

			name[at] = byte && byte != '/' ? byte : '\n';
		}
		memcpy(name, &(unsigned){i | 0x01010101}, sizeof(i));
		made += !mknodat(fd, (char *)name, S_IFREG | 0600, 0);
	}
	return made;
}

static void test_shapes(void)
{
	int fd = make_job();

	make_sparse(fd);
	is_number(make_deep(fd, 4000), 4000, "4000 levels");
	ok(make_names(fd, 500) > 100, "names of 255 bytes of anything");
	close(fd);
	end_job("all shapes");
}

/* Makes a directory below the open one, as the user with a process in it does. */
static int make_as_user(int fd)
{
	pid_t child = fork();
	int status = -1;

	if (!child) {
		bool is_user = !setgid(NOBODY) && !setuid(NOBODY);

		_exit(is_user && !mkdirat(fd, "more", 0700) ? 0 : errno);
	}
	waitpid(child, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* A process that has left its job: in the directory, and with a file of it open. */
static void test_survivor(void)
{
	static const char block[8 * MIB];
	struct statvfs before = space(), after;
	struct pm_err err = {0};
	int fd = make_job(), file = openat(fd, "file", O_CREAT | O_RDWR | O_CLOEXEC, 0600);
	bool is_left;

	is_number(write(file, block, sizeof(block)), sizeof(block), "8 MiB of an open file");
	is_number(pm_trash_make(root_fd, root_path, "job_1", &is_left, &err), 0, err.text);
	is_number(make_as_user(fd), EACCES, "who was in it makes nothing there any more");
	is_number(pm_trash_empty(root_fd, root_path, &err), 0, err.text);
	after = space();
	ok(after.f_bfree + 16 >= before.f_bfree, "an open file keeps no space");
	close(file);
	close(fd);
}

static void test_mounts(void)
{
	char path[2100];
	int fd = make_job();

	scratch_file("victim/file", "x");
	mkdirat(fd, "sub", 0700);
	mkdirat(fd, "sub/on", 0700);
	snprintf(path, sizeof(path), "%s/job_1/sub/on", root_path);
	ok(!mount(scratch_path("victim"), path, NULL, MS_BIND, NULL) &&
			!mount("none", path, "tmpfs", 0, NULL),
		"two mounts on each other");
	snprintf(path, sizeof(path), "%s/job_1", root_path);
	ok(!mount("none", path, "tmpfs", 0, NULL), "and one on the directory itself");
	close(fd);
	end_job("mounts");
	ok(!access(scratch_path("victim/file"), F_OK), "what was mounted is untouched");
}

/* A link in place of a directory in the mount point's path leads to another mount. */
static void test_false_mount(void)
{
	char path[2100], moved[2100];
	int fd = make_job();

	scratch_file("sub/on/file", "x");
	mkdirat(fd, "sub", 0700);
	mkdirat(fd, "sub/on", 0700);
	snprintf(path, sizeof(path), "%s/job_1/sub/on", root_path);
	snprintf(moved, sizeof(moved), "%s/job_1/elsewhere", root_path);
	ok(!mount(scratch_path("victim"), path, NULL, MS_BIND, NULL) &&
			!mount("none", scratch_path("sub/on"), "tmpfs", 0, NULL),
		"a mount in the directory, another outside");
	scratch_file("sub/on/ours", "x");
	snprintf(path, sizeof(path), "%s/job_1/sub", root_path);
	ok(!rename(path, moved) && !symlink(scratch_path("sub"), path), "a link leads there");
	close(fd);
	end_job("a false mount");
	ok(!access(scratch_path("sub/on/ours"), F_OK), "the other is still mounted");
	umount(scratch_path("sub/on"));
}

static void test_again(void)
{
	struct pm_err err = {0};
	bool is_left = true;

	is_number(pm_trash_make(root_fd, root_path, "job_1", &is_left, &err), 0, err.text);
	ok(!is_left, "what is not there is no trash");
	close(make_job());
	is_number(pm_trash_make(root_fd, root_path, "job_1", &is_left, &err), 0, err.text);
	ok(!is_left && !is_there("job_1"), "an empty directory goes at once");
	for (int i = 0; i < 3; i++) {
		int fd = make_job();

		mkdirat(fd, "sub", 0700);
		close(fd);
		pm_trash_make(root_fd, root_path, "job_1", &is_left, &err);
		ok(is_left, "a job that runs again leaves its trash again");
	}
	ok(is_there("trash_0") && is_there("trash_1") && is_there("trash_2"), "side by side");
	close(make_job());
	is_number(pm_trash_empty(root_fd, root_path, &err), 0, err.text);
	ok(!is_there("trash_0") && is_there("job_1"), "jobs stay when trash is emptied");
	unlinkat(root_fd, "job_1", AT_REMOVEDIR);
}

static void test_names(void)
{
	ok(pm_trash_is_name("trash_0") && pm_trash_is_name("trash_12"), "trash");
	ok(!pm_trash_is_name("trash_") && !pm_trash_is_name("trash_1x") &&
			!pm_trash_is_name("trash") && !pm_trash_is_name("job_1"),
		"is told from all else");
}

static void test_all(void)
{
	root_fd = open(root_path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	test_again();
	test_full();
	test_full_directory();
	test_shapes();
	test_survivor();
	test_mounts();
	test_false_mount();
	close(root_fd);
	umount2(root_path, MNT_DETACH);
}

static void try(const char *type, size_t bytes, const char *const *mkfs)
{
	const char *argv[8] = {0};
	char device[64] = "";
	bool done = loop_make(bytes, device);

	for (int i = 0; mkfs[i]; i++) {
		argv[i] = mkfs[i];
		argv[i + 1] = device;
	}
	snprintf(root_path, sizeof(root_path), "%s", scratch_path(type));
	if (done && loop_run(argv, NULL, 0) && loop_mount(device, root_path, type, ""))
		test_all();
	else
		ok(true, "trash on %s # SKIP not root, no loop device, or no such file system",
			type);
	loop_drop(device);
}

int main(void)
{
	test_names();
	try("ext4", 64 * MIB,
		(const char *const[]){"/usr/sbin/mkfs.ext4", "-q", "-b", "4096", "-m", "0", NULL});
	try("xfs", 320 * MIB, (const char *const[]){"/usr/sbin/mkfs.xfs", "-q", "-f", NULL});
	return tap_done();
}
