/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "controller/permit_limits.h"

#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/asprintf.h"
#include "base/cleanup.h"
#include "controller/groups_file.h"
#include "controller/node_features.h"
#include "site/hours.h"
#include "site/job_rules.h"

#define DAY_S	     86400
#define PASSWD_BYTES 4096

/* A reboot without a job is the administrators'. So soon after its start its job may be unknown. */
#define JOB_KNOWN_S 60

struct pm_permit_rules {
	struct pm_permit_rules *next;
	char *key; /* of the jobs for which they decide */
	bool limited, may_reboot;
	uint32_t reboot_time_limit_min;
	struct pm_job_rule hours, per_day, least, most;
	struct pm_permit_limits limits; /* without what depends on the time */
};

/* --- users and groups --- */

static bool is_member(const void *groups, const char *group, const char *user)
{
	return pm_groups_have(groups, group, user);
}

static char *look_up(uint32_t uid)
{
	char space[PASSWD_BYTES];
	struct passwd entry, *found = NULL;

	(void)getpwuid_r(uid, &entry, space, sizeof(space), &found);
	return strdup(found ? found->pw_name : "");
}

static const char *name_of(struct pm_permit_site *site, uint32_t uid)
{
	struct pm_permit_user *user = site->users;

	while (user && user->uid != uid)
		user = user->next;
	if (user || !site->asks_users)
		return user ? user->name : "";
	user = calloc(1, sizeof(*user));
	if (!user)
		return "";
	*user = (struct pm_permit_user){.next = site->users, .uid = uid, .name = look_up(uid)};
	site->users = user;
	return user->name ? user->name : "";
}

/* --- the lines that decide --- */

static bool is_limited(const struct pm_permit_rules *rules)
{
	const struct pm_permit_limits *limits = &rules->limits;
	bool limited = limits->per_day || strcasecmp(rules->hours.text, "any") != 0;

	for (unsigned mode = 0; mode < PM_POLICY_MODES; mode++)
		limited = limited || limits->least[mode] || limits->most[mode];
	return limited;
}

/* One for all jobs that the line decides. */
static struct pm_permit_day *day_of(struct pm_permit_site *site, const char *origin)
{
	struct pm_permit_day *day = site->days;

	while (day && strcmp(day->origin, origin) != 0)
		day = day->next;
	if (day)
		return day;
	day = calloc(1, sizeof(*day));
	if (day) {
		*day = (struct pm_permit_day){
			.next = site->days, .origin = origin, .used = site->used_by_unknown};
		site->days = day;
	}
	return day;
}

/* Modes of the same feature are one mode of nodes: the first one gets the stricter number. */
static void join_modes(uint64_t counts[PM_POLICY_MODES], bool largest)
{
	pm_mode_foreach(row) {
		uint64_t *first = &counts[pm_mode_by_feature(row->feature)->mode];
		uint64_t own = counts[row->mode];

		if (first == &counts[row->mode] || !own)
			continue;
		if (!*first || (largest ? own > *first : own < *first))
			*first = own;
		counts[row->mode] = 0;
	}
}

/* The texts have been checked when pmem.conf was read. */
static void read_limits(struct pm_permit_site *site, struct pm_permit_rules *rules)
{
	struct pm_permit_limits *limits = &rules->limits;
	struct pm_err err = {0};

	limits->per_day = (unsigned)strtoul(rules->per_day.text, NULL, 10);
	if (limits->per_day)
		limits->day = day_of(site, rules->per_day.origin);
	(void)pm_policy_parse_counts(rules->least.text, limits->least, &err);
	(void)pm_policy_parse_counts(rules->most.text, limits->most, &err);
	join_modes(limits->least, /* largest= */ true);
	join_modes(limits->most, /* largest= */ false);
	rules->limited = is_limited(rules);
}

static void decide(
	struct pm_permit_site *site, const struct pm_rule_job *job, struct pm_permit_rules *rules)
{
	const struct pm_config *config = &site->config;
	struct pm_job_rule users = pm_job_rule_of(config, PM_KEY_REBOOT_USERS, job);
	struct pm_job_rule minutes = pm_job_rule_of(config, PM_KEY_REBOOT_TIME_LIMIT, job);

