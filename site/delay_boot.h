/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_DELAY_BOOT_H
#define PM_DELAY_BOOT_H

/*
 * DelayBoot of jobs for which Slurm is to reboot no node, in seconds; controller/pmem_reboots.lua
 * gives it to them, with the same numbers.
 */
#define PM_DELAY_YEAR_S	   (365 * 86400U)
#define PM_DELAY_WAIT_S	   (9 * PM_DELAY_YEAR_S)  /* and the job's own: until it gets a permit */
#define PM_DELAY_FOREVER_S (10 * PM_DELAY_YEAR_S) /* none is ever rebooted for it */

#endif
