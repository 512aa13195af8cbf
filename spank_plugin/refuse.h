/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_REFUSE_H
#define PM_REFUSE_H

#include "base/err.h"

/* Exit statuses of srun, sbatch and salloc for a wrong option, and for a plugin that fails. */
#define PM_EXIT_OPTION 255
#define PM_EXIT_PLUGIN 1

/*
 * Ends srun, sbatch or salloc with one sentence to the user, or a task right before its program, as
 * Slurm would after an error of the plugin; but without Slurm's lines about plugins behind it.
 * SLURM_EXIT_ERROR replaces the status, srun(1). The sentence may be empty: another rank has it.
 */
__attribute__((noreturn)) void pm_refuse(const struct pm_err *err, int status);

#endif
