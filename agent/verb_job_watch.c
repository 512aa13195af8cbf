/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/ask_controller.h"
#include "agent/pmctl.h"
#include "agent/tell_substate.h"
#include "base/asprintf.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/lock.h"
#include "node/state/job_use.h"
#include "node/state/jobview.h"

#define JOBS_MAX 256

/* Every second at first: a short job would end unseen. */
#define CLOSELY_S 30

/* Pauses between tries to reach pm-controller; at the last one the rest waits for the next job. */
#define RETRY_S 10
#define TRIES	60
#define CALL_MS 5000

/* The record is removed at the job's end, or by the boot's recovery. */
static bool has_record(const struct pm_config *config, uint32_t job_id)
{
	cleanup_free char *path = pm_job_record_path(config->state_dir, job_id);

	return path && !access(path, F_OK);
}

/* The number of jobs that run. */
static size_t look_at_all(const struct pm_agent *agent)
{
	const struct pm_config *config = &agent->op.config;
	uint32_t jobs[JOBS_MAX];
	size_t n = pm_use_list(config, /* ended= */ false, jobs, JOBS_MAX), running = 0;
	struct pm_err err;

	for (size_t i = 0; i < n; i++) {
		if (!has_record(config, jobs[i])) {
			(void)pm_use_end(config, jobs[i], /* cleanup_ms= */ 0, &err);
			continue;
		}
		running++;
		if (config->job_use_interval_s)
			(void)pm_use_look(config, jobs[i], &err);
	}
	return running;
}

static json_object *as_list(const struct pm_job_use *use)
{
	json_object *list = json_object_new_array();

	if (list)
		pm_fields_format(pm_job_use_fields, use, pm_json_append_object(list));
	return list;
}

/*
 * 0: pm-controller has it, or never will: no such service, or one that refuses it. A file that
 * cannot be read is removed.
 */
static int send_one(const struct pm_agent *agent, uint32_t job_id, struct pm_err *err)
{
	cleanup_with(pm_job_use_done) struct pm_job_use use = {0};
	cleanup_with(pm_json_cleanup) json_object *list = NULL;
	cleanup_with(pm_message_done) struct pm_message reply = {0};
	struct pm_message message = {
		.type = PM_MESSAGE_USED, .job_id = job_id, .node = agent->op.config.node};
	int rc;

	if (pm_use_read_ended(&agent->op.config, job_id, &use, err))
		return pm_use_sent(&agent->op.config, job_id, err);
	list = as_list(&use);
	if (!list)
		return pm_err_nomem(err);
	message.list = list;
	rc = pm_ask_controller(&agent->op.config, CALL_MS, &message, &reply, err);
	if (rc && rc != -ENOENT && rc != -EREMOTEIO)
		return rc;
	if (!rc && reply.type == PM_MESSAGE_STILL)
		return -EAGAIN;
	return pm_use_sent(&agent->op.config, job_id, err);
}

/* True: nothing is left to send. */
static bool send_all(const struct pm_agent *agent)
{
	uint32_t jobs[JOBS_MAX];
	size_t n = pm_use_list(&agent->op.config, /* ended= */ true, jobs, JOBS_MAX);
	struct pm_err err;

	for (size_t i = 0; i < n; i++)
		if (send_one(agent, jobs[i], &err))
			return false;
	return n < JOBS_MAX;
}

/* Until no job runs and nothing is left to send, or pm-controller does not answer. */
static void watch(const struct pm_agent *agent)
{
	unsigned interval_s = agent->op.config.job_use_interval_s ?: RETRY_S, tries = 0;
	uint64_t since_ms = pm_now_ms(), sent_ms = 0;
	struct pm_told told = {0};
	bool sent = false;

	for (;;) {
		uint64_t now_ms = pm_now_ms();
		size_t running = look_at_all(agent);

		pm_tell_substate(&agent->op.config, &told);
		if (!sent_ms || now_ms - sent_ms >= RETRY_S * 1000) {
			sent = send_all(agent);
			sent_ms = sent ? 0 : now_ms;
			tries = sent ? 0 : tries + 1;
		}
		if (!running && (sent || tries >= TRIES))
			return;
		(void)sleep(now_ms - since_ms < CLOSELY_S * 1000 ? 1 : interval_s);
	}
}

static int enter(const struct pm_agent *agent, int *ret_fd, struct pm_err *err)
{
	cleanup_free char *path = pm_asprintf("%s/watch.lock", agent->op.config.run_dir);

	return path ? pm_lock_take(path, agent->op.name, 0, ret_fd, err) : pm_err_nomem(err);
}

static bool has_work(const struct pm_agent *agent)
{
	uint32_t job;

	return pm_use_list(&agent->op.config, /* ended= */ false, &job, 1) != 0;
}

/*
 * A job that begins while this process ends starts another one, which finds the lock taken: so this
 * one looks again after it has released the lock.
 */
int pm_verb_job_watch(struct pm_agent *agent)
{
	struct pm_err err;
	int rc;

	do {
		cleanup_close int fd = -1;

		rc = enter(agent, &fd, &err);
		if (rc == -EBUSY)
			return PM_EXIT_DONE;
		if (rc)
			return pm_fail(agent, &err);
		watch(agent);
	} while (has_work(agent));
	return PM_EXIT_DONE;
}
