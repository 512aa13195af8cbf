/* SPDX-License-Identifier: Apache-2.0 */
#include "copy/kernels.h"

#include <stdatomic.h>
#include <stdint.h>
#include <string.h>

#if defined(__x86_64__)
#include <cpuid.h>
#include <immintrin.h>

/*
 * Bytes that the reads are asked for ahead, past the caches (prefetchnta). Without it the loops
 * lose a tenth (tests/speed/copy-speed).
 */
#define AHEAD 1024
#define BLOCK (4 * PM_COPY_LINE) /* of a turn of a loop */

static inline void ask_ahead(const char *from)
{
	for (size_t at = 0; at < BLOCK; at += PM_COPY_LINE)
		_mm_prefetch(from + at + AHEAD, _MM_HINT_NTA);
}

__attribute__((target("avx512f"))) static size_t stream_avx512(
	void *to, const void *from, size_t bytes)
{
	char *out = to;
	const char *in = from;
	size_t done = 0;

	for (; done + BLOCK <= bytes; done += BLOCK) {
		__m512i a = _mm512_loadu_si512(in + done);
		__m512i b = _mm512_loadu_si512(in + done + 64);
		__m512i c = _mm512_loadu_si512(in + done + 128);
		__m512i d = _mm512_loadu_si512(in + done + 192);

		ask_ahead(in + done);
		_mm512_stream_si512((void *)(out + done), a);
		_mm512_stream_si512((void *)(out + done + 64), b);
		_mm512_stream_si512((void *)(out + done + 128), c);
		_mm512_stream_si512((void *)(out + done + 192), d);
	}
	for (; done + PM_COPY_LINE <= bytes; done += PM_COPY_LINE)
		_mm512_stream_si512((void *)(out + done), _mm512_loadu_si512(in + done));
	return done;
}

__attribute__((target("avx2"))) static size_t stream_avx2(void *to, const void *from, size_t bytes)
{
	__m256i *out = to;
	const __m256i *in = from;
	size_t done = 0;

	for (; done + PM_COPY_LINE <= bytes; done += PM_COPY_LINE, out += 2, in += 2) {
		__m256i a = _mm256_loadu_si256(in), b = _mm256_loadu_si256(in + 1);

		_mm_prefetch((const char *)in + AHEAD, _MM_HINT_NTA);
		_mm256_stream_si256(out, a);
		_mm256_stream_si256(out + 1, b);
	}
	return done;
}

static size_t stream_sse2(void *to, const void *from, size_t bytes)
{
	__m128i *out = to;
	const __m128i *in = from;
	size_t done = 0;

	for (; done + PM_COPY_LINE <= bytes; done += PM_COPY_LINE, out += 4, in += 4) {
		__m128i a = _mm_loadu_si128(in), b = _mm_loadu_si128(in + 1);
		__m128i c = _mm_loadu_si128(in + 2), d = _mm_loadu_si128(in + 3);

		_mm_prefetch((const char *)in + AHEAD, _MM_HINT_NTA);
		_mm_stream_si128(out, a);
		_mm_stream_si128(out + 1, b);
		_mm_stream_si128(out + 2, c);
		_mm_stream_si128(out + 3, d);
	}
	return done;
}

static bool has_avx512(void)
{
	return __builtin_cpu_supports("avx512f");
}

static bool has_avx2(void)
{
	return __builtin_cpu_supports("avx2");
}

static bool always(void)
{
	return true;
}

const struct pm_copy_kernel pm_copy_kernels[] = {
	{"avx512", stream_avx512, has_avx512},
	{"avx2", stream_avx2, has_avx2},
	{"sse2", stream_sse2, always},
	{0},
};

void pm_copy_fence(void)
{
	_mm_sfence();
}

/* CPUID leaf 7, EBX bit 24 (Intel SDM, volume 2). */
static bool ask_for_clwb(void)
{
	unsigned a, b, c, d;

	return __get_cpuid_count(7, 0, &a, &b, &c, &d) && (b & bit_CLWB);
}

/* clwb keeps the line in the cache; clflush, which every processor has, does not. */
static bool has_clwb(void)
{
	static atomic_int known; /* 1: yes, -1: no */
	int answer = atomic_load_explicit(&known, memory_order_relaxed);

	if (!answer) {
		answer = ask_for_clwb() ? 1 : -1;
		atomic_store_explicit(&known, answer, memory_order_relaxed);
	}
	return answer > 0;
}

__attribute__((target("clwb"))) static void clwb(const char *line)
{
	_mm_clwb((void *)(uintptr_t)line);
}

static void clflush(const char *line)
{
	_mm_clflush(line);
}

void pm_copy_write_back(const void *at, size_t bytes)
{
	const char *end = (const char *)at + bytes;
	const char *line = (const char *)((uintptr_t)at / PM_COPY_LINE * PM_COPY_LINE);

	for (; line < end; line += PM_COPY_LINE)
		(has_clwb() ? clwb : clflush)(line);
	_mm_sfence();
}

#else

static size_t stream_memcpy(void *to, const void *from, size_t bytes)
{
	size_t lines = bytes / PM_COPY_LINE * PM_COPY_LINE;

	memcpy(to, from, lines);
	return lines;
}

static bool always(void)
{
	return true;
}

const struct pm_copy_kernel pm_copy_kernels[] = {{"memcpy", stream_memcpy, always}, {0}};

void pm_copy_fence(void)
{
	__atomic_thread_fence(__ATOMIC_RELEASE);
}

/* Optane is on x86-64 alone. */
void pm_copy_write_back(const void *at, size_t bytes)
{
	(void)at;
	(void)bytes;
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
}

#endif
