/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include <errno.h>
#include <string.h>

#include "base/cleanup.h"
#include "launcher/launch.h"
#include "plan/show.h"

struct pm_plan_view pm_launch_view(const struct pm_launch *launch)
{
	return (struct pm_plan_view){.plan = launch->plan,
		.topology = launch->topology,
		.request = &launch->request,
		.site_profile = launch->profile.n_sockets ? launch->profile.class : NULL};
}

static int draw(const struct pm_plan_view *view, const char *path, struct pm_err *err)
{
	FILE *file = strcmp(path, "-") ? fopen(path, "we") : stdout;
	int rc;

	if (!file)
		return pm_err_sys(err, -errno, "--svg: open '%.200s'", path);
	rc = pm_plan_print_svg(view, file);
	if (fflush(file) && !rc)
		rc = -errno;
	if (file != stdout)
		(void)fclose(file);
	return rc ? pm_err_sys(err, rc, "--svg: write '%.200s'", path) : 0;
}

static int print_json(const struct pm_plan_view *view, struct pm_err *err)
{
	cleanup_free char *text = pm_plan_json(view);

	if (!text)
		return pm_err_nomem(err);
	fputs(text, stdout);
	return 0;
}

int pm_launch_show(const struct pm_launch *launch, struct pm_err *err)
{
	const struct pm_run_given *given = launch->given;
	const struct pm_plan_view view = pm_launch_view(launch);
	int rc = 0;

	if (pm_run_has(given, PM_RUN_SVG))
		rc = draw(&view, given->value[PM_RUN_SVG], err);
	if (!rc && pm_run_has(given, PM_RUN_JSON))
		return print_json(&view, err);
	if (!rc && pm_run_has(given, PM_RUN_PLAN) && pm_plan_print_table(&view, stdout))
		return pm_err_nomem(err);
	return rc;
}
