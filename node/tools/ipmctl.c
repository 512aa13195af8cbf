/* SPDX-License-Identifier: Apache-2.0 */
#include "node/tools/ipmctl.h"

#include <ctype.h>
#include <errno.h>
#include <libxml/parser.h>
#include <libxml/tree.h>
#include <limits.h>
#include <stdbool.h>
#include <string.h>

#include "base/asprintf.h"
#include "base/cleanup.h"
#include "base/run.h"
#include "base/units.h"

#define QUOTE_BYTES 400

/* The output, for messages. */
struct answer {
	const char *text;
	size_t length;
};

/* An element of an item and the field of the struct it is read into. */
struct field {
	const char *element;
	const char *older; /* its name in ipmctl 1.x, or NULL */
	int (*parse)(const char *text, void *to, size_t size);
	size_t offset, size;
	bool optional; /* left as zeros when it is missing */
};

/* The form of one command's answer. */
struct form {
	const char *root;
	const char *item;  /* NULL: the root is the one item */
	const char *empty; /* the sentence of an empty list, or NULL when it cannot be empty */
	size_t item_size;
	const struct field *fields;
	size_t n_fields;
};

struct items {
	char *data; /* n structs of form->item_size */
	size_t n;
};

#define FIELD(struct_, member_, element_, parse_)                                                  \
	{                                                                                          \
		.element = element_, .parse = parse_, .offset = offsetof(struct struct_, member_), \
		.size = sizeof(((struct struct_ *)0)->member_)                                     \
	}

#define SIZE_IF_KNOWN(struct_, member_, element_)                                                  \
	{                                                                                          \
		.element = element_, .parse = parse_size_if_known,                                 \
		.offset = offsetof(struct struct_, member_), .size = sizeof(uint64_t),             \
		.optional = true                                                                   \
	}

#define TEXT_IF_KNOWN(struct_, member_, element_)                                                  \
	{                                                                                          \
		.element = element_, .parse = parse_text_if_known,                                 \
		.offset = offsetof(struct struct_, member_),                                       \
		.size = sizeof(((struct struct_ *)0)->member_), .optional = true                   \
	}

#define COUNT(array_) (sizeof(array_) / sizeof((array_)[0]))

static void free_doc(xmlDoc **doc)
{
	xmlFreeDoc(*doc);
}

__attribute__((format(printf, 4, 5))) static int misread(
	const struct answer *answer, int code, struct pm_err *err, const char *fmt, ...)
{
	cleanup_free char *quote = pm_quote(answer->text, answer->length, QUOTE_BYTES);
	cleanup_free char *what = NULL;
	va_list args;

	va_start(args, fmt);
	what = pm_vasprintf(fmt, args);
	va_end(args);
	if (!quote || !what)
		return pm_err_nomem(err);
	return pm_err_set(err, code, "%s, it printed: '%s'", what, quote);
}

static int parse_string(const char *text, void *to, size_t size)
{
	if (!*text || strlen(text) >= size)
		return -EINVAL;
	strcpy(to, text);
	return 0;
}

/* "0x" and hexadecimal digits, as ipmctl numbers modules, sockets and regions. */
static int parse_id(const char *text, void *to, size_t size)
{
	if (strncmp(text, "0x", 2) || !text[2] || text[2 + strspn(text + 2, "0123456789abcdef")])
		return -EINVAL;
	return parse_string(text, to, size);
}

static int parse_size(const char *text, void *to, size_t size)
{
	(void)size;
	return pm_parse_size_b(text, to);
}

static int parse_size_or_dash(const char *text, void *to, size_t size)
{
	return strcmp(text, "-") ? parse_size(text, to, size) : 0;
}

static bool is_unknown(const char *text)
{
	return !strcmp(text, "Unknown") || !strcmp(text, "N/A");
}

/* ipmctl prints words for a module that does not answer. */
static int parse_size_if_known(const char *text, void *to, size_t size)
{
	return is_unknown(text) ? 0 : parse_size(text, to, size);
}

/* For reports: a text that does not fit is none. */
static int parse_text_if_known(const char *text, void *to, size_t size)
{
	if (!is_unknown(text) && strlen(text) < size)
		strcpy(to, text);
	return 0;
}

