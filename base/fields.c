/* SPDX-License-Identifier: Apache-2.0 */
#include "base/fields.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/list.h"

/* Address of an array's length in the struct. */
#define LENGTH(field_, value_) ((size_t *)((char *)(value_) + (field_)->n_offset))

static const void *in(const struct pm_field *field, const void *value)
{
	return (const char *)value + field->offset;
}

static void *pointer_in(const struct pm_field *field, const void *value)
{
	void *pointer;

	memcpy(&pointer, in(field, value), sizeof(pointer));
	return pointer;
}

static bool is_required(const struct pm_field *field, bool may_lack, const json_object *object)
{
	return !may_lack || (field->with && json_object_object_get_ex(object, field->with, NULL));
}

/* --- reading --- */

static bool read_string(const struct pm_field *field, const json_object *object, char **at)
{
	const char *text = pm_json_string(object, field->key);

	*at = text ? strdup(text) : NULL;
	return *at && !(field->filled && !*text);
}

static bool read_text(const struct pm_field *field, const json_object *object, char *at)
{
	return (field->filled ? pm_json_copy_filled : pm_json_copy)(
		object, field->key, at, field->size);
}

static bool read_u32(const struct pm_field *field, const json_object *object, uint32_t *at)
{
	uint64_t number;

	if (pm_json_u64(object, field->key, &number) || number > UINT32_MAX)
		return false;
	*at = (uint32_t)number;
	return true;
}

static bool read_name(const struct pm_field *field, const json_object *object, unsigned *at)
{
	const char *text = pm_json_string(object, field->key);

	for (unsigned i = field->first; text && i <= field->last; i++) {
		if (strcmp(text, field->name(i)))
			continue;
		*at = i;
		return true;
	}
	return false;
}

static bool read_flag(const struct pm_field *field, const json_object *object, bool *at)
{
	const char *text = pm_json_string(object, field->key);

	*at = text && !strcmp(text, field->flag);
	return true;
}

static bool read_object(const struct pm_field *field, const json_object *object, json_object **at)
{
	json_object *member;

	if (!json_object_object_get_ex(object, field->key, &member) ||
		!json_object_is_type(member, json_type_object))
		return false;
	*at = json_object_get(member);
	return true;
}

struct array {
	const struct pm_field *field;
	unsigned version;
	void *value;
	struct pm_err *err;
};

static void *next_entry(const struct array *array)
{
	size_t *n = LENGTH(array->field, array->value);
	void *entry =
		pm_list_next((char *)array->value + array->field->offset, *n, array->field->size);

	*n += entry != NULL;
	return entry;
}

static bool read_entry(const json_object *object, void *into)
{
	const struct array *array = into;
	void *entry = next_entry(array);

	if (!entry ||
		pm_fields_read(array->field->entry, array->version, object, entry, array->err))
		return entry;
	pm_err_prefix(
		array->err, "%s[%zu]", array->field->key, *LENGTH(array->field, array->value) - 1);
	return false;
}

static bool read_number(const json_object *number, void *into)
{
	uint64_t *entry = next_entry(into);

	if (entry)
		*entry = json_object_get_uint64(number);
	return entry;
}

static bool read_member(const struct pm_field *field, unsigned version, const json_object *object,
	void *value, struct pm_err *err)
{
	struct array array = {field, version, value, err};
	void *at = (char *)value + field->offset;

	switch (field->kind) {
	case PM_FIELD_TEXT:
		return read_text(field, object, at);
	case PM_FIELD_STRING:
		return read_string(field, object, at);
	case PM_FIELD_U32:
		return read_u32(field, object, at);
	case PM_FIELD_U64:
		return !pm_json_u64(object, field->key, at);
	case PM_FIELD_NAME:
		return read_name(field, object, at);
	case PM_FIELD_FLAG:
		return read_flag(field, object, at);
	case PM_FIELD_LIST:
		return pm_json_each(object, field->key, json_type_object, read_entry, &array);
	case PM_FIELD_NUMBERS:
		return pm_json_each(object, field->key, json_type_int, read_number, &array);
	case PM_FIELD_OBJECT:
		return read_object(field, object, at);
	}
	return false;
}

