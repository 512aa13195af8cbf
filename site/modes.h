/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_MODES_H
#define PM_MODES_H

#include <stdbool.h>

/*
 * The modes that a job can ask for: one table, site/modes.def, which drives option checking, help,
 * features, goals and documentation. PM_MODE_UNKNOWN has no row: it stands for a node with
 * contradictory evidence, or with persistent memory that is not configured.
 */
enum pm_mode {
	PM_MODE_UNKNOWN = 0,
#define PM_MODE_ROW(name_, ...) PM_MODE_##name_,
#include "site/modes.def"
	PM_MODE_MAX,
};

/* Platform mode, of the firmware; only a goal and a reboot change it. */
enum pm_platform {
	PM_PLATFORM_UNKNOWN = 0,
	PM_PLATFORM_MEMORY,    /* 2LM: main memory, DRAM is its cache */
	PM_PLATFORM_APPDIRECT, /* 1LM: regions beside DRAM */
	PM_PLATFORM_MIXED,     /* 2LM: a part is main memory, the rest are regions */
};

/* Sub-state, of the regions; changed without a reboot. */
enum pm_substate {
	PM_SUBSTATE_EMPTY = 0, /* no namespace */
	PM_SUBSTATE_FSDAX,     /* a file system on each region */
	PM_SUBSTATE_DEVDAX,    /* a character device on each region */
	PM_SUBSTATE_FLAT,      /* system-ram: a NUMA node of each region */
};

struct pm_mode_info {
	enum pm_mode mode;
	const char *name;	   /* as in --pm-mode=NAME */
	const char *feature;	   /* of nodes, in Slurm */
	enum pm_platform platform; /* that it needs */
	enum pm_substate substate; /* that its jobs get */
	const char *help;	   /* one line for --help */
};

/* The row of a mode, or NULL for PM_MODE_UNKNOWN and values out of range. */
const struct pm_mode_info *pm_mode_info(enum pm_mode mode);

/* The row after `prev`, or the first for NULL; NULL after the last. */
const struct pm_mode_info *pm_mode_next(const struct pm_mode_info *prev);

#define pm_mode_foreach(row)                                                                       \
	for (const struct pm_mode_info *row = pm_mode_next(NULL); row; row = pm_mode_next(row))

/*
 * Rows by name or feature, exact and case-sensitive; NULL when there is none. "pm_appdirect" is
 * the feature of two modes: it finds appdirect, never flat.
 */
const struct pm_mode_info *pm_mode_by_name(const char *name);
const struct pm_mode_info *pm_mode_by_feature(const char *feature);

/* The first mode of a feature; PM_MODE_UNKNOWN: NULL, or a feature of no mode. */
enum pm_mode pm_mode_of_feature(const char *feature);

/* The name of the first mode of a feature; "none": NULL, or a feature of no mode. */
const char *pm_mode_name_of_feature(const char *feature);

/* "memory", "appdirect", "flat", "mixed", "unknown". */
const char *pm_mode_name(enum pm_mode mode);

/* "memory, appdirect, flat, mixed": every name; malloc'ed, NULL when out of memory. */
char *pm_mode_names(void);

/* The same for a set of modes, 1 << enum pm_mode for each. */
char *pm_mode_names_in(unsigned set);

/* The platform mode that `mode` needs; PM_PLATFORM_UNKNOWN when it has no row. */
enum pm_platform pm_mode_platform(enum pm_mode mode);

/*
 * The first mode of a platform mode. Only the kernel can tell flat from appdirect: see
 * pm_mode_now() in node/see/evidence.h.
 */
const struct pm_mode_info *pm_mode_of_platform(enum pm_platform platform);

/* "memory", "appdirect", "mixed", "unknown": as in files. Other names are PM_PLATFORM_UNKNOWN. */
const char *pm_platform_name(enum pm_platform platform);
enum pm_platform pm_platform_by_name(const char *name);

/* "empty", "fsdax", "devdax", "flat". */
const char *pm_substate_name(enum pm_substate substate);

/* True: persistent memory, or a part of it, is main memory, so that the platform needs 2LM. */
bool pm_platform_has_volatile(enum pm_platform platform);

/* True: the platform mode has App Direct regions. */
bool pm_platform_has_regions(enum pm_platform platform);

#endif
