/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>

#include "base/asprintf.h"
#include "base/cleanup.h"
#include "spank_plugin/active.h"
#include "spank_plugin/command.h"
#include "spank_plugin/contexts.h"
#include "spank_plugin/lost_reboot.h"
#include "spank_plugin/lost_prolog.h"
#include "spank_plugin/node.h"
#include "spank_plugin/reboot.h"
#include "spank_plugin/recheck.h"
#include "spank_plugin/settings.h"

/*
 * slurmd registers only after this, so nothing may take long. pmctl reads files, which takes
 * milliseconds. Slurm's commands wait for slurmctld and get slurmd's own limit (MessageTimeout):
 * without the update slurmctld keeps the earlier mode, and a node in another mode than slurmctld
 * expects is INVALID_REG (24.11).
 */
#define PMCTL_MS    3000
#define SCONTROL_MS 10000

/* The drain reason if pmctl declares the node unfit, malloc'ed; else NULL. */
static char *reason_to_drain(const struct pm_config *config)
{
	const char *argv[] = {config->pmctl_path, "health", NULL};
	struct pm_err err = {0};
	int rc = pm_command(argv, PMCTL_MS, &err);

	if (rc == PM_COMMAND_SAID_NO)
		return pm_asprintf("pm: %s", err.text);
	if (rc)
		slurm_error("pm: %s, not checking this node", err.text);
	return NULL;
}

/* If slurmctld refuses the features, the drain is sent alone. */
static int update_controller(struct pm_node_update *update, struct pm_err *err)
{
	int rc = 0;

	if (update->reason || update->active)
		rc = pm_node_update(update, err);
	if (!rc || !update->reason || !update->active)
		return rc;
	update->active = NULL;
	return pm_node_update(update, err);
}

/* -EINTR: the node reboots. */
static int check_node(const struct pm_config *config, struct pm_err *err)
{
	cleanup_free char *reason = reason_to_drain(config);
	cleanup_free char *active = NULL;
	const char *wanted;
	struct pm_node_update update = {
		.config = config, .reason = reason, .timeout_ms = SCONTROL_MS};
	int rc = pm_active_correction(config, PMCTL_MS, SCONTROL_MS, &active, err);

	if (rc)
		return rc;
	wanted = active && !reason ? pm_lost_reboot_feature(config, SCONTROL_MS) : NULL;
	if (wanted && pm_lost_reboot_repeat(config, wanted))
		return -EINTR;
	update.active = active;
	if (reason && pm_node_is_drained_by_others(config, SCONTROL_MS))
		update.reason = NULL;
	rc = update_controller(&update, err);
	if (!rc && reason)
		slurm_error("%s, %s", reason,
			update.reason ? "drained this node" : "somebody has drained this node");
	return rc;
}

int pm_slurmd_init(spank_t sp, int ac, char **av)
{
	cleanup_with(pm_config_done) struct pm_config config = {0};
	struct pm_err err = {0};
	int rc;

	(void)sp;
	if (pm_settings_load(ac, av, &config, &err)) {
		slurm_error("pm: %s, not checking this node", err.text);
		return 0;
	}
	if (pm_reboot_finish(&config, SCONTROL_MS, &err))
		slurm_error("pm: %s, leaving it to the health check", err.text);
	rc = check_node(&config, &err);
	if (rc == -EINTR)
		return rc; /* slurmd ends, as it was told to */
	if (rc)
		slurm_error("pm: %s, leaving it to the prolog", err.text);
	else
		pm_lost_prologs(&config, SCONTROL_MS);
	pm_recheck_start(&config);
	return 0;
}
