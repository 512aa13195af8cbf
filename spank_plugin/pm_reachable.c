/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pm-reachable, Slurm's HealthCheckProgram: tells the controller which modes this node can serve,
 *see reachable.h. Always exits 0: slurmd logs other statuses and does nothing.
 *
 *	pm-reachable [config=FILE]
 */
#include <stdio.h>

#include "lib/cleanup.h"
#include "spank_plugin/reachable.h"
#include "spank_plugin/settings.h"

/* slurmd ends the program after 60 s. */
#define TIMEOUT_MS 20000

int main(int argc, char **argv)
{
	cleanup_with(pm_config_done) struct pm_config config = {0};
	struct pm_err err = {0};

	if (pm_settings_load(argc - 1, argv + 1, &config, &err) ||
		pm_reachable_tell(&config, TIMEOUT_MS, &err))
		fprintf(stderr, "pm-reachable: %s\n", err.text);
	return 0;
}
