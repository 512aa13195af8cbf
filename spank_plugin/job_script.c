/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "lib/cleanup.h"
#include "lib/features.h"
#include "lib/jobview.h"
#include "spank_plugin/active.h"
#include "spank_plugin/contexts.h"
#include "spank_plugin/node.h"
#include "spank_plugin/option.h"
#include "spank_plugin/prepare.h"
#include "spank_plugin/reachable.h"
#include "spank_plugin/settings.h"

#define ENV_CONSTRAINTS	    "SLURM_JOB_CONSTRAINTS"
#define SCONTROL_TIMEOUT_MS 20000

static void drain_node(const struct pm_config *config, const char *where, const char *sentence)
{
	cleanup_free char *reason = NULL;
	struct pm_node_update update = {.config = config, .timeout_ms = SCONTROL_TIMEOUT_MS};
	struct pm_err err = {0};

	slurm_error("pm: %s: %s, draining node", where, sentence);
	if (asprintf(&reason, "pm: %s: %s", where, sentence) < 0)
		reason = NULL;
	update.reason = reason ? reason : "pm";
	if (pm_node_update(&update, &err))
		slurm_error("pm: %s: %s, leaving it to Slurm", where, err.text);
}

static void tell_reachable(const struct pm_config *config, const char *where)
{
	struct pm_err err = {0};

	if (pm_reachable_tell(config, SCONTROL_TIMEOUT_MS, &err))
		slurm_error("pm: %s: %s", where, err.text);
}

/* From Slurm itself: nothing in these a user could have written. */
static int identify(spank_t sp, struct pm_prepare *prepare, struct pm_err *err)
{
	if (spank_get_item(sp, S_JOB_ID, &prepare->job_id) != ESPANK_SUCCESS ||
		spank_get_item(sp, S_JOB_UID, &prepare->uid) != ESPANK_SUCCESS ||
		spank_get_item(sp, S_JOB_GID, &prepare->gid) != ESPANK_SUCCESS)
		return pm_err_set(err, -EINVAL, "Slurm does not say whose job this is");
	return 0;
}

/*
 * What pmctl could not do is the node's fault: it was chosen for a mode and must be able to tell.
 * Not so where somebody's data is in the way of the mode: the node keeps serving what it can, and
 * only this job goes away. (It was chosen between slurmd's registration and pm-reachable; up to
 * Slurm 23.11 slurmd then reboots the node for nothing.)
 */
static int serve(const struct pm_prepare *prepare)
{
	struct pm_err err = {0}, other = {0};

	if (!pm_prepare_begin(prepare, &err))
		return 0;
	if (pm_reachable_any(prepare->config, prepare->expect->modes, SCONTROL_TIMEOUT_MS)) {
		drain_node(prepare->config, "prolog", err.text);
		return err.code;
	}
	slurm_error("pm: prolog: %s, which something here is in the way of", err.text);
	/* Else the controller, which takes the mode for active, would send the job here again. */
	if (pm_active_tell(prepare->config, SCONTROL_TIMEOUT_MS, &other))
		slurm_error("pm: prolog: %s", other.text);
	return pm_prepare_turn_away(prepare, err.text);
}

/* Was something made for the job here, or begun to be made? */
static bool left_something(const struct pm_config *config, uint32_t job_id)
{
	cleanup_free char *view = pm_jobview_path(config->run_dir, job_id), *record = NULL;

	if (asprintf(&record, "%s/jobs/%u.json", config->state_dir, (unsigned)job_id) < 0)
		record = NULL;
	return !view || !record || !access(view, F_OK) || !access(record, F_OK);
}

static void end(const struct pm_prepare *prepare, const char *where)
{
	cleanup_free char *reason = NULL;
	struct pm_err err = {0}, failed = {0};

	switch (pm_prepare_end(prepare, &err)) {
	case PM_ENDING_DONE:
		return;
	case PM_ENDING_FAULT:
		drain_node(prepare->config, where, err.text);
		return;
	case PM_ENDING_REBOOT:
		slurm_error("pm: %s: %s, rebooting node", where, err.text);
		if (asprintf(&reason, "pm: %s: %s", where, err.text) < 0)
			reason = NULL;
		if (pm_node_reboot(
			    prepare->config, reason ? reason : "pm", SCONTROL_TIMEOUT_MS, &failed))
			drain_node(prepare->config, where, failed.text);
	}
}

/*
 * A requeued job comes without the mode that it had, and its epilog did not run here: its tasks
 * would find what the earlier run was given.
 */
static int end_earlier_run(spank_t sp, const struct pm_config *config)
{
	struct pm_prepare prepare = {.config = config};
	struct pm_err err = {0};

	if (identify(sp, &prepare, &err) || !left_something(config, prepare.job_id))
		return 0;
	end(&prepare, "prolog");
	return left_something(config, prepare.job_id) ? -EBUSY : 0;
}

/* A constraint that cannot be read was never ours. */
static int read_and_serve(spank_t sp, const char *constraints, const struct pm_config *config)
{
	cleanup_with(pm_expect_done) struct pm_expect expect = {0};
	struct pm_prepare prepare = {.config = config, .expect = &expect};
	struct pm_err err = {0};

	if (pm_expect_read(sp, constraints, config, &expect, &err)) {
		slurm_error("pm: prolog: %s, not checking the mode", err.text);
		return 0;
	}
	if (!expect.modes)
		return end_earlier_run(sp, config);
	if (identify(sp, &prepare, &err)) {
		drain_node(config, "prolog", err.text);
		return err.code;
	}
	return serve(&prepare);
}

/*
 * The constraint is the contract. What only the option or the variable asks for was never asked of
 * the scheduler (no pmem.lua on the controller, or the job was edited): this node did nothing
 * wrong, and the job's tasks fail by themselves when it is in another mode.
 */
static void tell_unmapped(spank_t sp)
{
	const struct pm_mode_info *mode = pm_mode_by_name(pm_option_of_job(sp, PM_OPTION_MODE));

	if (!mode)
		mode = pm_mode_by_name(pm_option_twin_of_job(PM_OPTION_MODE));
	if (mode)
		slurm_error("pm: prolog: job asks for mode %s, but its constraint does not: "
			    "is pmem.lua called by job_submit.lua on the controller?",
			mode->name);
}

int pm_job_prolog(spank_t sp, int ac, char **av)
{
	const char *constraints = getenv(ENV_CONSTRAINTS);
	cleanup_with(pm_config_done) struct pm_config config = {0};
	struct pm_err err = {0};
	int rc;

	if (!constraints || !pm_features_mention(constraints)) {
		tell_unmapped(sp);
		return pm_settings_load(ac, av, &config, &err) ? 0 : end_earlier_run(sp, &config);
	}
	if (pm_settings_load(ac, av, &config, &err)) {
		drain_node(NULL, "prolog", err.text);
		return err.code;
	}
	rc = read_and_serve(sp, constraints, &config);
	tell_reachable(&config, "prolog");
	return rc;
}

/* Never fails: Slurm would drain the node without the reason. */
int pm_job_epilog(spank_t sp, int ac, char **av)
{
	cleanup_with(pm_config_done) struct pm_config config = {0};
	struct pm_prepare prepare = {.config = &config};
	struct pm_err err = {0};

	if (identify(sp, &prepare, &err) || pm_settings_load(ac, av, &config, &err)) {
		slurm_error("pm: epilog: %s, not looking for what the job left", err.text);
		return 0;
	}
	if (!left_something(&config, prepare.job_id))
		return 0;
	end(&prepare, "epilog");
	tell_reachable(&config, "epilog");
	return 0;
}
