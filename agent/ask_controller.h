/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_AGENT_ASK_CONTROLLER_H
#define PM_AGENT_ASK_CONTROLLER_H

/*
 * One request to pm-controller: over TCP to ControllerAddr; with none over its socket here. With
 * auto over its socket on slurmctld's host, elsewhere, or where that one stands by, over TCP to the
 * first of these hosts that serves.
 */
#include "protocol/message.h"
#include "site/config.h"

/*
 * Release *ret with pm_message_done(). -ENOENT: no service runs here, and pmem.conf and
 * slurm.conf name none; -EREMOTEIO: the service refuses, the sentence is its own; else of
 * protocol/client_tcp.h and client.h.
 */
int pm_ask_controller(const struct pm_config *config, unsigned timeout_ms,
	struct pm_message *request, struct pm_message *ret, struct pm_err *err);

#endif
