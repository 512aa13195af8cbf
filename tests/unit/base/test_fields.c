/* SPDX-License-Identifier: Apache-2.0 */
/* A struct with a member of each kind, written and read; and what is refused. */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/fields.h"
#include "base/list.h"
#include "tests/unit/tap.h"

enum colour { RED, GREEN, BLUE };

struct part {
	char *text;
	uint64_t number;
};

struct value {
	char text[8], later[8], lax[8];
	char *string;
	uint32_t small;
	uint64_t large;
	enum colour colour;
	bool flag;
	struct part *parts;
	size_t n_parts;
	uint64_t *numbers;
	size_t n_numbers;
	json_object *object;
};

static const char *colour_name(enum colour colour)
{
	static const char *const names[] = {"red", "green", "blue"};

	return names[colour];
}

static const struct pm_field part_fields[] = {
	{"text", PM_FIELD_STRING, PM_FIELD(struct part, text), .filled = true},
	{"number", PM_FIELD_U64, PM_FIELD(struct part, number)},
	{0},
};

static const struct pm_field fields[] = {
	{"text", PM_FIELD_TEXT, PM_FIELD(struct value, text), .filled = true},
	{"later", PM_FIELD_TEXT, PM_FIELD(struct value, later), .since = 2},
	{"lax", PM_FIELD_TEXT, PM_FIELD(struct value, lax), .may_lack = true},
	{"string", PM_FIELD_STRING, PM_FIELD(struct value, string), .optional = true},
	{"small", PM_FIELD_U32, PM_FIELD(struct value, small)},
	{"large", PM_FIELD_U64, PM_FIELD(struct value, large), .optional = true, .with = "string"},
	{"colour", PM_FIELD_NAME, PM_FIELD(struct value, colour), .name = colour_name,
		.first = GREEN, .last = BLUE},
	{"flag", PM_FIELD_FLAG, PM_FIELD(struct value, flag), .flag = "on"},
	{"parts", PM_FIELD_LIST, PM_FIELD_ENTRIES(struct value, parts, n_parts),
		.entry = part_fields},
	{"numbers", PM_FIELD_NUMBERS, PM_FIELD_ENTRIES(struct value, numbers, n_numbers),
		.optional = true},
	{"object", PM_FIELD_OBJECT, PM_FIELD(struct value, object), .optional = true},
	{0},
};

#define SHORT "'small': 0, 'colour': 'green', 'parts': []"
#define WHOLE "'text': 'abc', 'later': '', " SHORT

static const struct {
	const char *text;
	unsigned version;
	bool read;
	const char *written; /* NULL: as it was read */
} rows[] = {
	{"{" WHOLE "}", 2, true,
		"{'text': 'abc', 'later': '', 'lax': '', 'small': 0, 'colour': 'green', 'parts': "
		"[], "
		"'numbers': []}"},
	{"{'text': 'abcdefg', 'later': 'x', 'lax': 'y', 'string': 'long enough', 'small': "
	 "4294967295, "
	 "'large': 9223372036854775807, 'colour': 'blue', 'flag': 'on', 'parts': "
	 "[{'text': 'a', 'number': 1}, {'text': 'b', 'number': 2}], "
	 "'numbers': [0, 18446744073709551615], 'object': {'any': [1]}}",
		2, true, NULL},
	{"{'text': 'abc', " SHORT "}", 1, true,
		"{'text': 'abc', 'later': '', 'lax': '', 'small': 0, 'colour': 'green', 'parts': "
		"[], "
		"'numbers': []}"},
	{"{'text': 'abc', " SHORT "}", 2, false, NULL},
	{"{" WHOLE ", 'other': 1, 'flag': 'off', 'numbers': []}", 2, true,
		"{'text': 'abc', 'later': '', 'lax': '', 'small': 0, 'colour': 'green', 'parts': "
		"[], "
		"'numbers': []}"},
	{"{'text': '', 'later': '', " SHORT "}", 2, false, NULL},
	{"{'text': 'abcdefgh', 'later': '', " SHORT "}", 2, false, NULL},
	{"{'text': 1, 'later': '', " SHORT "}", 2, false, NULL},
	{"{" WHOLE ", 'string': 1}", 2, false, NULL},
	{"{" WHOLE ", 'string': 'x'}", 2, false, NULL},
	{"{'text': 'abc', 'later': '', 'lax': '', 'string': 'x', 'small': 0, 'large': 0, 'colour': "
	 "'green', 'parts': [], "
	 "'numbers': []}",
		2, true, NULL},
	{"{" WHOLE ", 'small': 4294967296}", 2, false, NULL},
	{"{" WHOLE ", 'small': -1}", 2, false, NULL},
	{"{" WHOLE ", 'large': '1'}", 2, false, NULL},
	{"{" WHOLE ", 'colour': 'red'}", 2, false, NULL},
	{"{" WHOLE ", 'colour': 'gree'}", 2, false, NULL},
	{"{" WHOLE ", 'colour': 1}", 2, false, NULL},
	{"{" WHOLE ", 'parts': {}}", 2, false, NULL},
	{"{" WHOLE ", 'parts': [{'text': 'a', 'number': 1}, {'text': '', 'number': 1}]}", 2, false,
		NULL},
	{"{" WHOLE ", 'parts': [{'text': 'a'}]}", 2, false, NULL},
	{"{" WHOLE ", 'parts': [1]}", 2, false, NULL},
	{"{" WHOLE ", 'numbers': ['1']}", 2, false, NULL},
	{"{" WHOLE ", 'numbers': 1}", 2, false, NULL},
	{"{" WHOLE ", 'object': []}", 2, false, NULL},
};

