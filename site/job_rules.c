/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "site/job_rules.h"

#include <string.h>

#include "base/cleanup.h"
#include "base/strv.h"

/* "*" is any name; a job without one does not meet it. */
static bool has(char *const *names, const char *name)
{
	return name && *name && (pm_strv_contains(names, name) || pm_strv_contains(names, "*"));
}

static bool has_user(char *const *names, const struct pm_rule_job *job)
{
	if (has(names, job->user))
		return true;
	for (; *names && job->is_member && job->user; names++)
		if (**names == '@' && job->is_member(job->context, *names + 1, job->user))
			return true;
	return false;
}

static bool has_all(char *const *names, const char *reservations)
{
	cleanup_with(pm_strv_cleanup) char **asked =
		pm_strv_split(reservations ? reservations : "", ",");
	bool all = asked && *asked;

	for (char **name = asked; name && *name; name++)
		all = all && has(names, *name);
	return all;
}

/* One condition of a line, "Account=physics,chem". */
static bool is_met(const char *condition, const struct pm_rule_job *job)
{
	const char *list = strchr(condition, '=');
	cleanup_with(pm_strv_cleanup) char **names = list ? pm_strv_split(list + 1, ",") : NULL;

	if (!names)
		return false;
	switch (*condition) { /* their first letters differ */
	case 'P':
		return job->partition && pm_strv_contains(names, job->partition);
	case 'A':
		return has(names, job->account);
	case 'Q':
		return has(names, job->qos);
	case 'U':
		return has_user(names, job);
	case 'R':
		return has_all(names, job->reservation);
	default:
		return false;
	}
}

static bool holds(const struct pm_job_pair *pair, const struct pm_rule_job *job)
{
	cleanup_with(pm_strv_cleanup) char **conditions = pm_strv_split(pair->scope, " ");
	bool all = conditions != NULL;

	for (char **condition = conditions; condition && *condition; condition++)
		all = all && is_met(*condition, job);
	return all;
}

struct pm_job_rule pm_job_rule_of(
	const struct pm_config *config, enum pm_key key, const struct pm_rule_job *job)
{
	const struct pm_job_pair *list = config->for_jobs.list;

	for (size_t i = config->for_jobs.count; i-- > 0;)
		if (list[i].key == (int)key && holds(&list[i], job))
			return (struct pm_job_rule){list[i].text, list[i].origin};
	return (struct pm_job_rule){config->text[key], config->origin[key]};
}

bool pm_job_rule_is_used(const struct pm_config *config, enum pm_key key)
{
	const char *value = pm_key_info(key)->value;

	for (size_t i = 0; i < config->for_jobs.count; i++)
		if (config->for_jobs.list[i].key == (int)key &&
			strcmp(config->for_jobs.list[i].text, value) != 0)
			return true;
	return strcmp(config->text[key], value) != 0;
}

bool pm_job_rule_has_user(const char *list, const struct pm_rule_job *job)
{
	cleanup_with(pm_strv_cleanup) char **names = pm_strv_split(list, ",");

	return names && (!strcmp(list, "*") || has_user(names, job));
}
