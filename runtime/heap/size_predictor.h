/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_RUNTIME_SIZE_PREDICTOR_H
#define PM_RUNTIME_SIZE_PREDICTOR_H

/*
 * Predicts the lifetime of a large object from its size. A size class, four to a power of two, is
 * short-lived if the program has freed at least half of its objects of that class: a program that
 * works in iterations allocates the same sizes in each. Wall-clock time predicts worse: in LULESH
 * one iteration more or less moves 35 of 87 MB from one side to the other.
 */
#include <stdbool.h>
#include <stddef.h>

/* Counts an allocation. True: an object of this size is likely to be freed soon. */
bool pm_size_predictor_alloc(size_t bytes);

/* True: at least three quarters of at least eight objects of this size have been freed. */
bool pm_size_predictor_is_confident(size_t bytes);

/* Counts a free. `bytes` as allocated, or rounded up to the granule. */
void pm_size_predictor_free(size_t bytes);

#endif
