/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_EVIDENCE_READ_H
#define PM_EVIDENCE_READ_H

#include "node/see/evidence.h"
#include "site/config.h"

/* Firmware, modules, roster and kernel; regions stay empty. Release with pm_evidence_done(). */
int pm_evidence_read(const struct pm_config *config, struct pm_evidence *ret, struct pm_err *err);

#endif
