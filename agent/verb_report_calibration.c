/* SPDX-License-Identifier: Apache-2.0 */
/* Checks site profiles and has pmreport report on them: tables and pages are its work. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/pmctl.h"
#include "agent/pmreport.h"
#include "base/asprintf.h"
#include "base/cleanup.h"
#include "base/strv.h"
#include "site/rank_model.h"

#define SUFFIX	".json"
#define FIXED	2 /* arguments before the options: pmreport calibration */
#define OPTIONS 3

static bool is_file(const char *word)
{
	size_t length = strlen(word), suffix = strlen(SUFFIX);

	return strchr(word, '/') || (length > suffix && !strcmp(word + length - suffix, SUFFIX));
}

/* A path from the present directory, so that none begins with '-'; or that of a class. */
static char *path_of(const struct pm_agent *agent, const char *word)
{
	if (is_file(word))
		return pm_asprintf("%s%s", *word == '/' ? "" : "./", word);
	return pm_asprintf("%s/%s%s", agent->op.config.site_profile_dir, word, SUFFIX);
}

static int check_profile(const struct pm_agent *agent, const char *word, struct pm_err *err)
{
	cleanup_with(pm_site_profile_done) struct pm_site_profile profile = {0};

	return is_file(word) ? pm_site_profile_load(word, &profile, err)
			     : pm_site_profile_load_class(
				       word, agent->op.config.site_profile_dir, &profile, err);
}

static int check_profiles(const struct pm_agent *agent, struct pm_err *err)
{
	int rc = 0;

	for (int i = 0; !rc && i < agent->n_words; i++)
		rc = check_profile(agent, agent->words[i], err);
	return rc;
}

/* Adds a string, which may be NULL when out of memory; the list has room and is zeroed. */
static bool add(char **list, char *text)
{
	list[pm_strv_length(list)] = text;
	return text;
}

static char **arguments(const struct pm_agent *agent)
{
	char **list = calloc((size_t)agent->n_words + FIXED + OPTIONS + 1, sizeof(*list));
	bool is_whole = list && add(list, strdup("pmreport")) && add(list, strdup("calibration"));

	if (is_whole && agent->output)
		is_whole = add(list, pm_asprintf("--html=%s", agent->output));
	if (is_whole && agent->given & PM_OPT_JSON)
		is_whole = add(list, strdup("--json"));
	if (is_whole && agent->given & PM_OPT_CSV)
		is_whole = add(list, strdup("--csv"));
	for (int i = 0; is_whole && i < agent->n_words; i++)
		is_whole = add(list, path_of(agent, agent->words[i]));
	if (is_whole)
		return list;
	pm_strv_free(list);
	return NULL;
}

int pm_verb_report_calibration(struct pm_agent *agent)
{
	cleanup_with(pm_strv_cleanup) char **list = NULL;
	struct pm_err err = {0};
	int rc = check_profiles(agent, &err);

	if (!rc) {
		list = arguments(agent);
		rc = list ? pm_run_pmreport(list, &err) : pm_err_nomem(&err);
	}
	return pm_finish(agent, rc, &err);
}
