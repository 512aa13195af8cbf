/* SPDX-License-Identifier: Apache-2.0 */
/* An MPI program: each rank tells its processors and variables, all together add up their numbers.
 */
#define _GNU_SOURCE
#include <mpi.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>

static const char *or_none(const char *name)
{
	const char *value = getenv(name);

	return value ? value : "none";
}

int main(int argc, char **argv)
{
	cpu_set_t set;
	int rank, sum, first = -1;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	sched_getaffinity(0, sizeof(set), &set);
	for (int cpu = CPU_SETSIZE - 1; cpu >= 0; cpu--)
		if (CPU_ISSET(cpu, &set))
			first = cpu;
	printf("rank %d: sum %d, %d processors from %d, local %s of %s, dram %s, threads %s\n",
		rank, sum, CPU_COUNT(&set), first, or_none("PM_LOCAL_RANK"),
		or_none("PM_LOCAL_SIZE"), or_none("PM_RANK_DRAM"), or_none("OMP_NUM_THREADS"));
	MPI_Finalize();
	return 0;
}