/* Of a member itself, if none of its entries has said more. */
static void set_defect(const struct pm_field *field, struct pm_err *err)
{
	static const char *const forms[] = {
		[PM_FIELD_TEXT] = "a text, or is too long",
		[PM_FIELD_STRING] = "a text",
		[PM_FIELD_U32] = "a whole number below 2^32",
		[PM_FIELD_U64] = "a whole number below 2^63",
		[PM_FIELD_NAME] = "one of the known names",
		[PM_FIELD_LIST] = "an array of objects",
		[PM_FIELD_NUMBERS] = "an array of whole numbers",
		[PM_FIELD_OBJECT] = "an object",
	};

	if (err && !*err->text)
		pm_err_set(err, -EINVAL, "'%s' is missing, or is not %s", field->key,
			forms[field->kind]);
}

bool pm_fields_read(const struct pm_field *fields, unsigned version, const json_object *object,
	void *into, struct pm_err *err)
{
	if (err)
		*err = (struct pm_err){0};
	for (const struct pm_field *field = fields; field->key; field++) {
		bool may_lack = field->optional || field->may_lack || field->since > version;

		if (!is_required(field, may_lack, object) &&
			!json_object_object_get_ex(object, field->key, NULL))
			continue;
		if (!read_member(field, version, object, into, err)) {
			set_defect(field, err);
			return false;
		}
	}
	return true;
}

/* --- writing --- */

static void add_list(const struct pm_field *field, const void *value, json_object *array)
{
	const char *list = pointer_in(field, value);

	for (size_t i = 0; i < *LENGTH(field, value); i++) {
		json_object *entry = json_object_new_object();

		pm_fields_format(field->entry, list + i * field->size, entry);
		json_object_array_add(array, entry);
	}
}

static void add_numbers(const struct pm_field *field, const void *value, json_object *array)
{
	const uint64_t *list = pointer_in(field, value);

	for (size_t i = 0; i < *LENGTH(field, value); i++)
		json_object_array_add(array, json_object_new_uint64(list[i]));
}

static void add_array(const struct pm_field *field, const void *value, json_object *object)
{
	json_object *array = json_object_new_array();

	(field->kind == PM_FIELD_LIST ? add_list : add_numbers)(field, value, array);
	json_object_object_add(object, field->key, array);
}

static void add_u64(const struct pm_field *field, uint64_t number, json_object *object)
{
	if (number || is_required(field, field->optional, object))
		pm_json_add_u64(object, field->key, number);
}

static void add_text(const struct pm_field *field, const char *text, json_object *object)
{
	if (text && (*text || !field->optional))
		pm_json_add_string(object, field->key, text);
}

static void add_object(const struct pm_field *field, json_object *member, json_object *object)
{
	if (member)
		json_object_object_add(object, field->key, json_object_get(member));
}

static void add_member(const struct pm_field *field, const void *value, json_object *object)
{
	const void *at = in(field, value);

	switch (field->kind) {
	case PM_FIELD_TEXT:
		add_text(field, at, object);
		break;
	case PM_FIELD_STRING:
		add_text(field, pointer_in(field, value), object);
		break;
	case PM_FIELD_U32:
		add_u64(field, *(const uint32_t *)at, object);
		break;
	case PM_FIELD_U64:
		add_u64(field, *(const uint64_t *)at, object);
		break;
	case PM_FIELD_NAME:
		add_text(field, field->name(*(const unsigned *)at), object);
		break;
	case PM_FIELD_FLAG:
		add_text(field, *(const bool *)at ? field->flag : NULL, object);
		break;
	case PM_FIELD_LIST:
	case PM_FIELD_NUMBERS:
		add_array(field, value, object);
		break;
	case PM_FIELD_OBJECT:
		add_object(field, pointer_in(field, value), object);
		break;
	}
}

void pm_fields_format(const struct pm_field *fields, const void *from, json_object *object)
{
	for (const struct pm_field *field = fields; field->key; field++)
		add_member(field, from, object);
}

/* --- release --- */

static void free_list(const struct pm_field *field, void *value)
{
	char *list = pointer_in(field, value);

	for (size_t i = 0; field->kind == PM_FIELD_LIST && i < *LENGTH(field, value); i++)
		pm_fields_done(field->entry, list + i * field->size);
	free(list);
	*LENGTH(field, value) = 0;
}

void pm_fields_done(const struct pm_field *fields, void *value)
{
	for (const struct pm_field *field = fields; field->key; field++) {
		size_t size = field->size;

		if (field->kind == PM_FIELD_LIST || field->kind == PM_FIELD_NUMBERS) {
			free_list(field, value);
			size = sizeof(void *);
		} else if (field->kind == PM_FIELD_STRING) {
			free(pointer_in(field, value));
		} else if (field->kind == PM_FIELD_OBJECT) {
			json_object_put(pointer_in(field, value));
		}
		memset((char *)value + field->offset, 0, size);
	}
}
