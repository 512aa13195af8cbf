/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_STRV_H
#define PM_STRV_H

/* Lists of strings: malloc'ed arrays of malloc'ed strings with NULL at the end. */
#include <stdbool.h>
#include <stddef.h>

/* Splits at any of `separators`, drops empty parts; NULL only when out of memory. */
char **pm_strv_split(const char *text, const char *separators);

/* NULL counts as the empty list in all of these. */
size_t pm_strv_length(char *const *list);
bool pm_strv_contains(char *const *list, const char *text);
void pm_strv_free(char **list);

/* For cleanup_with(): frees the list in the variable. */
void pm_strv_cleanup(char ***list);

/*
 * Looks a name up in a table of `n` names. *ret is its index. -EINVAL: not found, *ret is
 * untouched. The index may be an enum without negative values: GCC makes it compatible with
 * unsigned.
 */
int pm_names_find(const char *const *names, unsigned n, const char *name, unsigned *ret);

#endif
