/* SPDX-License-Identifier: Apache-2.0 */
#include "node/act/job_memory.h"

#include <errno.h>
#include <stdio.h>

#define MIB(bytes) ((unsigned long long)((bytes) >> 20))

static uint64_t of_others(const struct pm_jobs *jobs, const struct pm_job *job)
{
	const struct pm_job *other;
	uint64_t sum = 0;
	size_t at = 0;

	while ((other = pm_jobs_next_other(jobs, job, &at)))
		sum += other->memory_bytes;
	return sum;
}

static void name_holders(const struct pm_jobs *jobs, const struct pm_job *job)
{
	const struct pm_job *other;
	size_t at = 0;

	while ((other = pm_jobs_next_other(jobs, job, &at)))
		if (other->memory_bytes)
			printf(PM_ANSWER_HOLDER "%u\n", (unsigned)other->id);
}

static int check_recorded(const struct pm_jobs *jobs, const struct pm_job *job,
	uint64_t existing_bytes, struct pm_err *err)
{
	uint64_t others = of_others(jobs, job), has = job->memory_bytes;

	if (has > existing_bytes)
		return pm_err_set(err, -EBUSY,
			"job %u has %llu MiB of memory here, the node has %llu MiB in mode %s; ask "
			"for less with --mem",
			(unsigned)job->id, MIB(has), MIB(existing_bytes), pm_mode_name(job->mode));
	if (!has || others <= existing_bytes - has)
		return 0;
	name_holders(jobs, job);
	return pm_err_set(err, -EBUSY,
		"job %u needs %llu MiB of memory; the node has %llu MiB in mode %s, and other "
		"jobs hold %llu MiB",
		(unsigned)job->id, MIB(has), MIB(existing_bytes), pm_mode_name(job->mode),
		MIB(others));
}

int pm_job_memory_check(const struct pm_jobs *jobs, const struct pm_job *job,
	uint64_t existing_bytes, const struct pm_job_request *request, struct pm_err *err)
{
	uint64_t recorded = of_others(jobs, job) + job->memory_bytes;
	uint64_t all = request->allocated_bytes;
	int rc = check_recorded(jobs, job, existing_bytes, err);

	if (rc || request->all_memory || all <= existing_bytes)
		return rc;
	printf(PM_ANSWER_UNRECORDED "%llu\n",
		(unsigned long long)(all > recorded ? all - recorded : 0));
	return pm_err_set(err, -EBUSY,
		"jobs hold %llu MiB of memory of this node, which has %llu MiB in mode %s",
		MIB(all), MIB(existing_bytes), pm_mode_name(job->mode));
}
