/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_RENEW_RECORD_H
#define PM_RENEW_RECORD_H

#include "node/operation.h"

/*
 * After a return to an older slurm-pmem the mode record of this boot may be one that this program
 * cannot read, and users cannot ask ipmctl: asks it and writes the record anew. A record that can
 * be read, or is missing, stays as it is. The caller holds the lock (node/state/state.h).
 */
int pm_renew_record(const struct pm_operation *op, struct pm_err *err);

#endif
