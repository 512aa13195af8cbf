/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "site/config_file.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "base/asprintf.h"
#include "base/cleanup.h"
#include "base/hostlist.h"
#include "site/site_file.h"

#define MAX_PAIRS 64
#define BLANKS	  " \t\r"

struct pair {
	char *key, *value;
};

struct line {
	const char *file;
	unsigned number;
	const char *node;
	struct pair pairs[MAX_PAIRS];
	size_t n_pairs;
};

char *pm_config_own_node(void)
{
	const char *given = getenv("SLURMD_NODENAME");
	char name[HOST_NAME_MAX + 1] = "";

	if (given && *given)
		return strdup(given);
	(void)gethostname(name, sizeof(name) - 1);
	name[strcspn(name, ".")] = '\0';
	return strdup(name);
}

static void cut_comment(char *text)
{
	bool quoted = false;

	for (char *at = text; *at; at++) {
		if (*at == '"')
			quoted = !quoted;
		if (*at == '#' && !quoted && (at == text || strchr(BLANKS, at[-1]))) {
			*at = '\0';
			return;
		}
	}
}

/* Length of "Key" when the text begins with "Key=", else 0. */
static size_t key_length(const char *text)
{
	size_t length = 0;

	while (isalnum((unsigned char)text[length]) || text[length] == '_')
		length++;
	return text[length] == '=' ? length : 0;
}

/* The end of an unquoted value: before the blanks that end the line or precede the next "Key=". */
static char *bare_value_end(char *value)
{
	char *end = value;

	while (*end) {
		char *word_end = end + strcspn(end, BLANKS);
		char *next = word_end + strspn(word_end, BLANKS);

		if (!*next || key_length(next))
			return word_end;
		end = next;
	}
	return end;
}

/* Cuts the value out of the text; *at moves past it. */
static int take_value(char **at, char **ret, struct pm_err *err)
{
	char *value = *at;
	bool quoted = *value == '"';
	char *end = quoted ? strchr(++value, '"') : bare_value_end(value);

	if (!end)
		return pm_err_set(err, -EINVAL, "a quotation mark is missing");
	if (quoted && end[1] && !strchr(BLANKS, end[1]))
		return pm_err_set(err, -EINVAL, "text right after a quotation mark");
	*at = *end ? end + 1 : end;
	*end = '\0';
	if (!quoted && strchr(value, '"'))
		return pm_err_set(err, -EINVAL, "a quotation mark inside a value");
	*ret = value;
	return 0;
}

static int take_pair(struct line *line, char **at, struct pm_err *err)
{
	size_t length = key_length(*at);
	struct pair *pair = &line->pairs[line->n_pairs];

	if (!length)
		return pm_err_set(err, -EINVAL, "Key=Value expected at '%.40s'", *at);
	if (line->n_pairs == MAX_PAIRS)
		return pm_err_set(err, -EINVAL, "more than %d pairs on one line", MAX_PAIRS);
	pair->key = *at;
	pair->key[length] = '\0';
	for (size_t i = 0; i < line->n_pairs; i++)
		if (!strcasecmp(line->pairs[i].key, pair->key))
			return pm_err_set(err, -EINVAL, "key '%s' twice on one line", pair->key);
	*at += length + 1;
	line->n_pairs++;
	return take_value(at, &pair->value, err);
}

static int split_line(struct line *line, char *text, struct pm_err *err)
{
	int rc = 0;

	cut_comment(text);
	while (!rc && *(text += strspn(text, BLANKS)))
		rc = take_pair(line, &text, err);
	return rc;
}

/* The key that limits a line to nodes or jobs, in one spelling; NULL: another key. */
static const char *scope_of(const struct pair *pair)
{
	static const char *const scopes[] = {
		"NodeName", "PartitionName", "Account", "QOS", "User", "Reservation"};

	for (size_t i = 0; i < sizeof(scopes) / sizeof(scopes[0]); i++)
		if (!strcasecmp(pair->key, scopes[i]))
			return scopes[i];
	return NULL;
}

static size_t count_scopes(const struct line *line)
{
	size_t n = 0;

	while (n < line->n_pairs && scope_of(&line->pairs[n]))
		n++;
	return n;
}

static bool is_name_list(const char *list)
{
	return *list && !strpbrk(list, BLANKS) && !strstr(list, ",,") && *list != ',' &&
	       list[strlen(list) - 1] != ',';
}

