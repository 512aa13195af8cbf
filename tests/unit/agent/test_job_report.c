/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>

#include "agent/job_report.h"
#include "agent/job_report_cause.h"
#include "agent/job_report_text.h"
#include "base/cleanup.h"
#include "site/modes.h"
#include "tests/unit/scratch.h"
#include "tests/unit/tap.h"

#define NODE(name, begin, run, mode, more)                                                         \
	"{\"type\":\"node\",\"node\":\"" name "\",\"job\":12,\"uid\":1000,\"mode\":\"" mode        \
	"\",\"run\":\"" run "\",\"begin\":" begin ",\"setup_ms\":2500,\"samples\":[]," more "}"
#define JOB(state, more)                                                                           \
	"{\"type\":\"job\",\"job\":12,\"uid\":1000,\"state\":\"" state "\"" more "}"
#define NO_PARTS "\"parts\":[]"
#define DIR_PART(peak, limit)                                                                      \
	"\"parts\":[{\"tier\":\"dir\",\"number\":0,\"socket\":0,\"peak_bytes\":" peak              \
	",\"limit_bytes\":" limit "}]"
#define BAD_PART(tier, number)                                                                     \
	"\"parts\":[{\"tier\":\"" tier "\",\"number\":" number                                     \
	",\"socket\":1,\"peak_bytes\":1,\"bad_pages\":1}]"
#define GIB(n) (UINT64_C(n) << 30)

static json_object *parse(const char *text)
{
	json_object *lines = pm_json_parse(text, strlen(text));

	if (!lines)
		printf("# not JSON: %s\n", text);
	return lines;
}

/* The sentence of the cause, "" for none; of the advice with `advice`. */
static const char *sentence_of(const char *text, bool advice)
{
	static char sentence[PM_CAUSE_MAX];
	cleanup_with(pm_json_cleanup) json_object *lines = parse(text);
	cleanup_with(pm_job_report_done) struct pm_job_report report = {0};
	struct pm_config config = {0};
	struct pm_err err = {0};

	config.usable_memory_bytes[pm_mode_by_name("memory")->mode] = GIB(3000);
	config.usable_memory_bytes[pm_mode_by_name("appdirect")->mode] = GIB(180);
	sentence[0] = '\0';
	if (pm_job_report_read(lines, &report, &err))
		return err.text[0] ? "malformed" : "";
	if (!(advice ? pm_job_report_advice : pm_job_report_cause)(&report, &config, sentence))
		sentence[0] = '\0';
	return sentence;
}

