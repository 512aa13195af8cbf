/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_REBOOTS_H
#define PM_REBOOTS_H

/*
 * The reboots of nodes that have modes, as slurmctld's table of nodes shows them: a node that Slurm
 * has rebooted, or powered up, and that came back or did not. The newest PM_REBOOTS_MAX are kept in
 * a file. Times are those at which the service saw the change: a second late while a job waits for
 * a node, else up to 10 s.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "controller/cluster.h"
#include "controller/waiters.h"

#define PM_REBOOTS_MAX 4096

struct pm_reboot {
	char *node;
	char *from, *to;	 /* features of modes; NULL: none. `to` is Slurm's until the end. */
	uint64_t start_s, end_s; /* Unix time; end_s 0: not back yet */
	char *failure;		 /* "did not come back: ...", "came back in mode ..."; NULL: none */
	uint32_t job_id, uid;	 /* of the job that waits for the node; job_id 0: not known */
	char *account, *partition; /* the job's; NULL: not known, or none */
	char *qos, *reservation;
};

/*
 * The feature that a node had when its table was last looked at. A node that is off keeps its mode,
 * also where slurmctld forgets it (off_modes.h); if it was off in the first table already, it is
 * taken to have the mode of its last reboot.
 */
struct pm_node_feature {
	char *node;
	const char *feature; /* of the table of modes; NULL: none */
};

struct pm_reboots {
	char *path;
	struct pm_reboot *list; /* by node, then by start */
	size_t n;
	struct pm_node_feature *known; /* by node */
	size_t n_known;
	time_t table_time; /* of the last table of nodes */
	size_t n_open;	   /* nodes that are not back */
};

/*
 * Initializes a zeroed struct with the file's reboots. A file that cannot be read is reported on
 * stderr, and set aside if it is malformed. -ENOMEM.
 */
int pm_reboots_open(struct pm_reboots *reboots, const char *path, struct pm_err *err);

/*
 * With each new table of nodes. The waiters tell which job waits for a node, or else the table of
 * jobs, which also has its account and partition. Reboots that have ended in the future, by a clock
 * that was set back, end now. Writes the file if anything else has changed.
 */
void pm_reboots_look(struct pm_reboots *reboots, const struct pm_cluster *cluster,
	const struct pm_waiters *waiters, uint64_t now_s);

/* The clock was set by so many seconds: moves the starts of reboots that go on. */
void pm_reboots_shift(struct pm_reboots *reboots, int64_t by_s);

/* The reboots of a node, oldest first; NULL and 0 without any. */
const struct pm_reboot *pm_reboots_of(
	const struct pm_reboots *reboots, const char *node, size_t *ret_n);

/* The reboot that a node is in; NULL: in none. */
const struct pm_reboot *pm_reboots_open_of(const struct pm_reboots *reboots, const char *node);

/* The feature of the mode in which a node is, or was turned off; NULL: none, or not known. */
const char *pm_reboots_feature(const struct pm_reboots *reboots, const char *node);

/*
 * Median of the seconds that the last reboots into the mode of a feature took, at most
 * PM_REBOOTS_MEDIAN_OF, failed ones apart; 0: none are known.
 */
#define PM_REBOOTS_MEDIAN_OF 31
uint64_t pm_reboots_median_s(const struct pm_reboots *reboots, const char *feature);

void pm_reboots_done(struct pm_reboots *reboots);

#endif
