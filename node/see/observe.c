/* SPDX-License-Identifier: Apache-2.0 */
#include "node/see/observe.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "node/see/evidence_read.h"
#include "node/tools/tools.h"

/* Reads a record that is valid for this boot and the kernel's present numbers. */
static int read_record(const struct pm_config *config, struct pm_record *ret, struct pm_err *err)
{
	struct pm_kernel kernel;
	struct pm_record record = {0};
	int rc = pm_state_current_record(config, &record, &kernel, err);

	if (rc)
		return rc;
	record.verdict.mode = pm_mode_now(record.verdict.platform, &kernel);
	record.kernel = kernel;
	*ret = record;
	return 0;
}

/* An unreadable journal may hide an open goal: then the record is not used either. */
static bool root_may_use(const struct pm_config *config, const struct pm_record *record)
{
	cleanup_with(pm_journal_done) struct pm_journal journal = {0};

	if (!record->verdict.platform || pm_state_read_journal(config, &journal, NULL))
		return false;
	return !pm_journal_is_open(&journal) || strcmp(journal.boot_id, record->kernel.boot_id);
}

static int ask(const struct pm_config *config, struct pm_record *ret, struct pm_err *err)
{
	cleanup_with(pm_evidence_done) struct pm_evidence evidence = {0};
	struct pm_record record = {0};
	int rc = pm_evidence_read(config, &evidence, err);

	if (rc)
		return rc;
	pm_evidence_decide(&evidence, &record.verdict);
	record.kernel = evidence.kernel;
	record.capabilities = evidence.capabilities;
	*ret = record;
	return 0;
}

int pm_observe_record(const struct pm_config *config, struct pm_record *ret, struct pm_err *err)
{
	struct pm_record record;
	int rc = read_record(config, &record, err);

	if (!rc && !root_may_use(config, &record))
		rc = pm_err_set(err, -ESTALE, "the mode record is not used now");
	if (!rc)
		*ret = record;
	return rc;
}

int pm_observe(
	const struct pm_config *config, bool fresh, struct pm_observation *ret, struct pm_err *err)
{
	bool is_root = geteuid() == 0;
	struct pm_observation seen = {0};
	int rc = -EACCES;

	if (fresh && !is_root)
		return pm_err_set(err, rc, "ask ipmctl afresh: must be root");
	if (!fresh)
		rc = read_record(config, &seen.record, err);
	seen.from_record = !rc && (!is_root || root_may_use(config, &seen.record));
	if (rc && !is_root) {
		pm_err_prefix(err,
			"this node has no valid mode record; 'pmctl verify' by root writes one");
		return -EACCES;
	}
	rc = seen.from_record ? 0 : ask(config, &seen.record, err);
	if (!rc)
		*ret = seen;
	return rc;
}
