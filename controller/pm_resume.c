/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ResumeProgram of a site with power saving, as SlurmUser on the controller.
 *
 *	pm-resume [--config=FILE] NODES [FEATURES]
 *
 * With power saving slurmctld orders no reboot of a node when its mode is to change: it runs
 * ResumeProgram with the features as a second argument, for nodes that are on as for those that are
 * off (_do_reboot() in slurmctld's job_scheduler.c, 22.05 and 24.11), and waits for the nodes'
 * boot. A node finds the job at the start of slurmd and changes its mode itself
 * (spank_plugin/lost_reboot.h), so each of the nodes must boot. The site's programs see to that:
 * SuspendProgram turns the nodes off, and after SuspendTimeout, when Slurm too takes nodes for off,
 * the site's own ResumeProgram turns them on. Without FEATURES the site's program does all.
 *
 * A node with a suspended job is idle to Slurm, and its job would end with the node's power. Such a
 * node is left on. slurmctld is then told to have all slurmds read their configuration, with which
 * they look at their features: the one of that node finds the job that waits for its boot, and
 *tells of a boot that was none (agent/suspended.h). The waiting job is turned away there, and
 *requeued.
 *
 * The site's programs get Slurm's arguments and environment. Messages go to syslog, since
 * slurmctld keeps none of them, and to stderr.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <syslog.h>
#include <unistd.h>

#include "base/asprintf.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/run.h"
#include "base/standard_files.h"
#include "base/strv.h"
#include "controller/cluster.h"
#include "site/config.h"

static const char config_option[] = "--config=";

__attribute__((format(printf, 1, 2))) static void note(const char *fmt, ...)
{
	char text[PM_ERR_TEXT_MAX];
	va_list args;

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	syslog(LOG_DAEMON | LOG_ERR, "%s", text);
	fprintf(stderr, "pm-resume: %s\n", text);
}

static void sleep_until(uint64_t end_ms)
{
	for (uint64_t now = pm_now_ms(); now < end_ms; now = pm_now_ms())
		pm_pause_ms(end_ms - now < 500 ? (unsigned)(end_ms - now) : 500);
}

/*
 * A program of the site's: after ResumeTimeout slurmctld no longer waits for the nodes.
 * *ret_failure: how it failed, to be freed; NULL: it did not.
 */
static int run_program(const struct pm_cluster *cluster, const char *const *argv,
	char **ret_failure, struct pm_err *err)
{
	const struct pm_program run = {.argv = argv,
		.env = (const char *const *)environ,
		.timeout_ms = cluster->resume_timeout_s * 1000};
	cleanup_with(pm_output_done) struct pm_output output = {0};
	int rc = pm_run(&run, &output, err);

	*ret_failure = NULL;
	if (rc || !output.status)
		return rc;
	*ret_failure = pm_run_describe(&run, &output);
	return *ret_failure ? 0 : pm_err_nomem(err);
}

static int run_suspend(const struct pm_cluster *cluster, const char *nodes, struct pm_err *err)
{
	const char *const argv[] = {cluster->suspend_program, nodes, NULL};
	cleanup_free char *failure = NULL;
	int rc = run_program(cluster, argv, &failure, err);

	if (failure)
		note("SuspendProgram of slurm.conf: %s; a node that is still on does not change "
		     "its mode",
			failure);
	return rc;
}

/* Returns when the nodes are off and can be turned on. */
static int turn_off(const struct pm_cluster *cluster, const char *nodes, struct pm_err *err)
{
	uint64_t start_ms = pm_now_ms();
	int rc = run_suspend(cluster, nodes, err);

	if (!rc)
		sleep_until(start_ms + pm_cluster_suspend_timeout_s(cluster) * UINT64_C(1000));
	return rc;
}

static int run_site_program(
	const struct pm_cluster *cluster, const char *const *argv, struct pm_err *err)
{
	cleanup_free char *failure = NULL;
	int rc = run_program(cluster, argv, &failure, err);

	if (failure)
		note("SiteResumeProgram of pmem.conf: %s", failure);
	return rc;
}

/* --- nodes with suspended jobs --- */

/* The nodes were idle to Slurm: a job that runs there without waiting for a boot was suspended. */
static bool stands(const slurm_job_info_t *job)
{
	uint32_t state = job->job_state & JOB_STATE_BASE;

	return state == JOB_SUSPENDED ||
	       (state == JOB_RUNNING && !(job->job_state & JOB_CONFIGURING));
}

/* The job that stands on the node; NULL: none. */
static const slurm_job_info_t *job_on(const struct pm_cluster *cluster, const char *node)
{
	for (uint32_t i = 0; i < cluster->jobs->record_count; i++) {
		const slurm_job_info_t *job = &cluster->jobs->job_array[i];
		cleanup_with(pm_strv_cleanup) char **names =
			stands(job) && job->nodes ? pm_cluster_names(job->nodes) : NULL;

		if (names && pm_strv_contains(names, node))
			return job;
	}
	return NULL;
}

/* *ret_others: the nodes that can be turned off, "n1,n2", malloc'ed; NULL: none. True: one stays
 * on. */
static int part(const struct pm_cluster *cluster, const char *nodes, char **ret_others,
	bool *ret_leaves, struct pm_err *err)
{
	cleanup_with(pm_strv_cleanup) char **names = pm_cluster_names(nodes);
	cleanup_free char *others = NULL;

	*ret_leaves = false;
	for (size_t i = 0; names && names[i]; i++) {
		const slurm_job_info_t *job = job_on(cluster, names[i]);
		char *longer;

		if (job) {
			note("job %u is suspended on %s: not turning it off; its mode is not "
			     "changed until that job has ended",
				(unsigned)job->job_id, names[i]);
			*ret_leaves = true;
			continue;
		}
		longer = others ? pm_asprintf("%s,%s", others, names[i]) : strdup(names[i]);
		if (!longer)
			return pm_err_nomem(err);
		free(others);
		others = longer;
	}
	if (!names)
		return pm_err_set(err, -EINVAL, "read the nodes '%s'", nodes);
	*ret_others = others;
	others = NULL;
	return 0;
}

static int load(struct pm_cluster *cluster, const char *nodes, struct pm_err *err)
{
	int rc = pm_cluster_load_config(cluster, err);

	if (!rc)
		rc = pm_cluster_load_partitions(cluster, err);
	if (!rc)
		rc = pm_cluster_load_jobs(cluster, err);
	if (rc < 0)
		return rc;
	if (!cluster->suspend_program)
		return pm_err_set(err, -EINVAL,
			"slurm.conf has no SuspendProgram, so %s cannot change mode", nodes);
	return 0;
}

/* Those that can be are turned off and on; the others then tell of a boot. */
static int change(const char *program, const char *nodes, const char *features, bool *ret_all,
	struct pm_err *err)
{
	cleanup_with(pm_cluster_done) struct pm_cluster cluster = {0};
	cleanup_free char *others = NULL;
	bool leaves = false;
	int rc = load(&cluster, nodes, err);

	if (!rc)
		rc = part(&cluster, nodes, &others, &leaves, err);
	*ret_all = !leaves;
	if (rc || !leaves)
		return rc ? rc : turn_off(&cluster, nodes, err);
	if (others) {
		const char *const argv[] = {program, others, features, NULL};

		rc = turn_off(&cluster, others, err);
		if (!rc)
			rc = run_site_program(&cluster, argv, err);
	}
	if (slurm_reconfigure() && !rc)
		rc = pm_err_set(err, -EREMOTEIO, "have slurmds look at their features: %s",
			slurm_strerror(errno));
	return rc;
}

/* Nothing is turned off that could not be turned on. */
static int check_program(const char *program, const char *nodes, struct pm_err *err)
{
	if (!strcmp(program, "none"))
		return pm_err_set(err, -EINVAL,
			"SiteResumeProgram=none in pmem.conf, not turning on %s: name the site's "
			"program "
			"that turns nodes on",
			nodes);
	if (access(program, X_OK))
		return pm_err_sys(err, -errno, "run '%s', SiteResumeProgram of pmem.conf", program);
	return 0;
}

/* Returns 0 when the nodes are dealt with: else it goes on as the site's program, or fails. */
static int turn_on(const char *config_path, char **argv, struct pm_err *err)
{
	cleanup_with(pm_config_done) struct pm_config config = {0};
	const char *nodes = argv[1], *features = argv[2];
	bool all = true;
	int rc = pm_config_load(config_path, &config, err);

	if (!rc)
		rc = check_program(config.site_resume_program, nodes, err);
	if (!rc && features && *features)
		rc = change(config.site_resume_program, nodes, features, &all, err);
	if (rc || !all)
		return rc;
	argv[0] = config.site_resume_program;
	(void)execv(argv[0], argv);
	return pm_err_sys(err, -errno, "run '%s', SiteResumeProgram of pmem.conf", argv[0]);
}

int main(int argc, char **argv)
{
	const char *config_path = NULL;
	struct pm_err err = {0};

	pm_standard_files_open(O_RDWR); /* the site's programs have them, too */
	openlog("pm-resume", LOG_PID, LOG_DAEMON);
	if (argc > 1 && !strncmp(argv[1], config_option, strlen(config_option))) {
		config_path = argv[1] + strlen(config_option);
		argv++;
		argc--;
	}
	if (argc < 2 || argc > 3) {
		fputs("usage: pm-resume [--config=FILE] NODES [FEATURES]\n", stderr);
		return 2;
	}
	slurm_init(NULL);
	if (!turn_on(config_path, argv, &err))
		return 0;
	note("%s", err.text);
	return 1;
}
