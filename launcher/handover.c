/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "launcher/handover.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "plan/apply/apply.h"
#include "plan/apply/attach.h"
#include "plan/apply/preload.h"

static int set(const char *name, const char *value, struct pm_err *err)
{
	return setenv(name, value, 1) ? pm_err_sys(err, -errno, "set %s", name) : 0;
}

static int set_number(const char *name, unsigned value, struct pm_err *err)
{
	char text[16];

	snprintf(text, sizeof(text), "%u", value);
	return set(name, text, err);
}

static int set_variable(const struct pm_variable *variable, struct pm_err *err)
{
	if (variable->only_if_unset && getenv(variable->name))
		return 0;
	return set(variable->name, variable->value, err);
}

/* A plan made for another: of the job or the pmrun that we were started in. */
static void unset_stale(void)
{
	for (size_t i = 0; pm_plan_variables[i]; i++)
		(void)unsetenv(pm_plan_variables[i]);
}

static int set_plan(const struct pm_handover *handover, unsigned rank, struct pm_err *err)
{
	struct pm_variable variables[PM_PLAN_VARIABLES_MAX];
	size_t n = 0;
	int rc = pm_plan_environment(handover->plan, rank, handover->places, variables, &n, err);

	unset_stale();
	for (size_t i = 0; !rc && i < n; i++)
		rc = set_variable(&variables[i], err);
	pm_variables_done(variables, n);
	return rc;
}

static int set_preload(const char *runtime, struct pm_err *err)
{
	cleanup_free char *list = NULL;

	if (!runtime)
		return 0;
	list = pm_preload_prepend(runtime, getenv("LD_PRELOAD"));
	return list ? set("LD_PRELOAD", list, err) : pm_err_nomem(err);
}

static int set_runtime(const struct pm_handover *handover, struct pm_err *err)
{
	int rc = set_preload(handover->runtime, err);

	if (!rc && handover->profile)
		rc = set("PM_PROFILE", handover->profile, err);
	if (!rc && handover->advice)
		rc = set("PM_ADVICE", handover->advice, err);
	return rc;
}

static int expect_runtime(const struct pm_handover *handover, unsigned rank, struct pm_err *err)
{
	if (handover->attach_fd < 0 || pm_attach_expect(handover->attach_fd, rank))
		return 0;
	return set_number(PM_ATTACH_FD, (unsigned)handover->attach_fd, err);
}

int pm_handover(const struct pm_handover *handover, unsigned rank, struct pm_err *err)
{
	int rc = pm_plan_apply(handover->plan, rank, PM_APPLY_ALL, err);

	if (!rc)
		rc = set_plan(handover, rank, err);
	if (!rc)
		rc = set_number("PM_LOCAL_RANK", rank, err);
	if (!rc)
		rc = set_number("PM_LOCAL_SIZE", handover->plan->n_ranks, err);
	if (!rc)
		rc = set_runtime(handover, err);
	if (!rc)
		rc = expect_runtime(handover, rank, err);
	if (rc)
		return rc;
	(void)execvp(handover->file, handover->words);
	rc = pm_err_sys(err, -errno, "execute '%.200s'", handover->file);
	if (handover->attach_fd >= 0)
		pm_attach_forget(handover->attach_fd, rank);
	return rc;
}
