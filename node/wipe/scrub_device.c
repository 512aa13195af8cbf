/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "node/wipe/scrub_device.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include "base/cleanup.h"
#include "base/file.h"
#include "base/units.h"

#define PAGE	  ((size_t)PM_SCRUB_PAGE_BYTES)
#define MAX_BYTES 4096

static bool is_zero(const unsigned char *data, size_t length)
{
	const uint64_t *word = (const uint64_t *)(const void *)data;

	for (; length >= 64; length -= 64, word += 8)
		if (word[0] | word[1] | word[2] | word[3] | word[4] | word[5] | word[6] | word[7])
			return false;
	data = (const unsigned char *)word;
	while (length && !*data) {
		data++;
		length--;
	}
	return length == 0;
}

/*
 * Non-temporal stores: after the fence the zeros are in the memory, and no dirty cache line can
 * overwrite them.
 */
static void write_zeros(unsigned char *to, size_t length)
{
#ifdef __SSE2__
	const __m128i zero = _mm_setzero_si128();

	for (; length >= 64; length -= 64, to += 64)
		for (size_t i = 0; i < 64; i += 16)
			_mm_stream_si128((__m128i *)(void *)(to + i), zero);
#endif
	memset(to, 0, length);
}

static void fence(void)
{
#ifdef __SSE2__
	_mm_sfence();
#endif
}

static size_t page_at(size_t at, size_t length)
{
	return length - at < PAGE ? length - at : PAGE;
}

static int not_zero(const struct pm_scrub_device *device, uint64_t offset, struct pm_err *err)
{
	return pm_err_set(err, -EIO, "wipe '%s': byte %llu and on are not zero after being written",
		device->path, (unsigned long long)offset);
}

static int piece_by_map(const struct pm_scrub_device *device, uint64_t offset, size_t length,
	uint64_t *written_bytes, struct pm_err *err)
{
	unsigned char *data = device->map + offset;
	bool dirty[PM_SCRUB_PIECE_BYTES / PM_SCRUB_PAGE_BYTES];

	for (size_t at = 0; at < length; at += PAGE) {
		dirty[at / PAGE] = !is_zero(data + at, page_at(at, length));
		if (!dirty[at / PAGE])
			continue;
		write_zeros(data + at, page_at(at, length));
		*written_bytes += page_at(at, length);
	}
	fence();
	for (size_t at = 0; at < length; at += PAGE)
		if (dirty[at / PAGE] && !is_zero(data + at, page_at(at, length)))
			return not_zero(device, offset + at, err);
	return 0;
}

static int transfer(const struct pm_scrub_device *device, uint64_t offset, unsigned char *data,
	size_t length, bool is_write)
{
	while (length) {
		ssize_t done = is_write ? pwrite(device->fd, data, length, (off_t)offset)
					: pread(device->fd, data, length, (off_t)offset);

		if (done < 0 && errno == EINTR)
			continue;
		if (done <= 0)
			return done ? -errno : -EIO;
		data += done;
		offset += (uint64_t)done;
		length -= (size_t)done;
	}
	return 0;
}

/* Writes zeros and reads them back. */
static int rewrite(const struct pm_scrub_device *device, uint64_t offset, size_t length,
	struct pm_scrub_buffer *buffer, struct pm_err *err)
{
	int rc = transfer(device, offset, buffer->zeros, length, /* is_write= */ true);

	if (rc)
		return pm_err_sys(err, rc, "wipe '%s': write at byte %llu", device->path,
			(unsigned long long)offset);
	rc = transfer(device, offset, buffer->again, length, /* is_write= */ false);
	if (rc)
		return pm_err_sys(err, rc, "wipe '%s': read back at byte %llu", device->path,
			(unsigned long long)offset);
	return is_zero(buffer->again, length) ? 0 : not_zero(device, offset, err);
}

/* The length of the run of pages from `at` on that are not zero. */
static size_t dirty_run(const unsigned char *data, size_t at, size_t length)
{
	size_t end = at;

	while (end < length && !is_zero(data + end, page_at(end, length)))
		end += page_at(end, length);
	return end - at;
}

