/* SPDX-License-Identifier: Apache-2.0 */
#include "node/tools/partition.h"
#include "tests/unit/recorded.h"
#include "tests/unit/tap.h"

/* What ipmctl 03.00.00.0468 stored for `n` modules a socket of this size, in GiB for each. */
static const struct {
	uint64_t capacity;
	size_t n;
	unsigned memory_percent, reserved_percent;
	uint64_t memory, appdirect;
} stored[] = {
	{2214592512, 4, 100, 0, 2, 0},
	{2214592512, 4, 0, 0, 0, 2},
	{2214592512, 4, 50, 0, 1, 1},
	{2214592512, 4, 1, 0, 1, 1},
	{2214592512, 4, 99, 0, 1, 1},
	{2214592512, 4, 95, 5, 1, 0},
	{2214592512, 4, 25, 25, 1, 0},
	{2214592512, 4, 75, 20, 1, 0},
	{2214592512, 4, 0, 10, 0, 1},
	{2214592512, 4, 0, 90, 0, 1},
	{135744454656, 6, 100, 0, 126, 0},
	{135744454656, 6, 0, 0, 0, 126},
	{135744454656, 6, 50, 0, 63, 63},
	{135744454656, 6, 25, 0, 31, 95},
	{135744454656, 6, 33, 0, 41, 85},
	{135744454656, 6, 99, 0, 125, 1},
	{135744454656, 6, 25, 25, 31, 63},
	{135744454656, 6, 33, 33, 41, 43},
	{135744454656, 6, 75, 20, 94, 6},
	{135744454656, 6, 95, 5, 120, 0},
	{135744454656, 6, 90, 10, 113, 0},
	{135744454656, 6, 49, 50, 62, 0},
	{135744454656, 6, 0, 1, 0, 125},
	{135744454656, 6, 0, 50, 0, 63},
	{135744454656, 6, 0, 90, 0, 12},
	{8564768768, 2, 50, 0, 3, 4},
	{8564768768, 2, 25, 0, 1, 6},
	{8564768768, 2, 10, 0, 0, 7},
	{8564768768, 2, 67, 0, 4, 3},
	{8564768768, 2, 99, 0, 6, 1},
	{8564768768, 2, 90, 10, 6, 0},
	{8564768768, 2, 95, 5, 6, 0},
	{8564768768, 2, 33, 33, 2, 2},
	{8564768768, 2, 75, 20, 5, 0},
	{8564768768, 2, 0, 50, 0, 3},
	{8564768768, 2, 0, 88, 0, 1},
	{540087943168, 4, 100, 0, 502, 0},
	{540087943168, 4, 50, 0, 251, 251},
	{540087943168, 4, 37, 0, 185, 317},
	{540087943168, 4, 73, 13, 366, 70},
	{540087943168, 4, 0, 33, 0, 337},
	{12884901888, 2, 100, 0, 12, 0},
	{12884901888, 2, 50, 0, 6, 6},
	{12884901888, 2, 96, 0, 11, 1},
	{12884901888, 2, 8, 8, 1, 10},
	{12884901888, 2, 0, 9, 0, 10},
};

#define MAX_MODULES 8

static struct pm_dimm list[MAX_MODULES];

static struct pm_dimms modules(size_t n, uint64_t capacity)
{
	for (size_t i = 0; i < n; i++) {
		strcpy(list[i].socket, "0x0000");
		strcpy(list[i].manageability, "Manageable");
		list[i].capacity_bytes = capacity;
	}
	return (struct pm_dimms){list, n};
}

static void test_stored(void)
{
	FOR_EACH(row, stored)
	{
		struct pm_dimms dimms = modules(row->n, row->capacity);
		const struct pm_shares shares = {
			row->memory_percent, row->reserved_percent, 1ULL << 30};
		struct pm_partition got = pm_partition_of(&shares, &dimms, &list[row->n - 1]);

		ok(got.memory_bytes == row->memory << 30 && got.appdirect_bytes == row->appdirect
											   << 30,
			"%u %% and %u %% of %llu: %llu and %llu GiB", row->memory_percent,
			row->reserved_percent, (unsigned long long)row->capacity,
			(unsigned long long)got.memory_bytes >> 30,
			(unsigned long long)got.appdirect_bytes >> 30);
		is_number((long long)pm_partition_memory(&shares, &dimms, "0x0000"),
			(long long)((row->memory << 30) * row->n), "all of the socket");
	}
}

static void test_groups(void)
{
	struct pm_dimms dimms = modules(4, 135744454656);
	const struct pm_shares half = {50, 0, 1ULL << 30}, early = {0, 10, 32ULL << 30};
	struct pm_partition got;

	strcpy(list[3].manageability, "Unmanageable");
	strcpy(list[2].socket, "0x0001");
	list[1].capacity_bytes *= 2;
	got = pm_partition_of(&half, &dimms, &list[0]);
	is_number((long long)got.memory_bytes >> 30, 94, "half of both modules");
	is_number((long long)got.appdirect_bytes >> 30, 32, "the rest of the small one");
	got = pm_partition_of(&half, &dimms, &list[1]);
	is_number((long long)got.appdirect_bytes >> 30, 158, "the rest of the large one");
	got = pm_partition_of(&half, &dimms, &list[2]);
	is_number((long long)got.memory_bytes >> 30, 63, "another socket is apart");
	got = pm_partition_of(&early, &dimms, &list[2]);
	is_number((long long)got.appdirect_bytes >> 30, 96, "in units of 32 GiB");
	is_number((long long)pm_partition_memory(&half, &dimms, "0x0009"), 0, "no such socket");
	strcpy(list[3].socket, "0x0009");
	got = pm_partition_of(&half, &dimms, &list[3]);
	is_number((long long)(got.memory_bytes + got.appdirect_bytes), 0, "no manageable module");
}

int main(void)
{
	test_stored();
	test_groups();
	return tap_done();
}
