/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_PERMIT_LIMITS_H
#define PM_PERMIT_LIMITS_H

/*
 * The limits of pmem.conf for one job, and how much of them is used. The lines that decide are
 * looked for once for all jobs of the same partitions, account, QOS, user and reservation.
 */
#include <stdbool.h>
#include <stdint.h>

#include "controller/cluster.h"
#include "controller/permit_rule.h"
#include "controller/reboots.h"
#include "site/config.h"

/* A name of the directory service, asked for once. */
struct pm_permit_user {
	struct pm_permit_user *next;
	uint32_t uid;
	char *name; /* "": it has none */
};

struct pm_permit_site {
	struct pm_config config;
	bool configured;
	bool asks_users;	       /* lines differ by users */
	char *groups;		       /* the text of the file of groups; NULL: none */
	struct pm_permit_rules *rules; /* of the jobs that have been looked at */
	struct pm_permit_day *days;
	unsigned used_by_unknown; /* reboots for jobs of which too little is known */
	struct pm_permit_user *users;
};

/* True if pmem.conf has a limit for some jobs. */
bool pm_permit_config_limits(const struct pm_config *config);

/*
 * Takes the configuration, which is an empty struct afterwards, and reads the users of groups that
 * controller/groups_file.h has written into `run_dir`; if that cannot be read, those of before
 * stay.
 */
void pm_permit_site_set(struct pm_permit_site *site, struct pm_config *config, const char *run_dir);

/* Counts the reboots of the last 24 hours for the lines with RebootsPerDay. */
void pm_permit_site_count(
	struct pm_permit_site *site, const struct pm_reboots *reboots, uint64_t now_s);

/*
 * True if a limit holds for the job: *ret has all of them. Reboots that are permitted may begin up
 * to `ahead_s` later, so RebootHours have to last as long.
 */
bool pm_permit_limits_of(struct pm_permit_site *site, const slurm_job_info_t *job, uint64_t now_s,
	unsigned ahead_s, struct pm_permit_limits *ret);

/* The sentence for a job that does not get its permit, malloc'ed; NULL when out of memory. */
char *pm_permit_site_explain(struct pm_permit_site *site, const slurm_job_info_t *job,
	enum pm_permit why, uint64_t now_s);

void pm_permit_site_done(struct pm_permit_site *site);

#endif
