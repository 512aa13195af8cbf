/* SPDX-License-Identifier: Apache-2.0 */
/* Applies plans to processes and reads back what the kernel says of them, on any machine. */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/mempolicy.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cpulist.h"
#include "plan/apply/apply.h"
#include "tests/unit/tap.h"

#define NO_NODE 1000 /* no test machine has this node */

static struct pm_plan_rank line;
static struct pm_plan plan = {.ranks = &line, .n_ranks = 1};

/* The first CPU and node that this process may use. */
static void new_line(int mode)
{
	cpu_set_t mine;
	int cpu = 0;

	memset(&line, 0, sizeof(line));
	sched_getaffinity(0, sizeof(mine), &mine);
	while (!CPU_ISSET(cpu, &mine))
		cpu++;
	CPU_SET(cpu, &line.cpus);
	line.mode = mode;
	if (mode != MPOL_DEFAULT)
		CPU_SET(0, &line.nodes);
}

static int policy(cpu_set_t *ret_nodes)
{
	int mode = -1;

	CPU_ZERO(ret_nodes);
	syscall(SYS_get_mempolicy, &mode, ret_nodes->__bits, CPU_SETSIZE, NULL, 0);
	return mode;
}

/* Runs a check in a child, so that the parent keeps its binding. */
static bool in_child(bool (*check)(void))
{
	int status = 0;
	pid_t child = fork();

	if (!child)
		_exit(check() ? 0 : 1);
	waitpid(child, &status, 0);
	return WIFEXITED(status) && !WEXITSTATUS(status);
}

static bool has_cpus(const cpu_set_t *expected)
{
	cpu_set_t cpus;

	return !sched_getaffinity(0, sizeof(cpus), &cpus) && CPU_EQUAL(&cpus, expected);
}

static bool binds_both(void)
{
	cpu_set_t nodes;

	return !pm_plan_apply(&plan, 0, PM_APPLY_ALL, NULL) && has_cpus(&line.cpus) &&
	       policy(&nodes) == line.mode && CPU_EQUAL(&nodes, &line.nodes);
}

static bool binds_cpus_alone(void)
{
	cpu_set_t nodes;

	return !pm_plan_apply(&plan, 0, PM_APPLY_CPUS, NULL) && has_cpus(&line.cpus) &&
	       policy(&nodes) == MPOL_DEFAULT;
}

static bool binds_memory_alone(void)
{
	cpu_set_t before, nodes;

	sched_getaffinity(0, sizeof(before), &before);
	return !pm_plan_apply(&plan, 0, PM_APPLY_MEMORY, NULL) && has_cpus(&before) &&
	       policy(&nodes) == line.mode;
}

static bool leaves_all_alone(void)
{
	cpu_set_t before, nodes;

	sched_getaffinity(0, sizeof(before), &before);
	CPU_ZERO(&line.cpus);
	return !pm_plan_apply(&plan, 0, PM_APPLY_ALL, NULL) && has_cpus(&before) &&
	       policy(&nodes) == MPOL_DEFAULT;
}

static bool is_undone(void)
{
	struct pm_err err = {0};
	cpu_set_t before, nodes;

	sched_getaffinity(0, sizeof(before), &before);
	CPU_ZERO(&line.nodes);
	CPU_SET(NO_NODE, &line.nodes);
	return pm_plan_apply(&plan, 0, PM_APPLY_ALL, &err) == -EINVAL &&
	       strstr(err.text, "bind rank 0 to the memory of NUMA nodes 1000: ") &&
	       has_cpus(&before) && policy(&nodes) == MPOL_DEFAULT;
}

static bool is_unknown_mode(void)
{
	struct pm_err err = {0};

	line.mode = 99;
	return pm_plan_apply(&plan, 0, PM_APPLY_ALL, &err) == -ENOSYS &&
	       strstr(err.text, "this kernel does not have the memory policy") != NULL;
}

static bool refuses_cpu(void)
{
	struct pm_err err = {0};

	CPU_ZERO(&line.cpus);
	CPU_SET(CPU_SETSIZE - 1, &line.cpus);
	return pm_plan_apply(&plan, 0, PM_APPLY_ALL, &err) == -EINVAL &&
	       strstr(err.text, "bind rank 0 to processors 1023: ") != NULL;
}

/* Pages follow the policy, also in a program that is executed later. */
static bool is_inherited(void)
{
	char *const command[] = {"grep", "-q", "bind:0", "/proc/self/numa_maps", NULL};

	if (pm_plan_apply(&plan, 0, PM_APPLY_ALL, NULL))
		return false;
	execv("/bin/grep", command);
	return false;
}

