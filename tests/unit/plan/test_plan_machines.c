/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Plans for recorded machines against what people have read and found right. A file NAME.plans
 * beside NAME.xml has comments, questions (lines that start with "$ ") and the answers below them.
 * With PM_RECORD=1 in the environment the answers are written anew: read what git shows of them.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <fcntl.h>
#include <linux/mempolicy.h>

#include "base/cleanup.h"
#include "base/cpulist.h"
#include "base/file.h"
#include "base/strv.h"
#include "base/units.h"
#include "plan/plan.h"
#include "tests/unit/tap.h"

#define FOLDER	  "tests/fixtures/topology"
#define MAX_BYTES (1 << 20)

static struct {
	struct pm_topology_source source;
	struct pm_plan_request request;
	cpu_set_t cpus, nodes;
	struct pm_memory_hint *hints;
	struct pm_pmem_dir pmem_dirs[8];
} question;

static const char *text_of(const cpu_set_t *set)
{
	static char texts[8][400];
	static unsigned next;
	char *text = texts[next++ % 8];
	cleanup_free char *list = pm_cpulist_format(set);

	snprintf(text, sizeof(texts[0]), "%s", *list ? list : "-");
	return text;
}

/* --- questions --- */

static bool set_number(const char *value, unsigned *field)
{
	uint64_t number;

	if (pm_parse_u64(value, &number))
		return false;
	*field = (unsigned)number;
	return true;
}

static bool set_cpus(const char *value)
{
	question.source.cpus = &question.cpus;
	return !pm_cpulist_parse(value, &question.cpus);
}

static bool set_nodes(const char *value)
{
	question.source.nodes = &question.nodes;
	return !pm_cpulist_parse(value, &question.nodes);
}

static bool set_hints(const char *value)
{
	free(question.hints);
	question.hints = NULL;
	if (pm_memory_hints_parse(value, &question.hints, &question.source.n_hints, NULL))
		return false;
	question.source.hints = question.hints;
	return true;
}

/* The NUMA nodes of PM_DIR0, PM_DIR1, ... */
static bool set_pmem_dirs(const char *value)
{
	cleanup_with(pm_strv_cleanup) char **nodes = pm_strv_split(value, ",");
	unsigned n = 0;

	for (; nodes[n]; n++)
		question.pmem_dirs[n].node = atoi(nodes[n]);
	question.request.pmem_dirs = question.pmem_dirs;
	question.request.n_pmem_dirs = n;
	return n > 0;
}

static bool set_option(const char *name, const char *value)
{
	struct pm_plan_request *r = &question.request;

	return !strcmp(name, "-n")		 ? set_number(value, &r->ranks)
	       : !strcmp(name, "--threads")	 ? set_number(value, &r->threads)
	       : !strcmp(name, "--helpers")	 ? set_number(value, &r->helpers)
	       : !strcmp(name, "--percent")	 ? set_number(value, &r->reserve_percent)
	       : !strcmp(name, "--dram")	 ? !pm_parse_size(value, &r->dram_bytes)
	       : !strcmp(name, "--reserve")	 ? !pm_parse_size(value, &r->reserve_bytes)
	       : !strcmp(name, "--limit")	 ? !pm_parse_size(value, &r->memory_limit_bytes)
	       : !strcmp(name, "--temporary")	 ? !pm_parse_size(value, &r->spaces.temporary)
	       : !strcmp(name, "--bind")	 ? !pm_bind_parse(value, &r->bind)
	       : !strcmp(name, "--smt")		 ? !pm_smt_parse(value, &r->smt)
	       : !strcmp(name, "--policy")	 ? !pm_mem_policy_parse(value, &r->policy)
	       : !strcmp(name, "--distribution") ? !pm_distribution_parse(value, &r->distribution)
	       : !strcmp(name, "--remote")	 ? (r->allow_remote = true)
	       : !strcmp(name, "--cpus")	 ? set_cpus(value)
	       : !strcmp(name, "--nodes")	 ? set_nodes(value)
	       : !strcmp(name, "--hints")	 ? set_hints(value)
	       : !strcmp(name, "--places")	 ? set_pmem_dirs(value)
						 : false;
}

