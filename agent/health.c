/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/health.h"

#include <errno.h>
#include <string.h>

#include "base/cleanup.h"
#include "node/see/observe.h"

static int check_journal(const struct pm_journal *journal, const char *boot_id, struct pm_err *err)
{
	if (journal->state == PM_JOURNAL_FAILED)
		return pm_err_set(err, -EIO, "%s", journal->reason ? journal->reason : "failed");
	if (pm_journal_is_open(journal) && strcmp(journal->boot_id, boot_id))
		return pm_err_set(err, -EIO,
			"goal %s is from before this boot and not verified, run 'pmctl verify'",
			pm_mode_name(journal->mode));
	return 0;
}

int pm_node_health_mode(const struct pm_config *config, bool fresh, struct pm_err *err)
{
	struct pm_observation seen;
	int rc = pm_observe(config, fresh, &seen, err);

	if (rc)
		return pm_err_prefix(err, "the node's mode cannot be read");
	if (!seen.record.verdict.platform)
		return pm_err_set(
			err, -EIO, "the node's mode is unknown: %s", seen.record.verdict.why);
	return 0;
}

int pm_node_health(const struct pm_config *config, struct pm_err *err)
{
	cleanup_with(pm_journal_done) struct pm_journal journal = {0};
	char boot_id[PM_BOOT_ID_MAX];
	int rc = pm_state_read_journal(config, &journal, err);

	if (!rc)
		rc = pm_kernel_boot_id(config->fs_root, boot_id, err);
	if (!rc)
		rc = check_journal(&journal, boot_id, err);
	return rc ? rc : pm_node_health_mode(config, /* fresh= */ false, err);
}
