/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_RECORD_H
#define PM_RECORD_H

/*
 * The verified platform mode of this boot, in a file that everybody may read and root writes, so
 * that a user's `pmctl mode` needs no privileges and no tool. It holds what the kernel showed when
 * it was written; a reader takes it only if the kernel still shows the same.
 */
#include "base/err.h"
#include "node/tools/ipmctl.h"
#include "node/tools/kernel.h"
#include "site/modes.h"

struct pm_verdict {
	enum pm_platform platform;
	enum pm_mode mode; /* now: see pm_mode_now() */
	char why[512]; /* for PM_PLATFORM_UNKNOWN the reason, else what it was seen by; one sentence
			*/
	int waits;     /* unknown only because the kernel has not (yet) brought up its regions */
};

struct pm_record {
	struct pm_verdict verdict; /* the file holds no mode: that changes without a reboot */
	struct pm_kernel kernel;
	struct pm_capabilities capabilities; /* the firmware tells the same until the next boot */
	char time[32];			     /* when it was written, UTC */
};

/* Fills in the time and replaces the file, mode 0644. */
int pm_record_write(const char *path, const struct pm_record *record, struct pm_err *err);

/* -ENOENT; -EBADMSG: cannot be understood; -EPERM: belongs neither to root nor to the caller. */
int pm_record_read(const char *path, struct pm_record *ret, struct pm_err *err);

/*
 * Does it hold for what the kernel shows now? The boot, the regions and the cache must be equal,
 * MemTotal without what flat has added within 1 %, or larger in App Direct, where other memory can
 * be added. -ESTALE with what differs.
 */
int pm_record_check(
	const struct pm_record *record, const struct pm_kernel *now, struct pm_err *err);

#endif
