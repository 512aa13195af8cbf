/* SPDX-License-Identifier: Apache-2.0 */
#include "launcher/request.h"

#include <errno.h>
#include <string.h>

#include "lib/plan_site.h"
#include "lib/units.h"

#define MAX_NUMBER 65536

static int refuse(const char *source, const char *value, const char *cure, struct pm_err *err)
{
	return pm_err_set(err, -EINVAL, "%s='%.64s': %s", source, value, cure);
}

static int read_count(const char *source, const char *value, unsigned *ret, struct pm_err *err)
{
	uint64_t number;

	if (pm_parse_u64(value, &number) || !number || number > MAX_NUMBER)
		return refuse(source, value, "write a number from 1 to 65536", err);
	*ret = (unsigned)number;
	return 0;
}

static int take_dram(
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

static int take_bind(
	const char *source, const char *value, struct pm_plan_request *request, struct pm_err *err)
{
	return pm_bind_parse(value, &request->bind)
		       ? refuse(source, value, "write socket or none", err)
		       : 0;
}

static int take_policy(
	const char *source, const char *value, struct pm_plan_request *request, struct pm_err *err)
{
	return pm_placement_parse(value, &request->placement)
		       ? refuse(source, value,
				 "write dram-first, pm-only, interleave, weighted or none", err)
		       : 0;
}

static int take_distribution(
	const char *source, const char *value, struct pm_plan_request *request, struct pm_err *err)
{
	return pm_distribution_parse(value, &request->distribution)
		       ? refuse(source, value, "write block or cyclic", err)
		       : 0;
}

static int take_threads(
	const char *source, const char *value, struct pm_plan_request *request, struct pm_err *err)
{
	return read_count(source, value, &request->threads, err);
}

static int take_smt(
	const char *source, const char *value, struct pm_plan_request *request, struct pm_err *err)
{
	return pm_smt_parse(value, &request->smt)
		       ? refuse(source, value, "write no, threads or helpers", err)
		       : 0;
}

int pm_run_request(const struct pm_run_given *given, const struct pm_config *config,
	struct pm_plan_request *request, struct pm_err *err)
{
	static int (*const takers[PM_RUN_OPTIONS])(
		const char *, const char *, struct pm_plan_request *, struct pm_err *) = {
		[PM_RUN_DRAM] = take_dram,
		[PM_RUN_BIND] = take_bind,
		[PM_RUN_POLICY] = take_policy,
		[PM_RUN_DISTRIBUTION] = take_distribution,
		[PM_RUN_THREADS] = take_threads,
		[PM_RUN_SMT] = take_smt,
	};

	pm_plan_heed_site(request, config);
	for (int i = 0; i < PM_RUN_OPTIONS; i++) {
		int rc = takers[i] && given->value[i]
				 ? takers[i](given->source[i], given->value[i], request, err)
				 : 0;

		if (rc)
			return rc;
	}
	return 0;
}

int pm_run_ranks(const struct pm_run_given *given, unsigned *ret, struct pm_err *err)
{
	*ret = 0;
	if (!pm_run_has(given, PM_RUN_RANKS))
		return 0;
	return read_count("-n", given->value[PM_RUN_RANKS], ret, err);
}
