/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_DAXCTL_H
#define PM_DAXCTL_H

/* Parser of `daxctl list -D -i`, which prints an array, a single object or nothing. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

struct pm_dax {
	char chardev[32]; /* "dax0.0" */
	char mode[16];	  /* "devdax" or "system-ram" */
	uint64_t size_bytes;
	int target_node; /* -1 if not printed */
	/* Of system-ram, in memory blocks of the kernel. */
	uint64_t online_blocks, total_blocks;
	bool is_movable;  /* all online blocks are in the movable zone */
	bool is_disabled; /* has no driver, after a failed change of mode */
};

struct pm_daxes {
	struct pm_dax *list;
	size_t n;
};

/* -EBADMSG: it cannot be parsed, the sentence quotes it; -ENOMEM. On failure *ret is untouched. */
int pm_daxctl_devices(const char *text, size_t length, struct pm_daxes *ret, struct pm_err *err);

bool pm_dax_is_ram(const struct pm_dax *dax);

void pm_daxes_done(struct pm_daxes *daxes);

#endif
