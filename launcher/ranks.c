/* SPDX-License-Identifier: Apache-2.0 */
#include "launcher/ranks.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"

#define MAX_RANKS 65536
#define OWN_RANK  "PM_LOCAL_RANK"
#define OWN_SIZE  "PM_LOCAL_SIZE"

/*
 * SLURM_STEP_TASKS_PER_NODE is set in steps only. SLURM_TASKS_PER_NODE is also set in batch
 * scripts, which are not ranks and have a SLURM_LOCALID of 0.
 */
static const struct launcher {
	const char *name;
	const char *rank;
	const char *size;
	const char *node; /* `size` is Slurm's list, and this is the index in it */
} launchers[] = {
	{"Open MPI", "OMPI_COMM_WORLD_LOCAL_RANK", "OMPI_COMM_WORLD_LOCAL_SIZE", NULL},
	{"MPICH or Intel MPI", "MPI_LOCALRANKID", "MPI_LOCALNRANKS", NULL},
	{"MVAPICH", "MV2_COMM_WORLD_LOCAL_RANK", "MV2_COMM_WORLD_LOCAL_SIZE", NULL},
	{"PALS", "PALS_LOCAL_RANKID", "PALS_LOCAL_SIZE", NULL},
	{"Cray PMI", "PMI_LOCAL_RANK", "PMI_LOCAL_SIZE", NULL},
	{"jsrun", "JSM_NAMESPACE_LOCAL_RANK", "JSM_NAMESPACE_LOCAL_SIZE", NULL},
	{"PMIx", "PMIX_LOCAL_RANK", "PMIX_LOCAL_SIZE", NULL},
	{"Flux", "FLUX_TASK_LOCAL_ID", OWN_SIZE, NULL},
	{"Slurm", "SLURM_LOCALID", "SLURM_STEP_TASKS_PER_NODE", "SLURM_NODEID"},
	{"pmrun", OWN_RANK, OWN_SIZE, NULL},
};

/* A process with one of these is a rank; its local rank is unknown. */
static const char *const global_ranks[] = {"PMIX_RANK", "PMI_RANK", "PALS_RANKID"};

#define N_LAUNCHERS (sizeof(launchers) / sizeof(launchers[0]))
#define N_GLOBAL    (sizeof(global_ranks) / sizeof(global_ranks[0]))

static const char *value_of(const char *name)
{
	const char *value = getenv(name);

	return value && *value ? value : NULL;
}

static int read_number(const char *name, unsigned *ret, struct pm_err *err)
{
	const char *text = value_of(name);
	uint64_t number;

	if (!text || pm_parse_u64(text, &number) || number > MAX_RANKS)
		return pm_err_set(err, -EINVAL, "%s='%.32s' is not a number from 0 to %d", name,
			text ? text : "", MAX_RANKS);
	*ret = (unsigned)number;
	return 0;
}

/* "2(x3)": a number, and how often it is repeated. Returns the rest; NULL: another form. */
static const char *read_group(const char *at, unsigned *ret_tasks, unsigned *ret_times)
{
	char *end;

	*ret_times = 1;
	*ret_tasks = (unsigned)strtoul(at, &end, 10);
	if (end == at || !*ret_tasks || *ret_tasks > MAX_RANKS)
		return NULL;
	if (strncmp(end, "(x", 2))
		return end;
	at = end + 2;
	*ret_times = (unsigned)strtoul(at, &end, 10);
	return end != at && *ret_times && *end == ')' ? end + 1 : NULL;
}

int pm_rank_tasks_per_node(const char *list, unsigned index, unsigned *ret)
{
	for (const char *at = list; at && *at;) {
		unsigned tasks, times;

		at = read_group(at, &tasks, &times);
		if (!at || (*at && *at != ','))
			break;
		if (index < times) {
			*ret = tasks;
			return 0;
		}
		index -= times;
		at += *at == ',';
	}
	return -EINVAL;
}

static int size_from_list(const struct launcher *row, unsigned *ret, struct pm_err *err)
{
	unsigned node;
	int rc = read_number(row->node, &node, err);

	if (rc)
		return rc;
	if (pm_rank_tasks_per_node(value_of(row->size), node, ret))
		return pm_err_set(err, -EINVAL, "%s='%.64s' has no number of ranks for node %u",
			row->size, value_of(row->size), node);
	return 0;
}

static int read_size(const struct launcher *row, unsigned *ret, struct pm_err *err)
{
	if (value_of(row->size))
		return row->node ? size_from_list(row, ret, err) : read_number(row->size, ret, err);
	if (value_of(OWN_SIZE))
		return read_number(OWN_SIZE, ret, err);
	return pm_err_set(err, -EINVAL,
		"%s (%s) does not give the number of ranks on this node: set " OWN_SIZE
		" to that number",
		row->name, row->rank);
}

static int read_row(const struct launcher *row, struct pm_rank *ret, struct pm_err *err)
{
	struct pm_rank found = {.launcher = row->name, .is_srun = row->node, .variable = row->rank};
	int rc = read_number(row->rank, &found.rank, err);

	if (!rc)
		rc = read_size(row, &found.size, err);
	if (rc)
		return rc;
	if (found.rank >= found.size)
		return pm_err_set(err, -EINVAL, "%s=%u, but this node has %u rank%s after %s",
			row->rank, found.rank, found.size, found.size == 1 ? "" : "s", row->name);
	*ret = found;
	return 0;
}

/* A batch script has SLURM_LOCALID, but is not a rank. */
static bool applies(const struct launcher *row)
{
	return value_of(row->rank) && (!row->node || value_of(row->size));
}

static int no_launcher(struct pm_rank *ret, struct pm_err *err)
{
	for (size_t i = 0; i < N_GLOBAL; i++)
		if (value_of(global_ranks[i]))
			return pm_err_set(err, -EINVAL,
				"%s=%.32s, so this is a rank, but its local rank is unknown: "
				"set " OWN_RANK " and " OWN_SIZE,
				global_ranks[i], value_of(global_ranks[i]));
	*ret = (struct pm_rank){.rank = 0, .size = 1};
	return 0;
}

int pm_rank_detect(struct pm_rank *ret, struct pm_err *err)
{
	for (size_t i = 0; i < N_LAUNCHERS; i++)
		if (applies(&launchers[i]))
			return read_row(&launchers[i], ret, err);
	return no_launcher(ret, err);
}
