/* SPDX-License-Identifier: Apache-2.0 */
#include "spank_plugin/contexts.h"
#include "spank_plugin/end_report.h"
#include "spank_plugin/option.h"
#include "spank_plugin/refuse.h"
#include "spank_plugin/request.h"
#include "spank_plugin/target_cluster.h"

int pm_allocator_init_post_opt(spank_t sp, int ac, char **av)
{
	struct pm_err err = {0};

	if (pm_request_check(sp, ac, av, &err) || pm_target_cluster_require(&err))
		pm_refuse(&err, PM_EXIT_PLUGIN);
	pm_end_report_ask();
	pm_option_end_component(sp);
	return 0;
}