static int take_nodes(
	const struct line *line, size_t n_scopes, struct pm_config_pair *pair, struct pm_err *err)
{
	if (n_scopes > 1)
		return pm_err_set(
			err, -EINVAL, "NodeName= stands alone, the other conditions are of jobs");
	pair->nodes = line->pairs[0].value;
	return pm_hostlist_contains(pair->nodes, line->node, &pair->is_ours, err);
}

/* Appends "Account=x" to the conditions in *text, which is malloc'ed. */
static int add_condition(const struct pair *pair, char **text, struct pm_err *err)
{
	const char *name = scope_of(pair);
	char *longer;

	if (!strcmp(name, "NodeName"))
		return pm_err_set(
			err, -EINVAL, "NodeName= stands alone, the other conditions are of jobs");
	if (!is_name_list(pair->value))
		return pm_err_set(err, -EINVAL, "read list '%.100s' of %s=: not of the form a,b",
			pair->value, name);
	longer = pm_asprintf("%s%s%s=%s", *text ? *text : "", *text ? " " : "", name, pair->value);
	if (!longer)
		return pm_err_nomem(err);
	free(*text);
	*text = longer;
	return 0;
}

static int take_jobs(const struct line *line, size_t n_scopes, char **text,
	struct pm_config_pair *pair, struct pm_err *err)
{
	int rc = 0;

	for (size_t i = 0; !rc && i < n_scopes; i++)
		rc = add_condition(&line->pairs[i], text, err);
	pair->scope = *text;
	if (n_scopes == 1 && !strcmp(scope_of(&line->pairs[0]), "PartitionName"))
		pair->partitions = line->pairs[0].value;
	return rc;
}

static int take_scope(const struct line *line, size_t n_scopes, char **text,
	struct pm_config_pair *pair, struct pm_err *err)
{
	int rc;

	if (!strcmp(scope_of(&line->pairs[0]), "NodeName"))
		rc = take_nodes(line, n_scopes, pair, err);
	else
		rc = take_jobs(line, n_scopes, text, pair, err);
	if (!rc && n_scopes == line->n_pairs)
		return pm_err_set(err, -EINVAL, "nothing after %s=%.100s",
			scope_of(&line->pairs[n_scopes - 1]), line->pairs[n_scopes - 1].value);
	return rc;
}

static int deliver(const struct line *line, pm_config_take *take, void *context, struct pm_err *err)
{
	size_t n_scopes = count_scopes(line);
	cleanup_free char *text = NULL;
	struct pm_config_pair pair = {.file = line->file, .line = line->number, .is_ours = true};
	int rc = n_scopes ? take_scope(line, n_scopes, &text, &pair, err) : 0;

	for (size_t i = n_scopes; !rc && i < line->n_pairs; i++) {
		const char *scope = scope_of(&line->pairs[i]);

		if (scope)
			return pm_err_set(err, -EINVAL, "%s= must come first on its line", scope);
		pair.key = line->pairs[i].key;
		pair.value = line->pairs[i].value;
		rc = take(context, &pair, err);
	}
	return rc;
}

int pm_config_text_read(const char *file, char *text, const char *node, pm_config_take *take,
	void *context, pm_config_wrong *wrong, struct pm_err *err)
{
	int rc = 0;

	for (unsigned number = 1; !rc && text; number++) {
		char *one = strsep(&text, "\n");
		struct line line = {.file = file, .number = number, .node = node};

		rc = split_line(&line, one, err);
		if (!rc)
			rc = deliver(&line, take, context, err);
		if (rc)
			pm_err_prefix(err, "%s:%u", file, number);
		if (rc && wrong) {
			wrong(context, err);
			rc = 0;
		}
	}
	return rc;
}

int pm_config_file_read(
	const char *file, const char *node, pm_config_take *take, void *context, struct pm_err *err)
{
	cleanup_free char *text = NULL;
	size_t length;
	int rc = pm_site_file_read(file, PM_CONFIG_MAX_BYTES, &text, &length, err);

	if (rc)
		return rc;
	if (strlen(text) != length)
		return pm_err_set(err, -EINVAL, "%s: it has a NUL byte", file);
	return pm_config_text_read(file, text, node, take, context, NULL, err);
}
