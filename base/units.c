/* SPDX-License-Identifier: Apache-2.0 */
#include "base/units.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DIGITS "0123456789"

static int parse_with_suffix(const char *text, const char *suffix, uint64_t *ret)
{
	size_t length = strspn(text, DIGITS);
	unsigned long long value;

	if (!length || strcmp(text + length, suffix))
		return -EINVAL;
	errno = 0;
	value = strtoull(text, NULL, 10);
	if (errno || value > INT64_MAX)
		return -ERANGE;
	*ret = value;
	return 0;
}

int pm_parse_size_b(const char *text, uint64_t *ret_bytes)
{
	return parse_with_suffix(text, " B", ret_bytes);
}

int pm_parse_size(const char *text, uint64_t *ret_bytes)
{
	static const char units[] = "KMGT";
	size_t length = strlen(text);
	const char *unit = length ? strchr(units, toupper((unsigned char)text[length - 1])) : NULL;
	unsigned shift = unit ? 10 * (unsigned)(unit - units + 1) : 0;
	uint64_t value;
	int rc = unit && *unit ? parse_with_suffix(text, text + length - 1, &value) : -EINVAL;

	if (rc)
		return rc;
	if (value > (uint64_t)INT64_MAX >> shift)
		return -ERANGE;
	*ret_bytes = value << shift;
	return 0;
}

int pm_parse_u64(const char *text, uint64_t *ret)
{
	return parse_with_suffix(text, "", ret);
}

/* Prints tenths of GiB and TiB: a rank's share is rarely a whole number of GiB. */
const char *pm_format_size(uint64_t bytes, char text[PM_SIZE_TEXT])
{
	static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
	unsigned unit = 0;
	uint64_t tenths;

	while (unit < 4 && bytes >> (10 * (unit + 1)) >= (unit == 3 ? 10 : 1))
		unit++;
	tenths = (bytes >> (10 * unit)) * 10 +
		 (((bytes & ((UINT64_C(1) << (10 * unit)) - 1)) * 10) >> (10 * unit));
	if (unit < 3 || tenths % 10 == 0)
		snprintf(text, PM_SIZE_TEXT, "%llu %s", (unsigned long long)tenths / 10,
			units[unit]);
	else
		snprintf(text, PM_SIZE_TEXT, "%llu.%llu %s", (unsigned long long)tenths / 10,
			(unsigned long long)tenths % 10, units[unit]);
	return text;
}
