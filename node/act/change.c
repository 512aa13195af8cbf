/* SPDX-License-Identifier: Apache-2.0 */
#include "node/act/change.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/signals.h"
#include "node/act/check_goal.h"
#include "node/act/recover.h"
#include "node/act/substate.h"
#include "node/dry_run.h"
#include "node/see/evidence_read.h"
#include "node/see/observe.h"
#include "node/state/state.h"
#include "node/tools/goal.h"
#include "node/tools/tools.h"

/* The state of one change. */
struct change {
	const struct pm_operation *op;
	const struct pm_config *config;
	const struct pm_mode_info *mode;
	bool dry_run, for_job;
	int lock_fd;
	struct pm_journal journal;
	struct pm_record seen;
	struct pm_dimms dimms;
	struct pm_goals pending;
	struct pm_goal_request request;
	struct pm_dry_run tried; /* the answer of ipmctl to the request, not written */
};

static void change_done(struct change *change)
{
	pm_journal_done(&change->journal);
	pm_dimms_done(&change->dimms);
	pm_goals_done(&change->pending);
	if (change->lock_fd >= 0)
		close(change->lock_fd);
}

static const char *boot_id(const struct change *change)
{
	return change->seen.kernel.boot_id;
}

static int step(
	struct change *change, enum pm_journal_state state, const char *text, struct pm_err *err)
{
	return pm_state_step(change->op, &change->journal, state, boot_id(change), text, err);
}

static int look_afresh(struct change *change, struct pm_err *err)
{
	cleanup_with(pm_evidence_done) struct pm_evidence evidence = {0};
	int rc = pm_evidence_read(change->config, &evidence, err);

	if (rc)
		return rc;
	pm_evidence_decide(&evidence, &change->seen.verdict);
	change->seen.kernel = evidence.kernel;
	change->seen.capabilities = evidence.capabilities;
	change->dimms = evidence.dimms;
	evidence.dimms = (struct pm_dimms){0};
	return 0;
}

/* The platform mode stays as it is until the next boot, the modules' health does not. */
static int look_at_node(struct change *change, struct pm_err *err)
{
	if (pm_observe_record(change->config, &change->seen, NULL))
		return look_afresh(change, err);
	return pm_tool_dimms(change->config, &change->dimms, err);
}

static int look(struct change *change, struct pm_err *err)
{
	int rc = pm_state_read_journal(change->config, &change->journal, err);

	if (!rc)
		rc = look_at_node(change, err);
	if (!rc)
		rc = pm_tool_goals(change->config, &change->pending, err);
	if (!rc)
		pm_goal_request(
			change->mode, change->config, &change->seen.capabilities, &change->request);
	return rc;
}

/* Refuses to replace a goal that pmctl did not set, and a change of an earlier boot. */
static int refuse_foreign(const struct change *change, struct pm_err *err)
{
	bool is_open = pm_journal_is_open(&change->journal);

	if (is_open && strcmp(change->journal.boot_id, boot_id(change)))
		return pm_err_set(err, -EBUSY,
			"a change to %s from before this boot is not verified; run 'pmctl verify' "
			"first",
			pm_mode_name(change->journal.mode));
	if (change->pending.n && !is_open)
		return pm_err_set(err, -EBUSY,
			"a goal that pmctl did not set is pending on module %s and %zu more; "
			"delete it with 'ipmctl delete -goal' or reboot",
			change->pending.list[0].dimm, change->pending.n - 1);
	return 0;
}

static bool is_staged(const struct change *change)
{
	return change->pending.n && pm_journal_is_open(&change->journal) &&
	       pm_mode_platform(change->journal.mode) == change->mode->platform &&
	       !pm_goal_compare(&change->request, &change->dimms, &change->pending,
		       /* limited= */ NULL, NULL);
}

/*
 * A crash between the goal and the journal leaves the state INTENT, although the goal is complete.
 * A goal that was staged for a job belongs to an administrator, or to another job, from now on.
 */
static int confirm_staged(struct change *change, struct pm_err *err)
{
	bool is_complete = change->journal.state != PM_JOURNAL_INTENT;

	if (change->dry_run || (is_complete && !change->journal.for_job))
		return 0;
	pm_journal_order(&change->journal, change->journal.for_job && change->for_job);
	return step(change, PM_JOURNAL_STAGED,
		is_complete ? "ordered again" : "goal found complete after an interruption", err);
}

