/* SPDX-License-Identifier: Apache-2.0 */
#include "base/numbers.h"

#include <stdlib.h>

static int compare(const void *left, const void *right)
{
	const uint64_t *a = left, *b = right;

	return (*a > *b) - (*a < *b);
}

void pm_numbers_sort(uint64_t *numbers, size_t n)
{
	if (n)
		qsort(numbers, n, sizeof(*numbers), compare);
}

uint64_t pm_numbers_median(uint64_t *numbers, size_t n)
{
	pm_numbers_sort(numbers, n);
	return n ? numbers[(n - 1) / 2] : 0;
}
