/* SPDX-License-Identifier: Apache-2.0 */
#include "node/act/substate.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/signals.h"
#include "node/act/actions.h"
#include "node/act/demotion.h"
#include "node/act/flat.h"
#include "node/act/mount.h"
#include "node/act/mount_copies.h"
#include "node/act/steps.h"
#include "node/act/sweeper.h"
#include "node/dry_run.h"
#include "node/see/survey.h"
#include "node/state/idle.h"
#include "node/state/state.h"
#include "node/wipe/wipe.h"

/* The state of one run. */
struct reach {
	const struct pm_operation *op;
	struct pm_target target;
	struct pm_os_journal journal;
	struct pm_survey survey;
	struct pm_steps steps;	    /* from the present state to the target */
	char (*clean)[PM_UUID_MAX]; /* UUIDs of namespaces that were wiped in this run */
	size_t n_clean;
};

static void reach_done(struct reach *reach)
{
	pm_os_journal_done(&reach->journal);
	pm_survey_done(&reach->survey);
	pm_steps_done(&reach->steps);
	free(reach->clean);
}

/*
 * A newer slurm-pmem wrote the journal, so which regions are dirty is not known: all are. The new
 * journal has that before anything is done.
 */
static int begin_dirty(struct reach *reach, struct pm_err *err)
{
	const struct pm_inventory *inventory = &reach->survey.inventory;
	char boot_id[PM_BOOT_ID_MAX];
	int rc = pm_kernel_boot_id(reach->op->config.fs_root, boot_id, err);

	if (rc)
		return rc;
	pm_os_journal_begin(&reach->journal, reach->target.substate, boot_id);
	for (size_t i = 0; !rc && i < inventory->n; i++)
		rc = pm_os_journal_mark(&reach->journal, inventory->list[i].nd.iset_id, err);
	return rc ? rc : pm_state_replace_newer_os_journal(reach->op, &reach->journal, err);
}

static bool is_clean(const struct reach *reach, const struct pm_inventory_ns *ns)
{
	for (size_t i = 0; *ns->nd.uuid && i < reach->n_clean; i++)
		if (!strcmp(reach->clean[i], ns->nd.uuid))
			return true;
	return false;
}

static int look(struct reach *reach, struct pm_err *err)
{
	struct pm_survey survey;
	struct pm_config config = reach->op->config; /* borrows */
	int rc;

	if (reach->target.is_idle)
		config.provision = true;
	rc = pm_survey(&config, &survey, err);

	if (rc)
		return rc;
	pm_steps_done(&reach->steps);
	pm_survey_done(&reach->survey);
	reach->survey = survey;
	pm_inventory_foreach(ns, region, &reach->survey.inventory)
	{
		ns->is_clean = is_clean(reach, ns);
	}
	for (size_t i = 0; i < reach->survey.inventory.n; i++) {
		struct pm_inventory_region *region = &reach->survey.inventory.list[i];

		region->is_dirty = pm_os_journal_is_dirty(&reach->journal, region->nd.iset_id);
	}
	reach->target.lost_pin = survey.lost ? survey.lost->uuid : NULL;
	return pm_steps_plan(&reach->survey.inventory, &reach->target, &reach->steps, err);
}

static int note_clean(struct reach *reach, const struct pm_step *steps, size_t n)
{
	char(*grown)[PM_UUID_MAX] =
		realloc(reach->clean, (reach->n_clean + n) * sizeof(*reach->clean));

	if (!grown)
		return -ENOMEM;
	reach->clean = grown;
	for (size_t i = 0; i < n; i++) {
		strcpy(grown[reach->n_clean++], steps[i].ns->nd.uuid);
		pm_os_journal_unmark(&reach->journal, steps[i].region->nd.iset_id);
	}
	return 0;
}

static int wipe(struct reach *reach, const struct pm_step *steps, size_t n, struct pm_err *err)
{
	struct pm_wipe_target *targets = calloc(n, sizeof(*targets));
	int rc = targets ? 0 : pm_err_nomem(err);

	for (size_t i = 0; !rc && i < n; i++) {
		pm_action_device(steps[i].ns, targets[i].path, sizeof(targets[i].path));
		targets[i].numa_node = steps[i].region->nd.numa_node;
		targets[i].doomed = steps[i].kind == PM_STEP_WIPE;
		if (!*targets[i].path)
			rc = pm_err_set(err, -EIO,
				"%s has no device that could be wiped; look at 'dmesg' and 'ndctl "
				"list -i'",
				steps[i].ns->nd.dev);
	}
	if (!rc)
		rc = pm_wipe_devices(reach->op, targets, n, err);
	free(targets);
	if (!rc && note_clean(reach, steps, n))
		rc = pm_err_nomem(err);
	return rc;
}

