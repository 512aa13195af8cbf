/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_RUNTIME_ADVICE_H
#define PM_RUNTIME_ADVICE_H

/*
 * Advice from the profile of an earlier run: PM_ADVICE names a file that pmreport(1) has written.
 *
 *	pmadvice 1
 *	program 8f0e5d4c3b2a1908 lmp
 *	dram 0123456789abcdef  # text for people
 *	dram 4567012389abcdef 12582912
 *	pmem fedcba9876543210
 *	pmem 76543210fedcba98 small 1032547698badcfe
 *
 * A `program` line has the program's build (runtime/profile/profile_format.h); the lines behind it
 * are for this program. Each of them has the key of a call site: of the three innermost frames or,
 *where several sites have these in common, of as many more as tell them apart, up to
 *PM_SITE_FRAMES. A `dram` line may have a quota in bytes: the first objects up to it go to DRAM,
 *later ones to PMem. A `small` line is for the site's objects below PM_LARGE, and of three frames.
 *Its second key is the key of the innermost frame alone: with it, one table lookup by return
 *address rules out most small objects of other sites. Text behind # and the program's name are for
 *people.
 *
 * The tables are filled before the first placed allocation and then read without a lock.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum pm_advice { PM_ADVICE_NONE, PM_ADVICE_DRAM, PM_ADVICE_PMEM, PM_ADVICES };

/* Advice for this program is loaded; a part of it is for small objects. */
extern bool pm_advice_on, pm_advice_on_small;

/*
 * Reads the file. `verbose`: logs why the file cannot be used. The other processes that a rank
 * starts stay silent: they mostly run other programs, for which the file has no lines.
 */
void pm_advice_start(bool verbose);

/*
 * Advice for an object of the call site that the stack of the calling thread shows. `bytes` are
 * taken from the site's quota, if it has one. The result is counted.
 */
enum pm_advice pm_advice_lookup(size_t bytes);

/*
 * True: a small object of this call site is to be in PMem. `caller` is the return address of the
 * allocation function. The result is counted if it is true.
 */
bool pm_advice_is_cold(const void *caller);

/* Objects that got this advice so far. */
uint64_t pm_advice_count(enum pm_advice advice);

#endif
