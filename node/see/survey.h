/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_AGENT_SURVEY_H
#define PM_AGENT_SURVEY_H

/* Reads the inventory of this node, and its pins. */
#include "node/operation.h"
#include "node/see/inventory.h"
#include "node/state/pins.h"

struct pm_survey {
	struct pm_inventory inventory;
	struct pm_pins pins;
	const struct pm_pin *lost; /* a pin with a missing namespace; NULL: none */
};

/*
 * Runs ndctl and daxctl and reads the kernel's files below FsRoot. As root it also reads
 * superblocks; without privileges file systems are not seen. With Provision=no there are no own
 * namespaces. Release with pm_survey_done(); on failure *ret is untouched.
 */
int pm_survey(const struct pm_config *config, struct pm_survey *ret, struct pm_err *err);

void pm_survey_done(struct pm_survey *survey);

#endif
