/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_QUOTA_H
#define PM_QUOTA_H

/*
 * Project quotas of ext4 and XFS: everything below a directory counts for its project, and no more
 * than its limit is given to it. By quotactl_fd(2), so that no path of a device is needed.
 */
#include <stdint.h>

#include "lib/err.h"

/* The project of a job: far from what sites number by hand; a job ID of Slurm is below 2^26. */
#define PM_QUOTA_PROJECT(job_id) (0x40000000u + (uint32_t)(job_id))

struct pm_quota {
	uint64_t limit_bytes; /* 0: none */
	uint64_t used_bytes;
};

/* Puts an open directory into the project; what is made in it inherits that. -EOPNOTSUPP: the
 * file system has no projects. */
int pm_quota_mark(int dir_fd, uint32_t project, struct pm_err *err);

/* On the file system of the open file: sets the project's limit (0 takes it away), reads it. A
 * project that nobody has heard of has no limit and uses nothing. -ESRCH: mounted without prjquota.
 */
int pm_quota_set(int fd, uint32_t project, uint64_t limit_bytes, struct pm_err *err);
int pm_quota_get(int fd, uint32_t project, struct pm_quota *ret, struct pm_err *err);

/*
 * The limit of all that a user has on the file system; 0 takes it away. Its owner may move a file
 * to another project (Linux asks for no privilege), but not to another user: what he owns in all
 * his jobs is bound by this. -ESRCH: mounted without usrquota.
 */
int pm_quota_limit_user(int fd, uint32_t uid, uint64_t limit_bytes, struct pm_err *err);

#endif
