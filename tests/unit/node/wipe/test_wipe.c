/* SPDX-License-Identifier: Apache-2.0 */
/* Wipes are counted; what they do to the bytes is in test_scrub.c. */
#include <unistd.h>

#include "node/state/counters.h"
#include "node/wipe/wipe.h"
#include "tests/unit/scratch.h"
#include "tests/unit/tap.h"

static struct pm_operation op;

static struct pm_wipe_target target(const char *path)
{
	struct pm_wipe_target target = {.numa_node = -1};

	snprintf(target.path, sizeof(target.path), "%s", path);
	return target;
}

static struct pm_counters now(void)
{
	struct pm_counters got = {0};

	is_number(pm_counters_read(&op.config, &got, NULL), 0, "counters are read");
	return got;
}

int main(void)
{
	struct pm_wipe_target targets[2];
	struct pm_counters got;
	struct pm_err err = {0};

	op.config.state_dir = (char *)scratch_dir();
	op.config.fs_root = (char *)"/";
	targets[0] = target(scratch_file("a", "secret"));
	targets[1] = target(scratch_file("b", "more secrets"));
	is_number(pm_wipe_devices(&op, targets, 0, &err), 0, "nothing to wipe");
	is_number((long long)now().wipes, 0, "is not counted");
	is_number(pm_wipe_devices(&op, targets, 2, &err), 0, err.text);
	got = now();
	is_number((long long)got.wipes, 2, "each device");
	is_number((long long)got.wiped_bytes, 18, "their bytes");
	is_number((long long)got.failed_wipes, 0, "none has failed");
	unlink(targets[1].path);
	ok(pm_wipe_devices(&op, targets, 2, &err) < 0, "one is missing");
	got = now();
	is_number((long long)got.wipes, 2, "none is counted as done");
	is_number((long long)got.failed_wipes, 2, "both have failed");
	is_number((long long)got.wiped_bytes, 18, "without bytes");
	return tap_done();
}
