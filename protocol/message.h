/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_MESSAGE_H
#define PM_MESSAGE_H

/*
 * What is said between pm-controller and who asks it: one JSON object with "version", "type", an
 * "id" that the answer repeats, and the type's own members. A connection carries one request.
 * docs/dev/controller.md has the table of types; the one that counts is in message.c.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/json.h"

#define PM_MESSAGE_VERSION 1

enum pm_message_type {
	PM_MESSAGE_NONE = 0,
	/* requests */
	PM_MESSAGE_WAIT,	/* are the nodes of this job back? stays open until they are */
	PM_MESSAGE_WAITING,	/* which jobs wait? */
	PM_MESSAGE_MODES,	/* how many idle nodes are in which mode? */
	PM_MESSAGE_TURNED_AWAY, /* this node has turned a job away */
	/* answers */
	PM_MESSAGE_STILL,    /* to wait: not yet, keep waiting */
	PM_MESSAGE_READY,    /* to wait: Slurm may look at the nodes */
	PM_MESSAGE_LIST,     /* to waiting and modes */
	PM_MESSAGE_NOTED,    /* to turned-away: counted, the node requeues the job */
	PM_MESSAGE_REQUEUED, /* to turned-away: the controller has requeued it, and may hold it */
	PM_MESSAGE_ERROR,    /* to each */
	PM_MESSAGE_MAX,
};

struct pm_message {
	enum pm_message_type type;
	uint64_t id;
	uint32_t job_id;
	uint32_t uid;
	char *nodes;	   /* Slurm's list */
	char *node;	   /* one name */
	char *text;	   /* a sentence, or lines */
	json_object *list; /* an array of objects, or NULL */
};

/*
 * Reads one message. -EBADMSG: no such object, or a member of its type is missing or wrong (too
 * long, control characters, not a number); -EPROTONOSUPPORT: of another version. On failure *ret
 * is untouched. Members that its type does not have are left out. Release with pm_message_done().
 */
int pm_message_parse(const char *text, size_t length, struct pm_message *ret, struct pm_err *err);

/* The message as one line of JSON; malloc'ed, NULL when out of memory. `list` stays the caller's.
 */
char *pm_message_format(const struct pm_message *message);

/* Is it one of the requests, which a client sends? */
bool pm_message_is_request(enum pm_message_type type);

/* Releases all; an all-zero struct is fine. */
void pm_message_done(struct pm_message *message);

#endif
