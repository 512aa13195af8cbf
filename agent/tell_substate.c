/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/tell_substate.h"

#include <errno.h>
#include <string.h>

#include "agent/ask_controller.h"
#include "base/asprintf.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "node/state/jobs.h"
#include "node/state/state.h"
#include "node/tools/kernel.h"

#define CALL_MS	 5000
#define AGAIN_MS 60000

/* That of a job which has begun: file systems of an earlier boot need no change. NULL: none. */
static const char *of_job(const struct pm_config *config, const char *boot_id)
{
	cleanup_free char *dir = pm_asprintf("%s/jobs", config->state_dir);
	cleanup_with(pm_jobs_done) struct pm_jobs jobs = {0};

	if (!dir || pm_jobs_read(dir, &jobs, NULL))
		return NULL;
	for (size_t i = 0; i < jobs.n; i++)
		if (jobs.list[i].state == PM_JOB_READY && jobs.list[i].substate &&
			!strcmp(jobs.list[i].boot_id, boot_id))
			return pm_substate_name(jobs.list[i].substate);
	return NULL;
}

/* That of the last change. NULL: there was none in this boot, or it has not ended well. */
static const char *of_change(const struct pm_config *config, const char *boot_id)
{
	cleanup_with(pm_os_journal_done) struct pm_os_journal journal = {0};

	if (pm_state_read_os_journal(config, &journal, NULL) || journal.state != PM_OS_DONE ||
		strcmp(journal.boot_id, boot_id) != 0)
		return NULL;
	return pm_substate_name(journal.wanted);
}

/* A look at the namespaces would take seconds. */
static const char *present(const struct pm_config *config)
{
	char boot_id[PM_BOOT_ID_MAX];
	const char *substate;

	if (pm_kernel_boot_id(config->fs_root, boot_id, NULL))
		return NULL;
	substate = of_job(config, boot_id);
	return substate ? substate : of_change(config, boot_id);
}

void pm_tell_substate(const struct pm_config *config, struct pm_told *told)
{
	cleanup_with(pm_message_done) struct pm_message reply = {0};
	struct pm_message message = {.type = PM_MESSAGE_SUBSTATE, .node = config->node};
	uint64_t now_ms = pm_now_ms();
	const char *substate = now_ms < told->again_ms ? NULL : present(config);
	struct pm_err err;
	int rc;

	if (!substate || (told->substate && !strcmp(substate, told->substate)))
		return;
	message.text = (char *)substate;
	rc = pm_ask_controller(config, CALL_MS, &message, &reply, &err);
	/* No such service, or an older one that does not know the message. */
	if (rc && rc != -ENOENT && rc != -EREMOTEIO) {
		told->again_ms = now_ms + AGAIN_MS;
		return;
	}
	told->substate = substate;
	told->again_ms = 0;
}
