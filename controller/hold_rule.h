/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_HOLD_RULE_H
#define PM_HOLD_RULE_H

/*
 * The hold rule: whether a pending job that needs other nodes to reboot waits for nodes of its own
 * mode instead. A pure function: it keeps no state, and sends no requests.
 * `make bench-policy` judges it in a simulated cluster. All times are in seconds of one clock.
 *
 * A job that fits into idle nodes of its mode may start. So may one that may not be held, and one
 * that was first held `most_s` ago. Any other is leased while one of these is true:
 * - enough nodes of its mode come free within `soon` times the time of a reboot;
 * - too few idle nodes can be spared: a mode spares those of its idle nodes that its own pending
 *   jobs do not need, or all if its queue is shorter by `gap_s` than that of the job's mode. The
 *   length of a queue is its node-seconds for each node that has the mode;
 * - the node-seconds that pending jobs of its mode have been held are less than `rent` times those
 *   of the reboots. (To rent until the rents equal the price costs at most twice the optimum:
 * Dooly, Goldman, Scott, "On-line analysis of the TCP acknowledgment delay problem", JACM 48,
 * 2001.)
 *
 * Such a job is held if as many nodes as it needs are idle, in whatever mode: Slurm would start it
 * now. If fewer are, it could not start, but Slurm would give it the next nodes at the moment at
 * which they become idle, before anybody can decide. So it is leased as well, but this does not
 * count as a hold, if `guarded` more idle nodes would be enough. It loses nothing but Slurm's
 * reservation of nodes, which matters to large jobs: those wait in Slurm's queue. Behind a job that
 * does, Slurm reboots nothing for jobs of a mode that has enough nodes, so they need no lease.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PM_HOLD_MODES_MAX 8

struct pm_hold_rule {
	double reboot_s; /* of one node, measured */
	double most_s;	 /* D: longest hold */
	double soon;	 /* times reboot_s */
	double gap_s;
	double rent; /* times the cost of the reboots */
	double lease_s;
	uint32_t guarded; /* nodes */
};

struct pm_hold_answer {
	double until_s;	 /* end of the lease; 0: the job may start */
	uint32_t counts; /* the job is held: its first_held_s is now, if it has none */
	uint32_t either; /* it may start, but nothing reboots for it: a lease may stay */
};

/* A job for which no node may be rebooted. */
enum pm_hold_bar {
	PM_HOLD_NOT_BARRED,
	PM_HOLD_BARRED,		 /* it waits as long as too few nodes of its mode are idle */
	PM_HOLD_BARRED_FROM_ALL, /* it waits: it cannot take those that are idle, or not yet */
};

struct pm_hold_job {
	double run_s;	     /* expected */
	double first_held_s; /* 0: it has never been held */
	uint32_t nodes;
	uint32_t mode;	   /* below PM_HOLD_MODES_MAX */
	uint32_t may_hold; /* 0: the job must not be held, for reasons of its own */
	uint32_t barred;   /* enum pm_hold_bar */
};

struct pm_hold_node {
	double free_s; /* expected end of what it does; a time that has passed: it is idle */
	uint32_t mode;
};

/*
 * `jobs` are in the order in which Slurm looks at them. `ret_answers` has an element for each.
 * -EINVAL for a mode that is too high; then, no element is written.
 */
int pm_hold_decide(const struct pm_hold_rule *rule, double now_s, const struct pm_hold_job *jobs,
	size_t n_jobs, const struct pm_hold_node *nodes, size_t n_nodes,
	struct pm_hold_answer *ret_answers);

#endif