/* The element's text without the white space around it; malloc'ed. */
static char *element_text(const xmlNode *element)
{
	xmlChar *content = xmlNodeGetContent(element);
	const char *start = (const char *)content;
	size_t length;
	char *text;

	if (!content)
		return NULL;
	while (isspace((unsigned char)*start))
		start++;
	length = strlen(start);
	while (length && isspace((unsigned char)start[length - 1]))
		length--;
	text = strndup(start, length);
	xmlFree(content);
	return text;
}

static bool is_element(const xmlNode *node, const char *name)
{
	return name && node->type == XML_ELEMENT_NODE && !strcmp((const char *)node->name, name);
}

static const xmlNode *find_element(const xmlNode *parent, const struct field *field)
{
	for (const xmlNode *node = parent->children; node; node = node->next)
		if (is_element(node, field->element) || is_element(node, field->older))
			return node;
	return NULL;
}

static int read_field(const struct answer *answer, const xmlNode *item, const struct field *field,
	char *to, struct pm_err *err)
{
	const xmlNode *element = find_element(item, field);
	cleanup_free char *text = NULL;

	if (!element) {
		if (field->optional)
			return 0;
		return misread(answer, -EBADMSG, err, "no <%s> in <%s>", field->element,
			(const char *)item->name);
	}
	text = element_text(element);
	if (!text)
		return pm_err_nomem(err);
	if (field->parse(text, to + field->offset, field->size))
		return misread(answer, -EBADMSG, err, "cannot read <%s>%.60s</%s>", field->element,
			text, field->element);
	return 0;
}

static int read_item(const struct answer *answer, const xmlNode *item, const struct form *form,
	struct items *items, struct pm_err *err)
{
	char *grown = realloc(items->data, (items->n + 1) * form->item_size);
	int rc = 0;

	if (!grown)
		return pm_err_nomem(err);
	items->data = grown;
	grown += items->n * form->item_size;
	memset(grown, 0, form->item_size);
	for (size_t i = 0; !rc && i < form->n_fields; i++)
		rc = read_field(answer, item, &form->fields[i], grown, err);
	if (!rc)
		items->n++;
	return rc;
}

static int read_items(const struct answer *answer, const xmlNode *root, const struct form *form,
	struct items *items, struct pm_err *err)
{
	int rc = 0;

	if (!form->item)
		return read_item(answer, root, form, items, err);
	for (const xmlNode *node = root->children; !rc && node; node = node->next) {
		if (is_element(node, form->item))
			rc = read_item(answer, node, form, items, err);
		else if (node->type == XML_ELEMENT_NODE)
			rc = misread(
				answer, -EBADMSG, err, "unexpected <%s>", (const char *)node->name);
	}
	if (!rc && !items->n)
		rc = misread(answer, -EBADMSG, err, "no <%s> in <%s>", form->item, form->root);
	return rc;
}

static int read_other_root(const struct answer *answer, const xmlNode *root,
	const struct form *form, struct pm_err *err)
{
	cleanup_free char *text = element_text(root);

	if (!text)
		return pm_err_nomem(err);
	if (is_element(root, "Results") && form->empty && strstr(text, form->empty))
		return 0;
	if (is_element(root, "Error"))
		return misread(answer, -EREMOTEIO, err, "ipmctl failed");
	return misread(answer, -EBADMSG, err, "<%s> expected of ipmctl", form->root);
}

static int read_answer(const struct answer *answer, const struct form *form, struct items *items,
	struct pm_err *err)
{
	cleanup_with(free_doc) xmlDoc *doc = NULL;
	const xmlNode *root;

	if (answer->length <= INT_MAX)
		doc = xmlReadMemory(answer->text, (int)answer->length, NULL, NULL,
			XML_PARSE_NONET | XML_PARSE_NOERROR | XML_PARSE_NOWARNING);
	root = doc ? xmlDocGetRootElement(doc) : NULL;
	if (!root)
		return misread(answer, -EBADMSG, err, "XML expected of ipmctl");
	if (xmlGetIntSubset(doc))
		return misread(answer, -EBADMSG, err, "no document type expected of ipmctl");
	if (is_element(root, form->root))
		return read_items(answer, root, form, items, err);
	return read_other_root(answer, root, form, err);
}

