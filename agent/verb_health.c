/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "agent/health.h"
#include "agent/pmctl.h"
#include "agent/print.h"
#include "base/cleanup.h"
#include "node/act/renew_record.h"
#include "node/state/state.h"
#include "node/tools/tools.h"

static int refuse_goals(const struct pm_config *config, struct pm_err *err)
{
	cleanup_with(pm_goals_done) struct pm_goals goals = {0};
	int rc = pm_tool_goals(config, &goals, err);

	if (rc || !goals.n)
		return rc;
	return pm_err_set(err, -EBUSY,
		"a goal is pending on module %s; delete it with 'ipmctl delete -goal' or reboot",
		goals.list[0].dimm);
}

/* --json prints one object, and the facts go to the system log alone. */
__attribute__((format(printf, 2, 3))) static void tell(
	const struct pm_agent *agent, const char *format, ...)
{
	char text[PM_ERR_TEXT_MAX];
	va_list args;

	if (agent->given & PM_OPT_JSON)
		return;
	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	pm_report(&agent->op, "%s", text);
}

/* From now on the roster has the modules that are present. */
static int accept_modules(const struct pm_agent *agent, bool *ret_changed, struct pm_err *err)
{
	cleanup_with(pm_dimms_done) struct pm_dimms dimms = {0}, roster = {0};
	const struct pm_config *config = &agent->op.config;
	int rc = pm_tool_dimms(config, &dimms, err);

	*ret_changed = !rc && (pm_state_read_roster(config, &roster, NULL) ||
				      !pm_roster_equals(&roster, &dimms));
	if (!rc)
		rc = pm_state_write_roster(config, &dimms, err);
	if (!rc && *ret_changed)
		tell(agent, "the node's modules were %zu, from now on they are the %zu that it has",
			roster.n, dimms.n);
	return rc;
}

static int forget_failure(const struct pm_agent *agent, struct pm_journal *journal,
	const char *boot_id, struct pm_err *err)
{
	cleanup_free char *reason = journal->reason ? strdup(journal->reason) : NULL;
	int rc = pm_node_health_mode(&agent->op.config, /* fresh= */ true, err);

	if (!rc)
		rc = refuse_goals(&agent->op.config, err);
	if (!rc)
		rc = pm_state_step(&agent->op, journal, PM_JOURNAL_CLEARED, boot_id,
			"cleared by an administrator", err);
	if (!rc)
		tell(agent, "cleared the failed change to mode %s: %s", pm_mode_name(journal->mode),
			reason ? reason : "");
	return rc;
}

/*
 * Writes the present modules into the roster, and clears a failed change. An open change is left to
 * pmctl verify.
 */
static int clear(const struct pm_agent *agent, struct pm_err *err)
{
	cleanup_with(pm_journal_done) struct pm_journal journal = {0};
	cleanup_close int lock_fd = -1;
	char boot_id[PM_BOOT_ID_MAX];
	bool changed = false;
	int rc = geteuid() == 0 ? pm_state_lock(&agent->op, &lock_fd, err)
				: pm_err_set(err, -EPERM, "clear: must be root");

	if (!rc)
		rc = pm_state_read_journal(&agent->op.config, &journal, err);
	if (!rc)
		rc = pm_kernel_boot_id(agent->op.config.fs_root, boot_id, err);
	if (!rc)
		rc = accept_modules(agent, &changed, err);
	if (rc)
		return rc;
	if (journal.state == PM_JOURNAL_FAILED)
		return forget_failure(agent, &journal, boot_id, err);
	if (!changed)
		tell(agent, "there was nothing to clear");
	return 0;
}

static void print(const struct pm_agent *agent, int rc, const struct pm_err *err)
{
	json_object *root;

	if (!(agent->given & PM_OPT_JSON)) {
		if (rc)
			puts(err->text);
		return;
	}
	root = json_object_new_object();
	pm_json_add_bool(root, "ok", !rc);
	pm_json_add_string(root, "text", rc ? err->text : "");
	pm_print_json(root);
}

/* Files of a newer slurm-pmem are no fault of the node: they are dealt with first. */
static int look(const struct pm_agent *agent, struct pm_err *err)
{
	cleanup_close int lock_fd = -1;

	if (geteuid() == 0 && pm_state_has_newer(&agent->op.config) &&
		(pm_state_lock(&agent->op, &lock_fd, err) || pm_renew_record(&agent->op, err)))
		pm_warn(&agent->op, "%s", err->text);
	return pm_node_health(&agent->op.config, err);
}

int pm_verb_health(struct pm_agent *agent)
{
	struct pm_err err;
	int rc = agent->given & PM_OPT_CLEAR ? clear(agent, &err) : 0;

	if (!rc)
		rc = look(agent, &err);
	print(agent, rc, &err);
	return rc ? PM_EXIT_FAILED : PM_EXIT_DONE;
}
