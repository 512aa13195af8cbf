/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include "node/state/record.h"
#include "tests/unit/scratch.h"
#include "tests/unit/tap.h"

static struct pm_record sample(enum pm_platform platform)
{
	return (struct pm_record){
		.verdict = {.platform = platform, .why = "1LM"},
		.kernel = {.boot_id = "b1",
			.mem_total_bytes = 1000000,
			.n_regions = 2,
			.region_bytes = 8000,
			.side_cache_bytes = 0},
		.capabilities = {.allowed_volatile_mode = "1LM or 2LM",
			.current_volatile_mode = "1LM",
			.alignment_bytes = 1 << 30},
	};
}

static void test_round_trip(void)
{
	const char *path = scratch_path("mode.json");
	struct pm_record record = sample(PM_PLATFORM_APPDIRECT), back = {0};
	struct stat st;

	is_number(pm_record_read(path, &back, NULL), -ENOENT, "no record");
	umask(077);
	is_number(pm_record_write(path, &record, NULL), 0, "written");
	is_number(pm_record_read(path, &back, NULL), 0, "read");
	is_number(back.verdict.platform, PM_PLATFORM_APPDIRECT, "platform mode");
	is_text(back.verdict.why, "1LM", "why");
	is_number(memcmp(&back.kernel, &record.kernel, sizeof(back.kernel)), 0, "the kernel");
	is_number(memcmp(&back.capabilities, &record.capabilities, sizeof(back.capabilities)), 0,
		"the firmware");
	is_number((long long)strlen(back.time), 24, "a time");
	stat(path, &st);
	is_number(st.st_mode & 07777, 0644, "everybody may read it");
	record = sample(PM_PLATFORM_UNKNOWN);
	pm_record_write(path, &record, NULL);
	is_number(pm_record_read(path, &back, NULL), 0, "unknown is one too");
	is_number(back.verdict.platform, PM_PLATFORM_UNKNOWN, "and is read as such");
}

static void test_refused(void)
{
	struct pm_record back = {.verdict = {.platform = PM_PLATFORM_MEMORY}};
	const char *path = scratch_file("bad.json", "{\"version\":2,\"platform\":\"memory\"");

	is_number(pm_record_read(path, &back, NULL), -EBADMSG, "truncated");
	scratch_file("bad.json", "{\"version\":2,\"platform\":\"memory\"}");
	is_number(pm_record_read(path, &back, NULL), -EBADMSG, "members missing");
	scratch_file("bad.json",
		"{\"version\":1,\"platform\":\"memory\",\"why\":\"\",\"time\":\"\",\"boot_id\":"
		"\"b\","
		"\"mem_total_bytes\":1,\"n_regions\":1,\"region_bytes\":1,\"n_flat_regions\":0,"
		"\"flat_bytes\":0,\"side_cache_bytes\":1}");
	is_number(pm_record_read(path, &back, NULL), -EBADMSG, "another version");
	scratch_file("bad.json", "[]");
	is_number(pm_record_read(path, &back, NULL), -EBADMSG, "no object");
	is_number(symlink("mode.json", scratch_path("link.json")), 0, "a link");
	is_number(pm_record_read(scratch_path("link.json"), &back, NULL), -ELOOP, "is refused");
	if (geteuid() == 0 && !chown(scratch_path("mode.json"), 65534, 0))
		is_number(pm_record_read(scratch_path("mode.json"), &back, NULL), -EPERM,
			"a user's file is refused");
	is_number(back.verdict.platform, PM_PLATFORM_MEMORY, "the result is untouched");
}

static const struct {
	enum pm_platform platform;
	const char *boot_id;
	uint64_t mem_total_bytes, n_regions, region_bytes, side_cache_bytes, flat_bytes;
	int rc;
	const char *error;
} checks[] = {
	{PM_PLATFORM_MEMORY, "b1", 1000000, 2, 8000, 0, 0, 0, ""},
	{PM_PLATFORM_MEMORY, "b2", 1000000, 2, 8000, 0, 0, -ESTALE, "an earlier boot"},
	{PM_PLATFORM_MEMORY, "b1", 1010000, 2, 8000, 0, 0, 0, ""},
	{PM_PLATFORM_MEMORY, "b1", 1010001, 2, 8000, 0, 0, -ESTALE, "mem_total_bytes 1000000"},
	{PM_PLATFORM_MEMORY, "b1", 990000, 2, 8000, 0, 0, 0, ""},
	{PM_PLATFORM_MEMORY, "b1", 989999, 2, 8000, 0, 0, -ESTALE, "the kernel 989999"},
	{PM_PLATFORM_APPDIRECT, "b1", 9000000, 2, 8000, 0, 0, 0, ""},
	{PM_PLATFORM_APPDIRECT, "b1", 9000000, 2, 8000, 0, 8000000, 0, ""},
	{PM_PLATFORM_APPDIRECT, "b1", 9000000, 2, 8000, 0, 8500000, -ESTALE,
		"mem_total_bytes 1000000, the kernel 500000"},
	{PM_PLATFORM_APPDIRECT, "b1", 1000000, 2, 8000, 0, 9000000, -ESTALE, "the kernel 0"},
	{PM_PLATFORM_APPDIRECT, "b1", 989999, 2, 8000, 0, 0, -ESTALE, "mem_total_bytes"},
	{PM_PLATFORM_APPDIRECT, "b1", 1000000, 1, 8000, 0, 0, -ESTALE, "n_regions"},
	{PM_PLATFORM_APPDIRECT, "b1", 1000000, 2, 8001, 0, 0, -ESTALE, "region_bytes"},
	{PM_PLATFORM_APPDIRECT, "b1", 1000000, 2, 8000, 1, 0, -ESTALE, "side_cache_bytes"},
};

static void test_check(void)
{
	FOR_EACH(row, checks)
	{
		const struct pm_record record = sample(row->platform);
		struct pm_err err = {0};
		struct pm_kernel now = {
			.mem_total_bytes = row->mem_total_bytes,
			.n_regions = row->n_regions,
			.region_bytes = row->region_bytes,
			.side_cache_bytes = row->side_cache_bytes,
			.flat_bytes = row->flat_bytes,
			.n_flat_regions = row->flat_bytes ? 2 : 0,
		};

		strcpy(now.boot_id, row->boot_id);
		is_number(pm_record_check(&record, &now, &err), row->rc, "a record is checked");
		has_text(err.text, row->error, "what differs");
	}
}

int main(void)
{
	test_round_trip();
	test_refused();
	test_check();
	return tap_done();
}
