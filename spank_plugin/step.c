/* SPDX-License-Identifier: Apache-2.0 */
#include "spank_plugin/step.h"

#include <errno.h>
#include <slurm/slurm.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/slurm_steps.h"
#include "node/state/jobview.h"
#include "plan/apply/attach.h"
#include "plan/apply/preload.h"
#include "site/plan.h"
#include "site/rank_model.h"
#include "spank_plugin/contexts.h"
#include "spank_plugin/end_report.h"
#include "spank_plugin/option.h"
#include "spank_plugin/settings.h"
#include "spank_plugin/skipped_prolog.h"

#define MAX_VALUE 4096

static struct pm_step step = {.attach_fd = -1};

const struct pm_step *pm_step(void)
{
	return &step;
}

/* Batch, interactive and extern steps have higher numbers: their processes are not ranks. */
static bool is_srun(spank_t sp)
{
	uint32_t id;

	return spank_get_item(sp, S_JOB_STEPID, &id) == ESPANK_SUCCESS &&
	       id <= SLURM_MAX_NORMAL_STEP_ID;
}

/*
 * True for daemons that mpirun starts by srun, one on each node, to start the ranks; pmrun binds
 * those ranks.
 */
static bool is_daemon(spank_t sp)
{
	static const char *const names[] = {
		"orted", "prted", "hydra_pmi_proxy", "hydra_bstrap_proxy", "pmi_proxy"};
	char **words = NULL;
	const char *name;
	int n = 0;

	if (spank_get_item(sp, S_JOB_ARGV, &n, &words) != ESPANK_SUCCESS || !n)
		return false;
	name = strrchr(words[0], '/') ? strrchr(words[0], '/') + 1 : words[0];
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!strcmp(name, names[i]))
			return true;
	return false;
}

/*
 * True if the option, or its variable in the step's environment, is given; the value 0 of a flag's
 * variable counts as not given. `source` is the name of the one that is given. `room` holds the
 * variable's value, so *ret_value is good as long as `room`.
 */
static bool asked(spank_t sp, enum pm_option option, char room[MAX_VALUE], const char **ret_value,
	char source[40])
{
	const struct pm_option_info *info = pm_option_info(option);
	const char *given = pm_option_given(option);

	if (given) {
		snprintf(source, 40, "--%s", info->name);
		*ret_value = given;
		return true;
	}
	if (spank_getenv(sp, info->twin, room, MAX_VALUE) != ESPANK_SUCCESS || !*room)
		return false;
	snprintf(source, 40, "%s", info->twin);
	*ret_value = room;
	return info->arginfo || strcmp(room, "0");
}

static int read_words(spank_t sp, struct pm_err *err)
{
	char room[MAX_VALUE], source[40];
	const char *value;
	int rc = 0;

	for (enum pm_plan_word word = 0; !rc && word < PM_PLAN_WORDS; word++) {
		if (!asked(sp, PM_OPTION_PLAN + word, room, &value, source))
			continue;
		step.insists = true;
		rc = pm_plan_take(word, source, value, &step.request, err);
	}
	return rc;
}

/* *ret is the option's value, malloc'ed and never freed; untouched if it is not given. */
static int read_text(spank_t sp, enum pm_option option, const char **ret, struct pm_err *err)
{
	char room[MAX_VALUE], source[40];
	const char *value;

	if (!asked(sp, option, room, &value, source))
		return 0;
	*ret = strdup(value);
	return *ret ? 0 : pm_err_nomem(err);
}

static int read_runtime(spank_t sp, struct pm_err *err)
{
	int rc = read_text(sp, PM_OPTION_RUNTIME, &step.runtime, err);

	if (!rc)
		rc = read_text(sp, PM_OPTION_PROFILE, &step.profile, err);
	if (!rc)
		rc = read_text(sp, PM_OPTION_ADVICE, &step.advice, err);
	if (!rc)
		rc = read_text(sp, PM_OPTION_SITE_PROFILE, &step.site_profile, err);
	step.runtime = pm_preload_asked(step.runtime, step.profile || step.advice);
	step.insists |= step.runtime || step.site_profile;
	return rc;
}

static int read_others(spank_t sp, struct pm_err *err)
{
	char room[MAX_VALUE], source[40];
	const char *value;

	step.verbose = asked(sp, PM_OPTION_VERBOSE, room, &value, source);
	return read_runtime(sp, err);
}

/* True if the job view has a mode, by a constraint, a variable or the partition's default. */
static bool has_mode(spank_t sp, const struct pm_config *config)
{
	cleanup_with(pm_jobview_done) struct pm_jobview view = {0};
	uint32_t job_id;
	uid_t uid;

	return spank_get_item(sp, S_JOB_ID, &job_id) == ESPANK_SUCCESS &&
	       spank_get_item(sp, S_JOB_UID, &uid) == ESPANK_SUCCESS &&
	       !pm_jobview_read_of(config->run_dir, job_id, uid, config->fs_root, &view, NULL) &&
	       view.mode;
}

