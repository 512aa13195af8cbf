/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/slurm_conf.h"

#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "controller/slurmctld_options.h"
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

/*
 * It counts for PrologSlurmctld, too, and for the prologs and epilogs of plugins (slurm.conf(5)):
 * slurm-pmem's waits for nodes that boot, and its others may wipe persistent memory.
 */
static void warn_of_prolog_timeout(const struct pm_cluster *cluster)
{
	if (!cluster->prolog_timeout_s || cluster->prolog_timeout_s >= cluster->resume_timeout_s)
		return;
	fprintf(stderr,
		"PrologEpilogTimeout=%u is below ResumeTimeout=%u: Slurm ends slurm-pmem's prologs "
		"while nodes change their mode or wipe memory, requeues jobs and drains nodes; "
		"take at least ResumeTimeout, or leave it out\n",
		cluster->prolog_timeout_s, cluster->resume_timeout_s);
}

static bool is_program(const char *path, const char *name)
{
	const char *slash = strrchr(path, '/');

	return !strcmp(slash ? slash + 1 : path, name);
}

/*
 * Only with -R does slurmctld read at its start which features its nodes had. Nodes that are on
 * tell it anew.
 */
static void warn_of_lost_modes(const struct pm_cluster *cluster)
{
	if (pm_slurmctld_lacks_option(cluster->pid_file, 'R'))
		fprintf(stderr,
			"slurmctld runs without -R: a slurmctld that restarts knows no mode of "
			"nodes that power saving has turned off, and holds or refuses their jobs; "
			"add -R to SLURMCTLD_OPTIONS\n");
}

/* A warning is enough: nodes that are woken in the mode of their job serve. */
static void warn_of_power_saving(const struct pm_cluster *cluster, const struct pm_config *config)
{
	const char *program = cluster->resume_program;

	if (!program || !cluster->suspend_program)
		return;
	warn_of_lost_modes(cluster);
	if (!is_program(program, "pm-resume"))
		fprintf(stderr,
			"ResumeProgram=%s: with power saving no node that is on changes its mode; "
			"write pm-resume as ResumeProgram into slurm.conf, and "
			"SiteResumeProgram=%s "
			"into pmem.conf\n",
			program, program);
	else if (!strcmp(config->site_resume_program, "none"))
		fprintf(stderr,
			"SiteResumeProgram=none: with ResumeProgram=%s in slurm.conf, pmem.conf "
			"must "
			"name the site's program that turns nodes on\n",
			program);
}

#ifndef HEALTH_CHECK_NODE_NONDRAINED_IDLE
#define HEALTH_CHECK_NODE_NONDRAINED_IDLE 0 /* Slurm 22.05 has none */
#endif

/*
 * On allocated nodes the report may wait until they are idle. On drained nodes it may not:
 * pm-reachable gives back a node that the plugin has drained for a reboot (reboot.h).
 */
static void warn_of_health_states(const struct pm_cluster *cluster)
{
	if (cluster->health_states & HEALTH_CHECK_NODE_IDLE)
		return;
	if (cluster->health_states & HEALTH_CHECK_NODE_NONDRAINED_IDLE)
		fprintf(stderr,
			"HealthCheckNodeState has NONDRAINED_IDLE and not IDLE: a node that "
			"slurm-pmem has drained for a reboot may stay drained after it; take IDLE "
			"or ANY\n");
	else
		fprintf(stderr,
			"HealthCheckNodeState has no IDLE: pm-reachable does not run on idle "
			"nodes, so that jobs are sent to nodes that cannot change to their mode; "
			"take IDLE or ANY\n");
}

/* The node turns such jobs away, and they go back to the queue. */
static void warn_of_health_check(const struct pm_cluster *cluster)
{
	const char *program = cluster->health_program;

	if (!program)
		fprintf(stderr,
			"HealthCheckProgram is missing in slurm.conf, so that jobs are sent to "
			"nodes that cannot change to their mode; write pm-reachable as "
			"HealthCheckProgram, and HealthCheckInterval=60\n");
	else if (!is_program(program, "pm-reachable"))
		fprintf(stderr,
			"HealthCheckProgram=%s: unless it runs pm-reachable, jobs are sent to "
			"nodes that cannot change to their mode; write pm-reachable as "
			"HealthCheckProgram into slurm.conf, and SiteHealthCheckProgram=%s into "
			"pmem.conf\n",
			program, program);
	else if (!cluster->health_interval_s)
		fprintf(stderr,
			"HealthCheckInterval=0: pm-reachable does not run, so that jobs are sent "
			"to nodes that cannot change to their mode; write HealthCheckInterval=60 "
			"into slurm.conf\n");
	else
		warn_of_health_states(cluster);
}

void pm_warn_of_slurm_conf(const struct pm_cluster *cluster, const char *config_path)
{
	cleanup_with(pm_config_done) struct pm_config config = {0};

	tell_of_suspension(cluster);
	warn_of_prologs(cluster);
	warn_of_prolog_timeout(cluster);
	warn_of_health_check(cluster);
	if (pm_config_load(config_path, &config, NULL))
		return; /* main() has told */
	warn_of_power_saving(cluster, &config);
}