/* crypto-erase has tools running, so it is not killed. */
static int wipe_yielding(
	struct reach *reach, const struct pm_step *steps, size_t n, struct pm_err *err)
{
	const struct pm_config *config = &reach->op->config;
	bool may_be_killed = reach->target.yields && config->wipe != PM_WIPE_CRYPTO_ERASE;
	cleanup_close int fd = may_be_killed ? pm_idle_wipe_begin(config) : -1;

	(void)fd; /* held until the wipe has ended */
	return wipe(reach, steps, n, err);
}

/* Runs a tool that needs the whole device: a private copy of a mount would keep it busy. */
static int act_alone(const struct pm_config *config, const struct pm_step *step, struct pm_err *err)
{
	int rc = step->ns ? pm_mount_copies_free(step->ns->nd.blockdev, err) : 0;

	return rc ? rc : pm_action_run(config, step, 0, err);
}

static int act_one(struct reach *reach, const struct pm_step *step, struct pm_err *err)
{
	const struct pm_config *config = &reach->op->config;

	switch (step->kind) {
	case PM_STEP_UNMOUNT:
		return pm_sweeper_unmount(reach->op, step->region, err);
	case PM_STEP_MOUNT:
		return pm_file_system_mount(config, step->region, step->ns, err);
	case PM_STEP_CONVERT:
	case PM_STEP_REMOVE:
	case PM_STEP_FORMAT:
		return act_alone(config, step, err);
	default:
		return pm_action_run(config, step, 0, err);
	}
}

/* Takes steps of one kind. */
static int act(struct reach *reach, const struct pm_step *steps, size_t n, struct pm_err *err)
{
	int rc = 0;

	switch (steps[0].kind) {
	case PM_STEP_WIPE:
		return wipe_yielding(reach, steps, n, err);
	case PM_STEP_CLEAR:
		return wipe(reach, steps, n, err);
	case PM_STEP_RAM:
		return pm_flat_make(reach->op, &reach->journal, steps, n, err);
	case PM_STEP_OFFLINE:
		return pm_flat_offline(reach->op, steps, n, err);
	default:
		for (size_t i = 0; !rc && i < n; i++)
			rc = act_one(reach, &steps[i], err);
		return rc;
	}
}

static size_t count_first_kind(const struct pm_steps *steps)
{
	size_t n = 0;

	while (n < steps->n && steps->list[n].kind == steps->list[0].kind)
		n++;
	return n;
}

/*
 * A namespace that is being converted has no label that marks its bytes as a job's: recovery after
 * a crash needs the mark.
 */
static int mark_dirty(struct reach *reach, size_t n, struct pm_err *err)
{
	int rc = 0;

	for (size_t i = 0; !rc && i < n; i++)
		if (reach->steps.list[i].kind == PM_STEP_CONVERT)
			rc = pm_os_journal_mark(
				&reach->journal, reach->steps.list[i].region->nd.iset_id, err);
	return rc;
}

static int note_steps(struct reach *reach, size_t n, struct pm_err *err)
{
	int rc = mark_dirty(reach, n, err);

	for (size_t i = 0; !rc && i < n; i++) {
		cleanup_free char *text = pm_action_text(&reach->op->config, &reach->steps.list[i]);

		rc = text ? pm_os_journal_add(&reach->journal, text, err) : pm_err_nomem(err);
		if (!rc && reach->target.only_leftovers)
			pm_report(reach->op, "a leftover of %s: '%s'",
				reach->steps.list[i].region->nd.dev, text);
	}
	return rc ? rc : pm_state_write_os_journal(&reach->op->config, &reach->journal, err);
}

/* The exit status of a tool proves neither success nor failure. */
static bool is_only_status(int rc)
{
	return rc == -EREMOTEIO || rc == -ETIMEDOUT;
}

/* After steps of kind `last`, no step of that kind or of an earlier one may be left. */
static int check_progress(
	struct reach *reach, int last, int last_rc, struct pm_err *last_err, struct pm_err *err)
{
	cleanup_free char *text = NULL;
	const struct pm_step *next = reach->steps.list;

