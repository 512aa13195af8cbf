/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_TESTS_TAP_H
#define PM_TESTS_TAP_H

/*
 * A test prints "ok N - name" or "not ok N - name" for each check, and closes with the plan and a
 * line "# N passed, N failed". main() returns tap_done(). Programs run in the project's root.
 */
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static unsigned tap_passed, tap_failed;

/* A name may be a text with several lines: it is printed as one. */
static void tap_print(const char *text)
{
	for (; *text; text++)
		putchar(*text < ' ' ? ' ' : *text);
	putchar('\n');
}

__attribute__((format(printf, 2, 3), unused)) static bool ok(bool condition, const char *fmt, ...)
{
	char name[400];
	va_list args;

	*(condition ? &tap_passed : &tap_failed) += 1;
	printf("%sok %u - ", condition ? "" : "not ", tap_passed + tap_failed);
	va_start(args, fmt);
	vsnprintf(name, sizeof(name), fmt, args);
	va_end(args);
	tap_print(name);
	return condition;
}

/* `got` is `expected`; NULL equals NULL. */
__attribute__((unused)) static void is_text(const char *got, const char *expected, const char *name)
{
	if (!ok(got && expected ? !strcmp(got, expected) : got == expected, "%s", name))
		printf("#      got: %s\n# expected: %s\n", got ? got : "(null)",
			expected ? expected : "(null)");
}

/* `got` holds `part`. */
__attribute__((unused)) static void has_text(const char *got, const char *part, const char *name)
{
	if (!ok(got && strstr(got, part), "%s", name))
		printf("#      got: %s\n# expected in it: %s\n", got ? got : "(null)", part);
}

__attribute__((unused)) static void is_number(long long got, long long expected, const char *name)
{
	if (!ok(got == expected, "%s", name))
		printf("#      got: %lld\n# expected: %lld\n", got, expected);
}

__attribute__((unused)) static int tap_done(void)
{
	printf("1..%u\n# %u passed, %u failed\n", tap_passed + tap_failed, tap_passed, tap_failed);
	return tap_failed ? 1 : 0;
}

#define FOR_EACH(row_, table_)                                                                     \
	for (const __typeof__((table_)[0]) *row_ = (table_);                                       \
		row_ < (table_) + sizeof(table_) / sizeof((table_)[0]); row_++)

#endif
