/* SPDX-License-Identifier: Apache-2.0 */
#include "node/act/recover_goal.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/signals.h"
#include "node/tools/tools.h"

__attribute__((format(printf, 3, 4))) static void conclude(
	struct pm_recovery *recovery, enum pm_outcome outcome, const char *fmt, ...)
{
	va_list args;

	recovery->outcome = outcome;
	va_start(args, fmt);
	vsnprintf(recovery->text, sizeof(recovery->text), fmt, args);
	va_end(args);
}

/* "node is in appdirect", or why that is unknown. */
static void describe_node(const struct pm_verdict *verdict, char *ret, size_t size)
{
	if (verdict->platform)
		snprintf(ret, size, "node is in %s", pm_platform_name(verdict->platform));
	else
		snprintf(ret, size, "the node's mode is unknown: %.300s", verdict->why);
}

/* Adds the cure of a change that failed. */
static void add_cure(
	const struct pm_journal *journal, const struct pm_verdict *verdict, struct pm_recovery *ret)
{
	size_t used = strlen(ret->text);

	if (ret->outcome != PM_OUTCOME_FAILED)
		return;
	snprintf(ret->text + used, sizeof(ret->text) - used,
		"; 'pmctl set %s' and a reboot try again%s", pm_mode_name(journal->mode),
		verdict->platform ? ", 'pmctl health --clear' leaves it at that" : "");
}

/* The firmware has not read the goal: no later boot may apply it. */
static void judge_pending(const struct pm_operation *op, const struct pm_journal *journal,
	const char *node, struct pm_recovery *ret)
{
	const char *mode = pm_mode_name(journal->mode);
	struct pm_err err;
	sigset_t before;
	int rc;

	pm_signals_hold(&before);
	rc = pm_tool_delete_goal(&op->config, &err);
	pm_signals_release(&before);
	if (rc)
		conclude(ret, PM_OUTCOME_FAILED,
			"goal %s was not applied at reboot (still pending) and could not be "
			"deleted: %.350s; %.300s",
			mode, err.text, node);
	else
		conclude(ret, PM_OUTCOME_FAILED,
			"goal %s was not applied at reboot (still pending), goal deleted; %s", mode,
			node);
}

static void judge_other_mode(const struct pm_journal *journal, const struct pm_dimms *dimms,
	const char *node, struct pm_recovery *ret)
{
	const char *mode = pm_mode_name(journal->mode);
	char ids[200], status[64];

	if (pm_dimms_with_status(dimms, "Failed", ids, sizeof(ids), status))
		conclude(ret, PM_OUTCOME_FAILED,
			"goal %s was rejected by the firmware on %s (ConfigurationStatus '%s'); %s",
			mode, ids, status, node);
	else if (journal->state == PM_JOURNAL_INTENT)
		conclude(ret, PM_OUTCOME_UNDONE,
			"the change to %s was interrupted before its goal was written; %s", mode,
			node);
	else
		conclude(ret, PM_OUTCOME_FAILED, "goal %s was not applied at reboot; %s", mode,
			node);
}

/* False if the platform mode has other percentages than pmem.conf. */
static bool is_met(const struct pm_operation *op, const struct pm_journal *journal,
	const struct pm_evidence *evidence)
{
	struct pm_goal_request request;

	pm_goal_request(
		pm_mode_info(journal->mode), &op->config, &evidence->capabilities, &request);
	return pm_goal_is_met(&request, &evidence->dimms);
}

static void judge_wanted_mode(const struct pm_operation *op, const struct pm_journal *journal,
	const struct pm_evidence *evidence, struct pm_recovery *ret)
{
	const char *platform = pm_platform_name(pm_mode_platform(journal->mode));
	const struct pm_dimm *dimm;

	if (pm_dimms_not_valid(&evidence->dimms, &dimm))
		conclude(ret, PM_OUTCOME_FAILED,
			"node is in %s, but module %s has ConfigurationStatus '%s'", platform,
			dimm->id, dimm->config_status);
	else if (!is_met(op, journal, evidence))
		conclude(ret, PM_OUTCOME_FAILED,
			"node is in %s, but not at the percentages of pmem.conf", platform);
	else
		conclude(ret, PM_OUTCOME_DONE, "node is in %s, as it was asked", platform);
}

static enum pm_journal_state state_of(enum pm_outcome outcome)
{
	switch (outcome) {
	case PM_OUTCOME_DONE:
		return PM_JOURNAL_DONE;
	case PM_OUTCOME_UNDONE:
		return PM_JOURNAL_UNDONE;
	default:
		return PM_JOURNAL_FAILED;
	}
}

static int judge(const struct pm_operation *op, const struct pm_journal *journal,
	const struct pm_evidence *evidence, const struct pm_verdict *verdict,
	struct pm_recovery *ret, struct pm_err *err)
{
	cleanup_with(pm_goals_done) struct pm_goals pending = {0};
	char node[400];
	int rc = pm_tool_goals(&op->config, &pending, err);

	if (rc)
		return rc;
	describe_node(verdict, node, sizeof(node));
	if (pending.n)
		judge_pending(op, journal, node, ret);
	else if (verdict->platform == pm_mode_platform(journal->mode))
		judge_wanted_mode(op, journal, evidence, ret);
	else
		judge_other_mode(journal, &evidence->dimms, node, ret);
	add_cure(journal, verdict, ret);
	return 0;
}

int pm_recover_goal(const struct pm_operation *op, struct pm_journal *journal,
	const struct pm_evidence *evidence, const struct pm_verdict *verdict,
	struct pm_recovery *ret, struct pm_err *err)
{
	struct pm_recovery recovery = {.outcome = PM_OUTCOME_NOTHING};
	const char *boot_id = evidence->kernel.boot_id;
	int rc;

	if (!pm_journal_is_open(journal)) {
		*ret = recovery;
		return 0;
	}
	if (!strcmp(journal->boot_id, boot_id)) {
		conclude(ret, PM_OUTCOME_WAITS, "goal %s waits for a reboot",
			pm_mode_name(journal->mode));
		return 0;
	}
	rc = judge(op, journal, evidence, verdict, &recovery, err);
	if (!rc)
		rc = pm_state_step(
			op, journal, state_of(recovery.outcome), boot_id, recovery.text, err);
	if (!rc)
		*ret = recovery;
	return rc;
}
