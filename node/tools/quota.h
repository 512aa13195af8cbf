/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_QUOTA_H
#define PM_QUOTA_H

/*
 * Quotas of ext4 and XFS, in bytes and in files (inodes): of a user, for all that he owns, and of
 * a project, for everything below a directory. By quotactl_fd(2), so that no path of a device is
 * needed.
 *
 * Linux lets the owner of a file move it to any project and asks for no privilege, so that he can
 * escape the limit of his own project and fill that of somebody else's. He cannot give it to
 * another user: the limits of users are those that hold against ill will.
 */
#include <stdint.h>

#include "base/err.h"

/* The project of a job: far from what sites number by hand; a job ID of Slurm is below 2^26. */
#define PM_QUOTA_PROJECT(job_id) (0x40000000u + (uint32_t)(job_id))

enum pm_quota_kind {
	PM_QUOTA_OF_USER,
	PM_QUOTA_OF_PROJECT,
};

/* Zeros are no limit. */
struct pm_share {
	uint64_t bytes, files;
};

struct pm_quota {
	struct pm_share limit, used;
};

/* Puts an open directory into the project; what is made in it inherits that. -EOPNOTSUPP: the
 * file system has no projects. */
int pm_quota_mark(int dir_fd, uint32_t project, struct pm_err *err);

/*
 * On the file system of the open file: sets the limits, reads them and the use. An ID that the file
 * system has never met has no limit and uses nothing. -ESRCH: mounted without quotas of this kind.
 */
int pm_quota_set(int fd, enum pm_quota_kind kind, uint32_t id, const struct pm_share *limit,
	struct pm_err *err);
int pm_quota_get(
	int fd, enum pm_quota_kind kind, uint32_t id, struct pm_quota *ret, struct pm_err *err);

#endif
