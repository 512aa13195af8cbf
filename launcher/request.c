/* SPDX-License-Identifier: Apache-2.0 */
#include "launcher/request.h"

#include "plan/words.h"
#include "site/plan.h"

int pm_run_request(const struct pm_run_given *given, const struct pm_config *config,
	struct pm_plan_request *request, struct pm_err *err)
{
	int rc = 0;

	pm_plan_heed_site(request, config);
	for (enum pm_plan_word word = 0; !rc && word < PM_PLAN_WORDS; word++) {
		unsigned i = PM_RUN_DRAM + word; /* both in the order of the table */

		if (given->value[i])
			rc = pm_plan_take(word, given->source[i], given->value[i], request, err);
	}
	return rc;
}

int pm_run_ranks(const struct pm_run_given *given, unsigned *ret, struct pm_err *err)
{
	*ret = 0;
	if (!pm_run_has(given, PM_RUN_RANKS))
		return 0;
	return pm_count_parse("-n", given->value[PM_RUN_RANKS], ret, err);
}
