/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "base/cpulist.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "base/strv.h"

#define MAX_BYTES 4096

/* A number below CPU_SETSIZE; -1 when there is none. */
static int read_number(const char **at)
{
	int number = 0;

	if (!isdigit((unsigned char)**at))
		return -1;
	while (isdigit((unsigned char)**at) && number < CPU_SETSIZE)
		number = 10 * number + (*(*at)++ - '0');
	return number < CPU_SETSIZE ? number : -1;
}

static int add_range(const char **at, cpu_set_t *set)
{
	int first = read_number(at), last = first;

	if (first >= 0 && **at == '-') {
		++*at;
		last = read_number(at);
	}
	if (first < 0 || last < first)
		return -EINVAL;
	for (int cpu = first; cpu <= last; cpu++)
		CPU_SET(cpu, set);
	return 0;
}

int pm_cpulist_parse(const char *text, cpu_set_t *ret)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	while (*text && *text != '\n') {
		if (add_range(&text, &set))
			return -EINVAL;
		if (*text != ',' && *text != '\n' && *text)
			return -EINVAL;
		text += *text == ',';
	}
	*ret = set;
	return 0;
}

bool pm_cpus_intersect(const cpu_set_t *a, const cpu_set_t *b)
{
	cpu_set_t both;

	CPU_AND(&both, a, b);
	return CPU_COUNT(&both);
}

bool pm_cpus_contain(const cpu_set_t *whole, const cpu_set_t *part)
{
	cpu_set_t both;

	CPU_AND(&both, whole, part);
	return CPU_EQUAL(&both, part);
}

static int last_of_range(const cpu_set_t *set, int first)
{
	int last = first;

	while (last + 1 < CPU_SETSIZE && CPU_ISSET(last + 1, set))
		last++;
	return last;
}

char *pm_cpulist_format(const cpu_set_t *set)
{
	size_t size = (size_t)CPU_COUNT(set) * sizeof("1023,") + 1, used = 0;
	char *text = calloc(1, size);

	for (int first = 0; text && first < CPU_SETSIZE; first++) {
		int last;

		if (!CPU_ISSET(first, set))
			continue;
		last = last_of_range(set, first);
		used += (size_t)snprintf(text + used, size - used, "%s%d", used ? "," : "", first);
		if (last > first)
			used += (size_t)snprintf(text + used, size - used, "-%d", last);
		first = last;
	}
	return text;
}

int pm_cpulist_of_node(int root_fd, int node, cpu_set_t *ret, struct pm_err *err)
{
	cleanup_free char *text = NULL;
	char path[80];
	int rc;

	snprintf(path, sizeof(path), "sys/devices/system/node/node%d/cpulist", node);
	rc = pm_file_read(root_fd, path, MAX_BYTES, &text, NULL, err);
	if (rc)
		return rc;
	if (pm_cpulist_parse(text, ret))
		return pm_err_set(err, -EBADMSG, "read '%s': a list of processors expected", path);
	return 0;
}

/* --- masks --- */

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

int pm_cpumask_add(const char *mask, cpu_set_t *set)
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

int pm_cpumasks_parse(const char *list, cpu_set_t *ret)
{
	cleanup_with(pm_strv_cleanup) char **masks = list ? pm_strv_split(list, ",") : NULL;
	cpu_set_t sum;

	CPU_ZERO(&sum);
	for (size_t i = 0; masks && masks[i]; i++)
		if (pm_cpumask_add(masks[i], &sum))
			return -EINVAL;
	if (!CPU_COUNT(&sum))
		return -EINVAL;
	*ret = sum;
	return 0;
}
