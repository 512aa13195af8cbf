/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "launcher/family.h"
#include "launcher/handover.h"
#include "launcher/launch.h"
#include "launcher/program.h"
#include "plan/apply/attach.h"
#include "plan/apply/preload.h"
#include "plan/apply/runtime_files.h"
#include "plan/show.h"

#define FAILED 1

static int find_runtime(const struct pm_run_given *given, char **ret, struct pm_err *err)
{
	enum pm_run_option asked = pm_run_has(given, PM_RUN_RUNTIME)   ? PM_RUN_RUNTIME
				   : pm_run_has(given, PM_RUN_PROFILE) ? PM_RUN_PROFILE
								       : PM_RUN_ADVICE;
	const char *name = pm_preload_asked(given->value[PM_RUN_RUNTIME],
		pm_run_has(given, PM_RUN_PROFILE) || pm_run_has(given, PM_RUN_ADVICE));
	int rc = name ? pm_preload_find(name, ret, err) : 0;

	return rc ? pm_err_prefix(err, "%s", given->source[asked]) : 0;
}

/* Checks the program's file before the start: afterwards pmrun may not exist any more. */
static void report_obstacle(const char *file, const char *runtime)
{
	const char *obstacle = runtime ? pm_preload_obstacle(file) : NULL;

	if (obstacle)
		fprintf(stderr,
			"pmrun: runtime '%s' will not attach to '%s': %s, so LD_PRELOAD is not "
			"read and only the memory policy places memory\n",
			runtime, file, obstacle);
}

static void print_plan(const struct pm_launch *launch)
{
	const struct pm_plan_view view = pm_launch_view(launch);

	if (!pm_run_has(launch->given, PM_RUN_VERBOSE))
		return;
	(void)pm_plan_print_table(&view, stderr);
	if (launch->rank.launcher)
		fprintf(stderr, "\nranks by %s (%s)\n", launch->rank.launcher,
			launch->rank.variable);
}

static int become(unsigned rank, void *data)
{
	const struct pm_handover *handover = data;
	struct pm_err err;
	int rc = pm_handover(handover, rank, &err);
	bool is_exec = rc == -ENOENT || rc == -EACCES || rc == -ENOEXEC;

	fprintf(stderr, "pmrun: rank %u: %s\n", rank, err.text);
	return is_exec ? pm_program_status(rc) : FAILED;
}

static void report_missing(const struct pm_handover *handover, unsigned n)
{
	cleanup_free char *missing = NULL;

	if (handover->environment.attach_fd < 0)
		return;
	missing = pm_attach_missing(handover->environment.attach_fd, n);
	if (missing)
		fprintf(stderr,
			"pmrun: runtime '%s' did not attach in rank %s of %u: only the memory "
			"policy placed memory there\n",
			handover->environment.runtime, missing, n);
}

/* With -n pmrun outlives its ranks, so it can report a runtime that did not attach. */
static int start_ranks(unsigned n, struct pm_handover *handover)
{
	struct pm_err err;
	int status;

	if (pm_family_run(n, become, handover, &status, &err)) {
		fprintf(stderr, "pmrun: %s\n", err.text);
		return FAILED;
	}
	report_missing(handover, n);
	return status;
}

/* A single rank has a rank registry, too: its processes share its budget by it. */
static int start(const struct pm_launch *launch, struct pm_handover *handover)
{
	struct pm_rank_environment *environment = &handover->environment;
	cleanup_close int fd = environment->runtime && pm_attach_is_supported(environment->runtime)
				       ? pm_attach_open(environment->plan->n_ranks)
				       : -1;

	environment->attach_fd = fd;
	if (launch->own_ranks)
		return start_ranks(launch->own_ranks, handover);
	return become(launch->rank.rank, handover);
}

/* The plugin has bound this process and set its environment. */
static int become_program(const struct pm_launch *launch, const char *file)
{
	int rc;

	(void)execvp(file, launch->given->program);
	rc = -errno;
	fprintf(stderr, "pmrun: rank %u: execute '%s': %s\n", launch->rank.rank, file,
		strerror(-rc));
	return pm_program_status(rc);
}

int pm_launch_run(const struct pm_launch *launch)
{
	cleanup_free char *file = NULL, *runtime = NULL;
	struct pm_handover handover = {.words = launch->given->program,
		.profile = &launch->profile,
		.topology = launch->topology,
		.environment = {.plan = launch->plan,
			.pmem_dirs = launch->pmem_dirs,
			.profile = launch->given->value[PM_RUN_PROFILE],
			.advice = launch->given->value[PM_RUN_ADVICE],
			.attach_fd = -1}};
	struct pm_err err;
	int rc = pm_program_find(launch->given->program[0], &file, &err);

	if (rc)
		return pm_launch_fail(launch, err.text, pm_program_status(rc));
	if (pm_launch_is_planned(launch))
		return become_program(launch, file);
	rc = find_runtime(launch->given, &runtime, &err);
	if (!rc && runtime)
		rc = pm_runtime_files_check(
			handover.environment.profile, handover.environment.advice, &err);
	if (rc)
		return pm_launch_fail(launch, err.text, FAILED);
	if (!launch->rank.rank) { /* once for all ranks of the node */
		report_obstacle(file, runtime);
		print_plan(launch);
	}
	handover.file = file;
	handover.environment.runtime = runtime;
	return start(launch, &handover);
}
