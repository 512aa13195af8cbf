/* SPDX-License-Identifier: Apache-2.0 */
#include <limits.h>
#include <string.h>

#include "agent/pmctl.h"

const struct pm_verb pm_verbs[] = {
	{
		.name = "mode",
		.args = "",
		.options = PM_OPT_JSON | PM_OPT_FRESH,
		.run = pm_verb_mode,
		.summary = "print the mode that the node is in",
		.help = "Prints the mode alone: memory, appdirect, flat, mixed, or unknown when "
			"the\n"
			"evidence is contradictory or the persistent memory is not configured. "
			"The\n"
			"answer never comes from a goal. It is this boot's record, if the kernel "
			"still\n"
			"shows what it showed when 'pmctl verify' wrote it; without one, root "
			"asks\n"
			"ipmctl afresh. flat is told from appdirect by what the kernel shows now.\n"
			"--verbose adds by what the mode was seen, or why it is unknown.",
	},
	{
		.name = "set",
		.args = "MODE",
		.min_words = 1,
		.max_words = 1,
		.options = PM_OPT_DRY_RUN | PM_OPT_JSON,
		.needs_root = true,
		.logs = true,
		.run = pm_verb_set,
		.summary =
			"bring the node to a mode, or stage the goal that the next reboot applies",
		.help = "In the right platform mode brings the regions to MODE's state at once, "
			"without a\n"
			"reboot. Else stages MODE on all sockets for the next reboot: checks that "
			"it may\n"
			"be done (modules there, healthy and unlocked, enough main memory behind "
			"DRAM, no\n"
			"foreign or pinned namespace, no foreign goal, no version of ipmctl that "
			"loses\n"
			"goals), removes namespaces of its own, lets ipmctl try without writing, "
			"writes\n"
			"the journal, writes the goal, and compares what each module got. If "
			"anything\n"
			"fails, the goal is deleted again. Does nothing if MODE is staged "
			"already.\n"
			"The labels of the modules are blank from then on: data in App Direct is "
			"lost.",
	},
	{
		.name = "reboot",
		.args = "[FEATURES]...",
		.max_words = INT_MAX,
		.needs_root = true,
		.logs = true,
		.run = pm_verb_reboot,
		.summary = "write it into the journal and reboot: Slurm's RebootProgram",
		.help = "Notes the reboot in the journal and runs RebootCommand. FEATURES are "
			"those that\n"
			"Slurm reboots a node for, comma-separated. A goal that 'pmctl helper' "
			"staged for\n"
			"another reboot, or whose reboot fails, is withdrawn: nobody waits for it "
			"any\n"
			"more.",
	},
	{
		.name = "verify",
		.args = "",
		.options = PM_OPT_JSON,
		.needs_root = true,
		.logs = true,
		.run = pm_verb_verify,
		.summary = "after a boot: did the node get the mode that was staged?",
		.help = "Compares the journal's intent with what the firmware, the kernel and the\n"
			"modules show, closes the journal, deletes a goal that the firmware left\n"
			"pending, and writes this boot's record of the mode. pmctl-verify.service "
			"runs\n"
			"it before slurmd. Exits 1 with a sentence if the node is not in the mode "
			"that\n"
			"was staged; 'pmctl health' repeats that sentence from then on.",
	},
	{
		.name = "health",
		.args = "",
		.options = PM_OPT_JSON | PM_OPT_CLEAR,
		.run = pm_verb_health,
		.summary = "print nothing, or one sentence why the node should not serve",
		.help = "Exits 0 and prints nothing if the node may serve. Exits 1 and prints one\n"
			"sentence, fit for a drain reason, if the last change failed, the journal\n"
			"cannot be read, or the mode is unknown.\n"
			"A failed change stays until a later 'pmctl set', reboot and 'pmctl "
			"verify'\n"
			"succeed, or until root runs 'pmctl health --clear', which looks at the "
			"node\n"
			"again and forgets the failure if the mode is readable and no goal is "
			"pending.",
	},
	{
		.name = "helper",
		.args = "[FEATURE]",
		.max_words = 1,
		.needs_root = true,
		.logs = true,
		.run = pm_verb_helper,
		.summary = "what Slurm's helpers.conf calls: print or set the active feature",
		.help = "Without FEATURE prints the node feature of the mode the node is in, and\n"
			"nothing else; nothing at all, with exit status 1, if the mode is unknown. "
			"With\n"
			"FEATURE does what 'pmctl set' does for its mode.",
	},
	{
		.name = "job begin",
		.args = "--expect=MODE[,MODE] [--job=ID --uid=UID --gid=GID]",
		.options = PM_OPT_EXPECT | PM_OPT_JOB | PM_OPT_UID | PM_OPT_GID | PM_OPT_SIZE |
			   PM_OPT_NAMESPACE | PM_OPT_RUN | PM_OPT_MEMORY | PM_OPT_ALLOCATED |
			   PM_OPT_SHARED,
		.needs_root = true,
		.logs = true,
		.run = pm_verb_job_begin,
		.summary = "before a job: check the mode, make what the job gets",
		.help = "Takes the first mode of --expect that fits the platform mode the node is "
			"in,\n"
			"brings the regions into its sub-state, and gives the job a directory or "
			"a\n"
			"device on each region, or tells it the NUMA nodes; what it was given is "
			"in\n"
			"RunDir/jobs/ID. Without --job only the mode is checked.\n"
			"Exits 1 if the node cannot serve, 3 if another job has the persistent "
			"memory\n"
			"in another sub-state or the memory does not suffice for both, 4 if the "
			"job asks for what there is not; with one\n"
			"sentence on stderr.",
	},
	{
		.name = "job end",
		.args = "--job=ID",
		.options = PM_OPT_JOB,
		.needs_root = true,
		.logs = true,
		.run = pm_verb_job_end,
		.summary = "after a job: take away and wipe what it was given",
		.help = "Takes the job's directories away from it, for 'pmctl sweep' to remove, or "
			"takes\n"
			"devices and flat memory back and wipes them. A job that was given "
			"nothing is\n"
			"fine. Exits 1 if that failed, 5 if only a reboot gives the memory back; "
			"with one\n"
			"sentence on stderr.",
	},
	{
		.name = "sweep",
		.args = "",
		.needs_root = true,
		.logs = true,
		.run = pm_verb_sweep,
		.summary = "remove what ended jobs have left in file systems",
		.help = "Removes the directories that jobs had, for as long as that takes, while "
			"other\n"
			"jobs begin and end. Each begin and end of a job starts it in the "
			"background when\n"
			"there is something to do. Exits 0 at once if another one waits already. "
			"It may\n"
			"be killed at any time.",
	},
	{
		.name = "job turn-away",
		.args = "--job=ID SENTENCE",
		.min_words = 1,
		.max_words = 1,
		.options = PM_OPT_JOB,
		.needs_root = true,
		.logs = true,
		.run = pm_verb_job_turn_away,
		.summary = "tell the controller that this node does not serve a job",
		.help = "Tells pm-controller at ControllerAddr why the job cannot run here. Prints "
			"requeued\n"
			"if that has put it back into the queue, for other nodes, or held, which "
			"its owner\n"
			"may release. Prints noted if it is still to be requeued.\n"
			"Exits 1 with a sentence if the controller cannot be told.",
	},
	{
		.name = "journal",
		.args = "",
		.options = PM_OPT_JSON,
		.run = pm_verb_journal,
		.summary = "print the last change, its steps and their times",
		.help = "Prints the last change of mode: what was wanted, how far it came, and "
			"each\n"
			"step with its time and boot.",
	},
	{
		.name = "provision",
		.args = "empty|fsdax|devdax|flat",
		.min_words = 1,
		.max_words = 1,
		.options = PM_OPT_DRY_RUN | PM_OPT_JSON,
		.needs_root = true,
		.logs = true,
		.run = pm_verb_provision,
		.summary = "make all regions what jobs of a kind get",
		.help = "Does by hand what is else done for a job: brings all App Direct regions "
			"to no\n"
			"namespace at all, to a mounted file system each (fsdax), to a character "
			"device\n"
			"each (devdax) or to a NUMA node each (flat). Looks again after each step. "
			"A\n"
			"foreign namespace or a pin in the way is named, and nothing is done.\n"
			"--dry-run prints each command that would be run and what it destroys.",
	},
	{
		.name = "recover",
		.args = "",
		.options = PM_OPT_DRY_RUN,
		.needs_root = true,
		.logs = true,
		.run = pm_verb_recover,
		.summary = "finish or undo what a crash has interrupted",
		.help = "Takes away what no living job can be using: devices and flat memory of "
			"jobs,\n"
			"namespaces half made, file systems half written; wiped before they go. "
			"File\n"
			"systems that are complete stay. Puts the kernel's policy for new memory "
			"back.\n"
			"'pmctl verify' does the same at boot. Exits 5 when only a reboot helps.",
	},
	{
		.name = "pin",
		.args = "NAME|--list",
		.max_words = 1,
		.options = PM_OPT_LIST | PM_OPT_JSON,
		.needs_root = true,
		.logs = true,
		.run = pm_verb_pin,
		.summary = "protect a namespace: nothing may destroy what is on it",
		.help = "From then on every change that would destroy what is on the namespace is\n"
			"refused, by its name. NAME is its device, its name or its UUID, by which "
			"it is\n"
			"remembered. --list prints all pins: UUID, time, device and name of then.",
	},
	{
		.name = "unpin",
		.args = "NAME",
		.min_words = 1,
		.max_words = 1,
		.needs_root = true,
		.logs = true,
		.run = pm_verb_unpin,
		.summary = "take a namespace's protection away",
		.help = "NAME is what 'pmctl pin --list' shows: UUID, device or name. The "
			"namespace need\n"
			"not exist any more.",
	},
	{
		.name = "reachable",
		.args = "",
		.run = pm_verb_reachable,
		.summary = "print the node features that this node can serve",
		.help = "Prints one feature a line: that of the platform mode the node is in, and "
			"those\n"
			"of the others that it could be rebooted into. When it could not, because "
			"of a\n"
			"foreign namespace or a pin, one sentence on stderr says why. Always exits "
			"0,\n"
			"and never runs ipmctl.",
	},
	{
		.name = "show",
		.args = "",
		.options = PM_OPT_JSON,
		.run = pm_verb_show,
		.summary = "print all there is to know of the node's memory, on one screen",
		.help = "Prints the node's mode, its last change, the memory of its NUMA nodes, "
			"its\n"
			"modules, regions, namespaces with their owner, mounts and jobs with their "
			"use\n"
			"and quota, and what blocks a change of mode. Without root it shows what "
			"may be\n"
			"seen, and names what it did not see.",
	},
	{
		.name = "gather",
		.args = "",
		.options = PM_OPT_OUTPUT,
		.needs_root = true,
		.run = pm_verb_gather,
		.summary = "one archive with what a bug report needs",
		.help = "Writes a tar.gz that only its owner can read, and prints its name: what "
			"the\n"
			"tools print, what the kernel shows of memory and persistent memory, the "
			"files\n"
			"of StateDir and RunDir, the configuration, and what pmctl has logged. "
			"Files,\n"
			"environments and command lines of users are not in it.",
	},
	{
		.name = "show-config",
		.args = "",
		.options = PM_OPT_JSON,
		.run = pm_verb_show_config,
		.summary = "print every setting and where it came from",
		.help = "Prints each key of pmem.conf(5) as it holds for this node, with where "
			"the\n"
			"value came from: default, or file and line.",
	},
	{0},
};

/* How many of the words name this verb? 0 when they name another. */
static int match(const struct pm_verb *verb, int n_words, char *const *words)
{
	size_t first = strcspn(verb->name, " ");

	if (n_words < 1 || strlen(words[0]) != first || strncmp(words[0], verb->name, first))
		return 0;
	if (!verb->name[first])
		return 1;
	return n_words > 1 && !strcmp(words[1], verb->name + first + 1) ? 2 : 0;
}

const struct pm_verb *pm_verb_find(int n_words, char *const *words, int *ret_words)
{
	for (const struct pm_verb *verb = pm_verbs; verb->name; verb++) {
		*ret_words = match(verb, n_words, words);
		if (*ret_words)
			return verb;
	}
	return NULL;
}
