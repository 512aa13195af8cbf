/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_EVIDENCE_H
#define PM_EVIDENCE_H

/*
 * Which platform mode is the node in? Decided only from what firmware and kernel show after boot,
 * never from a goal. Memory Mode: volatile mode 2LM, persistent memory is volatile and none of it
 * is App Direct. App Direct: 1LM and the other way round. Mixed: 2LM and both. Everything else,
 * every contradiction between ipmctl and the kernel, sockets that are not alike and a module that
 * has gone are unknown, with a sentence why.
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
	struct pm_regions regions; /* may be left empty: then it is not looked at */
	struct pm_dimms roster;	   /* may be left empty */
	struct pm_kernel kernel;
};

/*
 * The mode within the platform mode, which only the running kernel knows: flat while the memory of
 * all regions is online as system-ram, unknown while only that of some is.
 */
enum pm_mode pm_mode_now(enum pm_platform platform, const struct pm_kernel *kernel);

/* Pure; never fails. */
void pm_evidence_decide(const struct pm_evidence *evidence, struct pm_verdict *ret);

/* Releases the lists. */
void pm_evidence_done(struct pm_evidence *evidence);

/* Writes "0x0001, 0x0011" for the modules whose ConfigurationStatus starts with `prefix`, and
 * copies the first of these states; returns how many there are. Cut with "..." when it is long. */
size_t pm_dimms_with_status(const struct pm_dimms *dimms, const char *prefix, char *ids,
	size_t ids_size, char status[64]);

/* How many modules are not "Valid"? The first one is returned in *ret_first when there is one. */
size_t pm_dimms_not_valid(const struct pm_dimms *dimms, const struct pm_dimm **ret_first);

#endif
