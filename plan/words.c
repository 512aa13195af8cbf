/* SPDX-License-Identifier: Apache-2.0 */
#include "plan/words.h"

#include <errno.h>
#include <string.h>

#include "base/units.h"

#define MAX_NUMBER 65536

static int refuse(const char *source, const char *value, const char *cure, struct pm_err *err)
{
	return pm_err_set(err, -EINVAL, "%s='%.64s': %s", source, value, cure);
}

int pm_count_parse(const char *source, const char *value, unsigned *ret, struct pm_err *err)
{
	uint64_t number;

	if (pm_parse_u64(value, &number) || !number || number > MAX_NUMBER)
		return refuse(source, value, "write a number from 1 to 65536", err);
	*ret = (unsigned)number;
	return 0;
}

static int set_dram(
	const char *source, const char *value, struct pm_plan_request *request, struct pm_err *err)
{
	uint64_t bytes;

	if (!strcmp(value, "auto")) {
		request->dram_bytes = 0;
		return 0;
	}
	if (pm_parse_size(value, &bytes) || bytes < PM_PLAN_UNIT)
		return refuse(source, value, "write a size like 4G, 2M at least, or auto", err);
	request->dram_bytes = bytes;
	return 0;
}

static int set_bind(
	const char *source, const char *value, struct pm_plan_request *request, struct pm_err *err)
{
	return pm_bind_parse(value, &request->bind)
		       ? refuse(source, value, "write socket or none", err)
		       : 0;
}

static int set_policy(
	const char *source, const char *value, struct pm_plan_request *request, struct pm_err *err)
{
	return pm_mem_policy_parse(value, &request->policy)
		       ? refuse(source, value,
				 "write dram-first, pm-only, interleave, weighted or none", err)
		       : 0;
}

static int set_distribution(
	const char *source, const char *value, struct pm_plan_request *request, struct pm_err *err)
{
	return pm_distribution_parse(value, &request->distribution)
		       ? refuse(source, value, "write block or cyclic", err)
		       : 0;
}

static int set_threads(
	const char *source, const char *value, struct pm_plan_request *request, struct pm_err *err)
{
	return pm_count_parse(source, value, &request->threads, err);
}

static int set_smt(
	const char *source, const char *value, struct pm_plan_request *request, struct pm_err *err)
{
	return pm_smt_parse(value, &request->smt)
		       ? refuse(source, value, "write no, threads or helpers", err)
		       : 0;
}

int pm_plan_take(enum pm_plan_word word, const char *source, const char *value,
	struct pm_plan_request *request, struct pm_err *err)
{
	static int (*const setters[PM_PLAN_WORDS])(
		const char *, const char *, struct pm_plan_request *, struct pm_err *) = {
		[PM_PLAN_WORD_DRAM] = set_dram,
		[PM_PLAN_WORD_BIND] = set_bind,
		[PM_PLAN_WORD_POLICY] = set_policy,
		[PM_PLAN_WORD_DISTRIBUTION] = set_distribution,
		[PM_PLAN_WORD_THREADS] = set_threads,
		[PM_PLAN_WORD_SMT] = set_smt,
	};

	return setters[word](source, value, request, err);
}
