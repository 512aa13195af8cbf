/* SPDX-License-Identifier: Apache-2.0 */
#include <time.h>

#include "base/timestamp.h"
#include "tests/unit/tap.h"

static const struct {
	const char *text;
	bool is_time;
	double seconds;
} times[] = {
	{"1970-01-01T00:00:00.000Z", true, 0},
	{"2026-01-31T12:34:56.789Z", true, 1769862896.789},
	{"2026-01-31T12:34:56.789", false, -1},
	{"2026-01-31T12:34:56Z", false, -1},
	{"2026-01-31T12:34:56.7Z", false, -1},
	{"2026-01-31T12:34:56.789Zz", false, -1},
	{"2026-13-31T12:34:56.789Z", false, -1},
	{"", false, -1},
};

int main(void)
{
	char text[32];
	double seconds = 0;

	FOR_EACH(row, times)
	{
		double got = -1;

		ok(pm_timestamp_read(row->text, &got) == row->is_time, "'%s'", row->text);
		ok(got == row->seconds, "is %.3f", row->seconds);
	}
	pm_timestamp(text);
	ok(pm_timestamp_read(text, &seconds), "the present time is read");
	ok(seconds > (double)time(NULL) - 60 && seconds < (double)time(NULL) + 60, "as itself");
	return tap_done();
}
