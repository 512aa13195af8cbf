/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_AGENT_CALIBRATE_BEYOND_H
#define PM_AGENT_CALIBRATE_BEYOND_H

/* Memory Mode beyond the DRAM that caches: whether there is memory to measure it. */
#include "agent/calibrate_sockets.h"

/*
 * Sets beyond_bytes of each socket to twice the DRAM that caches its memory, or leaves all 0 if one
 * socket or the job has no room for that; *ret_why is the reason then, an empty text else. In other
 * modes nothing is set.
 */
void pm_calibrate_beyond(
	const char *fs_root, struct pm_calibrate_sockets *sockets, struct pm_err *ret_why);

#endif
