/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "agent/metrics.h"

#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"

static const struct row {
	const char *name, *type, *labels, *help;
} rows[PM_METRICS] = {
#define PM_METRIC(NAME, name, type, labels, help) {name, type, labels, help},
#include "agent/metrics.def"
};

/* {"module": "0x0011", "socket": "0"} */
static json_object *label_set(const char *names, const char *const *values)
{
	json_object *labels = json_object_new_object();

	for (size_t length; *names; names += length + (names[length] == ',')) {
		char name[32];

		length = strcspn(names, ",");
		snprintf(name, sizeof(name), "%.*s", (int)length, names);
		pm_json_add_string(labels, name, *values++);
	}
	return labels;
}

/* Numbers as both forms print them: counts and times in full, fractions without noise. */
static json_object *number(double value)
{
	char text[32];

	snprintf(text, sizeof(text), "%.15g", value);
	return json_object_new_double_s(value, text);
}

void pm_metrics_add(
	struct pm_metrics *metrics, enum pm_metric metric, double value, const char *const *labels)
{
	json_object *sample;

	if (!metrics->samples[metric])
		metrics->samples[metric] = json_object_new_array();
	sample = pm_json_append_object(metrics->samples[metric]);
	json_object_object_add(sample, "labels", label_set(rows[metric].labels, labels));
	json_object_object_add(sample, "value", number(value));
}

void pm_metrics_note_part(
	struct pm_metrics *metrics, const char *part, int rc, const struct pm_err *err)
{
	pm_metric(metrics, READ_FAILED, rc != 0, part);
	if (rc)
		pm_warn(&metrics->agent->op, "%s: %s", part, err->text);
}

/* --- the text for Prometheus --- */

/* Its three escapes in a label's value: backslash, quote and newline. */
static void print_escaped(FILE *file, const char *text)
{
	for (; *text; text++) {
		if (*text == '\n')
			fputs("\\n", file);
		else
			fprintf(file, "%s%c", *text == '\\' || *text == '"' ? "\\" : "", *text);
	}
}

static void print_labels(FILE *file, json_object *labels)
{
	char before = '{';

	json_object_object_foreach(labels, name, value)
	{
		fprintf(file, "%c%s=\"", before, name);
		print_escaped(file, json_object_get_string(value));
		putc('"', file);
		before = ',';
	}
	if (before == ',')
		putc('}', file);
}

static void print_metric(FILE *file, const struct row *row, const json_object *samples)
{
	fprintf(file, "# HELP %s %s\n# TYPE %s %s\n", row->name, row->help, row->name, row->type);
	for (size_t i = 0; i < json_object_array_length(samples); i++) {
		json_object *sample = json_object_array_get_idx(samples, i);

		fputs(row->name, file);
		print_labels(file, json_object_object_get(sample, "labels"));
		fprintf(file, " %s\n",
			json_object_get_string(json_object_object_get(sample, "value")));
	}
}

char *pm_metrics_text(const struct pm_metrics *metrics)
{
	char *text = NULL;
	size_t length;
	FILE *file = open_memstream(&text, &length);

	for (unsigned i = 0; file && i < PM_METRICS; i++)
		if (metrics->samples[i])
			print_metric(file, &rows[i], metrics->samples[i]);
	if (file && !fclose(file))
		return text;
	free(text);
	return NULL;
}

/* --- JSON --- */

json_object *pm_metrics_json(const struct pm_metrics *metrics)
{
	json_object *root = json_object_new_object(), *list;

	pm_json_add_u64(root, "version", 1);
	list = pm_json_add_array(root, "metrics");
	for (unsigned i = 0; i < PM_METRICS; i++) {
		json_object *one;

		if (!metrics->samples[i])
			continue;
		one = pm_json_append_object(list);
		pm_json_add_string(one, "name", rows[i].name);
		pm_json_add_string(one, "type", rows[i].type);
		pm_json_add_string(one, "help", rows[i].help);
		json_object_object_add(one, "samples", json_object_get(metrics->samples[i]));
	}
	return root;
}

void pm_metrics_done(struct pm_metrics *metrics)
{
	for (unsigned i = 0; i < PM_METRICS; i++)
		json_object_put(metrics->samples[i]);
}
