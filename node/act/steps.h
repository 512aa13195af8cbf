/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_STEPS_H
#define PM_STEPS_H

/*
 * The steps from the present state to a sub-state: a pure function of the inventory. They are
 * computed again after each kind of step, so states after a crash need no code of their own: a
 * namespace half made, a file system half written and memory half online are states like any
 * other.
 *
 * The order of the kinds rests on these facts. A namespace cannot be destroyed while its device is
 * mounted or system-ram (ndctl reports busy). A disabled namespace shows neither its mode nor its
 * device. Memory in system-ram cannot be wiped before it is devdax again. A read of a block device
 * of persistent memory copies; a DAX device is mapped and read in place, which is several times
 * faster. A namespace that is being converted has no label for a moment: its region is marked dirty
 * before, and unmarked after the wipe.
 *
 * Space that becomes free is wiped, terabytes in minutes. Space that moves from one job to the next
 * is wiped only as a device, before the job gets it: a file system shows only bytes that were
 * written to it, and the kernel zeroes pages of memory.
 */
#include "node/see/inventory.h"

/* In the order in which they are taken. */
enum pm_step_kind {
	PM_STEP_ENABLE,	 /* enables an own namespace, so that its mode can be seen */
	PM_STEP_OFFLINE, /* system-ram becomes devdax again */
	PM_STEP_REPAIR,	 /* a DAX device without driver becomes devdax */
	PM_STEP_UNMOUNT,
	PM_STEP_CONVERT, /* a namespace, or dirty space, becomes devdax, to be wiped fast */
	PM_STEP_WIPE,	 /* wipes a namespace before it is destroyed */
	PM_STEP_REMOVE,	 /* destroys a namespace */
	PM_STEP_MAKE,	 /* makes the namespace of a sub-state */
	PM_STEP_FORMAT,
	PM_STEP_MOUNT,
	PM_STEP_CLEAR,	/* wipes a device before a job gets it */
	PM_STEP_RAM,	/* devdax becomes system-ram */
	PM_STEP_ONLINE, /* onlines the rest of the memory blocks */
	PM_STEP_KINDS,
};

struct pm_step {
	enum pm_step_kind kind;
	enum pm_substate substate; /* that of its target */
	const struct pm_inventory_region *region;
	const struct pm_inventory_ns *ns; /* NULL: an earlier step makes it */
};

struct pm_steps {
	struct pm_step *list;
	size_t n;
};

/* The sub-state that a change is to reach, and how. */
struct pm_target {
	enum pm_substate substate;
	/* For EMPTY: complete file systems stay, foreign namespaces are ignored. */
	bool only_leftovers;
	bool converts;	      /* file systems are wiped as devices, see PM_STEP_CONVERT */
	const char *lost_pin; /* UUID of a pinned namespace that is missing; NULL: none */
	bool leaves_bytes;    /* EMPTY before a goal: nothing is wiped */
	bool only_offline;    /* own system-ram becomes devdax again, and nothing else is done */
	bool is_idle; /* has the idle mark, so it is pmctl's own, whatever Provision= has become */
	bool yields;  /* its wipes may be killed, see node/state/idle.h */
};

/*
 * The list points into `inventory`; release it with pm_steps_done(). An empty list: nothing is
 * left to do.
 *
 * -EPERM: a foreign namespace or a pin is in the way. -ENODEV: there are no regions. -EOPNOTSUPP:
 * a region cannot have this sub-state. -EBUSY: a device is mounted elsewhere, or the mount point
 * is occupied. -EIO: the region is disabled, or the kernel cannot read its labels. -ENOMEM. The
 * sentence names the region or namespace, and the cure.
 */
int pm_steps_plan(const struct pm_inventory *inventory, const struct pm_target *target,
	struct pm_steps *ret, struct pm_err *err);

/* "wipe", "remove", ... */
const char *pm_step_name(enum pm_step_kind kind);

void pm_steps_done(struct pm_steps *steps);

#endif