static void test_causes(void)
{
	static const struct {
		const char *name, *lines, *sentence;
	} rows[] = {
		{"a job that did well has no cause", "[" JOB("COMPLETED", "") "]", ""},
		{"nor has one that just failed", "[" JOB("FAILED", ",\"exit_status\":1") "]", ""},
		{"killed at its limit",
			"[" JOB("OUT_OF_MEMORY", "") "," NODE("n1", "5", "a", "appdirect",
				"\"memory_peak_bytes\":8589934592,\"memory_limit_bytes\":"
				"8589934592,"
				"\"oom_kills\":1," NO_PARTS) "]",
			"out of memory on n1: 8 GiB of 8 GiB were in use; ask for more with "
			"--mem, or for --pm-mode=memory, which has 3000 GiB here"},
		{"without a limit: the node had no more",
			"[" JOB("OUT_OF_MEMORY", "") "," NODE("n1", "5", "a", "memory",
				"\"memory_peak_bytes\":8589934592,\"oom_kills\":1," NO_PARTS) "]",
			"out of memory on n1: 8 GiB were in use, all that the node has in mode "
			"memory"},
		{"by Slurm's word alone", "[" JOB("OUT_OF_MEMORY", "") "]",
			"out of memory; ask for more with --mem"},
		{"a directory that was full",
			"[" JOB("FAILED", "") "," NODE("n1", "5", "a", "appdirect",
				DIR_PART("1073741824", "1073741824")) "]",
			"$PM_DIR0, on socket 0 of n1, was full: 1 GiB of 1 GiB; ask for more "
			"with --pm-size"},
		{"one that was not",
			"[" JOB("FAILED", "") "," NODE("n1", "5", "a", "appdirect",
				DIR_PART("1000000000", "1073741824")) "]",
			""},
		{"SIGBUS", "[" JOB("FAILED", ",\"signal\":7") "]",
			"ended by SIGBUS: no node reports a bad page, so most likely a mapped file "
			"became shorter than its mapping; look which files the program maps"},
		{"SIGBUS of a bad page in a directory",
			"[" JOB("FAILED", ",\"exit_status\":135") "," NODE(
				"n1", "5", "a", "appdirect", BAD_PART("dir", "1")) "]",
			"ended by SIGBUS: a page of $PM_DIR1 (persistent memory) on socket 1 of n1 "
			"is bad; submit the job again with --exclude=n1, and tell your "
			"administrators"},
		{"of flat memory",
			"[" JOB("FAILED", ",\"signal\":7") "," NODE(
				"n1", "5", "a", "flat", BAD_PART("pmem", "2")) "]",
			"ended by SIGBUS: a page of persistent memory on socket 1 of n1 is bad; "
			"submit the job again with --exclude=n1, and tell your administrators"},
		{"of DRAM",
			"[" JOB("FAILED", ",\"signal\":7") "," NODE(
				"n1", "5", "a", "memory", BAD_PART("dram", "1")) "]",
			"ended by SIGBUS: a page of DRAM on socket 1 of n1 is bad; submit the job "
			"again with --exclude=n1, and tell your administrators"},
		{"a bad page that ended no job",
			"[" JOB("FAILED", ",\"signal\":9") "," NODE(
				"n1", "5", "a", "flat", BAD_PART("pmem", "2")) "]",
			""},
		{"time, with the set-up in it",
			"[" JOB("TIMEOUT", ",\"time_limit_s\":60") "," NODE(
				"n1", "5", "a", "flat", NO_PARTS) "]",
			"the time limit of 60 s passed, in which the set-up of the nodes took up "
			"to "
			"2 s; ask for more with --time"},
		{"time that ended in the set-up of the second node",
			"[" JOB("TIMEOUT", ",\"time_limit_s\":60,\"end\":65") "," NODE("n1", "5",
				"a", "flat",
				NO_PARTS) ",{\"type\":\"node\",\"node\":\"n2\",\"job\":12,\"uid\":"
					  "1000,\"mode\":\"flat\",\"run\":\"a\",\"begin\":5,"
					  "\"setup_"
					  "ms\":75200,\"samples\":[]," NO_PARTS "}]",
			"the time limit of 60 s passed before n2 was set up, which took 75 s; ask "
			"for more with --time: the set-up is part of the job's time"},
		{"that ended later",
			"[" JOB("TIMEOUT", ",\"time_limit_s\":60,\"end\":65") "," NODE(
				"n1", "5", "a", "flat", NO_PARTS) "]",
			"the time limit of 60 s passed, in which the set-up of the nodes took up "
			"to 2 s; ask for more with --time"},
		{"time, of which no node tells", "[" JOB("TIMEOUT", ",\"time_limit_s\":60") "]",
			"the time limit of 60 s passed, and no node has told how long its set-up "
			"took; ask for more with --time"},
		{"a node that was lost", "[" JOB("NODE_FAIL", "") "]",
			"Slurm lost one of the nodes: its power, its network or its slurmd failed; "
			"'pmctl cluster --problems' names it; submit the job again, with --requeue "
			"to have Slurm do that"},
		{"one of two nodes", "[" JOB("NODE_FAIL", ",\"nodes\":\"n[1-2]\"") "]",
			"Slurm lost one of the nodes n[1-2]: its power, its network or its slurmd "
			"failed; 'pmctl cluster --problems' names it; submit the job again, with "
			"--requeue to have Slurm do that"},
		{"the only node", "[" JOB("NODE_FAIL", ",\"nodes\":\"n1\"") "]",
			"Slurm lost n1: its power, its network or its slurmd failed; submit the "
			"job again with --exclude=n1, or with --requeue to have Slurm do that"},
		{"a reboot that failed",
			"[" JOB("FAILED",
				"") ",{\"type\":\"reboot\",\"node\":\"n1\",\"start\":1,\"end\":9,"
				    "\"failure\":\"did not come back\"}]",
			"1 of the nodes did not come back from the reboot in the mode; 'pmctl "
			"cluster --problems' names them"},
		{"a line with another type of member",
			"[{\"type\":\"node\",\"node\":\"n1\",\"job\":\"12\"}]", "malformed"},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		is_text(sentence_of(rows[i].lines, false), rows[i].sentence, rows[i].name);
}

static void test_advice(void)
{
	is_text(sentence_of("[" JOB("COMPLETED",
				    "") ","
					"{\"type\":\"reboot\",\"node\":\"n1\",\"start\":1,\"end\":"
					"9}," NODE("n1", "5", "a", "memory",
						"\"memory_peak_bytes\":44023414784," NO_PARTS) "]",
			true),
		"--pm-mode=appdirect: 41 GiB at most were in use, its DRAM is 180 GiB, and nodes "
		"need not reboot if they are in it",
		"what DRAM would hold");
	is_text(sentence_of("[" NODE("n1", "5", "a", "memory",
				    "\"memory_peak_bytes\":322122547200," NO_PARTS) "]",
			true),
		"", "what it would not");
	is_text(sentence_of("[" NODE("n1", "5", "a", "appdirect", DIR_PART("0", "1073741824")) "]",
			true),
		"no --pm-mode: nothing was written to $PM_DIR, and DRAM held the rest",
		"an unused directory");
	is_text(sentence_of(
			"[" NODE("n1", "5", "a", "appdirect", DIR_PART("4096", "1073741824")) "]",
			true),
		"", "a used one");
}

static void test_last_run(void)
{
	cleanup_with(pm_json_cleanup) json_object *lines =
		parse("[" NODE("n1", "5", "a", "memory", NO_PARTS) "," NODE("n2", "6", "a",
			"memory", NO_PARTS) "," NODE("n3", "90", "b", "memory", NO_PARTS) "]");
	cleanup_with(pm_job_report_done) struct pm_job_report report = {0};
	struct pm_err err = {0};

	is_number(pm_job_report_read(lines, &report, &err), 0, "a requeued job");
	is_number((long long)report.n_nodes, 1, "its last run alone");
	is_text(report.nodes[0].node, "n3", "on its node");
}

#define ENDED NODE("n1", "5", "a", "memory", "\"end\":9,\"cleanup_ms\":1500," NO_PARTS)
#define RUNS  NODE("n2", "5", "a", "memory", "\"memory_peak_bytes\":1048576," NO_PARTS)

/* The report as it is printed; the result is good until the next call. */
static const char *printed(const char *text, bool *ret_whole)
{
	static char *words;
	cleanup_with(pm_json_cleanup) json_object *lines = parse(text);
	cleanup_with(pm_job_report_done) struct pm_job_report report = {0};
	struct pm_config config = {0};
	size_t length;
	FILE *out;

	free(words);
	out = open_memstream(&words, &length);
	if (!out || pm_job_report_read(lines, &report, &(struct pm_err){0}))
		return "";
	pm_job_report_print(&report, 12, &config, out);
	(void)fclose(out);
	*ret_whole = pm_job_report_is_whole(&report);
	return words;
}

static void test_so_far(void)
{
	bool whole;
	const char *words =
		printed("[" JOB("RUNNING", ",\"n_nodes\":2,\"feature\":\"pm_memory\"") "," RUNS "]",
			&whole);

	has_text(words, "Clean-up:   not known yet, it follows the job's time\n",
		"of a job that runs");
	has_text(words, "So far:     of 1 of 2 nodes; the others report at the job's end\n",
		"one node");
	ok(!whole, "is not all");
	words = printed("[" JOB("FAILED", ",\"n_nodes\":2,\"feature\":\"pm_memory\"") "," RUNS
										      "," ENDED "]",
		&whole);
	has_text(words, "Clean-up:   1.5 s (n1), after the job's time\n", "a node that has ended");
	ok(!strstr(words, "So far:"), "no node is missing");
	ok(whole, "which is all");
	(void)printed("[" JOB("FAILED", ",\"n_nodes\":2,\"feature\":\"pm_memory\"") "," ENDED "]",
		&whole);
	ok(!whole, "one of two nodes is not");
	(void)printed("[" JOB("FAILED", ",\"n_nodes\":2,\"feature\":\"\"") "]", &whole);
	ok(whole, "a job without a mode has no nodes to wait for");
	words = printed("[" JOB("RUNNING", "") "," NODE("n1", "5", "a", "memory",
				"\"memory_peak_bytes\":8192,\"memory_limit_bytes\":8192,\"oom_"
				"kills\":1," NO_PARTS) "]",
		&whole);
	has_text(words, "Killed:     out of memory on n1: 8 KiB of 8 KiB",
		"a process that was killed");
}

static void test_lost_nodes(void)
{
	const char *words;
	bool whole;

	words = printed("[" JOB("NODE_FAIL",
				",\"nodes\":\"n1\",\"n_nodes\":1,\"feature\":\"pm_memory\"") "]",
		&whole);
	has_text(words, "Reports:    none: n1 failed before it could report\n", "the only node");
	words = printed("[" JOB("NODE_FAIL", ",\"n_nodes\":2,\"feature\":\"pm_memory\"") "," ENDED
											 "]",
		&whole);
	has_text(words, "Reports:    of 1 of 2 nodes; a node failed before it could report\n",
		"one of two");
	words = printed("[" JOB("NODE_FAIL", ",\"n_nodes\":1,\"feature\":\"pm_memory\"") "," ENDED
											 "]",
		&whole);
	ok(!strstr(words, "Reports:"), "one that has reported all the same");
	words = printed("[" JOB("RUNNING", ",\"n_nodes\":1,\"feature\":\"\"") "]", &whole);
	ok(!strstr(words, "So far:"), "no report is awaited of a job without a mode");
}

static void test_energy(void)
{
	static const struct {
		const char *job, *line;
	} rows[] = {
		{JOB("COMPLETED", ",\"energy_joules\":999"), "Energy:     999 J\n"},
		{JOB("COMPLETED", ",\"energy_joules\":12300"), "Energy:     12.3 kJ\n"},
		{JOB("COMPLETED", ",\"energy_joules\":2500000"), "Energy:     2.5 MJ\n"},
	};
	char lines[300];
	bool whole;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		snprintf(lines, sizeof(lines), "[%s]", rows[i].job);
		has_text(printed(lines, &whole), rows[i].line, rows[i].line);
	}
	ok(!strstr(printed("[" JOB("COMPLETED", "") "]", &whole), "Energy:"),
		"no line where the site does not account it");
}

