/* SPDX-License-Identifier: Apache-2.0 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "controller/memory_sizes.h"
#include "tests/unit/scratch.h"
#include "tests/unit/tap.h"

/* slurmctld's answer, in place of the library's function. */
static node_info_t nodes[3];

int slurm_load_node(time_t update, node_info_msg_t **ret, uint16_t flags)
{
	(void)update;
	(void)flags;
	*ret = calloc(1, sizeof(**ret));
	(*ret)->record_count = 3;
	(*ret)->node_array = nodes;
	return 0;
}

void slurm_free_node_info_msg(node_info_msg_t *msg)
{
	free(msg);
}

static void test_percent(void)
{
	static const struct {
		const char *parameters;
		int percent;
	} rows[] = {
		{NULL, 100},
		{"", 100},
		{"enable_configless", 100},
		{"node_reg_mem_percent=5", 5},
		{"enable_configless,node_reg_mem_percent=5,idle_on_node_suspend", 5},
		{"node_reg_mem_percent=", 100},
		{"node_reg_mem_percent=x", 100},
		{"node_reg_mem_percent=0", 0},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		is_number((long long)pm_reg_mem_percent(rows[i].parameters), rows[i].percent,
			rows[i].parameters ? rows[i].parameters : "(none)");
}

/* What is said of a pmem.conf, with stderr in a file. */
static char *said_of(const char *lines, char *parameters)
{
	cleanup_with(pm_config_done) struct pm_config config = {0};
	const struct pm_cluster cluster = {.slurmctld_params = parameters};
	const char *path = scratch_file("pmem.conf", lines);
	struct pm_err err = {0};
	char *text = NULL;
	int keep = dup(2), file;

	is_number(pm_config_load(path, &config, &err), 0, err.text);
	file = open(scratch_path("said"), O_WRONLY | O_CREAT | O_TRUNC, 0600);
	(void)dup2(file, 2);
	pm_warn_of_memory_sizes(&cluster, &config);
	fflush(stderr);
	(void)dup2(keep, 2);
	close(file);
	close(keep);
	is_number(pm_file_read(AT_FDCWD, scratch_path("said"), 10000, &text, NULL, NULL), 0, lines);
	return text;
}

static void is_said(const char *lines, char *parameters, const char *wanted)
{
	cleanup_free char *text = said_of(lines, parameters);

	if (*wanted)
		ok(strstr(text, wanted) != NULL, "%s", wanted);
	else
		is_text(text, "", "nothing is said");
}

int main(void)
{
	nodes[0] = (node_info_t){.name = "login", .real_memory = 100};
	nodes[1] = (node_info_t){
		.name = "n1", .real_memory = 4000, .features = "pm_memory,pm_appdirect"};
	nodes[2] = (node_info_t){
		.name = "n2", .real_memory = 4000, .features = "pm_memory,pm_appdirect"};
	test_percent();
	is_said("UsableMemory=none\n", NULL, "");
	is_said("UsableMemory=memory:4000M,appdirect:4000M\n", NULL, "");
	is_said("UsableMemory=memory:4000M,appdirect:180M\n", "node_reg_mem_percent=4", "");
	is_said("UsableMemory=memory:4000M,appdirect:180M\n", "node_reg_mem_percent=5",
		"lets n1 register with 200M or more, but it has about 180M in mode appdirect");
	is_said("UsableMemory=memory:4000M,appdirect:180M\n", NULL,
		"node_reg_mem_percent=100 lets");
	is_said("UsableMemory=memory:4001M,appdirect:4000M\n", NULL,
		"RealMemory=4000 of n1 is below UsableMemory=memory:4001M");
	/* modes that the site does not offer, or that no node can have */
	is_said("UsableMemory=memory:4000M,appdirect:180M\nModes=memory\n", NULL, "");
	is_said("UsableMemory=memory:4000M,mixed:9000M\n", NULL, "");
	return tap_done();
}
