/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_EVIDENCE_READ_H
#define PM_EVIDENCE_READ_H

#include "node/see/evidence.h"
#include "site/config.h"

/*
 * Reads the evidence from ipmctl, the kernel and the roster; `regions` stays empty. Release with
 * pm_evidence_done(). On failure *ret is untouched.
 */
int pm_evidence_read(const struct pm_config *config, struct pm_evidence *ret, struct pm_err *err);

#endif
