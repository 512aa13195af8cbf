/* SPDX-License-Identifier: Apache-2.0 */
#include "node/state/site_check.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/asprintf.h"
#include "base/cleanup.h"
#include "node/state/check_lock.h"
#include "node/state/state.h"

static bool is_locked(const char *path)
{
	cleanup_close int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);

	return fd >= 0 && flock(fd, LOCK_SH | LOCK_NB) && errno == EWOULDBLOCK;
}

bool pm_site_check_is_overtaken(const struct pm_config *config)
{
	cleanup_free char *path = pm_asprintf("%s/lock", config->state_dir);

	return !path || is_locked(path);
}

/*
 * A goal that an administrator has staged waits for a reboot, for days perhaps, and nothing changes
 * before that. One of a job is followed by its reboot at once.
 */
static int check_journal(const struct pm_config *config, struct pm_err *err)
{
	cleanup_with(pm_journal_done) struct pm_journal journal = {0};
	int rc = pm_state_read_journal(config, &journal, err);

	if (rc || !pm_journal_is_open(&journal))
		return rc;
	if (journal.state == PM_JOURNAL_STAGED && !journal.for_job)
		return 0;
	return pm_err_set(err, -EAGAIN, "the node changes to mode %s", pm_mode_name(journal.mode));
}

static int check_record(const struct pm_config *config, struct pm_err *err)
{
	struct pm_kernel kernel;
	struct pm_record record;
	int rc = pm_state_current_record(config, &record, &kernel, err);

	if (rc) {
		(void)pm_err_prefix(err, "the node's mode is not verified");
		return -EAGAIN;
	}
	if (record.verdict.platform)
		return 0;
	return pm_err_set(err, -EAGAIN, "the node's mode is unknown: %s", record.verdict.why);
}

static int check_state(const struct pm_config *config, struct pm_err *err)
{
	int rc;

	if (pm_site_check_is_overtaken(config))
		return pm_err_set(err, -EAGAIN, "pmctl changes the node");
	rc = check_journal(config, err);
	return rc ? rc : check_record(config, err);
}

int pm_site_check_begin(const struct pm_config *config, int *ret_fd, struct pm_err *err)
{
	cleanup_close int fd = -1;
	int rc = pm_check_lock_take(config, &fd, err);

	if (!rc)
		rc = check_state(config, err);
	if (rc)
		return rc;
	*ret_fd = fd;
	fd = -1;
	return 0;
}
