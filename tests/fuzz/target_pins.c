/* SPDX-License-Identifier: Apache-2.0 */
/* The pinned namespaces; what can be read can be taken out again, one by one. */
#include "node/state/pins.h"
#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	cleanup_with(pm_pins_done) struct pm_pins pins = {0};
	struct pm_err err = {0};
	int rc;

	pm_fuzz_set_file(data, size);
	rc = pm_store_read(&pm_pins_store, PM_FUZZ_FILE, &pins, &err);
	CHECK_RESULT(rc, err);
	CHECK(!rc || !pins.n);
	for (size_t left = pins.n; left; left--) {
		CHECK(pm_pins_find(&pins, pins.list[0].uuid) == &pins.list[0]);
		rc = pm_pins_remove(&pins, pins.list[0].uuid, &err);
		CHECK(rc ? pins.n == left : pins.n == left - 1);
		if (rc)
			break;
	}
	return 0;
}
