/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>

#include "agent/pmctl.h"
#include "base/cleanup.h"
#include "base/columns.h"
#include "node/state/state.h"

static void print_text(const struct pm_journal *journal)
{
	if (!journal->state) {
		puts("no change yet");
		return;
	}
	printf("%s: from %s to %s\n", pm_journal_state_name(journal->state),
		pm_mode_name(journal->from), pm_mode_name(journal->mode));
	for (size_t i = 0; i < journal->n_steps; i++)
		printf("%s  %-9s  boot %.8s  %s\n", journal->steps[i].time,
			pm_journal_state_name(journal->steps[i].state), journal->steps[i].boot_id,
			journal->steps[i].text);
}

static void add_entry(struct pm_columns *columns, const struct pm_history_entry *entry)
{
	pm_columns_add(columns, "%.19sZ", entry->start);
	pm_columns_add(columns, "%llu", (unsigned long long)entry->seconds);
	pm_columns_add(columns, "%s", pm_mode_name(entry->from));
	pm_columns_add(columns, "%s", pm_mode_name(entry->mode));
	pm_columns_add(columns, "%s", entry->for_job ? "job" : "admin");
	pm_columns_add(columns, "%s", pm_journal_state_name(entry->outcome));
	pm_columns_add(columns, "%s", entry->reason ? entry->reason : "");
}

static void print_history(const struct pm_history *history)
{
	static const char *const heads[] = {
		"START", "SECONDS", "FROM", "TO", "BY", "OUTCOME", "REASON"};
	struct pm_columns columns = {0};

	if (!history->n) {
		puts("no change has ended yet");
		return;
	}
	for (size_t i = 0; i < sizeof(heads) / sizeof(heads[0]); i++)
		pm_columns_head(&columns, heads[i], /* right= */ i == 1);
	for (size_t i = 0; i < history->n; i++)
		add_entry(&columns, &history->list[i]);
	(void)pm_columns_print(&columns, stdout);
}

static int list(const struct pm_agent *agent)
{
	cleanup_with(pm_history_done) struct pm_history history = {0};
	cleanup_free char *text = NULL;
	struct pm_err err;

	if (pm_state_read_history(&agent->op.config, &history, &err))
		return pm_fail(agent, &err);
	if (!(agent->given & PM_OPT_JSON)) {
		print_history(&history);
		return PM_EXIT_DONE;
	}
	text = pm_history_format(&history);
	fputs(text ? text : "", stdout);
	return PM_EXIT_DONE;
}

int pm_verb_journal(struct pm_agent *agent)
{
	cleanup_with(pm_journal_done) struct pm_journal journal = {0};
	cleanup_free char *text = NULL;
	struct pm_err err;

	if (agent->given & PM_OPT_LIST)
		return list(agent);
	if (pm_state_read_journal(&agent->op.config, &journal, &err))
		return pm_fail(agent, &err);
	if (!(agent->given & PM_OPT_JSON)) {
		print_text(&journal);
		return PM_EXIT_DONE;
	}
	text = pm_journal_format(&journal);
	fputs(text ? text : "", stdout);
	return PM_EXIT_DONE;
}
