/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/tell_substate.h"

#include <errno.h>
#include <string.h>

#include "agent/ask_controller.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "node/state/state.h"
#include "node/tools/kernel.h"

#define CALL_MS	 5000
#define AGAIN_MS 60000

/* By the journal, since a look at the namespaces takes seconds. NULL: not known. */
static const char *present(const struct pm_config *config)
{
	cleanup_with(pm_os_journal_done) struct pm_os_journal journal = {0};
	char boot_id[PM_BOOT_ID_MAX];

	if (pm_kernel_boot_id(config->fs_root, boot_id, NULL) ||
		pm_state_read_os_journal(config, &journal, NULL) || journal.state != PM_OS_DONE ||
		strcmp(journal.boot_id, boot_id) != 0)
		return NULL;
	return pm_substate_name(journal.wanted);
}

void pm_tell_substate(const struct pm_config *config, struct pm_told *told)
{
	cleanup_with(pm_message_done) struct pm_message reply = {0};
	const char *substate = present(config);
	struct pm_message message = {
		.type = PM_MESSAGE_SUBSTATE, .node = config->node, .text = (char *)substate};
	uint64_t now_ms = pm_now_ms();
	struct pm_err err;
	int rc;

	if (!substate || (told->substate && !strcmp(substate, told->substate)) ||
		now_ms < told->again_ms)
		return;
	rc = pm_ask_controller(config, CALL_MS, &message, &reply, &err);
	/* No such service, or an older one that does not know the message. */
	if (rc && rc != -ENOENT && rc != -EREMOTEIO) {
		told->again_ms = now_ms + AGAIN_MS;
		return;
	}
	told->substate = substate;
	told->again_ms = 0;
}
