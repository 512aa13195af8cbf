/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "launcher/launch.h"
#include "launcher/options.h"

enum { DONE, FAILED, USAGE };

static int print_help(void)
{
	printf("usage: pmrun [OPTION]... PROGRAM [ARGUMENT]...\n"
	       "       pmrun --plan [-n N] [--json] [--svg=FILE] [--topology=FILE.xml]\n\n"
	       "Binds each rank to its socket, gives it its share of the DRAM, and becomes the "
	       "program.\n"
	       "Under mpirun or srun it finds out which rank it is; -n starts ranks itself.\n\n"
	       "options (and the environment variables that mean the same):\n");
	pm_run_options_help(stdout);
	printf("\nexit status: the program's; 1 failed, 2 wrong usage, 126 and 127 as a shell has "
	       "them; see pmrun(1)\n");
	return DONE;
}

static int plan_and_go(struct pm_launch *launch)
{
	struct pm_err err;

	if (pm_launch_understand(launch, &err))
		return pm_launch_fail(launch, err.text, USAGE);
	if (pm_launch_is_planned(launch))
		return pm_launch_run(launch);
	if (pm_launch_plan(launch, &err))
		return pm_launch_fail(launch, err.text, FAILED);
	if (!pm_launch_only_plans(launch))
		return pm_launch_run(launch);
	if (launch->rank.rank)
		return DONE;
	return pm_launch_show(launch, &err) ? pm_launch_fail(launch, err.text, FAILED) : DONE;
}

static int run(int argc, char **argv)
{
	struct pm_run_given given;
	struct pm_launch launch = {.given = &given};
	struct pm_err err;
	int status;

	if (pm_run_options_read(argc, argv, &given, &err))
		return pm_launch_fail(&launch, err.text, USAGE);
	if (pm_run_has(&given, PM_RUN_HELP))
		return print_help();
	if (pm_run_has(&given, PM_RUN_VERSION)) {
		puts("pmrun " PM_VERSION);
		return DONE;
	}
	status = plan_and_go(&launch);
	pm_launch_done(&launch);
	return status;
}

int main(int argc, char **argv)
{
	int status = run(argc, argv);

	if (fflush(stdout)) {
		fprintf(stderr, "pmrun: write to stdout: %s\n", strerror(errno));
		return FAILED;
	}
	return status;
}
