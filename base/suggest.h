/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_SUGGEST_H
#define PM_SUGGEST_H

/* Suggestions for mistyped words and sizes. */
#include <stdbool.h>

#include "base/units.h"

/*
 * The word of the list that is nearest to a mistyped one: at most two letters are missing, one too
 * many, wrong, or swapped with the next one, and at most a third of the longer word; case does not
 * count. The list ends with NULL. NULL: none is near.
 */
const char *pm_suggest_word(const char *word, const char *const *list);

/*
 * A size that pm_parse_size() reads, for one with a fraction or with another unit: "3.5G" is
 * "3584M", "1GB" and "1 GiB" are "1G". False: the text is not a number with such a unit.
 */
bool pm_suggest_size(const char *text, char ret[PM_SIZE_TEXT]);

#endif
