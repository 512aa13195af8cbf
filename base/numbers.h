/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_NUMBERS_H
#define PM_NUMBERS_H

#include <stddef.h>
#include <stdint.h>

/* In ascending order. */
void pm_numbers_sort(uint64_t *numbers, size_t n);

/* Sorts them, and returns the median, of an even number the lower one of the middle; 0 without any.
 */
uint64_t pm_numbers_median(uint64_t *numbers, size_t n);

#endif
