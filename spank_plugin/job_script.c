/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/asprintf.h"
#include "base/cleanup.h"
#include "node/state/idle.h"
#include "node/state/jobview.h"
#include "site/features.h"
#include "spank_plugin/active.h"
#include "spank_plugin/allocation.h"
#include "spank_plugin/command.h"
#include "spank_plugin/contexts.h"
#include "spank_plugin/node.h"
#include "spank_plugin/option.h"
#include "spank_plugin/prepare.h"
#include "spank_plugin/prolog_mark.h"
#include "spank_plugin/reachable.h"
#include "spank_plugin/reboot.h"
#include "spank_plugin/settings.h"

#define ENV_CONSTRAINTS	    "SLURM_JOB_CONSTRAINTS"
#define SCONTROL_TIMEOUT_MS 20000
#define MODE_TIMEOUT_MS	    10000

/* False: the node is not drained. */
static bool drain_node(const struct pm_config *config, const char *where, const char *sentence)
{
	cleanup_free char *reason = pm_asprintf("pm: %s: %s", where, sentence);
	struct pm_node_update update = {.config = config,
		.timeout_ms = SCONTROL_TIMEOUT_MS,
		.reason = reason ? reason : "pm"};
	struct pm_err err = {0};

	if (pm_node_is_drained_by_others(config, SCONTROL_TIMEOUT_MS)) {
		slurm_error("pm: %s: %s, somebody has drained this node", where, sentence);
		return true;
	}
	slurm_error("pm: %s: %s, draining node", where, sentence);
	if (!pm_node_update(&update, &err))
		return true;
	slurm_error("pm: %s: %s, leaving it to Slurm", where, err.text);
	return false;
}

/*
 * The prolog fails only if the node is not drained or the job may still start. After a failed
 * prolog slurmd 22.05 reports the failure, and asks slurmctld to requeue or cancel the job. It
 * repeats both every 15 s until slurmctld does so (_rpc_prolog() in req.c). For a job that is over
 * it repeats them until slurmd ends: a node that an administrator has resumed is drained again, and
 * a cancelled batch job comes back.
 */
static int give_up(const struct pm_prepare *prepare, const char *sentence)
{
	bool is_drained = drain_node(prepare->config, "prolog", sentence);

	return pm_prepare_withdraw(prepare, sentence) || !is_drained ? -EIO : 0;
}

/* The kernel does not give the flat memory of an earlier job back: the job runs elsewhere. */
static int restart(const struct pm_prepare *prepare, const char *sentence)
{
	struct pm_err failed = {0};

	slurm_error("pm: prolog: %s, rebooting node", sentence);
	if (pm_reboot_order(prepare->config, sentence, SCONTROL_TIMEOUT_MS, &failed))
		return give_up(prepare, failed.text);
	return pm_prepare_withdraw(prepare, sentence);
}

static void report_reachable(const struct pm_config *config, const char *where)
{
	struct pm_err err = {0};

	if (pm_reachable_report(config, SCONTROL_TIMEOUT_MS, &err))
		slurm_error("pm: %s: %s", where, err.text);
}

/* Ids from Slurm itself; a user cannot write these. */
static int identify(spank_t sp, struct pm_prepare *prepare, struct pm_err *err)
{
	if (spank_get_item(sp, S_JOB_ID, &prepare->job_id) != ESPANK_SUCCESS ||
		spank_get_item(sp, S_JOB_UID, &prepare->uid) != ESPANK_SUCCESS ||
		spank_get_item(sp, S_JOB_GID, &prepare->gid) != ESPANK_SUCCESS)
		return pm_err_set(err, -EINVAL, "Slurm does not give the job's ID, user and group");
	return 0;
}

static bool says_no(const struct pm_config *config, const char *const *words)
{
	const char *argv[] = {config->pmctl_path, words[0], words[1], words[2], NULL};

	return pm_command(argv, SCONTROL_TIMEOUT_MS, NULL) == PM_COMMAND_SAID_NO;
}

/*
 * True if the node has booted since the job was submitted or requeued, or in that second: where a
 * job was suspended, no machine boots, and it takes a second until slurmd tells of a boot.
 * Slurm's times sort as text. False if one of them is not known.
 */
static bool has_booted_since(const struct pm_config *config, uint32_t job_id)
{
	cleanup_with(pm_node_known_done) struct pm_node_known known = {0};
	struct pm_allocation allocation;

	return !pm_node_ask(config, SCONTROL_TIMEOUT_MS, &known, NULL) &&
	       !pm_allocation_ask(config, job_id, SCONTROL_TIMEOUT_MS, &allocation, NULL) &&
	       strcmp(known.booted, allocation.submitted) >= 0;
}