#define RANK(rank, dram, pmem, spilled, more)                                                      \
	"{\"rank\":\"" rank "\",\"pid\":4,\"dram_bytes\":" dram                                    \
	",\"spaces\":{\"pmem\":{\"peak_bytes\":" pmem "}},\"spilled_bytes\":" spilled more "}\n"

static const char *runtime_line(const char *text, struct pm_err *err)
{
	static char words[400];
	struct pm_runtime_sums sums = {0};
	FILE *out;

	words[0] = '\0';
	err->text[0] = '\0';
	if (pm_runtime_reports_read(scratch_file("report", text), &sums, err))
		return words;
	out = fmemopen(words, sizeof(words), "w");
	pm_runtime_reports_print(&sums, out);
	(void)fclose(out);
	return words;
}

static void test_runtime(void)
{
	struct pm_err err;

	is_text(runtime_line(RANK("0", "1048576", "4194304", "0", "")
				     RANK("1", "3145728", "2097152", "1048576",
					     ",\"sizing\":{\"promoted_bytes\":1048576},\"moved\":{"
					     "\"promoted_bytes\":1048576}"),
			&err),
		"2 processes: 4 MiB in DRAM (rank 1: 3 MiB), 6 MiB in PMem (rank 0: 4 MiB), 1 MiB "
		"spilled (rank 1: 1 MiB), 2 MiB promoted (rank 1: 2 MiB)",
		"sums, and the rank with most");
	is_text(runtime_line(RANK("0", "1048576", "0", "0", ""), &err), "1 process: 1 MiB in DRAM",
		"one process");
	is_text(runtime_line(RANK("0", "1", "0", "0", "") "{\"rank\":\"0\"}\n", &err), "",
		"another file");
	has_text(err.text, ", line 2: not a report that PM_REPORT has written", "with its line");
	is_text(runtime_line(RANK("\\u001b[2J", "1", "0", "0", ""), &err), "",
		"a rank that is not a number");
}

int main(void)
{
	test_runtime();
	test_so_far();
	test_lost_nodes();
	test_energy();
	test_causes();
	test_advice();
	test_last_run();
	return tap_done();
}
