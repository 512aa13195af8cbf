/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/pmctl.h"
#include "agent/print.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "node/act/recover.h"
#include "node/act/recover_goal.h"
#include "node/see/evidence_read.h"
#include "node/tools/tools.h"

/* The kernel's drivers may not be done so early in the boot. */
#define KERNEL_WAIT_MS 10000
#define KERNEL_STEP_MS 200

static int wait_for_kernel(const struct pm_config *config, struct pm_evidence *evidence,
	struct pm_verdict *verdict, struct pm_err *err)
{
	int rc = 0;

	for (unsigned ms = 0; !rc && verdict->waits && ms < KERNEL_WAIT_MS; ms += KERNEL_STEP_MS) {
		pm_pause_ms(KERNEL_STEP_MS);
		rc = pm_kernel_read(config->fs_root, &evidence->kernel, err);
		if (!rc)
			pm_evidence_decide(evidence, verdict);
	}
	return rc;
}

static int look(const struct pm_config *config, struct pm_evidence *evidence,
	struct pm_verdict *verdict, struct pm_err *err)
{
	int rc = pm_evidence_read(config, evidence, err);

	if (!rc && evidence->resources.appdirect_pmem_bytes)
		rc = pm_tool_regions(config, &evidence->regions, err);
	if (rc)
		return rc;
	pm_evidence_decide(evidence, verdict);
	return wait_for_kernel(config, evidence, verdict, err);
}

static void print_json(
	const struct pm_recovery *recovery, const struct pm_verdict *verdict, int status)
{
	static const char *const outcomes[] = {
		[PM_OUTCOME_NOTHING] = "nothing",
		[PM_OUTCOME_WAITS] = "waits",
		[PM_OUTCOME_DONE] = "done",
		[PM_OUTCOME_UNDONE] = "undone",
		[PM_OUTCOME_FAILED] = "failed",
	};
	json_object *root = json_object_new_object();

	pm_json_add_bool(root, "ok", !status);
	pm_json_add_string(root, "mode", pm_mode_name(verdict->mode));
	pm_json_add_string(root, "platform", pm_platform_name(verdict->platform));
	pm_json_add_string(root, "why", verdict->why);
	pm_json_add_string(root, "change", outcomes[recovery->outcome]);
	pm_json_add_string(root, "text", recovery->text);
	pm_print_json(root);
}

static int report(const struct pm_agent *agent, const struct pm_recovery *recovery,
	const struct pm_verdict *verdict)
{
	int status = PM_EXIT_DONE;

	if (recovery->outcome == PM_OUTCOME_FAILED) {
		pm_warn(&agent->op, "%s", recovery->text);
		status = PM_EXIT_FAILED;
	} else if (recovery->outcome != PM_OUTCOME_NOTHING) {
		pm_report(&agent->op, "%s", recovery->text);
	}
	if (!verdict->platform) {
		pm_warn(&agent->op, "the node's mode is unknown: %s", verdict->why);
		status = PM_EXIT_FAILED;
	} else if (recovery->outcome != PM_OUTCOME_DONE) {
		pm_report(&agent->op, "node is in %s (%s)", pm_platform_name(verdict->platform),
			verdict->why);
	}
	if (agent->given & PM_OPT_JSON)
		print_json(recovery, verdict, status);
	return status;
}

static int recover(const struct pm_agent *agent, const struct pm_evidence *evidence,
	const struct pm_verdict *verdict, struct pm_recovery *ret, struct pm_err *err)
{
	cleanup_with(pm_journal_done) struct pm_journal journal = {0};
	int rc = pm_state_read_journal(&agent->op.config, &journal, err);

	return rc ? rc : pm_recover_goal(&agent->op, &journal, evidence, verdict, ret, err);
}

/* Removes the rest of jobs from before the boot. None of them is alive. */
static int tidy(const struct pm_agent *agent, int status)
{
	struct pm_err err;

	if (!pm_recover(&agent->op, /* dry_run= */ false, &err))
		return status;
	pm_warn(&agent->op, "%s", err.text);
	return PM_EXIT_FAILED;
}

/* Writes the roster, only in a boot with a known mode. */
static void learn_modules(const struct pm_agent *agent, const struct pm_evidence *evidence,
	const struct pm_verdict *verdict)
{
	struct pm_err err;

	if (!verdict->platform || pm_roster_equals(&evidence->roster, &evidence->dimms))
		return;
	if (pm_state_write_roster(&agent->op.config, &evidence->dimms, &err))
		pm_warn(&agent->op, "%s", err.text);
}

/* The mode record does not depend on the journal: users ask for the mode, not for its history. */
int pm_verb_verify(struct pm_agent *agent)
{
	cleanup_with(pm_evidence_done) struct pm_evidence evidence = {0};
	struct pm_recovery recovery = {.outcome = PM_OUTCOME_NOTHING};
	struct pm_record record = {0};
	cleanup_close int lock_fd = -1;
	struct pm_err err, journal_err;
	int rc;

	if (pm_state_lock(&agent->op, &lock_fd, &err))
		return pm_fail(agent, &err);
	if (look(&agent->op.config, &evidence, &record.verdict, &err)) {
		pm_state_drop_record(&agent->op.config);
		return pm_fail(agent, &err);
	}
	rc = recover(agent, &evidence, &record.verdict, &recovery, &journal_err);
	record.kernel = evidence.kernel;
	record.capabilities = evidence.capabilities;
	if (pm_state_write_record(&agent->op.config, &record, &err))
		return pm_fail(agent, &err);
	learn_modules(agent, &evidence, &record.verdict);
	rc = rc ? pm_fail(agent, &journal_err) : report(agent, &recovery, &record.verdict);
	return tidy(agent, rc);
}
