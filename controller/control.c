/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/control.h"

#include <errno.h>
#include <stdio.h>

#include "base/asprintf.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "controller/memory_sizes.h"
#include "site/config.h"

/*
 * Pauses between two looks. A slurmctld that stands by logs each as an error, so they are rare
 * unless somebody asks; the first who asks after a fail-over is the new slurmctld's own prolog.
 */
#define LOOK_MS	    15000
#define LOOK_FOR_MS 1000

/* --- the state --- */

static int read_state(struct pm_service *service, struct pm_err *err)
{
	cleanup_free char *rejected = pm_asprintf("%s/turned-away.json", service->state_dir);
	cleanup_free char *reboots = pm_asprintf("%s/reboots.json", service->state_dir);
	cleanup_free char *reports = pm_asprintf("%s/reports", service->state_dir);
	cleanup_free char *history = pm_asprintf("%s/history", service->state_dir);
	int rc;

	if (!rejected || !reboots || !reports || !history)
		return pm_err_nomem(err);
	rc = pm_rejected_open(&service->rejected, rejected, err);
	if (!rc)
		rc = pm_reboots_open(&service->reboots, reboots, err);
	if (!rc)
		rc = pm_reports_open(&service->reports, reports, err);
	return rc ? rc
		  : pm_history_open(&service->history, history, service->run_dir,
			    service->cluster.slurm_uid, err);
}

/* JobReportDays stays: it is of pmem.conf. */
static void drop_state(struct pm_service *service)
{
	unsigned keep_days = service->reports.keep_days;

	pm_rejected_done(&service->rejected);
	pm_reboots_done(&service->reboots);
	pm_reports_done(&service->reports);
	pm_history_done(&service->history);
	pm_substates_done(&service->substates);
	service->rejected = (struct pm_rejected_jobs){0};
	service->reports.keep_days = keep_days;
	service->announcements = (struct pm_announcements){0};
	pm_holds_done(&service->holds);
	service->leases = (struct pm_leases){0};
	pm_permits_done(&service->permits);
	json_object_put(service->modes_answer);
	service->modes_answer = NULL;
	pm_cluster_drop_tables(&service->cluster);
	service->nodes_ms = service->jobs_ms = service->file_ms = service->config_ms = 0;
	service->fresh_jobs_ms = service->answer_ms = 0;
}

/* --- taking over --- */

/* slurmctld is asked for the nodes: beside one that does not run this would wait for it. */
static void warn_of_memory_sizes(const struct pm_service *service)
{
	cleanup_with(pm_config_done) struct pm_config config = {0};

	if (!pm_config_load(service->config_path, &config, NULL)) /* else main() has told */
		pm_warn_of_memory_sizes(&service->cluster, &config);
}

int pm_control_begin(struct pm_service *service, struct pm_err *err)
{
	if (service->own.has_others) {
		fprintf(stderr,
			"slurm.conf has several SlurmctldHosts, this one is '%s': standing by\n",
			service->own.name);
		return 0;
	}
	service->serves = true;
	warn_of_memory_sizes(service);
	return read_state(service, err);
}

/* The request is one that slurmctld refuses while it stands by. */
static void take_over(struct pm_service *service)
{
	struct pm_err err = {0};
	int rc;

	service->looked_ms = pm_now_ms();
	if (!pm_own_host_listens(&service->own) || pm_cluster_load_config(&service->cluster, &err))
		return;
	rc = read_state(service, &err);
	if (rc) {
		fprintf(stderr, "%s; trying again\n", err.text);
		drop_state(service);
		return;
	}
	fprintf(stderr, "slurmctld of this host, '%s', is in control: serving\n",
		service->own.name);
	service->failing = false;
	service->serves = true;
	warn_of_memory_sizes(service);
}

static void look_after(struct pm_service *service, uint64_t pause_ms)
{
	uint64_t last_ms = service->looked_ms;

	if (!service->serves && (!last_ms || pm_now_ms() - last_ms >= pause_ms))
		take_over(service);
}

void pm_control_look(struct pm_service *service)
{
	look_after(service, LOOK_MS);
}

bool pm_control_look_for(struct pm_service *service)
{
	look_after(service, LOOK_FOR_MS);
	return service->serves;
}

/* --- standing by --- */

void pm_control_refuse(struct pm_service *service, struct pm_peer *peer)
{
	struct pm_err err = {0};
	struct pm_message reply = {.type = PM_MESSAGE_ELSEWHERE, .text = err.text};

	(void)pm_err_set(&err, -EREMOTE,
		"slurmctld of '%s' is not in control: pm-controller serves on %s",
		service->own.name, service->own.others);
	pm_server_reply(&service->server, peer, &reply, /* last= */ true);
}

static void refuse_waiters(struct pm_service *service)
{
	while (service->waiters.first) {
		struct pm_peer *peer = service->waiters.first->peer;

		pm_waiters_remove(&service->waiters, service->waiters.first);
		pm_control_refuse(service, peer);
	}
}

void pm_control_check(struct pm_service *service)
{
	if (!service->serves || !service->own.has_others || !service->failing)
		return;
	service->serves = false;
	refuse_waiters(service);
	drop_state(service);
	fprintf(stderr, "slurmctld of this host, '%s', is not in control: standing by\n",
		service->own.name);
}