/* Parses a list: *ret_list is an array of form->item_size structs, NULL if the list is empty. */
static int read_list(const char *text, size_t length, const struct form *form, void *ret_list,
	size_t *ret_n, struct pm_err *err)
{
	const struct answer answer = {text, length};
	struct items items = {0};
	int rc = read_answer(&answer, form, &items, err);

	if (rc) {
		free(items.data);
		return rc;
	}
	memcpy(ret_list, &items.data, sizeof(items.data));
	*ret_n = items.n;
	return 0;
}

struct resource_row {
	char type[32];
	uint64_t ddr_bytes, pmem_bytes;
};

static const struct field resource_fields[] = {
	FIELD(resource_row, type, "MemoryType", parse_string),
	FIELD(resource_row, ddr_bytes, "DDR", parse_size_or_dash),
	{.element = "PMemModule",
		.older = "DCPMM",
		.parse = parse_size_or_dash,
		.offset = offsetof(struct resource_row, pmem_bytes),
		.size = sizeof(uint64_t)},
};

static const struct form resource_form = {
	.root = "MemoryResources",
	.item = "data",
	.item_size = sizeof(struct resource_row),
	.fields = resource_fields,
	.n_fields = COUNT(resource_fields),
};

static const struct resource_row *find_row(
	const struct resource_row *rows, size_t n, const char *type)
{
	for (size_t i = 0; i < n; i++)
		if (!strcmp(rows[i].type, type))
			return &rows[i];
	return NULL;
}

int pm_ipmctl_resources(
	const char *text, size_t length, struct pm_resources *ret, struct pm_err *err)
{
	const struct answer answer = {text, length};
	const struct resource_row *as_main, *as_appdirect, *lost, *physical;
	cleanup_free struct resource_row *rows = NULL;
	size_t n;
	int rc = read_list(text, length, &resource_form, &rows, &n, err);

	if (rc)
		return rc;
	as_main = find_row(rows, n, "Volatile");
	as_appdirect = find_row(rows, n, "AppDirect");
	lost = find_row(rows, n, "Inaccessible");
	physical = find_row(rows, n, "Physical");
	if (!as_main || !as_appdirect || !lost || !physical)
		return misread(&answer, -EBADMSG, err,
			"Volatile, AppDirect, Inaccessible and Physical expected of ipmctl");
	*ret = (struct pm_resources){
		.volatile_ddr_bytes = as_main->ddr_bytes,
		.volatile_pmem_bytes = as_main->pmem_bytes,
		.appdirect_pmem_bytes = as_appdirect->pmem_bytes,
		.inaccessible_pmem_bytes = lost->pmem_bytes,
		.physical_pmem_bytes = physical->pmem_bytes,
	};
	return 0;
}

static const struct field dimm_fields[] = {
	FIELD(pm_dimm, id, "DimmID", parse_id),
	FIELD(pm_dimm, socket, "SocketID", parse_id),
	FIELD(pm_dimm, capacity_bytes, "Capacity", parse_size),
	FIELD(pm_dimm, health, "HealthState", parse_string),
	FIELD(pm_dimm, lock, "LockState", parse_string),
	FIELD(pm_dimm, manageability, "ManageabilityState", parse_string),
	FIELD(pm_dimm, population_violation, "PopulationViolation", parse_string),
	FIELD(pm_dimm, config_status, "ConfigurationStatus", parse_string),
	SIZE_IF_KNOWN(pm_dimm, memory_bytes, "MemoryCapacity"),
	SIZE_IF_KNOWN(pm_dimm, appdirect_bytes, "AppDirectCapacity"),
	SIZE_IF_KNOWN(pm_dimm, reserved_bytes, "ReservedCapacity"),
	TEXT_IF_KNOWN(pm_dimm, firmware, "FWVersion"),
	TEXT_IF_KNOWN(pm_dimm, part, "PartNumber"),
};

static const struct form dimm_form = {
	.root = "DimmList",
	.item = "Dimm",
	.item_size = sizeof(struct pm_dimm),
	.fields = dimm_fields,
	.n_fields = COUNT(dimm_fields),
};

