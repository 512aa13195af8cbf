/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_HISTORY_SITE_H
#define PM_HISTORY_SITE_H

/*
 * How the jobs of all users fared, for --pm-mode=auto of a job that has not run yet, or not in each
 * mode: a summary of the tables of history_table.h, as text that pmem_history.lua reads:
 *
 *	slurm-pmem-site-history 1
 *	jobs JOBS MEDIAN_S
 *	used JOBS MIB_1 ... MIB_32
 *	ratio MODE OTHER JOBS THOUSANDTHS
 *
 * `jobs`: the jobs that have run, and the median of their run times. `used`: of the jobs of which
 * the memory is known, the most that they used on a node: the medians of 32 parts of equal size, in
 * ascending order. `ratio`, a line for each pair of modes: the jobs that have run in both, and the
 * median of their run time in OTHER divided by that in MODE. Lines without jobs are left out.
 */
#include <stddef.h>
#include <stdint.h>

#include "controller/history_table.h"
#include "site/modes.h"

#define PM_HISTORY_SITE_PARTS 32
#define PM_HISTORY_SITE_JOBS  20000 /* more are not looked at */

/* The key of a job, and what is known of it. */
struct pm_history_job {
	char key[PM_HISTORY_KEY + 1];
	uint64_t used_mib;	     /* 0: not known */
	uint64_t run_s[PM_MODE_MAX]; /* by enum pm_mode; 0: it has not run in the mode */
};

/* All-zero: no job. */
struct pm_history_site {
	struct pm_history_job *jobs;
	size_t n;
	size_t first; /* job of the user that was added last: keys are of one user */
};

/* Adds the jobs of a user's table. -ENOMEM: some are missing. */
int pm_history_site_add(struct pm_history_site *site, const char *table);

/* free() it. NULL: out of memory. */
char *pm_history_site_text(const struct pm_history_site *site);

void pm_history_site_done(struct pm_history_site *site);

#endif
