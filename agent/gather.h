/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_AGENT_GATHER_H
#define PM_AGENT_GATHER_H

/*
 * One archive for a bug report. It is a recorded machine, too: FsRoot= may point to its root/, and
 * its tools/ has the output of the tools.
 *
 *	tools/NAME.ARG.ARG...	output of a tool; .err and .status beside it when there is more
 *	root/proc, root/sys	files of the kernel that pmctl reads
 *	state/, run/		the files of StateDir and RunDir
 *	config			every key of pmem.conf and where it came from
 *	log, kernel-log		messages of pmctl and of the kernel's drivers
 *	versions		of pmctl, the kernel and the system
 *	missing			a line for each part that could not be read, and why
 *
 * It holds no environment, command line or file name of a user.
 */
#include "agent/pmctl.h"
#include "base/archive.h"

struct pm_gather {
	const struct pm_agent *agent;
	struct pm_archive *archive;
	char *missing; /* lines */
	size_t missing_length;
};

/* Adds a line to `missing`. */
__attribute__((format(printf, 2, 3))) void pm_gather_miss(
	struct pm_gather *gather, const char *fmt, ...);

/* Parts; each fails only when the archive cannot be written. */
int pm_gather_tools(struct pm_gather *gather, struct pm_err *err);
int pm_gather_kernel(struct pm_gather *gather, struct pm_err *err);

#endif
