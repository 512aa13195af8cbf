/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_SCRUB_DEVICE_H
#define PM_SCRUB_DEVICE_H

/* A device of node/wipe/scrub.h: how it is opened, and how a piece of it is zeroed. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "node/wipe/scrub.h"

#define PM_SCRUB_PIECE_BYTES ((size_t)16 << 20)

struct pm_scrub_device {
	const char *path;
	int fd;
	uint64_t size_bytes;
	unsigned char *map; /* NULL: pread and pwrite */
	bool discarded;
};

/*
 * Opens the device, a block device exclusively; release with pm_scrub_device_close(). `ret->path`
 * points to the target's path.
 */
int pm_scrub_device_open(const struct pm_scrub_target *target,
	const struct pm_scrub_options *options, struct pm_scrub_device *ret, struct pm_err *err);

/* Buffers of a thread, for devices without a map. */
struct pm_scrub_buffer {
	_Alignas(PM_SCRUB_PAGE_BYTES) unsigned char data[1 << 20];
	unsigned char again[1 << 20];
	unsigned char zeros[1 << 20];
};

/*
 * Zeroes `length` bytes at `offset`, at most PM_SCRUB_PIECE_BYTES, and reads written pages back.
 * Adds the written bytes to *written_bytes.
 */
int pm_scrub_device_piece(const struct pm_scrub_device *device, uint64_t offset, size_t length,
	struct pm_scrub_buffer *buffer, uint64_t *written_bytes, struct pm_err *err);

/* After the last piece: flushes written bytes to the device. */
int pm_scrub_device_sync(const struct pm_scrub_device *device, struct pm_err *err);

void pm_scrub_device_close(struct pm_scrub_device *device);

#endif
