/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "launcher/srun.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/cleanup.h"
#include "lib/strv.h"

static int digit_value(char digit)
{
	return isdigit((unsigned char)digit) ? digit - '0'
					     : tolower((unsigned char)digit) - 'a' + 10;
}

static int add_digit(char digit, int first, cpu_set_t *set)
{
	if (!isxdigit((unsigned char)digit))
		return -EINVAL;
	for (int bit = 0; bit < 4; bit++) {
		if (!(digit_value(digit) >> bit & 1))
			continue;
		if (first + bit >= CPU_SETSIZE)
			return -EINVAL;
		CPU_SET(first + bit, set);
	}
	return 0;
}

int pm_srun_add_mask(const char *mask, cpu_set_t *set)
{
	const char *digits = mask + (!strncasecmp(mask, "0x", 2) ? 2 : 0);
	size_t n = strlen(digits);
	cpu_set_t sum = *set;

	for (size_t i = 0; i < n; i++)
		if (add_digit(digits[n - 1 - i], (int)i * 4, &sum))
			return -EINVAL;
	if (!n)
		return -EINVAL;
	*set = sum;
	return 0;
}

static bool type_has(const char *word)
{
	const char *type = getenv("SLURM_CPU_BIND_TYPE");
	cleanup_with(pm_strv_cleanup) char **words = type ? pm_strv_split(type, ",:") : NULL;

	return pm_strv_contains(words, word);
}

bool pm_srun_cpus(cpu_set_t *ret)
{
	const char *list = getenv("SLURM_CPU_BIND_LIST");
	cleanup_with(pm_strv_cleanup) char **masks = list ? pm_strv_split(list, ",") : NULL;
	cpu_set_t sum;

	CPU_ZERO(&sum);
	if (!type_has("mask_cpu"))
		return false;
	for (size_t i = 0; masks && masks[i]; i++)
		if (pm_srun_add_mask(masks[i], &sum))
			return false;
	if (!CPU_COUNT(&sum))
		return false;
	*ret = sum;
	return true;
}

const char *pm_srun_users_binding(void)
{
	static const char *const words[] = {
		"map_cpu", "map_ldom", "mask_ldom", "rank", "rank_ldom"};

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (type_has(words[i]))
			return words[i];
	return NULL;
}
