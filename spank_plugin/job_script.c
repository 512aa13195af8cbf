/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/cleanup.h"
#include "lib/features.h"
#include "spank_plugin/command.h"
#include "spank_plugin/contexts.h"
#include "spank_plugin/node.h"
#include "spank_plugin/option.h"
#include "spank_plugin/settings.h"

#define ENV_CONSTRAINTS	 "SLURM_JOB_CONSTRAINTS"
#define ENV_TWIN	 "SPANK_" PM_ENV_MODE
#define DRAIN_TIMEOUT_MS 20000

static int append_mode(char **list, const char *name)
{
	char *longer = NULL;

	if (asprintf(&longer, "%s%s%s", *list ? *list : "", *list ? "," : "", name) < 0)
		return -ENOMEM;
	free(*list);
	*list = longer;
	return 0;
}

/* The modes that satisfy the constraint, "memory,appdirect"; NULL when none does. */
static int expected_modes(const char *constraints, char **ret, struct pm_err *err)
{
	cleanup_free char *list = NULL;
	bool allowed;
	int rc;

	pm_mode_foreach(row) {
		rc = pm_features_allow(constraints, row->mode, &allowed, err);
		if (rc)
			return rc;
		if (allowed && append_mode(&list, row->name))
			return pm_err_nomem(err);
	}
	*ret = pm_steal(list);
	return 0;
}

static int begin_job(const struct pm_config *config, const char *modes, struct pm_err *err)
{
	const char *argv[] = {config->pmctl_path, "job", "begin", "--expect", modes, NULL};

	return pm_command(argv, config->tool_timeout_s * 1000, err);
}

static void drain_node(const struct pm_config *config, const char *sentence)
{
	cleanup_free char *reason = NULL;
	struct pm_node_update update = {.config = config, .timeout_ms = DRAIN_TIMEOUT_MS};
	struct pm_err err = {0};

	if (asprintf(&reason, "pm: prolog: %s", sentence) < 0)
		reason = NULL;
	update.reason = reason ? reason : "pm: prolog";
	if (pm_node_update(&update, &err))
		slurm_error("pm: prolog: %s, leaving it to Slurm", err.text);
}

/* From here on every failure is the node's: it was chosen for a mode and must be able to tell. */
static int check_node(const char *modes, int ac, char **av)
{
	cleanup_with(pm_config_done) struct pm_config config = {0};
	struct pm_err err = {0};
	bool configured = !pm_settings_load(ac, av, &config, &err);

	if (configured && !begin_job(&config, modes, &err))
		return 0;
	slurm_error("pm: prolog: %s, draining node", err.text);
	drain_node(configured ? &config : NULL, err.text);
	return err.code;
}

/*
 * The constraint is the contract. What only the option or the variable asks for was never asked of
 * the scheduler (no pmem.lua on the controller, or the job was edited): this node did nothing
 * wrong, and the job's tasks fail by themselves when it is in another mode.
 */
static void tell_unmapped(spank_t sp)
{
	const struct pm_mode_info *mode = pm_option_mode_of_job(sp);
	const char *twin = getenv(ENV_TWIN);

	if (!mode && twin)
		mode = pm_mode_by_name(twin);
	if (mode)
		slurm_error("pm: prolog: job asks for mode %s, but its constraint does not: "
			    "is pmem.lua called by job_submit.lua on the controller?",
			mode->name);
}

int pm_job_prolog(spank_t sp, int ac, char **av)
{
	const char *constraints = getenv(ENV_CONSTRAINTS);
	cleanup_free char *modes = NULL;
	struct pm_err err = {0};

	if (!constraints || !pm_features_mention(constraints)) {
		tell_unmapped(sp);
		return 0;
	}
	if (expected_modes(constraints, &modes, &err)) {
		slurm_error("pm: prolog: %s, not checking the mode", err.text);
		return 0;
	}
	return modes ? check_node(modes, ac, av) : 0;
}