	if (!reach->steps.n || (int)next->kind > last) {
		if (last_rc)
			pm_warn(reach->op, "%s; its change was made nevertheless", last_err->text);
		return 0;
	}
	if (last_rc)
		return pm_err_set(err, last_rc, "%s", last_err->text);
	text = pm_action_text(&reach->op->config, next);
	return pm_err_set(err, -EIO, "after %s of %s '%s' is still to be done",
		pm_step_name((enum pm_step_kind)last), next->region->nd.dev, text ? text : "");
}

static int take_steps(struct reach *reach, struct pm_err *err)
{
	struct pm_err acted;
	int rc = 0, acted_rc = 0, last = -1;

	while (!rc && reach->steps.n) {
		size_t n = count_first_kind(&reach->steps);

		last = (int)reach->steps.list[0].kind;
		rc = note_steps(reach, n, err);
		if (rc)
			break;
		acted_rc = act(reach, reach->steps.list, n, &acted);
		if (acted_rc && !is_only_status(acted_rc))
			return pm_err_set(err, acted_rc, "%s", acted.text);
		rc = look(reach, err);
		if (!rc)
			rc = check_progress(reach, last, acted_rc, &acted, err);
	}
	return rc;
}

/* Writes the outcome into the journal. A failure to write it must not hide an earlier failure. */
static int conclude(struct reach *reach, int rc, struct pm_err *err)
{
	struct pm_err second;
	int end = pm_os_journal_end(&reach->journal, rc ? err->text : NULL, &second);

	if (!end)
		end = pm_state_write_os_journal(&reach->op->config, &reach->journal, &second);
	if (!end)
		return rc;
	if (!rc)
		return pm_err_set(err, end, "%s", second.text);
	pm_warn(reach->op, "%s", second.text);
	return rc;
}

static int change(struct reach *reach, struct pm_err *err)
{
	const struct pm_config *config = &reach->op->config;
	char boot_id[PM_BOOT_ID_MAX];
	struct pm_err second;
	sigset_t before;
	int rc = pm_kernel_boot_id(config->fs_root, boot_id, err);

	if (rc)
		return rc;
	pm_os_journal_begin(&reach->journal, reach->target.substate, boot_id);
	pm_signals_hold(&before);
	if (pm_demotion_follow(reach->op, &reach->journal, &second))
		pm_warn(reach->op, "%s", second.text);
	rc = conclude(reach, take_steps(reach, err), err);
	pm_signals_release(&before);
	return rc;
}

static void report(const struct reach *reach)
{
	for (size_t i = 0; i < reach->steps.n; i++) {
		const struct pm_step *step = &reach->steps.list[i];
		cleanup_free char *text = pm_action_text(&reach->op->config, step);
		cleanup_free char *loss = pm_action_loss(step);

		pm_dry_run_step(reach->op, text, loss);
	}
}

/* Flat memory that is set up already is used as it is. */
static bool needs_change(const struct reach *reach)
{
	return reach->steps.n || (reach->target.substate == PM_SUBSTATE_FLAT &&
					 !pm_demotion_is_on(&reach->op->config));
}

/*
 * The flat memory is gone, or a job's or an administrator's. A mark that does not say that it is
 * offline costs the next job only a look, so that must not cost this job its node.
 */
static int end_idleness(const struct reach *reach, struct pm_err *err)
{
	const struct pm_config *config = &reach->op->config;
	struct pm_err second;

	if (!reach->target.only_offline)
		return pm_idle_forget(config, err);
	if (pm_idle_mark_offline(config, &second))
		pm_warn(reach->op, "%s", second.text);
	return 0;
}

static int run(const struct pm_operation *op, const struct pm_target *target, bool dry_run,
	struct pm_err *err)
{
	cleanup_with(reach_done) struct reach reach = {.op = op, .target = *target};
	bool is_newer;
	int rc;

	reach.target.converts = op->config.wipe != PM_WIPE_CRYPTO_ERASE;
	rc = pm_state_read_os_journal(&op->config, &reach.journal, err);
	is_newer = rc == -EPROTONOSUPPORT;
	if (!rc || is_newer)
		rc = look(&reach, err);
	if (!rc && is_newer && !dry_run) {
		rc = begin_dirty(&reach, err);
		if (!rc)
			rc = look(&reach, err);
	}
	if (rc)
		return rc;
	if (dry_run) {
		report(&reach);
		return 0;
	}
	rc = needs_change(&reach) ? change(&reach, err) : 0;
	return rc ? rc : end_idleness(&reach, err);
}

