/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_RUNTIME_ADVICE_H
#define PM_RUNTIME_ADVICE_H

/*
 * What an earlier run's profile advises: PM_ADVICE names a file that pmreport(1) has written.
 *
 *	pmadvice 1
 *	program 8f0e5d4c3b2a1908 lmp
 *	dram 0123456789abcdef  # whatever people want to know
 *	dram 4567012389abcdef 12582912  # the first so many bytes; what comes then, in PMem
 *	pmem fedcba9876543210
 *	pmem 76543210fedcba98 small 1032547698badcfe
 *
 * A small line is for the site's objects below PM_LARGE, and has the key of its innermost frame
 * alone, by which the many others are told apart fast. A `program` line holds the program's build
 *(runtime/profile/profile_format.h), and begins what is for it; the others hold keys of call sites.
 *What is behind a # is for people, as is a program's name.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum pm_advice { PM_ADVICE_NONE, PM_ADVICE_DRAM, PM_ADVICE_PMEM, PM_ADVICES };

extern bool pm_advice_on, pm_advice_on_small;

/* `tells`: what is wrong is said. What a rank starts besides is another program as a rule. */
void pm_advice_start(bool tells);

/*/* For an object that takes so many bytes of a tier and that this library's caller asks for;
 * counted. */
enum pm_advice pm_advice_here(size_t bytes);

/* Is a small object of this caller's to be in PMem? `caller`: where it goes on; counted. */
bool pm_advice_is_cold(const void *caller);

/* How many objects there were of each. */
uint64_t pm_advice_count(enum pm_advice advice);

#endif
