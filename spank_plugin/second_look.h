/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_SECOND_LOOK_H
#define PM_SECOND_LOOK_H

/*
 * slurmctld may give the node to a job while slurmd starts: after slurmd's look at its jobs, and
 * before it listens. The order to reboot into the job's mode is then lost, or the order to run its
 * prolog reaches slurmd seconds later, or not at all. Only time tells: a thread of slurmd looks
 * when slurmd is up, and again when no order can be under way any more. What then still waits is
 * made up for, as late_change.h and lost_prolog.h say.
 */

/* `ac` and `av` are the words behind the plugin's path in plugstack.conf. */
void pm_second_look_start(int ac, char **av);

#endif
