/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_HISTORY_TABLE_H
#define PM_HISTORY_TABLE_H

/*
 * How the jobs of a user fared in each mode, as text that pmem_history.lua reads:
 *
 *	slurm-pmem-history 1
 *	KEY MODE RUNS MEDIAN_S USED_MIB LAST_S S1,S2,... [M1,M2,... J1,J2,...]
 *
 * a line for each key and mode. KEY is pmem.lua's digest of a job, RUNS the number of runs that
 * ended by themselves or at their time limit, MEDIAN_S the median of the seconds of the last
 * PM_HISTORY_RUNS of them, which follow ("-": none); LAST_S the Unix time of the last one.
 *
 * M1 and so on are the most memory in MiB that each of the last PM_HISTORY_MEMORIES runs used on a
 * node, and J1 and so on their jobs; a value from a table of an earlier release has none, and is
 * the first. USED_MIB is the memory to expect, the most of these. One run that used more than 1.5
 * times as much as all others is left out once a later run has used less: it had another input, or
 * its record is wrong.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PM_HISTORY_KEY	    16 /* hexadecimal digits */
#define PM_HISTORY_RUNS	    9  /* of which the seconds are kept */
#define PM_HISTORY_MEMORIES 5
#define PM_HISTORY_LINES    400	   /* of a user: the oldest are dropped */
#define PM_HISTORY_BYTES    131072 /* no table is longer; of usual numbers half of it */

/* A run, or the part of it on one node. */
struct pm_history_run {
	char key[PM_HISTORY_KEY + 1];
	const char *mode;
	uint64_t seconds; /* 0: it does not count as one */
	uint64_t used_mib;
	uint64_t end_s; /* Unix time */
	uint32_t job;	/* Slurm's number, never 0 */
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
