/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_SLURM_API_H
#define PM_SLURM_API_H

/*
 * <slurm/slurm.h> where its releases differ. 25.05 has a timeout for prologs and one for epilogs;
 * from 26.05 on a job is named by a step's identifier, slurm_load_ctl_conf()'s result has another
 * function that frees it, and the name of a new reservation is Slurm's to free (before, it came
 * from strdup).
 */
#include <slurm/slurm.h>
#include <stdint.h>
#include <stdlib.h>

#if SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(26, 5, 0)

extern void slurm_xfree(void **pointer);

static inline slurm_step_id_t pm_slurm_id(uint32_t job_id)
{
	slurm_step_id_t id = SLURM_STEP_ID_INITIALIZER;

	id.job_id = job_id;
	return id;
}

static inline void pm_slurm_set_job(job_desc_msg_t *update, uint32_t job_id)
{
	update->step_id.job_id = job_id;
}

static inline void pm_slurm_free_config(slurm_conf_t *config)
{
	slurm_free_conf(config);
}

static inline void pm_slurm_free_name(char *name)
{
	void *pointer = name;

	slurm_xfree(&pointer);
}

#else

static inline uint32_t pm_slurm_id(uint32_t job_id)
{
	return job_id;
}

static inline void pm_slurm_set_job(job_desc_msg_t *update, uint32_t job_id)
{
	update->job_id = job_id;
}

static inline void pm_slurm_free_config(slurm_conf_t *config)
{
	slurm_free_ctl_conf(config);
}

static inline void pm_slurm_free_name(char *name)
{
	free(name);
}

#endif

static inline uint16_t pm_slurm_prolog_timeout(const slurm_conf_t *config)
{
#if SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(25, 5, 0)
	return config->prolog_timeout;
#else
	return config->prolog_epilog_timeout;
#endif
}

#endif
