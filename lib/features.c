/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/features.h"

#include <ctype.h>
#include <errno.h>
#include <stddef.h>
#include <string.h>

#define OUR_PREFIX "pm_"
#define MAX_DEPTH  16

struct parser {
	const char *text; /* the whole expression, for messages */
	const char *at;
	enum pm_mode mode;
	int depth;
};

static int parse_expression(struct parser *p, bool *ret, struct pm_err *err);

static int syntax_error(const struct parser *p, const char *expected, struct pm_err *err)
{
	return pm_err_set(err, -EINVAL, "read constraint '%.200s': %s expected at '%.40s'", p->text,
		expected, p->at);
}

static void skip_spaces(struct parser *p)
{
	while (isspace((unsigned char)*p->at))
		p->at++;
}

static bool is_name_char(char c)
{
	return isalnum((unsigned char)c) || (c && strchr("_.=-:", c));
}

static size_t name_length(const char *at)
{
	size_t length = 0;

	while (is_name_char(at[length]))
		length++;
	return length;
}

static bool is_ours(const char *name, size_t length)
{
	return length >= strlen(OUR_PREFIX) && !strncmp(name, OUR_PREFIX, strlen(OUR_PREFIX));
}

static bool name_holds(const char *name, size_t length, enum pm_mode mode)
{
	const struct pm_mode_info *row = pm_mode_info(mode);

	if (!is_ours(name, length))
		return true;
	return row && strlen(row->feature) == length && !strncmp(row->feature, name, length);
}

static int parse_group(struct parser *p, char close, bool *ret, struct pm_err *err)
{
	int rc;

	if (++p->depth > MAX_DEPTH)
		return syntax_error(p, "less nesting", err);
	p->at++;
	rc = parse_expression(p, ret, err);
	if (rc)
		return rc;
	if (*p->at != close)
		return syntax_error(p, close == ')' ? "')'" : "']'", err);
	p->at++;
	p->depth--;
	return 0;
}

static int parse_name(struct parser *p, bool *ret, struct pm_err *err)
{
	size_t length = name_length(p->at);

	if (!length)
		return syntax_error(p, "a feature", err);
	*ret = name_holds(p->at, length, p->mode);
	p->at += length;
	return 0;
}

static int skip_count(struct parser *p, struct pm_err *err)
{
	if (*p->at != '*')
		return 0;
	p->at++;
	if (!isdigit((unsigned char)*p->at))
		return syntax_error(p, "a count", err);
	while (isdigit((unsigned char)*p->at))
		p->at++;
	return 0;
}

static int parse_term(struct parser *p, bool *ret, struct pm_err *err)
{
	int rc;

	skip_spaces(p);
	if (*p->at == '(')
		rc = parse_group(p, ')', ret, err);
	else if (*p->at == '[')
		rc = parse_group(p, ']', ret, err);
	else
		rc = parse_name(p, ret, err);
	if (!rc)
		rc = skip_count(p, err);
	skip_spaces(p);
	return rc;
}

static int parse_expression(struct parser *p, bool *ret, struct pm_err *err)
{
	bool value, term;
	int rc = parse_term(p, &value, err);

	while (!rc && *p->at && strchr("&,|", *p->at)) {
		char op = *p->at++;

		rc = parse_term(p, &term, err);
		if (!rc)
			value = op == '|' ? value || term : value && term;
	}
	if (!rc)
		*ret = value;
	return rc;
}

static bool is_blank(const char *text)
{
	return !text || text[strspn(text, " \t")] == '\0';
}

int pm_features_allow(const char *expr, enum pm_mode mode, bool *ret, struct pm_err *err)
{
	struct parser p = {.text = expr, .at = expr, .mode = mode};
	bool value;
	int rc;

	if (is_blank(expr)) {
		*ret = true;
		return 0;
	}
	rc = parse_expression(&p, &value, err);
	if (rc)
		return rc;
	if (*p.at)
		return syntax_error(&p, "'&' or '|'", err);
	*ret = value;
	return 0;
}

bool pm_features_mention(const char *expr)
{
	while (expr && *expr) {
		size_t length = name_length(expr);

		if (is_ours(expr, length))
			return true;
		expr += length ? length : 1;
	}
	return false;
}
