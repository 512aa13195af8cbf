/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "site/hours.h"

#include <errno.h>
#include <string.h>
#include <strings.h>

#include "base/cleanup.h"
#include "base/strv.h"

#define ANY	     "any"
#define DAY_MIN	     (24 * 60)
#define ALL_DAYS     0x7f
#define NEXT_MAX_MIN (9 * DAY_MIN)

static const char *const days[] = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
#define N_DAYS 7

struct window {
	unsigned days;	      /* bit 1 << tm_wday: on which it begins */
	int from_min, to_min; /* of the day; to_min <= from_min: of the next one */
};

/* --- reading --- */

static bool read_day(const char **at, int *ret)
{
	for (int day = 0; day < N_DAYS; day++)
		if (!strncasecmp(*at, days[day], 3)) {
			*at += 3;
			*ret = day;
			return true;
		}
	return false;
}

/* "Mon" or "Fri-Mon". */
static bool read_days(const char **at, unsigned *ret)
{
	int first, last;

	if (!read_day(at, &first))
		return false;
	last = first;
	if (**at == '-') {
		(*at)++;
		if (!read_day(at, &last))
			return false;
	}
	*ret = 1U << last;
	for (int day = first; day != last; day = (day + 1) % N_DAYS)
		*ret |= 1U << day;
	return true;
}

static bool read_two_digits(const char **at, int *ret)
{
	const char *text = *at;

	if (text[0] < '0' || text[0] > '9' || text[1] < '0' || text[1] > '9')
		return false;
	*ret = (text[0] - '0') * 10 + text[1] - '0';
	*at += 2;
	return true;
}

/* "18:00"; "24:00" is the end of the day. */
static bool read_time(const char **at, int *ret_min)
{
	int hour, minute;

	if (!read_two_digits(at, &hour) || *(*at)++ != ':' || !read_two_digits(at, &minute))
		return false;
	*ret_min = hour * 60 + minute;
	return minute < 60 && *ret_min <= DAY_MIN;
}

static bool read_times(const char **at, struct window *window)
{
	return read_time(at, &window->from_min) && *(*at)++ == '-' &&
	       read_time(at, &window->to_min) && window->from_min < DAY_MIN &&
	       window->from_min != window->to_min;
}

static bool read_window(const char *text, struct window *ret)
{
	*ret = (struct window){.days = ALL_DAYS, .to_min = DAY_MIN};
	if (*text < '0' || *text > '9') {
		if (!read_days(&text, &ret->days))
			return false;
		if (!*text)
			return true;
		if (*text++ != '/')
			return false;
	}
	return read_times(&text, ret) && !*text;
}

int pm_hours_check(const char *text, struct pm_err *err)
{
	cleanup_with(pm_strv_cleanup) char **words = pm_strv_split(text, ",");
	struct window window;

	if (!words)
		return pm_err_nomem(err);
	for (char **word = words; *word; word++)
		if (strcasecmp(text, ANY) != 0 && !read_window(*word, &window))
			return pm_err_set(err, -EINVAL,
				"any, or hours like Mon-Fri/18:00-06:00,Sat-Sun expected at "
				"'%.40s'",
				*word);
	if (!*words)
		return pm_err_set(
			err, -EINVAL, "any, or hours like Mon-Fri/18:00-06:00,Sat-Sun expected");
	return 0;
}

/* --- asking --- */

static bool begins_on(const struct window *window, int day)
{
	return window->days & 1U << (day + N_DAYS) % N_DAYS;
}

static bool window_has(const struct window *window, const struct tm *local)
{
	int min = local->tm_hour * 60 + local->tm_min;

	if (window->to_min > window->from_min)
		return begins_on(window, local->tm_wday) && min >= window->from_min &&
		       min < window->to_min;
	return (begins_on(window, local->tm_wday) && min >= window->from_min) ||
	       (begins_on(window, local->tm_wday - 1) && min < window->to_min);
}

bool pm_hours_have(const char *text, const struct tm *local)
{
	cleanup_with(pm_strv_cleanup) char **words = pm_strv_split(text, ",");
	struct window window;

	if (!strcasecmp(text, ANY))
		return true;
	for (char **word = words; word && *word; word++)
		if (read_window(*word, &window) && window_has(&window, local))
			return true;
	return false;
}

time_t pm_hours_next(const char *text, time_t now)
{
	struct tm local;

	for (int min = 1; min <= NEXT_MAX_MIN; min++) {
		time_t then = now - now % 60 + (time_t)min * 60;

		if (localtime_r(&then, &local) && pm_hours_have(text, &local))
			return then;
	}
	return 0;
}
