/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_AGENT_TOP_TEXT_H
#define PM_AGENT_TOP_TEXT_H

#include "base/json.h"

/* A table of what a job uses, for an array of the objects of agent/top_here.h. */
void pm_top_print(json_object *nodes);

#endif
