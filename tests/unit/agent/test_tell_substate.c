/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdio.h>

#include "agent/ask_controller.h"
#include "agent/tell_substate.h"
#include "base/cleanup.h"
#include "node/state/jobs.h"
#include "node/state/state.h"
#include "tests/unit/scratch.h"
#include "tests/unit/tap.h"

#define BOOT "11111111-2222-3333-4444-555555555555"

static char asked[40];
static int answer;

/* In place of agent/ask_controller.c: the service. */
int pm_ask_controller(const struct pm_config *config, unsigned timeout_ms,
	struct pm_message *request, struct pm_message *ret, struct pm_err *err)
{
	(void)config, (void)timeout_ms, (void)ret, (void)err;
	snprintf(asked, sizeof(asked), "%s", request->text);
	return answer;
}

/* What is told, "" for nothing. */
static const char *told_by(const struct pm_config *config, struct pm_told *told)
{
	asked[0] = '\0';
	pm_tell_substate(config, told);
	return asked;
}

static void change(const struct pm_config *config, enum pm_substate wanted, const char *boot_id)
{
	cleanup_with(pm_os_journal_done) struct pm_os_journal journal = {0};
	struct pm_err err;

	pm_os_journal_begin(&journal, wanted, boot_id);
	(void)pm_os_journal_end(&journal, NULL, &err);
	is_number(pm_state_write_os_journal(config, &journal, &err), 0, "a change");
}

static void begin(const char *boot_id, enum pm_substate substate)
{
	struct pm_job job = {.id = 12, .uid = 1000, .state = PM_JOB_READY, .substate = substate};
	struct pm_err err;

	job.mode = substate == PM_SUBSTATE_FLAT ? PM_MODE_FLAT : PM_MODE_APPDIRECT;
	snprintf(job.boot_id, sizeof(job.boot_id), "%s", boot_id);
	snprintf(job.time, sizeof(job.time), "2026-11-26T12:00:00Z");
	is_number(pm_job_write(scratch_path("state/jobs"), &job, &err), 0, "a job");
}

int main(void)
{
	struct pm_config config = {.fs_root = (char *)scratch_dir(), .node = (char *)"n1"};
	struct pm_told told = {0};

	scratch_file("proc/sys/kernel/random/boot_id", BOOT "\n");
	scratch_file("state/jobs/.keep", "");
	config.state_dir = strdup(scratch_path("state"));
	is_text(told_by(&config, &told), "", "nothing is known");
	change(&config, PM_SUBSTATE_FLAT, "another-boot");
	is_text(told_by(&config, &told), "", "a change before this boot");
	begin(BOOT, PM_SUBSTATE_FSDAX);
	is_text(told_by(&config, &told), "fsdax", "of a job that has begun");
	is_text(told_by(&config, &told), "", "once");
	change(&config, PM_SUBSTATE_DEVDAX, BOOT);
	begin("another-boot", PM_SUBSTATE_FSDAX);
	answer = -ETIMEDOUT;
	is_text(told_by(&config, &told), "devdax", "of a change, no job of this boot has any");
	is_text(told_by(&config, &told), "", "no answer: not at once again");
	ok(told.again_ms, "but later");
	told.again_ms = 0;
	answer = -EREMOTEIO;
	is_text(told_by(&config, &told), "devdax", "told again");
	is_text(told_by(&config, &told), "", "not to a service that does not know it");
	free(config.state_dir);
	return tap_done();
}
