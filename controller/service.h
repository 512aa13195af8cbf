/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_SERVICE_H
#define PM_SERVICE_H

/*
 * pm-controller: what is asked when, and who is answered what. One thread; what it keeps beyond
 * its own life is in files.
 */
#include <signal.h>

#include "controller/cluster.h"
#include "controller/holds.h"
#include "controller/server.h"
#include "controller/rejected_jobs.h"
#include "controller/waiters.h"

struct pm_service {
	const char *run_dir, *state_dir, *config_path;
	struct pm_cluster cluster;
	struct pm_server server;
	struct pm_waiters waiters;
	struct pm_holds holds;
	struct pm_rejected_jobs rejected;
	unsigned turn_away_limit;
	uint64_t nodes_ms, jobs_ms, file_ms,
		config_ms; /* when each was asked for, or written, last */
	bool failing;	   /* Slurm did not answer the last time */
};

/* Serves until *stop is set. */
void pm_service_run(struct pm_service *service, const volatile sig_atomic_t *stop);

#endif
