/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_AGENT_KNOB_H
#define PM_AGENT_KNOB_H

/* Files of /proc/sys and /sys that hold one word, below the configured root. */
#include "base/err.h"
#include "site/config.h"

#define PM_KNOB_MAX 32

/* The word, cut to PM_KNOB_MAX - 1 bytes. */
int pm_knob_read(const struct pm_config *config, const char *file, char ret[PM_KNOB_MAX],
	struct pm_err *err);
int pm_knob_write(
	const struct pm_config *config, const char *file, const char *value, struct pm_err *err);

#endif
