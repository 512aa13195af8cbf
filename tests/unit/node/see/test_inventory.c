/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>

#include "base/cleanup.h"
#include "node/see/inventory.h"
#include "tests/unit/recorded.h"
#include "tests/unit/scratch.h"
#include "tests/unit/tap.h"

static void test_superblocks(void)
{
	struct pm_inventory fsdax = {0};
	struct pm_superblock got;
	unsigned char bytes[PM_SUPERBLOCK_BYTES] = {0};
	size_t length;
	const char *ext4 = fixture("substate/ndctl-81/ext4.superblock", &length);
	const char *xfs = fixture("substate/ndctl-81/xfs.superblock", &length);

	recorded_inventory("ndctl-81", "fsdax", &fsdax);
	pm_superblock_read((const unsigned char *)ext4, length, &got);
	is_text(got.type, "ext4", "ext4");
	is_text(got.uuid, fsdax.list[0].list[0].nd.uuid, "mkfs gave it the UUID of the label");
	pm_superblock_read((const unsigned char *)xfs, length, &got);
	is_text(got.type, "xfs", "xfs");
	is_text(got.uuid, "01234567-89ab-cdef-0123-456789abcdef", "its UUID");
	memcpy(bytes, xfs, sizeof(bytes));
	bytes[126] = 1;
	pm_superblock_read(bytes, sizeof(bytes), &got);
	is_text(got.type, "", "an xfs that mkfs is still at");
	pm_superblock_read((const unsigned char *)ext4, length - 1, &got);
	is_text(got.type, "", "less than a superblock");
	memset(bytes, 0, sizeof(bytes));
	pm_superblock_read(bytes, sizeof(bytes), &got);
	is_text(got.type, "", "zeros");
	pm_inventory_done(&fsdax);
}

static void test_mount_lines(void)
{
	struct pm_mounts mounts = {0};
	struct pm_err err;
	const struct pm_mount *mount;

	is_number(pm_mounts_read(
			  "36 35 98:0 /mnt1 /with\\040space rw,noatime master:1 - ext3 "
			  "/dev/a\\134b rw,errors=continue\n"
			  "37 35 259:0 / /mnt rw,nosuid - xfs /dev/pmem0 rw,dax=always,prjquota",
			  &mounts, &err),
		0, "two lines");
	is_number((long long)mounts.n, 2, "are two mounts");
	is_text(mounts.list[0].device, "98:0", "device");
	is_text(mounts.list[0].point, "/with space", "point");
	is_text(mounts.list[0].type, "ext3", "type");
	is_text(mounts.list[0].source, "/dev/a\\b", "source");
	mount = pm_mounts_at(&mounts, "/mnt");
	ok(mount && pm_mount_has(mount, "dax=always") && pm_mount_has(mount, "nosuid"), "options");
	ok(mount && !pm_mount_has(mount, "dax") && !pm_mount_has(mount, "quota"), "whole words");
	ok(!pm_mounts_at(&mounts, "/mn"), "nothing is mounted there");
	pm_mounts_done(&mounts);
	is_number(pm_mounts_read("", &mounts, &err), 0, "no mounts");
	is_number((long long)mounts.n, 0, "none");
	pm_mounts_done(&mounts);
	is_number(pm_mounts_read("36 35 98:0 / /mnt rw\n", &mounts, &err), -EBADMSG, "cut off");
	is_number(pm_mounts_read("36 35 - ext4 /dev/x rw\n", &mounts, &err), -EBADMSG, "too short");
}

static void test_order_and_places(void)
{
	struct pm_inventory got = {0};

	recorded_inventory("ndctl-81", "fsdax", &got);
	is_number((long long)got.n, 2, "two regions");
	is_text(got.list[0].nd.dev, "region0", "socket 0 first, whatever ndctl's order");
	is_text(got.list[0].mount_point, "/mnt/slurm-pmem/socket0", "its place");
	is_text(got.list[1].mount_point, "/mnt/slurm-pmem/socket1", "the other's");
	ok(got.list[0].list[0].is_mounted && got.list[1].list[0].is_mounted, "both are mounted");
	is_text(got.list[0].occupant, "", "nobody else is there");
	is_text(got.list[0].list[0].elsewhere, "", "and they are nowhere else");
	pm_inventory_done(&got);
}

static int one_socket(void *context, int numa_node)
{
	(void)context;
	(void)numa_node;
	return 0;
}

/* Not interleaved: each module is a region. */
static void test_several_regions_of_a_socket(void)
{
	struct pm_nd_region list[3] = {
		{.dev = "region0", .size_bytes = 1, .iset_id = 30},
		{.dev = "region1", .size_bytes = 1, .iset_id = 10},
		{.dev = "region2", .size_bytes = 1, .iset_id = 20},
	};
	const struct pm_nd_regions regions = {list, 3};
	const struct pm_daxes daxes = {0};
	struct pm_inventory got = {0};

	pm_inventory_make(&regions, &daxes, "/p", one_socket, NULL, &got, NULL);
	is_text(got.list[0].nd.dev, "region1", "by interleave set, not by number");
	is_text(got.list[0].mount_point, "/p/socket0-0", "first place");
	is_text(got.list[2].mount_point, "/p/socket0-2", "last place");
	pm_inventory_done(&got);
}

static void mounted(struct pm_inventory *got, const char *mountinfo)
{
	struct pm_mounts mounts = {0};

	pm_mounts_read(mountinfo, &mounts, NULL);
	recorded_inventory("ndctl-81", "foreign", got);
	pm_inventory_add_mounts(got, &mounts);
	pm_mounts_done(&mounts);
}

static void test_mounts(void)
{
	struct pm_inventory got = {0};

	mounted(&got, "40 31 259:0 / /mnt/slurm-pmem/socket0 rw - ext4 /dev/pmem0 rw,prjquota\n");
	ok(got.list[0].list[0].has_other_options && !got.list[0].list[0].is_mounted, "without DAX");
	pm_inventory_done(&got);
	mounted(&got, "40 31 259:0 / /srv rw - ext4 /dev/pmem0 rw,prjquota,dax=always\n");
	is_text(got.list[0].list[0].elsewhere, "/srv", "elsewhere");
	pm_inventory_done(&got);
	mounted(&got, "40 31 8:1 / /mnt/slurm-pmem/socket1 rw - ext4 /dev/sda1 rw\n");
	is_text(got.list[1].occupant, "/dev/sda1", "somebody else's at the place");
	pm_inventory_done(&got);
}

static void test_find(void)
{
	struct pm_inventory got = {0};
	const struct pm_inventory_region *region = NULL;

	recorded_inventory("ndctl-81", "devdax", &got);
	ok(pm_inventory_find(&got, "namespace1.0", &region) == &got.list[1].list[0], "by device");
	ok(region == &got.list[1], "with its region");
	ok(pm_inventory_find(&got, got.list[0].list[0].nd.uuid, &region) == &got.list[0].list[0],
		"by UUID");
	ok(!pm_inventory_find(&got, "slurm-devdax", &region), "two have that name");
	ok(!pm_inventory_find(&got, "namespace1", &region), "no such namespace");
	pm_inventory_done(&got);
	recorded_inventory("ndctl-81", "foreign", &got);
	ok(pm_inventory_find(&got, "data", &region) == &got.list[0].list[0], "by name");
	ok(!pm_inventory_find(&got, "", &region), "an empty name finds no namespace");
	pm_inventory_done(&got);
}

int main(void)
{
	test_superblocks();
	test_mount_lines();
	test_order_and_places();
	test_several_regions_of_a_socket();
	test_mounts();
	test_find();
	return tap_done();
}
