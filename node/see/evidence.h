/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_EVIDENCE_H
#define PM_EVIDENCE_H

/*
 * The platform mode, derived only from what firmware and kernel show after the boot, never from a
 * goal. Memory Mode: volatile mode 2LM, persistent memory is volatile and none of it is App
 * Direct. App Direct: 1LM and the other way round. Mixed: 2LM and both. Unknown, with a sentence:
 * all else, contradictions between ipmctl and the kernel, sockets that differ, and a missing
 * module.
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
	struct pm_regions regions; /* may be empty, then it is not checked */
	struct pm_dimms roster;	   /* may be left empty */
	struct pm_kernel kernel;
};

/*
 * The mode within a platform mode, which only the running kernel shows: flat if the memory of all
 * regions is online as system-ram, unknown if that of some is.
 */
enum pm_mode pm_mode_now(enum pm_platform platform, const struct pm_kernel *kernel);

/* Decides platform mode and mode. Pure; never fails. */
void pm_evidence_decide(const struct pm_evidence *evidence, struct pm_verdict *ret);

/* Releases the lists. */
void pm_evidence_done(struct pm_evidence *evidence);

/*
 * Writes "0x0001, 0x0011", the modules with a ConfigurationStatus that starts with `prefix`, to
 * `ids`, cut with "..." if it is too long, and the first of these states to `status`. Returns their
 * number.
 */
size_t pm_dimms_with_status(const struct pm_dimms *dimms, const char *prefix, char *ids,
	size_t ids_size, char status[64]);

/*
 * The number of modules that are not "Valid"; *ret_first is the first one, untouched if there is
 * none.
 */
size_t pm_dimms_not_valid(const struct pm_dimms *dimms, const struct pm_dimm **ret_first);

#endif
