/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_AGENT_ASK_CLUSTER_H
#define PM_AGENT_ASK_CLUSTER_H

/*
 * pm-controller's overview of the cluster: appends objects to `list`, for each mode or for each
 * node, as controller/overview.h describes them. Errors of agent/ask_controller.h; the list may
 * then have some of the nodes.
 */
#include "base/json.h"
#include "protocol/message.h"
#include "site/config.h"

int pm_ask_modes(const struct pm_config *config, json_object *list, struct pm_err *err);
int pm_ask_nodes(const struct pm_config *config, json_object *list, struct pm_err *err);

/*
 * The same for any request that is answered in pages: as many rows as fit; an empty reply is the
 * end, or a row without the member `key`, by which the next ones are asked for.
 */
int pm_ask_pages(const struct pm_config *config, struct pm_message request, const char *key,
	json_object *list, struct pm_err *err);

#endif