/*
 * True if the node has booted for this job and is sound, but is not in the job's mode: the goal was
 * not staged, or was withdrawn because the power was cut before, or an administrator's reboot came
 * first.
 */
static bool has_missed_change(const struct pm_prepare *prepare)
{
	const char *const health[] = {"health", NULL, NULL};
	cleanup_free char *argument = pm_asprintf("--expect=%s", prepare->requirement->modes);
	const char *mode[] = {"job", "begin", argument};

	return argument && says_no(prepare->config, mode) && !says_no(prepare->config, health) &&
	       has_booted_since(prepare->config, prepare->job_id);
}

/*
 * True if the failure is not the node's fault. Up to 23.11 slurmd reboots a node even if the helper
 * refused the change.
 */
static bool is_not_at_fault(const struct pm_prepare *prepare)
{
	return !pm_reachable_any(
		       prepare->config, prepare->requirement->modes, SCONTROL_TIMEOUT_MS) ||
	       has_missed_change(prepare);
}

/*
 * A failure of pmctl is the node's fault, as the node was chosen for the mode: it is drained. There
 * are two exceptions. Data may be in the way of the mode, if slurmctld chose the node between
 * slurmd's registration and pm-reachable's report. Or the node's reboot was not the one that the
 * job waited for. Then only this job is rejected, and the node stays in service.
 */
static int serve(const struct pm_prepare *prepare)
{
	struct pm_err err = {0}, other = {0};

	int rc = pm_prepare_begin(prepare, &err);

	if (!rc)
		return 0;
	if (rc == -ERESTART)
		return restart(prepare, err.text);
	if (!is_not_at_fault(prepare))
		return give_up(prepare, err.text);
	slurm_error("pm: prolog: %s, turning the job away", err.text);
	/*
	 * Before the requeue: slurmctld has the mode as active and would send the job here again.
	 */
	if (pm_active_report(prepare->config, SCONTROL_TIMEOUT_MS, &other))
		slurm_error("pm: prolog: %s", other.text);
	return pm_prepare_reject(prepare, err.text);
}

/* True if the node has a job record or a job view of the job. */
static bool left_something(const struct pm_config *config, uint32_t job_id)
{
	cleanup_free char *view = pm_jobview_path(config->run_dir, job_id);
	cleanup_free char *record = pm_job_record_path(config->state_dir, job_id);

	return !view || !record || !access(view, F_OK) || !access(record, F_OK);
}

static void end(const struct pm_prepare *prepare, const char *where)
{
	struct pm_err err = {0}, failed = {0};

	switch (pm_prepare_end(prepare, &err)) {
	case PM_ENDING_DONE:
		return;
	case PM_ENDING_FAULT:
		(void)drain_node(prepare->config, where, err.text);
		return;
	case PM_ENDING_REBOOT:
		slurm_error("pm: %s: %s, rebooting node", where, err.text);
		if (pm_reboot_order(prepare->config, err.text, SCONTROL_TIMEOUT_MS, &failed))
			(void)drain_node(prepare->config, where, failed.text);
	}
}

/*
 * Ends an earlier run of the job that had no epilog here. A job that is requeued without its mode
 * would else find that run's allotments.
 */
static int end_earlier_run(const struct pm_prepare *prepare)
{
	if (!left_something(prepare->config, prepare->job_id))
		return 0;
	end(prepare, "prolog");
	return left_something(prepare->config, prepare->job_id) ? -EBUSY : 0;
}

/*
 * Marks the job; an error is only logged. A job with a mode but without a mark counts as lost if it
 * is in its prolog 20 s after slurmd's start (recheck.h): it is requeued or cancelled. If a job has
 * neither mode nor mark, Slurm is asked for its mode at its first step (skipped_prolog.h).
 */
static void mark(const struct pm_prepare *prepare)
{
	struct pm_err err = {0};

	if (pm_prolog_mark(prepare->config, prepare->job_id, &err))
		slurm_error("pm: prolog: %s", err.text);
}

/* A job that did not ask for flat memory must not see that of the job before. */
static int make_way(const struct pm_prepare *prepare)
{
	struct pm_err err = {0};

	if (!pm_idle_is_online(prepare->config))
		return 0;
	switch (pm_prepare_make_way(prepare, &err)) {
	case PM_ENDING_DONE:
		return 0;
	case PM_ENDING_REBOOT:
		return restart(prepare, err.text);
	default:
		return give_up(prepare, err.text);
	}
}

/* Without the configuration RunDir is taken to be the default. */
static int check_default_mark(const struct pm_err *why)
{
	struct pm_config config = {
		.run_dir = (char *)pm_key_info(PM_KEY_RUN_DIR)->value, .fs_root = (char *)"/"};

	if (!pm_idle_is_online(&config))
		return 0;
	(void)drain_node(NULL, "prolog", why->text);
	return -EIO;
}

