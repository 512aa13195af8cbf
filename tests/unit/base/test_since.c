/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>

#include "base/since.h"
#include "tests/unit/tap.h"

#define NOW 1800000000

static const struct {
	const char *text;
	int rc;
	long long seconds;
} rows[] = {
	/* In Berlin, an hour before UTC in winter, two in summer. */
	{"2026-11-01", 0, 1793487600},
	{"2026-07-01", 0, 1782856800},
	{"2026-11-01T08:30", 0, 1793518200},
	{"2026-11-01T08:30:15", 0, 1793518215},
	{"1969-01-01", 0, 0},
	{"now-7days", 0, NOW - 7 * 86400},
	{"now-1day", 0, NOW - 86400},
	{"now-2weeks", 0, NOW - 14 * 86400},
	{"now-3hours", 0, NOW - 10800},
	{"now-5minutes", 0, NOW - 300},
	{"now-90", 0, NOW - 90},
	{"now-9999999999weeks", 0, 0},
	{"now-99999999999", -EINVAL, -1},
	{"now-da", -EINVAL, -1},
	{"now-1da", -EINVAL, -1},
	{"now-1dayss", -EINVAL, -1},
	{"now-", -EINVAL, -1},
	{"now+1day", -EINVAL, -1},
	{"now", -EINVAL, -1},
	{"7days", -EINVAL, -1},
	{"2026-02-30", -EINVAL, -1},
	{"2026-13-01", -EINVAL, -1},
	{"2026-11-1", -EINVAL, -1},
	{"2026-11-01T24:30", -EINVAL, -1},
	{"2026-11-01 08:30", -EINVAL, -1},
	{"2026-11-01x", -EINVAL, -1},
	{"11/01", -EINVAL, -1},
	{"", -EINVAL, -1},
};

int main(void)
{
	setenv("TZ", "CET-1CEST,M3.5.0,M10.5.0/3", 1);
	FOR_EACH(row, rows)
	{
		uint64_t seconds = (uint64_t)-1;

		is_number(pm_since_parse(row->text, NOW, &seconds), row->rc, row->text);
		is_number((long long)seconds, row->seconds, row->text);
	}
	return tap_done();
}
