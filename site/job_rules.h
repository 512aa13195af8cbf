/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_JOB_RULES_H
#define PM_JOB_RULES_H

/*
 * The line of pmem.conf that decides a key for a job: the last one that holds for it. pmem.lua
 * decides the same at submission; this is for the service, which looks at queued jobs.
 */
#include <stdbool.h>

#include "site/config.h"

/* NULL or "" for what the job does not have. */
struct pm_rule_job {
	const char *partition, *account, *qos, *user;
	const char *reservation; /* may be a comma list: a line holds if it has all of them */

	/* True if the user is in the group; NULL: groups have no members. */
	bool (*is_member)(const void *context, const char *group, const char *user);
	const void *context;
};

/* The value as it was written, and the line, "/etc/slurm/pmem.conf:12" or "default". */
struct pm_job_rule {
	const char *text, *origin;
};

struct pm_job_rule pm_job_rule_of(
	const struct pm_config *config, enum pm_key key, const struct pm_rule_job *job);

/* True if a list as of RebootUsers, "*" or "alice,@staff", has the job's user. */
bool pm_job_rule_has_user(const char *list, const struct pm_rule_job *job);

/* True if some line gives the key another value than its default. */
bool pm_job_rule_is_used(const struct pm_config *config, enum pm_key key);

#endif
