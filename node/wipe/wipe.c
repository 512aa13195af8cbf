/* SPDX-License-Identifier: Apache-2.0 */
#include "node/wipe/wipe.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "node/state/counters.h"
#include "node/wipe/crypto_erase.h"
#include "node/wipe/scrub.h"

#define REPORT_S 10
#define MIB	 (1024.0 * 1024)

static void say_progress(void *context, uint64_t done_bytes, uint64_t total_bytes)
{
	pm_report(context, "wiping: %.0f of %.0f MiB", (double)done_bytes / MIB,
		(double)total_bytes / MIB);
}

static void say_result(
	const struct pm_operation *op, size_t n, const struct pm_scrub_result *result)
{
	pm_report(op,
		"wiped %zu device%s: %.0f MiB in %.1f s, %llu MB/s, of which %.0f MiB were not "
		"zero",
		n, n == 1 ? "" : "s", (double)result->size_bytes / MIB,
		(double)result->elapsed_ms / 1000,
		(unsigned long long)pm_scrub_mb_per_s(result->size_bytes, result->elapsed_ms),
		(double)result->written_bytes / MIB);
}

static int scrub(const struct pm_operation *op, const struct pm_wipe_target *list, size_t n,
	uint64_t *ret_bytes, struct pm_err *err)
{
	cleanup_free struct pm_scrub_target *targets = calloc(n, sizeof(*targets));
	const struct pm_scrub_options options = {
		.fs_root = op->config.fs_root,
		.discard = op->config.wipe == PM_WIPE_DISCARD,
		.report_s = REPORT_S,
		.progress = say_progress,
		.context = (void *)op,
	};
	struct pm_scrub_result result;
	int rc;

	if (!targets)
		return pm_err_nomem(err);
	for (size_t i = 0; i < n; i++)
		targets[i] = (struct pm_scrub_target){list[i].path, list[i].numa_node};
	rc = pm_scrub(targets, n, &options, &result, err);
	if (rc)
		return rc;
	say_result(op, n, &result);
	*ret_bytes = result.size_bytes;
	return 0;
}

static bool all_doomed(const struct pm_wipe_target *list, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!list[i].doomed)
			return false;
	return true;
}

static int wipe(const struct pm_operation *op, const struct pm_wipe_target *list, size_t n,
	uint64_t *ret_bytes, struct pm_err *err)
{
	if (op->config.wipe == PM_WIPE_CRYPTO_ERASE && all_doomed(list, n))
		return pm_crypto_erase(op, list, n, err);
	return scrub(op, list, n, ret_bytes, err);
}

int pm_wipe_devices(const struct pm_operation *op, const struct pm_wipe_target *list, size_t n,
	struct pm_err *err)
{
	uint64_t start_ms = pm_now_ms(), bytes = 0;
	struct pm_counters more = {0};
	int rc;

	if (!n)
		return 0;
	rc = wipe(op, list, n, &bytes, err);
	*(rc ? &more.failed_wipes : &more.wipes) = n;
	more.wiped_bytes = bytes;
	more.wipe_ms = pm_now_ms() - start_ms;
	pm_counters_add_wipes(&op->config, &more);
	return rc;
}
