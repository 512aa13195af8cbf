/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "launcher/slurm_node.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/asprintf.h"
#include "base/cleanup.h"
#include "base/run.h"
#include "base/strv.h"
#include "base/units.h"

#define MIB		 (UINT64_C(1) << 20)
#define MAX_OUTPUT_BYTES (64 * 1024 * 1024) /* of a partition with thousands of nodes */

/* scontrol finds slurm.conf by the default, or by this one. */
static int ask(const struct pm_config *config, const char *what, const char *name, char **ret,
	struct pm_err *err)
{
	const char *conf = getenv("SLURM_CONF");
	cleanup_free char *variable = pm_asprintf("SLURM_CONF=%s", conf ? conf : "");
	const char *argv[] = {
		config->scontrol_path, "--local", "--oneliner", "show", what, name, NULL};
	const char *env[] = {
		"PATH=/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL=C", conf ? variable : NULL, NULL};
	const struct pm_program run = {.argv = argv,
		.env = env,
		.timeout_ms = config->tool_timeout_s * 1000,
		.dies = true,
		.max_output_bytes = MAX_OUTPUT_BYTES};
	cleanup_with(pm_output_done) struct pm_output output = {0};
	cleanup_free char *said = NULL;
	int rc = variable ? pm_run(&run, &output, err) : pm_err_nomem(err);

	if (rc)
		return rc;
	if (output.status) {
		said = pm_run_describe(&run, &output);
		return pm_err_set(err, -EINVAL, "%s", said ? said : "scontrol failed");
	}
	*ret = pm_steal(output.out);
	return 0;
}

/* The value of " KEY=VALUE " in a line of scontrol; NULL: it is not there. malloc'ed. */
static char *field(const char *line, const char *key)
{
	cleanup_free char *wanted = pm_asprintf(" %s=", key);
	const char *at = wanted ? strstr(line, wanted) : NULL;

	if (!at)
		return NULL;
	at += strlen(wanted);
	return strndup(at, strcspn(at, " \n"));
}

static unsigned count(const char *line, const char *key)
{
	cleanup_free char *text = field(line, key);
	uint64_t number;

	return text && !pm_parse_u64(text, &number) && number <= UINT32_MAX ? (unsigned)number : 0;
}

/* Persistent memory of a socket; 0: pmem.conf does not have it. */
static uint64_t pmem_of(const struct pm_config *config, uint64_t dram_bytes, unsigned sockets)
{
	uint64_t flat = config->usable_memory_bytes[PM_MODE_FLAT];

	return flat > dram_bytes ? (flat - dram_bytes) / sockets : config->usable_pmem_bytes;
}

static int words_of(const struct pm_config *config, const char *node, const char *line, char **ret,
	struct pm_err *err)
{
	unsigned sockets = count(line, "Sockets"), cores = count(line, "CoresPerSocket");
	unsigned threads = count(line, "ThreadsPerCore");
	uint64_t dram = config->usable_memory_bytes[PM_MODE_APPDIRECT];
	uint64_t pmem = sockets ? pmem_of(config, dram, sockets) : 0;

	if (!sockets || !cores || !threads)
		return pm_err_set(err, -EINVAL,
			"scontrol shows no Sockets, CoresPerSocket and ThreadsPerCore of '%.100s'",
			node);
	if (!dram)
		return pm_err_set(err, -ENODATA,
			"pmem.conf has no UsableMemory=appdirect:SIZE for '%.100s', the size of "
			"its "
			"DRAM; write --machine=%ux%ux%u,DRAM+PMEM",
			node, sockets, cores, threads);
	if (!pmem)
		return pm_err_set(err, -ENODATA,
			"pmem.conf has neither UsableMemory=flat:SIZE nor UsablePmem for '%.100s', "
			"the size of its persistent memory; write --machine=%ux%ux%u,DRAM+PMEM",
			node, sockets, cores, threads);
	*ret = pm_asprintf("%ux%ux%u,%" PRIu64 "M+%" PRIu64 "M", sockets, cores, threads,
		dram / sockets / MIB, pmem / MIB);
	return *ret ? 0 : pm_err_nomem(err);
}

/* A line begins with "NodeName=". */
static int words_of_line(
	const char *config_path, const char *line, char **ret, char **ret_node, struct pm_err *err)
{
	static const char first[] = "NodeName=";
	const char *name = line + strlen(first);
	cleanup_with(pm_config_done) struct pm_config config = {0};
	cleanup_free char *node = NULL;
	int rc;

	if (strncmp(line, first, strlen(first)) != 0)
		return pm_err_set(err, -EINVAL, "scontrol shows no node: '%.100s'", line);
	node = strndup(name, strcspn(name, " "));
	if (!node)
		return pm_err_nomem(err);
	rc = pm_config_load_for(config_path, node, &config, err);
	if (!rc)
		rc = words_of(&config, node, line, ret, err);
	if (!rc)
		*ret_node = pm_steal(node);
	return rc;
}

/* The words of all lines of `text`, which must be the same. */
static int words_of_all(const char *config_path, const char *text, char **ret, struct pm_err *err)
{
	cleanup_with(pm_strv_cleanup) char **lines = pm_strv_split(text, "\n");
	cleanup_free char *words = NULL, *first = NULL;

	for (char **line = lines; line && *line; line++) {
		cleanup_free char *others = NULL, *node = NULL;
		int rc = words_of_line(config_path, *line, &others, &node, err);

		if (rc)
			return rc;
		if (!words) {
			words = pm_steal(others);
			first = pm_steal(node);
		} else if (strcmp(words, others) != 0) {
			return pm_err_set(err, -EINVAL,
				"'%.100s' is %s and '%.100s' is %s; name one of them by --node",
				first, words, node, others);
		}
	}
	if (!words)
		return pm_err_set(err, -EINVAL, "scontrol shows no node");
	*ret = pm_steal(words);
	return 0;
}

int pm_slurm_node_words(const char *config_path, const struct pm_config *config, const char *node,
	char **ret, struct pm_err *err)
{
	cleanup_free char *text = NULL;
	int rc = ask(config, "node", node, &text, err);

	return rc ? rc : words_of_all(config_path, text, ret, err);
}

int pm_slurm_partition_words(const char *config_path, const struct pm_config *config,
	const char *partition, char **ret, struct pm_err *err)
{
	cleanup_free char *text = NULL, *nodes = NULL;
	int rc = ask(config, "partition", partition, &text, err);

	if (rc)
		return rc;
	nodes = field(text, "Nodes");
	if (!nodes || !*nodes || !strcmp(nodes, "(null)"))
		return pm_err_set(err, -EINVAL, "partition '%.100s' has no nodes", partition);
	return pm_slurm_node_words(config_path, config, nodes, ret, err);
}
