/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <sys/stat.h>

#include "node/state/pins.h"
#include "tests/unit/recorded.h"
#include "tests/unit/scratch.h"
#include "tests/unit/tap.h"

static void test_add_and_remove(void)
{
	struct pm_inventory inventory = {0};
	struct pm_pins pins = {0}, again = {0};
	const char *path = scratch_path("pins");
	struct pm_err err = {0};

	recorded_inventory("ndctl-81", "devdax", &inventory);
	is_number(pm_store_read(&pm_pins_store, path, &pins, &err), 0, "no file");
	is_number((long long)pins.n, 0, "is no pins");
	is_number(pm_pins_add(&pins, &inventory.list[0].list[0].nd, &err), 0, "pin the first");
	is_number(pm_pins_add(&pins, &inventory.list[0].list[0].nd, &err), -EEXIST, "twice");
	is_number(pm_pins_add(&pins, &inventory.list[1].list[0].nd, &err), 0, "and the second");
	is_number(pm_store_write(&pm_pins_store, path, &pins, &err), 0, "written");
	is_number(pm_store_read(&pm_pins_store, path, &again, &err), 0, "and read");
	is_number((long long)again.n, 2, "two");
	is_text(again.list[1].uuid, inventory.list[1].list[0].nd.uuid, "UUID");
	is_text(again.list[1].dev, "namespace1.0", "device");
	is_text(again.list[1].name, "slurm-devdax", "name");
	is_number(pm_pins_remove(&again, "slurm-devdax", &err), -EINVAL, "two have this name");
	is_number(pm_pins_remove(&again, "namespace0.0", &err), 0, "unpin by device");
	is_number(pm_pins_remove(&again, "slurm-devdax", &err), 0, "now by name");
	is_number(pm_pins_remove(&again, "slurm-devdax", &err), -ENOENT, "there is none");
	is_number(pm_pins_remove(&again, "", &err), -ENOENT, "no name");
	pm_pins_done(&again);
	pm_pins_done(&pins);
	pm_inventory_done(&inventory);
}

static void test_apply(void)
{
	struct pm_inventory inventory = {0}, other = {0};
	struct pm_pins pins = {0};

	recorded_inventory("ndctl-81", "devdax", &inventory);
	recorded_inventory("ndctl-81", "disabled", &other);
	pm_pins_add(&pins, &inventory.list[0].list[0].nd, NULL);
	ok(!pm_pins_apply(&pins, &inventory), "all are there");
	ok(inventory.list[0].list[0].is_pinned, "it is marked");
	ok(!inventory.list[1].list[0].is_pinned, "the other is not");
	ok(!pm_pins_apply(&pins, &other), "a disabled namespace is still there");
	ok(other.list[0].list[0].is_pinned, "and pinned");
	pm_inventory_done(&other);
	recorded_inventory("ndctl-81", "empty", &other);
	ok(pm_pins_apply(&pins, &other) == &pins.list[0], "it is gone");
	pm_inventory_done(&other);
	pm_inventory_done(&inventory);
	pm_pins_done(&pins);
}

static void test_refusals(void)
{
	static const char *const texts[] = {
		"",
		"{",
		"[]",
		"{\"version\":2,\"pins\":[]}",
		"{\"version\":1}",
		"{\"version\":1,\"pins\":[7]}",
		"{\"version\":1,\"pins\":[{\"uuid\":\"\",\"dev\":\"namespace0.0\"}]}",
		"{\"version\":1,\"pins\":[{\"uuid\":\"12345678901234567890123456789012345678901\"}]"
		"}",
	};
	const struct pm_namespace without = {.dev = "namespace0.0"};
	struct pm_pins pins = {0};
	struct pm_err err;

	FOR_EACH(text, texts)
	{
		const char *path = scratch_file("bad", *text);

		is_number(pm_store_read(&pm_pins_store, path, &pins, &err),
			strstr(*text, "\"version\":2") ? -EPROTONOSUPPORT : -EBADMSG, *text);
		has_text(err.text, "the file is kept", "the sentence");
	}
	is_number(
		chmod(scratch_file("others", "{\"version\": 1, \"pins\": []}"), 0666), 0, "chmod");
	is_number(pm_store_read(&pm_pins_store, scratch_path("others"), &pins, &err), -EPERM,
		"a file that others can write");
	is_number(pm_pins_add(&pins, &without, &err), -EINVAL, "a namespace without UUID");
	ok(!pm_pins_find(&pins, ""), "an empty UUID finds no pin");
}

int main(void)
{
	test_add_and_remove();
	test_apply();
	test_refusals();
	return tap_done();
}