/* True if this node has a job record of the job; only root can see job records. */
static bool has_record(spank_t sp, const struct pm_config *config)
{
	cleanup_free char *path = NULL;
	uint32_t job_id;

	if (spank_get_item(sp, S_JOB_ID, &job_id) != ESPANK_SUCCESS)
		return false;
	path = pm_job_record_path(config->state_dir, job_id);
	return !path || !access(path, F_OK);
}

/* The user's binding options of srun count, unless an option of the plugin says otherwise. */
static void heed_user(spank_t sp)
{
	char room[MAX_VALUE], source[40];
	const char *value;

	pm_user_binding_read(sp, &step.user);
	if (step.user.cpus)
		step.request.bind = PM_BIND_NONE;
	if (step.user.has_distribution &&
		!asked(sp, PM_OPTION_PLAN + PM_PLAN_WORD_DISTRIBUTION, room, &value, source))
		step.request.distribution = step.user.distribution;
	if (asked(sp, PM_OPTION_PLAN + PM_PLAN_WORD_THREADS, room, &value, source))
		step.user.cpus_per_task = 0;
}

static int count_tasks(spank_t sp, struct pm_err *err)
{
	uint32_t tasks;

	if (spank_get_item(sp, S_JOB_LOCAL_TASK_COUNT, &tasks) != ESPANK_SUCCESS || !tasks)
		return pm_err_set(err, -EINVAL, "Slurm does not say how many ranks this node has");
	step.request.ranks = tasks;
	return 0;
}

static int look_at_machine(spank_t sp, const struct pm_config *config, struct pm_err *err)
{
	struct pm_memory_hint *hints; /* never freed: the ranks need them, too */
	uint32_t job = 0, id = 0;
	int rc = pm_topology_heed_site(&step.source, config, &hints, err);

	if (!rc)
		rc = pm_topology_load(&step.topology, &step.source, err);
	(void)spank_get_item(sp, S_JOB_ID, &job);
	(void)spank_get_item(sp, S_JOB_STEPID, &id);
	slurm_debug(
		"pm: step %u.%u: looked at the machine for %u ranks", job, id, step.request.ranks);
	return rc;
}

/* A file is not opened here, with root's rights, but by the ranks. */
static int find_profile(const struct pm_config *config, struct pm_err *err)
{
	const char *own = step.site_profile;
	struct pm_err slip = {0};

	if (own)
		return pm_site_profile_is_file(own)
			       ? 0
			       : pm_rank_model_load(own, config->site_profile_dir, step.topology,
					 &step.loaded, err);
	if (pm_rank_model_load_site(config, step.topology, &step.loaded, &slip))
		slurm_error("pm: %s", slip.text);
	return 0;
}

struct sibling {
	uint32_t job, own;
	char found[16];
};

static bool is_sibling(void *context, uint32_t job_id, const char *name)
{
	struct sibling *sibling = context;
	char *end;
	unsigned long id = strtoul(name, &end, 10);

	if (job_id != sibling->job || *end || end == name || id == sibling->own)
		return false;
	snprintf(sibling->found, sizeof(sibling->found), "%lu", id);
	return true;
}

/*
 * Steps that run at once do not know of each other's budget, which a runtime would fill. Of two
 * that start in the same moment neither may see the other.
 */
static void find_sibling(spank_t sp)
{
	struct sibling sibling = {0};

	if (!step.runtime || step.request.dram_bytes)
		return;
	(void)spank_get_item(sp, S_JOB_ID, &sibling.job);
	(void)spank_get_item(sp, S_JOB_STEPID, &sibling.own);
	if (pm_slurm_steps_any(is_sibling, &sibling))
		snprintf(step.beside, sizeof(step.beside), "%s", sibling.found);
}

static int prepare(spank_t sp, const struct pm_config *config, struct pm_err *err)
{
	int rc;

	pm_plan_heed_site(&step.request, config);
	heed_user(sp);
	rc = count_tasks(sp, err);
	if (!rc && step.runtime)
		step.attach_fd = pm_attach_open(step.request.ranks);
	if (!rc)
		rc = look_at_machine(sp, config, err);
	if (!rc)
		find_sibling(sp);
	return rc ? rc : find_profile(config, err);
}

/* A broken configuration does not stop a job without a plan. */
int pm_remote_init_post_opt(spank_t sp, int ac, char **av)
{
	cleanup_with(pm_config_done) struct pm_config config = {0};
	struct pm_err err = {0};
	int unset = pm_settings_load(ac, av, &config, &err), rc;

	step.has_record = !unset && has_record(sp, &config);
	if (!unset)
		(void)pm_skipped_prolog_check(sp, &config, step.has_record, &step.unprepared);
	pm_end_report_prepare(sp);
	if (!is_srun(sp) || is_daemon(sp))
		return 0;
	rc = read_words(sp, &step.err);
	if (!rc)
		rc = read_others(sp, &step.err);
	step.wants_plan = step.insists || step.verbose || pm_option_mode();
	if (!rc && unset)
		rc = pm_err_set(&step.err, unset, "%s", err.text);
	if (!rc && !step.wants_plan)
		step.wants_plan = has_mode(sp, &config);
	if (!rc && step.wants_plan)
		(void)prepare(sp, &config, &step.err);
	return 0;
}
