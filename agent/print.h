/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_AGENT_PRINT_H
#define PM_AGENT_PRINT_H

#include "base/json.h"

/* Prints the object on stdout and releases it. */
void pm_print_json(json_object *object);

#endif
