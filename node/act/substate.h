/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_AGENT_SUBSTATE_H
#define PM_AGENT_SUBSTATE_H

/*
 * What the operating system does with the App Direct regions, all of them at once. Level-triggered:
 * look, compute the steps that lead from what is there to what is wanted (node/act/steps.h), write
 * them into the journal, take those of the first kind, look again. Success is that nothing is left
 * to do, never an exit code; a second run after a crash anywhere goes on from what is there.
 *
 * Callers hold the lock of pm_state_lock().
 */
#include <errno.h>

#include "node/operation.h"
#include "node/see/inventory.h"

/* The kernel will not give flat memory back: only a reboot does. What it kept is online again. */
#define PM_NEEDS_REBOOT (-ERESTART)

/*
 * Brings every region there.
 *
 * EMPTY   no namespace is left. Bytes of ours were wiped before their namespace was destroyed.
 * FSDAX   a file system on each region, mounted with DAX and project quota, mode 0711, root's. One
 *         that is there is kept as it is, with all that is in it: jobs share it.
 * DEVDAX  a character device on each region, root's, which reads as zeros everywhere. A device that
 *         is there already is wiped: call it once a job, before the device is handed out.
 * FLAT    each region is a NUMA node, online, movable. The kernel zeroes its pages.
 *
 * `dry_run` prints each step and what it destroys, and changes nothing.
 *
 * -EPERM: a foreign namespace or a pin is in the way, the sentence names it and the cure.
 * -EOPNOTSUPP: Provision=no, or the regions cannot serve that way. -ENODEV: there are no regions
 * (fine for EMPTY). PM_NEEDS_REBOOT as above. Anything else: the node's fault.
 */
int pm_substate_reach(
	const struct pm_operation *op, enum pm_substate wanted, bool dry_run, struct pm_err *err);

/*
 * EMPTY before a goal: namespaces of ours go, and what is on them stays where it is, for nothing
 * that a job gets later shows it. A change of mode must not take the minutes of a wipe.
 */
int pm_substate_vacate(const struct pm_operation *op, bool dry_run, struct pm_err *err);

/* Looks, without the lock if need be. Release with pm_inventory_done(). */
int pm_substate_look(const struct pm_operation *op, struct pm_inventory *ret, struct pm_err *err);

/*
 * After a crash or a boot, when no job lives on the node: takes away what only a job could have
 * used (devices, flat memory, anything half made) and puts the kernel's policy for new memory back.
 * File systems that are complete stay as they are, mounted or not. PM_NEEDS_REBOOT as above.
 */
int pm_substate_recover(const struct pm_operation *op, bool dry_run, struct pm_err *err);

#endif
