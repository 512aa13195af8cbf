/* SPDX-License-Identifier: Apache-2.0 */
#include "measure/loops.h"

#ifdef __SSE2__
#include <emmintrin.h>
#endif

#define SCALAR 3.0
#define STRIDE 16  /* elements: two cache lines, so that no line is used twice in a pass */
#define AHEAD  128 /* elements that reads past the caches are asked for ahead */

#define ELEMENT sizeof(double)

static size_t elements(const struct pm_loop_arrays *arrays)
{
	return arrays->n;
}

static size_t lines(const struct pm_loop_arrays *arrays)
{
	return arrays->side;
}

static size_t strided_elements(const struct pm_loop_arrays *arrays)
{
	return arrays->n / STRIDE;
}

/* The random order is a permutation of a power of two. */
static size_t power_of_two(const struct pm_loop_arrays *arrays)
{
	size_t power = 1;

	while (power * 2 <= arrays->n)
		power *= 2;
	return power;
}

/* --- STREAM, and its parts --- */

static size_t run_read(struct pm_loop_arrays *arrays, size_t first, size_t n)
{
	const double *restrict b = arrays->from[0] + first;
	double sums[8] = {0}; /* more than one: else each addition waits for the one before */

	for (size_t i = 0; i + 8 <= n; i += 8)
		for (size_t k = 0; k < 8; k++)
			sums[k] += b[i + k];
	for (size_t k = 0; k < 8; k++)
		arrays->sink += sums[k];
	return n / 8 * 8 * ELEMENT;
}

static size_t run_write(struct pm_loop_arrays *arrays, size_t first, size_t n)
{
	double *restrict a = arrays->to[0] + first;

	for (size_t i = 0; i < n; i++)
		a[i] = SCALAR;
	return n * ELEMENT;
}

static size_t run_copy(struct pm_loop_arrays *arrays, size_t first, size_t n)
{
	double *restrict a = arrays->to[0] + first;
	const double *restrict b = arrays->from[0] + first;

	for (size_t i = 0; i < n; i++)
		a[i] = b[i];
	return 2 * n * ELEMENT;
}

static size_t run_scale(struct pm_loop_arrays *arrays, size_t first, size_t n)
{
	double *restrict a = arrays->to[0] + first;
	const double *restrict b = arrays->from[0] + first;

	for (size_t i = 0; i < n; i++)
		a[i] = SCALAR * b[i];
	return 2 * n * ELEMENT;
}

static size_t run_add(struct pm_loop_arrays *arrays, size_t first, size_t n)
{
	double *restrict a = arrays->to[0] + first;
	const double *restrict b = arrays->from[0] + first;
	const double *restrict c = arrays->from[1] + first;

	for (size_t i = 0; i < n; i++)
		a[i] = b[i] + c[i];
	return 3 * n * ELEMENT;
}

static size_t run_triad(struct pm_loop_arrays *arrays, size_t first, size_t n)
{
	double *restrict a = arrays->to[0] + first;
	const double *restrict b = arrays->from[0] + first;
	const double *restrict c = arrays->from[1] + first;

	for (size_t i = 0; i < n; i++)
		a[i] = b[i] + SCALAR * c[i];
	return 3 * n * ELEMENT;
}

/* --- one write, four reads --- */

static double sum_of(const double *const *from, size_t i)
{
	return from[0][i] + from[1][i] + from[2][i] + from[3][i];
}

static size_t run_write_read4(struct pm_loop_arrays *arrays, size_t first, size_t n)
{
	double *restrict a = arrays->to[0] + first;
	const double *restrict b = arrays->from[0] + first, *restrict c = arrays->from[1] + first;
	const double *restrict d = arrays->from[2] + first, *restrict e = arrays->from[3] + first;

	for (size_t i = 0; i < n; i++)
		a[i] = b[i] + c[i] + d[i] + e[i];
	return 5 * n * ELEMENT;
}

static size_t run_several(struct pm_loop_arrays *arrays, size_t first, size_t n)
{
	double *a = arrays->to[0], *b = arrays->to[1];

	for (size_t i = first; i < first + n; i++) {
		a[i] = sum_of(arrays->from, i);
		b[i] = sum_of(arrays->from + 4, i);
	}
	return 10 * n * ELEMENT;
}

static size_t run_strided(struct pm_loop_arrays *arrays, size_t first, size_t n)
{
	double *a = arrays->to[0];

	for (size_t i = first; i < first + n; i++)
		a[i * STRIDE] = sum_of(arrays->from, i * STRIDE);
	return 5 * n * ELEMENT;
}

