/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_AGENT_SURVEY_H
#define PM_AGENT_SURVEY_H

/* Looks at regions, namespaces, devices, file systems, mounts and pins. */
#include "node/operation.h"
#include "node/see/inventory.h"
#include "node/state/pins.h"

struct pm_survey {
	struct pm_inventory inventory;
	struct pm_pins pins;
	const struct pm_pin *lost; /* a pin whose namespace is not there; NULL: none */
};

/*
 * Runs ndctl and daxctl, reads the kernel's files below FsRoot and, when we are root, the first
 * bytes of block devices. With Provision=no no namespace is ours. Without privileges file systems
 * look as if there were none.
 */
int pm_survey(const struct pm_config *config, struct pm_survey *ret, struct pm_err *err);

void pm_survey_done(struct pm_survey *survey);

#endif
