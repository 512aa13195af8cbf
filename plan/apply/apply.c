/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "plan/apply/apply.h"

#include <errno.h>
#include <linux/mempolicy.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/asprintf.h"
#include "base/cleanup.h"
#include "base/cpulist.h"
#include "model/words.h"
#include "plan/apply/attach.h"

/* --- binding --- */

/* glibc has no wrapper. The kernel reads maxnode - 1 bits: mm/mempolicy.c, get_nodes(). */
static int set_mempolicy(int mode, const cpu_set_t *nodes)
{
	return syscall(SYS_set_mempolicy, mode, nodes->__bits, CPU_SETSIZE + 1) ? -errno : 0;
}

static int bind_memory(
	const struct pm_plan_rank *rank, enum pm_mem_policy policy, struct pm_err *err)
{
	cleanup_free char *nodes = pm_cpulist_format(&rank->nodes);
	int rc = set_mempolicy(rank->mode, &rank->nodes);

	if (rc == -EINVAL && rank->mode > MPOL_LOCAL)
		return pm_err_set(err, -ENOSYS,
			"this kernel does not have the memory policy of %s: PREFERRED_MANY, where "
			"the site allows the other socket's memory, needs Linux 5.15, weighted 6.9",
			pm_mem_policy_name(policy));
	if (rc)
		return pm_err_sys(err, rc, "bind rank %u to the memory of NUMA nodes %s",
			rank->rank, nodes ? nodes : "?");
	return 0;
}

static int bind_cpus(const struct pm_plan_rank *rank, struct pm_err *err)
{
	cleanup_free char *cpus = NULL;

	if (!sched_setaffinity(0, sizeof(rank->cpus), &rank->cpus))
		return 0;
	cpus = pm_cpulist_format(&rank->cpus);
	return pm_err_sys(
		err, -errno, "bind rank %u to processors %s", rank->rank, cpus ? cpus : "?");
}

int pm_plan_apply(const struct pm_plan *plan, unsigned rank, unsigned parts, struct pm_err *err)
{
	const struct pm_plan_rank *line = &plan->ranks[rank];
	bool binds_cpus = (parts & PM_APPLY_CPUS) && CPU_COUNT(&line->cpus);
	cpu_set_t before;
	int rc = 0;

	if (binds_cpus && sched_getaffinity(0, sizeof(before), &before))
		return pm_err_sys(err, -errno, "read the CPU affinity of rank %u", rank);
	if (binds_cpus)
		rc = bind_cpus(line, err);
	if (rc || !(parts & PM_APPLY_MEMORY) || line->mode == MPOL_DEFAULT)
		return rc;
	rc = bind_memory(line, plan->policy, err);
	if (rc && binds_cpus)
		(void)sched_setaffinity(0, sizeof(before), &before);
	return rc;
}

/* --- environment --- */

const char *const pm_plan_variables[] = {"PM_RANK_DRAM", "PM_NODE_DRAM", "PM_NODE_PMEM",
	"PM_SPACES", "PM_HELPER_CPUS", PM_MODEL_VARIABLE, PM_ATTACH_FD, NULL};

struct environment {
	struct pm_variable *list;
	size_t n;
	bool is_out_of_memory;
};

static void add(struct environment *e, const char *name, char *value, bool only_if_unset)
{
	if (!value)
		e->is_out_of_memory = true;
	else
		e->list[e->n++] = (struct pm_variable){name, value, only_if_unset};
}

static void add_set(struct environment *e, const char *name, const cpu_set_t *set)
{
	if (CPU_COUNT(set))
		add(e, name, pm_cpulist_format(set), false);
}

__attribute__((format(printf, 3, 4))) static void add_text(
	struct environment *e, const char *name, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	add(e, name, pm_vasprintf(fmt, args), false);
	va_end(args);
}

static void add_spaces(struct environment *e, const struct pm_spaces *spaces)
{
	add_text(e, "PM_SPACES", "metadata=%llu,temporary=%llu,migration=%llu,free=%llu",
		(unsigned long long)spaces->metadata, (unsigned long long)spaces->temporary,
		(unsigned long long)spaces->migration, (unsigned long long)spaces->free);
}

/* OMP_PLACES: hardware threads if there is one for each thread, else cores. */
static void add_openmp(struct environment *e, const struct pm_plan_rank *rank)
{
	unsigned n_cpus = (unsigned)CPU_COUNT(&rank->cpus);
	char threads[16];

	if (!rank->threads)
		return;
	snprintf(threads, sizeof(threads), "%u", rank->threads);
	add(e, "OMP_NUM_THREADS", strdup(threads), true);
	if (n_cpus)
		add(e, "OMP_PLACES", strdup(n_cpus == rank->threads ? "threads" : "cores"), true);
}

int pm_plan_environment(const struct pm_plan *plan, unsigned rank,
	const struct pm_pmem_dir *pmem_dirs, struct pm_variable ret[PM_PLAN_VARIABLES_MAX],
	size_t *ret_n, struct pm_err *err)
{
	const struct pm_plan_rank *line = &plan->ranks[rank];
	struct environment e = {.list = ret};

	add_text(&e, "PM_RANK_DRAM", "%llu", (unsigned long long)line->dram_bytes);
	add_set(&e, "PM_NODE_DRAM", &line->dram_nodes);
	add_set(&e, "PM_NODE_PMEM", &line->pmem_nodes);
	add_spaces(&e, &line->spaces);
	if (line->temporary_is_asked)
		add(&e, "PM_SIZING", strdup("fixed"), true);
	add_set(&e, "PM_HELPER_CPUS", &line->helpers);
	if (line->pmem_dir >= 0)
		add(&e, "PM_DIR", strdup(pmem_dirs[line->pmem_dir].path), false);
	add_openmp(&e, line);
	if (e.is_out_of_memory) {
		pm_variables_done(ret, e.n);
		return pm_err_nomem(err);
	}
	*ret_n = e.n;
	return 0;
}

void pm_variables_done(struct pm_variable *variables, size_t n)
{
	for (size_t i = 0; i < n; i++)
		free(variables[i].value);
}
