/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "agent/calibrate_sockets.h"
#include "agent/pmctl.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/list.h"
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

/* --- measuring --- */

struct progress {
	unsigned socket, n_sockets, nth;
	uint64_t start_ms;
};

/* Time left, by the time of the points so far: all points take about the same. */
static void report_progress(
	void *context, const char *curve, unsigned threads, unsigned done, unsigned total)
{
	const struct progress *progress = context;
	unsigned all = total * progress->n_sockets, before = progress->nth * total + done;
	uint64_t passed_ms = pm_now_ms() - progress->start_ms;

	fprintf(stderr, "pmctl: calibrate: %3u %%, socket %u, %s with %u threads",
		before * 100 / all, progress->socket, curve, threads);
	if (before)
		fprintf(stderr, ", %llu s left",
			(unsigned long long)(passed_ms * (all - before) / before / 1000));
	fputc('\n', stderr);
}

static int measure(const struct pm_agent *agent, const struct pm_calibrate_sockets *sockets,
	struct pm_site_profile *profile, struct pm_err *err)
{
	struct progress progress = {.n_sockets = sockets->n, .start_ms = pm_now_ms()};
	int rc = 0;

	for (unsigned i = 0; !rc && i < sockets->n; i++) {
		struct pm_site_socket *row = pm_list_next(
			&profile->sockets, profile->n_sockets, sizeof(*profile->sockets));

		if (!row)
			return pm_err_nomem(err);
		progress.nth = i;
		progress.socket = sockets->list[i].number;
		rc = pm_calibrate_socket(&sockets->list[i],
			agent->given & PM_OPT_QUICK ? &pm_calibrate_quick : &pm_calibrate_full,
			report_progress, &progress, row, err);
		profile->n_sockets += !rc;
	}
	return rc;
}

static int write_profile(
	const struct pm_agent *agent, const struct pm_site_profile *profile, struct pm_err *err)
{
	cleanup_free char *text = pm_site_profile_format(profile);

	if (!text)
		return pm_err_nomem(err);
	if (agent->output)
		return pm_file_write(agent->output, 0644, text, strlen(text), err);
	return fputs(text, stdout) < 0 ? pm_err_sys(err, -errno, "write to stdout") : 0;
}

int pm_verb_calibrate(struct pm_agent *agent)
{
	cleanup_with(pm_calibrate_sockets_done) struct pm_calibrate_sockets sockets = {0};
	cleanup_with(pm_site_profile_done) struct pm_site_profile profile = {0};
	struct pm_err err = {0};
	int rc = describe(agent, &profile, &err);

	if (!rc)
		rc = pm_calibrate_sockets(&agent->op.config, &sockets, &err);
	if (!rc)
		rc = measure(agent, &sockets, &profile, &err);
	if (!rc)
		rc = write_profile(agent, &profile, &err);
	return pm_finish(agent, rc, &err);
}
