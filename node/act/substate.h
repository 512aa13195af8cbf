/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_AGENT_SUBSTATE_H
#define PM_AGENT_SUBSTATE_H

/*
 * The sub-state of the App Direct regions, all of them at once. Level-triggered: look at the node,
 * compute the steps to the wanted sub-state (node/act/steps.h), write those of the first kind into
 * the journal, take them, look again. It succeeds when no step is left, whatever the exit codes
 * were. A second run after a crash at any point continues from the present state.
 *
 * Callers hold the lock of pm_state_lock().
 */
#include <errno.h>

#include "node/operation.h"
#include "node/see/inventory.h"

/* The kernel could not offline flat memory; only a reboot removes it. All of it is online again. */
#define PM_NEEDS_REBOOT (-ERESTART)

/*
 * Brings every region into the sub-state:
 *
 *	EMPTY	There are no namespaces. Bytes of jobs were wiped before their namespace was
 *		destroyed.
 *	FSDAX	A file system on each region, mounted with DAX and project quota, root's, mode
 *		0711. One that exists is kept with its content: jobs share it.
 *	DEVDAX	A character device on each region, root's, which reads as zeros everywhere. One
 *		that exists is wiped: call this once a job, before the job gets the device.
 *	FLAT	Each region is a NUMA node, online, in the movable zone. The kernel zeroes its
 *		pages.
 *
 * `dry_run` prints each step and what it destroys, and changes nothing.
 *
 * -EPERM: a foreign namespace or a pin is in the way; the sentence names it and the cure.
 * -EOPNOTSUPP: Provision=no, or a region cannot have this sub-state. -ENODEV: there are no regions
 * (0 for EMPTY). PM_NEEDS_REBOOT: see above. Anything else is a fault of the node.
 */
int pm_substate_reach(
	const struct pm_operation *op, enum pm_substate wanted, bool dry_run, struct pm_err *err);

/*
 * EMPTY before a goal. Own namespaces are destroyed, their bytes are not wiped: a wipe takes
 * minutes, and no allotment of a later job shows the bytes (node/act/steps.h).
 */
int pm_substate_vacate(const struct pm_operation *op, bool dry_run, struct pm_err *err);

/*
 * 0: no foreign namespace and no pin is in the way of EMPTY. -EPERM: one is; the sentence names it
 * and the cure. Nothing is changed, and the lock is not needed.
 */
int pm_substate_check_empty(const struct pm_config *config, struct pm_err *err);

/* Reads the present state; the lock is not needed. Release with pm_inventory_done(). */
int pm_substate_look(const struct pm_operation *op, struct pm_inventory *ret, struct pm_err *err);

/*
 * Recovery when no job is on the node. Removes everything that only a job could have used
 * (devices, flat memory, anything half made) and restores the kernel's policy for new memory.
 * Complete file systems stay as they are, mounted or not. PM_NEEDS_REBOOT: see above.
 */
int pm_substate_recover(const struct pm_operation *op, bool dry_run, struct pm_err *err);

/*
 * Has the kernel give idle flat memory back (node/state/idle.h), for a job that must not see it.
 * Returns 0 at once if there is none. The namespace stays, root's, and is wiped by the next change
 * to EMPTY: no job can read it, and a wipe would keep the job waiting. PM_NEEDS_REBOOT: see above.
 */
int pm_substate_make_way(const struct pm_operation *op, struct pm_err *err);

/*
 * pm_substate_recover() for idle flat memory. Whoever needs the lock may kill the process while it
 * wipes. PM_NEEDS_REBOOT: see above.
 */
int pm_substate_retire(const struct pm_operation *op, struct pm_err *err);

#endif
