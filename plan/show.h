/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_PLAN_SHOW_H
#define PM_PLAN_SHOW_H

/* A plan as people and programs see it: a table, JSON, a picture. */
#include <stdio.h>

#include "plan/plan.h"

/* The plan, what it was made for, and what was asked. */
struct pm_plan_view {
	const struct pm_plan *plan;
	const struct pm_topology *topology;
	const struct pm_plan_request *request;
};

/* The machine's memory, and a line for each rank. -ENOMEM. */
int pm_plan_print_table(const struct pm_plan_view *view, FILE *out);

/* A drawing without scripts, fonts or files of its own: sockets, cores, tiers, and whose they are.
 * -ENOMEM. */
int pm_plan_print_svg(const struct pm_plan_view *view, FILE *out);

/*
 * {"machine": {"memory": [...], ...}, "ranks": [{"rank": 0, "cpus": "0-11", ...}], "notes": [...],
 * ...}: pmrun(1) has them all; what there is not has no member;
 * sizes in bytes, sets as the kernel's lists; as text with a newline at its end. malloc'ed; NULL
 * when out of memory.
 */
char *pm_plan_json(const struct pm_plan_view *view);

/* "bind", "preferred-many", "interleave", "weighted-interleave", "default": of mempolicy.h. */
const char *pm_mpol_name(int mode);

/* Who has a processor. */
enum pm_cpu_use { PM_CPU_IDLE, PM_CPU_PROGRAM, PM_CPU_HELPER };

struct pm_cpu_owner {
	enum pm_cpu_use use;
	unsigned rank; /* of the first that has it */
};

struct pm_cpu_owner pm_plan_owner(const struct pm_plan *plan, int cpu);

#endif
