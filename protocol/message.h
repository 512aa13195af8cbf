/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_MESSAGE_H
#define PM_MESSAGE_H

/*
 * Messages between pm-controller and its peers: one JSON object with "version", "type", "id" and
 * the members of its type. A reply has the id of its request. A connection carries one request.
 * docs/dev/controller.md has the table of types; message.c defines it.
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
	PM_MESSAGE_WAIT,	/* are the nodes of this job booted? waits until they are */
	PM_MESSAGE_WAITING,	/* which jobs wait? */
	PM_MESSAGE_MODES,	/* how many idle nodes are in which mode? */
	PM_MESSAGE_TURNED_AWAY, /* this node has rejected a job */
	PM_MESSAGE_CLUSTER,	/* how many nodes are in which mode, and what do they do? */
	PM_MESSAGE_NODES,	/* the same, node by node */
	PM_MESSAGE_EXPLAIN,	/* what does this job wait for? */
	PM_MESSAGE_USED,	/* this node has ended a job, which used this much */
	PM_MESSAGE_REPORT,	/* what did this job use, node by node? */
	PM_MESSAGE_REBOOTS,	/* how many reboots were there for whom? */
	PM_MESSAGE_SUBSTATE,	/* this node has reached a sub-state */
	/* replies */
	PM_MESSAGE_STILL, /* to wait: not yet, keep waiting; to used: not recorded, send again */
	PM_MESSAGE_READY, /* to wait: Slurm may look at the nodes */
	PM_MESSAGE_LIST,  /* to waiting, modes, cluster, nodes, explain, reboots, report */
	PM_MESSAGE_NOTED, /* to turned-away: recorded, the node requeues the job; to used, substate
			   */
	PM_MESSAGE_REQUEUED,  /* to turned-away: the controller has requeued it, perhaps held */
	PM_MESSAGE_ERROR,     /* to any request, the last reply */
	PM_MESSAGE_ELSEWHERE, /* the same: the service of another host serves */
	PM_MESSAGE_MAX,
};

/* Whom reboots are counted by. */
enum pm_reboots_by {
	PM_BY_USER,
	PM_BY_ACCOUNT,
	PM_BY_PARTITION,
	PM_BY_MAX,
};

/* "user", "account", "partition"; for pm_names_find() (base/strv.h). */
extern const char *const pm_reboots_by_names[PM_BY_MAX];

struct pm_message {
	enum pm_message_type type;
	uint64_t id;
	uint32_t job_id;
	uint32_t uid;
	char *nodes; /* a node list, as Slurm writes it */
	char *node;  /* one name */
	/* Of nodes and reboots: the rows behind this name; of report: behind so many lines. NULL:
	 * all. */
	char *after;
	enum pm_reboots_by by;
	uint64_t since_s;  /* Unix time: reboots that began then or later */
	char *text;	   /* a sentence, or lines */
	json_object *list; /* an array of objects, or NULL */
};

/*
 * Parses one message. -EBADMSG: not a message, or a member of its type is missing or wrong (too
 * long, control characters, not a number); -EPROTONOSUPPORT: another version. On failure *ret is
 * untouched. Members of other types are ignored. Release with pm_message_done().
 */
int pm_message_parse(const char *text, size_t length, struct pm_message *ret, struct pm_err *err);

/*
 * The message as one line of JSON, malloc'ed; NULL when out of memory. `list` stays the caller's.
 */
char *pm_message_format(const struct pm_message *message);

/* True if a client sends this type, false if it is a reply. */
bool pm_message_is_request(enum pm_message_type type);

/* Frees all members; a zeroed struct is fine. */
void pm_message_done(struct pm_message *message);

#endif
