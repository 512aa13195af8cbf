/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_SERVER_H
#define PM_SERVER_H

/*
 * The service's sockets and peers. Peers are limited in number, bytes, time and rate. Over the unix
 * socket root and SlurmUser have no limit of rate, and in number only PM_PEERS_MAX, as a
 * PrologSlurmctld waits for each job.
 */
#include <poll.h>

#include "controller/peer.h"
#include "controller/rate.h"

#define PM_PEERS_MAX 8192 /* all peers */
#define PM_STRANGERS_MAX                                                                           \
	256 /* of these, users other than root and SlurmUser; over TCP all until authenticated */
#define PM_STRANGERS_EACH 16 /* of these, from one user or one address */

struct pm_server {
	int unix_fd, tcp_fd; /* -1: not open */
	uid_t slurm_uid;
	const char *munge_socket;
	struct pm_peer *peers[PM_PEERS_MAX];
	struct pollfd polled[PM_PEERS_MAX + 2];
	size_t n_peers, max_peers;
	struct pm_rate rate;
};

/*
 * `serve` handles peer->request; if it returns false, it gets the request again in the next turn.
 * `gone` handles a peer that is about to be closed and may be a waiter. Both run in
 * pm_server_turn().
 */
struct pm_server_calls {
	bool (*serve)(void *context, struct pm_peer *peer);
	void (*gone)(void *context, struct pm_peer *peer);
	void *context;
};

/*
 * Initializes a zeroed struct, and raises the limit of open files (RLIMIT_NOFILE) to its maximum.
 */
void pm_server_init(struct pm_server *server);

/* Opens the unix socket `path` for all users, and replaces one that an earlier service has left. */
int pm_server_open_unix(struct pm_server *server, const char *path, struct pm_err *err);

/* Listens on a port of all addresses of this host. */
int pm_server_open_tcp(struct pm_server *server, const char *port, struct pm_err *err);

/* Waits for at most `timeout_ms` and serves the peers. */
void pm_server_turn(
	struct pm_server *server, unsigned timeout_ms, const struct pm_server_calls *calls);

/*
 * Queues a reply; on an error it logs a line and closes the peer. Never frees `peer`:
 * pm_server_turn() does.
 */
void pm_server_reply(
	struct pm_server *server, struct pm_peer *peer, struct pm_message *reply, bool last);

/* Sends an error with this sentence as the last reply. */
void pm_server_refuse(struct pm_server *server, struct pm_peer *peer, const char *sentence);

void pm_server_done(struct pm_server *server);

#endif
