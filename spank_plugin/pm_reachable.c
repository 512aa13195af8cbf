/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pm-reachable, Slurm's HealthCheckProgram, run by slurmd as root: reports to slurmctld the modes
 * that this node can change to (reachable.h), and undrains the node after a reboot of the plugin if
 * slurmd's start could not (reboot.h). A child of it takes back flat memory that has been idle for
 * long enough (node/state/idle.h). Then it runs the site's own health check (site_health.h).
 *
 * Exit status: 1 if the site's check failed, else 0: slurmd logs the output only of a failure.
 *
 *	pm-reachable [refused] [config=FILE]
 *
 * refused: pm-helper and pm-reboot call it so when a change of mode was refused or has failed.
 * slurmctld has had the new mode as active since it ordered the change, and needs the right one
 * before slurmd registers (active.h). As soon as pm-helper has ended, slurmd registers with all
 * features, and slurmctld chooses the node again a second later. So a child stays for FOLLOW_S and
 * repeats the report.
 */
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/standard_files.h"
#include "node/state/idle.h"
#include "protocol/pmctl.h"
#include "spank_plugin/active.h"
#include "spank_plugin/command.h"
#include "spank_plugin/reachable.h"
#include "spank_plugin/reboot.h"
#include "spank_plugin/settings.h"
#include "spank_plugin/site_health.h"

/* slurmd kills a HealthCheckProgram after 60 s. */
#define TIMEOUT_MS  20000
#define SITE_END_MS 50000

#define IDLE_MS	 3600000 /* the kernel's offlining, and a wipe of terabytes */
#define FOLLOW_S 20
#define PAUSE_US 300000

/*
 * True in the child. The child leaves the helper's process group, which slurmd kills, and its pipe.
 * It keeps no file of slurmd: RebootProgram inherits the socket on slurmd's port from a slurmd
 * of 24.11 that has read its configuration again, and no other slurmd starts while a process has
 * that.
 */
static bool fork_child(void)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	if (null < 0 || fork() != 0)
		return false;
	(void)setsid();
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		(void)dup2(null, fd);
	(void)syscall(SYS_close_range, STDERR_FILENO + 1, ~0U, 0);
	return true;
}

static int repeat_report(const struct pm_config *config)
{
	for (unsigned us = 0; us < FOLLOW_S * 1000000u; us += PAUSE_US) {
		(void)pm_reachable_report(config, TIMEOUT_MS, NULL);
		(void)usleep(PAUSE_US);
	}
	return 0;
}

/* In a child, as it takes longer than slurmd waits. pmctl logs its own failures. */
static void end_idleness(const struct pm_config *config)
{
	const char *argv[] = {config->pmctl_path, "job", "idle", NULL};
	struct pm_err err = {0};
	int status = 0;

	if (!pm_idle_is_due(config) || pm_idle_wipe_runs(config) || !fork_child())
		return;
	if (pm_command_status(argv, IDLE_MS, &status, &err) && status == PM_EXIT_REBOOT)
		(void)pm_reboot_order(config, err.text, TIMEOUT_MS, NULL);
	_exit(0);
}

static int report(const struct pm_config *config, bool refused, struct pm_err *err)
{
	int rc = refused ? pm_active_report(config, TIMEOUT_MS, err) : 0;

	if (!rc)
		rc = pm_reboot_finish(config, TIMEOUT_MS, err);
	if (!rc)
		rc = pm_reachable_report(config, TIMEOUT_MS, err);
	return !rc && refused && fork_child() ? repeat_report(config) : rc;
}

static int tell(const struct pm_err *err)
{
	fprintf(stderr, "pm-reachable: %s\n", err->text);
	return 1;
}

int main(int argc, char **argv)
{
	cleanup_with(pm_config_done) struct pm_config config = {0};
	bool refused = argc > 1 && !strcmp(argv[1], "refused");
	int first = refused ? 2 : 1;
	uint64_t site_end_ms = pm_now_ms() + SITE_END_MS;
	struct pm_err err = {0};

	pm_standard_files_open(O_RDWR);
	if (pm_settings_load(argc - first, argv + first, &config, &err)) {
		(void)tell(&err);
		return 0;
	}
	if (report(&config, refused, &err))
		(void)tell(&err);
	if (!refused)
		end_idleness(&config);
	return !refused && pm_site_health_run(&config, site_end_ms, &err) ? tell(&err) : 0;
}
