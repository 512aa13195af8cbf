/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_UNITS_H
#define PM_UNITS_H

#include <stdint.h>

/*
 * A size as ipmctl -u B prints it: decimal digits, one space, "B". -EINVAL for every other form
 * (other units, fractions, signs, "Unknown", "-"); -ERANGE above INT64_MAX: ipmctl prints
 * differences that went below zero as huge unsigned numbers.
 */
int pm_parse_size_b(const char *text, uint64_t *ret_bytes);

/*
 * A size as people write it in pmem.conf and after --pm-size: decimal digits and one of K, M, G, T
 * (either case), powers of 1024. -EINVAL: other forms, a missing unit too; -ERANGE above INT64_MAX.
 */
int pm_parse_size(const char *text, uint64_t *ret_bytes);

#define PM_SIZE_TEXT 24

/* For people: "512 MiB", "46.5 GiB", "6144 GiB", "10.5 TiB": rounded down, TiB from 10 TiB on.
 * Returns `text`. */
const char *pm_format_size(uint64_t bytes, char text[PM_SIZE_TEXT]);

/* Decimal digits alone, up to INT64_MAX. -EINVAL, -ERANGE. */
int pm_parse_u64(const char *text, uint64_t *ret);

#endif
