/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_SUPERBLOCK_H
#define PM_SUPERBLOCK_H

/*
 * The file system at the start of a device, by the magic numbers of ext2/3/4 (linux
 * fs/ext4/ext4.h: 0xEF53 at byte 1024 + 56, UUID at 1024 + 104) and XFS
 * (fs/xfs/libxfs/xfs_format.h: "XFSB" at 0, UUID at 32, sb_inprogress at 126).
 */
#include <stddef.h>

#include "node/tools/ndctl.h"

#define PM_SUPERBLOCK_BYTES 4096

struct pm_superblock {
	char type[8]; /* "ext4", "xfs"; "" for another, or if mkfs has not finished it */
	char uuid[PM_UUID_MAX];
};

/* Reads the first bytes of a device; never fails. */
void pm_superblock_read(const unsigned char *bytes, size_t length, struct pm_superblock *ret);

#endif
