/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_NODE_H
#define PM_NODE_H

/*
 * slurmctld's record of this node, read and changed by scontrol. Slurm's name of the node is
 * SLURMD_NODENAME, which prologs have in their environment, else the host's name up to its first
 * dot.
 */
#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "site/config.h"

struct pm_node_update {
	const struct pm_config *config; /* NULL, without a configuration: scontrol's default path */
	const char *reason;		/* drains the node with this line */
	const char *state;     /* "resume" or "undrain", without a reason; NULL leaves it */
	const char *active;    /* active features; NULL leaves them */
	const char *available; /* available features; NULL leaves them */
	const char *comment;   /* 'sinfo -O Comment' shows it; NULL leaves it */
	unsigned timeout_ms;
};

struct pm_node_known {
	char *active;		  /* "rack1,pm_memory"; "" for none */
	char *available;	  /* the same */
	char *comment;		  /* "" for none */
	char *state;		  /* "IDLE+DRAIN" */
	char *reason;		  /* may be of an earlier drain; "" for none */
	char *booted;		  /* "2026-01-31T12:34:56"; "" when it is down */
	uint64_t allocated_bytes; /* main memory of its jobs; 0 if Slurm does not allocate memory */
};

/*
 * One 'scontrol update'. At a drain Slurm requeues the job that waits for the node's boot. When the
 * call fails, the node may be drained all the same.
 */
int pm_node_update(const struct pm_node_update *update, struct pm_err *err);

/* One 'scontrol show node'. On failure *ret is untouched. Release with pm_node_known_done(). */
int pm_node_ask(const struct pm_config *config, unsigned timeout_ms, struct pm_node_known *ret,
	struct pm_err *err);

void pm_node_known_done(struct pm_node_known *known);

bool pm_node_is_drained(const struct pm_node_known *known);

/*
 * True if the node is drained for a reason that does not begin with "pm"; false if scontrol fails.
 */
bool pm_node_is_drained_by_others(const struct pm_config *config, unsigned timeout_ms);

/* Orders a reboot for when the node has no jobs ('scontrol reboot' without ASAP); a drain stays. */
int pm_node_reboot(const struct pm_config *config, unsigned timeout_ms, struct pm_err *err);

/* Slurm's name for this node; malloc'ed. */
char *pm_node_name(void);

#endif
