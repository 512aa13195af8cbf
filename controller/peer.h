/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_PEER_H
#define PM_PEER_H

/*
 * Who is connected: over the unix socket, where the kernel says who it is, or over TCP, where
 * munge does. A peer asks once; what it has not said, or taken, within PM_PEER_DEADLINE_MS costs
 * it the connection.
 */
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "protocol/frame.h"
#include "protocol/message.h"

#define PM_PEER_DEADLINE_MS 5000

struct pm_peer {
	int fd;
	bool remote;	  /* over TCP */
	bool trusted;	  /* root or SlurmUser */
	bool has_request; /* its request is in */
	bool last;	  /* closed when `out` is written */
	uid_t uid;	  /* over TCP only once it has asked */
	uint32_t address;
	uint64_t until_ms; /* 0: may stay, it waits for us */
	uint64_t id;	   /* of its request */
	struct pm_frame in;
	char *out;
	size_t out_length, out_at;
	void *waiter; /* waiters.h; not owned here */
};

/* Reads what is there. 1: the request's frame is whole, 0: not yet; else the peer is to go. */
int pm_peer_read(struct pm_peer *peer);

/*
 * Opens the frame: *ret is the request, and over TCP peer->uid who asks. -EACCES, -EBADMSG,
 * -EPROTONOSUPPORT.
 */
int pm_peer_read_request(
	struct pm_peer *peer, const char *munge_socket, struct pm_message *ret, struct pm_err *err);

/*
 * Queues an answer with the request's id; with `last` the peer goes when it has taken it. An
 * answer that the one before still blocks is left out unless it is the last one.
 */
int pm_peer_reply(struct pm_peer *peer, const char *munge_socket, struct pm_message *reply,
	bool last, struct pm_err *err);

/* Writes what the peer takes. 0: fine; 1: all is said and it was the last; else it is to go. */
int pm_peer_write(struct pm_peer *peer);

void pm_peer_done(struct pm_peer *peer);

#endif
