/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pm-reachable, Slurm's HealthCheckProgram: tells the controller which modes this node can serve,
 * see reachable.h, and takes the node back after a reboot of ours where slurmd's start could not,
 * see reboot.h. Always exits 0: slurmd logs other statuses and does nothing.
 *
 *	pm-reachable [refused] [config=FILE]
 *
 * refused: a change of mode was refused just now, says pm-helper. The controller, which takes the
 * new mode for active since it ordered the change, has to be told before slurmd registers: see
 * active.h. As soon as pm-helper has ended slurmd does register, with all features, and the
 * controller chooses the node again a second later: so a child stays behind for a while and tells
 * again.
 */
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "spank_plugin/active.h"
#include "spank_plugin/reachable.h"
#include "spank_plugin/reboot.h"
#include "spank_plugin/settings.h"

/* slurmd ends the program after 60 s. */
#define TIMEOUT_MS 20000

#define FOLLOW_S 20
#define PAUSE_US 300000

/* Out of the helper's process group, which slurmd kills, and with nothing of its pipe. */
static bool leave(void)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	if (null < 0 || fork() != 0)
		return false;
	(void)setsid();
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		(void)dup2(null, fd);
	return true;
}

static int tell_again(const struct pm_config *config)
{
	for (unsigned us = 0; us < FOLLOW_S * 1000000u; us += PAUSE_US) {
		(void)pm_reachable_report(config, TIMEOUT_MS, NULL);
		(void)usleep(PAUSE_US);
	}
	return 0;
}

static int tell(const struct pm_config *config, bool refused, struct pm_err *err)
{
	int rc = refused ? pm_active_report(config, TIMEOUT_MS, err) : 0;

	if (!rc)
		rc = pm_reboot_finish(config, TIMEOUT_MS, err);
	if (!rc)
		rc = pm_reachable_report(config, TIMEOUT_MS, err);
	return !rc && refused && leave() ? tell_again(config) : rc;
}

int main(int argc, char **argv)
{
	cleanup_with(pm_config_done) struct pm_config config = {0};
	bool refused = argc > 1 && !strcmp(argv[1], "refused");
	int first = refused ? 2 : 1;
	struct pm_err err = {0};

	if (pm_settings_load(argc - first, argv + first, &config, &err) ||
		tell(&config, refused, &err))
		fprintf(stderr, "pm-reachable: %s\n", err.text);
	return 0;
}
