/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_PLAN_SHOW_H
#define PM_PLAN_SHOW_H

/* Prints a plan: as a table, as JSON, as SVG. */
#include <stdio.h>

#include "plan/plan.h"

/* A plan with the topology and the request that it was made of. Nothing is owned. */
struct pm_plan_view {
	const struct pm_plan *plan;
	const struct pm_topology *topology;
	const struct pm_plan_request *request;
	const char *site_profile; /* the class of which ranks get the bandwidths; NULL: of none */
};

/* Prints the memory nodes, then a line for each rank. 0 or -ENOMEM. */
int pm_plan_print_table(const struct pm_plan_view *view, FILE *out);

/*
 * Draws packages, cores and memory nodes, coloured by rank. One self-contained file, without
 * scripts, fonts or links. 0 or -EIO.
 */
int pm_plan_print_svg(const struct pm_plan_view *view, FILE *out);

/*
 * {"machine": {"memory": [...], ...}, "ranks": [{"rank": 0, "cpus": "0-11", ...}], "notes": [...],
 * ...}, with a newline at the end: pmrun(1) lists all members. An absent value has no member. Sizes
 * are bytes, sets are lists as the kernel's. malloc'ed; NULL: out of memory.
 */
char *pm_plan_json(const struct pm_plan_view *view);

/* Name of a mode of <linux/mempolicy.h>: "bind", "preferred-many", "interleave", ... */
const char *pm_mpol_name(int mode);

/* Use of a CPU. */
enum pm_cpu_use { PM_CPU_IDLE, PM_CPU_PROGRAM, PM_CPU_HELPER };

struct pm_cpu_owner {
	enum pm_cpu_use use;
	unsigned rank; /* the first rank that uses it */
};

struct pm_cpu_owner pm_plan_owner(const struct pm_plan *plan, int cpu);

#endif
