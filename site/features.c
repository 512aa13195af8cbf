/* SPDX-License-Identifier: Apache-2.0 */
#include "site/features.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define OUR_PREFIX   "pm_"
#define NOT_IN_NAMES "*&,|[]()!\"'`\\"
#define DIGITS	     "0123456789"
#define MAX_DIGITS   9
#define MAX_LENGTH   1024
#define ALL_MODES    (~0u)

struct parser {
	const char *text; /* the whole expression, for messages */
	const char *at;
	const char *mixed; /* the first operator that differs from those of its level, or NULL */
	bool mentioned;
};

static int parse_level(struct parser *p, char inside, unsigned *ret, struct pm_err *err);

static int expected(const struct parser *p, const char *at, const char *what, struct pm_err *err)
{
	unsigned char c = (unsigned char)*at;
	char found[16] = "the end";

	if (c)
		snprintf(found, sizeof(found), c >= ' ' && c < 0x7f ? "'%c'" : "byte 0x%02x", c);
	return pm_err_set(err, -EINVAL,
		"read constraint '%.200s': %s expected at character %zu, not %s", p->text, what,
		(size_t)(at - p->text) + 1, found);
}

static size_t name_length(const char *at)
{
	size_t length = 0;

	while ((unsigned char)at[length] > ' ' && at[length] != 0x7f &&
		!strchr(NOT_IN_NAMES, at[length]))
		length++;
	return length;
}

bool pm_features_is_ours(const char *name)
{
	return !strncmp(name, OUR_PREFIX, strlen(OUR_PREFIX));
}

bool pm_features_may_be_ours(const char *expr)
{
	return expr && strstr(expr, OUR_PREFIX);
}

static unsigned modes_of(const char *name, size_t length)
{
	unsigned modes = 0;

	if (!pm_features_is_ours(name))
		return ALL_MODES;
	pm_mode_foreach(row)
		if (strlen(row->feature) == length && !strncmp(row->feature, name, length))
			modes |= 1u << row->mode;
	return modes;
}

static int parse_name(struct parser *p, unsigned *ret, struct pm_err *err)
{
	size_t length = name_length(p->at);

	if (!length)
		return expected(p, p->at, "a feature", err);
	*ret = modes_of(p->at, length);
	p->mentioned |= pm_features_is_ours(p->at);
	p->at += length;
	return 0;
}

static int parse_group(struct parser *p, char close, unsigned *ret, struct pm_err *err)
{
	int rc;

	p->at++;
	rc = parse_level(p, close, ret, err);
	if (rc)
		return rc;
	if (*p->at != close)
		return expected(
			p, p->at, close == ')' ? "'&', '|' or ')'" : "'&', '|' or ']'", err);
	p->at++;
	return 0;
}

/* The count after '*'. */
static int parse_count(struct parser *p, struct pm_err *err)
{
	size_t length = strspn(p->at, DIGITS);

	if (!length || length > MAX_DIGITS || strspn(p->at, "0") == length)
		return expected(p, p->at, "a count", err);
	p->at += length;
	return 0;
}

static int parse_item(struct parser *p, char inside, unsigned *ret, struct pm_err *err)
{
	char first = *p->at;
	int rc;

	if (first == '(' && inside != ')')
		rc = parse_group(p, ')', ret, err);
	else if (first == '[' && !inside)
		rc = parse_group(p, ']', ret, err);
	else
		rc = parse_name(p, ret, err);
	if (rc || *p->at != '*' || inside == ')' || first == '[')
		return rc;
	p->at++;
	return parse_count(p, err);
}

static int parse_level(struct parser *p, char inside, unsigned *ret, struct pm_err *err)
{
	unsigned modes, item;
	bool either = false;
	int rc = parse_item(p, inside, &modes, err);

	for (bool first = true; !rc && *p->at && strchr("&,|", *p->at); first = false) {
		bool is_or = *p->at == '|';

		if (first)
			either = is_or;
		else if (either != is_or && (!p->mixed || p->at < p->mixed))
			p->mixed = p->at;
		p->at++;
		rc = parse_item(p, inside, &item, err);
		if (!rc)
			modes = either ? modes | item : modes & item;
	}
	if (!rc)
		*ret = modes;
	return rc;
}

int pm_features_read(const char *expr, struct pm_features *ret, struct pm_err *err)
{
	struct parser p = {.text = expr, .at = expr};
	unsigned modes = ALL_MODES;
	int rc;

	if (expr && strlen(expr) > MAX_LENGTH)
		return expected(&p, expr + MAX_LENGTH, "the end", err);
	rc = expr && *expr ? parse_level(&p, '\0', &modes, err) : 0;
	if (rc)
		return rc;
	if (expr && *p.at)
		return expected(&p, p.at, "'&' or '|'", err);
	if (p.mentioned && p.mixed)
		return expected(&p, p.mixed, "'(' and ')' around the alternatives", err);
	*ret = (struct pm_features){.modes = modes, .mentioned = p.mentioned};
	return 0;
}
