/* SPDX-License-Identifier: Apache-2.0 */
#include "node/state/state.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/lock.h"
#include "base/secure.h"
#include "node/state/counters.h"
#include "node/state/check_lock.h"
#include "node/state/idle.h"
#include "node/tools/tool_locks.h"

#define WAIT_S	10
#define LOOK_MS 100 /* pm-reachable looks whether the lock is held, which takes a moment */

/* A path that is cut is still longer than PATH_MAX: open(2) fails, and no other file is opened. */
struct path {
	char text[PATH_MAX + NAME_MAX];
};

static struct path path_in(const char *directory, const char *name)
{
	struct path path;

	snprintf(path.text, sizeof(path.text), "%s/%s", directory, name);
	return path;
}

#define JOURNAL(config_)    path_in((config_)->state_dir, "journal.json").text
#define HISTORY(config_)    path_in((config_)->state_dir, "history.json").text
#define OS_JOURNAL(config_) path_in((config_)->state_dir, "substate.json").text
#define PINS(config_)	    path_in((config_)->state_dir, "pins").text
#define ROSTER(config_)	    path_in((config_)->state_dir, "modules.json").text
#define RECORD(config_)	    path_in((config_)->run_dir, "mode.json").text

/*
 * Files that a newer slurm-pmem wrote and that this one cannot read. The node's state is observed,
 * so it goes on without them. Pins are not among them: without its pins a namespace could be
 * destroyed. Nor is substate.json, see node/act/substate.c.
 */
static const struct newer {
	const struct pm_store *store;
	const char *name, *effect;
} newer[] = {
	{&pm_journal_store, "journal.json", "a change in it is neither finished nor undone"},
	{&pm_history_store, "history.json", "the history starts again"},
	{&pm_roster_store, "modules.json", "a module that is missing already is not noticed"},
	{&pm_counters_store, "counters.json", "pmctl metrics counts from 0"},
};

bool pm_state_has_newer(const struct pm_config *config)
{
	struct pm_record record = {0};

	for (size_t i = 0; i < sizeof(newer) / sizeof(newer[0]); i++)
		if (pm_store_is_newer(
			    newer[i].store, path_in(config->state_dir, newer[i].name).text))
			return true;
	return pm_record_read(RECORD(config), &record, NULL) == -EPROTONOSUPPORT;
}

static void set_newer_aside(const struct pm_operation *op)
{
	for (size_t i = 0; i < sizeof(newer) / sizeof(newer[0]); i++) {
		const struct path path = path_in(op->config.state_dir, newer[i].name);
		struct pm_err err;

		if (!pm_store_is_newer(newer[i].store, path.text))
			continue;
		if (pm_store_set_aside(path.text, &err))
			pm_warn(op, "%s", err.text);
		else
			pm_warn(op,
				"'%s' is of a newer slurm-pmem and was renamed to '%s.unreadable'; "
				"%s",
				path.text, path.text, newer[i].effect);
	}
}

static int take_lock(
	const struct pm_operation *op, unsigned wait_s, int *ret_fd, struct pm_err *err)
{
	const struct path path = path_in(op->config.state_dir, "lock");
	int rc = pm_lock_take(path.text, op->name, LOOK_MS, ret_fd, err);

	if (rc == -EBUSY && pm_idle_wipe_runs(&op->config)) {
		pm_idle_wipe_stop(&op->config);
		rc = pm_lock_take(path.text, op->name, LOOK_MS, ret_fd, err);
	}
	if (rc == -EBUSY) {
		pm_warn(op, "%s, waiting", err->text);
		rc = pm_lock_take(path.text, op->name, wait_s * 1000, ret_fd, err);
	}
	return rc;
}

int pm_state_lock_within(
	const struct pm_operation *op, unsigned wait_s, int *ret_fd, struct pm_err *err)
{
	int rc = pm_secure_make_dir(op->config.state_dir, err);

	if (!rc)
		rc = pm_secure_make_dir(op->config.run_dir, err);
	if (!rc)
		rc = take_lock(op, wait_s, ret_fd, err);
	if (rc)
		return rc;
	pm_tool_hold_lock(*ret_fd);
	pm_check_lock_stop(op);
	set_newer_aside(op);
	return 0;
}

int pm_state_lock(const struct pm_operation *op, int *ret_fd, struct pm_err *err)
{
	return pm_state_lock_within(op, WAIT_S, ret_fd, err);
}

int pm_state_read_journal(
	const struct pm_config *config, struct pm_journal *ret, struct pm_err *err)
{
	return pm_store_read(&pm_journal_store, JOURNAL(config), ret, err);
}

int pm_state_write_journal(
	const struct pm_config *config, const struct pm_journal *journal, struct pm_err *err)
{
	return pm_store_write(&pm_journal_store, JOURNAL(config), journal, err);
}

int pm_state_read_history(
	const struct pm_config *config, struct pm_history *ret, struct pm_err *err)
{
	return pm_store_read(&pm_history_store, HISTORY(config), ret, err);
}

