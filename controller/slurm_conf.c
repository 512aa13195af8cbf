/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/slurm_conf.h"

#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "site/config.h"

/* A job of another mode preempts none by suspension, which its owner may expect. */
static void tell_of_suspension(const struct pm_cluster *cluster)
{
	if (cluster->suspends)
		fprintf(stderr,
			"PreemptMode=SUSPEND: a node with suspended jobs stays in their mode; a "
			"job of another mode waits until they have ended\n");
}

/* slurmstepd of 24.11 looks for prologs of plugins before it has loaded any. */
static void warn_of_prologs(const struct pm_cluster *cluster)
{
	if (cluster->runs_in_job)
		fprintf(stderr,
			"PrologFlags=RunInJob: Slurm runs no prolog of a plugin then, so no node "
			"is prepared and no job with a mode runs; take RunInJob out of "
			"slurm.conf\n");
}

static bool is_pm_resume(const char *program)
{
	const char *slash = strrchr(program, '/');

	return !strcmp(slash ? slash + 1 : program, "pm-resume");
}

/* A warning is enough: a node that is woken in the mode of its job serves as without power saving.
 */
static void warn_of_power_saving(const struct pm_cluster *cluster, const char *config_path)
{
	cleanup_with(pm_config_done) struct pm_config config = {0};
	const char *program = cluster->resume_program;

	if (!program || !cluster->suspend_program || pm_config_load(config_path, &config, NULL))
		return;
	if (!is_pm_resume(program))
		fprintf(stderr,
			"ResumeProgram=%s: with power saving no node that is on changes its mode; "
			"write pm-resume as ResumeProgram into slurm.conf, and "
			"SiteResumeProgram=%s "
			"into pmem.conf\n",
			program, program);
	else if (!strcmp(config.site_resume_program, "none"))
		fprintf(stderr,
			"SiteResumeProgram=none: with ResumeProgram=%s in slurm.conf, pmem.conf "
			"must "
			"name the site's program that turns nodes on\n",
			program);
}

void pm_warn_of_slurm_conf(const struct pm_cluster *cluster, const char *config_path)
{
	tell_of_suspension(cluster);
	warn_of_prologs(cluster);
	warn_of_power_saving(cluster, config_path);
}
