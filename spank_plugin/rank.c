/* SPDX-License-Identifier: Apache-2.0 */
#include "spank_plugin/rank.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/cpulist.h"
#include "plan/apply/apply.h"
#include "plan/apply/attach.h"
#include "plan/apply/memory_limit.h"
#include "plan/apply/preload.h"
#include "plan/apply/runtime_files.h"
#include "plan/apply/rank_environment.h"
#include "plan/show.h"
#include "site/rank_model.h"
#include "spank_plugin/step.h"

#define MAX_LIST 65536

struct rank {
	spank_t sp;
	unsigned number; /* local rank */
	const struct pm_step *step;
	struct pm_plan_request request;
	struct pm_topology *topology; /* CPUs and memory of all ranks of the node */
	struct pm_plan *plan;
	char *runtime;			/* its file, malloc'ed; NULL: none */
	struct pm_site_profile profile; /* of --pm-site-profile=FILE; without sockets: the step's */
};

static void release(struct rank *rank)
{
	pm_plan_free(rank->plan);
	pm_topology_free(rank->topology);
	free(rank->runtime);
	pm_site_profile_done(&rank->profile);
}

/* --- the machine of this step --- */

/*
 * The cpuset of the process's cgroup. The kernel shows it only as the result of a larger mask:
 * sched_setaffinity(2).
 */
static int read_cpuset(cpu_set_t *ret)
{
	cpu_set_t before, all;

	if (sched_getaffinity(0, sizeof(before), &before))
		return -errno;
	memset(&all, 0xff, sizeof(all));
	if (sched_setaffinity(0, sizeof(all), &all) || sched_getaffinity(0, sizeof(*ret), ret))
		*ret = before;
	return sched_setaffinity(0, sizeof(before), &before) ? -errno : 0;
}

/* The CPUs to which Slurm itself has bound the ranks of this node. */
static bool read_masks(spank_t sp, cpu_set_t *ret)
{
	cleanup_free char *list = calloc(1, MAX_LIST);

	return list && spank_getenv(sp, "SLURM_CPU_BIND_LIST", list, MAX_LIST) == ESPANK_SUCCESS &&
	       !pm_cpumasks_parse(list, ret);
}

/* The number of cores in "0-3,8", numbers of the node's cores without gaps; 0: not known. */
static unsigned cores_of_step(spank_t sp)
{
	char *list = NULL;
	cpu_set_t cores;

	if (spank_get_item(sp, S_STEP_ALLOC_CORES, &list) != ESPANK_SUCCESS || !list ||
		pm_cpulist_parse(list, &cores))
		return 0;
	return (unsigned)CPU_COUNT(&cores);
}

/*
 * Restricts the topology to the step's CPUs. Without a cgroup only Slurm's masks tell them from
 * other steps' CPUs.
 */
static int find_machine(struct rank *rank, struct pm_err *err)
{
	struct pm_topology_source source = rank->step->source;
	unsigned own_cores = cores_of_step(rank->sp);
	cpu_set_t cpuset, masks;
	int rc = read_cpuset(&cpuset);

	if (rc)
		return pm_err_sys(err, rc, "read the CPU affinity of rank %u", rank->number);
	source.cpus = &cpuset;
	rc = pm_topology_restrict(&rank->topology, rank->step->topology, &source, err);
	if (rc || rank->request.bind == PM_BIND_NONE || rank->topology->n_cores <= own_cores ||
		!read_masks(rank->sp, &masks))
		return rc;
	CPU_AND(&cpuset, &cpuset, &masks);
	pm_topology_free(pm_steal(rank->topology));
	return pm_topology_restrict(&rank->topology, rank->step->topology, &source, err);
}

static unsigned count_cpus(const struct pm_topology *topology)
{
	unsigned n = 0;

	for (unsigned i = 0; i < topology->n_cores; i++)
		n += topology->cores[i].n_cpus;
	return n;
}

/* -c counts hardware threads; if there are enough cores each thread gets a core. */
static void heed_cpus_per_task(struct rank *rank)
{
	struct pm_plan_request *request = &rank->request;
	unsigned each = rank->step->user.cpus_per_task;
	uint64_t all = (uint64_t)each * request->ranks;

	if (!each || request->threads || all > count_cpus(rank->topology))
		return;
	request->threads = each;
	if (all > rank->topology->n_cores && request->smt == PM_SMT_NO)
		request->smt = PM_SMT_THREADS;
}

static int make_plan(struct rank *rank, struct pm_err *err)
{
	cleanup_close int root_fd = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	int rc = find_machine(rank, err);

	if (!rc)
		rc = pm_memory_limit(root_fd, &rank->request.memory_limit_bytes, err);
	if (rc)
		return rc;
	heed_cpus_per_task(rank);
	return pm_plan_make(&rank->plan, rank->topology, &rank->request, err);
}

/* --- the program's variables --- */

static char *get(void *context, const char *name)
{
	struct rank *rank = context;
	char *value = calloc(1, MAX_LIST);

	if (value && spank_getenv(rank->sp, name, value, MAX_LIST) == ESPANK_SUCCESS)
		return value;
	free(value);
	return NULL;
}

static int set(void *context, const char *name, const char *value, struct pm_err *err)
{
	struct rank *rank = context;

	if (spank_setenv(rank->sp, name, value, 1) == ESPANK_SUCCESS)
		return 0;
	return pm_err_set(err, -EINVAL, "set %s for the task: refused by Slurm", name);
}

static void unset(void *context, const char *name)
{
	struct rank *rank = context;

	(void)spank_unsetenv(rank->sp, name);
}

