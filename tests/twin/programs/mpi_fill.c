/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An MPI program: every rank fills MIB MiB of memory; when all have, each prints a line of what
 * the kernel says of it, and rank 0 what is free in each NUMA node. kB for nodes 0, 1, ...:
 *
 *	rank 0: cpus 0, policy bind:0,2, own 71204 0 0 0, shared 3912 2204 0 0
 *	free: 512040 498312 3958720 3958720
 *
 * `own` are pages that the rank alone has: heap, stack, anonymous maps. `shared` are pages of
 * files, programs and MPI's shared memory, which lie where the first who touched them was.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_NODES 16

struct pages {
	unsigned long own_kb[MAX_NODES], shared_kb[MAX_NODES];
	char policy[64]; /* of the largest map */
	unsigned long largest_kb;
};

static _Noreturn void fail(const char *what)
{
	perror(what);
	MPI_Abort(MPI_COMM_WORLD, 1);
	exit(1);
}

static FILE *open_file(const char *path)
{
	FILE *file = fopen(path, "r");

	if (!file)
		fail(path);
	return file;
}

/* A line of numa_maps(5): ADDRESS POLICY [file=... | heap | stack] [anon=N] N0=N ... */
static void count_line(char *line, struct pages *pages)
{
	unsigned long n[MAX_NODES] = {0}, sum = 0, anon = 0, kb = 4, count;
	const char *policy = NULL, *file = strstr(line, " file=");
	unsigned node;

	for (char *word = strtok(line, " \n"); word; word = strtok(NULL, " \n")) {
		if (sscanf(word, "N%u=%lu", &node, &count) == 2 && node < MAX_NODES)
			sum += n[node] = count;
		else if (sscanf(word, "anon=%lu", &count) == 1)
			anon = count;
		else if (sscanf(word, "kernelpagesize_kB=%lu", &count) == 1)
			kb = count;
		else if (!policy && word != line)
			policy = word;
	}
	for (node = 0; node < MAX_NODES; node++)
		(file && anon < sum ? pages->shared_kb : pages->own_kb)[node] += n[node] * kb;
	if (sum * kb <= pages->largest_kb || !policy)
		return;
	pages->largest_kb = sum * kb;
	snprintf(pages->policy, sizeof(pages->policy), "%s", policy);
}

static void count_pages(struct pages *pages)
{
	FILE *file = open_file("/proc/self/numa_maps");
	char line[4096];

	while (fgets(line, sizeof(line), file))
		count_line(line, pages);
	fclose(file);
}

static void read_cpus(char cpus[64])
{
	FILE *file = open_file("/proc/self/status");
	char line[256];

	while (fgets(line, sizeof(line), file))
		if (sscanf(line, "Cpus_allowed_list: %63s", cpus) == 1)
			break;
	fclose(file);
}

/* How many nodes there are, from 0 without gaps. */
static int read_free(unsigned long free_kb[MAX_NODES])
{
	char path[64], line[256];
	int node;

	for (node = 0; node < MAX_NODES; node++) {
		FILE *file;

		snprintf(path, sizeof(path), "/sys/devices/system/node/node%d/meminfo", node);
		file = fopen(path, "r");
		if (!file)
			break;
		while (fgets(line, sizeof(line), file))
			if (sscanf(line, "Node %*d MemFree: %lu", &free_kb[node]) == 1)
				break;
		fclose(file);
	}
	return node;
}

static int add_list(char *text, int at, int size, const unsigned long *list, int n)
{
	for (int i = 0; i < n; i++)
		at += snprintf(text + at, (size_t)(size - at), " %lu", list[i]);
	return at;
}

static void report(int rank, const struct pages *pages)
{
	unsigned long free_kb[MAX_NODES];
	char cpus[64] = "?", text[2048];
	int n = read_free(free_kb), at;

	read_cpus(cpus);
	at = snprintf(
		text, sizeof(text), "rank %d: cpus %s, policy %s, own", rank, cpus, pages->policy);
	at = add_list(text, at, sizeof(text), pages->own_kb, n);
	at += snprintf(text + at, sizeof(text) - (size_t)at, ", shared");
	at = add_list(text, at, sizeof(text), pages->shared_kb, n);
	if (!rank) {
		at += snprintf(text + at, sizeof(text) - (size_t)at, "\nfree:");
		at = add_list(text, at, sizeof(text), free_kb, n);
	}
	/* In one piece: launchers do not keep the lines of several ranks apart. */
	snprintf(text + at, sizeof(text) - (size_t)at, "\n");
	fputs(text, stdout);
	fflush(stdout);
}

/* MiB that hold what was written: read again, so that no compiler leaves the writing out. */
static unsigned long count_filled(const char *memory, unsigned long mib, int value)
{
	unsigned long n = 0;

	for (unsigned long i = 0; i < mib; i++)
		n += memory[i << 20] == value && memory[(i << 20) + 0xfffff] == value;
	return n;
}

int main(int argc, char **argv)
{
	struct pages pages = {.policy = "?"};
	unsigned long mib, filled, all = 0;
	int rank;
	char *memory;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	mib = argc == 2 ? strtoul(argv[1], NULL, 10) : 0;
	memory = malloc(mib << 20);
	if (!memory || !mib)
		fail("usage: mpi_fill MIB");
	memset(memory, rank + 1, mib << 20);
	filled = count_filled(memory, mib, rank + 1);
	MPI_Allreduce(&filled, &all, 1, MPI_UNSIGNED_LONG, MPI_SUM, MPI_COMM_WORLD);
	count_pages(&pages);
	MPI_Barrier(MPI_COMM_WORLD);
	report(rank, &pages);
	MPI_Barrier(MPI_COMM_WORLD);
	if (!rank)
		printf("all: %lu MiB\n", all);
	free(memory);
	MPI_Finalize();
	return 0;
}
