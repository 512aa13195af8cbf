/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/socket.h>
#include <unistd.h>

#include "node/wipe/rmtree.h"
#include "tests/unit/scratch.h"
#include "tests/unit/tap.h"

static int open_scratch(void)
{
	return open(scratch_dir(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

static bool is_there(const char *name)
{
	struct stat st;

	return !lstat(scratch_path(name), &st);
}

static void test_simple(void)
{
	int fd = open_scratch();
	struct pm_err err = {0};

	is_number(pm_rmtree(fd, "none", &err), 0, "what is not there is removed");
	scratch_file("a/b/c/file", "x");
	scratch_file("a/b/other", "x");
	scratch_file("a/pm-0", "a name like ours");
	scratch_file("neighbour/file", "x");
	is_number(pm_rmtree(fd, "a", &err), 0, err.text);
	ok(!is_there("a"), "a tree is gone");
	ok(is_there("neighbour/file"), "its neighbour is not");
	is_number(pm_rmtree(fd, "neighbour/file", &err), -EINVAL, "two components");
	is_number(pm_rmtree(fd, "..", &err), -EINVAL, "dots");
	is_number(pm_rmtree(fd, "", &err), -EINVAL, "nothing");
	scratch_file("plain", "x");
	is_number(pm_rmtree(fd, "plain", &err), -ENOTDIR, "a file");
	ok(is_there("plain"), "is left");
	close(fd);
}

static void test_links(void)
{
	int fd = open_scratch();
	const char *secret = scratch_file("secret/file", "keep me");
	struct stat st;
	struct pm_err err = {0};

	scratch_file("links/sub/file", "x");
	ok(!symlink(scratch_path("secret"), scratch_path("links/to-directory")) &&
			!symlink("../../secret", scratch_path("links/sub/relative")) &&
			!symlink("/", scratch_path("links/root")) &&
			!link(secret, scratch_path("links/hard")),
		"links of all kinds");
	is_number(pm_rmtree(fd, "links", &err), 0, err.text);
	ok(!is_there("links"), "go");
	ok(!stat(secret, &st) && st.st_nlink == 1, "what they lead to stays");
	ok(!symlink(scratch_path("secret"), scratch_path("job")), "a link in place of the tree");
	is_number(pm_rmtree(fd, "job", &err), -ENOTDIR, "is refused");
	ok(is_there("secret/file"), "and not followed");
	close(fd);
}

static void test_kinds(void)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int fd = open_scratch(), sock = socket(AF_UNIX, SOCK_STREAM, 0);

	scratch_file("kinds/file", "x");
	ok(!mkfifo(scratch_path("kinds/fifo"), 0600), "a FIFO that nobody writes to");
	snprintf(address.sun_path, sizeof(address.sun_path), "%s", scratch_path("kinds/socket"));
	ok(!bind(sock, (struct sockaddr *)&address, sizeof(address)), "a socket");
	ok(!mkdir(scratch_path("kinds/closed"), 0700) &&
			!mkdir(scratch_path("kinds/closed/in"), 0700) &&
			!chmod(scratch_path("kinds/closed"), 0),
		"a directory without permissions");
	scratch_file("kinds/name with\nnewline/\x80\xff", "x");
	is_number(pm_rmtree(fd, "kinds", NULL), 0, "are removed");
	ok(!is_there("kinds"), "all");
	close(sock);
	close(fd);
}

/* Far deeper than a path, than descriptors and than a recursion would go. */
static void test_deep(void)
{
	const struct rlimit few = {.rlim_cur = 20, .rlim_max = 20};
	const unsigned depth = 20000;
	int top = open_scratch(), fd = top, made = 0;

	for (unsigned i = 0; i < depth; i++) {
		int below;

		made += !mkdirat(fd, "d", 0700);
		below = openat(fd, "d", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		if (fd != top)
			close(fd);
		fd = below;
	}
	close(openat(fd, "file", O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
	close(fd);
	is_number(made, depth, "a tree of 20000 levels");
	setrlimit(RLIMIT_NOFILE, &few);
	is_number(pm_rmtree(top, "d", NULL), 0, "is removed with few descriptors");
	ok(!is_there("d"), "all of it");
	close(top);
}

static void test_wide(void)
{
	int fd = open_scratch(), made = 0;

	mkdir(scratch_path("wide"), 0700);
	for (unsigned i = 0; i < 3000; i++) {
		char name[40];

		snprintf(name, sizeof(name), "wide/d%u/x/y", i);
		made += scratch_file(name, "") != NULL;
	}
	is_number(made, 3000, "3000 directories at one level");
	is_number(pm_rmtree(fd, "wide", NULL), 0, "are removed");
	ok(!is_there("wide"), "all");
	close(fd);
}

static bool add_flag(const char *path, int flag)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC), flags = 0;
	bool done = !ioctl(fd, FS_IOC_GETFLAGS, &flags);

	flags |= flag;
	done = done && !ioctl(fd, FS_IOC_SETFLAGS, &flags);

	close(fd);
	return done;
}

static void test_immutable(void)
{
	int fd = open_scratch();

	scratch_file("flags/sub/in/file", "x");
	scratch_file("flags/sub/log", "x");
	if (!add_flag(scratch_path("flags/sub/in/file"), FS_IMMUTABLE_FL)) {
		ok(true, "immutable files # SKIP not root, or not offered here");
	} else {
		ok(add_flag(scratch_path("flags/sub/log"), FS_APPEND_FL) &&
				add_flag(scratch_path("flags/sub/in"), FS_IMMUTABLE_FL) &&
				add_flag(scratch_path("flags/sub"), FS_IMMUTABLE_FL),
			"immutable files and directories");
		is_number(pm_rmtree(fd, "flags", NULL), 0, "are removed");
		ok(!is_there("flags"), "all");
	}
	close(fd);
}

static void test_mount(void)
{
	int fd;
	struct pm_err err = {0};

	scratch_file("mounts/sub/on/file", "x");
	scratch_file("victim/file", "x");
	if (geteuid() != 0 || unshare(CLONE_NEWNS) ||
		mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
		mount(scratch_path("victim"), scratch_path("mounts/sub/on"), NULL, MS_BIND, NULL)) {
		ok(true, "a mount point # SKIP not root, or no mount");
		return;
	}
	fd = open_scratch();
	is_number(pm_rmtree(fd, "mounts", &err), -EBUSY, "a mount point stops it");
	ok(is_there("victim/file"), "what is mounted is untouched");
	umount(scratch_path("mounts/sub/on"));
	is_number(pm_rmtree(fd, "mounts", &err), 0, "without the mount it goes");
	ok(is_there("victim/file"), "and the other stays");
	close(fd);
}

int main(void)
{
	test_simple();
	test_links();
	test_kinds();
	test_wide();
	test_immutable();
	test_mount();
	test_deep();
	return tap_done();
}