/*
 * A broken configuration does not stop a job without a mode, unless idle flat memory is to be taken
 * back.
 */
static int end_without_mode(spank_t sp, int ac, char **av)
{
	int rc;

	cleanup_with(pm_config_done) struct pm_config config = {0};
	struct pm_prepare prepare = {.config = &config};
	struct pm_err err = {0};

	if (pm_settings_load(ac, av, &config, &err))
		return check_default_mark(&err);
	if (identify(sp, &prepare, &err))
		return 0;
	mark(&prepare);
	rc = end_earlier_run(&prepare);
	return rc ? rc : make_way(&prepare);
}

/*
 * For a mistake of the job: its tasks fail with the sentence. If the view cannot be written the
 * node is drained.
 */
static int fail_tasks(const struct pm_prepare *prepare, const char *sentence)
{
	struct pm_err err = {0};

	slurm_info("pm: prolog: job %u: %s", (unsigned)prepare->job_id, sentence);
	if (!pm_prepare_fail_tasks(prepare, sentence, &err))
		return 0;
	(void)drain_node(prepare->config, "prolog", err.text);
	return err.code;
}

/*
 * Serves a job with a mode in option or variable but not in its constraint, so that slurmctld did
 * not choose the node for it (no pmem.lua on the controller, or the job was edited). The node is
 * not at fault: the job runs if the node is in that mode, else its tasks fail.
 */
static int serve_unmapped(const struct pm_prepare *prepare, const struct pm_mode_info *wanted)
{
	const char *argv[] = {prepare->config->pmctl_path, "mode", NULL};
	cleanup_free char *is = NULL;
	struct pm_err err = {0}, refusal = {0};

	slurm_error("pm: prolog: job asks for mode %s, but its constraint does not: "
		    "is pmem.lua called by job_submit.lua on the controller?",
		wanted->name);
	if (pm_command_read(argv, MODE_TIMEOUT_MS, &is, &err))
		return fail_tasks(prepare, err.text);
	if (!strcmp(is, wanted->name))
		return 0;
	pm_err_set(&refusal, -EPERM,
		"job asks for mode %s, but its constraint does not: this node is in mode %.64s, "
		"the task does not run",
		wanted->name, is);
	return fail_tasks(prepare, refusal.text);
}

static int read_and_serve(spank_t sp, const char *constraints, const struct pm_config *config)
{
	cleanup_with(pm_requirement_done) struct pm_requirement requirement = {0};
	struct pm_prepare prepare = {.config = config, .requirement = &requirement};
	struct pm_err err = {0};
	int rc;

	if (identify(sp, &prepare, &err)) {
		(void)drain_node(config, "prolog", err.text);
		return err.code;
	}
	mark(&prepare);
	if (pm_requirement_read(sp, constraints, config, &requirement, &err))
		return fail_tasks(&prepare, err.text);
	if (requirement.modes)
		return serve(&prepare);
	rc = end_earlier_run(&prepare);
	if (!rc)
		rc = make_way(&prepare);
	return !rc && requirement.recorded ? serve_unmapped(&prepare, requirement.recorded) : rc;
}

int pm_job_prolog(spank_t sp, int ac, char **av)
{
	const char *constraints = getenv(ENV_CONSTRAINTS);
	cleanup_with(pm_config_done) struct pm_config config = {0};
	struct pm_err err = {0};
	int rc;

	if (!pm_features_may_be_ours(constraints) && !pm_option_mode_of_job(sp))
		return end_without_mode(sp, ac, av);
	if (pm_settings_load(ac, av, &config, &err)) {
		(void)drain_node(NULL, "prolog", err.text);
		return err.code;
	}
	rc = read_and_serve(sp, constraints, &config);
	report_reachable(&config, "prolog");
	return rc;
}

/* Always 0: Slurm would drain the node with its own reason. */
int pm_job_epilog(spank_t sp, int ac, char **av)
{
	cleanup_with(pm_config_done) struct pm_config config = {0};
	struct pm_prepare prepare = {.config = &config};
	struct pm_err err = {0};

	if (identify(sp, &prepare, &err) || pm_settings_load(ac, av, &config, &err)) {
		slurm_error("pm: epilog: %s, not looking for remains of the job", err.text);
		return 0;
	}
	pm_prolog_unmark(&config, prepare.job_id);
	if (!left_something(&config, prepare.job_id))
		return 0;
	end(&prepare, "epilog");
	report_reachable(&config, "epilog");
	return 0;
}