/* JSON with double quotes; released by the caller. */
static char *quoted(const char *text)
{
	char *copy = strdup(text);

	for (char *at = copy; (at = strchr(at, '\'')); at++)
		*at = '"';
	return copy;
}

static char *written(const struct value *value)
{
	cleanup_with(pm_json_cleanup) json_object *root = json_object_new_object();

	pm_fields_format(fields, value, root);
	return strdup(json_object_to_json_string_ext(root, JSON_C_TO_STRING_PLAIN));
}

/* Both through json-c: white space does not count. */
static char *plain(const char *text)
{
	cleanup_free char *json = quoted(text);
	cleanup_with(pm_json_cleanup) json_object *root = pm_json_parse(json, strlen(json));

	return strdup(json_object_to_json_string_ext(root, JSON_C_TO_STRING_PLAIN));
}

static const struct {
	const char *text, *error;
} defects[] = {
	{"{'later': '', " SHORT "}", "'text' is missing, or is not a text, or is too long"},
	{"{" WHOLE ", 'small': -1}", "'small' is missing, or is not a whole number below 2^32"},
	{"{" WHOLE ", 'parts': {}}", "'parts' is missing, or is not an array of objects"},
	{"{" WHOLE ", 'parts': [{'text': 'a', 'number': 1}, {'text': 'b'}]}",
		"parts[1]: 'number' is missing, or is not a whole number below 2^63"},
};

static void test_defects(void)
{
	FOR_EACH(row, defects)
	{
		cleanup_free char *json = quoted(row->text);
		cleanup_with(pm_json_cleanup) json_object *root = pm_json_parse(json, strlen(json));
		struct value value = {0};
		struct pm_err err = {.text = "of before"};

		ok(!pm_fields_read(fields, 2, root, &value, &err), "%s", row->text);
		is_text(err.text, row->error, "names the member");
		pm_fields_done(fields, &value);
	}
}

int main(void)
{
	static const struct value nothing;

	test_defects();

	FOR_EACH(row, rows)
	{
		cleanup_free char *json = quoted(row->text), *expected, *got;
		cleanup_with(pm_json_cleanup) json_object *root = pm_json_parse(json, strlen(json));
		struct value value = {0};

		is_number(pm_fields_read(fields, row->version, root, &value, NULL), row->read,
			row->text);
		expected = plain(row->written ? row->written : row->text);
		got = written(&value);
		if (row->read)
			is_text(got, expected, "and is written so");
		pm_fields_done(fields, &value);
		ok(!memcmp(&value, &nothing, sizeof(value)), "nothing is left of it");
	}
	return tap_done();
}
