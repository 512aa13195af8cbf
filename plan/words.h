/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_PLAN_WORDS_H
#define PM_PLAN_WORDS_H

/* What people say about a plan, as the options of pmrun and of the plugin have it. */
#include "plan/plan.h"

enum pm_plan_word {
#define PM_PLAN_OPTION(NAME, ...) PM_PLAN_WORD_##NAME,
#include "plan/options.def"
	PM_PLAN_WORDS,
};

/*
 * Sets what the value says in the request. `source` is how it was given: "--pm-dram" or "PM_DRAM".
 * -EINVAL: "SOURCE='VALUE': write ...".
 */
int pm_plan_take(enum pm_plan_word word, const char *source, const char *value,
	struct pm_plan_request *request, struct pm_err *err);

/* A number of ranks or threads, 1 to 65536; -EINVAL in the same words. */
int pm_count_parse(const char *source, const char *value, unsigned *ret, struct pm_err *err);

#endif
