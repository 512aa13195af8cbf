/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>

#include "launcher/ranks.h"
#include "tests/unit/tap.h"

#define MAX_VARIABLES 6

static const struct {
	const char *name;
	const char *env[2 * MAX_VARIABLES + 1]; /* names and values */
	int rc;
	unsigned rank, size;
	const char *told; /* the variable, or a part of the sentence */
} cases[] = {
	{"nobody", {NULL}, 0, 0, 1, NULL},
	{"Open MPI 4, as seen",
		{"OMPI_COMM_WORLD_LOCAL_RANK", "1", "OMPI_COMM_WORLD_LOCAL_SIZE", "2", "PMIX_RANK",
			"5", "OMPI_COMM_WORLD_RANK", "5"},
		0, 1, 2, "OMPI_COMM_WORLD_LOCAL_RANK"},
	{"MPICH 4, as seen",
		{"MPI_LOCALRANKID", "3", "MPI_LOCALNRANKS", "4", "PMI_RANK", "7", "PMI_SIZE", "8"},
		0, 3, 4, "MPI_LOCALRANKID"},
	{"MVAPICH", {"MV2_COMM_WORLD_LOCAL_RANK", "0", "MV2_COMM_WORLD_LOCAL_SIZE", "1"}, 0, 0, 1,
		"MV2_COMM_WORLD_LOCAL_RANK"},
	{"PALS", {"PALS_LOCAL_RANKID", "2", "PALS_LOCAL_SIZE", "12", "PALS_RANKID", "26"}, 0, 2, 12,
		"PALS_LOCAL_RANKID"},
	{"Cray PMI", {"PMI_LOCAL_RANK", "2", "PMI_LOCAL_SIZE", "12", "PMI_RANK", "26"}, 0, 2, 12,
		"PMI_LOCAL_RANK"},
	{"jsrun", {"JSM_NAMESPACE_LOCAL_RANK", "5", "JSM_NAMESPACE_LOCAL_SIZE", "6"}, 0, 5, 6,
		"JSM_NAMESPACE_LOCAL_RANK"},
	{"Slurm",
		{"SLURM_LOCALID", "2", "SLURM_STEP_TASKS_PER_NODE", "4(x2),3", "SLURM_NODEID", "2"},
		0, 2, 3, "SLURM_LOCALID"},
	{"a batch script is no rank",
		{"SLURM_LOCALID", "0", "SLURM_NODEID", "0", "SLURM_TASKS_PER_NODE", "4"}, 0, 0, 1,
		NULL},
	{"mpirun's daemon was started by srun",
		{"OMPI_COMM_WORLD_LOCAL_RANK", "1", "OMPI_COMM_WORLD_LOCAL_SIZE", "24",
			"SLURM_LOCALID", "0", "SLURM_STEP_TASKS_PER_NODE", "1", "SLURM_NODEID",
			"0"},
		0, 1, 24, "OMPI_COMM_WORLD_LOCAL_RANK"},
	{"mpirun in pmrun",
		{"PM_LOCAL_RANK", "0", "PM_LOCAL_SIZE", "1", "MPI_LOCALRANKID", "1",
			"MPI_LOCALNRANKS", "2"},
		0, 1, 2, "MPI_LOCALRANKID"},
	{"Flux, told the number", {"FLUX_TASK_LOCAL_ID", "1", "PM_LOCAL_SIZE", "2"}, 0, 1, 2,
		"FLUX_TASK_LOCAL_ID"},
	{"Flux alone", {"FLUX_TASK_LOCAL_ID", "1"}, -EINVAL, 0, 0, "set PM_LOCAL_SIZE"},
	{"PMIx without the node", {"PMIX_RANK", "3"}, -EINVAL, 0, 0,
		"PMIX_RANK=3, so this is a rank"},
	{"PMIx, told by hand", {"PMIX_RANK", "3", "PM_LOCAL_RANK", "1", "PM_LOCAL_SIZE", "2"}, 0, 1,
		2, "PM_LOCAL_RANK"},
	{"an empty variable is none", {"MPI_LOCALRANKID", ""}, 0, 0, 1, NULL},
	{"no number", {"MPI_LOCALRANKID", "one", "MPI_LOCALNRANKS", "2"}, -EINVAL, 0, 0,
		"MPI_LOCALRANKID='one'"},
	{"a size that is none", {"MPI_LOCALRANKID", "1", "MPI_LOCALNRANKS", "-2"}, -EINVAL, 0, 0,
		"MPI_LOCALNRANKS='-2'"},
	{"too many", {"MPI_LOCALRANKID", "1", "MPI_LOCALNRANKS", "99999999"}, -EINVAL, 0, 0,
		"from 0 to"},
	{"a rank behind the last", {"MPI_LOCALRANKID", "2", "MPI_LOCALNRANKS", "2"}, -EINVAL, 0, 0,
		"MPI_LOCALRANKID=2, but this node has 2 ranks"},
	{"Slurm's list is too short",
		{"SLURM_LOCALID", "0", "SLURM_STEP_TASKS_PER_NODE", "4(x2)", "SLURM_NODEID", "2"},
		-EINVAL, 0, 0, "has no number of ranks for node 2"},
};

static void run(const char *const *env)
{
	clearenv();
	for (; *env; env += 2)
		setenv(env[0], env[1], 1);
}

static void test_cases(void)
{
	FOR_EACH(row, cases)
	{
		struct pm_rank rank = {.rank = 77};
		struct pm_err err = {0};
		int rc;

		run(row->env);
		rc = pm_rank_detect(&rank, &err);
		is_number(rc, row->rc, row->name);
		if (rc) {
			has_text(err.text, row->told, "the sentence");
			is_number(rank.rank, 77, "nothing is told");
			continue;
		}
		is_number(rank.rank, row->rank, "its rank");
		is_number(rank.size, row->size, "of so many");
		is_text(rank.variable, row->told, "by this variable");
	}
}

static const struct {
	const char *list;
	unsigned index;
	int rc;
	unsigned tasks;
} lists[] = {
	{"4", 0, 0, 4},
	{"4", 1, -EINVAL, 0},
	{"2(x3),1", 0, 0, 2},
	{"2(x3),1", 2, 0, 2},
	{"2(x3),1", 3, 0, 1},
	{"2(x3),1", 4, -EINVAL, 0},
	{"1,2,3", 1, 0, 2},
	{"2(x", 0, -EINVAL, 0},
	{"2(x3", 0, -EINVAL, 0},
	{"2(x0)", 0, -EINVAL, 0},
	{"0", 0, -EINVAL, 0},
	{"2;3", 0, -EINVAL, 0},
	{",2", 0, -EINVAL, 0},
	{"", 0, -EINVAL, 0},
	{"99999999999999999999", 0, -EINVAL, 0},
};

static void test_lists(void)
{
	FOR_EACH(row, lists)
	{
		unsigned tasks = 0;

		is_number(
			pm_rank_tasks_per_node(row->list, row->index, &tasks), row->rc, row->list);
		is_number(tasks, row->tasks, "its tasks");
	}
}

int main(void)
{
	test_cases();
	test_lists();
	return tap_done();
}