/* A block that cannot be read is written as a whole, which heals bad blocks. */
static int block(const struct pm_scrub_device *device, uint64_t offset, size_t length,
	struct pm_scrub_buffer *buffer, uint64_t *written_bytes, struct pm_err *err)
{
	int rc = transfer(device, offset, buffer->data, length, /* is_write= */ false);

	if (rc) {
		*written_bytes += length;
		return rewrite(device, offset, length, buffer, err);
	}
	for (size_t at = 0, run; !rc && at < length; at += run ? run : page_at(at, length)) {
		run = dirty_run(buffer->data, at, length);
		if (run)
			rc = rewrite(device, offset + at, run, buffer, err);
		*written_bytes += run;
	}
	return rc;
}

int pm_scrub_device_piece(const struct pm_scrub_device *device, uint64_t offset, size_t length,
	struct pm_scrub_buffer *buffer, uint64_t *written_bytes, struct pm_err *err)
{
	size_t step = sizeof(buffer->data);
	int rc = 0;

	if (device->map)
		return piece_by_map(device, offset, length, written_bytes, err);
	for (size_t at = 0; !rc && at < length; at += step)
		rc = block(device, offset + at, length - at < step ? length - at : step, buffer,
			written_bytes, err);
	return rc;
}

/* A line of a dax device's file in sysfs. */
static int dax_text(
	const char *fs_root, const char *name, const char *file, char **ret, struct pm_err *err)
{
	cleanup_close int root_fd = open(fs_root, O_PATH | O_DIRECTORY | O_CLOEXEC);
	char path[200];
	int rc;

	if (root_fd < 0)
		return pm_err_sys(err, -errno, "open '%s'", fs_root);
	snprintf(path, sizeof(path), "sys/bus/dax/devices/%.80s/%s", name, file);
	rc = pm_file_read(root_fd, path, MAX_BYTES, ret, NULL, err);
	if (!rc)
		(*ret)[strcspn(*ret, "\n")] = '\0';
	return rc;
}

static int dax_size(const char *fs_root, const char *name, uint64_t *ret, struct pm_err *err)
{
	cleanup_free char *text = NULL;
	int rc = dax_text(fs_root, name, "size", &text, err);

	if (!rc && pm_parse_u64(text, ret))
		return pm_err_set(err, -EBADMSG, "wipe '/dev/%s': its size is '%.60s'", name, text);
	return rc;
}

static int map_it(struct pm_scrub_device *device, struct pm_err *err)
{
	void *map;

	if (!device->size_bytes)
		return 0;
	map = mmap(NULL, device->size_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, device->fd, 0);
	if (map == MAP_FAILED)
		return pm_err_sys(err, -errno, "wipe '%s': map %llu bytes", device->path,
			(unsigned long long)device->size_bytes);
	device->map = map;
	return 0;
}

/* A read of a bad block through a mapping raises SIGBUS, so the wipe is refused. */
static int refuse_bad_blocks(const char *fs_root, const char *name, struct pm_err *err)
{
	cleanup_free char *text = NULL;

	if (dax_text(fs_root, name, "../../badblocks", &text, NULL) || !text[0])
		return 0;
	return pm_err_set(err, -EIO,
		"wipe '/dev/%s': its region has bad blocks; save what is in it, then 'ndctl "
		"clear-errors', see 'ndctl list -R --media-errors'",
		name);
}

/* A device node may have any name: its number must be the one in sysfs. */
static int check_is_dax(
	const char *fs_root, const char *name, const struct stat *st, struct pm_err *err)
{
	cleanup_free char *text = NULL;
	char wanted[40];
	int rc = dax_text(fs_root, name, "dev", &text, err);

	snprintf(wanted, sizeof(wanted), "%u:%u", major(st->st_rdev), minor(st->st_rdev));
	if (rc || !strcmp(text, wanted))
		return rc;
	return pm_err_set(err, -ENOTSUP,
		"wipe '/dev/%s': its number is %s, that of the dax device %s", name, wanted, text);
}

static int open_dax(struct pm_scrub_device *device, const struct stat *st, const char *fs_root,
	struct pm_err *err)
{
	const char *slash = strrchr(device->path, '/'), *name = slash ? slash + 1 : device->path;
	int rc = check_is_dax(fs_root, name, st, err);

