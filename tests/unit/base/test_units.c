/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>

#include "base/units.h"
#include "tests/unit/tap.h"

static const struct {
	const char *text;
	int rc;
	uint64_t value;
} sizes[] = {
	{"0 B", 0, 0},
	{"1 B", 0, 1},
	{"541165879296 B", 0, 541165879296},
	{"9223372036854775807 B", 0, INT64_MAX},
	{"9223372036854775808 B", -ERANGE, 0},
	{"18446743936270598144 B", -ERANGE, 0},
	{"99999999999999999999999 B", -ERANGE, 0},
	{"17179869056.000 GiB", -EINVAL, 0},
	{"126.422 GiB", -EINVAL, 0},
	{"1 KiB", -EINVAL, 0},
	{"1.0 B", -EINVAL, 0},
	{"-1 B", -EINVAL, 0},
	{"+1 B", -EINVAL, 0},
	{" 1 B", -EINVAL, 0},
	{"1 B ", -EINVAL, 0},
	{"1  B", -EINVAL, 0},
	{"1B", -EINVAL, 0},
	{"1", -EINVAL, 0},
	{"0x10 B", -EINVAL, 0},
	{"B", -EINVAL, 0},
	{" B", -EINVAL, 0},
	{"", -EINVAL, 0},
	{"-", -EINVAL, 0},
	{"Unknown", -EINVAL, 0},
	{"nan B", -EINVAL, 0},
};

static void test_sizes(void)
{
	FOR_EACH(row, sizes)
	{
		uint64_t value = 77;
		int rc = pm_parse_size_b(row->text, &value);

		is_number(rc, row->rc, row->text);
		is_number((long long)value, rc ? 77 : (long long)row->value, "its value");
	}
}

static const char *const no_sizes[] = {
	"", "5", "G", "5 G", "5GB", "-5G", "5.5G", "5B", "0x5G", "5X"};

static void test_numbers(void)
{
	uint64_t value = 77;

	is_number(pm_parse_size("3g", &value), 0, "a size in gigabytes");
	ok(value == 3ull << 30, "is in powers of 1024");
	is_number(pm_parse_size("8388607T", &value), 0, "the largest");
	is_number(pm_parse_size("8388608T", &value), -ERANGE, "and one more");
	for (size_t i = 0; i < sizeof(no_sizes) / sizeof(no_sizes[0]); i++)
		is_number(pm_parse_size(no_sizes[i], &value), -EINVAL, no_sizes[i]);
	is_number(pm_parse_u64("42", &value), 0, "digits alone are a number");
	is_number((long long)value, 42, "that number");
	is_number(pm_parse_u64("42 B", &value), -EINVAL, "a unit is not");
	is_number(pm_parse_u64("", &value), -EINVAL, "nothing is not");
	is_number(pm_parse_u64("9223372036854775808", &value), -ERANGE, "too much");
}

static const struct {
	uint64_t bytes;
	const char *text;
} formats[] = {
	{0, "0 B"},
	{1023, "1023 B"},
	{1024, "1 KiB"},
	{64ull << 20, "64 MiB"},
	{1023ull << 20, "1023 MiB"},
	{1ull << 30, "1 GiB"},
	{(1ull << 30) + (1ull << 29), "1.5 GiB"},
	{(2ull << 30) - 1, "1.9 GiB"},
	{93ull << 30, "93 GiB"},
	{6ull << 40, "6144 GiB"},
	{(10ull << 40) + (1ull << 39), "10.5 TiB"},
	{INT64_MAX, "8388607.9 TiB"},
};

static void test_formats(void)
{
	char text[PM_SIZE_TEXT];

	FOR_EACH(row, formats)
	is_text(pm_format_size(row->bytes, text), row->text, row->text);
}

int main(void)
{
	test_formats();
	test_sizes();
	test_numbers();
	return tap_done();
}
