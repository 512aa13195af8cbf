/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "controller/history_site.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/list.h"
#include "base/numbers.h"

#define HEAD	    "slurm-pmem-site-history 1"
#define THOUSANDTHS 1000

/* --- jobs --- */

/* The user's job with this key, added if there is none. NULL: no room. */
static struct pm_history_job *job_of(struct pm_history_site *site, const char *key)
{
	struct pm_history_job *job;

	for (size_t i = site->first; i < site->n; i++)
		if (!strcmp(site->jobs[i].key, key))
			return &site->jobs[i];
	if (site->n == PM_HISTORY_SITE_JOBS)
		return NULL;
	job = pm_list_next(&site->jobs, site->n, sizeof(*site->jobs));
	if (job) {
		snprintf(job->key, sizeof(job->key), "%s", key);
		site->n++;
	}
	return job;
}

static void take(void *context, const struct pm_history_past *past)
{
	const struct pm_mode_info *row = pm_mode_by_name(past->mode);
	struct pm_history_job *job = job_of(context, past->key);

	if (!job)
		return;
	if (past->used_mib > job->used_mib)
		job->used_mib = past->used_mib;
	if (row)
		job->run_s[row->mode] = past->run_s;
}

int pm_history_site_add(struct pm_history_site *site, const char *table)
{
	site->first = site->n;
	return pm_history_table_each(table, take, site);
}

void pm_history_site_done(struct pm_history_site *site)
{
	free(site->jobs);
	*site = (struct pm_history_site){0};
}

/* --- numbers of jobs --- */

/* Of some jobs, one each. */
struct numbers {
	uint64_t *of;
	size_t n;
};

static void add(struct numbers *numbers, uint64_t number)
{
	if (number)
		numbers->of[numbers->n++] = number;
}

/* Of sorted numbers: the one in the middle of part `i` of `parts`, the higher one of two. */
static uint64_t middle(const struct numbers *numbers, size_t i, size_t parts)
{
	size_t at = (2 * i + 1) * numbers->n / (2 * parts);

	return numbers->of[at < numbers->n ? at : numbers->n - 1];
}

/* Seconds; 0: it has not run. Of several modes the lower median. */
static uint64_t run_s(const struct pm_history_job *job)
{
	uint64_t of[PM_MODE_MAX];
	struct numbers numbers = {.of = of};

	for (size_t mode = 0; mode < PM_MODE_MAX; mode++)
		add(&numbers, job->run_s[mode]);
	return pm_numbers_median(of, numbers.n);
}

/* The job's run time in `other` by that in `mode`; 0: it has not run in both. */
static uint64_t ratio(const struct pm_history_job *job, enum pm_mode mode, enum pm_mode other)
{
	uint64_t one_s = job->run_s[mode], other_s = job->run_s[other], found;

	if (!one_s || !other_s)
		return 0;
	found = other_s * THOUSANDTHS / one_s;
	return found ? found : 1;
}

/* --- the text --- */

static void write_runs(const struct pm_history_site *site, struct numbers *numbers, FILE *out)
{
	numbers->n = 0;
	for (size_t i = 0; i < site->n; i++)
		add(numbers, run_s(&site->jobs[i]));
	pm_numbers_sort(numbers->of, numbers->n);
	if (numbers->n)
		fprintf(out, "jobs %zu %" PRIu64 "\n", numbers->n, middle(numbers, 0, 1));
}

static void write_used(const struct pm_history_site *site, struct numbers *numbers, FILE *out)
{
	numbers->n = 0;
	for (size_t i = 0; i < site->n; i++)
		add(numbers, site->jobs[i].used_mib);
	if (!numbers->n)
		return;
	pm_numbers_sort(numbers->of, numbers->n);
	fprintf(out, "used %zu", numbers->n);
	for (size_t i = 0; i < PM_HISTORY_SITE_PARTS; i++)
		fprintf(out, " %" PRIu64, middle(numbers, i, PM_HISTORY_SITE_PARTS));
	fputc('\n', out);
}

static void write_ratio(const struct pm_history_site *site, struct numbers *numbers,
	const struct pm_mode_info *mode, const struct pm_mode_info *other, FILE *out)
{
	numbers->n = 0;
	for (size_t i = 0; i < site->n; i++)
		add(numbers, ratio(&site->jobs[i], mode->mode, other->mode));
	pm_numbers_sort(numbers->of, numbers->n);
	if (numbers->n)
		fprintf(out, "ratio %s %s %zu %" PRIu64 "\n", mode->name, other->name, numbers->n,
			middle(numbers, 0, 1));
}

static void write_all(const struct pm_history_site *site, struct numbers *numbers, FILE *out)
{
	fprintf(out, HEAD "\n");
	write_runs(site, numbers, out);
	write_used(site, numbers, out);
	pm_mode_foreach(mode)
		pm_mode_foreach(other)
			if (mode != other)
				write_ratio(site, numbers, mode, other, out);
}

char *pm_history_site_text(const struct pm_history_site *site)
{
	cleanup_free uint64_t *of = calloc(site->n + 1, sizeof(*of));
	struct numbers numbers = {.of = of};
	char *text = NULL;
	size_t length;
	FILE *out = of ? open_memstream(&text, &length) : NULL;

	if (!out)
		return NULL;
	write_all(site, &numbers, out);
	if (fclose(out)) {
		free(text);
		return NULL;
	}
	return text;
}
