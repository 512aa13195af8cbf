/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_CLIENT_TCP_H
#define PM_CLIENT_TCP_H

/* The client's side of pm-controller's TCP port: as protocol/client.h, in munge credentials. */
#include "protocol/message.h"

/*
 * Connects to HOST[:PORT], sends the request, and receives the one reply, which root must have
 * signed. `timeout_ms` bounds each of these steps, but not the look-up of the name. Sets the
 * request's id to a random number. `munge_socket` NULL: munge's default. Release *ret with
 * pm_message_done(). -EACCES: munge refuses, or the reply is not root's.
 *
 * `addresses` may be a list with commas, one for each controller: the next one is tried if there is
 * no reply, or if it is that the service of another host serves. The sentence then names each. All
 * but the last have at most 3 s to accept the connection.
 */
int pm_client_call_tcp(const char *addresses, const char *munge_socket, unsigned timeout_ms,
	struct pm_message *request, struct pm_message *ret, struct pm_err *err);

#endif
