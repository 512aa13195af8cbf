/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "node/tools/quota.h"

#include <errno.h>
#include <linux/fs.h>
#include <linux/quota.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Limits are in blocks of 1 KiB on every file system. */
#define BLOCK_BYTES QIF_DQBLKSIZE

static int quotactl_of(int fd, unsigned command, unsigned type, uint32_t id, struct if_dqblk *block)
{
	long rc = syscall(SYS_quotactl_fd, fd, QCMD(command, type), id, block);

	return rc < 0 ? -errno : 0;
}

static const struct {
	unsigned type;
	const char *name, *option;
} kinds[] = {
	[PM_QUOTA_OF_USER] = {USRQUOTA, "user", "usrquota"},
	[PM_QUOTA_OF_PROJECT] = {PRJQUOTA, "project", "prjquota"},
};

static int complain(
	int rc, const char *what, enum pm_quota_kind kind, uint32_t id, struct pm_err *err)
{
	const char *name = kinds[kind].name;

	if (rc == -ESRCH)
		return pm_err_set(err, rc, "%s of %s %u: the file system is mounted without %s",
			what, name, (unsigned)id, kinds[kind].option);
	return pm_err_sys(err, rc, "%s of %s %u", what, name, (unsigned)id);
}

int pm_quota_mark(int dir_fd, uint32_t project, struct pm_err *err)
{
	struct fsxattr attr;

	if (ioctl(dir_fd, FS_IOC_FSGETXATTR, &attr))
		return pm_err_sys(err, -errno, "read the project of a directory");
	attr.fsx_projid = project;
	attr.fsx_xflags |= FS_XFLAG_PROJINHERIT;
	if (ioctl(dir_fd, FS_IOC_FSSETXATTR, &attr))
		return pm_err_sys(
			err, -errno, "put a directory into project %u", (unsigned)project);
	return 0;
}

int pm_quota_set(int fd, enum pm_quota_kind kind, uint32_t id, const struct pm_fs_amount *limit,
	struct pm_err *err)
{
	uint64_t blocks = (limit->bytes + BLOCK_BYTES - 1) / BLOCK_BYTES;
	struct if_dqblk block = {
		.dqb_bhardlimit = blocks,
		.dqb_bsoftlimit = blocks,
		.dqb_ihardlimit = limit->files,
		.dqb_isoftlimit = limit->files,
		.dqb_valid = QIF_LIMITS,
	};
	int rc = quotactl_of(fd, Q_SETQUOTA, kinds[kind].type, id, &block);

	return rc ? complain(rc, "set the quota", kind, id, err) : 0;
}

int pm_quota_get(
	int fd, enum pm_quota_kind kind, uint32_t id, struct pm_quota *ret, struct pm_err *err)
{
	struct if_dqblk block = {0};
	int rc = quotactl_of(fd, Q_GETQUOTA, kinds[kind].type, id, &block);

	if (rc && rc != -ENOENT)
		return complain(rc, "read the quota", kind, id, err);
	ret->limit =
		(struct pm_fs_amount){block.dqb_bhardlimit * BLOCK_BYTES, block.dqb_ihardlimit};
	ret->used = (struct pm_fs_amount){block.dqb_curspace, block.dqb_curinodes};
	return 0;
}
