/* SPDX-License-Identifier: Apache-2.0 */
#include "site/hours.h"

#include <stdlib.h>

#include "tests/unit/tap.h"

static const struct {
	const char *text;
	bool good;
} forms[] = {{"any", true}, {"Any", true}, {"Sat-Sun", true}, {"sat", true}, {"18:00-06:00", true},
	{"00:00-24:00", true}, {"Mon-Fri/18:00-06:00,Sat-Sun", true}, {"Fri-Mon/09:30-10:00", true},
	{"", false}, {",", false}, {"any,Sat", false}, {"none", false}, {"Mon-", false},
	{"Mo", false}, {"Monday", false}, {"18-06", false}, {"18:00", false}, {"18:00-", false},
	{"18:00-06:00x", false}, {"18:60-19:00", false}, {"24:00-06:00", false},
	{"18:00-24:01", false}, {"18:00-18:00", false}, {"Mon/", false}, {"Mon/Tue", false},
	{"Mon 18:00-19:00", false}, {"-1:00-02:00", false}};

static void test_forms(void)
{
	for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
		struct pm_err err = {0};

		ok(!pm_hours_check(forms[i].text, &err) == forms[i].good, "'%s' is %s",
			forms[i].text, forms[i].good ? "read" : "refused");
	}
}

#define NIGHTS "Mon-Fri/18:00-06:00,Sun"

static const struct {
	const char *text;
	int day, hour, minute;
	bool is_in;
} times[] = {
	{"any", 3, 12, 0, true},
	{NIGHTS, 1, 17, 59, false},
	{NIGHTS, 1, 18, 0, true},
	{NIGHTS, 2, 0, 0, true},
	{NIGHTS, 2, 5, 59, true},
	{NIGHTS, 2, 6, 0, false},
	{NIGHTS, 6, 5, 59, true}, /* began on Friday */
	{NIGHTS, 6, 18, 0, false},
	{NIGHTS, 0, 23, 59, true},
	{NIGHTS, 1, 5, 59, false}, /* Sunday ends at midnight */
	{"00:00-24:00", 4, 23, 59, true},
	{"Sun/22:00-02:00", 1, 1, 59, true},
	{"Sat/22:00-02:00", 0, 1, 59, true}, /* from the last day of the week to the first */
	{"Fri-Mon", 0, 12, 0, true},
	{"Fri-Mon", 2, 12, 0, false},
};

static void test_times(void)
{
	for (size_t i = 0; i < sizeof(times) / sizeof(times[0]); i++) {
		struct tm local = {.tm_wday = times[i].day,
			.tm_hour = times[i].hour,
			.tm_min = times[i].minute};

		ok(pm_hours_have(times[i].text, &local) == times[i].is_in,
			"%s, day %d at %02d:%02d: %s", times[i].text, times[i].day, times[i].hour,
			times[i].minute, times[i].is_in ? "in" : "out");
	}
}

/* 1970-01-01 was a Thursday. */
static void test_next(void)
{
	setenv("TZ", "UTC", 1);
	is_number(pm_hours_next("18:00-06:00", 12 * 3600 + 5), 18 * 3600, "in the evening");
	is_number(
		pm_hours_next("Thu/10:00-11:00", 11 * 3600), 7 * 86400 + 10 * 3600, "a week later");
	is_number(pm_hours_next("any", 61), 120, "the next minute");
	setenv("TZ", "Europe/Berlin", 1);
	tzset();
	is_number(pm_hours_next("18:00-06:00", 12 * 3600), 17 * 3600, "in local time");
}

int main(void)
{
	test_forms();
	test_times();
	test_next();
	return tap_done();
}
