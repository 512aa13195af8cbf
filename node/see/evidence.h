/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_EVIDENCE_H
#define PM_EVIDENCE_H

/*
 * The platform mode, derived only from the state that firmware and kernel show after the boot,
 * never from a goal:
 *
 *	Memory Mode	2LM; persistent memory is main memory, and none is App Direct
 *	App Direct	1LM; persistent memory is App Direct, and none is main memory
 *	Mixed		2LM; part of persistent memory is main memory, part is App Direct
 *
 * All else is unknown, with a sentence: also contradictions between ipmctl and the kernel, sockets
 * that differ, and a missing module.
 */
#include "node/state/record.h"
#include "node/state/roster.h"
#include "node/tools/ipmctl.h"
#include "node/tools/kernel.h"
#include "site/modes.h"

struct pm_evidence {
	struct pm_resources resources;
	struct pm_capabilities capabilities;
	struct pm_dimms dimms;
	struct pm_regions regions; /* may be empty, then no region is checked */
	struct pm_dimms roster;	   /* may be left empty */
	struct pm_kernel kernel;
};

/*
 * The mode within a platform mode, which only the running kernel shows. Flat: all regions are
 * online as system-ram. Unknown: only some of them are.
 */
enum pm_mode pm_mode_now(enum pm_platform platform, const struct pm_kernel *kernel);

/* Decides platform mode and mode. Pure; never fails. */
void pm_evidence_decide(const struct pm_evidence *evidence, struct pm_verdict *ret);

/* Releases the lists. */
void pm_evidence_done(struct pm_evidence *evidence);

/*
 * Returns the number of modules with a ConfigurationStatus that starts with `prefix`. `ids`:
 * "0x0001, 0x0011", with "..." at the end if it is too long. `status`: the status of the first one,
 * untouched if there is none.
 */
size_t pm_dimms_with_status(const struct pm_dimms *dimms, const char *prefix, char *ids,
	size_t ids_size, char status[64]);

/*
 * The number of modules that are not "Valid"; *ret_first is the first one, untouched if there is
 * none.
 */
size_t pm_dimms_not_valid(const struct pm_dimms *dimms, const struct pm_dimm **ret_first);

#endif
