/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_JOB_USE_H
#define PM_JOB_USE_H

/*
 * The memory that a job has used on one node: its high water by tier and socket, and the seconds
 * that the node spent before and after it. The node keeps it in a file while the job runs, and
 * sends it to pm-controller afterwards, where `pmctl report` reads it. All three use these fields.
 */
#include <stddef.h>
#include <stdint.h>

#include "base/fields.h"

#define PM_USE_PARTS_MAX   64
#define PM_USE_SAMPLES_MAX 120

/* Memory with levels: of more, as on eight sockets, a frame to pm-controller would not hold them.
 */
#define PM_USE_LEVELS_MAX 8

/* Memory of a NUMA node, or of the job's directory on a socket. */
struct pm_use_part {
	char tier[8];	 /* "dram", "pmem", or "dir" */
	uint32_t number; /* of the NUMA node; of "dir": N of PM_DIRN */
	uint32_t socket;
	uint64_t bytes, peak_bytes;
	uint64_t limit_bytes; /* of "dir": its quota; 0: none */
	/* That failed while the job ran; of "dir" also blocks known to be bad on its socket. */
	uint64_t bad_pages;
	/* Of memory: its bytes at the samples, 0 behind the last level. None if there are more
	 * than PM_USE_LEVELS_MAX such parts. */
	uint64_t *levels;
	size_t n_levels;
};

/* A point of the job's memory over time. */
struct pm_use_sample {
	uint64_t after_s; /* since the begin */
	uint64_t dram_bytes, pmem_bytes, dir_bytes;
};

struct pm_job_use {
	uint32_t job_id, uid;
	char mode[16];
	char run[64];	   /* of the job record: differs between runs of a requeued job */
	uint64_t begin_s;  /* Unix time of the begin of the job's set-up here */
	uint64_t end_s;	   /* of the end of the job's processes here; 0: it runs */
	uint64_t setup_ms; /* is part of the job's time, as Slurm counts it */
	uint64_t cleanup_ms;
	uint64_t memory_peak_bytes;  /* of the job's memory cgroup; 0: it has none */
	uint64_t memory_limit_bytes; /* of the same; 0: none */
	uint64_t oom_kills;	     /* processes that the kernel killed at that limit */
	struct pm_use_part *parts;
	size_t n_parts;
	struct pm_use_sample *samples; /* in equal steps, of step_s */
	size_t n_samples;
	uint64_t step_s;
};

extern const struct pm_field pm_job_use_fields[];

/* The part, added if there is none; NULL: out of memory, or there are PM_USE_PARTS_MAX. */
struct pm_use_part *pm_job_use_part(
	struct pm_job_use *use, const char *tier, uint32_t number, uint32_t socket);

/* Sums of the present bytes, and of the high water, of the parts of a tier. */
uint64_t pm_job_use_now(const struct pm_job_use *use, const char *tier);
uint64_t pm_job_use_peak(const struct pm_job_use *use, const char *tier);

/* Forgets the points over time, the levels of the parts among them. */
void pm_job_use_forget_samples(struct pm_job_use *use);

/*
 * Adds a point with the present bytes, also to the levels of the parts, if step_s have passed since
 * the last one. A list of PM_USE_SAMPLES_MAX loses every second point first, and the step doubles.
 */
void pm_job_use_sample(struct pm_job_use *use, uint64_t now_s);

void pm_job_use_done(struct pm_job_use *use);

#endif