static int report_withdrawal(const struct change *change)
{
	cleanup_free char *line = pm_tool_delete_line(change->config);

	pm_report(change->op,
		"would withdraw the goal %s of this boot:", pm_mode_name(change->journal.mode));
	pm_dry_run_step(change->op, line, /* loss= */ NULL);
	return 0;
}

/* Deletes the goal that an earlier change of this boot has left. */
static int withdraw(struct change *change, struct pm_err *err)
{
	int rc;

	if (change->dry_run)
		return report_withdrawal(change);
	rc = change->pending.n ? pm_tool_delete_goal(change->config, err) : 0;
	if (rc)
		return pm_err_prefix(
			err, "withdraw the goal %s", pm_mode_name(change->journal.mode));
	pm_report(change->op, "goal %s of this boot is withdrawn",
		pm_mode_name(change->journal.mode));
	return step(change, PM_JOURNAL_UNDONE, "withdrawn for another change", err);
}

/*
 * Slurm orders a change only while no job is on the node; an administrator may do it at any time.
 */
static int refuse_jobs(const struct change *change, enum pm_substate wanted, struct pm_err *err)
{
	return change->for_job ? 0 : pm_recover_check_jobs(change->op, wanted, err);
}

static int reach(const struct change *change, enum pm_substate wanted, struct pm_err *err)
{
	int rc = refuse_jobs(change, wanted, err);

	return rc ? rc : pm_substate_reach(change->op, wanted, change->dry_run, err);
}

/*
 * Removes own namespaces from the regions. Fails before anything is done if a namespace is foreign
 * or pinned.
 */
static int clear_regions(const struct change *change, struct pm_err *err)
{
	int rc = refuse_jobs(change, PM_SUBSTATE_EMPTY, err);

	if (!rc)
		rc = pm_substate_vacate(change->op, change->dry_run, err);
	return rc || change->dry_run ? rc
				     : pm_check_empty(change->config, &change->seen.kernel, err);
}

/* False if ipmctl would refuse: a dry run neither removes namespaces nor withdraws a goal. */
static bool can_try(const struct change *change)
{
	if (!change->dry_run)
		return true;
	return !change->pending.n && !pm_check_empty(change->config, &change->seen.kernel, NULL);
}

static int try_goal(struct change *change, struct pm_err *err)
{
	int rc;

	if (!can_try(change))
		return 0;
	rc = pm_tool_try_goal(change->config, &change->request, &change->tried, err);
	if (!rc && *change->tried.warnings)
		pm_warn(change->op, "ipmctl: %s", change->tried.warnings);
	return rc;
}

static int check(struct change *change, struct pm_err *err)
{
	int rc = pm_check_goal(
		change->config, &change->request, &change->seen.capabilities, &change->dimms, err);

	if (!rc)
		rc = clear_regions(change, err);
	return rc ? rc : try_goal(change, err);
}

static int write_goal(struct change *change, struct pm_err *err)
{
	cleanup_with(pm_goals_done) struct pm_goals goals = {0};
	int rc = pm_tool_create_goal(change->config, &change->request, err);

	if (!rc)
		rc = pm_tool_goals(change->config, &goals, err);
	if (!rc)
		rc = pm_goal_compare(
			&change->request, &change->dimms, &goals, change->tried.limited, err);
	if (!rc)
		rc = step(change, PM_JOURNAL_STAGED, "goal written and read back", err);
	return rc;
}

/*
 * Deletes the goal after a failure and writes that into the journal; the first failure stays in
 * front of the message.
 */
static void roll_back(struct change *change, struct pm_err *err)
{
	struct pm_err first = *err, second;
	int rc = pm_tool_delete_goal(change->config, &second);

	if (!rc) {
		pm_err_set(err, first.code, "%.800s; goal deleted, the mode stays %s", first.text,
			pm_platform_name(change->seen.verdict.platform));
		rc = step(change, PM_JOURNAL_UNDONE, err->text, &second);
	} else {
		pm_err_set(err, first.code, "%.450s; and the goal could not be deleted: %.450s",
			first.text, second.text);
		rc = step(change, PM_JOURNAL_FAILED, err->text, &second);
	}
	if (rc)
		pm_warn(change->op, "%s", second.text);
}

