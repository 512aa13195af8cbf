/* SPDX-License-Identifier: Apache-2.0 */
#include "spank_plugin/option.h"

#include <errno.h>
#include <stdio.h>

#include "lib/cleanup.h"

#define USAGE "[pm] run on nodes whose persistent memory is in this mode: %s"

static const struct pm_mode_info *given;

static int take_mode(int val, const char *name, int remote)
{
	struct pm_err err = {0};

	(void)val;
	(void)remote;
	if (pm_option_parse("--" PM_OPTION_MODE, name, &given, &err))
		slurm_error("pm: %s", err.text);
	return err.code;
}

static struct spank_option mode_option(char *usage)
{
	return (struct spank_option){
		.name = PM_OPTION_MODE,
		.arginfo = "MODE",
		.usage = usage,
		.has_arg = 1,
		.cb = take_mode,
	};
}

int pm_option_register(spank_t sp)
{
	cleanup_free char *names = pm_mode_names();
	cleanup_free char *usage = NULL;
	struct spank_option option;

	if (!names || asprintf(&usage, USAGE, names) < 0) {
		usage = NULL;
		slurm_error("pm: register '--%s': out of memory", PM_OPTION_MODE);
		return -ENOMEM;
	}
	option = mode_option(usage);
	if (spank_option_register(sp, &option) != ESPANK_SUCCESS) {
		slurm_error("pm: register '--%s': refused by Slurm", PM_OPTION_MODE);
		return -EINVAL;
	}
	return 0;
}

const struct pm_mode_info *pm_option_mode(void)
{
	return given;
}

const struct pm_mode_info *pm_option_mode_of_job(spank_t sp)
{
	struct spank_option option = mode_option("");
	char *name = NULL;

	if (spank_option_getopt(sp, &option, &name) != ESPANK_SUCCESS || !name)
		return NULL;
	return pm_mode_by_name(name);
}

int pm_option_parse(
	const char *source, const char *name, const struct pm_mode_info **ret, struct pm_err *err)
{
	const struct pm_mode_info *row = name ? pm_mode_by_name(name) : NULL;
	cleanup_free char *names = NULL;

	if (row) {
		*ret = row;
		return 0;
	}
	names = pm_mode_names();
	return pm_err_set(err, -EINVAL, "%s: unknown mode '%.64s', valid modes are %s", source,
		name ? name : "", names ? names : "(out of memory)");
}