/* --- answers --- */

static void answer_node(FILE *out, const struct pm_memory_node *node)
{
	fprintf(out, "  node %d: %s by %s, %lluM, near processors %s", node->node,
		pm_memory_kind_name(node->kind), pm_memory_evidence_name(node->evidence),
		(unsigned long long)(node->bytes >> 20), text_of(&node->cpus));
	if (node->read_mb_s)
		fprintf(out, ", %u/%u MB/s, %u/%u ns", node->read_mb_s, node->write_mb_s,
			node->read_latency_ns, node->write_latency_ns);
	if (node->cache_bytes)
		fprintf(out, ", behind a cache of %lluM",
			(unsigned long long)(node->cache_bytes >> 20));
	fprintf(out, "\n");
}

static int number_of(const struct pm_topology *t, int index)
{
	return index < 0 ? -1 : t->nodes[index].node;
}

static void answer_machine(FILE *out, const struct pm_topology *t)
{
	for (unsigned i = 0; i < t->n_domains; i++) {
		const struct pm_domain *domain = &t->domains[i];
		cpu_set_t cpus;

		CPU_ZERO(&cpus);
		for (unsigned c = domain->first_core; c < domain->first_core + domain->n_cores; c++)
			for (unsigned k = 0; k < t->cores[c].n_cpus; k++)
				CPU_SET(t->cores[c].cpus[k], &cpus);
		fprintf(out,
			"  socket %d: %u cores, processors %s, main memory %d, slow memory %d, "
			"local "
			"%s\n",
			t->packages[domain->package].number, domain->n_cores, text_of(&cpus),
			number_of(t, domain->dram), number_of(t, domain->pmem),
			text_of(&domain->local));
	}
	for (unsigned i = 0; i < t->n_nodes; i++)
		answer_node(out, &t->nodes[i]);
}

static const char *mode_name(int mode)
{
	static const char *const names[] = {"default", "preferred", "bind", "interleave", "local",
		"preferred-many", "weighted"};

	return names[mode];
}

static unsigned long long mib(uint64_t bytes)
{
	return bytes >> 20;
}

static void answer_rank(FILE *out, const struct pm_topology *t, const struct pm_plan_rank *rank)
{
	char socket[24], memory[60], slow[60], spaces[80], pages[60];

	snprintf(socket, sizeof(socket), "%d%s", t->packages[rank->package].number,
		rank->spans_packages ? "+" : "");
	snprintf(memory, sizeof(memory), "%s: %lluM", text_of(&rank->dram_nodes),
		mib(rank->dram_bytes));
	snprintf(
		slow, sizeof(slow), "%s: %lluM", text_of(&rank->pmem_nodes), mib(rank->pmem_bytes));
	snprintf(spaces, sizeof(spaces), "%llu+%llu+%llu+%llu", mib(rank->spaces.metadata),
		mib(rank->spaces.temporary), mib(rank->spaces.migration), mib(rank->spaces.free));
	snprintf(pages, sizeof(pages), "%s %s", mode_name(rank->mode), text_of(&rank->nodes));
	fprintf(out, "  %-4u %-6s %-13s %-9s %-7u %-12s %-12s %-19s %s", rank->rank, socket,
		text_of(&rank->cpus), text_of(&rank->helpers), rank->threads, memory, slow, spaces,
		pages);
	if (rank->pmem_dir >= 0)
		fprintf(out, "  PM_DIR%d", rank->pmem_dir);
	fprintf(out, "\n");
}

