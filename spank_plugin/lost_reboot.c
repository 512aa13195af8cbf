/* SPDX-License-Identifier: Apache-2.0 */
#include "spank_plugin/lost_reboot.h"

#include <errno.h>
#include <slurm/spank.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/cleanup.h"
#include "site/delay_boot.h"
#include "site/features.h"
#include "spank_plugin/active.h"
#include "spank_plugin/command.h"
#include "spank_plugin/node.h"

#define MODE_MS	       3000
#define REBOOT_MS      20000
#define GOING_DOWN_S   60
#define TOOLS_PER_GOAL 10 /* runs of tools, each up to ToolTimeout */
#define FEATURES_MAX   1024
#define DELAY_MAX      31
#define DAY_S	       86400

/* The feature of the one platform mode that the constraint allows; NULL: none, or several. */
static const char *feature_wanted(const char *constraint)
{
	struct pm_features features = {0};
	const char *wanted = NULL;

	if (pm_features_read(constraint, &features, NULL) || !features.mentioned)
		return NULL;
	pm_mode_foreach(row) {
		if (!pm_features_allow(&features, row->mode))
			continue;
		if (wanted && strcmp(wanted, row->feature))
			return NULL;
		wanted = row->feature;
	}
	return wanted;
}

/*
 * No node is to change its mode for the job, or none as yet: pmem.lua gave it a DelayBoot of years
 * (site/delay_boot.h). slurmctld looks at it before it orders a reboot, and 24.11 does not before
 * it wakes a node that power saving has turned off. squeue prints INVALID for more than a year.
 */
static bool is_without_permit(const char *delay)
{
	return !strcmp(delay, "INVALID") || strtoul(delay, NULL, 10) >= PM_DELAY_WAIT_S / DAY_S;
}

/*
 * Reads a line of squeue. False: the node does not change its mode for this job. *ret_feature is
 * the one that the job wants; NULL if the line or the constraint cannot be read.
 */
static bool read_waiting(const char *line, const char **ret_feature)
{
	char delay[DELAY_MAX + 1], constraint[FEATURES_MAX + 1];

	*ret_feature = NULL;
	if (sscanf(line, "%*u %31s %1024[^ \n]", delay, constraint) != 2)
		return true;
	if (is_without_permit(delay))
		return false;
	*ret_feature = feature_wanted(constraint);
	return true;
}

/* The feature that all jobs waiting for this node's boot want; NULL: none, or not the same. */
static const char *feature_waited_for(const struct pm_config *config, unsigned squeue_ms)
{
	cleanup_with(pm_output_done) struct pm_output output = {0};
	cleanup_free char *node = pm_node_name();
	const char *argv[] = {config->squeue_path, "--local", "--noheader", "--states=CONFIGURING",
		"--nodelist", node, "--Format=JobID:12,DelayBoot:20,Feature:1024", NULL};
	const char *all = NULL, *one;

	if (!node || pm_command_output(argv, squeue_ms, &output, NULL))
		return NULL;
	for (const char *line = output.out; *line; line = pm_next_line(line)) {
		if (!read_waiting(line, &one))
			continue;
		if (!one || (all && strcmp(all, one)))
			return NULL;
		all = one;
	}
	return all;
}

static int change(const struct pm_config *config, const char *feature, struct pm_err *err)
{
	const char *const stage[] = {config->pmctl_path, "helper", feature, NULL};
	const char *const boot[] = {config->pmctl_path, "reboot", feature, NULL};
	int rc = pm_command(stage, config->tool_timeout_s * TOOLS_PER_GOAL * 1000, err);

	return rc ? rc : pm_command(boot, REBOOT_MS, err);
}

/*
 * Waits until the machine goes down. True if slurmd was told to end (a signal), false after
 * GOING_DOWN_S.
 */
static bool is_going_down(void)
{
	const struct timespec time = {.tv_sec = GOING_DOWN_S};

	return nanosleep(&time, NULL) && errno == EINTR;
}

const char *pm_lost_reboot_feature(const struct pm_config *config, unsigned squeue_ms)
{
	const char *is = pm_active_feature(config, MODE_MS);
	const char *wanted = is ? feature_waited_for(config, squeue_ms) : NULL;

	return wanted && strcmp(is, wanted) ? wanted : NULL;
}

int pm_lost_reboot_repeat(const struct pm_config *config, const char *wanted)
{
	struct pm_err err = {0};

	slurm_info("pm: a job waits for this node with %s, and it is back in another mode: "
		   "changing it again",
		wanted);
	if (change(config, wanted, &err)) {
		slurm_error("pm: %s, leaving the job to its prolog", err.text);
		return 0;
	}
	if (is_going_down())
		return -EINTR;
	slurm_error("pm: this node has not gone down, leaving the job to its prolog");
	return 0;
}