	rules->may_reboot = pm_job_rule_has_user(users.text, job);
	rules->reboot_time_limit_min = (uint32_t)strtoul(minutes.text, NULL, 10);
	rules->hours = pm_job_rule_of(config, PM_KEY_REBOOT_HOURS, job);
	rules->per_day = pm_job_rule_of(config, PM_KEY_REBOOTS_PER_DAY, job);
	rules->least = pm_job_rule_of(config, PM_KEY_LEAST_NODES, job);
	rules->most = pm_job_rule_of(config, PM_KEY_MOST_NODES, job);
	read_limits(site, rules);
}

static const char *text_of(const char *text)
{
	return text ? text : "";
}

/* NULL when out of memory. A job of several partitions has the same rules in all of them. */
static struct pm_permit_rules *rules_of(struct pm_permit_site *site, const struct pm_rule_job *job)
{
	cleanup_free char *key =
		pm_asprintf("%s\n%s\n%s\n%s\n%s", text_of(job->partition), text_of(job->account),
			text_of(job->qos), text_of(job->user), text_of(job->reservation));
	struct pm_permit_rules *rules = site->rules;

	while (key && rules && strcmp(rules->key, key) != 0)
		rules = rules->next;
	if (rules || !key)
		return rules;
	rules = calloc(1, sizeof(*rules));
	if (!rules)
		return NULL;
	decide(site, job, rules);
	rules->key = pm_steal(key);
	rules->next = site->rules;
	site->rules = rules;
	return rules;
}

/* What all jobs of a user have in common. */
static struct pm_rule_job row_of_user(struct pm_permit_site *site, uint32_t uid)
{
	return (struct pm_rule_job){
		.user = name_of(site, uid), .is_member = is_member, .context = site->groups};
}

static struct pm_permit_rules *rules_of_job(
	struct pm_permit_site *site, const slurm_job_info_t *job)
{
	cleanup_free char *partition =
		strndup(text_of(job->partition), strcspn(text_of(job->partition), ","));
	struct pm_rule_job row = row_of_user(site, job->user_id);

	row.partition = partition;
	row.account = job->account;
	row.qos = job->qos;
	row.reservation = job->resv_name;
	return partition ? rules_of(site, &row) : NULL;
}

static struct pm_permit_rules *rules_of_reboot(
	struct pm_permit_site *site, const struct pm_reboot *reboot)
{
	struct pm_rule_job row = row_of_user(site, reboot->uid);

	row.partition = reboot->partition;
	row.account = reboot->account;
	row.qos = reboot->qos;
	row.reservation = reboot->reservation;
	return rules_of(site, &row);
}

/* --- the site --- */

bool pm_permit_config_limits(const struct pm_config *config)
{
	return pm_job_rule_is_used(config, PM_KEY_REBOOT_HOURS) ||
	       pm_job_rule_is_used(config, PM_KEY_REBOOTS_PER_DAY) ||
	       pm_job_rule_is_used(config, PM_KEY_LEAST_NODES) ||
	       pm_job_rule_is_used(config, PM_KEY_MOST_NODES);
}

static bool differs_by_user(const struct pm_config *config)
{
	bool differs = pm_job_rule_is_used(config, PM_KEY_REBOOT_USERS);

	for (size_t i = 0; i < config->for_jobs.count; i++)
		differs = differs || strstr(config->for_jobs.list[i].scope, "User=");
	return differs;
}

static void forget_rules(struct pm_permit_site *site)
{
	while (site->rules) {
		struct pm_permit_rules *rules = site->rules;

		site->rules = rules->next;
		free(rules->key);
		free(rules);
	}
	while (site->days) {
		struct pm_permit_day *day = site->days;

		site->days = day->next;
		free(day);
	}
}

void pm_permit_site_set(struct pm_permit_site *site, struct pm_config *config, const char *run_dir)
{
	char *groups = pm_groups_load(run_dir);

	forget_rules(site);
	pm_config_done(&site->config);
	site->config = *config;
	*config = (struct pm_config){0};
	site->configured = true;
	site->asks_users = differs_by_user(&site->config);
	if (!groups)
		return;
	free(site->groups);
	site->groups = groups;
}

void pm_permit_site_done(struct pm_permit_site *site)
{
	forget_rules(site);
	while (site->users) {
		struct pm_permit_user *user = site->users;

		site->users = user->next;
		free(user->name);
		free(user);
	}
	pm_config_done(&site->config);
	free(site->groups);
	*site = (struct pm_permit_site){0};
}

/* --- a day --- */