static void answer_plan(FILE *out, const struct pm_topology *t, const struct pm_plan *plan)
{
	fprintf(out, "  %-4s %-6s %-13s %-9s %-7s %-12s %-12s %-19s %s\n", "rank", "socket", "cpus",
		"helpers", "threads", "DRAM", "PMem", "meta+temp+migr+free", "pages");
	for (unsigned r = 0; r < plan->n_ranks; r++)
		answer_rank(out, t, &plan->ranks[r]);
	for (char **note = plan->notes; note && *note; note++)
		fprintf(out, "  note: %s\n", *note);
}

static void answer(FILE *out, const char *xml, bool is_machine)
{
	cleanup_with(pm_topology_cleanup) struct pm_topology *topology = NULL;
	cleanup_with(pm_plan_cleanup) struct pm_plan *plan = NULL;
	struct pm_err err = {0};

	question.source.xml = xml;
	if (pm_topology_load(&topology, &question.source, &err)) {
		fprintf(out, "  refused: %s\n", err.text);
		return;
	}
	if (is_machine)
		answer_machine(out, topology);
	else if (pm_plan_make(&plan, topology, &question.request, &err))
		fprintf(out, "  refused: %s\n", err.text);
	else
		answer_plan(out, topology, plan);
}

static void ask(FILE *out, const char *xml, const char *line)
{
	cleanup_with(pm_strv_cleanup) char **words = pm_strv_split(line + 2, " ");
	bool is_machine = words[0] && !strcmp(words[0], "machine");

	memset(&question.source, 0, sizeof(question.source));
	memset(&question.request, 0, sizeof(question.request));
	for (size_t i = 1; words[0] && words[i]; i += 2) {
		if (!words[i + 1] || !set_option(words[i], words[i + 1])) {
			ok(false, "%s: question '%s'", xml, line);
			return;
		}
	}
	answer(out, xml, is_machine);
}

/* --- files --- */

/* The text of the file with the answers of the present code. */
static char *answer_all(const char *xml, const char *script)
{
	cleanup_with(pm_strv_cleanup) char **lines = pm_strv_split(script, "\n");
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	for (size_t i = 0; lines[i]; i++) {
		if (lines[i][0] == ' ')
			continue;
		if (i && lines[i - 1][0] != '#')
			fputc('\n', out);
		fprintf(out, "%s\n", lines[i]);
		if (lines[i][0] == '$')
			ask(out, xml, lines[i]);
	}
	fclose(out);
	return text;
}

static void compare(const char *name, const char *got, const char *expected)
{
	unsigned line = 1;
	size_t at = 0;

	for (; got[at] && got[at] == expected[at]; at++)
		line += got[at] == '\n';
	if (ok(!strcmp(got, expected), "%s: plans as expected", name))
		return;
	while (at && got[at - 1] != '\n')
		at--;
	printf("# line %u is\n# %.*s\n# expected\n# %.*s\n", line, (int)strcspn(got + at, "\n"),
		got + at, (int)strcspn(expected + at, "\n"), expected + at);
}

static void test_machine(const char *file)
{
	char path[300], xml[300];
	cleanup_free char *expected = NULL, *got = NULL;

	snprintf(path, sizeof(path), FOLDER "/%s", file);
	snprintf(xml, sizeof(xml), "%.*s.xml", (int)(strlen(path) - strlen(".plans")), path);
	if (pm_file_read(AT_FDCWD, path, MAX_BYTES, &expected, NULL, NULL)) {
		ok(false, "%s can be read", path);
		return;
	}
	got = answer_all(xml, expected);
	if (getenv("PM_RECORD"))
		pm_file_write(path, 0644, got, strlen(got), NULL);
	else
		compare(file, got, expected);
}

static int is_plans(const struct dirent *entry)
{
	const char *end = strrchr(entry->d_name, '.');

	return end && !strcmp(end, ".plans");
}

int main(void)
{
	struct dirent **entries;
	int n = scandir(FOLDER, &entries, is_plans, alphasort);

	ok(n >= 12, "there are at least 12 machines");
	for (int i = 0; i < n; i++) {
		test_machine(entries[i]->d_name);
		free(entries[i]);
	}
	free(entries);
	free(question.hints);
	return tap_done();
}
