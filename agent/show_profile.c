/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include <string.h>
#include <time.h>

#include "agent/show.h"
#include "site/rank_model.h"

#define DAY_S (24 * 60 * 60)

/* Whole days since "2026-01-31T12:34:56.789Z"; -1: not such a date, or one to come. */
static long long age_days(const char *date)
{
	struct tm measured = {0};
	double seconds;

	if (!strptime(date, "%Y-%m-%dT%H:%M:%S", &measured))
		return -1;
	seconds = difftime(time(NULL), timegm(&measured));
	return seconds < 0 ? -1 : (long long)(seconds / DAY_S);
}

static void add_profile(const struct pm_site_profile *profile, json_object *root)
{
	json_object *one = pm_json_add_object(root, "site_profile");

	pm_json_add_string(one, "class", profile->class);
	pm_json_add_string(one, "date", profile->date);
	pm_json_add_string(one, "host", profile->host);
	pm_json_add_string(one, "reference", profile->reference);
	pm_json_add_bool(one, "is_virtual", profile->is_virtual);
	if (age_days(profile->date) >= 0)
		pm_json_add_u64(one, "age_days", (uint64_t)age_days(profile->date));
}

void pm_show_site_profile(const struct pm_agent *agent, json_object *root)
{
	const struct pm_config *config = &agent->op.config;
	struct pm_site_profile profile;
	struct pm_err err;

	if (!strcmp(config->site_profile, "none"))
		return;
	if (pm_site_profile_load_class(
		    config->site_profile, config->site_profile_dir, &profile, &err)) {
		pm_show_unseen(root, "site profile", err.text);
		return;
	}
	add_profile(&profile, root);
	pm_site_profile_done(&profile);
}
