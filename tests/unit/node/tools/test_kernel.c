/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>

#include "node/tools/kernel.h"
#include "tests/unit/scratch.h"
#include "tests/unit/tap.h"

#define BOOT_ID "0f6c3f0a-4f6f-8a44-0a0d-9a2f4a610001"

static void write_node(void)
{
	scratch_file("proc/sys/kernel/random/boot_id", BOOT_ID "\n");
	scratch_file("proc/meminfo", "MemTotal:        1960000 kB\nMemFree:  5 kB\n");
}

static void write_regions(void)
{
	scratch_file("sys/bus/nd/devices/region0/size", "4294967296\n");
	scratch_file("sys/bus/nd/devices/region0/devtype", "nd_pmem\n");
	scratch_file("sys/bus/nd/devices/region1/size", "2147483648\n");
	scratch_file("sys/bus/nd/devices/region2/size", "99\n");
	scratch_file("sys/bus/nd/devices/region2/devtype", "nd_volatile\n");
	scratch_file("sys/bus/nd/devices/namespace0.0/size", "77\n");
	scratch_file("sys/bus/nd/devices/nmem0/size", "77\n");
}

static void test_good(void)
{
	struct pm_kernel kernel = {0};
	struct pm_err err = {0};

	write_node();
	is_number(pm_kernel_read(scratch_dir(), &kernel, &err), 0, "a node without PMem");
	is_text(kernel.boot_id, BOOT_ID, "boot_id");
	is_number((long long)kernel.mem_total_bytes, 1960000LL * 1024, "MemTotal");
	is_number((long long)kernel.n_regions, 0, "no regions");
	is_number((long long)kernel.side_cache_bytes, 0, "no cache");
	write_regions();
	scratch_file("sys/devices/system/node/node0/memory_side_cache/index1/size", "1073741824\n");
	scratch_file("sys/devices/system/node/node1/memory_side_cache/index1/size", "1073741824\n");
	scratch_file("sys/devices/system/node/node2/meminfo", "x\n");
	scratch_file("sys/devices/system/node/online", "0-2\n");
	is_number(pm_kernel_read(scratch_dir(), &kernel, &err), 0, "a node with PMem");
	is_number((long long)kernel.n_regions, 2, "regions of persistent memory");
	is_number((long long)kernel.region_bytes, 6442450944, "their sum");
	is_number((long long)kernel.side_cache_bytes, 2147483648, "the caches' sum");
}

/* Two devices on region 1 and one of region 0, which share a node; the last is no region's. */
static void write_dax(void)
{
	scratch_link("sys/bus/dax/devices/dax0.0",
		"../../../devices/LNXSYSTM:00/ndbus0/region0/dax0.0/dax0.0");
	scratch_link("sys/bus/dax/devices/dax1.0", "../../../devices/ndbus0/region1/dax1.0/dax1.0");
	scratch_link("sys/bus/dax/devices/dax1.1", "../../../devices/ndbus0/region1/dax1.1/dax1.1");
	scratch_link("sys/bus/dax/devices/dax9.0", "../../../devices/platform/hmem.0/dax9.0");
}

static void write_dax_device(const char *path, const char *driver, const char *node)
{
	char name[300];

	snprintf(name, sizeof(name), "%s/driver", path);
	scratch_link(name, driver);
	snprintf(name, sizeof(name), "%s/target_node", path);
	scratch_file(name, node);
}

static void check_flat(uint64_t n_regions, uint64_t bytes, const char *what)
{
	struct pm_kernel kernel = {0};
	struct pm_err err = {0};

	is_number(pm_kernel_read(scratch_dir(), &kernel, &err), 0, what);
	is_number((long long)kernel.n_flat_regions, (long long)n_regions, "regions in flat");
	is_number((long long)kernel.flat_bytes, (long long)bytes, "their memory");
	is_number((long long)pm_kernel_boot_memory(&kernel), 1960000LL * 1024 - (long long)bytes,
		"the memory of the boot");
	is_number((long long)pm_kernel_memory_in(&kernel, PM_MODE_APPDIRECT),
		(long long)pm_kernel_boot_memory(&kernel), "which jobs can have in App Direct");
	is_number((long long)pm_kernel_memory_in(&kernel, PM_MODE_FLAT),
		(long long)(pm_kernel_boot_memory(&kernel) + kernel.region_bytes),
		"and the regions with it in flat");
}

