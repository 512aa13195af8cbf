/* SPDX-License-Identifier: Apache-2.0 */
/* Quotas, removal and wiping on a file system of its own; root's, where there are loop devices. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "node/tools/quota.h"
#include "node/wipe/rmtree.h"
#include "node/wipe/scrub.h"
#include "tests/unit/loop.h"
#include "tests/unit/scratch.h"
#include "tests/unit/tap.h"

#define MIB	((size_t)1 << 20)
#define PROJECT PM_QUOTA_PROJECT(12)

static const struct pm_fs_amount limit = {.bytes = 8 * MIB}, none;

static bool mount_with_quota(const char *device, const char *place)
{
	return LOOP_RUN(NULL, 0, "/usr/sbin/mkfs.ext4", "-q", "-O", "quota,project", "-E",
		       "quotatype=usrquota:prjquota", device) &&
	       loop_mount(device, place, "ext4", "prjquota,usrquota");
}

static bool mount_plain(const char *device, const char *place)
{
	return LOOP_RUN(NULL, 0, "/usr/sbin/mkfs.ext4", "-q", "-F", device) &&
	       loop_mount(device, place, "ext4", "");
}

/* Writes as somebody else, in the directory; the errno that stopped it, 0 when nothing did. */
static int write_as_user(int dir_fd, const char *name, size_t size)
{
	static char block[MIB];
	pid_t child = fork();
	int status = 0;

	if (!child) {
		int fd;

		memset(block, 'x', sizeof(block));
		if (setgid(65534) || setuid(65534))
			_exit(255);
		fd = openat(dir_fd, name, O_CREAT | O_WRONLY, 0600);
		for (ssize_t put, left = (ssize_t)size; fd >= 0 && left > 0; left -= put) {
			put = write(fd, block, left < (ssize_t)MIB ? (size_t)left : MIB);
			if (put < 0)
				_exit(errno);
		}
		_exit(fd < 0 || fsync(fd) ? errno : 0);
	}
	waitpid(child, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* As `chattr -p` does it. */
static int move_as_user(int fd, unsigned project)
{
	pid_t child = fork();
	int status = 0;

	if (!child) {
		struct fsxattr attr;

		if (setgid(65534) || setuid(65534) || ioctl(fd, FS_IOC_FSGETXATTR, &attr))
			_exit(255);
		attr.fsx_projid = project;
		_exit(ioctl(fd, FS_IOC_FSSETXATTR, &attr) ? errno : 0);
	}
	waitpid(child, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static int make_directory(int root_fd)
{
	int fd = mkdirat(root_fd, "job_12", 0700)
			 ? -1
			 : openat(root_fd, "job_12", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	ok(fd >= 0 && !fchown(fd, 65534, 65534), "a user's directory");
	return fd;
}

static void test_quota(int root_fd)
{
	struct pm_quota quota = {0};
	struct pm_err err = {0};
	int fd = make_directory(root_fd);

	is_number(pm_quota_get(root_fd, PM_QUOTA_OF_PROJECT, PROJECT, &quota, &err), 0, err.text);
	is_number((long long)quota.limit.bytes, 0, "no limit yet");
	is_number(pm_quota_set(root_fd, PM_QUOTA_OF_PROJECT, PROJECT, &limit, &err), 0, err.text);
	is_number(pm_quota_mark(fd, PROJECT, &err), 0, err.text);
	is_number(write_as_user(fd, "fits", 6 * MIB), 0, "what fits is written");
	is_number(write_as_user(fd, "more", 6 * MIB), EDQUOT, "more is not");
	is_number(pm_quota_get(root_fd, PM_QUOTA_OF_PROJECT, PROJECT, &quota, &err), 0, err.text);
	is_number((long long)quota.limit.bytes, 8 * (long long)MIB, "the limit");
	ok(quota.used.bytes > 6 * MIB && quota.used.bytes <= 8 * MIB, "and the use are told");
	close(fd);
}

/* A user may put his files into another project, and is bound all the same. */
static void test_user(int root_fd)
{
	struct pm_err err = {0};
	int fd = openat(root_fd, "job_12", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int fits = openat(fd, "fits", O_RDONLY | O_CLOEXEC);

	is_number(pm_quota_set(root_fd, PM_QUOTA_OF_USER, 65534, &limit, &err), 0, err.text);
	is_number(move_as_user(fits, 77), 0, "but its owner may move it to another");
	is_number(write_as_user(fd, "again", 6 * MIB), EDQUOT, "and still gets no more");
	close(fits);
	close(fd);
}

/* Directories of other projects cannot be moved into one that hands its project on. */
static void test_removal(int root_fd)
{
	struct pm_quota quota = {0};
	struct pm_err err = {0};
	int fd = openat(root_fd, "job_12", O_RDONLY | O_DIRECTORY | O_CLOEXEC), deep;

	ok(!mkdirat(fd, "a", 0700) && !mkdirat(fd, "a/b", 0700), "a tree");
	deep = openat(fd, "a/b", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	is_number(pm_quota_mark(deep, 77, &err), 0, "a directory of another project in it");
	ok(!mkdirat(deep, "c", 0700) && !mkdirat(deep, "c/d", 0700), "deeper still");
	close(deep);
	close(fd);
	is_number(pm_rmtree(root_fd, "job_12", &err), 0, err.text);
	is_number(pm_quota_set(root_fd, PM_QUOTA_OF_PROJECT, PROJECT, &none, &err), 0,
		"the limit goes");
	is_number(pm_quota_get(root_fd, PM_QUOTA_OF_PROJECT, PROJECT, &quota, &err), 0, err.text);
	is_number((long long)(quota.used.bytes + quota.limit.bytes), 0, "nothing is left of it");
}

static bool reads_zero(const char *device, size_t size)
{
	unsigned char *data = malloc(size);
	int fd = open(device, O_RDONLY | O_CLOEXEC);
	bool zero = data && read(fd, data, size) == (ssize_t)size;

	for (size_t i = 0; zero && i < size; i++)
		zero = !data[i];
	close(fd);
	free(data);
	return zero;
}

static void test_wipe(const char *device, const char *place)
{
	const struct pm_scrub_options options = {.fs_root = "/"};
	const struct pm_scrub_target target = {device, -1};
	struct pm_scrub_result result = {0};
	struct pm_err err = {0};

	is_number(pm_scrub(&target, 1, &options, &result, &err), -EBUSY, "what is mounted");
	has_text(err.text, device, "is not wiped");
	ok(!umount(place), "unmounted");
	is_number(pm_scrub(&target, 1, &options, &result, &err), 0, "is wiped");
	is_number((long long)result.size_bytes, 64 * (long long)MIB, "all of it was looked at");
	ok(result.written_bytes > 0 && result.written_bytes < 32 * MIB, "the dirty part written");
	ok(reads_zero(device, 64 * MIB), "it reads as zeros");
}

static void test_projects(const char *place)
{
	int root_fd = open(place, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	test_quota(root_fd);
	test_user(root_fd);
	test_removal(root_fd);
	close(root_fd);
}

int main(void)
{
	char device[64] = "", place[2000];
	bool has_quota, is_mounted;

	snprintf(place, sizeof(place), "%s", scratch_path("mnt"));
	has_quota = loop_make(64 * MIB, device) && mount_with_quota(device, place);
	if (has_quota)
		test_projects(place);
	else
		ok(true, "quotas # SKIP not root, no loop device, or a kernel without quotas");
	is_mounted = has_quota || (*device && mount_plain(device, place));
	if (is_mounted)
		test_wipe(device, place);
	else
		ok(true, "block devices # SKIP not root, or no loop device");
	loop_drop(device);
	return tap_done();
}
