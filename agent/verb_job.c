/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdio.h>

#include "agent/observe.h"
#include "lib/cleanup.h"
#include "lib/strv.h"

/* Is each of the names a mode? Complains like any wrong usage. */
static bool are_modes(char *const *names)
{
	cleanup_free char *all = pm_mode_names();

	for (size_t i = 0; names[i]; i++) {
		if (pm_mode_by_name(names[i]))
			continue;
		fprintf(stderr, "pmctl: job begin: unknown mode '%s' in --expect, modes are: %s\n",
			names[i], all ? all : "");
		return false;
	}
	if (!names[0])
		fprintf(stderr, "pmctl: job begin: --expect names no mode\n");
	return names[0] != NULL;
}

static int check(const struct pm_agent *agent, char *const *names, struct pm_err *err)
{
	struct pm_observation seen;
	const struct pm_verdict *verdict = &seen.record.verdict;
	int rc = pm_observe(&agent->config, /* fresh= */ false, &seen, err);

	if (rc)
		return pm_err_prefix(
			err, "job expects %s, the node's mode cannot be read", agent->expect);
	if (pm_strv_contains(names, pm_mode_name(verdict->mode)))
		return 0;
	return pm_err_set(err, -ENODEV, "job expects %s, node is in %s (%s)", agent->expect,
		pm_mode_name(verdict->mode), verdict->why);
}

int pm_verb_job_begin(struct pm_agent *agent)
{
	cleanup_with(pm_strv_cleanup) char **names = NULL;
	struct pm_err err;

	if (!agent->expect) {
		fprintf(stderr, "pmctl: job begin: --expect=MODE is missing\n");
		return PM_EXIT_USAGE;
	}
	names = pm_strv_split(agent->expect, ",");
	if (!names || !are_modes(names))
		return PM_EXIT_USAGE;
	if (!check(agent, names, &err))
		return PM_EXIT_DONE;
	pm_fail(agent, &err);
	return PM_EXIT_FAILED;
}
