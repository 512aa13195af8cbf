/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "node/wipe/scrub.h"
#include "tests/unit/scratch.h"
#include "tests/unit/tap.h"

#define MIB ((size_t)1 << 20)

/* A file of this size with a byte that is not zero at each of the offsets, which end with -1. */
static const char *make(const char *name, size_t size, const long *offsets)
{
	const char *path = scratch_file(name, "");
	int fd = open(path, O_RDWR | O_CLOEXEC);

	if (fd < 0 || ftruncate(fd, (off_t)size))
		perror(path);
	for (; *offsets >= 0; offsets++)
		if (pwrite(fd, "\x01", 1, *offsets) != 1)
			perror(path);
	close(fd);
	return path;
}

static bool reads_zero(const char *path, size_t size)
{
	unsigned char *data = malloc(size + 1);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	bool zero = data && read(fd, data, size + 1) == (ssize_t)size;

	for (size_t i = 0; zero && i < size; i++)
		zero = !data[i];
	close(fd);
	free(data);
	return zero;
}

static const struct pattern {
	const char *name;
	size_t size;
	long offsets[8];
	long long written;
} patterns[] = {
	{"empty", 0, {-1}, 0},
	{"all zero", 3 * MIB, {-1}, 0},
	{"first and last byte", 20 * MIB, {0, (long)(20 * MIB - 1), -1}, 2 * 4096},
	{"around the borders of pieces and buffers", 40 * MIB,
		{(long)MIB - 1, (long)MIB, 16 * (long)MIB - 1, 16 * (long)MIB, 33 * (long)MIB, -1},
		5 * 4096},
	{"neighbours", 2 * MIB, {4096, 8192, 12287, -1}, 2 * 4096},
	{"no whole page", 4096 + 77, {4096 + 76, -1}, 77},
	{"less than a word", 5, {4, -1}, 5},
};

static void test_patterns(void)
{
	FOR_EACH(row, patterns)
	{
		for (int by_write = 0; by_write < 2; by_write++) {
			const char *how = by_write ? "by writing" : "by a map";
			struct pm_scrub_options options = {.fs_root = "/", .by_write = by_write};
			struct pm_scrub_result result = {0};
			struct pm_scrub_target target = {
				.path = make("pattern", row->size, row->offsets), .numa_node = -1};
			struct pm_err err = {0};

			is_number(pm_scrub(&target, 1, &options, &result, &err), 0, err.text);
			ok(reads_zero(target.path, row->size), "%s: zero %s", row->name, how);
			is_number((long long)result.size_bytes, (long long)row->size, "its size");
			is_number((long long)result.written_bytes, row->written,
				"no page is written that need not be");
		}
	}
}

static void test_sparse_stays_sparse(void)
{
	const struct pm_scrub_options options = {.fs_root = "/", .by_write = true};
	const long offsets[] = {(long)(8 * MIB), -1};
	struct pm_scrub_target target = {make("sparse", 64 * MIB, offsets), 0};
	struct pm_scrub_result result;
	struct stat st;

	is_number(pm_scrub(&target, 1, &options, &result, NULL), 0, "a sparse file");
	stat(target.path, &st);
	ok(st.st_blocks * 512 < 1 << 20, "does not grow");
}

static void test_several(void)
{
	const struct pm_scrub_options options = {.fs_root = "/"};
	const long offsets[] = {5, (long)(17 * MIB), -1};
	struct pm_scrub_target targets[] = {
		{make("a", 18 * MIB, offsets), 0},
		{make("b", 18 * MIB, offsets), 9999}, /* a node that is not there */
		{make("c", 18 * MIB, offsets), -1},
	};
	struct pm_scrub_result result = {0};
	struct pm_err err = {0};

	is_number(pm_scrub(targets, 3, &options, &result, &err), 0, "three at once");
	for (size_t i = 0; i < 3; i++)
		ok(reads_zero(targets[i].path, 18 * MIB), "number %zu", i);
	is_number((long long)result.size_bytes, 54 * (long long)MIB, "all counted");
	is_number((long long)result.written_bytes, 6 * 4096, "and what was written");
	is_number(pm_scrub(targets, 0, &options, &result, &err), 0, "none at all");
	targets[1].path = scratch_path("missing");
	is_number(pm_scrub(targets, 3, &options, &result, &err), -ENOENT, "one is missing");
	has_text(err.text, targets[1].path, "it is named");
}

static void test_discard(void)
{
	const struct pm_scrub_options options = {.fs_root = "/", .discard = true};
	const long offsets[] = {5, (long)MIB, -1};
	struct pm_scrub_target target = {make("punched", 2 * MIB, offsets), -1};
	struct pm_scrub_result result = {0};

	is_number(pm_scrub(&target, 1, &options, &result, NULL), 0, "discard");
	is_number((long long)result.n_discarded, 1, "where it is offered");
	is_number((long long)result.written_bytes, 0, "leaves nothing to write");
	ok(reads_zero(target.path, 2 * MIB), "zero");
}

static void test_refusals(void)
{
	const struct pm_scrub_options options = {.fs_root = "/"};
	const long offsets[] = {0, -1};
	const char *file = make("aim", MIB, offsets), *link = scratch_path("link");
	struct pm_scrub_target target = {link, -1};
	struct pm_scrub_result result;
	struct pm_err err = {0};

	ok(!symlink(file, link), "a symbolic link");
	is_number(pm_scrub(&target, 1, &options, &result, &err), -ENOTSUP, "is not followed");
	ok(!reads_zero(file, MIB), "what it points to is untouched");
	target.path = scratch_dir();
	is_number(pm_scrub(&target, 1, &options, &result, &err), -ENOTSUP, "a directory");
	target.path = "/dev/null";
	ok(pm_scrub(&target, 1, &options, &result, &err) < 0, "a device that is no memory");
}

/* /dev/zero in the part of a dax device: what sysfs says of it decides. */
static void test_dax_device(void)
{
	const struct pm_scrub_options options = {.fs_root = scratch_dir()};
	struct pm_scrub_target target = {"/dev/zero", -1};
	struct pm_scrub_result result;
	struct pm_err err = {0};

	scratch_link("sys/bus/dax/devices/zero", "../../../devices/region0/dax0.1/zero");
	scratch_file("sys/devices/region0/dax0.1/zero/size", "1048576\n");
	scratch_file("sys/devices/region0/dax0.1/zero/dev", "252:0\n");
	is_number(pm_scrub(&target, 1, &options, &result, &err), -ENOTSUP, "another device");
	has_text(err.text, "its number is 1:5, that of the dax device 252:0", "of that name");
	scratch_file("sys/devices/region0/dax0.1/zero/dev", "1:5\n");
	scratch_file("sys/devices/region0/badblocks", "2048 8\n");
	is_number(pm_scrub(&target, 1, &options, &result, &err), -EIO, "a region's bad blocks");
	has_text(err.text, "clear-errors", "are cured first");
	scratch_file("sys/devices/region0/badblocks", "");
	is_number(pm_scrub(&target, 1, &options, &result, &err), 0, "without them");
	is_number((long long)result.size_bytes, 1048576, "its size is what sysfs says");
}

int main(void)
{
	test_patterns();
	test_sparse_stays_sparse();
	test_several();
	test_discard();
	test_refusals();
	test_dax_device();
	return tap_done();
}
