/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "node/state/state.h"

#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/lock.h"
#include "base/secure.h"
#include "node/tools/tool_locks.h"

#define WAIT_S 10

static char *path_in(const char *directory, const char *name)
{
	char *path = NULL;

	return asprintf(&path, "%s/%s", directory, name) < 0 ? NULL : path;
}

static char *journal_path(const struct pm_config *config)
{
	return path_in(config->state_dir, "journal.json");
}

static char *record_path(const struct pm_config *config)
{
	return path_in(config->run_dir, "mode.json");
}

int pm_state_lock_within(
	const struct pm_operation *op, unsigned wait_s, int *ret_fd, struct pm_err *err)
{
	cleanup_free char *path = path_in(op->config.state_dir, "lock");
	int rc = pm_secure_make_dir(op->config.state_dir, err);

	if (!rc)
		rc = pm_secure_make_dir(op->config.run_dir, err);
	if (rc)
		return rc;
	if (!path)
		return pm_err_nomem(err);
	rc = pm_lock_take(path, op->name, 0, ret_fd, err);
	if (rc == -EBUSY) {
		pm_warn(op, "%s, waiting", err->text);
		rc = pm_lock_take(path, op->name, wait_s * 1000, ret_fd, err);
	}
	if (!rc)
		pm_tool_hold_lock(*ret_fd);
	return rc;
}

int pm_state_lock(const struct pm_operation *op, int *ret_fd, struct pm_err *err)
{
	return pm_state_lock_within(op, WAIT_S, ret_fd, err);
}

int pm_state_read_journal(
	const struct pm_config *config, struct pm_journal *ret, struct pm_err *err)
{
	cleanup_free char *path = journal_path(config);

	return path ? pm_journal_read(path, ret, err) : pm_err_nomem(err);
}

int pm_state_write_journal(
	const struct pm_config *config, const struct pm_journal *journal, struct pm_err *err)
{
	cleanup_free char *path = journal_path(config);

	return path ? pm_journal_write(path, journal, err) : pm_err_nomem(err);
}

int pm_state_step(const struct pm_operation *op, struct pm_journal *journal,
	enum pm_journal_state state, const char *boot_id, const char *text, struct pm_err *err)
{
	int rc = pm_journal_step(journal, state, boot_id, text, err);

	return rc ? rc : pm_state_write_journal(&op->config, journal, err);
}

int pm_state_read_os_journal(
	const struct pm_config *config, struct pm_os_journal *ret, struct pm_err *err)
{
	cleanup_free char *path = path_in(config->state_dir, "substate.json");

	return path ? pm_os_journal_read(path, ret, err) : pm_err_nomem(err);
}

int pm_state_write_os_journal(
	const struct pm_config *config, const struct pm_os_journal *journal, struct pm_err *err)
{
	cleanup_free char *path = path_in(config->state_dir, "substate.json");

	return path ? pm_os_journal_write(path, journal, err) : pm_err_nomem(err);
}

int pm_state_read_pins(const struct pm_config *config, struct pm_pins *ret, struct pm_err *err)
{
	cleanup_free char *path = path_in(config->state_dir, "pins");

	return path ? pm_pins_read(path, ret, err) : pm_err_nomem(err);
}

int pm_state_write_pins(
	const struct pm_config *config, const struct pm_pins *pins, struct pm_err *err)
{
	cleanup_free char *path = path_in(config->state_dir, "pins");

	return path ? pm_pins_write(path, pins, err) : pm_err_nomem(err);
}

int pm_state_read_record(const struct pm_config *config, struct pm_record *ret, struct pm_err *err)
{
	cleanup_free char *path = record_path(config);

	return path ? pm_record_read(path, ret, err) : pm_err_nomem(err);
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
	cleanup_free char *path = record_path(config);

	return path ? pm_record_write(path, record, err) : pm_err_nomem(err);
}

int pm_state_read_roster(const struct pm_config *config, struct pm_roster *ret, struct pm_err *err)
{
	cleanup_free char *path = path_in(config->state_dir, "modules.json");

	return path ? pm_roster_read(path, ret, err) : pm_err_nomem(err);
}

int pm_state_write_roster(
	const struct pm_config *config, const struct pm_dimms *dimms, struct pm_err *err)
{
	cleanup_free char *path = path_in(config->state_dir, "modules.json");

	return path ? pm_roster_write(path, dimms, err) : pm_err_nomem(err);
}

void pm_state_drop_record(const struct pm_config *config)
{
	cleanup_free char *path = record_path(config);

	if (path)
		(void)unlink(path);
}
