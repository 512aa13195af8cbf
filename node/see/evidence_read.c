/* SPDX-License-Identifier: Apache-2.0 */
#include "node/see/evidence_read.h"

#include "base/cleanup.h"
#include "node/state/state.h"
#include "node/tools/tools.h"

int pm_evidence_read(const struct pm_config *config, struct pm_evidence *ret, struct pm_err *err)
{
	cleanup_with(pm_evidence_done) struct pm_evidence evidence = {0};
	int rc = pm_kernel_read(config->fs_root, &evidence.kernel, err);

	if (!rc)
		rc = pm_state_read_roster(config, &evidence.roster, err);
	if (!rc)
		rc = pm_tool_resources(config, &evidence.resources, err);
	if (!rc)
		rc = pm_tool_capabilities(config, &evidence.capabilities, err);
	if (!rc)
		rc = pm_tool_dimms(config, &evidence.dimms, err);
	if (rc)
		return rc;
	*ret = evidence;
	evidence = (struct pm_evidence){0};
	return 0;
}