/* A malformed history is set aside: an empty one takes its place. */
static int read_or_set_aside(
	const struct pm_operation *op, struct pm_history *ret, struct pm_err *err)
{
	const struct path path = path_in(op->config.state_dir, "history.json");
	int rc = pm_state_read_history(&op->config, ret, err);

	if (rc != -EBADMSG && rc != -EFBIG && rc != -EPROTONOSUPPORT)
		return rc;
	rc = pm_store_set_aside(path.text, err);
	if (!rc)
		pm_warn(op,
			"'%s' is malformed and was renamed to '%s.unreadable'; the history "
			"starts again",
			path.text, path.text);
	return rc;
}

static int add_to_history(
	const struct pm_operation *op, const struct pm_journal *journal, struct pm_err *err)
{
	cleanup_with(pm_history_done) struct pm_history history = {0};
	int rc = read_or_set_aside(op, &history, err);

	if (!rc)
		rc = pm_history_add(&history, journal, err);
	if (!rc)
		rc = pm_store_write(&pm_history_store, HISTORY(&op->config), &history, err);
	return rc;
}

int pm_state_step(const struct pm_operation *op, struct pm_journal *journal,
	enum pm_journal_state state, const char *boot_id, const char *text, struct pm_err *err)
{
	int rc = pm_journal_step(journal, state, boot_id, text, err);
	struct pm_err why;

	if (!rc && pm_history_is_end(state) && add_to_history(op, journal, &why))
		pm_warn(op, "the change is not in the history: %s", why.text);
	if (!rc)
		rc = pm_state_write_journal(&op->config, journal, err);
	if (!rc)
		pm_counters_add_change(&op->config, state);
	return rc;
}

int pm_state_replace_newer_os_journal(
	const struct pm_operation *op, const struct pm_os_journal *journal, struct pm_err *err)
{
	const struct path path = path_in(op->config.state_dir, "substate.json");
	int rc = pm_store_keep_aside(path.text, err);

	if (!rc)
		rc = pm_store_write(&pm_os_journal_store, path.text, journal, err);
	if (!rc)
		pm_warn(op,
			"'%s' is of a newer slurm-pmem and is kept as '%s.unreadable'; free space "
			"of all regions is wiped before its next use, and settings of the kernel "
			"in it stay as they are",
			path.text, path.text);
	return rc;
}

int pm_state_read_os_journal(
	const struct pm_config *config, struct pm_os_journal *ret, struct pm_err *err)
{
	return pm_store_read(&pm_os_journal_store, OS_JOURNAL(config), ret, err);
}

int pm_state_write_os_journal(
	const struct pm_config *config, const struct pm_os_journal *journal, struct pm_err *err)
{
	return pm_store_write(&pm_os_journal_store, OS_JOURNAL(config), journal, err);
}

int pm_state_read_pins(const struct pm_config *config, struct pm_pins *ret, struct pm_err *err)
{
	int rc = pm_store_read(&pm_pins_store, PINS(config), ret, err);

	if (rc != -EPROTONOSUPPORT)
		return rc;
	return pm_err_set(err, rc,
		"'%s' is of a newer slurm-pmem, and without it no namespace is known to be free: "
		"install that one again, or move the file away and pin anew",
		PINS(config));
}

int pm_state_write_pins(
	const struct pm_config *config, const struct pm_pins *pins, struct pm_err *err)
{
	return pm_store_write(&pm_pins_store, PINS(config), pins, err);
}

int pm_state_read_record(const struct pm_config *config, struct pm_record *ret, struct pm_err *err)
{
	return pm_record_read(RECORD(config), ret, err);
}

int pm_state_goal_is_open(const struct pm_config *config, const struct pm_journal *journal,
	bool *ret, struct pm_err *err)
{
	char boot_id[PM_BOOT_ID_MAX];
	int rc = pm_kernel_boot_id(config->fs_root, boot_id, err);

	*ret = !rc && pm_journal_is_open(journal) && !strcmp(journal->boot_id, boot_id);
	return rc;
}

int pm_state_current_record(const struct pm_config *config, struct pm_record *ret,
	struct pm_kernel *ret_kernel, struct pm_err *err)
{
	int rc = pm_kernel_read(config->fs_root, ret_kernel, err);

	if (!rc)
		rc = pm_state_read_record(config, ret, err);
	return rc ? rc : pm_record_check(ret, ret_kernel, err);
}

int pm_state_write_record(
	const struct pm_config *config, const struct pm_record *record, struct pm_err *err)
{
	return pm_record_write(RECORD(config), record, err);
}

int pm_state_read_roster(const struct pm_config *config, struct pm_dimms *ret, struct pm_err *err)
{
	return pm_store_read(&pm_roster_store, ROSTER(config), ret, err);
}

int pm_state_write_roster(
	const struct pm_config *config, const struct pm_dimms *dimms, struct pm_err *err)
{
	return pm_store_write(&pm_roster_store, ROSTER(config), dimms, err);
}

void pm_state_drop_record(const struct pm_config *config)
{
	(void)unlink(RECORD(config));
}
