/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_AGENT_CLUSTER_REBOOTS_H
#define PM_AGENT_CLUSTER_REBOOTS_H

/* The reboots of the cluster by whom they were for; controller/reboot_sums.h has the rows. */
#include "base/json.h"
#include "protocol/message.h"

/*
 * Makes one object of the rows, for --json: by, since, the rows with most seconds first ("reboots";
 * of users `name` is the user's and `uid` is added), their sum ("total"). Release it.
 */
json_object *pm_cluster_reboots(json_object *rows, const struct pm_message *request);

/* Prints such an object as a table. */
void pm_print_cluster_reboots(const json_object *root, enum pm_reboots_by by);

#endif
