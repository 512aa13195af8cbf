/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "site/policy.h"

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/strv.h"
#include "base/units.h"

#define NONE "none"
#define AUTO "auto"

const struct pm_mode_info *pm_policy_find_mode(const char *name, struct pm_err *err)
{
	const struct pm_mode_info *row = pm_mode_by_name(name);
	cleanup_free char *names = row ? NULL : pm_mode_names();

	if (!row)
		pm_err_set(err, -EINVAL, "unknown mode '%.40s', modes are: %s", name,
			names ? names : "");
	return row;
}

int pm_policy_parse_mode(const char *value, enum pm_mode *ret, struct pm_err *err)
{
	const struct pm_mode_info *row;

	if (!strcmp(value, NONE) || !strcmp(value, AUTO)) {
		*ret = PM_MODE_UNKNOWN;
		return 0;
	}
	row = pm_policy_find_mode(value, err);
	if (!row)
		return -EINVAL;
	*ret = row->mode;
	return 0;
}

/* The value behind a mode's name; -EINVAL. */
typedef int value_read(const char *text, uint64_t *ret, struct pm_err *err);

static int read_size(const char *text, uint64_t *ret, struct pm_err *err)
{
	if (pm_parse_size(text, ret) || !*ret)
		return pm_err_set(err, -EINVAL, "a size like 800G expected at '%.40s'", text);
	return 0;
}

static int read_count(const char *text, uint64_t *ret, struct pm_err *err)
{
	if (strlen(text) > 9 || pm_parse_u64(text, ret) || !*ret)
		return pm_err_set(err, -EINVAL, "a number of nodes expected at '%.40s'", text);
	return 0;
}

/* One "memory:7600M"; changes the word. `what` names the value. */
static int add_value(char *word, const char *what, value_read *read,
	uint64_t values[PM_POLICY_MODES], struct pm_err *err)
{
	char *text = strchr(word, ':');
	const struct pm_mode_info *row;
	uint64_t value;
	int rc;

	if (!text)
		return pm_err_set(err, -EINVAL, "MODE:%s expected at '%.40s'", what, word);
	*text++ = '\0';
	row = pm_policy_find_mode(word, err);
	if (!row)
		return -EINVAL;
	if (values[row->mode])
		return pm_err_set(err, -EINVAL, "mode '%s' is named twice", row->name);
	rc = read(text, &value, err);
	if (!rc)
		values[row->mode] = value;
	return rc;
}

static int parse_by_mode(const char *value, const char *what, value_read *read,
	uint64_t ret_values[PM_POLICY_MODES], struct pm_err *err)
{
	cleanup_with(pm_strv_cleanup) char **words = pm_strv_split(value, ",");
	uint64_t values[PM_POLICY_MODES] = {0};
	int rc = 0;

	if (!words)
		return pm_err_nomem(err);
	if (!words[0])
		return pm_err_set(
			err, -EINVAL, "%s or a comma list of MODE:%s expected", NONE, what);
	for (size_t i = 0; !rc && words[i] && strcmp(value, NONE); i++)
		rc = add_value(words[i], what, read, values, err);
	if (!rc)
		memcpy(ret_values, values, sizeof(values));
	return rc;
}

int pm_policy_parse_usable(
	const char *value, uint64_t ret_bytes[PM_POLICY_MODES], struct pm_err *err)
{
	return parse_by_mode(value, "SIZE", read_size, ret_bytes, err);
}

int pm_policy_parse_counts(
	const char *value, uint64_t ret_counts[PM_POLICY_MODES], struct pm_err *err)
{
	return parse_by_mode(value, "NUMBER", read_count, ret_counts, err);
}

static bool is_name(const char *name, const char *others)
{
	while (isalnum((unsigned char)*name) || (*name && strchr(others, *name)))
		name++;
	return !*name;
}

/* 0 for a comma list of names of letters, digits and `others`; -EINVAL, -ENOMEM. */
static int read_names(const char *value, const char *others)
{
	cleanup_with(pm_strv_cleanup) char **names = pm_strv_split(value, ",");
	bool good = names && names[0];

	if (!names)
		return -ENOMEM;
	for (size_t i = 0; names[i]; i++)
		good = good && is_name(names[i], others);
	return good ? 0 : -EINVAL;
}

int pm_policy_check_users(const char *value, struct pm_err *err)
{
	int rc = strcmp(value, "*") ? read_names(value, "._@$-") : 0;

	if (rc == -EINVAL)
		return pm_err_set(err, rc, "* or a comma list of user names expected");
	return rc ? pm_err_nomem(err) : 0;
}

int pm_policy_check_clusters(const char *value, struct pm_err *err)
{
	int rc = read_names(value, "._-");

	if (rc == -EINVAL)
		return pm_err_set(err, rc, "none or a comma list of clusters expected");
	return rc ? pm_err_nomem(err) : 0;
}

static void release(struct pm_job_pair *pair)
{
	free(pair->scope);
	free(pair->partitions);
	free(pair->text);
	free(pair->origin);
}

int pm_job_pairs_add(struct pm_job_pairs *pairs, const struct pm_job_pair *pair)
{
	struct pm_job_pair copy = {.scope = strdup(pair->scope),
		.partitions = pair->partitions ? strdup(pair->partitions) : NULL,
		.key = pair->key,
		.text = strdup(pair->text),
		.origin = strdup(pair->origin)};
	struct pm_job_pair *list = reallocarray(pairs->list, pairs->count + 1, sizeof(*list));

	if (list)
		pairs->list = list;
	if (!list || !copy.scope || (pair->partitions && !copy.partitions) || !copy.text ||
		!copy.origin) {
		release(&copy);
		return -ENOMEM;
	}
	list[pairs->count++] = copy;
	return 0;
}

void pm_job_pairs_drop(struct pm_job_pairs *pairs, int key)
{
	size_t kept = 0;

	for (size_t i = 0; i < pairs->count; i++)
		if (pairs->list[i].key == key)
			release(&pairs->list[i]);
		else
			pairs->list[kept++] = pairs->list[i];
	pairs->count = kept;
}

/* True: the name is one of "a,b"; NULL has none. */
static bool names_partition(const char *list, const char *name)
{
	size_t length = strlen(name);

	if (!list)
		return false;
	while (strncmp(list, name, length) || (list[length] && list[length] != ',')) {
		list = strchrnul(list, ',');
		if (!*list++)
			return false;
	}
	return length > 0;
}

const struct pm_job_pair *pm_job_pairs_last(
	const struct pm_job_pairs *pairs, const char *partition, int key)
{
	for (size_t i = pairs->count; i-- > 0;)
		if (pairs->list[i].key == key &&
			names_partition(pairs->list[i].partitions, partition))
			return &pairs->list[i];
	return NULL;
}

const char *pm_job_pairs_find(const struct pm_job_pairs *pairs, const char *partition, int key)
{
	const struct pm_job_pair *pair = pm_job_pairs_last(pairs, partition, key);

	return pair ? pair->text : NULL;
}

bool pm_job_pairs_first(const struct pm_job_pairs *pairs, size_t pair, const char *partition)
{
	for (size_t i = 0; i < pair; i++)
		if (names_partition(pairs->list[i].partitions, partition))
			return false;
	return true;
}

void pm_job_pairs_done(struct pm_job_pairs *pairs)
{
	for (size_t i = 0; i < pairs->count; i++)
		release(&pairs->list[i]);
	free(pairs->list);
	*pairs = (struct pm_job_pairs){0};
}
