/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_CONFIG_FILE_H
#define PM_CONFIG_FILE_H

/* The form of pmem.conf (see site/config.h), without knowing its keys. */
#include <stdbool.h>

#include "base/err.h"

struct pm_config_pair {
	const char *file;
	unsigned line; /* from 1 */
	const char *key, *value;
	bool is_ours;		/* false if the line's NodeName= does not name this node */
	const char *nodes;	/* the list on a line that starts with NodeName=, else NULL */
	const char *scope;	/* "PartitionName=a Account=x", the conditions of jobs, else NULL */
	const char *partitions; /* the list of PartitionName= if that is the only one, else NULL */
};

typedef int pm_config_take(void *context, const struct pm_config_pair *pair, struct pm_err *err);

/*
 * Calls `take` for each pair of the file. A failure of `take` or an error of form ends the reading,
 * with "FILE:LINE: " in front of the sentence. -ENOENT: the file does not exist.
 */
int pm_config_file_read(const char *file, const char *node, pm_config_take *take, void *context,
	struct pm_err *err);

/* Takes the error of a line, after which the reading goes on. */
typedef void pm_config_wrong(void *context, const struct pm_err *err);

/*
 * The same for a file's text, which it changes. `wrong` NULL: the first error ends the reading;
 * `context` is for both.
 */
int pm_config_text_read(const char *file, char *text, const char *node, pm_config_take *take,
	void *context, pm_config_wrong *wrong, struct pm_err *err);

#define PM_CONFIG_MAX_BYTES ((size_t)1 << 20)

/* SLURMD_NODENAME, else the host name up to its first dot; malloc'ed. */
char *pm_config_own_node(void);

#endif
