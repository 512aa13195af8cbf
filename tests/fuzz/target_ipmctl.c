/* SPDX-License-Identifier: Apache-2.0 */
/* What ipmctl prints: the first byte picks the reader, the rest is the text. */
#include "node/tools/ipmctl.h"
#include "tests/fuzz/fuzz.h"

typedef int reader(const char *text, size_t length, struct pm_err *err);

static int resources(const char *text, size_t length, struct pm_err *err)
{
	struct pm_resources found;

	return pm_ipmctl_resources(text, length, &found, err);
}

static int dimms(const char *text, size_t length, struct pm_err *err)
{
	cleanup_with(pm_dimms_done) struct pm_dimms found = {0};
	int rc = pm_ipmctl_dimms(text, length, &found, err);

	CHECK(rc ? !found.n && !found.list : found.n);
	for (size_t i = 0; i < found.n; i++) {
		CHECK_FITS(found.list[i].id);
		CHECK_FITS(found.list[i].socket);
		CHECK_FITS(found.list[i].health);
		CHECK_FITS(found.list[i].lock);
		CHECK_FITS(found.list[i].manageability);
		CHECK_FITS(found.list[i].population_violation);
		CHECK_FITS(found.list[i].config_status);
		CHECK_FITS(found.list[i].firmware);
		CHECK_FITS(found.list[i].part);
	}
	return rc;
}

static int goals(const char *text, size_t length, struct pm_err *err)
{
	cleanup_with(pm_goals_done) struct pm_goals found = {0};
	int rc = pm_ipmctl_goals(text, length, &found, err);

	CHECK(!rc || (!found.n && !found.list));
	for (size_t i = 0; i < found.n; i++) {
		CHECK_FITS(found.list[i].dimm);
		CHECK_FITS(found.list[i].socket);
	}
	return rc;
}

static int regions(const char *text, size_t length, struct pm_err *err)
{
	cleanup_with(pm_regions_done) struct pm_regions found = {0};
	int rc = pm_ipmctl_regions(text, length, &found, err);

	CHECK(!rc || (!found.n && !found.list));
	for (size_t i = 0; i < found.n; i++) {
		CHECK_FITS(found.list[i].id);
		CHECK_FITS(found.list[i].socket);
		CHECK_FITS(found.list[i].type);
		CHECK_FITS(found.list[i].health);
	}
	return rc;
}

static int capabilities(const char *text, size_t length, struct pm_err *err)
{
	struct pm_capabilities found = {0};
	int rc = pm_ipmctl_capabilities(text, length, &found, err);

	CHECK_FITS(found.allowed_volatile_mode);
	CHECK_FITS(found.current_volatile_mode);
	return rc;
}

static int version(const char *text, size_t length, struct pm_err *err)
{
	struct pm_ipmctl_version found = {0};
	int rc = pm_ipmctl_version(text, length, &found, err);

	CHECK_FITS(found.text);
	return rc;
}

static int dry_run(const char *text, size_t length, struct pm_err *err)
{
	struct pm_dry_run found = {0};
	int rc = pm_ipmctl_dry_run(text, length, &found, err);

	CHECK_FITS(found.warnings);
	CHECK_FITS(found.limited);
	return rc;
}

static int slots(const char *text, size_t length, struct pm_err *err)
{
	cleanup_with(pm_slots_done) struct pm_slots found = {0};
	int rc = pm_ipmctl_slots(text, length, &found, err);

	CHECK(rc ? !found.n && !found.list : found.n);
	for (size_t i = 0; i < found.n; i++) {
		CHECK_FITS(found.list[i].dimm);
		CHECK_FITS(found.list[i].socket);
		CHECK_FITS(found.list[i].type);
	}
	return rc;
}

static int sensors(const char *text, size_t length, struct pm_err *err)
{
	cleanup_with(pm_sensors_done) struct pm_sensors found = {0};
	int rc = pm_ipmctl_sensors(text, length, &found, err);

	CHECK(rc ? !found.n && !found.list : found.n);
	for (size_t i = 0; i < found.n; i++) {
		double number;

		CHECK_FITS(found.list[i].dimm);
		CHECK_FITS(found.list[i].type);
		CHECK_FITS(found.list[i].text);
		(void)pm_sensor_number(&found.list[i], &number);
	}
	return rc;
}

static reader *const readers[] = {
	resources, dimms, goals, regions, capabilities, version, dry_run, slots, sensors};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	cleanup_free char *text = NULL;
	struct pm_err err = {0};
	int rc;

	if (!size)
		return 0;
	text = pm_fuzz_text(data + 1, size - 1);
	rc = readers[data[0] % (sizeof(readers) / sizeof(readers[0]))](text, size - 1, &err);
	CHECK_RESULT(rc, err);
	return 0;
}