	if (!rc)
		rc = dax_size(fs_root, name, &device->size_bytes, err);

	if (!rc)
		rc = refuse_bad_blocks(fs_root, name, err);
	return rc ? rc : map_it(device, err);
}

static bool offers_zeroing(const char *fs_root, const struct stat *st)
{
	cleanup_close int root_fd = open(fs_root, O_PATH | O_DIRECTORY | O_CLOEXEC);
	cleanup_free char *text = NULL;
	char path[100];

	snprintf(path, sizeof(path), "sys/dev/block/%u:%u/queue/write_zeroes_max_bytes",
		major(st->st_rdev), minor(st->st_rdev));
	return !pm_file_read(root_fd, path, MAX_BYTES, &text, NULL, NULL) && atoll(text) > 0;
}

static int open_block(struct pm_scrub_device *device, const struct stat *st,
	const struct pm_scrub_options *options, struct pm_err *err)
{
	uint64_t range[2] = {0};

	if (ioctl(device->fd, BLKGETSIZE64, &device->size_bytes))
		return pm_err_sys(err, -errno, "wipe '%s': ask for its size", device->path);
	range[1] = device->size_bytes;
	device->discarded = options->discard && offers_zeroing(options->fs_root, st) &&
			    !ioctl(device->fd, BLKZEROOUT, range);
	return 0;
}

static int open_file(struct pm_scrub_device *device, const struct stat *st,
	const struct pm_scrub_options *options, struct pm_err *err)
{
	device->size_bytes = (uint64_t)st->st_size;
	device->discarded =
		options->discard &&
		!fallocate(device->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, st->st_size);
	return options->by_write ? 0 : map_it(device, err);
}

static int open_kind(struct pm_scrub_device *device, const struct stat *st,
	const struct pm_scrub_options *options, struct pm_err *err)
{
	if (S_ISCHR(st->st_mode))
		return open_dax(device, st, options->fs_root, err);
	if (S_ISBLK(st->st_mode))
		return open_block(device, st, options, err);
	return open_file(device, st, options, err);
}

/* O_EXCL fails on a block device that is mounted or exclusively opened (open(2)). */
static int open_flags(mode_t mode)
{
	int flags = O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK;

	return S_ISBLK(mode) ? flags | O_DIRECT | O_EXCL : flags;
}

int pm_scrub_device_open(const struct pm_scrub_target *target,
	const struct pm_scrub_options *options, struct pm_scrub_device *ret, struct pm_err *err)
{
	cleanup_with(pm_scrub_device_close) struct pm_scrub_device device = {
		.path = target->path, .fd = -1};
	struct stat named, st;
	int rc;

	if (lstat(target->path, &named))
		return pm_err_sys(err, -errno, "wipe '%s'", target->path);
	if (!S_ISCHR(named.st_mode) && !S_ISBLK(named.st_mode) && !S_ISREG(named.st_mode))
		return pm_err_set(
			err, -ENOTSUP, "wipe '%s': neither a device nor a file", target->path);
	device.fd = open(target->path, open_flags(named.st_mode));
	if (device.fd < 0 || fstat(device.fd, &st))
		return pm_err_sys(err, -errno, "wipe '%s': open it", target->path);
	if (st.st_rdev != named.st_rdev || (st.st_mode & S_IFMT) != (named.st_mode & S_IFMT))
		return pm_err_set(
			err, -ESTALE, "wipe '%s': it has just been replaced", target->path);
	rc = open_kind(&device, &st, options, err);
	if (rc)
		return rc;
	*ret = device;
	device = (struct pm_scrub_device){.fd = -1};
	return 0;
}

/* DAX devices have no fsync and need none: EINVAL. */
int pm_scrub_device_sync(const struct pm_scrub_device *device, struct pm_err *err)
{
	if (fsync(device->fd) && errno != EINVAL)
		return pm_err_sys(err, -errno, "wipe '%s': sync it", device->path);
	return 0;
}

void pm_scrub_device_close(struct pm_scrub_device *device)
{
	if (device->map)
		munmap(device->map, device->size_bytes);
	if (device->fd >= 0)
		close(device->fd);
	*device = (struct pm_scrub_device){.fd = -1};
}