/* Tells a pmrun in this step that the plan is applied: PM_PLANNED in plan/apply/apply.h. */
static int set_planned(struct rank *rank, struct pm_err *err)
{
	uint32_t job = 0, step = 0;
	char text[32];

	(void)spank_get_item(rank->sp, S_JOB_ID, &job);
	(void)spank_get_item(rank->sp, S_JOB_STEPID, &step);
	snprintf(text, sizeof(text), "%u.%u", job, step);
	return set(rank, PM_PLANNED, text, err);
}

static void report_obstacle(const struct rank *rank)
{
	char **words = NULL;
	int n = 0;
	const char *obstacle;

	if (!rank->runtime || rank->number ||
		spank_get_item(rank->sp, S_JOB_ARGV, &n, &words) != ESPANK_SUCCESS || !n)
		return;
	obstacle = pm_preload_obstacle(words[0]);
	if (obstacle)
		slurm_spank_log("pm: runtime '%s' will not attach to '%s': %s, so LD_PRELOAD is "
				"not read and only the memory policy places memory",
			rank->runtime, words[0], obstacle);
}

static void report_sibling(const struct rank *rank)
{
	if (!rank->runtime || rank->number || !*rank->step->beside)
		return;
	slurm_spank_log(
		"pm: step %s runs on this node, too, and its ranks have the same DRAM: give "
		"each step a part by --pm-dram=SIZE",
		rank->step->beside);
}

static int attach_fd(const struct rank *rank)
{
	bool tells = rank->runtime && pm_attach_is_supported(rank->runtime);

	return tells ? rank->step->attach_fd : -1;
}

static const struct pm_site_profile *profile_of(const struct rank *rank)
{
	return rank->profile.n_sockets ? &rank->profile : &rank->step->loaded;
}

static int tell_program(struct rank *rank, struct pm_err *err)
{
	const struct pm_environment environment = {
		.context = rank, .get = get, .set = set, .unset = unset};
	char model[PM_MODEL_TEXT_MAX];
	const struct pm_rank_environment of_rank = {.plan = rank->plan,
		.runtime = rank->runtime,
		.profile = rank->step->profile,
		.advice = rank->step->advice,
		.model = model,
		.attach_fd = attach_fd(rank)};
	int rc = set_planned(rank, err);

	report_obstacle(rank);
	report_sibling(rank);
	if (!rc)
		rc = pm_rank_model_format(
			profile_of(rank), rank->topology, rank->plan, rank->number, model, err);
	return rc ? rc : pm_rank_environment_set(&of_rank, rank->number, &environment, err);
}

static void print_plan(const struct rank *rank)
{
	const struct pm_site_profile *profile = profile_of(rank);
	const struct pm_plan_view view = {.plan = rank->plan,
		.topology = rank->topology,
		.request = &rank->request,
		.site_profile = profile->n_sockets ? profile->class : NULL};

	if (!rank->step->verbose || rank->number)
		return;
	(void)pm_plan_print_table(&view, stderr);
	(void)fflush(stderr);
}

static unsigned parts_of(const struct pm_user_binding *user)
{
	return (user->cpus ? 0 : PM_APPLY_CPUS) | (user->memory ? 0 : PM_APPLY_MEMORY);
}

static int apply(struct rank *rank, struct pm_err *err)
{
	int rc = pm_plan_apply(rank->plan, rank->number, parts_of(&rank->step->user), err);

	if (rc)
		return rc;
	print_plan(rank);
	return tell_program(rank, err);
}

/* The part that has the same result in all ranks of the node. */
static int understand(struct rank *rank, struct pm_err *err)
{
	const struct pm_step *step = rank->step;
	int rc = 0;

	if (step->err.code)
		return pm_err_set(err, step->err.code, "%s", step->err.text);
	if (step->runtime)
		rc = pm_preload_find(step->runtime, &rank->runtime, err);
	if (!rc && step->runtime)
		rc = pm_runtime_files_check(step->profile, step->advice, err);
	if (!rc && step->site_profile && pm_site_profile_is_file(step->site_profile))
		rc = pm_rank_model_load(
			step->site_profile, NULL, step->topology, &rank->profile, err);
	return rc ? rc : make_plan(rank, err);
}

/* An error of understand() is the same in all ranks, so the first alone logs it. */
int pm_rank_begin(spank_t sp, struct pm_err *err)
{
	cleanup_with(release) struct rank rank = {
		.sp = sp, .step = pm_step(), .request = pm_step()->request};
	struct pm_err own = {0};
	int number = 0, rc;

	if (!rank.step->wants_plan)
		return 0;
	if (spank_get_item(sp, S_TASK_ID, &number) != ESPANK_SUCCESS)
		return pm_err_set(err, -EINVAL, "Slurm does not say which rank this is");
	rank.number = (unsigned)number;
	rc = understand(&rank, &own);
	if (rc && rank.number)
		own.text[0] = '\0';
	if (!rc)
		rc = apply(&rank, &own);
	if (rc && rank.step->insists)
		return pm_err_set(err, rc, "%s", own.text);
	if (rc && *own.text)
		slurm_spank_log("pm: %s; the ranks stay where Slurm has put them", own.text);
	return 0;
}

void pm_rank_end(void)
{
	const struct pm_step *step = pm_step();
	unsigned n = step->request.ranks;
	cleanup_free char *missing = NULL;

	if (step->attach_fd < 0 || !pm_attach_is_last(step->attach_fd, n))
		return;
	missing = pm_attach_missing(step->attach_fd, n);
	if (missing)
		slurm_spank_log(
			"pm: runtime '%s' did not attach in rank %s of the %u on this node: "
			"only the memory policy placed memory there",
			step->runtime, missing, n);
}