static size_t run_random(struct pm_loop_arrays *arrays, size_t first, size_t n)
{
	double *a = arrays->to[0];
	uint64_t at = arrays->random_state, mask = power_of_two(arrays) - 1;

	(void)first;
	for (size_t i = 0; i < n; i++) {
		at = pm_loop_next_random(at, mask);
		a[at] = sum_of(arrays->from, at);
	}
	arrays->random_state = at;
	return 5 * n * ELEMENT;
}

#ifdef __SSE2__
static size_t run_bypass(struct pm_loop_arrays *arrays, size_t first, size_t n)
{
	double *a = arrays->to[0] + first;
	const double *b = arrays->from[0] + first, *c = arrays->from[1] + first;
	const double *d = arrays->from[2] + first, *e = arrays->from[3] + first;

	for (size_t i = 0; i + 8 <= n; i += 8) {
		_mm_prefetch((const char *)(b + i + AHEAD), _MM_HINT_NTA);
		_mm_prefetch((const char *)(c + i + AHEAD), _MM_HINT_NTA);
		_mm_prefetch((const char *)(d + i + AHEAD), _MM_HINT_NTA);
		_mm_prefetch((const char *)(e + i + AHEAD), _MM_HINT_NTA);
		for (size_t k = i; k < i + 8; k += 2)
			_mm_stream_pd(a + k,
				_mm_add_pd(_mm_add_pd(_mm_load_pd(b + k), _mm_load_pd(c + k)),
					_mm_add_pd(_mm_load_pd(d + k), _mm_load_pd(e + k))));
	}
	_mm_sfence();
	return 5 * (n / 8 * 8) * ELEMENT;
}
#else
#define run_bypass run_write_read4 /* other processors have no such stores in C */
#endif

/* --- matrices, each thread its own --- */

static size_t run_rows(struct pm_loop_arrays *arrays, size_t first, size_t n)
{
	size_t side = arrays->side;

	return run_add(arrays, first * side, n * side);
}

static size_t run_columns(struct pm_loop_arrays *arrays, size_t first, size_t n)
{
	size_t side = arrays->side;
	double *a = arrays->to[0];
	const double *b = arrays->from[0], *c = arrays->from[1];

	for (size_t j = first; j < first + n; j++)
		for (size_t i = 0; i < side; i++)
			a[i * side + j] = b[i * side + j] + c[i * side + j];
	return 3 * n * side * ELEMENT;
}

static size_t run_mixed(struct pm_loop_arrays *arrays, size_t first, size_t n)
{
	size_t side = arrays->side;
	double *a = arrays->to[0];
	const double *b = arrays->from[0], *c = arrays->from[1];

	for (size_t i = first; i < first + n; i++)
		for (size_t j = 0; j < side; j++)
			a[i * side + j] = b[i * side + j] + c[j * side + i];
	return 3 * n * side * ELEMENT;
}

static double mean_of_nine(const double *above, const double *at, const double *below)
{
	return (above[-1] + above[0] + above[1] + at[-1] + at[0] + at[1] + below[-1] + below[0] +
		       below[1]) /
	       9;
}

static size_t run_stencil(struct pm_loop_arrays *arrays, size_t first, size_t n)
{
	size_t side = arrays->side, cells = 0;
	size_t end = first + n < side ? first + n : side - 1;
	double *a = arrays->to[0];
	const double *b = arrays->from[0];

	for (size_t i = first ? first : 1; i < end; i++) {
		const double *at = b + i * side;

		for (size_t j = 1; j + 1 < side; j++)
			a[i * side + j] = mean_of_nine(at - side + j, at + j, at + side + j);
		cells += side - 2;
	}
	return 10 * cells * ELEMENT;
}

const struct pm_loop pm_loops[PM_LOOPS] = {
	[PM_LOOP_READ] = {0, 1, elements, run_read},
	[PM_LOOP_WRITE] = {1, 0, elements, run_write},
	[PM_LOOP_COPY] = {1, 1, elements, run_copy},
	[PM_LOOP_SCALE] = {1, 1, elements, run_scale},
	[PM_LOOP_ADD] = {1, 2, elements, run_add},
	[PM_LOOP_TRIAD] = {1, 2, elements, run_triad},
	[PM_LOOP_WRITE_READ4] = {1, 4, elements, run_write_read4},
	[PM_LOOP_SEVERAL] = {2, 8, elements, run_several},
	[PM_LOOP_STRIDED] = {1, 4, strided_elements, run_strided},
	[PM_LOOP_RANDOM] = {1, 4, power_of_two, run_random},
	[PM_LOOP_BYPASS] = {1, 4, elements, run_bypass},
	[PM_LOOP_ROWS] = {1, 2, lines, run_rows},
	[PM_LOOP_COLUMNS] = {1, 2, lines, run_columns},
	[PM_LOOP_MIXED] = {1, 2, lines, run_mixed},
	[PM_LOOP_STENCIL] = {1, 1, lines, run_stencil},
};
