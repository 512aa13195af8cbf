/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "lib/quota.h"

#include <errno.h>
#include <linux/fs.h>
#include <linux/quota.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Limits are in blocks of 1 KiB, whatever the file system's. */
#define BLOCK_BYTES QIF_DQBLKSIZE

static int quotactl_of(int fd, unsigned command, unsigned type, uint32_t id, struct if_dqblk *block)
{
	long rc = syscall(SYS_quotactl_fd, fd, QCMD(command, type), id, block);

	return rc < 0 ? -errno : 0;
}

static int complain(int rc, const char *what, uint32_t project, struct pm_err *err)
{
	if (rc == -ESRCH)
		return pm_err_set(err, rc,
			"%s of project %u: the file system is mounted without prjquota", what,
			(unsigned)project);
	return pm_err_sys(err, rc, "%s of project %u", what, (unsigned)project);
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

static int set_limit(int fd, unsigned type, uint32_t id, uint64_t limit_bytes)
{
	uint64_t blocks = (limit_bytes + BLOCK_BYTES - 1) / BLOCK_BYTES;
	struct if_dqblk block = {
		.dqb_bhardlimit = blocks,
		.dqb_bsoftlimit = blocks,
		.dqb_valid = QIF_BLIMITS,
	};

	return quotactl_of(fd, Q_SETQUOTA, type, id, &block);
}

int pm_quota_set(int fd, uint32_t project, uint64_t limit_bytes, struct pm_err *err)
{
	int rc = set_limit(fd, PRJQUOTA, project, limit_bytes);

	return rc ? complain(rc, "set the quota", project, err) : 0;
}

int pm_quota_limit_user(int fd, uint32_t uid, uint64_t limit_bytes, struct pm_err *err)
{
	int rc = set_limit(fd, USRQUOTA, uid, limit_bytes);

	return rc ? pm_err_sys(err, rc, "set the quota of user %u", (unsigned)uid) : 0;
}

int pm_quota_get(int fd, uint32_t project, struct pm_quota *ret, struct pm_err *err)
{
	struct if_dqblk block = {0};
	int rc = quotactl_of(fd, Q_GETQUOTA, PRJQUOTA, project, &block);

	if (rc == -ENOENT)
		rc = 0;
	if (rc)
		return complain(rc, "read the quota", project, err);
	ret->limit_bytes = block.dqb_bhardlimit * BLOCK_BYTES;
	ret->used_bytes = block.dqb_curspace;
	return 0;
}
