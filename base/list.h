/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_LIST_H
#define PM_LIST_H

/* Lists that grow by one entry: an array, and how many entries it has. */
#include <stddef.h>

/*
 * Makes room behind the `n` entries of `size` bytes: `list` is the address of the pointer to them.
 * Returns the new entry, all zero; it counts when the caller adds one to `n`. NULL: out of memory,
 * and the list is as it was.
 */
void *pm_list_next(void *list, size_t n, size_t size);

#endif
