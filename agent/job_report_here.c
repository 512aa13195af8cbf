/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/job_report_here.h"

#include "base/cleanup.h"
#include "node/state/job_use.h"

void pm_job_report_add_here(const struct pm_config *config, uint32_t job_id, json_object *lines)
{
	cleanup_with(pm_job_use_done) struct pm_job_use use = {0};
	json_object *line;

	if (pm_use_read_running(config, job_id, &use, NULL))
		return;
	line = pm_json_append_object(lines);
	if (!line)
		return;
	pm_json_add_string(line, "type", "node");
	pm_json_add_string(line, "node", config->node ? config->node : "");
	pm_fields_format(pm_job_use_fields, &use, line);
}
