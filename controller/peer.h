/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_PEER_H
#define PM_PEER_H

/*
 * One connection. The kernel authenticates a peer of the unix socket, munge authenticates a peer
 * over TCP. A peer sends one request. It loses the connection if the request is not complete, or a
 * reply is not read, within PM_PEER_DEADLINE_MS.
 */
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "protocol/frame.h"
#include "protocol/message.h"

#define PM_PEER_DEADLINE_MS 5000

struct pm_peer {
	int fd;
	bool remote;	   /* over TCP */
	bool trusted;	   /* root or SlurmUser */
	bool has_request;  /* its request is complete */
	bool is_asked;	   /* `request` is to be served again in the next turn */
	bool last;	   /* close it when `out` is written */
	uid_t uid;	   /* over TCP unknown, (uid_t)-1, until its request is complete */
	uint32_t address;  /* over TCP: its IPv4 address, or a hash of its IPv6 /64 */
	uint64_t until_ms; /* deadline by pm_now_ms(); 0: none, a waiter */
	uint64_t asked_ms; /* when its request was complete, by pm_now_ms() */
	uint64_t id;	   /* of its request, for the replies */
	struct pm_message request;
	struct pm_frame in;
	char *out;
	size_t out_length, out_at;
	void *waiter; /* struct pm_waiter, which waiters.c owns; NULL: none */
};

/*
 * Reads without blocking. 1: the request's frame is complete, 0: not yet; negative errno: close the
 * peer.
 */
int pm_peer_read(struct pm_peer *peer);

/*
 * Opens the frame: sets peer->request, and over TCP peer->uid to its sender. -EACCES: munge
 * refuses; -EBADMSG, -EPROTONOSUPPORT: see pm_message_parse().
 */
int pm_peer_read_request(struct pm_peer *peer, const char *munge_socket, struct pm_err *err);

/*
 * Queues a reply with the request's id. With `last` the peer is closed when the reply is written.
 * While an earlier reply is queued, a new one is dropped; but a last reply replaces an earlier one
 * of which no byte was sent.
 */
int pm_peer_reply(struct pm_peer *peer, const char *munge_socket, struct pm_message *reply,
	bool last, struct pm_err *err);

/*
 * Writes without blocking. 0: go on; 1: the last reply is written; negative errno: close the peer.
 */
int pm_peer_write(struct pm_peer *peer);

void pm_peer_done(struct pm_peer *peer);

#endif
