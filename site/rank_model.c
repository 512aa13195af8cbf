/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "site/rank_model.h"

#include <errno.h>
#include <string.h>

#include "base/asprintf.h"
#include "base/cleanup.h"

bool pm_site_profile_is_file(const char *asked)
{
	return strchr(asked, '/') != NULL;
}

int pm_site_profile_load_class(
	const char *class, const char *dir, struct pm_site_profile *ret, struct pm_err *err)
{
	struct pm_site_profile profile;
	cleanup_free char *path = NULL;
	int rc;

	if (!pm_model_is_class(class))
		return pm_err_set(err, -EINVAL,
			"site profile '%.64s': write the name of a class, or a file with a '/' in "
			"it",
			class);
	path = pm_asprintf("%s/%s.json", dir, class);
	if (!path)
		return pm_err_nomem(err);
	rc = pm_site_profile_load_site(path, &profile, err);
	if (rc)
		return rc;
	if (strcmp(profile.class, class) != 0) {
		rc = pm_err_set(err, -EBADMSG, "site profile '%s': it is of class '%s'", path,
			profile.class);
		pm_site_profile_done(&profile);
		return rc;
	}
	*ret = profile;
	return 0;
}

static int check(const struct pm_site_profile *profile, const struct pm_topology *topology,
	struct pm_err *err)
{
	struct pm_model_words words;
	int rc = 0;

	if (profile->is_virtual)
		return pm_err_set(err, -EPERM,
			"site profile '%s' was measured under a hypervisor, so its numbers are not "
			"a machine's; measure a real node",
			profile->class);
	for (unsigned i = 0; !rc && i < topology->n_packages; i++)
		rc = pm_site_profile_model(
			profile, (unsigned)topology->packages[i].number, &words, err);
	return rc;
}

/* The site's word holds over what was measured. */
static int set_peaks(struct pm_site_profile *profile, const uint64_t peaks[2], struct pm_err *err)
{
	struct pm_measure in = {.value = peaks[0], .from = "SiteProfilePeaks in pmem.conf"};
	struct pm_measure out = in;
	int rc = 0;

	out.value = peaks[1];
	for (size_t i = 0; !rc && peaks[0] && i < profile->n_sockets; i++) {
		struct pm_site_socket *socket = &profile->sockets[i];

		rc = pm_site_socket_set_value(socket, PM_VALUE_PEAK_IN, &in, err);
		if (!rc)
			rc = pm_site_socket_set_value(socket, PM_VALUE_PEAK_OUT, &out, err);
	}
	return rc;
}

/* `peaks`: of pmem.conf, or zeros. */
static int load(const char *asked, const char *dir, const uint64_t peaks[2],
	const struct pm_topology *topology, struct pm_site_profile *ret, struct pm_err *err)
{
	struct pm_site_profile profile;
	int rc;

	if (!strcmp(asked, "none")) {
		*ret = (struct pm_site_profile){0};
		return 0;
	}
	rc = pm_site_profile_is_file(asked) ? pm_site_profile_load(asked, &profile, err)
					    : pm_site_profile_load_class(asked, dir, &profile, err);
	if (rc)
		return rc;
	rc = set_peaks(&profile, peaks, err);
	if (!rc)
		rc = check(&profile, topology, err);
	if (rc)
		pm_site_profile_done(&profile);
	else
		*ret = profile;
	return rc;
}

int pm_rank_model_load(const char *asked, const char *dir, const struct pm_topology *topology,
	struct pm_site_profile *ret, struct pm_err *err)
{
	return load(asked, dir, (const uint64_t[2]){0}, topology, ret, err);
}

int pm_rank_model_load_site(const struct pm_config *config, const struct pm_topology *topology,
	struct pm_site_profile *ret, struct pm_err *err)
{
	struct pm_err why = {0};
	int rc = load(config->site_profile, config->site_profile_dir, config->site_profile_peaks,
		topology, ret, &why);

	if (!rc)
		return 0;
	return pm_err_set(err, rc, "SiteProfile=%s: %s; the ranks get no PM_MODEL",
		config->site_profile, why.text);
}

/* N of equation 5. A rank of several packages counts for its home. */
static unsigned ranks_of(const struct pm_plan *plan, int package)
{
	unsigned n = 0;

	for (unsigned i = 0; i < plan->n_ranks; i++)
		n += plan->ranks[i].package == package;
	return n;
}

int pm_rank_model_format(const struct pm_site_profile *profile, const struct pm_topology *topology,
	const struct pm_plan *plan, unsigned rank, char text[PM_MODEL_TEXT_MAX], struct pm_err *err)
{
	const struct pm_plan_rank *line = &plan->ranks[rank];
	unsigned socket = (unsigned)topology->packages[line->package].number;
	struct pm_model_words words = {0};
	int rc;

	*text = '\0';
	if (!profile->n_sockets || line->spans_packages || !CPU_COUNT(&line->cpus))
		return 0;
	rc = pm_site_profile_model(profile, socket, &words, err);
	words.ranks = ranks_of(plan, line->package);
	if (!rc && !pm_model_format(&words, text))
		rc = pm_err_set(err, -E2BIG,
			"site profile '%s', socket %u: more than %d bytes in PM_MODEL; leave "
			"points out",
			profile->class, socket, PM_MODEL_TEXT_MAX - 1);
	return rc;
}
