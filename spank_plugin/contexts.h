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
 * Prolog, as root: makes what the job's mode promises. A node that cannot is drained with the
 * reason, and the job goes back to the queue. A job without such a constraint costs one look for
 * what an earlier run of it has left.
 */
int pm_job_prolog(spank_t sp, int ac, char **av);

/*
 * Epilog, as root: takes it away again. A job that left nothing costs one look for its files. A
 * node that cannot is drained with the reason, or rebooted where only that helps.
 */
int pm_job_epilog(spank_t sp, int ac, char **av);

/*
 * slurmstepd, as root before its tasks are forked: looks at the machine where the step's ranks will
 * need a plan, which they inherit. Always 0: what is wrong is told by the ranks, as a failure here
 * would drain the node of a batch job. Not in batch, interactive and extern steps, nor
 * in those of mpirun's daemons.
 */
int pm_remote_init_post_opt(spank_t sp, int ac, char **av);

/*
 * slurmstepd, as the user just before execve: the task learns what its job was given, from the
 * job's view (node/state/jobview.h) alone. It fails where its node is in another mode, or the view
 * says so.
 */
int pm_remote_task_init(spank_t sp, int ac, char **av);

/* slurmstepd, as root when a task has ended: tells of a runtime that did not attach. Always 0. */
int pm_remote_task_exit(spank_t sp, int ac, char **av);

#endif
