/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_END_REPORT_H
#define PM_END_REPORT_H

/*
 * --pm-report, or PM_JOB_REPORT: the job's report, as 'pmctl report' prints it, at the end of its
 * output. A batch job's stands in the output file, of what its first node knows when the script has
 * ended, by itself or by a signal. That of srun and salloc is on their stderr, as their stdout
 * often is another program's input; these wait a little for the nodes.
 */
#include <slurm/spank.h>

/* In slurmstepd's init_post_opt; does something only for a batch script. */
void pm_end_report_prepare(spank_t sp);

/* In task_exit, when the last task has ended and the last look at its use is taken. */
void pm_end_report_of_batch(spank_t sp, int ac, char **av);

/* In srun and salloc: init_post_opt, before pm_option_end_component(), and exit. */
void pm_end_report_ask(void);
void pm_end_report_of_client(int ac, char **av);

#endif
