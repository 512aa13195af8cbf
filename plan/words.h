/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_PLAN_WORDS_H
#define PM_PLAN_WORDS_H

/* Parses values of plan options, of pmrun and of the plugin, into a request. */
#include "plan/plan.h"

enum pm_plan_word {
#define PM_PLAN_OPTION(NAME, ...) PM_PLAN_WORD_##NAME,
#include "plan/options.def"
	PM_PLAN_WORDS,
};

/*
 * Parses a value and sets the request's field. `source` names the option or variable that it comes
 * from, as "--pm-dram" or "PM_DRAM". -EINVAL: "SOURCE='VALUE': write ..."; the request is
 * untouched.
 */
int pm_plan_take(enum pm_plan_word word, const char *source, const char *value,
	struct pm_plan_request *request, struct pm_err *err);

/* Parses a number of ranks or threads, 1 to 65536. -EINVAL, with the same message. */
int pm_count_parse(const char *source, const char *value, unsigned *ret, struct pm_err *err);

#endif