static bool is_change(const struct pm_reboot *reboot, uint64_t now_s)
{
	if (reboot->start_s + DAY_S <= now_s || pm_feature_is(reboot->from, reboot->to))
		return false;
	return reboot->job_id || (!reboot->end_s && reboot->start_s + JOB_KNOWN_S > now_s);
}

void pm_permit_site_count(
	struct pm_permit_site *site, const struct pm_reboots *reboots, uint64_t now_s)
{
	site->used_by_unknown = 0;
	for (size_t i = 0; i < reboots->n; i++)
		site->used_by_unknown +=
			is_change(&reboots->list[i], now_s) && !reboots->list[i].partition;
	for (struct pm_permit_day *day = site->days; day; day = day->next)
		day->used = site->used_by_unknown;
	for (size_t i = 0; i < reboots->n; i++) {
		const struct pm_reboot *reboot = &reboots->list[i];
		const struct pm_permit_rules *rules;

		if (!reboot->partition || !is_change(reboot, now_s))
			continue;
		rules = rules_of_reboot(site, reboot);
		if (rules && rules->limits.day)
			rules->limits.day->used++;
	}
}

/* --- a job --- */

static bool is_long_enough(const slurm_job_info_t *job, uint32_t least_min)
{
	return job->time_limit == INFINITE || job->time_limit == NO_VAL ||
	       job->time_limit >= least_min;
}

static bool is_open(const char *hours, uint64_t now_s)
{
	time_t now = (time_t)now_s;
	struct tm local;

	return localtime_r(&now, &local) && pm_hours_have(hours, &local);
}

bool pm_permit_limits_of(struct pm_permit_site *site, const slurm_job_info_t *job, uint64_t now_s,
	unsigned ahead_s, struct pm_permit_limits *ret)
{
	const struct pm_permit_rules *rules = rules_of_job(site, job);

	*ret = (struct pm_permit_limits){0}; /* out of memory: no reboot */
	if (!rules)
		return true;
	*ret = rules->limits;
	ret->may_reboot = rules->may_reboot && is_long_enough(job, rules->reboot_time_limit_min);
	ret->is_open =
		is_open(rules->hours.text, now_s) && is_open(rules->hours.text, now_s + ahead_s);
	return rules->limited;
}

/* --- sentences --- */

static char *explain_hours(const struct pm_permit_rules *rules, const char *mode, uint64_t now_s)
{
	time_t next = pm_hours_next(rules->hours.text, (time_t)now_s);
	char text[32] = "the next ones";
	struct tm local;

	if (next && localtime_r(&next, &local))
		(void)strftime(text, sizeof(text), "%F %R", &local);
	return pm_asprintf("No node is rebooted for the job before %s (RebootHours=%s, %s); nodes "
			   "in mode %s it gets at any time.",
		text, rules->hours.text, rules->hours.origin, mode);
}

char *pm_permit_site_explain(struct pm_permit_site *site, const slurm_job_info_t *job,
	enum pm_permit why, uint64_t now_s)
{
	const struct pm_permit_rules *rules = rules_of_job(site, job);
	const char *mode = pm_mode_name_of_feature(pm_job_feature(job));

	if (!rules)
		return NULL;
	switch (why) {
	case PM_PERMIT_HOURS:
		return explain_hours(rules, mode, now_s);
	case PM_PERMIT_DAY:
		return pm_asprintf("The reboots of nodes for such jobs in 24 hours are used up or "
				   "too few for this one: %u of %u (RebootsPerDay, %s); nodes in "
				   "mode %s it gets at any time.",
			rules->limits.day ? rules->limits.day->used : 0, rules->limits.per_day,
			rules->per_day.origin, mode);
	case PM_PERMIT_MOST:
		return pm_asprintf("No more nodes may be in mode %s (MostNodes=%s, %s).", mode,
			rules->most.text, rules->most.origin);
	case PM_PERMIT_LEAST:
		return pm_asprintf("Too few nodes can be taken from other modes (LeastNodes=%s, "
				   "%s); nodes in mode %s the job gets at any time.",
			rules->least.text, rules->least.origin, mode);
	case PM_PERMIT_BEHIND:
		return pm_asprintf("Nodes are rebooted for jobs with a higher priority first.");
	default:
		return pm_asprintf("RebootUsers or RebootTimeLimit of pmem.conf lets no node be "
				   "rebooted for the job; nodes in mode %s it gets at any time.",
			mode);
	}
}
