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
 * The site's programs get Slurm's arguments and environment. Messages go to syslog, since
 * slurmctld keeps none of them, and to stderr.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <syslog.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/run.h"
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

/* slurmctld 22.05 closes all descriptors; a file or socket must not become stderr. */
static void open_standard_files(void)
{
	int fd;

	do
		fd = open("/dev/null", O_RDWR);
	while (fd >= 0 && fd <= STDERR_FILENO);
	if (fd >= 0)
		close(fd);
}

static void sleep_until(uint64_t end_ms)
{
	for (uint64_t now = pm_now_ms(); now < end_ms; now = pm_now_ms())
		pm_pause_ms(end_ms - now < 500 ? (unsigned)(end_ms - now) : 500);
}

/* After ResumeTimeout slurmctld no longer waits for the nodes. */
static int run_suspend(const struct pm_cluster *cluster, const char *nodes, struct pm_err *err)
{
	const char *const argv[] = {cluster->suspend_program, nodes, NULL};
	const struct pm_run run = {.argv = argv,
		.env = (const char *const *)environ,
		.timeout_ms = cluster->resume_timeout_s * 1000};
	cleanup_with(pm_output_done) struct pm_output output = {0};
	cleanup_free char *line = NULL;
	int rc = pm_run(&run, &output, err);

	if (rc || !output.status)
		return rc;
	line = pm_run_describe(&run, &output);
	note("SuspendProgram of slurm.conf: %s; a node that is still on does not change its mode",
		line ? line : argv[0]);
	return 0;
}

/* Returns when the nodes are off and can be turned on. */
static int turn_off(const char *nodes, struct pm_err *err)
{
	cleanup_with(pm_cluster_done) struct pm_cluster cluster = {0};
	uint64_t start_ms = pm_now_ms();
	int rc = pm_cluster_load_config(&cluster, err);

	if (!rc)
		rc = pm_cluster_load_partitions(&cluster, err);
	if (rc < 0)
		return rc;
	if (!cluster.suspend_program)
		return pm_err_set(err, -EINVAL,
			"slurm.conf has no SuspendProgram, so %s cannot change mode", nodes);
	rc = run_suspend(&cluster, nodes, err);
	if (!rc)
		sleep_until(start_ms + pm_cluster_suspend_timeout_s(&cluster) * UINT64_C(1000));
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

/* Returns only if it fails. */
static int turn_on(const char *config_path, char **argv, struct pm_err *err)
{
	cleanup_with(pm_config_done) struct pm_config config = {0};
	const char *nodes = argv[1], *features = argv[2];
	int rc = pm_config_load(config_path, &config, err);

	if (!rc)
		rc = check_program(config.site_resume_program, nodes, err);
	if (!rc && features && *features)
		rc = turn_off(nodes, err);
	if (rc)
		return rc;
	argv[0] = config.site_resume_program;
	(void)execv(argv[0], argv);
	return pm_err_sys(err, -errno, "run '%s', SiteResumeProgram of pmem.conf", argv[0]);
}

int main(int argc, char **argv)
{
	const char *config_path = NULL;
	struct pm_err err = {0};

	open_standard_files();
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
	(void)turn_on(config_path, argv, &err);
	note("%s", err.text);
	return 1;
}
