/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_AGENT_RUNTIME_REPORTS_H
#define PM_AGENT_RUNTIME_REPORTS_H

/*
 * The reports of a job's ranks, which the placement runtime appends to the file PM_REPORT, a JSON
 * object a line (pmplace(7)), put together: the sum of each count of bytes, and the process that
 * has most of it.
 */
#include <stdint.h>
#include <stdio.h>

#include "base/err.h"
#include "base/json.h"

enum pm_runtime_count {
	PM_RUNTIME_DRAM,     /* objects in DRAM, at most */
	PM_RUNTIME_PMEM,     /* in persistent memory, at most */
	PM_RUNTIME_SPILLED,  /* meant for DRAM, which had no room */
	PM_RUNTIME_PROMOTED, /* moved from persistent memory to DRAM */
	PM_RUNTIME_COUNTS,
};

struct pm_runtime_sums {
	unsigned processes; /* 0: no report */
	struct {
		uint64_t sum, most;
		char rank[16]; /* PM_LOCAL_RANK of the process with most */
	} of[PM_RUNTIME_COUNTS];
};

/* Errors of open and read; -EFBIG above 64 MiB; -EBADMSG: a line is something else, with its
 * number. */
int pm_runtime_reports_read(const char *path, struct pm_runtime_sums *ret, struct pm_err *err);

/* "2 processes: 20 MiB in DRAM (rank 0: 10 MiB), ..." without a newline. */
void pm_runtime_reports_print(const struct pm_runtime_sums *sums, FILE *out);

/* "processes" and, for each count, "dram_bytes", "dram_most_bytes", "dram_most_rank". */
void pm_runtime_reports_format(const struct pm_runtime_sums *sums, json_object *ret);

#endif
