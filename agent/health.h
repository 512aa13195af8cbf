/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_AGENT_HEALTH_H
#define PM_AGENT_HEALTH_H

/* May the node serve? Both return 0 if so, else a negative errno and a sentence for a drain. */
#include <stdbool.h>

#include "base/err.h"
#include "site/config.h"

/* By the journal, and by the mode that the node is in. */
int pm_node_health(const struct pm_config *config, struct pm_err *err);

/* By the mode alone; with `fresh` this boot's record of it is not used. */
int pm_node_health_mode(const struct pm_config *config, bool fresh, struct pm_err *err);

#endif
