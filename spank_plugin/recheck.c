/* SPDX-License-Identifier: Apache-2.0 */
#include "spank_plugin/recheck.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <slurm/spank.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "spank_plugin/lost_reboot.h"
#include "spank_plugin/lost_prolog.h"

#define SLURM_MS 10000

/*
 * slurmd listens right after its start, and slurmctld tries each message for MessageTimeout (10 s).
 */
#define UP_S	     5
#define UNTIL_SURE_S 15

static void recheck(const struct pm_config *config)
{
	const char *wanted, *still;
	struct pm_unprepared jobs;

	(void)sleep(UP_S);
	wanted = pm_lost_reboot_feature(config, SLURM_MS);
	pm_unprepared_find(config, SLURM_MS, &jobs);
	if (!wanted && !jobs.count)
		return;
	(void)sleep(UNTIL_SURE_S);
	still = wanted ? pm_lost_reboot_feature(config, SLURM_MS) : NULL;
	if (still && !strcmp(still, wanted))
		(void)pm_lost_reboot_repeat(config, wanted);
	else
		pm_unprepared_requeue(config, SLURM_MS, &jobs);
}

static void *run_thread(void *arg)
{
	struct pm_config *config = arg;

	recheck(config);
	slurm_debug("pm: looked for orders that were lost while slurmd started");
	pm_config_done(config);
	free(config);
	return NULL;
}

/* The thread inherits a full signal mask, as slurmd's own threads handle its signals. */
static int start_thread(struct pm_config *config)
{
	pthread_attr_t attr;
	pthread_t thread;
	sigset_t all, before;
	int rc;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	pthread_attr_init(&attr);
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	rc = pthread_create(&thread, &attr, run_thread, config);
	pthread_attr_destroy(&attr);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return -rc;
}

void pm_recheck_start(struct pm_config *config)
{
	struct pm_config *own = malloc(sizeof(*own));
	struct pm_err err = {0};
	int rc = -ENOMEM;

	if (own) {
		*own = *config;
		*config = (struct pm_config){0};
		rc = start_thread(own);
		if (!rc)
			return;
		pm_config_done(own);
		free(own);
	}
	pm_err_sys(&err, rc, "start a thread");
	slurm_error("pm: %s, not looking for orders that are lost while slurmd starts", err.text);
}
