/* SPDX-License-Identifier: Apache-2.0 */
#include "base/json.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <string.h>

#include "base/asprintf.h"

#define MAX_DEPTH 16

static bool is_blank(const char *text, size_t length)
{
	while (length && isspace((unsigned char)text[length - 1]))
		length--;
	return length == 0;
}

json_object *pm_json_parse(const char *text, size_t length)
{
	struct json_tokener *tokener = json_tokener_new_ex(MAX_DEPTH);
	json_object *object = NULL;
	size_t end;

	if (!tokener || length > INT_MAX)
		goto out;
	json_tokener_set_flags(tokener, JSON_TOKENER_STRICT | JSON_TOKENER_ALLOW_TRAILING_CHARS);
	object = json_tokener_parse_ex(tokener, text, (int)length);
	end = json_tokener_get_parse_end(tokener);
	if (json_tokener_get_error(tokener) != json_tokener_success ||
		!is_blank(text + end, length - end)) {
		json_object_put(object);
		object = NULL;
	}
out:
	if (tokener)
		json_tokener_free(tokener);
	return object;
}

bool pm_json_each(const json_object *object, const char *key, enum json_type type,
	pm_json_reader *read, void *into)
{
	json_object *list;

	if (!json_object_object_get_ex(object, key, &list) ||
		!json_object_is_type(list, json_type_array))
		return false;
	for (size_t i = 0; i < json_object_array_length(list); i++) {
		const json_object *entry = json_object_array_get_idx(list, i);

		if (!json_object_is_type(entry, type) || !read(entry, into))
			return false;
	}
	return true;
}

const char *pm_json_string(const json_object *object, const char *key)
{
	json_object *member;

	if (!json_object_object_get_ex(object, key, &member) ||
		!json_object_is_type(member, json_type_string))
		return NULL;
	return json_object_get_string(member);
}

bool pm_json_copy(const json_object *object, const char *key, char *to, size_t size)
{
	const char *text = pm_json_string(object, key);

	if (!text || strlen(text) >= size)
		return false;
	strcpy(to, text);
	return true;
}

bool pm_json_copy_filled(const json_object *object, const char *key, char *to, size_t size)
{
	const char *text = pm_json_string(object, key);

	return text && *text && pm_json_copy(object, key, to, size);
}

int pm_json_u64(const json_object *object, const char *key, uint64_t *ret)
{
	json_object *member;
	int64_t value;

	if (!json_object_object_get_ex(object, key, &member))
		return -ENOENT;
	if (!json_object_is_type(member, json_type_int))
		return -EINVAL;
	errno = 0;
	value = json_object_get_int64(member);
	if (value < 0 || (value == INT64_MAX && errno))
		return -EINVAL;
	*ret = (uint64_t)value;
	return 0;
}

uint64_t pm_json_number(const json_object *object, const char *key)
{
	uint64_t value = 0;

	(void)pm_json_u64(object, key, &value);
	return value;
}

const char *pm_json_text(const json_object *object, const char *key)
{
	const char *value = pm_json_string(object, key);

	return value ? value : "";
}

bool pm_json_is(const json_object *object, const char *key, const char *text)
{
	const char *value = pm_json_string(object, key);

	return value && !strcmp(value, text);
}

void pm_json_add_string(json_object *object, const char *key, const char *text)
{
	if (text)
		json_object_object_add(object, key, json_object_new_string(text));
}

void pm_json_add_u64(json_object *object, const char *key, uint64_t value)
{
	json_object_object_add(object, key, json_object_new_int64((int64_t)value));
}

void pm_json_add_int(json_object *object, const char *key, int value)
{
	json_object_object_add(object, key, json_object_new_int(value));
}

void pm_json_add_bool(json_object *object, const char *key, bool value)
{
	json_object_object_add(object, key, json_object_new_boolean(value));
}

json_object *pm_json_add_object(json_object *object, const char *key)
{
	json_object *member = json_object_new_object();

	json_object_object_add(object, key, member);
	return member;
}

json_object *pm_json_add_array(json_object *object, const char *key)
{
	json_object *member = json_object_new_array();

	json_object_object_add(object, key, member);
	return member;
}

json_object *pm_json_append_object(json_object *array)
{
	json_object *entry = json_object_new_object();

	json_object_array_add(array, entry);
	return entry;
}

char *pm_json_format(json_object *object)
{
	const int flags =
		JSON_C_TO_STRING_PRETTY | JSON_C_TO_STRING_SPACED | JSON_C_TO_STRING_NOSLASHESCAPE;
	const char *text = json_object_to_json_string_ext(object, flags);

	return text ? pm_asprintf("%s\n", text) : NULL;
}

void pm_json_cleanup(json_object **object)
{
	json_object_put(*object);
}
