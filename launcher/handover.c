/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "launcher/handover.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "plan/apply/apply.h"
#include "plan/apply/attach.h"
#include "site/rank_model.h"

static char *get(void *context, const char *name)
{
	const char *value = getenv(name);

	(void)context;
	return value ? strdup(value) : NULL;
}

static int set(void *context, const char *name, const char *value, struct pm_err *err)
{
	(void)context;
	return setenv(name, value, 1) ? pm_err_sys(err, -errno, "set %s", name) : 0;
}

static void unset(void *context, const char *name)
{
	(void)context;
	(void)unsetenv(name);
}

static const struct pm_environment own = {.get = get, .set = set, .unset = unset};

int pm_handover(const struct pm_handover *handover, unsigned rank, struct pm_err *err)
{
	struct pm_rank_environment environment = handover->environment;
	char model[PM_MODEL_TEXT_MAX];
	int rc = pm_plan_apply(environment.plan, rank, PM_APPLY_ALL, err);

	environment.model = model;
	if (!rc)
		rc = pm_rank_model_format(
			handover->profile, handover->topology, environment.plan, rank, model, err);
	if (!rc)
		rc = pm_rank_environment_set(&environment, rank, &own, err);
	if (rc)
		return rc;
	(void)execvp(handover->file, handover->words);
	rc = pm_err_sys(err, -errno, "execute '%.200s'", handover->file);
	if (environment.attach_fd >= 0)
		pm_attach_forget(environment.attach_fd, rank);
	return rc;
}