static void test_apply(void)
{
	new_line(MPOL_BIND);
	ok(in_child(binds_both), "processors and memory are bound");
	ok(in_child(binds_cpus_alone), "processors alone, when the user has bound memory");
	ok(in_child(binds_memory_alone), "memory alone, when the user has bound processors");
	ok(in_child(is_undone), "when memory cannot be bound all is as before");
	ok(in_child(is_unknown_mode), "a policy that this kernel does not have");
	ok(in_child(refuses_cpu), "a processor that is not there");
	ok(in_child(is_inherited), "the policy holds over exec");
	new_line(MPOL_INTERLEAVE);
	ok(in_child(binds_both), "interleaved");
	new_line(MPOL_PREFERRED_MANY);
	ok(in_child(binds_both), "with the other socket's memory allowed");
	new_line(MPOL_DEFAULT);
	ok(in_child(binds_cpus_alone), "no policy is left as it is");
	ok(in_child(leaves_all_alone), "a plan that binds nothing");
}

/* --- environment --- */

static const struct pm_pmem_dir pmem_dirs[] = {{0, "/mnt/a"}, {1, "/mnt/b"}};

static const char *value_of(
	const struct pm_variable *list, size_t n, const char *name, bool only_if_unset)
{
	for (size_t i = 0; i < n; i++) {
		if (!strcmp(list[i].name, name))
			return list[i].only_if_unset == only_if_unset ? list[i].value
								      : "wrong only_if_unset";
	}
	return NULL;
}

static void fill_line(void)
{
	memset(&line, 0, sizeof(line));
	pm_cpulist_parse("0-3,8-11", &line.cpus);
	pm_cpulist_parse("4-5", &line.helpers);
	pm_cpulist_parse("0", &line.dram_nodes);
	pm_cpulist_parse("2-3", &line.pmem_nodes);
	line.threads = 4;
	line.pmem_dir = 1;
	line.dram_bytes = 100;
	line.spaces = (struct pm_spaces){10, 20, 30, 40};
	line.temporary_is_asked = true;
}

static void test_environment(void)
{
	struct pm_variable list[PM_PLAN_VARIABLES_MAX];
	size_t n = 0;

	fill_line();
	is_number(pm_plan_environment(&plan, 0, pmem_dirs, list, &n, NULL), 0, "an environment");
	is_number((long long)n, PM_PLAN_VARIABLES_MAX, "with all that there is");
	is_text(value_of(list, n, "PM_RANK_DRAM", false), "100", "PM_RANK_DRAM");
	is_text(value_of(list, n, "PM_NODE_DRAM", false), "0", "PM_NODE_DRAM");
	is_text(value_of(list, n, "PM_NODE_PMEM", false), "2-3", "PM_NODE_PMEM");
	is_text(value_of(list, n, "PM_SPACES", false),
		"metadata=10,temporary=20,migration=30,free=40", "PM_SPACES");
	is_text(value_of(list, n, "PM_SIZING", true), "fixed", "PM_SIZING, for the site says");
	is_text(value_of(list, n, "PM_HELPER_CPUS", false), "4-5", "PM_HELPER_CPUS");
	is_text(value_of(list, n, "PM_DIR", false), "/mnt/b", "PM_DIR");
	is_text(value_of(list, n, "OMP_NUM_THREADS", true), "4", "OMP_NUM_THREADS");
	is_text(value_of(list, n, "OMP_PLACES", true), "cores", "OMP_PLACES, a thread a core");
	pm_variables_done(list, n);
}

static void test_smaller_environments(void)
{
	struct pm_variable list[PM_PLAN_VARIABLES_MAX];
	size_t n = 0;

	fill_line();
	line.threads = 8;
	line.pmem_dir = -1;
	CPU_ZERO(&line.helpers);
	CPU_ZERO(&line.pmem_nodes);
	pm_plan_environment(&plan, 0, pmem_dirs, list, &n, NULL);
	is_text(value_of(list, n, "OMP_PLACES", true), "threads", "a thread a hardware thread");
	is_text(value_of(list, n, "PM_NODE_PMEM", false), NULL, "no PMem");
	is_text(value_of(list, n, "PM_HELPER_CPUS", false), NULL, "no helpers");
	is_text(value_of(list, n, "PM_DIR", false), NULL, "no directory");
	pm_variables_done(list, n);

	CPU_ZERO(&line.cpus);
	line.threads = 0;
	pm_plan_environment(&plan, 0, pmem_dirs, list, &n, NULL);
	is_text(value_of(list, n, "OMP_NUM_THREADS", true), NULL,
		"not bound: OpenMP is left alone");
	is_text(value_of(list, n, "OMP_PLACES", true), NULL, "its places too");
	pm_variables_done(list, n);
}

int main(void)
{
	test_apply();
	test_environment();
	test_smaller_environments();
	return tap_done();
}
