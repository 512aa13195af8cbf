/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>

#include "agent/pmctl.h"
#include "base/cleanup.h"
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

int pm_verb_journal(struct pm_agent *agent)
{
	cleanup_with(pm_journal_done) struct pm_journal journal = {0};
	cleanup_free char *text = NULL;
	struct pm_err err;

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
