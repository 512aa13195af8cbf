/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kernels NODE NAME MIB PASSES: loads and stores with a count known beforehand, between the marks
 * of the meter, on MIB mebibytes that are bound to a node (-1: not bound).
 *
 *   read         loads each byte once a pass, in words of 8 bytes
 *   write        stores each byte once a pass
 *   nontemporal  stores each byte once a pass, past the caches
 *   lines        loads a word of each line of 64 bytes, once a pass
 *
 * The memory is touched before; its lines are not in the cache if it is larger than the cache.
 */
#define _GNU_SOURCE
#include <linux/mempolicy.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <immintrin.h>

#include "twin/meter/instructions.h"

static void read_words(const uint64_t *words, size_t n, size_t step)
{
	for (size_t i = 0; i < n; i += step)
		__asm__ volatile("mov %0, %%rax" : : "m"(words[i]) : "rax");
}

static void write_words(uint64_t *words, size_t n)
{
	for (size_t i = 0; i < n; i++)
		__asm__ volatile("mov %1, %0" : "=m"(words[i]) : "r"(i));
}

static void write_past_caches(uint64_t *words, size_t n)
{
	for (size_t i = 0; i < n; i++)
		_mm_stream_si64((long long *)words + i, (long long)i);
	_mm_sfence();
}

static void run(const char *name, uint64_t *words, size_t n)
{
	if (!strcmp(name, "read"))
		read_words(words, n, 1);
	else if (!strcmp(name, "lines"))
		read_words(words, n, 8);
	else if (!strcmp(name, "write"))
		write_words(words, n);
	else if (!strcmp(name, "nontemporal"))
		write_past_caches(words, n);
	else
		abort();
}

int main(int argc, char **argv)
{
	int node, passes;
	size_t bytes;
	void *memory;

	if (argc != 5)
		return 2;
	node = atoi(argv[1]);
	bytes = strtoul(argv[3], NULL, 10) << 20;
	passes = atoi(argv[4]);
	/* Before malloc() writes its header, which may lie in the same huge page. */
	if (node >= 0) {
		unsigned long mask = 1UL << node;

		if (syscall(SYS_set_mempolicy, MPOL_BIND, &mask, 64UL)) {
			perror("set_mempolicy");
			return 1;
		}
	}
	if (posix_memalign(&memory, 4096, bytes))
		return 1;
	memset(memory, 1, bytes);
	if (node >= 0)
		syscall(SYS_set_mempolicy, MPOL_DEFAULT, NULL, 0UL);
	PM_METER_BEGIN();
	for (int i = 0; i < passes; i++)
		run(argv[2], memory, bytes / 8);
	PM_METER_END();
	free(memory);
	return 0;
}
