/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_CONTEXTS_H
#define PM_CONTEXTS_H

/*
 * The plugin's callbacks by context, one file each; dispatch.c calls them. `ac` and `av` are the
 * words behind the plugin's path in plugstack.conf. All return 0, or a negative errno after one
 * logged sentence: up to 24.11 Slurm counts only negative values as failures.
 */
#include <slurm/spank.h>

/* srun: a mode that is unknown, not offered, or not the running job's is refused. */
int pm_local_init_post_opt(spank_t sp, int ac, char **av);

/* sbatch, salloc, scrontab: the same for a new job. */
int pm_allocator_init_post_opt(spank_t sp, int ac, char **av);

/*
 * slurmd's start, as root: a node that 'pmctl health' declares unfit is drained with its sentence,
 * and the controller learns of a mode that it did not expect. Always 0, within bounded time:
 * slurmd must start whatever happens here.
 */
int pm_slurmd_init(spank_t sp, int ac, char **av);

/*
 * Prolog, as root: a node that is in none of the modes of the job's constraint is drained with the
 * reason, and the job goes back to the queue. A job without such a constraint costs one getenv().
 */
int pm_job_prolog(spank_t sp, int ac, char **av);

/* slurmstepd, as the user just before execve: a task whose node is in another mode fails. */
int pm_remote_task_init(spank_t sp, int ac, char **av);

#endif
