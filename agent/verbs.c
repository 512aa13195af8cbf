/* SPDX-License-Identifier: Apache-2.0 */
#include <limits.h>
#include <string.h>

#include "agent/pmctl.h"

const struct pm_verb pm_verbs[] = {
#define PM_VERB(function, ...) {pm_verb_##function, __VA_ARGS__},
#include "agent/verbs.def"
	{0},
};

/* Number of words that name this verb; 0: they name another. */
static int match(const struct pm_verb *verb, int n_words, char *const *words)
{
	size_t first = strcspn(verb->name, " ");

	if (n_words < 1 || strlen(words[0]) != first || strncmp(words[0], verb->name, first))
		return 0;
	if (!verb->name[first])
		return 1;
	return n_words > 1 && !strcmp(words[1], verb->name + first + 1) ? 2 : 0;
}

const struct pm_verb *pm_verb_find(int n_words, char *const *words, int *ret_words)
{
	for (const struct pm_verb *verb = pm_verbs; verb->name; verb++) {
		*ret_words = match(verb, n_words, words);
		if (*ret_words)
			return verb;
	}
	return NULL;
}
