/* SPDX-License-Identifier: Apache-2.0 */
#include "spank_plugin/reboot.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/asprintf.h"
#include "base/cleanup.h"
#include "base/file.h"
#include "spank_plugin/node.h"

#define REASON "pm: rebooting: "

static char *mark_path(const struct pm_config *config)
{
	return pm_asprintf("%s/rebooting", config->state_dir);
}

static int drain(const struct pm_config *config, const char *sentence, unsigned timeout_ms,
	struct pm_err *err)
{
	cleanup_free char *reason = pm_asprintf(REASON "%s", sentence);
	struct pm_node_update update = {
		.config = config, .timeout_ms = timeout_ms, .reason = reason};

	return reason ? pm_node_update(&update, err) : pm_err_nomem(err);
}

/* The order comes first: while it is pending the health check waits for it (look_after()). */
int pm_reboot_order(const struct pm_config *config, const char *sentence, unsigned timeout_ms,
	struct pm_err *err)
{
	cleanup_with(pm_node_known_done) struct pm_node_known known = {0};
	cleanup_free char *mark = mark_path(config);
	int rc = mark ? pm_node_reboot(config, timeout_ms, err) : pm_err_nomem(err);

	if (!rc)
		rc = pm_node_ask(config, timeout_ms, &known, err);
	if (rc || pm_node_is_drained(&known))
		return rc;
	rc = pm_file_write(mark, 0644, "", 0, err);
	return rc ? rc : drain(config, sentence, timeout_ms, err);
}

static bool is_ours(const struct pm_node_known *known)
{
	return !strncmp(known->reason, REASON, strlen(REASON));
}

static int undrain(const struct pm_config *config, unsigned timeout_ms, struct pm_err *err)
{
	const struct pm_node_update update = {
		.config = config, .state = "undrain", .timeout_ms = timeout_ms};

	return pm_node_update(&update, err);
}

/*
 * Drains the node again if the undrain has removed the drain of an administrator, who drained the
 * node after the plugin looked at it. Slurm keeps the reason, with " [user@time]".
 */
static int put_back(const struct pm_config *config, unsigned timeout_ms, struct pm_err *err)
{
	cleanup_with(pm_node_known_done) struct pm_node_known known = {0};
	struct pm_node_update update = {.config = config, .timeout_ms = timeout_ms};
	char *who;
	int rc = pm_node_ask(config, timeout_ms, &known, err);

	if (rc || !*known.reason || is_ours(&known) || pm_node_is_drained(&known))
		return rc;
	who = strstr(known.reason, " [");
	if (who)
		*who = '\0';
	update.reason = known.reason;
	return pm_node_update(&update, err);
}

static int take_back(const struct pm_config *config, unsigned timeout_ms, struct pm_err *err)
{
	int rc = undrain(config, timeout_ms, err);

	return rc ? rc : put_back(config, timeout_ms, err);
}

static int look_after(
	const struct pm_config *config, const char *mark, unsigned timeout_ms, struct pm_err *err)
{
	cleanup_with(pm_node_known_done) struct pm_node_known known = {0};
	int rc = pm_node_ask(config, timeout_ms, &known, err);

	if (rc || strstr(known.state, "REBOOT_REQUESTED"))
		return rc;
	if (pm_node_is_drained(&known) && is_ours(&known))
		rc = take_back(config, timeout_ms, err);
	if (!rc && unlink(mark))
		rc = pm_err_sys(err, -errno, "remove '%s'", mark);
	return rc;
}

bool pm_reboot_is_ordered(const struct pm_config *config)
{
	cleanup_free char *mark = mark_path(config);

	return !mark || !access(mark, F_OK);
}

int pm_reboot_finish(const struct pm_config *config, unsigned timeout_ms, struct pm_err *err)
{
	cleanup_free char *mark = mark_path(config);

	if (!mark)
		return pm_err_nomem(err);
	return access(mark, F_OK) ? 0 : look_after(config, mark, timeout_ms, err);
}
