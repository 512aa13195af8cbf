/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_SERVER_H
#define PM_SERVER_H

/*
 * The service's sockets and who is connected to them: bounded in number, in bytes, in time and in
 * how often a peer may ask. root and SlurmUser are not bounded but in number: a PrologSlurmctld
 * waits for each job.
 */
#include <poll.h>

#include "controller/peer.h"
#include "controller/rate.h"

#define PM_PEERS_MAX	  8192 /* together */
#define PM_STRANGERS_MAX  256  /* of those, all but root and SlurmUser */
#define PM_STRANGERS_EACH 16   /* of one user, or from one address */

struct pm_server {
	int unix_fd, tcp_fd; /* -1: not there */
	uid_t slurm_uid;
	const char *munge_socket;
	struct pm_peer *peers[PM_PEERS_MAX];
	struct pollfd polled[PM_PEERS_MAX + 2];
	size_t n_peers, max_peers;
	struct pm_rate rate;
};

/* What is done with a request; and with a peer that goes, which may have waited. */
struct pm_server_calls {
	void (*serve)(void *context, struct pm_peer *peer, const struct pm_message *request);
	void (*gone)(void *context, struct pm_peer *peer);
	void *context;
};

/* All else of it is zero. Raises the limit of open files as far as it goes. */
void pm_server_init(struct pm_server *server);

/*
 * Opens the socket `path` for every user of this machine, in place of one that a service before
 * has left.
 */
int pm_server_open_unix(struct pm_server *server, const char *path, struct pm_err *err);

/* Listens on a port of all this machine's addresses. */
int pm_server_open_tcp(struct pm_server *server, const char *port, struct pm_err *err);

/* Waits for at most `timeout_ms` and serves who has come. */
void pm_server_turn(
	struct pm_server *server, unsigned timeout_ms, const struct pm_server_calls *calls);

/* pm_peer_reply(); what goes wrong with it is logged and the peer goes. */
void pm_server_reply(
	struct pm_server *server, struct pm_peer *peer, struct pm_message *reply, bool last);

/* An error with this sentence as the last reply. */
void pm_server_refuse(struct pm_server *server, struct pm_peer *peer, const char *sentence);

void pm_server_done(struct pm_server *server);

#endif
