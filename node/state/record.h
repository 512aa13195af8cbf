/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_RECORD_H
#define PM_RECORD_H

/*
 * The mode record: the platform mode that was verified in this boot, in a file that everybody may
 * read and root writes, so that `pmctl mode` of a user needs neither privileges nor tools. It also
 * has the kernel's numbers at that time, and is valid only while the kernel shows the same ones
 * (pm_record_check()).
 */
#include "base/err.h"
#include "node/tools/ipmctl.h"
#include "node/tools/kernel.h"
#include "site/modes.h"

struct pm_verdict {
	enum pm_platform platform;
	enum pm_mode mode; /* now: see pm_mode_now() */
	char why[512];	   /* one sentence: the evidence, or why the mode is unknown */
	int waits;	   /* unknown, but the kernel may still bring up the missing regions */
};

struct pm_record {
	struct pm_verdict verdict; /* the mode is not in the file: it changes without a reboot */
	struct pm_kernel kernel;
	struct pm_capabilities capabilities; /* the same until the next boot */
	char time[32];			     /* time of writing, UTC */
};

/* Fills in the time and replaces the file, mode 0644. */
int pm_record_write(const char *path, const struct pm_record *record, struct pm_err *err);

/* -ENOENT; -EBADMSG: it cannot be parsed; -EPERM: it belongs neither to root nor to the caller. */
int pm_record_read(const char *path, struct pm_record *ret, struct pm_err *err);

/*
 * 0: the record is valid for the kernel's present numbers. Boot ID, regions and memory-side cache
 * must be equal; MemTotal without flat memory must be equal within 1 %, or larger in App Direct,
 * where other memory may be added. -ESTALE with the number that differs.
 */
int pm_record_check(
	const struct pm_record *record, const struct pm_kernel *now, struct pm_err *err);

#endif
