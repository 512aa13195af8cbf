/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_NODE_H
#define PM_NODE_H

/*
 * What the controller knows of this node and its jobs, asked and changed by scontrol. Slurm's name
 * for the node is SLURMD_NODENAME, which the prolog has, else the host's name up to its first dot.
 */
#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "site/config.h"

struct pm_node_update {
	const struct pm_config *config; /* NULL: scontrol's default path, when there is none */
	const char *reason;		/* drains the node with this line */
	const char *state;     /* "resume" or "undrain", without a reason; NULL leaves it */
	const char *active;    /* its active features; NULL leaves them */
	const char *available; /* its available features; NULL leaves them */
	const char *comment;   /* what 'sinfo -O Comment' shows; NULL leaves it */
	unsigned timeout_ms;
};

struct pm_node_known {
	char *active;		  /* "rack1,pm_memory"; "" for none */
	char *available;	  /* the same */
	char *comment;		  /* "" for none */
	char *state;		  /* "IDLE+DRAIN" */
	char *reason;		  /* of its last trouble, which may be over; "" for none */
	char *booted;		  /* "2026-01-31T12:34:56"; "" when it is down */
	uint64_t allocated_bytes; /* main memory that its jobs have; 0 where Slurm hands out none */
};

/*
 * One 'scontrol update'. A job that waits for the node's boot is requeued by a drain; the node may
 * then be drained already.
 */
int pm_node_update(const struct pm_node_update *update, struct pm_err *err);

/* Release with pm_node_known_done(). */
int pm_node_ask(const struct pm_config *config, unsigned timeout_ms, struct pm_node_known *ret,
	struct pm_err *err);

void pm_node_known_done(struct pm_node_known *known);

bool pm_node_is_drained(const struct pm_node_known *known);

/* Is the node drained for a reason that is not ours? False when that cannot be told. */
bool pm_node_is_drained_by_others(const struct pm_config *config, unsigned timeout_ms);

/* Reboots the node when it has no jobs; a drain stays. */
int pm_node_reboot(const struct pm_config *config, unsigned timeout_ms, struct pm_err *err);

/* Slurm's name for this node; malloc'ed. */
char *pm_node_name(void);

#endif
