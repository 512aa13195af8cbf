/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_PLAN_WORDS_H
#define PM_PLAN_WORDS_H

/* What people say about a plan, as the options of pmrun and of the plugin have it. */
#include "plan/plan.h"

enum pm_plan_word {
	PM_PLAN_WORD_DRAM,	   /* "4G" or "auto" */
	PM_PLAN_WORD_BIND,	   /* "socket", "none" */
	PM_PLAN_WORD_POLICY,	   /* "dram-first", ... */
	PM_PLAN_WORD_DISTRIBUTION, /* "block", "cyclic" */
	PM_PLAN_WORD_THREADS,	   /* 1 to 65536 */
	PM_PLAN_WORD_SMT,	   /* "no", "threads", "helpers" */
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
