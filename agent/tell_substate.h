/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_AGENT_TELL_SUBSTATE_H
#define PM_AGENT_TELL_SUBSTATE_H

/* Tells pm-controller in which sub-state the node is, for `pmctl cluster --nodes`. */
#include "site/config.h"

struct pm_told {
	const char *substate; /* the last one that pm-controller has; NULL: none yet */
	uint64_t again_ms;    /* by pm_now_ms(): not before, as it did not answer; 0: at once */
};

/*
 * Sends the sub-state of the jobs that have begun, else of the last change in this boot, if *told
 * has another. If that fails, a call at least a minute later sends it again.
 */
void pm_tell_substate(const struct pm_config *config, struct pm_told *told);

#endif