/* With Provision=no there are no own namespaces: EMPTY only checks that none is in the way. */
int pm_substate_reach(
	const struct pm_operation *op, enum pm_substate wanted, bool dry_run, struct pm_err *err)
{
	const struct pm_target target = {.substate = wanted};
	int rc;

	if (!op->config.provision && wanted == PM_SUBSTATE_FSDAX)
		return 0;
	if (!op->config.provision && wanted != PM_SUBSTATE_EMPTY)
		return pm_err_set(err, -EOPNOTSUPP,
			"Provision=no in pmem.conf: pmctl makes no %s on this node",
			pm_substate_name(wanted));
	rc = run(op, &target, dry_run, err);
	return rc ? pm_err_prefix(err, "make %s", pm_substate_name(wanted)) : 0;
}

int pm_substate_vacate(const struct pm_operation *op, bool dry_run, struct pm_err *err)
{
	const struct pm_target target = {.substate = PM_SUBSTATE_EMPTY, .leaves_bytes = true};
	int rc = run(op, &target, dry_run, err);

	return rc ? pm_err_prefix(err, "make empty") : 0;
}

int pm_substate_check_empty(const struct pm_config *config, struct pm_err *err)
{
	struct pm_target target = {.substate = PM_SUBSTATE_EMPTY};
	cleanup_with(pm_survey_done) struct pm_survey survey = {0};
	cleanup_with(pm_steps_done) struct pm_steps steps = {0};
	int rc = pm_survey(config, &survey, err);

	if (rc)
		return rc;
	target.lost_pin = survey.lost ? survey.lost->uuid : NULL;
	return pm_steps_plan(&survey.inventory, &target, &steps, err);
}

int pm_substate_look(const struct pm_operation *op, struct pm_inventory *ret, struct pm_err *err)
{
	cleanup_with(pm_survey_done) struct pm_survey survey = {0};
	int rc = pm_survey(&op->config, &survey, err);

	if (rc)
		return rc;
	*ret = survey.inventory;
	survey.inventory = (struct pm_inventory){0};
	return 0;
}

/* The policy is a setting of the running kernel: one of an earlier boot is gone. */
static int restore_policy(const struct pm_operation *op, struct pm_err *err)
{
	cleanup_with(pm_os_journal_done) struct pm_os_journal journal = {0};
	char boot_id[PM_BOOT_ID_MAX], policy[sizeof(journal.policy)];
	int rc = pm_kernel_boot_id(op->config.fs_root, boot_id, err);

	if (!rc)
		rc = pm_state_read_os_journal(&op->config, &journal, err);
	if (rc == -EPROTONOSUPPORT)
		return 0; /* run() says so */
	if (rc || strcmp(journal.boot_id, boot_id) || !*journal.policy)
		return rc;
	snprintf(policy, sizeof(policy), "%s", journal.policy);
	rc = pm_flat_restore_policy(op, &journal, err);
	if (!rc)
		pm_report(op, "the kernel's policy for new memory is '%s' again", policy);
	return rc;
}

int pm_substate_recover(const struct pm_operation *op, bool dry_run, struct pm_err *err)
{
	const struct pm_target target = {.substate = PM_SUBSTATE_EMPTY, .only_leftovers = true};
	int rc = dry_run ? 0 : restore_policy(op, err);

	if (!rc && op->config.provision)
		rc = run(op, &target, dry_run, err);
	return rc ? pm_err_prefix(err, "recover") : 0;
}

int pm_substate_make_way(const struct pm_operation *op, struct pm_err *err)
{
	const struct pm_target target = {.substate = PM_SUBSTATE_EMPTY,
		.only_leftovers = true,
		.only_offline = true,
		.is_idle = true};
	int rc;

	if (!pm_idle_is_online(&op->config))
		return 0;
	rc = run(op, &target, /* dry_run= */ false, err);
	return rc ? pm_err_prefix(err, "take back idle flat memory") : 0;
}

int pm_substate_retire(const struct pm_operation *op, struct pm_err *err)
{
	const struct pm_target target = {.substate = PM_SUBSTATE_EMPTY,
		.only_leftovers = true,
		.yields = true,
		.is_idle = true};
	int rc = run(op, &target, /* dry_run= */ false, err);

	return rc ? pm_err_prefix(err, "take back idle flat memory") : 0;
}
