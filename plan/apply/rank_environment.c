/* SPDX-License-Identifier: Apache-2.0 */
#include "plan/apply/rank_environment.h"

#include <stdio.h>

#include "base/cleanup.h"
#include "model/words.h"
#include "plan/apply/apply.h"
#include "plan/apply/attach.h"
#include "plan/apply/preload.h"

static int set(const struct pm_environment *environment, const char *name, const char *value,
	struct pm_err *err)
{
	return environment->set(environment->context, name, value, err);
}

static int set_number(const struct pm_environment *environment, const char *name, unsigned value,
	struct pm_err *err)
{
	char text[16];

	snprintf(text, sizeof(text), "%u", value);
	return set(environment, name, text, err);
}

static bool is_set(const struct pm_environment *environment, const char *name)
{
	cleanup_free char *value = environment->get(environment->context, name);

	return value;
}

/* The environment may have an earlier plan: of the job or of the pmrun around this one. */
static void unset_earlier(const struct pm_environment *environment)
{
	for (size_t i = 0; pm_plan_variables[i]; i++)
		environment->unset(environment->context, pm_plan_variables[i]);
}

static int set_variable(const struct pm_environment *environment,
	const struct pm_variable *variable, struct pm_err *err)
{
	if (variable->only_if_unset && is_set(environment, variable->name))
		return 0;
	return set(environment, variable->name, variable->value, err);
}

static int set_plan(const struct pm_rank_environment *from, unsigned rank,
	const struct pm_environment *environment, struct pm_err *err)
{
	struct pm_variable list[PM_PLAN_VARIABLES_MAX];
	size_t n = 0;
	int rc = pm_plan_environment(from->plan, rank, from->pmem_dirs, list, &n, err);

	unset_earlier(environment);
	for (size_t i = 0; !rc && i < n; i++)
		rc = set_variable(environment, &list[i], err);
	pm_variables_done(list, n);
	return rc;
}

static int set_preload(
	const char *runtime, const struct pm_environment *environment, struct pm_err *err)
{
	cleanup_free char *before = NULL, *list = NULL;

	if (!runtime)
		return 0;
	before = environment->get(environment->context, "LD_PRELOAD");
	list = pm_preload_prepend(runtime, before);
	return list ? set(environment, "LD_PRELOAD", list, err) : pm_err_nomem(err);
}

static int set_runtime(const struct pm_rank_environment *from,
	const struct pm_environment *environment, struct pm_err *err)
{
	int rc = set_preload(from->runtime, environment, err);

	if (!rc && from->profile)
		rc = set(environment, "PM_PROFILE", from->profile, err);
	if (!rc && from->advice)
		rc = set(environment, "PM_ADVICE", from->advice, err);
	if (!rc && from->model && *from->model)
		rc = set(environment, PM_MODEL_VARIABLE, from->model, err);
	return rc;
}

static int expect_runtime(const struct pm_rank_environment *from, unsigned rank,
	const struct pm_environment *environment, struct pm_err *err)
{
	if (from->attach_fd < 0 || pm_attach_expect(from->attach_fd, rank))
		return 0;
	return set_number(environment, PM_ATTACH_FD, (unsigned)from->attach_fd, err);
}

int pm_rank_environment_set(const struct pm_rank_environment *from, unsigned rank,
	const struct pm_environment *environment, struct pm_err *err)
{
	int rc = set_plan(from, rank, environment, err);

	if (!rc)
		rc = set_number(environment, "PM_LOCAL_RANK", rank, err);
	if (!rc)
		rc = set_number(environment, "PM_LOCAL_SIZE", from->plan->n_ranks, err);
	if (!rc)
		rc = set_runtime(from, environment, err);
	/* Last: nothing may fail once this process is expected to attach. */
	return rc ? rc : expect_runtime(from, rank, environment, err);
}
