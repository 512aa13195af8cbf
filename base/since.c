/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "base/since.h"

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "base/units.h"

#define DIGITS_MAX 10

static const struct {
	const char *word; /* the singular, too */
	uint64_t seconds;
} units[] = {{"seconds", 1}, {"minutes", 60}, {"hours", 3600}, {"days", 86400}, {"weeks", 604800}};

/* 0: there is no such unit. */
static uint64_t unit_seconds(const char *word)
{
	size_t length = strlen(word);

	if (!length)
		return 1;
	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++)
		if (!strncmp(units[i].word, word, length) && length + 1 >= strlen(units[i].word))
			return units[i].seconds;
	return 0;
}

static int parse_ago(const char *text, time_t now, uint64_t *ret)
{
	size_t digits = strspn(text, "0123456789");
	uint64_t unit = unit_seconds(text + digits), count;
	char number[DIGITS_MAX + 1] = "";

	if (!digits || digits > DIGITS_MAX || !unit)
		return -EINVAL;
	memcpy(number, text, digits);
	if (pm_parse_u64(number, &count))
		return -EINVAL;
	*ret = count * unit < (uint64_t)now ? (uint64_t)now - count * unit : 0;
	return 0;
}

static bool has_form(const char *text, const char *form)
{
	for (; *form; form++, text++)
		if (*form == '0' ? !isdigit((unsigned char)*text) : *text != *form)
			return false;
	return !*text;
}

/* mktime(3) takes a day that a month does not have for one of the next. */
static int parse_date(const char *text, const char *form, uint64_t *ret)
{
	struct tm parts = {.tm_isdst = -1};
	const char *end = strptime(text, form, &parts);
	int day = parts.tm_mday;
	time_t at;

	if (!end || *end)
		return -EINVAL;
	at = mktime(&parts);
	if (parts.tm_mday != day)
		return -EINVAL;
	*ret = at > 0 ? (uint64_t)at : 0;
	return 0;
}

int pm_since_parse(const char *text, time_t now, uint64_t *ret)
{
	if (!strncmp(text, "now-", 4))
		return parse_ago(text + 4, now, ret);
	if (has_form(text, "0000-00-00"))
		return parse_date(text, "%Y-%m-%d", ret);
	if (has_form(text, "0000-00-00T00:00"))
		return parse_date(text, "%Y-%m-%dT%H:%M", ret);
	if (has_form(text, "0000-00-00T00:00:00"))
		return parse_date(text, "%Y-%m-%dT%H:%M:%S", ret);
	return -EINVAL;
}
