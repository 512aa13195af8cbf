/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_HISTORY_TABLE_H
#define PM_HISTORY_TABLE_H

/*
 * How the jobs of a user fared in each mode, as text that pmem_history.lua reads:
 *
 *	slurm-pmem-history 1
 *	KEY MODE RUNS MEDIAN_S USED_MIB LAST_S S1,S2,...
 *
 * a line for each key and mode. KEY is pmem.lua's digest of a job, RUNS the number of runs that
 * ended by themselves or at their time limit, MEDIAN_S the median of the seconds of the last
 * PM_HISTORY_SECONDS of them, which follow ("-": none); USED_MIB the most memory that a run used on
 * a node, LAST_S the Unix time of the last one.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PM_HISTORY_KEY	   16	 /* hexadecimal digits */
#define PM_HISTORY_SECONDS 9	 /* of runs */
#define PM_HISTORY_LINES   400	 /* of a user: the oldest are dropped */
#define PM_HISTORY_BYTES   65536 /* no table is longer */

struct pm_history_run {
	char key[PM_HISTORY_KEY + 1];
	const char *mode;
	uint64_t seconds; /* 0: the run, or its part on this node, does not count as one */
	uint64_t used_mib;
	uint64_t end_s; /* Unix time */
};

/* How a job fared in a mode. */
struct pm_history_past {
	const char *key, *mode;
	uint64_t run_s; /* the median; 0: no run counts */
	uint64_t used_mib;
};

typedef void pm_history_visit(void *context, const struct pm_history_past *past);

/* Calls `visit` for each line of the text, which may be as for pm_history_table_add(). -ENOMEM. */
int pm_history_table_each(const char *text, pm_history_visit *visit, void *context);

/*
 * The text with the run; free() it. `text` may be NULL or have lines of another form, which are
 * dropped. NULL: no memory.
 */
char *pm_history_table_add(const char *text, const struct pm_history_run *run);

#endif
