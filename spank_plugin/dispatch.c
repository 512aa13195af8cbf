/* SPDX-License-Identifier: Apache-2.0 */
#include <slurm/spank.h>

#include "spank_plugin/contexts.h"
#include "spank_plugin/end_report.h"
#include "spank_plugin/option.h"

SPANK_PLUGIN(pmem, 1)

#if SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(25, 5, 0)
/*
 * A failure in init fails the job and does not drain the node. spank.h declares this variable from
 * 26.05 on.
 */
extern int slurm_spank_init_failure_mode;
int slurm_spank_init_failure_mode = ESPANK_JOB_FAILURE;
#endif

int slurm_spank_init(spank_t sp, int ac, char **av)
{
	switch (spank_context()) {
	case S_CTX_LOCAL:
	case S_CTX_ALLOCATOR:
	case S_CTX_REMOTE:
		return pm_option_register(sp);
	case S_CTX_SLURMD:
		return pm_slurmd_init(sp, ac, av);
	default:
		return 0;
	}
}

int slurm_spank_init_post_opt(spank_t sp, int ac, char **av)
{
	switch (spank_context()) {
	case S_CTX_LOCAL:
		return pm_local_init_post_opt(sp, ac, av);
	case S_CTX_ALLOCATOR:
		return pm_allocator_init_post_opt(sp, ac, av);
	case S_CTX_REMOTE:
		return pm_remote_init_post_opt(sp, ac, av);
	default:
		return 0;
	}
}

int slurm_spank_job_prolog(spank_t sp, int ac, char **av)
{
	return pm_job_prolog(sp, ac, av);
}

int slurm_spank_job_epilog(spank_t sp, int ac, char **av)
{
	return pm_job_epilog(sp, ac, av);
}

int slurm_spank_task_init(spank_t sp, int ac, char **av)
{
	return pm_remote_task_init(sp, ac, av);
}

int slurm_spank_task_exit(spank_t sp, int ac, char **av)
{
	return pm_remote_task_exit(sp, ac, av);
}

int slurm_spank_exit(spank_t sp, int ac, char **av)
{
	(void)sp;
	if (spank_context() == S_CTX_LOCAL || spank_context() == S_CTX_ALLOCATOR)
		pm_end_report_of_client(ac, av);
	return 0;
}
