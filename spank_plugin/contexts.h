/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_CONTEXTS_H
#define PM_CONTEXTS_H

/*
 * The plugin's callbacks, a file for each context; dispatch.c calls them. `ac` and `av` are the
 * words after the plugin's path in plugstack.conf. Each returns 0, or a negative errno after one
 * logged sentence, as Slurm up to 24.11 treats only negative values as failures.
 */
#include <slurm/spank.h>

/* srun, as the user: refuses a mode that is unknown, not offered, or not the running job's. */
int pm_local_init_post_opt(spank_t sp, int ac, char **av);

/* sbatch, salloc, scrontab, as the user: the same for a new job. */
int pm_allocator_init_post_opt(spank_t sp, int ac, char **av);

/*
 * slurmd's start, as root, before it registers: drains a node that 'pmctl health' declares unfit,
 * with its sentence, and corrects the active features that slurmctld has. Returns 0 within bounded
 * time, as slurmd must start whatever happens here; but -EINTR if the node reboots.
 */
int pm_slurmd_init(spank_t sp, int ac, char **av);

/*
 * Prolog, as root, a child of slurmd (of slurmstepd with PrologFlags=RunInJob): prepares the node
 * for the job's mode. If that fails by the node's fault it drains the node, and requeues the job.
 * For a job without a mode it only marks the job (prolog_mark.h), ends an earlier run of it, and
 * has idle flat memory taken back.
 */
int pm_job_prolog(spank_t sp, int ac, char **av);

/*
 * Epilog, as root: takes back the job's allotments and wipes them, but flat memory stays for the
 * next job (node/state/idle.h). A node that cannot do so is
 * drained with the reason, or rebooted if only a reboot helps. For a job without a job record or
 * job view on this node it only removes the mark.
 */
int pm_job_epilog(spank_t sp, int ac, char **av);

/*
 * slurmstepd, as root before its tasks are forked: checks that the job had its prolog here
 * (skipped_prolog.h), and reads the request and the topology of a step with a plan, which all ranks
 * inherit. Always 0: the ranks report errors, as a failure here would drain the node of a batch
 * job. Batch, interactive and extern steps have no plan, nor do steps of mpirun's daemons.
 */
int pm_remote_init_post_opt(spank_t sp, int ac, char **av);

/*
 * slurmstepd, as the user, in the task just before execve: applies the plan and sets the task's
 * variables from the job view (node/state/jobview.h). It fails if the node is in another mode, or
 * if the view holds a sentence of refusal.
 */
int pm_remote_task_init(spank_t sp, int ac, char **av);

/*
 * slurmstepd, as root, when a task has ended: reports a runtime that did not attach; after the
 * last task it notes what the job has used (node/state/job_use.h), and a batch script's prints the
 * job's report if that is asked for (end_report.h). Always 0.
 */
int pm_remote_task_exit(spank_t sp, int ac, char **av);

#endif
