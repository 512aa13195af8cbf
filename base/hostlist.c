/* SPDX-License-Identifier: Apache-2.0 */
#include "base/hostlist.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_DIGITS 9
#define MAX_NAME   255

/*
 * Positions in the name at which the part of the pattern that was read so far may end. All are
 * followed at once: trying one after the other takes exponential time with "n[0-9][0-9][0-9]...".
 */
struct reached {
	bool at[MAX_NAME + 1];
};

struct range {
	unsigned long low, high;
	int width; /* of the first number as written */
};

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

/* Checks "[...]" from its first byte on; NULL when it is wrong, else the byte after ']'. */
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

	memcpy(text, digits, (size_t)length);
	text[length] = '\0';
	value = strtoul(text, NULL, 10);
	snprintf(padded, sizeof(padded), "%0*lu", range->width, value);
	return value >= range->low && value <= range->high && !strcmp(padded, text);
}

static bool brackets_have(const char *brackets, const char *digits, int length)
{
	bool found = false;
	struct range range;

	do {
		brackets++;
		(void)read_range(&brackets, &range);
		found = found || range_has(&range, digits, length);
	} while (*brackets == ',');
	return found;
}

static void step_char(struct reached *reached, const char *name, char c)
{
	for (size_t i = strlen(name); i > 0; i--)
		reached->at[i] = reached->at[i - 1] && name[i - 1] == c;
	reached->at[0] = false;
}

static void step_brackets(struct reached *reached, const char *name, const char *brackets)
{
	struct reached next = {0};

	for (size_t i = 0; name[i]; i++)
		for (int n = 1; reached->at[i] && n <= MAX_DIGITS; n++) {
			if (!isdigit((unsigned char)name[i + (size_t)n - 1]))
				break;
			if (brackets_have(brackets, name + i, n))
				next.at[i + (size_t)n] = true;
		}
	*reached = next;
}

/* The pattern has been checked and ends at a comma or at the end of the list. */
static bool match(const char *pattern, const char *name)
{
	struct reached reached = {.at = {[0] = true}};

	if (strlen(name) > MAX_NAME)
		return false;
	while (*pattern && *pattern != ',') {
		if (*pattern == '[') {
			step_brackets(&reached, name, pattern);
			pattern = strchr(pattern, ']') + 1;
		} else {
			step_char(&reached, name, *pattern++);
		}
	}
	return reached.at[strlen(name)];
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
