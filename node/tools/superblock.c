/* SPDX-License-Identifier: Apache-2.0 */
#include "node/tools/superblock.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define EXT4_START	1024
#define EXT4_MAGIC	(EXT4_START + 56)
#define EXT4_UUID	(EXT4_START + 104)
#define XFS_UUID	32
#define XFS_IN_PROGRESS 126
#define UUID_BYTES	16

static void format_uuid(const unsigned char *bytes, char ret[PM_UUID_MAX])
{
	char *to = ret;

	for (int i = 0; i < UUID_BYTES; i++)
		to += sprintf(
			to, "%s%02x", i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "", bytes[i]);
}

static bool is_ext4(const unsigned char *bytes)
{
	return bytes[EXT4_MAGIC] == 0x53 && bytes[EXT4_MAGIC + 1] == 0xef;
}

static bool is_xfs(const unsigned char *bytes)
{
	return !memcmp(bytes, "XFSB", 4) && !bytes[XFS_IN_PROGRESS];
}

void pm_superblock_read(const unsigned char *bytes, size_t length, struct pm_superblock *ret)
{
	*ret = (struct pm_superblock){0};
	if (length < PM_SUPERBLOCK_BYTES)
		return;
	if (is_xfs(bytes)) {
		strcpy(ret->type, "xfs");
		format_uuid(bytes + XFS_UUID, ret->uuid);
	} else if (is_ext4(bytes)) {
		strcpy(ret->type, "ext4");
		format_uuid(bytes + EXT4_UUID, ret->uuid);
	}
}
