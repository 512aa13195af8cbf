/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <string.h>

#include "agent/pmctl.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/strv.h"
#include "base/units.h"
#include "node/act/background.h"
#include "node/act/job.h"
#include "node/act/renew_record.h"
#include "node/state/job_use.h"
#include "node/state/state.h"

static int usage(const struct pm_agent *agent, const char *text)
{
	fprintf(stderr, "pmctl: %s: %s\n", agent->verb->name, text);
	return PM_EXIT_USAGE;
}

/* True: each of the names is a mode. Else prints a message, like any wrong usage. */
static bool are_modes(char *const *names)
{
	cleanup_free char *all = pm_mode_names();

	for (size_t i = 0; names[i]; i++) {
		if (pm_mode_by_name(names[i]))
			continue;
		fprintf(stderr, "pmctl: job begin: unknown mode '%s' in --expect, modes are: %s\n",
			names[i], all ? all : "");
		return false;
	}
	if (!names[0])
		fprintf(stderr, "pmctl: job begin: --expect names no mode\n");
	return names[0] != NULL;
}

/* Digits only; the highest number is not an id, chown(2). */
static bool read_id(const char *text, uint32_t *ret)
{
	uint64_t number;

	if (!text || pm_parse_u64(text, &number) || number >= UINT32_MAX)
		return false;
	*ret = (uint32_t)number;
	return true;
}

static bool read_namespace(const char *text, bool *ret_wants_devices)
{
	*ret_wants_devices = text && !strcmp(text, "devdax");
	return !text || *ret_wants_devices || !strcmp(text, "fsdax");
}

static bool is_word(const char *text)
{
	size_t length =
		strspn(text, "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz:.-");

	return length && length < 64 && !text[length];
}

static bool read_memory(const char *text, struct pm_job_request *ret)
{
	ret->all_memory = text && !strcmp(text, "all");
	return !text || ret->all_memory || !pm_parse_size(text, &ret->memory_bytes);
}

/* NULL, or a sentence about the first wrong option. */
static const char *read_request(const struct pm_agent *agent, struct pm_job_request *ret)
{
	if (pm_job_parse_id(agent->job, &ret->id))
		return "--job=ID: a job's number expected";
	if (!read_id(agent->uid, &ret->uid))
		return "--uid=UID: a user's number expected";
	if (!read_id(agent->gid, &ret->gid))
		return "--gid=GID: a group's number expected";
	if (agent->size && (pm_parse_size(agent->size, &ret->size_bytes) || !ret->size_bytes))
		return "--size=SIZE: a size like 100G expected";
	ret->run = agent->run;
	if (ret->run && !is_word(ret->run))
		return "--run=WORD: up to 63 letters, digits and any of ':.-' expected";
	if (!read_memory(agent->memory, ret))
		return "--memory=SIZE|all: a size like 100G expected";
	if (agent->allocated && pm_parse_size(agent->allocated, &ret->allocated_bytes))
		return "--allocated=SIZE: a size like 100G expected";
	if (!read_namespace(agent->namespace, &ret->wants_devices))
		return "--namespace: fsdax or devdax expected";
	return NULL;
}

static int lock(const struct pm_agent *agent, int *ret_fd, struct pm_err *err)
{
	return pm_state_lock_within(&agent->op, agent->op.config.tool_timeout_s, ret_fd, err);
}

static int finish(const struct pm_agent *agent, int status, const struct pm_err *err)
{
	if (status)
		(void)pm_fail(agent, err);
	return status;
}

static int check_mode(const struct pm_agent *agent, char *const *modes)
{
	const struct pm_mode_info *row;
	struct pm_kernel kernel;
	struct pm_err err;

	return pm_job_choose_mode(&agent->op, agent->expect, modes, &row, &kernel, &err)
		       ? pm_fail(agent, &err)
		       : PM_EXIT_DONE;
}

/* Nothing depends on what is known of a job's use, so a failure is only logged. */
static void begin_use(const struct pm_agent *agent, uint32_t job_id, uint64_t setup_ms)
{
	cleanup_with(pm_jobs_done) struct pm_jobs jobs = {0};
	const struct pm_job *job;
	struct pm_err err;

	if (pm_jobs_of(&agent->op, &jobs, &err))
		return;
	job = pm_jobs_find(&jobs, job_id);
	if (!job)
		return;
	if (pm_use_begin(&agent->op.config, job, setup_ms, &err))
		pm_warn(&agent->op, "%s; the job's report will not have this node", err.text);
	else
		pm_background_start(&agent->op, (const char *const[]){"job", "watch", NULL});
}

static int begin(const struct pm_agent *agent, char *const *modes)
{
	struct pm_job_request request = {
		.expect = agent->expect, .modes = modes, .is_shared = agent->given & PM_OPT_SHARED};
	const char *wrong = read_request(agent, &request);
	uint64_t since_ms = pm_now_ms();
	cleanup_close int lock_fd = -1;
	struct pm_err err;
	int status;

	if (wrong)
		return usage(agent, wrong);
	if (lock(agent, &lock_fd, &err))
		return pm_fail(agent, &err);
	if (pm_renew_record(&agent->op, &err))
		pm_warn(&agent->op, "%s", err.text);
	status = finish(agent, pm_job_begin(&agent->op, &request, &err), &err);
	if (status == PM_EXIT_DONE)
		begin_use(agent, request.id, pm_now_ms() - since_ms);
	return status;
}

int pm_verb_job_begin(struct pm_agent *agent)
{
	cleanup_with(pm_strv_cleanup) char **modes = NULL;

	if (!agent->expect)
		return usage(agent, "--expect=MODE is missing");
	modes = pm_strv_split(agent->expect, ",");
	if (!modes || !are_modes(modes))
		return PM_EXIT_USAGE;
	return agent->job ? begin(agent, modes) : check_mode(agent, modes);
}

/* The one that was started at the job's begin may have been killed. */
static void end_use(const struct pm_agent *agent, uint32_t job_id, uint64_t cleanup_ms)
{
	if (!pm_use_end(&agent->op.config, job_id, cleanup_ms, NULL))
		pm_background_start(&agent->op, (const char *const[]){"job", "watch", NULL});
}

int pm_verb_job_end(struct pm_agent *agent)
{
	cleanup_close int lock_fd = -1;
	uint64_t since_ms;
	struct pm_err err;
	uint32_t id;
	int status;

	if (!agent->job || pm_job_parse_id(agent->job, &id))
		return usage(agent, "--job=ID: a job's number expected");
	if (lock(agent, &lock_fd, &err))
		return pm_fail(agent, &err);
	since_ms = pm_now_ms();
	(void)pm_use_look(&agent->op.config, id, NULL);
	status = finish(agent, pm_job_end(&agent->op, id, &err), &err);
	end_use(agent, id, pm_now_ms() - since_ms);
	return status;
}
