/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "base/timestamp.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

void pm_timestamp(char ret[32])
{
	struct timespec now;
	struct tm utc;
	char seconds[24];

	clock_gettime(CLOCK_REALTIME, &now);
	gmtime_r(&now.tv_sec, &utc);
	strftime(seconds, sizeof(seconds), "%Y-%m-%dT%H:%M:%S", &utc);
	snprintf(ret, 32, "%s.%03uZ", seconds, (unsigned)(now.tv_nsec / 1000000) % 1000);
}

bool pm_timestamp_read(const char *text, double *ret)
{
	struct tm utc = {0};
	const char *rest = strptime(text, "%Y-%m-%dT%H:%M:%S", &utc);
	unsigned ms;
	int length = 0;

	if (!rest || sscanf(rest, ".%3uZ%n", &ms, &length) != 1 || length != 5 || rest[length])
		return false;
	*ret = (double)timegm(&utc) + ms / 1000.0;
	return true;
}
