/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "node/state/site_check.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/asprintf.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/holder.h"
#include "base/lock.h"
#include "node/state/state.h"

#define VERB	 "check"
#define SESSION	 "session "
#define TURN_MS	 200 /* a change that looks whether a check runs has the lock for a moment */
#define STEP_MS	 20
#define PATIENCE 5000 /* ms, for pm-reachable to see that its program was killed */
#define KILL_MS	 1000 /* for the kernel to end what was killed */

/* Shells take the numbers above 2, and then those above 9, for their own purposes. */
#define LEAST_FD 100

static char *lock_path(const struct pm_config *config)
{
	return pm_asprintf("%s/check.lock", config->run_dir);
}

/* Who holds the lock, as pm-reachable has written it behind its signature (base/lock.h). */
struct holders {
	int supervisor; /* pm-reachable; 0: not known */
	int session;
	unsigned n; /* that were found */
};

static int number_behind(const char *text, const char *word)
{
	const char *at = strstr(text, word);

	return at ? atoi(at + strlen(word)) : 0;
}

static struct holders read_holders(int fd)
{
	char text[128] = "";

	if (pread(fd, text, sizeof(text) - 1, 0) < 0)
		text[0] = '\0';
	return (struct holders){.supervisor = number_behind(text, "(pid "),
		.session = number_behind(text, SESSION)};
}

/*
 * A process with another session has detached itself: a daemon that the check has started again
 * lives on, and nothing waits for it.
 */
static bool kill_program(void *context, int pid)
{
	struct holders *holders = context;
	pid_t group = getpgid(pid);

	if (pid == getpid() || getsid(pid) != holders->session)
		return true;
	holders->n++;
	if (pid == holders->supervisor)
		return true;
	if (group > 1 && group != getpgrp() && group != getpgid(holders->supervisor))
		(void)kill(-group, SIGKILL);
	(void)kill(pid, SIGKILL);
	return true;
}

/* pm-reachable itself goes on, so that it can say what became of its program. */
static bool end_program(int fd, unsigned wait_ms)
{
	uint64_t end_ms = pm_now_ms() + wait_ms;

	for (;;) {
		struct holders holders = read_holders(fd);

		pm_holder_each(fd, kill_program, &holders);
		if (!holders.n)
			return true;
		if (pm_now_ms() >= end_ms)
			return false;
		pm_pause_ms(STEP_MS);
	}
}

/* --- the check's side --- */

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

/*
 * Frees the lock of what a pm-reachable that slurmd has killed had started. What cannot be ended
 * keeps the old file: a change that has opened that one holds its own lock already, and is seen.
 */
static void free_lock(const char *path)
{
	cleanup_close int fd = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);

	if (fd >= 0 && !pm_holder_is(read_holders(fd).supervisor, fd)) {
		(void)end_program(fd, KILL_MS);
		(void)unlink(path);
	}
}

static int take_lock(const char *path, int *ret_fd, struct pm_err *err)
{
	int rc = pm_lock_take(path, VERB, TURN_MS, ret_fd, err);

	if (rc == -EBUSY) {
		free_lock(path);
		rc = pm_lock_take(path, VERB, TURN_MS, ret_fd, err);
	}
	if (rc)
		return rc;
	if (lseek(*ret_fd, 0, SEEK_END) < 0 || dprintf(*ret_fd, SESSION "%d\n", getsid(0)) < 0) {
		rc = pm_err_sys(err, -errno, "write '%s'", path);
		close(*ret_fd);
		*ret_fd = -1;
	}
	return rc;
}

int pm_site_check_begin(const struct pm_config *config, int *ret_fd, struct pm_err *err)
{
	cleanup_free char *path = lock_path(config);
	cleanup_close int fd = -1;
	int high, rc;

	if (!path)
		return pm_err_nomem(err);
	rc = take_lock(path, &fd, err);
	if (!rc)
		rc = check_state(config, err);
	if (rc)
		return rc;
	high = fcntl(fd, F_DUPFD_CLOEXEC, LEAST_FD); /* fails where so few files may be open */
	*ret_fd = high >= 0 ? high : fd;
	if (high < 0)
		fd = -1;
	return 0;
}

/* --- the change's side --- */

static bool is_free(int fd)
{
	return !flock(fd, LOCK_EX | LOCK_NB) && !flock(fd, LOCK_UN);
}

static bool end_supervisor(int fd)
{
	int supervisor = read_holders(fd).supervisor;

	if (supervisor > 1 && pm_holder_is(supervisor, fd))
		(void)kill(supervisor, SIGKILL);
	return end_program(fd, KILL_MS);
}

void pm_site_check_stop(const struct pm_operation *op)
{
	cleanup_free char *path = lock_path(&op->config);
	cleanup_close int fd = path ? open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW) : -1;

	if (fd < 0 || is_free(fd) || end_program(fd, PATIENCE) || end_supervisor(fd))
		return;
	pm_warn(op, "the site's health check was killed but still runs in the kernel, going on "
		    "without waiting for it; see 'dmesg'");
}
