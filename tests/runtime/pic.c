/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pic [ITERATIONS [GRAINS]]: objects as a particle-in-cell code has them (paper 000, Table II):
 * large arrays that are streamed over, long-lived objects below 1 MiB that hold most bytes, fields
 * that are small and hot, and in each iteration many objects that are gone at its end. It touches
 * them itself, and so knows how many bytes it has read and written of each kind, and how many of
 * these in memory that is bound to nodes, which is DRAM where PM_NODE_PMEM is not said. In the end
 * it prints a line a kind, "KIND BYTES BYTES_IN_DRAM", and a sum over its data, which must not
 * depend on where they are.
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

static struct kind {
	const char *name;
	uint64_t bytes, in_dram;
} array_kind = {.name = "arrays"}, particle_kind = {.name = "particles"},
  grain_kind = {.name = "grains"}, field_kind = {.name = "fields"}, work_kind = {.name = "work"};

static uint64_t sum;

static bool is_in_dram(void *object)
{
	int mode = 0;

	return !syscall(SYS_get_mempolicy, &mode, NULL, 0, object, MPOL_F_ADDR) &&
	       mode == MPOL_BIND;
}

/* Reads and writes each byte's line. */
static void pass(struct kind *kind, uint64_t *object, size_t bytes)
{
	kind->bytes += bytes;
	kind->in_dram += is_in_dram(object) ? bytes : 0;
	for (size_t i = 0; i < bytes / 8; i += 8)
		sum += object[i] = object[i] * 3 + i;
}

/* Of 1 KiB, to their number; freed and taken anew, too, as a vector's elements are. */
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

int main(int argc, char **argv)
{
	uint64_t *arrays[ARRAYS], *particles[PARTICLES], *fields[FIELDS];
	int iterations = argc > 1 ? atoi(argv[1]) : 8, n_grains = argc > 2 ? atoi(argv[2]) : 0;
	uint64_t **grains = calloc((size_t)n_grains + 1, sizeof(*grains));

	for (int i = 0; i < n_grains; i++)
		grains[i] = make_grain(NULL);

	for (int i = 0; i < ARRAYS; i++)
		arrays[i] = make_array();
	for (int i = 0; i < PARTICLES; i++)
		particles[i] = make_particles();
	for (int i = 0; i < FIELDS; i++)
		fields[i] = make_field();
	for (int n = 0; n < iterations; n++) {
		pm_iteration();
		pm_phase("stream");
		for (int i = 0; i < ARRAYS; i++)
			pass(&array_kind, arrays[i], 12 * MIB);
		pm_phase("push");
		for (int i = 0; i < n_grains; i++) {
			grains[i] = make_grain(grains[i]);
			pass(&grain_kind, grains[i], KIB);
		}
		for (int i = 0; i < PARTICLES; i++)
			pass(&particle_kind, particles[i], 600 * KIB);
		pm_phase("solve");
		for (int i = 0; i < 8 * FIELDS; i++)
			pass(&field_kind, fields[i % FIELDS], 300 * KIB);
		for (size_t i = 0; i < WORK; i++)
			work(i);
		make_dust();
	}
	print(&array_kind), print(&grain_kind), print(&particle_kind), print(&field_kind),
		print(&work_kind);
	printf("sum %llu\n", (unsigned long long)sum);
	return 0;
}
