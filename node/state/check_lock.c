/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "node/state/check_lock.h"

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

/*
 * Kills the program that a pm-reachable has left behind when slurmd killed it, and frees the lock.
 * A process that cannot be killed keeps a lock on the removed file. A change that has this file
 * open already holds the lock of pm_state_lock(), and the next check sees that one.
 */
static void free_lock(const char *path)
{
	cleanup_close int fd = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);

	if (fd >= 0 && !pm_holder_is(read_holders(fd).supervisor, fd)) {
		(void)end_program(fd, KILL_MS);
		(void)unlink(path);
	}
}

static int take(const char *path, int *ret_fd, struct pm_err *err)
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

int pm_check_lock_take(const struct pm_config *config, int *ret_fd, struct pm_err *err)
{
	cleanup_free char *path = lock_path(config);
	cleanup_close int fd = -1;
	int high, rc;

	if (!path)
		return pm_err_nomem(err);
	rc = take(path, &fd, err);
	if (rc)
		return rc;
	high = fcntl(fd, F_DUPFD_CLOEXEC, LEAST_FD); /* fails where so few files may be open */
	*ret_fd = high >= 0 ? high : fd;
	if (high < 0)
		fd = -1;
	return 0;
}

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

void pm_check_lock_stop(const struct pm_operation *op)
{
	cleanup_free char *path = lock_path(&op->config);
	cleanup_close int fd = path ? open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW) : -1;

	if (fd < 0 || is_free(fd) || end_program(fd, PATIENCE) || end_supervisor(fd))
		return;
	pm_warn(op, "the site's health check was killed but still runs in the kernel, going on "
		    "without waiting for it; see 'dmesg'");
}
