/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_SERVICE_H
#define PM_SERVICE_H

/*
 * pm-controller's main loop: it asks slurmctld for tables, serves peers, and changes jobs. One
 * thread does all; state that outlives the service is in files.
 */
#include <signal.h>
#include <sys/stat.h>

#include "controller/announce.h"
#include "controller/cluster.h"
#include "controller/clusters_file.h"
#include "controller/groups_file.h"
#include "controller/history.h"
#include "controller/holds.h"
#include "controller/leases.h"
#include "controller/off_modes.h"
#include "controller/own_host.h"
#include "controller/permits.h"
#include "controller/reboots.h"
#include "controller/server.h"
#include "controller/rejected_jobs.h"
#include "controller/reports.h"
#include "controller/substates.h"
#include "controller/waiters.h"

struct pm_service {
	const char *run_dir, *state_dir, *config_path;
	struct pm_own_host own;
	bool serves; /* else it stands by: control.h */
	struct pm_cluster cluster;
	struct pm_server server;
	struct pm_waiters waiters;
	struct pm_holds holds;
	struct pm_rejected_jobs rejected;
	struct pm_reboots reboots;
	struct pm_off_modes off_modes;
	struct pm_announcements announcements;
	struct pm_reports reports;
	struct pm_history history;
	struct pm_substates substates;
	struct pm_child groups, clusters;
	struct pm_leases leases;
	struct pm_permits permits;
	json_object *modes_answer; /* to PM_MESSAGE_CLUSTER */
	unsigned turn_away_limit;
	uint64_t nodes_ms, jobs_ms, file_ms, config_ms; /* time of the last request or write */
	uint64_t fresh_jobs_ms, answer_ms;		/* the same, for those who ask */
	uint64_t looked_ms;				/* the same, while it stands by */
	bool failing;					/* the last request to slurmctld failed */
	bool has_old_policy;				/* pmem.conf has an error, which was said */
	struct stat config_file;			/* pmem.conf when it was last looked at */
};

/* Serves until *stop is set, by a signal handler. */
void pm_service_run(struct pm_service *service, const volatile sig_atomic_t *stop);

#endif
