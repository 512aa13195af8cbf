/* SPDX-License-Identifier: Apache-2.0 */
#include "base/suggest.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define WORD_MAX 32
#define MOST	 2 /* mistakes */

static unsigned least(unsigned a, unsigned b)
{
	return a < b ? a : b;
}

static bool same_letter(char a, char b)
{
	return tolower((unsigned char)a) == tolower((unsigned char)b);
}

/*
 * Optimal string alignment: the least number of letters to insert, to remove, to replace, or to
 * swap with the next one. Row i is of the first i letters of a.
 */
static unsigned distance(const char *a, const char *b)
{
	unsigned rows[WORD_MAX + 1][WORD_MAX + 1];
	size_t n = strlen(a), m = strlen(b);

	for (size_t i = 0; i <= n; i++)
		for (size_t j = 0; j <= m; j++) {
			if (!i || !j) {
				rows[i][j] = (unsigned)(i + j);
				continue;
			}
			rows[i][j] = least(least(rows[i - 1][j], rows[i][j - 1]) + 1,
				rows[i - 1][j - 1] + !same_letter(a[i - 1], b[j - 1]));
			if (i > 1 && j > 1 && same_letter(a[i - 1], b[j - 2]) &&
				same_letter(a[i - 2], b[j - 1]))
				rows[i][j] = least(rows[i][j], rows[i - 2][j - 2] + 1);
		}
	return rows[n][m];
}

const char *pm_suggest_word(const char *word, const char *const *list)
{
	const char *nearest = NULL;
	unsigned fewest = MOST + 1;

	if (!*word || strlen(word) > WORD_MAX)
		return NULL;
	for (; *list; list++) {
		size_t length = strlen(*list) > strlen(word) ? strlen(*list) : strlen(word);
		unsigned mistakes;

		if (length > WORD_MAX)
			continue;
		mistakes = distance(word, *list);
		if (mistakes < fewest && mistakes * 3 <= length) {
			fewest = mistakes;
			nearest = *list;
		}
	}
	return nearest;
}

/* The power of 1024 of a unit, as "G", "GB" or "GiB", each after a space or not; 0: none. */
static unsigned power_of(const char *text)
{
	static const char units[] = "KMGT";
	const char *unit;

	text += strspn(text, " ");
	unit = *text ? strchr(units, toupper((unsigned char)*text)) : NULL;
	if (!unit || (text[1] && strcasecmp(text + 1, "b") && strcasecmp(text + 1, "ib")))
		return 0;
	return (unsigned)(unit - units) + 1;
}

bool pm_suggest_size(const char *text, char ret[PM_SIZE_TEXT])
{
	static const char letters[] = "KMGT";
	char *end;
	double value = isdigit((unsigned char)*text) ? strtod(text, &end) : 0;
	unsigned power = value > 0 ? power_of(end) : 0;

	if (!power || value >= 1e6)
		return false;
	/* The next smaller unit is exact enough: a fraction of it is rounded. */
	if (value - (double)(unsigned long)value > 0 && power > 1) {
		value *= 1024;
		power--;
	}
	if ((unsigned long)(value + 0.5) == 0)
		return false;
	snprintf(ret, PM_SIZE_TEXT, "%lu%c", (unsigned long)(value + 0.5), letters[power - 1]);
	return true;
}
