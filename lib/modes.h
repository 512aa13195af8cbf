/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_MODES_H
#define PM_MODES_H

/*
 * The modes a node can be asked for: one table, which drives option checking, help, features,
 * goals and documentation. PM_MODE_UNKNOWN has no row: it is a node whose evidence is
 * contradictory or whose persistent memory is not configured.
 */
enum pm_mode {
	PM_MODE_UNKNOWN = 0,
	PM_MODE_MEMORY,
	PM_MODE_APPDIRECT,
};

struct pm_mode_info {
	enum pm_mode mode;
	const char *name;	 /* what a user writes: --pm-mode=NAME */
	const char *feature;	 /* the node feature, after Slurm's grammar: no hyphen */
	const char *platform;	 /* the platform mode's name in the vendor's documents */
	const char *help;	 /* one line for --help */
	unsigned memory_percent; /* MemoryMode= of the goal that leads to it */
};

/* The row of a mode, or NULL for PM_MODE_UNKNOWN and values out of range. */
const struct pm_mode_info *pm_mode_info(enum pm_mode mode);

/* The row after `prev`; NULL starts, and ends. */
const struct pm_mode_info *pm_mode_next(const struct pm_mode_info *prev);

#define pm_mode_foreach(row)                                                                       \
	for (const struct pm_mode_info *row = pm_mode_next(NULL); row; row = pm_mode_next(row))

/* Rows by name or feature, exact and case-sensitive; NULL when there is none. */
const struct pm_mode_info *pm_mode_by_name(const char *name);
const struct pm_mode_info *pm_mode_by_feature(const char *feature);

/* "memory", "appdirect", "unknown". */
const char *pm_mode_name(enum pm_mode mode);

/* "memory, appdirect": every name; malloc'ed, NULL when out of memory. */
char *pm_mode_names(void);

#endif