int pm_ipmctl_dimms(const char *text, size_t length, struct pm_dimms *ret, struct pm_err *err)
{
	return read_list(text, length, &dimm_form, &ret->list, &ret->n, err);
}

void pm_dimms_done(struct pm_dimms *dimms)
{
	free(dimms->list);
	*dimms = (struct pm_dimms){0};
}

static const struct field sensor_fields[] = {
	FIELD(pm_sensor, dimm, "DimmID", parse_id),
	FIELD(pm_sensor, type, "Type", parse_string),
	TEXT_IF_KNOWN(pm_sensor, text, "CurrentValue"),
};

static const struct form sensor_form = {
	.root = "SensorList",
	.item = "Sensor",
	.item_size = sizeof(struct pm_sensor),
	.fields = sensor_fields,
	.n_fields = COUNT(sensor_fields),
};

int pm_ipmctl_sensors(const char *text, size_t length, struct pm_sensors *ret, struct pm_err *err)
{
	return read_list(text, length, &sensor_form, &ret->list, &ret->n, err);
}

void pm_sensors_done(struct pm_sensors *sensors)
{
	free(sensors->list);
	*sensors = (struct pm_sensors){0};
}

bool pm_sensor_number(const struct pm_sensor *sensor, double *ret)
{
	char *unit;
	long long number = strtoll(sensor->text, &unit, 10);

	if (unit == sensor->text ||
		(*unit && strcmp(unit, "C") && strcmp(unit, "%") && strcmp(unit, "s")))
		return false;
	*ret = (double)number;
	return true;
}

static const struct field goal_fields[] = {
	FIELD(pm_goal, dimm, "DimmID", parse_id),
	FIELD(pm_goal, socket, "SocketID", parse_id),
	FIELD(pm_goal, memory_bytes, "MemorySize", parse_size),
	FIELD(pm_goal, appdirect1_bytes, "AppDirect1Size", parse_size),
	SIZE_IF_KNOWN(pm_goal, appdirect2_bytes, "AppDirect2Size"),
};

static const struct form goal_form = {
	.root = "ConfigGoalList",
	.item = "ConfigGoal",
	.empty = "There are no goal configs",
	.item_size = sizeof(struct pm_goal),
	.fields = goal_fields,
	.n_fields = COUNT(goal_fields),
};

int pm_ipmctl_goals(const char *text, size_t length, struct pm_goals *ret, struct pm_err *err)
{
	return read_list(text, length, &goal_form, &ret->list, &ret->n, err);
}

void pm_goals_done(struct pm_goals *goals)
{
	free(goals->list);
	*goals = (struct pm_goals){0};
}

static const struct field region_fields[] = {
	FIELD(pm_region, id, "RegionID", parse_id),
	FIELD(pm_region, socket, "SocketID", parse_id),
	FIELD(pm_region, type, "PersistentMemoryType", parse_string),
	FIELD(pm_region, health, "HealthState", parse_string),
	FIELD(pm_region, capacity_bytes, "Capacity", parse_size),
	FIELD(pm_region, free_bytes, "FreeCapacity", parse_size),
};

static const struct form region_form = {
	.root = "RegionList",
	.item = "Region",
	.empty = "There are no Regions",
	.item_size = sizeof(struct pm_region),
	.fields = region_fields,
	.n_fields = COUNT(region_fields),
};

int pm_ipmctl_regions(const char *text, size_t length, struct pm_regions *ret, struct pm_err *err)
{
	return read_list(text, length, &region_form, &ret->list, &ret->n, err);
}

void pm_regions_done(struct pm_regions *regions)
{
	free(regions->list);
	*regions = (struct pm_regions){0};
}

static const struct field capability_fields[] = {
	FIELD(pm_capabilities, alignment_bytes, "Alignment", parse_size),
	FIELD(pm_capabilities, allowed_volatile_mode, "AllowedVolatileMode", parse_string),
	FIELD(pm_capabilities, current_volatile_mode, "CurrentVolatileMode", parse_string),
};

static const struct form capability_form = {
	.root = "SystemCapabilities",
	.item_size = sizeof(struct pm_capabilities),
	.fields = capability_fields,
	.n_fields = COUNT(capability_fields),
};

