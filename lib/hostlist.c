/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/hostlist.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_DIGITS 9

struct range {
	unsigned long low, high;
	int width; /* of the first number as written */
};

static bool match(const char *pattern, const char *name);

static bool is_name_char(char c)
{
	return isalnum((unsigned char)c) || (c && strchr("-_.", c));
}

/* Reads "12" and moves on; 0 digits or too many are an error. */
static bool read_number(const char **at, unsigned long *ret, int *ret_width)
{
	const char *start = *at;

	while (isdigit((unsigned char)**at))
		(*at)++;
	*ret_width = (int)(*at - start);
	if (*ret_width < 1 || *ret_width > MAX_DIGITS)
		return false;
	*ret = strtoul(start, NULL, 10);
	return true;
}

/* Reads "3" or "07-12" and moves on. */
static bool read_range(const char **at, struct range *ret)
{
	int width;

	if (!read_number(at, &ret->low, &ret->width))
		return false;
	ret->high = ret->low;
	if (**at != '-')
		return true;
	(*at)++;
	return read_number(at, &ret->high, &width) && ret->high >= ret->low;
}

/* Checks "[...]" from its first byte on; NULL when it is wrong, else the byte behind ']'. */
static const char *check_brackets(const char *at)
{
	struct range range;

	do {
		at++;
		if (!read_range(&at, &range))
			return NULL;
	} while (*at == ',');
	return *at == ']' ? at + 1 : NULL;
}

/* One name or pattern up to a comma outside brackets; NULL when it is wrong. */
static const char *check_pattern(const char *at)
{
	const char *start = at;

	while (at && *at && *at != ',') {
		if (*at == '[')
			at = at == start ? NULL : check_brackets(at);
		else
			at = is_name_char(*at) ? at + 1 : NULL;
	}
	return at == start ? NULL : at;
}

static bool range_has(const struct range *range, const char *digits, int length)
{
	char text[MAX_DIGITS + 1], padded[2 * MAX_DIGITS];
	unsigned long value;

	if (length > MAX_DIGITS)
		return false;
	memcpy(text, digits, (size_t)length);
	text[length] = '\0';
	value = strtoul(text, NULL, 10);
	snprintf(padded, sizeof(padded), "%0*lu", range->width, value);
	return value >= range->low && value <= range->high && !strcmp(padded, text);
}

static bool match_brackets(const char *pattern, const char *name)
{
	const char *rest = strchr(pattern, ']') + 1;
	struct range range;

	do {
		pattern++;
		(void)read_range(&pattern, &range);
		for (int n = 1; isdigit((unsigned char)name[n - 1]); n++)
			if (range_has(&range, name, n) && match(rest, name + n))
				return true;
	} while (*pattern == ',');
	return false;
}

/* The pattern has been checked and ends at a comma or at the end of the list. */
static bool match(const char *pattern, const char *name)
{
	while (*pattern && *pattern != ',' && *pattern != '[') {
		if (*pattern++ != *name++)
			return false;
	}
	if (*pattern == '[')
		return match_brackets(pattern, name);
	return *name == '\0';
}

int pm_hostlist_contains(const char *list, const char *name, bool *ret, struct pm_err *err)
{
	const char *at = list;
	bool found = false;

	for (;;) {
		const char *end = check_pattern(at);

		if (!end)
			return pm_err_set(err, -EINVAL,
				"read node list '%.200s': not of the form n1,n[3-5,7]", list);
		found = found || match(at, name);
		if (!*end)
			break;
		at = end + 1;
	}
	*ret = found;
	return 0;
}
