/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/lease_licence.h"

#include <errno.h>
#include <slurm/slurm.h>
#include <slurm/slurm_errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/asprintf.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/strv.h"
#include "controller/slurm_api.h"

/* --- the licences of a job --- */

/* "pm_wait", "pm_wait:1" or "pm_wait=1". */
static bool is_ours(const char *licence)
{
	size_t length = strlen(PM_LEASE_LICENCE);

	return !strncmp(licence, PM_LEASE_LICENCE, length) && strchr(":=", licence[length]);
}

/* Slurm takes either character between two licences of which a job needs both. */
static char **split(const char *licences)
{
	return pm_strv_split(licences ? licences : "", ",;");
}

bool pm_lease_is_on(const char *licences)
{
	cleanup_with(pm_strv_cleanup) char **list = split(licences);
	bool found = false;

	for (size_t i = 0; list && list[i]; i++)
		found = found || is_ours(list[i]);
	return found;
}

char *pm_lease_with(const char *licences)
{
	const char *others = licences ? licences : "";

	return pm_asprintf("%s%s" PM_LEASE_LICENCE ":1", others, *others ? "," : "");
}

char *pm_lease_without(const char *licences)
{
	cleanup_with(pm_strv_cleanup) char **list = split(licences);
	char *left = list ? strdup("") : NULL;

	for (size_t i = 0; left && list[i]; i++) {
		char *longer;

		if (is_ours(list[i]))
			continue;
		longer = pm_asprintf("%s%s%s", left, *left ? "," : "", list[i]);
		free(left);
		left = longer;
	}
	return left;
}

/* --- the reservation --- */

/* How many of the licence slurm.conf has; 0: none. -EIO. */
static int count_licences(uint32_t *ret_total)
{
	license_info_msg_t *all = NULL;

	*ret_total = 0;
	if (slurm_load_licenses(0, &all, SHOW_ALL))
		return -EIO;
	for (uint32_t i = 0; i < all->num_lic; i++)
		if (!strcmp(all->lic_array[i].name, PM_LEASE_LICENCE))
			*ret_total = all->lic_array[i].total;
	slurm_free_license_info_msg(all);
	return 0;
}

static int renew(time_t until)
{
	resv_desc_msg_t request;

	slurm_init_resv_desc_msg(&request);
	request.name = PM_LEASE_LICENCE;
	request.end_time = until;
	return slurm_update_reservation(&request) ? -errno : 0;
}

/* A reservation of licences alone: any nodes, and none of them. */
static int make(time_t until, uint32_t total)
{
	cleanup_free char *licences = pm_asprintf(PM_LEASE_LICENCE ":%u", (unsigned)total);
	resv_desc_msg_t request;
	char *name;

	if (!licences)
		return -ENOMEM;
	slurm_init_resv_desc_msg(&request);
	request.name = PM_LEASE_LICENCE;
	request.users = "root";
	request.licenses = licences;
	request.flags = RESERVE_FLAG_ANY_NODES;
	request.start_time = time(NULL);
	request.end_time = until;
#if SLURM_VERSION_NUMBER < SLURM_VERSION_NUM(23, 11, 0)
	uint32_t no_nodes[] = {0, 0};

	request.node_cnt = no_nodes;
#else
	request.node_cnt = 0;
#endif
	name = slurm_create_reservation(&request);
	if (!name)
		return -errno;
	pm_slurm_free_name(name);
	return 0;
}

static int hold_all(struct pm_lease_licence *licence, time_t until)
{
	uint32_t total;
	int rc = count_licences(&total);

	if (rc)
		return rc;
	if (!total && !licence->missing)
		fprintf(stderr,
			"pmem.conf has HoldTime or limits reboots, but slurm.conf has no "
			"licence " PM_LEASE_LICENCE
			", by which jobs wait: add Licenses=" PM_LEASE_LICENCE ":1000000 to it\n");
	licence->missing = !total;
	if (!total)
		return -ENOENT;
	return renew(until) ? make(until, total) : 0;
}

/* --- the file --- */

static int write_file(const char *run_dir, time_t until, bool wakes)
{
	cleanup_free char *path = pm_asprintf("%s/leases", run_dir);
	cleanup_free char *text = pm_asprintf(
		"slurm-pmem-leases 1 %lld\n%s", (long long)until, wakes ? "wakes\n" : "");
	struct pm_err err = {0};
	int rc = path && text ? pm_file_write(path, 0644, text, strlen(text), &err)
			      : pm_err_nomem(&err);

	if (rc)
		fprintf(stderr, "%s\n", err.text);
	return rc;
}

static void say(struct pm_lease_licence *licence, int rc)
{
	if (rc && rc != -ENOENT && !licence->failing)
		fprintf(stderr,
			"keep reservation '" PM_LEASE_LICENCE
			"': %s; jobs do not wait for nodes in "
			"their mode, trying again\n",
			slurm_strerror(-rc));
	licence->failing = rc && rc != -ENOENT;
}

bool pm_lease_licence_keep(struct pm_lease_licence *licence, const char *run_dir, bool wakes)
{
	uint64_t now_ms = pm_now_ms();
	time_t until = time(NULL) + PM_LEASE_S;
	int rc;

	if (licence->renewed_ms && now_ms - licence->renewed_ms < PM_LEASE_S * 1000 / 3)
		return !licence->missing && !licence->failing;
	licence->renewed_ms = now_ms;
	rc = hold_all(licence, until);
	say(licence, rc);
	return !rc && !write_file(run_dir, until, wakes);
}
