/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "launcher/launch.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "launcher/request.h"
#include "launcher/srun.h"
#include "plan/apply/apply.h"
#include "plan/apply/memory_limit.h"
#include "site/rank_model.h"

/*
 * After an error the other ranks wait this long, so that the first rank can print it: a launcher
 * may end the first rank as soon as another one has failed. MPICH's launcher also sometimes dies of
 * SIGPIPE if all ranks end at once (4.0.2: 2 % on a busy host).
 */
#define FIRST_SPEAKS_S 1

bool pm_launch_only_plans(const struct pm_launch *launch)
{
	return pm_run_has(launch->given, PM_RUN_PLAN) || pm_run_has(launch->given, PM_RUN_JSON) ||
	       pm_run_has(launch->given, PM_RUN_SVG);
}

static bool has_option(const struct pm_run_given *given)
{
	for (int i = 0; i < PM_RUN_OPTIONS; i++)
		if (given->source[i] && given->source[i][0] == '-')
			return true;
	return false;
}

bool pm_launch_is_planned(const struct pm_launch *launch)
{
	const char *planned = getenv(PM_PLANNED), *job = getenv("SLURM_JOB_ID");
	const char *step = getenv("SLURM_STEP_ID");
	size_t length = job ? strlen(job) : 0;

	return launch->rank.is_srun && planned && job && step && !strncmp(planned, job, length) &&
	       planned[length] == '.' && !strcmp(planned + length + 1, step) &&
	       !has_option(launch->given);
}

static int check_words(const struct pm_launch *launch, struct pm_err *err)
{
	const struct pm_run_given *given = launch->given;
	const char *other, *elsewhere = pm_run_elsewhere(given, &other);

	if (other)
		return pm_err_set(err, -EINVAL, "%s and %s exclude each other", elsewhere, other);
	if (pm_launch_only_plans(launch))
		return 0;
	if (!given->program[0])
		return pm_err_set(err, -EINVAL, "a program is missing, try 'pmrun --help'");
	if (elsewhere)
		return pm_err_set(err, -EINVAL,
			"%s describes another machine, so no program can be started: add --plan",
			elsewhere);
	return 0;
}

/* A rank may start others only if it is the only one. */
static int check_ranks(const struct pm_launch *launch, struct pm_err *err)
{
	const struct pm_rank *rank = &launch->rank;

	if (!launch->own_ranks || rank->size == 1 || pm_launch_only_plans(launch))
		return 0;
	return pm_err_set(err, -EINVAL,
		"-n %u would be started by each of the %u ranks that %s has started: leave -n out",
		launch->own_ranks, rank->size, rank->launcher);
}

/* The user's --cpu-bind of srun holds, unless --pm-bind is given. */
static void respect_srun(struct pm_launch *launch)
{
	const char *binding = launch->rank.is_srun ? pm_srun_users_binding() : NULL;

	if (!binding || pm_run_has(launch->given, PM_RUN_BIND) || pm_launch_is_planned(launch))
		return;
	launch->request.bind = PM_BIND_NONE;
	if (!launch->rank.rank)
		fprintf(stderr,
			"pmrun: ranks stay where srun --cpu-bind=%s has put them; to bind them "
			"anew say --pm-bind=socket\n",
			binding);
}

int pm_launch_understand(struct pm_launch *launch, struct pm_err *err)
{
	int rc = check_words(launch, err);

	if (!rc)
		rc = pm_rank_detect(&launch->rank, err);
	if (!rc)
		rc = pm_run_ranks(launch->given, &launch->own_ranks, err);
	if (!rc)
		rc = check_ranks(launch, err);
	if (!rc)
		rc = pm_config_load_for(launch->given->value[PM_RUN_CONFIG],
			launch->given->value[PM_RUN_NODE], &launch->config, err);
	if (!rc)
		rc = pm_run_request(launch->given, &launch->config, &launch->request, err);
	if (!rc)
		respect_srun(launch);
	launch->request.ranks = launch->own_ranks ? launch->own_ranks : launch->rank.size;
	return rc;
}

/* The limit of this machine; a topology from a file has none. */
static int limit_memory(struct pm_launch *launch, struct pm_err *err)
{
	cleanup_close int root_fd = -1;

	if (pm_run_is_elsewhere(launch->given))
		return 0;
	root_fd = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	return pm_memory_limit(root_fd, &launch->request.memory_limit_bytes, err);
}

static int find_profile(struct pm_launch *launch, struct pm_err *err)
{
	const struct pm_run_given *given = launch->given;
	const char *own = given->value[PM_RUN_SITE_PROFILE];
	struct pm_err slip = {0};
	int rc = 0;

	if (own)
		rc = pm_rank_model_load(own, launch->config.site_profile_dir, launch->topology,
			&launch->profile, err);
	else if (pm_rank_model_load_site(
			 &launch->config, launch->topology, &launch->profile, &slip) &&
		 !launch->rank.rank)
		fprintf(stderr, "pmrun: %s\n", slip.text);
	return rc ? pm_err_prefix(err, "%s", given->source[PM_RUN_SITE_PROFILE]) : 0;
}

int pm_launch_plan(struct pm_launch *launch, struct pm_err *err)
{
	struct pm_plan_request *request = &launch->request;
	int rc = pm_machine_load(
		launch->given, &launch->rank, &launch->config, &launch->topology, err);

	if (!rc)
		rc = limit_memory(launch, err);
	if (!rc)
		rc = pm_machine_directories(&launch->config, launch->topology, &launch->view,
			&launch->pmem_dirs, &request->n_pmem_dirs, err);
	request->pmem_dirs = launch->pmem_dirs;
	if (!rc)
		rc = pm_plan_make(&launch->plan, launch->topology, request, err);
	return rc ? rc : find_profile(launch, err);
}

int pm_launch_fail(const struct pm_launch *launch, const char *text, int status)
{
	if (launch->rank.rank)
		(void)sleep(FIRST_SPEAKS_S);
	else
		fprintf(stderr, "pmrun: %s\n", text);
	return status;
}

void pm_launch_done(struct pm_launch *launch)
{
	pm_site_profile_done(&launch->profile);
	pm_plan_free(launch->plan);
	free(launch->pmem_dirs);
	pm_jobview_done(&launch->view);
	pm_topology_free(launch->topology);
	pm_config_done(&launch->config);
}
