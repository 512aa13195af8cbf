/* SPDX-License-Identifier: Apache-2.0 */
#include "node/act/renew_record.h"

#include <errno.h>

#include "node/see/observe.h"
#include "node/state/state.h"

int pm_renew_record(const struct pm_operation *op, struct pm_err *err)
{
	struct pm_record record = {0};
	struct pm_observation seen;
	int rc;

	if (pm_state_read_record(&op->config, &record, NULL) != -EPROTONOSUPPORT)
		return 0;
	rc = pm_observe(&op->config, /* fresh= */ true, &seen, err);
	if (!rc)
		rc = pm_state_write_record(&op->config, &seen.record, err);
	if (!rc)
		pm_warn(op, "the mode record was of a newer slurm-pmem and is written anew");
	return rc;
}
