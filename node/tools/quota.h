/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_QUOTA_H
#define PM_QUOTA_H

/*
 * Quotas of ext4 and XFS, in bytes and in files (inodes): of a user, for all files that he owns,
 * and of a project, for everything below a directory. By quotactl_fd(2), which needs no path of a
 * device.
 *
 * Linux lets the owner of a file move it to any project without privileges, so that he can escape
 * the limit of his own project and fill the project of another user. He cannot give a file to
 * another user, so only limits of users hold against a user who wants to evade them.
 */
#include <stdint.h>

#include "base/err.h"

/*
 * The project of a job: above the numbers that sites choose by hand. A job ID of Slurm is below
 * 2^26.
 */
#define PM_QUOTA_PROJECT(job_id) (0x40000000u + (uint32_t)(job_id))

enum pm_quota_kind {
	PM_QUOTA_OF_USER,
	PM_QUOTA_OF_PROJECT,
};

/* An amount; as a limit, 0 means none. */
struct pm_fs_amount {
	uint64_t bytes, files;
};

struct pm_quota {
	struct pm_fs_amount limit, used;
};

/*
 * Puts an open directory into the project; new entries inherit it. -EOPNOTSUPP: the file system
 * has no projects.
 */
int pm_quota_mark(int dir_fd, uint32_t project, struct pm_err *err);

/*
 * Set limits, read limits and use, on the file system of the open file. An ID that the file system
 * does not know has no limits and uses nothing. -ESRCH: mounted without quota of this kind.
 */
int pm_quota_set(int fd, enum pm_quota_kind kind, uint32_t id, const struct pm_fs_amount *limit,
	struct pm_err *err);
int pm_quota_get(
	int fd, enum pm_quota_kind kind, uint32_t id, struct pm_quota *ret, struct pm_err *err);

#endif
