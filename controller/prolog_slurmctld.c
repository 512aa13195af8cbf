/* SPDX-License-Identifier: Apache-2.0 */
/*
 * PrologSlurmctld, as SlurmUser on the controller: ends when the job's nodes are booted in its
 * mode. While it runs, slurmctld keeps the job in configuration; when it ends, slurmctld looks at
 * the nodes. Without it slurmctld looks only every 30 s.
 *
 * It waits for pm-controller's reply. If the service fails, it executes prolog_poll in the same
 * directory, which asks Slurm once a second.
 *
 * A site's own PrologSlurmctld calls this program, in the job's environment. The exit status is
 * always 0, as slurmctld requeues the job at any other. For a job without a pm_ feature it
 * ends at once.
 *
 *	PM_CONTROLLER_SOCKET  the service's socket, if not the usual one
 *	PM_WAIT_LIMIT	      seconds, 7200; far above any ResumeTimeout, which ends a hung boot
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/standard_files.h"
#include "base/units.h"
#include "protocol/client.h"
#include "site/features.h"

#define CONNECT_MS 5000

/* Longest pause between two replies; the service sends one every 20 s while the job waits. */
#define SILENCE_MS 60000

/*
 * A service that stands by is asked for so long: as long as Slurm would have the job wait without
 * this program.
 */
#define CONTROL_S 30

static uint64_t number_of(const char *name, uint64_t otherwise)
{
	const char *text = getenv(name);
	uint64_t value;

	return text && !pm_parse_u64(text, &value) ? value : otherwise;
}

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* 0: the nodes are booted, or the limit has passed. Else the service has failed. */
static int await(int fd, const struct pm_message *request, uint64_t until_ms, struct pm_err *err)
{
	for (uint64_t now = pm_now_ms(); now < until_ms; now = pm_now_ms()) {
		cleanup_with(pm_message_done) struct pm_message reply = {0};
		uint64_t left_ms = until_ms - now;
		int rc = pm_client_receive(
			fd, request, (unsigned)least(left_ms, SILENCE_MS), &reply, err);

		if (rc == -ETIMEDOUT && left_ms <= SILENCE_MS)
			return 0;
		if (rc || reply.type == PM_MESSAGE_READY)
			return rc;
		if (reply.type != PM_MESSAGE_STILL)
			return pm_err_set(
				err, -EBADMSG, "pm-controller sent a reply to another request");
	}
	return 0;
}

static int ask(uint64_t until_ms, struct pm_err *err)
{
	const char *path = getenv("PM_CONTROLLER_SOCKET");
	struct pm_message request = {.type = PM_MESSAGE_WAIT,
		.id = (uint64_t)getpid(),
		.job_id = (uint32_t)number_of("SLURM_JOB_ID", 0),
		.uid = (uint32_t)number_of("SLURM_JOB_UID", 0),
		.nodes = getenv("SLURM_JOB_NODELIST")};
	cleanup_close int fd = -1;
	int rc;

	rc = pm_client_connect(path ? path : PM_CONTROLLER_SOCKET, CONNECT_MS, &fd, err);
	if (!rc)
		rc = pm_client_send(fd, &request, CONNECT_MS, err);
	return rc ? rc : await(fd, &request, until_ms, err);
}

/*
 * Without its slurmctld nothing waits for this process any more: the next one starts a prolog of
 * its own for the job.
 */
static bool is_orphan(pid_t parent)
{
	return getppid() != parent;
}

/*
 * A slurmctld that takes control starts the prologs before it opens its port, and the service
 * stands by until slurmctld answers it. So it is asked again.
 */
static int wait_for_nodes(pid_t parent, uint64_t until_ms, struct pm_err *err)
{
	int rc = ask(until_ms, err);

	for (int n = 0; rc == -EREMOTE && n < CONTROL_S && !is_orphan(parent); n++) {
		(void)sleep(1);
		rc = ask(until_ms, err);
	}
	return rc;
}

/* Returns only if prolog_poll cannot be run; slurmctld then looks every 30 s. */
static void poll_instead(uint64_t until_ms)
{
	char self[PATH_MAX] = "", path[PATH_MAX], limit[32];
	uint64_t now = pm_now_ms();

	if (readlink("/proc/self/exe", self, sizeof(self) - 1) < 0)
		return;
	if ((size_t)snprintf(path, sizeof(path), "%s/prolog_poll", dirname(self)) >= sizeof(path))
		return;
	snprintf(limit, sizeof(limit), "%llu",
		(unsigned long long)(until_ms > now ? (until_ms - now) / 1000 : 0));
	(void)setenv("PM_WAIT_LIMIT", limit, 1);
	(void)execl(path, "prolog_poll", NULL);
}

int main(void)
{
	pid_t parent = getppid();
	uint64_t limit_s = number_of("PM_WAIT_LIMIT", 7200);
	uint64_t until_ms = pm_now_ms() + least(limit_s, INT_MAX) * 1000;
	struct pm_err err = {0};

	pm_standard_files_open(O_RDWR);
	if (!pm_features_may_be_ours(getenv("SLURM_JOB_CONSTRAINTS")) ||
		!wait_for_nodes(parent, until_ms, &err) || is_orphan(parent))
		return 0;
	fprintf(stderr, "pm: PrologSlurmctld: job %s: %s, asking Slurm instead\n",
		getenv("SLURM_JOB_ID"), err.text);
	poll_instead(until_ms);
	return 0;
}