int pm_ipmctl_capabilities(
	const char *text, size_t length, struct pm_capabilities *ret, struct pm_err *err)
{
	cleanup_free struct pm_capabilities *one = NULL;
	size_t n;
	int rc = read_list(text, length, &capability_form, &one, &n, err);

	if (!rc)
		*ret = *one;
	return rc;
}

static const struct field slot_fields[] = {
	FIELD(pm_slot, dimm, "DimmID", parse_string),
	FIELD(pm_slot, socket, "SocketID", parse_id),
	FIELD(pm_slot, type, "MemoryType", parse_string),
	FIELD(pm_slot, capacity_bytes, "Capacity", parse_size),
};

static const struct form slot_form = {
	.root = "DimmTopologyList",
	.item = "Dimm",
	.item_size = sizeof(struct pm_slot),
	.fields = slot_fields,
	.n_fields = COUNT(slot_fields),
};

int pm_ipmctl_slots(const char *text, size_t length, struct pm_slots *ret, struct pm_err *err)
{
	return read_list(text, length, &slot_form, &ret->list, &ret->n, err);
}

void pm_slots_done(struct pm_slots *slots)
{
	free(slots->list);
	*slots = (struct pm_slots){0};
}

int pm_ipmctl_version(
	const char *text, size_t length, struct pm_ipmctl_version *ret, struct pm_err *err)
{
	static const char mark[] = "Version ";
	const struct answer answer = {text, length};
	const char *found = strstr(text, mark);
	size_t digits;

	found = found ? found + strlen(mark) : "";
	digits = strspn(found, "0123456789.");
	if (!digits || digits >= sizeof(ret->text))
		return misread(&answer, -EBADMSG, err, "a version expected of ipmctl");
	memcpy(ret->text, found, digits);
	ret->text[digits] = '\0';
	return 0;
}

static void append(char *to, size_t size, const char *separator, const char *text, size_t length)
{
	size_t used = strlen(to);

	snprintf(to + used, size - used, "%s%.*s", used ? separator : "", (int)length, text);
}

static bool starts_with(const char *line, size_t length, const char *prefix)
{
	return length >= strlen(prefix) && !strncmp(line, prefix, strlen(prefix));
}

/* True for a line that is not of the table, its head or the question. */
static bool is_warning(const char *line, size_t length)
{
	return length && !memchr(line, '|', length) && line[0] != '=' &&
	       !starts_with(line, length, "The following configuration") &&
	       !starts_with(line, length, "Do you want to continue");
}

/* "Socket 0x0000: Error 127 - The amount of mapped memory was limited based on the SKU ..." */
static void note_limit(const char *line, size_t length, struct pm_dry_run *ret)
{
	static const char socket[] = "Socket ", limit[] = ": Error 127";
	const char *colon = memchr(line, ':', length);

	if (!colon || !starts_with(line, length, socket) ||
		!starts_with(colon, length - (size_t)(colon - line), limit))
		return;
	line += strlen(socket);
	append(ret->limited, sizeof(ret->limited), " ", line, (size_t)(colon - line));
}

static void read_warnings(const char *text, size_t length, struct pm_dry_run *ret)
{
	const char *end = text + length;

	while (text < end) {
		const char *newline = memchr(text, '\n', (size_t)(end - text));
		const char *stop = newline ? newline : end;

		while (text < stop && isspace((unsigned char)*text))
			text++;
		if (is_warning(text, (size_t)(stop - text))) {
			append(ret->warnings, sizeof(ret->warnings), "; ", text,
				(size_t)(stop - text));
			note_limit(text, (size_t)(stop - text), ret);
		}
		text = stop + 1;
	}
}

int pm_ipmctl_dry_run(const char *text, size_t length, struct pm_dry_run *ret, struct pm_err *err)
{
	static const char end[] = "Do you want to continue? [y/n] Error: Invalid data input.";
	const struct answer answer = {text, length};

	while (length && isspace((unsigned char)text[length - 1]))
		length--;
	if (length < strlen(end) || memcmp(text + length - strlen(end), end, strlen(end)))
		return misread(&answer, -EREMOTEIO, err, "ipmctl does not offer the goal");
	*ret = (struct pm_dry_run){0};
	read_warnings(text, length, ret);
	return 0;
}
