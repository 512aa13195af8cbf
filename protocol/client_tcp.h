/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_CLIENT_TCP_H
#define PM_CLIENT_TCP_H

/* The asking side of pm-controller's TCP port: as protocol/client.h, in munge's credentials. */
#include "protocol/message.h"

/*
 * Connects to HOST[:PORT], asks and hears the one reply, which must be root's: all within
 * `timeout_ms`, but for the look-up of the name. Sets the request's id.
 */
int pm_client_call_tcp(const char *address, const char *munge_socket, unsigned timeout_ms,
	struct pm_message *request, struct pm_message *ret, struct pm_err *err);

#endif
