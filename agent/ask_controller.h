/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_AGENT_ASK_CONTROLLER_H
#define PM_AGENT_ASK_CONTROLLER_H

/* One request to pm-controller: over TCP to ControllerAddr, without one over its socket here. */
#include "protocol/message.h"
#include "site/config.h"

/*
 * Release *ret with pm_message_done(). -ENOENT: pmem.conf has no ControllerAddr, and no service
 * runs here; -EREMOTEIO: the service refuses, the sentence is its own; else of
 * protocol/client_tcp.h and client.h.
 */
int pm_ask_controller(const struct pm_config *config, unsigned timeout_ms,
	struct pm_message *request, struct pm_message *ret, struct pm_err *err);

#endif
