/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_AGENT_KNOB_H
#define PM_AGENT_KNOB_H

/* Settings of the kernel: files of /proc/sys and /sys with one word, below FsRoot. */
#include "base/err.h"
#include "site/config.h"

#define PM_KNOB_MAX 32

/* Reads the word, cut to PM_KNOB_MAX - 1 bytes. -ENOENT: the kernel has no such setting. */
int pm_knob_read(const struct pm_config *config, const char *file, char ret[PM_KNOB_MAX],
	struct pm_err *err);
int pm_knob_write(
	const struct pm_config *config, const char *file, const char *value, struct pm_err *err);

#endif
