/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_JOB_OUTPUT_H
#define PM_JOB_OUTPUT_H

/*
 * The standard output of a batch script, for words after its end. Slurm has closed it in slurmstepd
 * by then, and root must not open a path of a user's. So the task, which has it, hands its
 * descriptor over before it becomes the script; a process with the user's rights writes to it.
 */
#include <slurm/spank.h>

/* In slurmstepd, before the task is forked. */
void pm_job_output_prepare(void);

/* In the task, as the user, before the program. Nothing if slurmstepd has not prepared it. */
void pm_job_output_give(void);

/* In slurmstepd: the descriptor, for the caller to close; -1: there is none. */
int pm_job_output_take(void);

/* As the job's user, ten seconds at most: the reader of a pipe may be stuck. */
void pm_job_output_write(spank_t sp, int fd, const char *text);

#endif
