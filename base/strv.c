/* SPDX-License-Identifier: Apache-2.0 */
#include "base/strv.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

size_t pm_strv_length(char *const *list)
{
	size_t n = 0;

	while (list && list[n])
		n++;
	return n;
}

bool pm_strv_contains(char *const *list, const char *text)
{
	for (size_t i = 0; list && list[i]; i++)
		if (!strcmp(list[i], text))
			return true;
	return false;
}

void pm_strv_free(char **list)
{
	for (size_t i = 0; list && list[i]; i++)
		free(list[i]);
	free(list);
}

void pm_strv_cleanup(char ***list)
{
	pm_strv_free(*list);
}

char **pm_strv_split(const char *text, const char *separators)
{
	size_t n = 0;
	char **list = calloc(strlen(text) / 2 + 2, sizeof(*list)); /* parts need a separator each */

	while (list && *(text += strspn(text, separators))) {
		size_t length = strcspn(text, separators);

		list[n] = strndup(text, length);
		if (!list[n++]) {
			pm_strv_free(list);
			return NULL;
		}
		text += length;
	}
	return list;
}

int pm_names_find(const char *const *names, unsigned n, const char *name, unsigned *ret)
{
	for (unsigned i = 0; i < n; i++) {
		if (strcmp(names[i], name))
			continue;
		*ret = i;
		return 0;
	}
	return -EINVAL;
}
