/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_POLICY_H
#define PM_POLICY_H

/*
 * The keys of pmem.conf that apply to jobs: their values, and the lines that hold for some
 * partitions only. The controller's pmem.lua reads the same; see site/config.h for the file.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "site/modes.h"

#define PM_POLICY_MODES 8 /* more than enum pm_mode has */

/* A pair on a line with conditions of jobs. */
struct pm_job_pair {
	char *scope;	  /* "PartitionName=a,b", "Account=x User=alice" */
	char *partitions; /* "a,b" if the partition is the only condition, else NULL */
	int key;	  /* enum pm_key */
	char *text;	  /* its value as it was written */
	char *origin;	  /* "/etc/slurm/pmem.conf:12" */
};

/* In the order of the file; all-zero is empty. */
struct pm_job_pairs {
	struct pm_job_pair *list;
	size_t count;
};

/* The row of a mode by its name; NULL, with a sentence that lists all names, when there is none. */
const struct pm_mode_info *pm_policy_find_mode(const char *name, struct pm_err *err);

/* "none", "auto" or a mode's name; the first two are PM_MODE_UNKNOWN. -EINVAL. */
int pm_policy_parse_mode(const char *value, enum pm_mode *ret, struct pm_err *err);

/* "none" or "memory:7600M,appdirect:900M"; bytes by enum pm_mode, 0: no size. -EINVAL. */
int pm_policy_parse_usable(
	const char *value, uint64_t ret_bytes[PM_POLICY_MODES], struct pm_err *err);

/* "none" or "memory:4,mixed:8"; numbers of nodes by enum pm_mode, 0: none. -EINVAL. */
int pm_policy_parse_counts(
	const char *value, uint64_t ret_counts[PM_POLICY_MODES], struct pm_err *err);

/* "*" or a comma list of user names. -EINVAL. */
int pm_policy_check_users(const char *value, struct pm_err *err);

/* "none" or a comma list of names of clusters. -EINVAL. */
int pm_policy_check_clusters(const char *value, struct pm_err *err);

/* Copies the strings. -ENOMEM. */
int pm_job_pairs_add(struct pm_job_pairs *pairs, const struct pm_job_pair *pair);

/* Removes the pairs of a key: a later line for all partitions overrides them. */
void pm_job_pairs_drop(struct pm_job_pairs *pairs, int key);

/* The last line's pair of the key for this partition, and its value; NULL: there is none. */
const struct pm_job_pair *pm_job_pairs_last(
	const struct pm_job_pairs *pairs, const char *partition, int key);
const char *pm_job_pairs_find(const struct pm_job_pairs *pairs, const char *partition, int key);

/* True: no pair before this one names the partition, so that a walk over all pairs sees it once. */
bool pm_job_pairs_first(const struct pm_job_pairs *pairs, size_t pair, const char *partition);

void pm_job_pairs_done(struct pm_job_pairs *pairs);

#endif
