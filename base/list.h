/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_LIST_H
#define PM_LIST_H

/* Lists that grow by one entry: an array, and the number of its entries. */
#include <stddef.h>

/*
 * Makes room for one entry after the `n` entries of `size` bytes; `list` is the address of the
 * pointer to them. Returns the new entry, all zero; the caller then adds one to its `n`. NULL: out
 * of memory, and the list is as it was.
 */
void *pm_list_next(void *list, size_t n, size_t size);

#endif
