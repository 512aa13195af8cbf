/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include <inttypes.h>
#include <time.h>

#include "base/asprintf.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "node/state/job_use_bad.h"
#include "node/tools/bad_memory.h"
#include "tests/unit/scratch.h"
#include "tests/unit/tap.h"

#define GIB (UINT64_C(1) << 30)

/* Two sockets with 4 GiB of PMem each from 5 GiB on; node 3 is socket 1's, online from 9 GiB on. */
static void make_machine(void)
{
	scratch_file("sys/devices/system/memory/block_size_bytes", "8000000\n");
	scratch_file("sys/devices/system/node/node0/memory1/state", "online\n");
	scratch_file("sys/devices/system/node/node3/memory72/state", "online\n");
	scratch_file("sys/devices/system/node/node0/cpulist", "0\n");
	scratch_file("sys/devices/system/node/node1/cpulist", "1\n");
	scratch_file("sys/devices/system/cpu/cpu0/topology/physical_package_id", "0\n");
	scratch_file("sys/devices/system/cpu/cpu1/topology/physical_package_id", "1\n");
	scratch_file("sys/bus/nd/devices/region0/resource", "0x140000000\n");
	scratch_file("sys/bus/nd/devices/region0/size", "4294967296\n");
	scratch_file("sys/bus/nd/devices/region0/numa_node", "0\n");
	scratch_file("sys/bus/nd/devices/region0/badblocks", "");
	scratch_file("sys/bus/nd/devices/region1/resource", "0x240000000\n");
	scratch_file("sys/bus/nd/devices/region1/size", "4294967296\n");
	scratch_file("sys/bus/nd/devices/region1/numa_node", "1\n");
	scratch_file("sys/bus/nd/devices/region1/badblocks", "8 2\n4096 1\n");
}

/* A record of the kernel's log, `age_s` old. */
static void log_of(uint64_t age_s, const char *text)
{
	cleanup_free char *record =
		pm_asprintf("5,1,0,-;Linux version 6.12\n6,812,%" PRIu64 ",-;%s\n SUBSYSTEM=none\n",
			(pm_now_ms() / 1000 - age_s) * 1000000, text);

	scratch_file("dev/kmsg", record);
}

static void test_log(void)
{
	struct pm_bad_page pages[2];

	log_of(5, "Memory failure: 0x14c600: recovery action for dax page: Recovered");
	is_number((long long)pm_bad_pages(scratch_dir(), 10, pages, 2), 1, "a page");
	is_number((long long)pages[0].address, 0x14c600000, "its address");
	ok(pages[0].is_dax, "it is of a file or device");
	is_number((long long)pm_bad_pages(scratch_dir(), 1, pages, 2), 0, "older");
	log_of(5, "Memory failure: 0x8000: recovery action for dirty LRU page: Recovered");
	is_number((long long)pm_bad_pages(scratch_dir(), 10, pages, 2), 1, "another page");
	ok(!pages[0].is_dax, "it is of online memory");
	log_of(5, "Memory failure: 0x8000: Sending SIGBUS to a:1 due to hardware memory "
		  "corruption");
	is_number((long long)pm_bad_pages(scratch_dir(), 10, pages, 2), 0, "not counted twice");
	is_number((long long)pm_bad_pages("/nowhere", 10, pages, 2), 0, "no log");
}

static void test_places(void)
{
	is_number(pm_bad_page_node(scratch_dir(), 0x8000000), 0, "DRAM of node 0");
	is_number(pm_bad_page_node(scratch_dir(), 9 * GIB + 5), 3, "PMem of node 3");
	is_number(pm_bad_page_node(scratch_dir(), 100 * GIB), -1, "nowhere");
	is_number(pm_bad_page_socket(scratch_dir(), 5 * GIB), 0, "the first region");
	is_number(pm_bad_page_socket(scratch_dir(), 9 * GIB), 1, "the second one");
	is_number(pm_bad_page_socket(scratch_dir(), 13 * GIB), -1, "behind it");
	is_number((long long)pm_bad_blocks(scratch_dir(), 0), 0, "no bad block");
	is_number((long long)pm_bad_blocks(scratch_dir(), 1), 3, "bad blocks");
}

/* The bad pages of a job's part that has used socket 1's directory, DRAM of node 0 and node 3. */
static uint64_t bad_of(const char *tier, uint32_t number)
{
	cleanup_with(pm_job_use_done) struct pm_job_use use = {
		.begin_s = (uint64_t)time(NULL) - 10};

	(void)pm_job_use_part(&use, "dram", 0, 0);
	(void)pm_job_use_part(&use, "pmem", 3, 1);
	(void)pm_job_use_part(&use, "dir", 0, 0);
	(void)pm_job_use_part(&use, "dir", 1, 1);
	pm_use_add_bad(scratch_dir(), &use);
	return pm_job_use_part(&use, tier, number, 0)->bad_pages;
}

static void test_job(void)
{
	log_of(5, "Memory failure: 0x14c600: recovery action for dax page: Recovered");
	is_number((long long)bad_of("dir", 0), 1, "a page of its directory");
	is_number((long long)bad_of("dir", 1), 3, "the bad blocks of the other one's socket");
	is_number((long long)bad_of("dram", 0), 0, "none of DRAM");
	log_of(5, "Memory failure: 0x240001: recovery action for clean LRU page: Recovered");
	is_number((long long)bad_of("pmem", 3), 1, "a page of flat memory");
	is_number((long long)bad_of("dir", 0), 0, "none of the directory");
	log_of(5, "Memory failure: 0x250000: recovery action for clean LRU page: Recovered");
	is_number((long long)bad_of("pmem", 3), 1, "one that is offline again");
	log_of(20, "Memory failure: 0x8000: recovery action for clean LRU page: Recovered");
	is_number((long long)bad_of("dram", 0), 0, "before the job");
	log_of(5, "Memory failure: 0x8000: recovery action for clean LRU page: Recovered");
	is_number((long long)bad_of("dram", 0), 1, "a page of DRAM");
}

int main(void)
{
	make_machine();
	test_log();
	test_places();
	test_job();
	return tap_done();
}
