/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_JOB_USE_LOOK_H
#define PM_JOB_USE_LOOK_H

#include "protocol/job_use.h"
#include "site/config.h"

/*
 * A job's present use of this node, from its memory cgroup (node/tools/job_cgroup.h) and from the
 * quota of its directories: present values and highest ones go into *use. A value that cannot be
 * read is left as it is.
 */
void pm_use_look_at(const struct pm_config *config, struct pm_job_use *use);

#endif
