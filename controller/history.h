/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_HISTORY_H
#define PM_HISTORY_H

/*
 * How earlier runs of a job fared, for --pm-mode=auto: a table (history_table.h) of each user, in
 * the file UID of a directory that survives, and a copy history-UID in the run directory, which
 * pmem.lua reads. Only jobs with the note "pm_same=KEY" in AdminComment are kept: pmem.lua writes
 * it where pmem.conf has LearnModes=yes.
 *
 * The file history-site beside the copies sums up all tables (history_site.h).
 */
#include <dirent.h>
#include <stdint.h>

#include "base/err.h"
#include "controller/cluster.h"
#include "controller/history_site.h"
#include "protocol/job_use.h"

struct pm_history {
	char *dir;
	const char *run_dir;
	uint64_t swept_s;

	uint64_t summed_s;
	DIR *summing; /* open while tables are summed up */
	struct pm_history_site site;
};

/* Makes the directory, and the copies as far as possible. Errors of mkdir(2), -ENOMEM. */
int pm_history_open(struct pm_history *history, const char *dir, const char *run_dir,
	uid_t slurm_uid, struct pm_err *err);

/*
 * Adds what a node told of a job that has ended there. The job's first node tells of its run, too:
 * if slurmctld says that the job ended by itself or at its time limit. Errors of files, -ENOMEM.
 */
int pm_history_add(struct pm_history *history, const struct pm_cluster *cluster, const char *node,
	const struct pm_job_use *use, struct pm_err *err);

/* Once an hour: removes the tables of users of which no job has ended for keep_days. */
void pm_history_sweep(struct pm_history *history, unsigned keep_days, uint64_t now_s);

/*
 * In each turn: sums up some more tables, and writes the sum after the last one. It begins at the
 * service's start, and an hour after it began before.
 */
void pm_history_sum_up(struct pm_history *history, uid_t slurm_uid, uint64_t now_s);

void pm_history_done(struct pm_history *history);

#endif
