/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One round for tests/speed/copy-speed: each way of copying in turn, for each size from 4 KiB to
 * 512 MiB. Prints "BYTES WAY GB/s" lines. Source and target are cold: they move through two areas
 *of MIB each, and small copies follow each other until 16 MiB are done.
 *
 *	copy_speed MIB
 */
#define _GNU_SOURCE
#include <immintrin.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "copy/copy.h"

#define AT_LEAST ((size_t)16 << 20) /* bytes of a measurement */
#define LARGEST	 ((size_t)512 << 20)

static void by_engine(void *to, const void *from, size_t bytes)
{
	pm_copy(to, from, bytes, PM_COPY_STREAMED);
}

static void by_memcpy(void *to, const void *from, size_t bytes)
{
	memcpy(to, from, bytes);
}

static void by_rep(void *to, const void *from, size_t bytes)
{
	__asm__ volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(bytes) : : "memory");
}

__attribute__((target("avx2"))) static void by_avx2(void *to, const void *from, size_t bytes)
{
	__m256i *out = to;
	const __m256i *in = from;

	for (size_t i = 0; i < bytes / sizeof(*out); i++)
		_mm256_stream_si256(out + i, _mm256_loadu_si256(in + i));
	_mm_sfence();
}

__attribute__((target("avx512f"))) static void by_avx512(void *to, const void *from, size_t bytes)
{
	__m512i *out = to;
	const __m512i *in = from;

	for (size_t i = 0; i < bytes / sizeof(*out); i++)
		_mm512_stream_si512((void *)(out + i), _mm512_loadu_si512(in + i));
	_mm_sfence();
}

/* STREAM's copy kernel, as a compiler makes it; no memcpy in its place. */
__attribute__((optimize("O3", "no-tree-loop-distribute-patterns"))) static void by_stream(
	void *to, const void *from, size_t bytes)
{
	double *restrict out = to;
	const double *restrict in = from;

	for (size_t i = 0; i < bytes / sizeof(*out); i++)
		out[i] = in[i];
}

static const struct way {
	const char *name;
	void (*copy)(void *to, const void *from, size_t bytes);
	const char *needs; /* of the processor */
} ways[] = {
	{"engine", by_engine, ""},
	{"memcpy", by_memcpy, ""},
	{"rep-movsb", by_rep, ""},
	{"nt-avx2", by_avx2, "avx2"},
	{"nt-avx512", by_avx512, "avx512f"},
	{"stream", by_stream, ""},
};

static int is_here(const struct way *way)
{
	if (!*way->needs)
		return 1;
	return *way->needs == 'a' && way->needs[3] == '5' ? __builtin_cpu_supports("avx512f")
							  : __builtin_cpu_supports("avx2");
}

static double now_s(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static char *area(size_t bytes)
{
	char *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (at == MAP_FAILED) {
		perror("mmap");
		exit(1);
	}
	madvise(at, bytes, MADV_HUGEPAGE);
	memset(at, 1, bytes);
	return at;
}

static double measure(const struct way *way, char *to, const char *from, size_t span, size_t bytes)
{
	static size_t at;
	size_t done = 0;
	double start = now_s();

	for (; done < AT_LEAST; done += bytes, at += bytes) {
		if (at + bytes > span)
			at = 0;
		way->copy(to + at, from + at, bytes);
	}
	return (double)done / (now_s() - start) / 1e9;
}

int main(int argc, char **argv)
{
	size_t span = argc > 1 ? strtoul(argv[1], NULL, 10) << 20 : 0;
	char *to, *from;

	if (span < LARGEST) {
		fprintf(stderr, "usage: copy_speed MIB; at least %zu\n", LARGEST >> 20);
		return 2;
	}
	to = area(span);
	from = area(span);
	for (size_t bytes = 4096; bytes <= LARGEST; bytes *= 2)
		for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++)
			if (is_here(&ways[i]))
				printf("%zu %s %.3f\n", bytes, ways[i].name,
					measure(&ways[i], to, from, span, bytes));
	return 0;
}
