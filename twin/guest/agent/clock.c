#include "clock.h"
#include "sysfs.h"

#include <stdlib.h>
#include <time.h>

#define RTC	"/sys/class/rtc/rtc0/since_epoch" /* whole seconds, rtc.rst in Linux 6.1 */
#define APART_S 2

/* 0: the RTC cannot be read. */
static time_t rtc_time(void)
{
	char text[24];

	return sysfs_read(RTC, text, sizeof(text)) ? strtoll(text, NULL, 10) : 0;
}

void clock_follow(void)
{
	struct timespec host = {.tv_sec = rtc_time()};

	if (host.tv_sec && llabs((long long)(host.tv_sec - time(NULL))) > APART_S)
		clock_settime(CLOCK_REALTIME, &host);
}
