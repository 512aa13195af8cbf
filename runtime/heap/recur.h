/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_RUNTIME_RECUR_H
#define PM_RUNTIME_RECUR_H

/*
 * Which large objects are temporary: those of a size that the program keeps giving back. Counted by
 * size, four classes to each power of two: a program that works in iterations asks for the same
 * sizes in each. Not by time: in LULESH, one iteration more or less of wall clock moves 35 of
 * 87 MB from one side to the other.
 */
#include <stdbool.h>
#include <stddef.h>

/* One more is taken; is one of this size likely to be given back soon? */
bool pm_recur_taken(size_t bytes);

/* Are nearly all of this size given back, of many? */
bool pm_recur_is_sure(size_t bytes);

/* The same number of bytes, or up to a granule more. */
void pm_recur_given(size_t bytes);

#endif