static int stage(struct change *change, struct pm_err *err)
{
	sigset_t before;
	int rc;

	pm_signals_hold(&before);
	rc = pm_journal_begin(&change->journal, change->mode->mode, change->seen.verdict.mode,
		boot_id(change), err);
	pm_journal_order(&change->journal, change->for_job);
	if (!rc)
		rc = pm_state_write_journal(change->config, &change->journal, err);
	if (!rc) {
		rc = write_goal(change, err);
		if (rc)
			roll_back(change, err);
	}
	pm_signals_release(&before);
	return rc;
}

static void report_goal(const struct change *change)
{
	cleanup_free char *line = pm_tool_goal_line(change->config, &change->request);
	char loss[160];

	snprintf(loss, sizeof(loss),
		"the labels of %zu modules at once and, at the next reboot, all bytes on their App "
		"Direct regions",
		change->dimms.n);
	pm_dry_run_step(change->op, line, loss);
	pm_dry_run_reboot(change->op);
}

/* The platform mode is right, at the percentages that pmem.conf has now. */
static bool is_there(const struct change *change)
{
	return change->seen.verdict.platform == change->mode->platform &&
	       pm_goal_is_met(&change->request, &change->dimms);
}

static int reach_substate(const struct change *change, struct pm_err *err)
{
	const struct pm_mode_info *mode = change->mode;
	int rc = 0;

	if (pm_platform_has_regions(mode->platform))
		rc = reach(change, mode->substate, err);
	if (!rc)
		pm_report(change->op, "node is in %s already", pm_platform_name(mode->platform));
	return rc;
}

/*
 * The kernel does not know of a goal, so namespaces may have been made since it was staged: check
 * again.
 */
static int keep_staged(struct change *change, struct pm_err *err)
{
	int rc = clear_regions(change, err);

	if (rc && !change->dry_run)
		roll_back(change, err);
	if (rc)
		return rc;
	pm_report(change->op, "goal %s is staged already, reboot to apply it", change->mode->name);
	pm_dry_run_reboot(change->op);
	return confirm_staged(change, err);
}

/* Deals with an open change in the journal. *ret_done: nothing is left to do. */
static int clear_journal(struct change *change, bool *ret_done, struct pm_err *err)
{
	int rc = refuse_foreign(change, err);

	*ret_done = false;
	if (rc)
		return rc;
	if (is_staged(change)) {
		*ret_done = true;
		return keep_staged(change, err);
	}
	if (pm_journal_is_open(&change->journal))
		rc = withdraw(change, err);
	if (!rc && is_there(change)) {
		*ret_done = true;
		rc = reach_substate(change, err);
	}
	return rc;
}

static int run(struct change *change, struct pm_err *err)
{
	bool done = false;
	int rc = look(change, err);

	if (!rc)
		rc = clear_journal(change, &done, err);
	if (rc || done)
		return rc;
	rc = check(change, err);
	if (rc)
		return rc;
	if (change->dry_run) {
		report_goal(change);
		return 0;
	}
	rc = stage(change, err);
	if (!rc)
		pm_report(change->op, "goal %s is staged on %zu modules, reboot to apply it",
			change->mode->name, change->dimms.n);
	return rc;
}

int pm_change_stage(const struct pm_operation *op, const struct pm_mode_info *mode, unsigned flags,
	struct pm_err *err)
{
	cleanup_with(change_done) struct change change = {
		.op = op,
		.config = &op->config,
		.mode = mode,
		.dry_run = flags & PM_CHANGE_DRY_RUN,
		.for_job = flags & PM_CHANGE_FOR_JOB,
		.lock_fd = -1,
	};
	cleanup_free char *allowed = pm_config_mode_names(&op->config);
	int rc;

	if (mode->substate == PM_SUBSTATE_FLAT && !op->config.provision)
		return pm_err_set(err, -EOPNOTSUPP,
			"set %s: Provision=no in pmem.conf: pmctl makes no flat memory on this "
			"node",
			mode->name);
	if (!pm_config_allows(&op->config, mode->mode))
		return pm_err_set(err, -EPERM, "mode '%s' is not one of this node's Modes=: %s",
			mode->name, allowed ? allowed : "");
	/* The kernel may be giving idle flat memory back. */
	rc = change.for_job
		     ? pm_state_lock_within(op, op->config.offline_timeout_s, &change.lock_fd, err)
		     : pm_state_lock(op, &change.lock_fd, err);
	if (!rc)
		rc = run(&change, err);
	return rc ? pm_err_prefix(err, "set %s", mode->name) : 0;
}
