/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_STEPS_H
#define PM_STEPS_H

/*
 * The way from what is there to a sub-state: a pure function of the inventory. It is computed again
 * after each kind of step has been taken, so it need not foresee what a crash has left: a namespace
 * half made, a file system half written, memory half online are states like any other.
 *
 * Facts that the order rests on: a namespace whose device is mounted or system-ram cannot be
 * destroyed (ndctl says busy); a disabled one shows neither its mode nor its device; what is in
 * system-ram has no bytes that could be wiped before it is devdax again. A block device of
 * persistent memory is read by copying, a DAX device in place: several times faster. What is
 * converted has no label for a moment: the region is marked dirty before, and clean after it was
 * wiped.
 *
 * What is freed is wiped, terabytes in minutes. What goes from one of our uses to the next is not:
 * a file system shows nothing that was not written to it, the kernel zeroes the pages of memory,
 * and a device is wiped before it is handed out, whatever was there.
 */
#include "node/see/inventory.h"

/* In the order in which they are taken. */
enum pm_step_kind {
	PM_STEP_ENABLE,	 /* a disabled namespace of ours, to see what it is */
	PM_STEP_OFFLINE, /* system-ram becomes devdax again */
	PM_STEP_REPAIR,	 /* a DAX device without driver becomes devdax */
	PM_STEP_UNMOUNT,
	PM_STEP_CONVERT, /* a namespace, or dirty space, becomes devdax, to be wiped fast */
	PM_STEP_WIPE,	 /* what is about to be destroyed */
	PM_STEP_REMOVE,	 /* destroys a namespace */
	PM_STEP_MAKE,	 /* makes the namespace of a sub-state */
	PM_STEP_FORMAT,
	PM_STEP_MOUNT,
	PM_STEP_CLEAR,	/* wipes what is about to be handed out */
	PM_STEP_RAM,	/* devdax becomes system-ram */
	PM_STEP_ONLINE, /* the rest of the memory blocks */
	PM_STEP_KINDS,
};

struct pm_step {
	enum pm_step_kind kind;
	enum pm_substate substate; /* that it leads to */
	const struct pm_inventory_region *region;
	const struct pm_inventory_ns *ns; /* NULL: what an earlier step makes */
};

struct pm_steps {
	struct pm_step *list;
	size_t n;
};

struct pm_wish {
	enum pm_substate substate;
	/* For EMPTY: complete file systems stay, foreign namespaces do not matter. */
	bool only_leftovers;
	bool converts;	      /* file systems are wiped as devices: PM_STEP_CONVERT */
	const char *lost_pin; /* a pinned namespace that is not there any more; NULL: none */
	bool leaves_bytes;    /* EMPTY for a change of platform mode: nothing is wiped */
};

/*
 * The list points into `inventory`. Empty: it is so already. -EPERM: a foreign namespace or a pin
 * is in the way; -ENODEV: no regions; -EOPNOTSUPP: a region cannot serve that way; -EBUSY: somebody
 * else uses it; -EIO: labels that the kernel cannot read. The sentence names it and the cure.
 */
int pm_steps_plan(const struct pm_inventory *inventory, const struct pm_wish *wish,
	struct pm_steps *ret, struct pm_err *err);

/* "wipe", "remove", ... */
const char *pm_step_name(enum pm_step_kind kind);

void pm_steps_done(struct pm_steps *steps);

#endif
