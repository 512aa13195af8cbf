/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "agent/calibrate_beyond.h"
#include "agent/calibrate_install.h"
#include "agent/calibrate_part.h"
#include "agent/calibrate_sockets.h"
#include "agent/pmctl.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/slurm_steps.h"
#include "base/timestamp.h"

#define CPUINFO_BYTES ((size_t)4 << 20)

/* --- what it is measured on --- */

/* The value of the first line of /proc/cpuinfo with `key`; `to` stays as it is without one. */
static void copy_line(const char *text, const char *key, char *to, size_t size)
{
	const char *at = strstr(text, key);

	at = at ? strchr(at, ':') : NULL;
	if (!at)
		return;
	at += 1 + strspn(at + 1, " \t");
	snprintf(to, size, "%.*s", (int)strcspn(at, "\n"), at);
}

static int describe_processor(struct pm_site_profile *profile, struct pm_err *err)
{
	cleanup_free char *text = NULL;
	char flags[8192] = "";
	int rc = pm_file_read(AT_FDCWD, "/proc/cpuinfo", CPUINFO_BYTES, &text, NULL, err);

	if (rc)
		return rc;
	copy_line(text, "model name", profile->cpu, sizeof(profile->cpu));
	copy_line(text, "flags", flags, sizeof(flags));
	profile->is_virtual = strstr(flags, " hypervisor");
	return 0;
}

static int describe(
	const struct pm_agent *agent, struct pm_site_profile *profile, struct pm_err *err)
{
	const char *class = agent->class ? agent->class : "node";
	struct utsname system;

	if (!pm_model_is_class(class))
		return pm_err_set(err, -EINVAL,
			"--class='%.80s': use letters, digits, '.', '_' and '-', at most %d", class,
			PM_MODEL_CLASS_MAX - 1);
	strcpy(profile->class, class);
	pm_timestamp(profile->date);
	snprintf(profile->host, sizeof(profile->host), "%s", agent->op.config.node);
	if (!uname(&system))
		snprintf(profile->kernel, sizeof(profile->kernel), "%s", system.release);
	return describe_processor(profile, err);
}

/* --- alone on the node --- */

static bool is_another_job(void *context, uint32_t job_id, const char *step)
{
	uint32_t *own_then_found = context;

	(void)step;
	if (job_id == *own_then_found)
		return false;
	*own_then_found = job_id;
	return true;
}

static int check_alone(struct pm_err *err)
{
	const char *own = getenv("SLURM_JOB_ID");
	uint32_t job = own ? (uint32_t)strtoul(own, NULL, 10) : 0;

	if (!pm_slurm_steps_any(is_another_job, &job))
		return 0;
	return pm_err_set(err, -EBUSY,
		"job %u runs on this node, too, and would be measured; use --exclusive", job);
}

/* --- measuring --- */

struct watch {
	const char *part; /* NULL: the profile so far is not kept */
	uint64_t start_ms;
};

/* Time left, by the time of the points so far: all points take about the same. */
static void report_progress(
	void *context, const char *point, size_t done, size_t known, size_t total)
{
	const struct watch *watch = context;
	uint64_t passed_ms = pm_now_ms() - watch->start_ms;

	if (known && done == known)
		fprintf(stderr,
			"pmctl: calibrate: goes on with '%s', which has %zu of %zu points\n",
			watch->part, known, total);
	fprintf(stderr, "pmctl: calibrate: %3zu %%, %s", done * 100 / total, point);
	if (done > known)
		fprintf(stderr, ", %llu s left",
			(unsigned long long)(passed_ms * (total - done) / (done - known) / 1000));
	fputc('\n', stderr);
}

static int keep(void *context, const struct pm_site_profile *profile, struct pm_err *err)
{
	const struct watch *watch = context;

	return watch->part ? pm_calibrate_part_save(watch->part, profile, err) : 0;
}

/* --quick has no time for it: each loop goes through all of that memory once before it counts. */
static void add_beyond(const struct pm_agent *agent, struct pm_calibrate_sockets *sockets)
{
	struct pm_err why;

	if (agent->given & PM_OPT_QUICK)
		return;
	pm_calibrate_beyond(agent->op.config.fs_root, sockets, &why);
	if (why.code)
		fprintf(stderr, "pmctl: calibrate: memory-large is left out: %s\n", why.text);
}

static int measure(const struct pm_agent *agent, const struct pm_calibrate_sockets *sockets,
	const char *part, struct pm_site_profile *profile, struct pm_err *err)
{
	struct watch watch = {part, pm_now_ms()};
	struct pm_calibrate_watch callbacks = {&watch, report_progress, keep};
	int rc = part ? pm_calibrate_part_load(part, profile, err) : 0;

	return rc ? rc
		  : pm_calibrate(sockets->list, sockets->n,
			    agent->given & PM_OPT_QUICK ? &pm_effort_quick : &pm_effort_full,
			    &callbacks, profile, err);
}

static int write_profile(
	const char *path, const struct pm_site_profile *profile, struct pm_err *err)
{
	cleanup_free char *text = pm_site_profile_format(profile);

	return text ? pm_write_output(path, text, err) : pm_err_nomem(err);
}

/* --quick is begun again sooner than it is continued. */
static int measure_and_write(const struct pm_agent *agent, const char *path,
	const struct pm_calibrate_sockets *sockets, struct pm_site_profile *profile,
	struct pm_err *err)
{
	bool has_part = path && !(agent->given & PM_OPT_QUICK);
	cleanup_free char *part = has_part ? pm_calibrate_part_path(path) : NULL;
	int rc;

	if (has_part && !part)
		return pm_err_nomem(err);
	rc = measure(agent, sockets, part, profile, err);
	if (!rc && agent->given & PM_OPT_INSTALL)
		rc = pm_calibrate_install_merge(path, profile, err);
	if (!rc)
		rc = write_profile(path, profile, err);
	if (!rc && part)
		(void)unlink(part);
	return rc;
}

int pm_verb_calibrate(struct pm_agent *agent)
{
	cleanup_with(pm_calibrate_sockets_done) struct pm_calibrate_sockets sockets = {0};
	cleanup_with(pm_site_profile_done) struct pm_site_profile profile = {0};
	cleanup_free char *installed = NULL;
	struct pm_err err = {0};
	int rc = describe(agent, &profile, &err);

	if (!rc && agent->given & PM_OPT_INSTALL)
		rc = pm_calibrate_install_path(agent, &profile, &installed, &err);
	if (!rc)
		rc = pm_calibrate_sockets(&agent->op.config, &sockets, &err);
	if (!rc)
		rc = check_alone(&err);
	if (!rc)
		add_beyond(agent, &sockets);
	if (!rc)
		rc = measure_and_write(
			agent, installed ? installed : agent->output, &sockets, &profile, &err);
	return pm_finish(agent, rc, &err);
}
