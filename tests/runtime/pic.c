/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pic [ITERATIONS [GRAINS [SCALE [unmarked]]]]: objects as a particle-in-cell code has them (paper
 * 000, Table II), with its iterations marked: large arrays that are streamed over, long-lived
 * objects below 1 MiB that hold most bytes, fields that are small and hot, and in each iteration
 * many objects that are gone at its end. SCALE times as many of them make a rank of more memory. It
 * touches them itself, and so knows how many bytes it has read and written of each kind, and how
 * many of these in DRAM: where PM_NODE_PMEM says which nodes have PMem, by the kernel's word for
 * each object's pages, else memory that is bound to nodes is taken for it. In the end it prints a
 * line a kind, "KIND BYTES BYTES_IN_DRAM", and a sum over its data, which must not depend on where
 * they are.
 */
#define _GNU_SOURCE
#include <linux/mempolicy.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "runtime/pmplace.h"

#define KIB	  ((size_t)1 << 10)
#define MIB	  ((size_t)1 << 20)
#define ARRAYS	  4
#define PARTICLES 60
#define FIELDS	  16
#define WORK	  24
#define DUST	  3000
#define SCALE_MAX 64
#define GRANULE	  (64 * KIB) /* one page of each is queried */
#define LOOKS	  256	     /* pages a query */

static struct kind {
	const char *name;
	uint64_t bytes, in_dram;
} array_kind = {.name = "arrays"}, particle_kind = {.name = "particles"},
  grain_kind = {.name = "grains"}, field_kind = {.name = "fields"}, work_kind = {.name = "work"};

static uint64_t sum;

static bool is_bound(void *object)
{
	int mode = 0;

	return !syscall(SYS_get_mempolicy, &mode, NULL, 0, object, MPOL_F_ADDR) &&
	       mode == MPOL_BIND;
}

/* The object's bytes in other nodes than the one that has the PMem: a page of each granule tells.
 */
static uint64_t bytes_outside(int pmem_node, char *object, size_t bytes)
{
	uint64_t outside = 0;

	for (size_t at = 0; at < bytes;) {
		void *pages[LOOKS];
		int nodes[LOOKS], n = 0;
		size_t begin = at;

		for (; n < LOOKS && at < bytes; at += GRANULE)
			pages[n++] = object + at;
		if (syscall(SYS_move_pages, 0, (long)n, pages, NULL, nodes, 0))
			return 0;
		for (int i = 0; i < n; i++, begin += GRANULE)
			if (nodes[i] >= 0 && nodes[i] != pmem_node)
				outside += bytes - begin < GRANULE ? bytes - begin : GRANULE;
	}
	return outside;
}

static uint64_t bytes_in_dram(void *object, size_t bytes)
{
	const char *pmem = getenv("PM_NODE_PMEM");

	if (pmem)
		return bytes_outside(atoi(pmem), object, bytes);
	return is_bound(object) ? bytes : 0;
}

/* Reads and writes each cache line, so that all pages are present. */
static void pass(struct kind *kind, uint64_t *object, size_t bytes)
{
	for (size_t i = 0; i < bytes / 8; i += 8)
		sum += object[i] = object[i] * 3 + i;
	kind->bytes += bytes;
	kind->in_dram += bytes_in_dram(object, bytes);
}

/* Objects of 1 KiB, freed and allocated anew as the elements of a vector are. */
static __attribute__((noinline)) uint64_t *make_grain(uint64_t *old)
{
	uint64_t *grain = realloc(old, old ? 1100 : KIB);

	if (!old)
		memset(grain, 0, KIB);
	return grain;
}

static __attribute__((noinline)) uint64_t *make_array(void)
{
	return calloc(1, 12 * MIB);
}

static __attribute__((noinline)) uint64_t *make_particles(void)
{
	return calloc(1, 600 * KIB);
}

static __attribute__((noinline)) uint64_t *make_field(void)
{
	return calloc(1, 300 * KIB);
}

static __attribute__((noinline)) uint64_t *make_work(size_t i)
{
	return calloc(1, 512 * KIB + i % 4 * 384 * KIB);
}

static void make_dust(void)
{
	for (size_t i = 0; i < DUST; i++) {
		volatile char *grain = malloc(64 + i % 700);

		*grain = 1;
		free((void *)grain);
	}
}

static void work(size_t i)
{
	size_t bytes = 512 * KIB + i % 4 * 384 * KIB;
	uint64_t *buffers[2] = {make_work(i), make_work(i)};

	for (int b = 0; b < 2; b++)
		pass(&work_kind, buffers[b], bytes), pass(&work_kind, buffers[b], bytes);
	free(buffers[0]);
	free(buffers[1]);
}

static void print(const struct kind *kind)
{
	printf("%s %llu %llu\n", kind->name, (unsigned long long)kind->bytes,
		(unsigned long long)kind->in_dram);
}

/* Multiplies each kind, for a rank with that many times the memory. */
static size_t scaled(int argc, char **argv)
{
	size_t scale = argc > 3 ? strtoul(argv[3], NULL, 10) : 1;

	return scale < 1 ? 1 : scale > SCALE_MAX ? SCALE_MAX : scale;
}

int main(int argc, char **argv)
{
	static uint64_t *arrays[ARRAYS * SCALE_MAX], *particles[PARTICLES * SCALE_MAX],
		*fields[FIELDS * SCALE_MAX];
	size_t scale = scaled(argc, argv);
	int iterations = argc > 1 ? atoi(argv[1]) : 8, n_grains = argc > 2 ? atoi(argv[2]) : 0;
	uint64_t **grains = calloc((size_t)n_grains + 1, sizeof(*grains));

	for (int i = 0; i < n_grains; i++)
		grains[i] = make_grain(NULL);

	for (size_t i = 0; i < ARRAYS * scale; i++)
		arrays[i] = make_array();
	for (size_t i = 0; i < PARTICLES * scale; i++)
		particles[i] = make_particles();
	for (size_t i = 0; i < FIELDS * scale; i++)
		fields[i] = make_field();
	for (int n = 0; n < iterations; n++) {
		if (argc <= 4)
			pm_iteration();
		pm_phase("stream");
		for (size_t i = 0; i < ARRAYS * scale; i++)
			pass(&array_kind, arrays[i], 12 * MIB);
		pm_phase("push");
		for (int i = 0; i < n_grains; i++) {
			grains[i] = make_grain(grains[i]);
			pass(&grain_kind, grains[i], KIB);
		}
		for (size_t i = 0; i < PARTICLES * scale; i++)
			pass(&particle_kind, particles[i], 600 * KIB);
		pm_phase("solve");
		for (size_t i = 0; i < 8 * FIELDS * scale; i++)
			pass(&field_kind, fields[i % (FIELDS * scale)], 300 * KIB);
		for (size_t i = 0; i < WORK * scale; i++)
			work(i);
		make_dust();
	}
	print(&array_kind), print(&grain_kind), print(&particle_kind), print(&field_kind),
		print(&work_kind);
	printf("sum %llu\n", (unsigned long long)sum);
	return 0;
}