#define DAX0 "sys/devices/LNXSYSTM:00/ndbus0/region0/dax0.0/dax0.0"
#define DAX1 "sys/devices/ndbus0/region1/dax1.0/dax1.0"
#define DAX2 "sys/devices/ndbus0/region1/dax1.1/dax1.1"
#define DAX9 "sys/devices/platform/hmem.0/dax9.0"
#define KMEM "../../../../../../bus/dax/drivers/kmem"

static void test_flat(void)
{
	write_dax();
	write_dax_device(DAX0, "../../../bus/dax/drivers/device_dax", "2\n");
	write_dax_device(DAX1, KMEM, "2\n");
	write_dax_device(DAX2, KMEM, "2\n");
	write_dax_device(DAX9, KMEM, "3\n");
	scratch_file("sys/devices/system/node/node3/meminfo", "Node 3 MemTotal:  500 kB\n");
	remove(scratch_path("sys/devices/system/node/node2/meminfo"));
	check_flat(0, 0, "all memory is offline");
	scratch_file("sys/devices/system/node/node2/meminfo", "Node 2 MemTotal:     0 kB\n");
	check_flat(0, 0, "a node that is there and empty");
	scratch_file("sys/devices/system/node/node2/meminfo", "Node 2 MemTotal:  100 kB\n");
	check_flat(1, 102400, "one region counts once");
	remove(scratch_path(DAX0 "/driver"));
	write_dax_device(DAX0, KMEM, "2\n");
	check_flat(2, 102400, "two regions on one node");
	scratch_file("sys/devices/system/node/node2/cpulist", "\n");
	check_flat(2, 102400, "a node without CPUs");
	scratch_file("sys/devices/system/node/node2/cpulist", "0-3\n");
	check_flat(2, 0, "memory on a node of DRAM cannot be told from it");
	remove(scratch_path("sys/devices/system/node/node2/cpulist"));
}

static const struct {
	const char *file, *text;
	int rc;
	const char *error;
} bad[] = {
	{DAX1 "/target_node", "-1\n", -EBADMSG, "a NUMA node expected, not '-1'"},
	{"sys/devices/system/node/node2/meminfo", "x\n", -EBADMSG, "no MemTotal in it"},
	{"sys/bus/nd/devices/region1/size", "many\n", -EBADMSG, "region1/size"},
	{"sys/devices/system/node/node1/memory_side_cache/index1/size", "-1\n", -EBADMSG,
		"node1/memory_side_cache"},
	{"proc/meminfo", "MemFree: 5 kB\n", -EBADMSG, "no MemTotal"},
	{"proc/meminfo", "MemTotal: lots kB\n", -EBADMSG, "no MemTotal"},
	{"proc/sys/kernel/random/boot_id", "\n", -EBADMSG, "a UUID expected"},
	{"proc/sys/kernel/random/boot_id", "0123456789012345678901234567890123456789\n", -EBADMSG,
		"a UUID expected"},
	{"proc/sys/kernel/random/boot_id", "../../etc\n", -EBADMSG, "a UUID expected"},
};

static void test_bad(void)
{
	char boot_id[PM_BOOT_ID_MAX];
	struct pm_err err = {0};

	FOR_EACH(row, bad)
	{
		struct pm_kernel kernel = {.n_regions = 77};

		write_node();
		write_regions();
		scratch_file("sys/devices/system/node/node2/meminfo", "Node 2 MemTotal: 9 kB\n");
		scratch_file(DAX1 "/target_node", "2\n");
		scratch_file(row->file, row->text);
		is_number(pm_kernel_read(scratch_dir(), &kernel, &err), row->rc, row->text);
		has_text(err.text, row->error, "what is wrong");
		is_number((long long)kernel.n_regions, 77, "the result is untouched");
	}
	is_number(pm_kernel_boot_id(scratch_path("none"), boot_id, &err), -ENOENT, "no root");
	remove(scratch_path("proc/sys/kernel/random/boot_id"));
	is_number(pm_kernel_boot_id(scratch_dir(), boot_id, &err), -ENOENT, "no boot_id");
}

int main(void)
{
	test_good();
	test_flat();
	test_bad();
	return tap_done();
}
