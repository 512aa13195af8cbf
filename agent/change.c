/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/change.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "agent/signals.h"
#include "agent/state.h"
#include "agent/tools.h"
#include "lib/cleanup.h"
#include "lib/goal.h"
#include "lib/strv.h"

/* All that a change looks at and carries along. */
struct change {
	const struct pm_agent *agent;
	const struct pm_config *config;
	const struct pm_mode_info *mode;
	bool dry_run;
	int lock_fd;
	struct pm_journal journal;
	struct pm_evidence evidence;
	struct pm_verdict verdict;
	struct pm_goals pending;
	struct pm_goal_request request;
};

static void change_done(struct change *change)
{
	pm_journal_done(&change->journal);
	pm_evidence_done(&change->evidence);
	pm_goals_done(&change->pending);
	if (change->lock_fd >= 0)
		close(change->lock_fd);
}

static const char *boot_id(const struct change *change)
{
	return change->evidence.kernel.boot_id;
}

static int step(
	struct change *change, enum pm_journal_state state, const char *text, struct pm_err *err)
{
	return pm_state_step(change->agent, &change->journal, state, boot_id(change), text, err);
}

static int look(struct change *change, struct pm_err *err)
{
	int rc = pm_state_read_journal(change->config, &change->journal, err);

	if (!rc)
		rc = pm_tool_evidence(change->config, &change->evidence, err);
	if (!rc)
		rc = pm_tool_goals(change->config, &change->pending, err);
	if (rc)
		return rc;
	pm_evidence_decide(&change->evidence, &change->verdict);
	pm_goal_request(change->mode, change->config, &change->request);
	return 0;
}

/* Is there a goal, or a change in the journal, that is not ours to replace? */
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
	       !pm_goal_compare(&change->request, &change->evidence.dimms, &change->pending, NULL);
}

/* A crash between the goal and the journal left the intent: the goal itself says it is complete. */
static int confirm_staged(struct change *change, struct pm_err *err)
{
	if (change->journal.state != PM_JOURNAL_INTENT || change->dry_run)
		return 0;
	return step(change, PM_JOURNAL_STAGED, "goal found complete after an interruption", err);
}

/* Takes back what an earlier set of this boot has left. */
static int withdraw(struct change *change, struct pm_err *err)
{
	int rc;

	if (change->dry_run) {
		pm_say(change->agent, "would withdraw the goal %s of this boot",
			pm_mode_name(change->journal.mode));
		return 0;
	}
	rc = change->pending.n ? pm_tool_delete_goal(change->config, err) : 0;
	if (rc)
		return pm_err_prefix(
			err, "withdraw the goal %s", pm_mode_name(change->journal.mode));
	pm_say(change->agent, "goal %s of this boot is withdrawn",
		pm_mode_name(change->journal.mode));
	return step(change, PM_JOURNAL_UNDONE, "withdrawn for another change", err);
}

static int refuse_version(const struct change *change, struct pm_err *err)
{
	struct pm_ipmctl_version version;
	int rc = pm_tool_version(change->config, &version, err);

	if (rc || !pm_strv_contains(change->config->bad_ipmctl_versions, version.text))
		return rc;
	return pm_err_set(err, -EPERM,
		"ipmctl %s is one of BadIpmctlVersions: it loses goals; install another",
		version.text);
}

static int refuse_namespaces(const struct change *change, struct pm_err *err)
{
	cleanup_with(pm_namespaces_done) struct pm_namespaces found = {0};
	int rc = pm_tool_namespaces(change->config, &found, err);

	if (rc || !found.n)
		return rc;
	return pm_err_set(err, -EPERM,
		"there are %zu namespaces, the first is %s%s%s%s (%llu bytes); save what is in "
		"them, then remove them with 'ndctl destroy-namespace -f %s'",
		found.n, found.list[0].dev, *found.list[0].name ? " named '" : "",
		found.list[0].name, *found.list[0].name ? "'" : "",
		(unsigned long long)found.list[0].size_bytes, found.list[0].dev);
}

static int admit(const struct change *change, struct pm_err *err)
{
	int rc = pm_goal_admit_dimms(&change->evidence.dimms, err);

	if (!rc)
		rc = pm_goal_admit_mode(change->mode->mode, &change->evidence.capabilities, err);
	if (!rc)
		rc = refuse_version(change, err);
	if (!rc)
		rc = refuse_namespaces(change, err);
	if (!rc)
		rc = pm_tool_try_goal(change->config, &change->request, err);
	return rc;
}

