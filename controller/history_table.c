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
#define LIST_MAX 200

#define ODD_FACTOR 1.5 /* memory of an odd run: more than that of all others */
#define ODD_OF	   3   /* runs, at least */

/* The oldest first. */
struct list {
	uint64_t of[PM_HISTORY_RUNS];
	size_t n;
};

struct line {
	char key[PM_HISTORY_KEY + 1], mode[MODE_MAX];
	uint64_t runs, last_s;
	struct list seconds, mib;
	struct list jobs; /* of `mib`, but for a first value of an earlier release */
};

struct table {
	struct line lines[PM_HISTORY_LINES];
	size_t n;
};

/* --- lists --- */

static void append(struct list *list, size_t n_max, uint64_t number)
{
	if (list->n == n_max)
		memmove(list->of, list->of + 1, --list->n * sizeof(list->of[0]));
	list->of[list->n++] = number;
}

/* --- reading --- */

static void read_list(struct list *list, size_t n_max, const char *text)
{
	while (list->n < n_max) {
		char *end;
		uint64_t number = strtoull(text, &end, 10);

		if (end == text || !number)
			return;
		list->of[list->n++] = number;
		if (*end != ',')
			return;
		text = end + 1;
	}
}

/* "%*1[ ]" is a blank within the line. Tables of earlier releases have USED_MIB alone. */
static void read_line(struct table *table, const char *text)
{
	struct line line = {0};
	char seconds[LIST_MAX], mib[LIST_MAX], jobs[LIST_MAX];
	uint64_t used_mib;
	int n = sscanf(text,
		"%16[0-9a-f] %15[a-z] %" SCNu64 " %*u %" SCNu64 " %" SCNu64
		" %199[-0-9,]%*1[ ]%199[0-9,]%*1[ ]%199[0-9,]",
		line.key, line.mode, &line.runs, &used_mib, &line.last_s, seconds, mib, jobs);

	if (n < 6 || strlen(line.key) != PM_HISTORY_KEY || table->n == PM_HISTORY_LINES)
		return;
	read_list(&line.seconds, PM_HISTORY_RUNS, seconds);
	if (n == 8) {
		read_list(&line.mib, PM_HISTORY_MEMORIES, mib);
		read_list(&line.jobs, line.mib.n, jobs);
	} else if (used_mib) {
		append(&line.mib, PM_HISTORY_MEMORIES, used_mib);
	}
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

/*
 * Of the nodes of a job the one that used most counts. They are not told one after the other where
 * tasks of an array run side by side.
 */
static void add_memory(struct line *line, const struct pm_history_run *run)
{
	uint64_t *mib = line->mib.of + line->mib.n - line->jobs.n;

	for (size_t i = 0; i < line->jobs.n; i++) {
		if (line->jobs.of[i] == run->job) {
			mib[i] = run->used_mib > mib[i] ? run->used_mib : mib[i];
			return;
		}
	}
	append(&line->mib, PM_HISTORY_MEMORIES, run->used_mib);
	append(&line->jobs, PM_HISTORY_MEMORIES, run->job);
}

static void add(struct table *table, const struct pm_history_run *run)
{
	struct line *line = line_of(table, run);

	if (run->seconds) {
		append(&line->seconds, PM_HISTORY_RUNS, run->seconds);
		line->runs++;
	}
	if (run->used_mib)
		add_memory(line, run);
	if (run->end_s > line->last_s)
		line->last_s = run->end_s;
}

/* --- numbers of runs --- */

/* 0: there is none. */
static uint64_t median_of(const struct list *list)
{
	struct list sorted = *list;

	return pm_numbers_median(sorted.of, sorted.n);
}

/* 0: not known. */
static uint64_t memory_of(const struct list *mib)
{
	struct list sorted = *mib;
	uint64_t most, next;

	pm_numbers_sort(sorted.of, sorted.n);
	most = sorted.n ? sorted.of[sorted.n - 1] : 0;
	if (sorted.n < ODD_OF || mib->of[mib->n - 1] == most)
		return most;
	next = sorted.of[sorted.n - 2];
	return (double)most > ODD_FACTOR * (double)next ? next : most;
}

/* --- writing --- */

/* "1,2,3"; "-": none. */
static void write_list(FILE *out, const struct list *list)
{
	for (size_t i = 0; i < list->n; i++)
		fprintf(out, "%s%" PRIu64, i ? "," : "", list->of[i]);
	if (!list->n)
		fputc('-', out);
}

static void write_line(FILE *out, const struct line *line)
{
	fprintf(out, "%s %s %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " ", line->key,
		line->mode, line->runs, median_of(&line->seconds), memory_of(&line->mib),
		line->last_s);
	write_list(out, &line->seconds);
	if (line->jobs.n) {
		fputc(' ', out);
		write_list(out, &line->mib);
		fputc(' ', out);
		write_list(out, &line->jobs);
	}
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
			.run_s = median_of(&line->seconds),
			.used_mib = memory_of(&line->mib)};

		visit(context, &past);
	}
	return 0;
}
