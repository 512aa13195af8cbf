/* SPDX-License-Identifier: Apache-2.0 */
/* pm-controller, the service beside slurmctld; see docs/dev/controller.md and service.h. */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/address.h"
#include "base/asprintf.h"
#include "base/cleanup.h"
#include "base/standard_files.h"
#include "controller/control.h"
#include "controller/notify.h"
#include "controller/service.h"
#include "controller/slurm_conf.h"
#include "site/config.h"

#define RUN_DIR	  "/run/slurm-pmem-controller"
#define STATE_DIR "/var/lib/slurm-pmem-controller"

/* Pause between requests until slurmctld first answers: both may start at the same time. */
#define RETRY_S 2

static volatile sig_atomic_t stop;

static void on_signal(int number)
{
	(void)number;
	stop = 1;
}

static const struct option options[] = {
	{"run-dir", required_argument, NULL, 'r'},
	{"state-dir", required_argument, NULL, 's'},
	{"config", required_argument, NULL, 'c'},
	{"help", no_argument, NULL, 'h'},
	{"version", no_argument, NULL, 'V'},
	{NULL, 0, NULL, 0},
};

static const char help[] =
	"usage: pm-controller [OPTION]...\n\n"
	"Serves slurmctld's programs and the nodes: waits for rebooting nodes on behalf of jobs,\n"
	"keeps how many idle nodes are in which mode, and which jobs nodes have turned away.\n\n"
	"  --run-dir=DIR    its socket and what is of this boot, " RUN_DIR "\n"
	"  --state-dir=DIR  what is kept, " STATE_DIR "\n"
	"  --config=FILE    " PM_CONFIG_DEFAULT_PATH "\n"
	"  --help, --version\n";

static const char **place_of(struct pm_service *service, int option)
{
	if (option == 'r')
		return &service->run_dir;
	return option == 's' ? &service->state_dir : &service->config_path;
}

/* -1: serve; else the exit status. */
static int read_options(int argc, char **argv, struct pm_service *service)
{
	int option = getopt_long(argc, argv, "", options, NULL);

	for (; option != -1; option = getopt_long(argc, argv, "", options, NULL)) {
		if (option == 'h')
			fputs(help, stdout);
		if (option == 'V')
			puts("pm-controller " PM_VERSION);
		if (option == '?' || option == 'h' || option == 'V')
			return option == '?' ? 2 : 0;
		*place_of(service, option) = optarg;
	}
	if (optind == argc)
		return -1;
	fprintf(stderr, "pm-controller: unknown argument '%s', try --help\n", argv[optind]);
	return 2;
}

/* Without SA_RESTART, so that a signal ends poll(). */
static void catch_signals(void)
{
	struct sigaction action = {.sa_handler = on_signal};

	(void)sigaction(SIGTERM, &action, NULL);
	(void)sigaction(SIGINT, &action, NULL);
	(void)signal(SIGPIPE, SIG_IGN);
}

static int open_tcp(struct pm_service *service, const char *addresses, struct pm_err *err)
{
	cleanup_free char *address = NULL, *host = NULL, *port = NULL;
	int rc;

	if (!strcmp(addresses, "none"))
		return 0;
	if (!strcmp(addresses, "auto"))
		return pm_server_open_tcp(&service->server, PM_ADDRESS_PORT, err);
	address = pm_own_host_choose(&service->own, addresses);
	if (!address)
		return pm_err_nomem(err);
	rc = pm_address_parse(address, &host, &port, err);
	return rc ? rc : pm_server_open_tcp(&service->server, port, err);
}

static int open_sockets(struct pm_service *service, struct pm_err *err)
{
	cleanup_with(pm_config_done) struct pm_config config = {0};
	cleanup_free char *path = NULL;
	int rc = pm_config_load(service->config_path, &config, err);

	if (rc)
		return rc;
	service->turn_away_limit = config.turn_away_limit;
	service->reports.keep_days = config.job_report_days;
	rc = open_tcp(service, config.controller_addr, err);
	if (rc)
		return rc;
	path = pm_asprintf("%s/socket", service->run_dir);
	if (!path)
		return pm_err_nomem(err);
	return pm_server_open_unix(&service->server, path, err);
}

static int await_slurmctld(struct pm_service *service, struct pm_err *err)
{
	int rc;

	while ((rc = pm_cluster_load_config(&service->cluster, err)) && !stop) {
		if (!service->failing)
			fprintf(stderr, "%s; trying again\n", err->text);
		service->failing = true;
		pm_notify("WATCHDOG=1");
		(void)sleep(RETRY_S);
	}
	service->failing = false;
	return rc;
}

static int run(struct pm_service *service, struct pm_err *err)
{
	int rc;

	/*
	 * READY=1 comes before slurmctld answers: 'systemctl start' would else block until
	 * slurmctld is up.
	 */
	pm_server_init(&service->server);
	pm_notify("READY=1");
	rc = pm_own_host_adopt(&service->own, &service->cluster, err);
	if (!rc && !service->own.has_others)
		rc = await_slurmctld(service, err);
	if (rc)
		return stop ? 0 : rc;
	pm_warn_of_slurm_conf(&service->cluster, service->config_path);
	service->server.slurm_uid = service->cluster.slurm_uid;
	service->server.munge_socket = service->cluster.munge_socket;
	rc = pm_control_begin(service, err);
	if (!rc)
		rc = open_sockets(service, err);
	if (rc)
		return rc;
	pm_service_run(service, &stop);
	return 0;
}

int main(int argc, char **argv)
{
	static struct pm_service service = {.run_dir = RUN_DIR, .state_dir = STATE_DIR};
	struct pm_err err = {0};
	int status, rc;

	pm_standard_files_open(O_RDWR);
	status = read_options(argc, argv, &service);
	if (status >= 0)
		return status;
	catch_signals();
	/* Slurm's library would cut the tasks of an array off at 64 characters. */
	(void)setenv("SLURM_BITSTR_LEN", "0", 1);
	slurm_init(NULL);
	rc = run(&service, &err);
	if (rc)
		fprintf(stderr, "%s\n", err.text);
	pm_rejected_done(&service.rejected);
	pm_permits_done(&service.permits);
	pm_reboots_done(&service.reboots);
	pm_reports_done(&service.reports);
	pm_substates_done(&service.substates);
	pm_server_done(&service.server);
	pm_cluster_done(&service.cluster);
	pm_own_host_done(&service.own);
	return rc ? 1 : 0;
}
