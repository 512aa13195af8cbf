/* SPDX-License-Identifier: Apache-2.0 */
#include "plan/machine_words.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/suggest.h"
#include "base/units.h"

#define SOCKETS_MAX 64
#define CPUS_MAX    1023 /* CPU numbers are below 1024 */

struct words {
	unsigned sockets, cores, threads;
	uint64_t dram_bytes, pmem_bytes;
};

static int refuse(const char *text, struct pm_err *err)
{
	return pm_err_set(err, -EINVAL,
		"'%.100s': write SOCKETSxCORES,DRAM+PMEM of each socket, as 2x24,96G+768G", text);
}

static int read_count(char **at, unsigned most, unsigned *ret)
{
	char *word = strsep(at, "x");
	uint64_t number;

	if (!word || pm_parse_u64(word, &number) || !number || number > most)
		return -EINVAL;
	*ret = (unsigned)number;
	return 0;
}

static int read_cpus(char *text, struct words *words)
{
	int rc = read_count(&text, SOCKETS_MAX, &words->sockets);

	if (!rc)
		rc = read_count(&text, CPUS_MAX, &words->cores);
	words->threads = 1;
	if (!rc && text)
		rc = read_count(&text, PM_CORE_CPUS_MAX, &words->threads);
	return rc || text || words->sockets * words->cores * words->threads > CPUS_MAX ? -EINVAL
										       : 0;
}

static int read_size(const char *text, uint64_t *ret, struct pm_err *err)
{
	char example[PM_SIZE_TEXT];

	if (!pm_parse_size(text, ret) && *ret)
		return 0;
	return pm_err_set(err, -EINVAL,
		"'%.64s' is not a size; write a whole number and K, M, G or T, as %s", text,
		pm_suggest_size(text, example) ? example : "96G");
}

static int read_memory(char *text, struct words *words, struct pm_err *err)
{
	char *dram = strsep(&text, "+");
	int rc = read_size(dram, &words->dram_bytes, err);

	return !rc && text ? read_size(text, &words->pmem_bytes, err) : rc;
}

static int read_words(const char *text, struct words *ret, struct pm_err *err)
{
	cleanup_free char *copy = strdup(text);
	char *memory = copy, *cpus = copy ? strsep(&memory, ",") : NULL;

	if (!copy)
		return pm_err_nomem(err);
	if (!memory || read_cpus(cpus, ret))
		return refuse(text, err);
	return read_memory(memory, ret, err);
}

/*
 * In hwloc's form, hwloc(7), "Synthetic topologies". The numbers of all memory nodes stand with the
 * first of a package: its DRAM's and its persistent memory's in turn.
 */
static char *synthetic_of(const struct words *words)
{
	char *text = NULL;
	size_t length;
	FILE *out = open_memstream(&text, &length);

	if (!out)
		return NULL;
	fprintf(out, "pack:%u [numa(memory=%" PRIu64 " indexes=", words->sockets,
		words->dram_bytes);
	for (unsigned i = 0; i < words->sockets; i++) {
		fprintf(out, "%s%u", i ? "," : "", i);
		if (words->pmem_bytes)
			fprintf(out, ",%u", words->sockets + i);
	}
	fprintf(out, ")]");
	if (words->pmem_bytes)
		fprintf(out, " [numa(memory=%" PRIu64 ")]", words->pmem_bytes);
	fprintf(out, " core:%u pu:%u", words->cores, words->threads);
	if (fclose(out)) {
		free(text);
		return NULL;
	}
	return text;
}

static struct pm_memory_hint *hints_of(const struct words *words)
{
	struct pm_memory_hint *hints = calloc(words->sockets, sizeof(*hints));

	for (unsigned i = 0; hints && i < words->sockets; i++)
		hints[i] = (struct pm_memory_hint){
			.node = (int)(words->sockets + i), .kind = PM_MEMORY_PMEM, .package = -1};
	return hints;
}

int pm_machine_words_read(const char *text, struct pm_machine_words *ret, struct pm_err *err)
{
	struct words words = {0};
	int rc = read_words(text, &words, err);

	if (rc)
		return rc;
	*ret = (struct pm_machine_words){.synthetic = synthetic_of(&words),
		.hints = hints_of(&words),
		.n_hints = words.pmem_bytes ? words.sockets : 0};
	if (ret->synthetic && ret->hints)
		return 0;
	pm_machine_words_done(ret);
	return pm_err_nomem(err);
}

void pm_machine_words_done(struct pm_machine_words *words)
{
	free(words->synthetic);
	free(words->hints);
	*words = (struct pm_machine_words){0};
}
