/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/history_table.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/numbers.h"

#define HEAD	 "slurm-pmem-history 1"
#define MODE_MAX 16
#define HEX	 "0123456789abcdef"

struct line {
	char key[PM_HISTORY_KEY + 1], mode[MODE_MAX];
	uint64_t runs, used_mib, last_s;
	uint64_t seconds[PM_HISTORY_SECONDS]; /* the oldest first */
	size_t n_seconds;
};

struct table {
	struct line lines[PM_HISTORY_LINES];
	size_t n;
};

/* --- reading --- */

static void read_seconds(struct line *line, const char *text)
{
	while (line->n_seconds < PM_HISTORY_SECONDS) {
		char *end;
		uint64_t seconds = strtoull(text, &end, 10);

		if (end == text || !seconds)
			return;
		line->seconds[line->n_seconds++] = seconds;
		if (*end != ',')
			return;
		text = end + 1;
	}
}

static void read_line(struct table *table, const char *text)
{
	struct line line = {0};
	char seconds[200];
	int n = sscanf(text,
		"%16[0-9a-f] %15[a-z] %" SCNu64 " %*u %" SCNu64 " %" SCNu64 " %199[-0-9,]",
		line.key, line.mode, &line.runs, &line.used_mib, &line.last_s, seconds);

	if (n != 6 || strlen(line.key) != PM_HISTORY_KEY || table->n == PM_HISTORY_LINES)
		return;
	read_seconds(&line, seconds);
	table->lines[table->n++] = line;
}

static void read_table(struct table *table, const char *text)
{
	const char *at = text ? text : "";

	if (strncmp(at, HEAD "\n", sizeof(HEAD)) != 0)
		return;
	for (at += sizeof(HEAD); *at; at += strcspn(at, "\n"), at += *at == '\n')
		read_line(table, at);
}

/* --- adding --- */

static size_t oldest(const struct table *table)
{
	size_t found = 0;

	for (size_t i = 1; i < table->n; i++)
		if (table->lines[i].last_s < table->lines[found].last_s)
			found = i;
	return found;
}

/* The line of the run's key and mode, added if there is none. */
static struct line *line_of(struct table *table, const struct pm_history_run *run)
{
	size_t at = table->n;

	for (size_t i = 0; i < table->n; i++)
		if (!strcmp(table->lines[i].key, run->key) &&
			!strcmp(table->lines[i].mode, run->mode))
			return &table->lines[i];
	if (at == PM_HISTORY_LINES)
		at = oldest(table);
	else
		table->n++;
	table->lines[at] = (struct line){0};
	snprintf(table->lines[at].key, sizeof(table->lines[at].key), "%s", run->key);
	snprintf(table->lines[at].mode, sizeof(table->lines[at].mode), "%s", run->mode);
	return &table->lines[at];
}

static void add_seconds(struct line *line, uint64_t seconds)
{
	if (line->n_seconds == PM_HISTORY_SECONDS)
		memmove(line->seconds, line->seconds + 1,
			--line->n_seconds * sizeof(line->seconds[0]));
	line->seconds[line->n_seconds++] = seconds;
	line->runs++;
}

static void add(struct table *table, const struct pm_history_run *run)
{
	struct line *line = line_of(table, run);

	if (run->seconds)
		add_seconds(line, run->seconds);
	if (run->used_mib > line->used_mib)
		line->used_mib = run->used_mib;
	if (run->end_s > line->last_s)
		line->last_s = run->end_s;
}

/* --- writing --- */

/* 0: there is none. */
static uint64_t median_of(const struct line *line)
{
	uint64_t sorted[PM_HISTORY_SECONDS] = {0};

	memcpy(sorted, line->seconds, line->n_seconds * sizeof(sorted[0]));
	return pm_numbers_median(sorted, line->n_seconds);
}

static void write_line(FILE *out, const struct line *line)
{
	fprintf(out, "%s %s %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %s", line->key,
		line->mode, line->runs, median_of(line), line->used_mib, line->last_s,
		line->n_seconds ? "" : "-");
	for (size_t i = 0; i < line->n_seconds; i++)
		fprintf(out, "%s%" PRIu64, i ? "," : "", line->seconds[i]);
	fputc('\n', out);
}

static char *write_table(const struct table *table)
{
	char *text = NULL;
	size_t length;
	FILE *out = open_memstream(&text, &length);

	if (!out)
		return NULL;
	fprintf(out, HEAD "\n");
	for (size_t i = 0; i < table->n; i++)
		write_line(out, &table->lines[i]);
	if (fclose(out)) {
		free(text);
		return NULL;
	}
	return text;
}

static bool is_sound(const struct pm_history_run *run)
{
	return strspn(run->key, HEX) == PM_HISTORY_KEY && *run->mode &&
	       strlen(run->mode) < MODE_MAX;
}

char *pm_history_table_add(const char *text, const struct pm_history_run *run)
{
	cleanup_free struct table *table = calloc(1, sizeof(*table));

	if (!table)
		return NULL;
	read_table(table, text);
	if (is_sound(run))
		add(table, run);
	return write_table(table);
}

int pm_history_table_each(const char *text, pm_history_visit *visit, void *context)
{
	cleanup_free struct table *table = calloc(1, sizeof(*table));

	if (!table)
		return -ENOMEM;
	read_table(table, text);
	for (size_t i = 0; i < table->n; i++) {
		const struct line *line = &table->lines[i];
		const struct pm_history_past past = {.key = line->key,
			.mode = line->mode,
			.run_s = median_of(line),
			.used_mib = line->used_mib};

		visit(context, &past);
	}
	return 0;
}