static int write_goal(struct change *change, struct pm_err *err)
{
	cleanup_with(pm_goals_done) struct pm_goals goals = {0};
	int rc = pm_tool_create_goal(change->config, &change->request, err);

	if (!rc)
		rc = pm_tool_goals(change->config, &goals, err);
	if (!rc)
		rc = pm_goal_compare(&change->request, &change->evidence.dimms, &goals, err);
	if (!rc)
		rc = step(change, PM_JOURNAL_STAGED, "goal written and read back", err);
	return rc;
}

/* After a failure, whose text stays in front: no goal may be left, and the journal says so. */
static void roll_back(struct change *change, struct pm_err *err)
{
	struct pm_err first = *err, second;
	int rc = pm_tool_delete_goal(change->config, &second);

	if (!rc) {
		pm_err_set(err, first.code, "%.800s; goal deleted, the mode stays %s", first.text,
			pm_platform_name(change->verdict.platform));
		rc = step(change, PM_JOURNAL_UNDONE, err->text, &second);
	} else {
		pm_err_set(err, first.code, "%.450s; and the goal could not be deleted: %.450s",
			first.text, second.text);
		rc = step(change, PM_JOURNAL_FAILED, err->text, &second);
	}
	if (rc)
		pm_warn(change->agent, "%s", second.text);
}

static int stage(struct change *change, struct pm_err *err)
{
	sigset_t before;
	int rc;

	pm_signals_hold(&before);
	rc = pm_journal_begin(
		&change->journal, change->mode->mode, change->verdict.mode, boot_id(change), err);
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

static int report_plan(const struct change *change)
{
	const struct pm_goal_request *request = &change->request;

	pm_say(change->agent,
		"would run '%s create -u B -o nvmxml -goal %s%s%s%s%s' on %zu modules, then "
		"wait for a reboot",
		change->config->ipmctl_path, request->words[0], request->n_words > 1 ? " " : "",
		request->words[1], request->n_words > 2 ? " " : "", request->words[2],
		change->evidence.dimms.n);
	return 0;
}

/* Clears the way in the journal; *ret_done: nothing is left to do. */
static int settle(struct change *change, bool *ret_done, struct pm_err *err)
{
	int rc = refuse_foreign(change, err);

	*ret_done = false;
	if (rc)
		return rc;
	if (is_staged(change)) {
		*ret_done = true;
		pm_say(change->agent, "goal %s is staged already, reboot to apply it",
			change->mode->name);
		return confirm_staged(change, err);
	}
	if (pm_journal_is_open(&change->journal))
		rc = withdraw(change, err);
	if (!rc && change->verdict.platform == change->mode->platform) {
		*ret_done = true;
		pm_say(change->agent, "node is in %s already",
			pm_platform_name(change->verdict.platform));
	}
	return rc;
}

static int run(struct change *change, struct pm_err *err)
{
	bool done = false;
	int rc = look(change, err);

	if (!rc)
		rc = settle(change, &done, err);
	if (rc || done)
		return rc;
	rc = admit(change, err);
	if (rc)
		return rc;
	if (change->dry_run)
		return report_plan(change);
	rc = stage(change, err);
	if (!rc)
		pm_say(change->agent, "goal %s is staged on %zu modules, reboot to apply it",
			change->mode->name, change->evidence.dimms.n);
	return rc;
}

int pm_change_stage(const struct pm_agent *agent, const struct pm_mode_info *mode, bool dry_run,
	struct pm_err *err)
{
	cleanup_with(change_done) struct change change = {
		.agent = agent,
		.config = &agent->config,
		.mode = mode,
		.dry_run = dry_run,
		.lock_fd = -1,
	};
	cleanup_free char *allowed = pm_config_mode_names(&agent->config);
	int rc;

	if (!pm_config_allows(&agent->config, mode->mode))
		return pm_err_set(err, -EPERM, "mode '%s' is not one of this node's Modes=: %s",
			mode->name, allowed ? allowed : "");
	rc = pm_state_lock(agent, &change.lock_fd, err);
	if (!rc)
		rc = run(&change, err);
	return rc ? pm_err_prefix(err, "set %s", mode->name) : 0;
}
