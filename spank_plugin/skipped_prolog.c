/* SPDX-License-Identifier: Apache-2.0 */
#include "spank_plugin/skipped_prolog.h"

#include <errno.h>
#include <slurm/slurm.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "node/state/idle.h"
#include "node/state/jobview.h"
#include "spank_plugin/allocation.h"
#include "spank_plugin/option.h"
#include "spank_plugin/prepare.h"
#include "spank_plugin/prolog_mark.h"

#define SLURM_MS 20000

/* slurmstepd reads slurm.conf into this (22.05 to 24.11); srun, which loads the plugin, too. */
extern slurm_conf_t slurm_conf __attribute__((weak));

static bool runs_in_job(void)
{
#ifdef PROLOG_FLAG_RUN_IN_JOB
	return &slurm_conf && slurm_conf.prolog_flags & PROLOG_FLAG_RUN_IN_JOB;
#else
	return false;
#endif
}

/*
 * The extern step's processes are not tasks, and from Slurm 24.05 on the prolog may run in it
 * (RunInJob).
 */
static bool is_extern(spank_t sp)
{
	uint32_t id;

	return spank_get_item(sp, S_JOB_STEPID, &id) == ESPANK_SUCCESS && id == SLURM_EXTERN_CONT;
}

static bool is_of(spank_t sp, struct pm_prepare *ret)
{
	return spank_get_item(sp, S_JOB_ID, &ret->job_id) == ESPANK_SUCCESS &&
	       spank_get_item(sp, S_JOB_UID, &ret->uid) == ESPANK_SUCCESS;
}

/* If squeue fails the option decides, which most jobs in a mode have. */
static bool has_mode(const struct pm_prepare *prepare)
{
	struct pm_err err = {0};
	bool has = false;

	if (!pm_allocation_has_mode(prepare->config, prepare->job_id, SLURM_MS, &has, &err))
		return has;
	slurm_error("pm: job %u has had no prolog here, and its constraint is not known: %s",
		(unsigned)prepare->job_id, err.text);
	return pm_option_mode();
}

/* Marks a job without a mode, so that squeue runs once for each such job. */
static void remember(const struct pm_prepare *prepare)
{
	struct pm_err err = {0};

	if (pm_prolog_mark(prepare->config, prepare->job_id, &err))
		slurm_error("pm: %s", err.text);
}

/* A view is of an earlier run, since this one had no prolog. */
static bool has_view(const struct pm_prepare *prepare)
{
	cleanup_free char *path = pm_jobview_path(prepare->config->run_dir, prepare->job_id);

	return !path || !access(path, F_OK);
}

static void explain(uint32_t job_id, struct pm_err *err)
{
	if (runs_in_job())
		pm_err_set(err, -EIO,
			"slurm.conf has PrologFlags=RunInJob, which keeps slurm-pmem from "
			"preparing nodes: job %u does not run here; its administrators have to "
			"take RunInJob out",
			(unsigned)job_id);
	else
		pm_err_set(err, -EIO,
			"slurmd has started job %u without its prolog, so this node is not "
			"prepared for it: the task does not run, and the job is requeued if it is "
			"a script",
			(unsigned)job_id);
}

int pm_skipped_prolog_check(
	spank_t sp, const struct pm_config *config, bool has_record, struct pm_err *err)
{
	struct pm_prepare prepare = {.config = config};

	if (is_extern(sp) || !is_of(sp, &prepare) || pm_prolog_is_marked(config, prepare.job_id))
		return 0;
	if (!has_view(&prepare)) {
		if (has_record)
			return 0; /* RunDir was emptied; task_init reports it */
		/* The prolog would have had idle flat memory taken back. */
		if (!has_mode(&prepare) && !pm_idle_is_online(config)) {
			remember(&prepare);
			return 0;
		}
	}
	explain(prepare.job_id, err);
	(void)pm_prepare_requeue(&prepare, err->text);
	return err->code;
}
