/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "site/profile_merge.h"
#include "tests/unit/tap.h"

#define ROUND "tests/fixtures/site-profiles/round.json"

static void load(struct pm_site_profile *profile)
{
	struct pm_err err;

	is_number(pm_site_profile_load(ROUND, profile, &err), 0, "a profile");
}

static void test_nothing_to_add_to(void)
{
	cleanup_with(pm_site_profile_done) struct pm_site_profile profile = {
		.class = "round-numbers"};
	cleanup_with(pm_site_profile_done) struct pm_site_profile older = {0}, whole = {0};
	cleanup_free char *got = NULL, *expected = NULL;
	struct pm_err err;

	load(&older);
	load(&whole);
	is_number(pm_site_profile_add_missing(&profile, &older, &err), 0, "all rows are moved");
	is_number((long long)profile.n_sockets, 1, "with their socket");
	strcpy(profile.date, whole.date);
	strcpy(profile.host, whole.host);
	strcpy(profile.cpu, whole.cpu);
	strcpy(profile.kernel, whole.kernel);
	strcpy(profile.modules, whole.modules);
	strcpy(profile.reference, whole.reference);
	got = pm_site_profile_format(&profile);
	expected = pm_site_profile_format(&whole);
	is_text(got, expected, "none is lost");
}

/* As if the copy had been measured anew with one thread. */
static void test_rows_are_kept(void)
{
	cleanup_with(pm_site_profile_done) struct pm_site_profile profile = {0}, older = {0};
	const struct pm_site_curve *curve;
	struct pm_site_socket *socket;
	struct pm_err err;

	load(&profile);
	load(&older);
	socket = &profile.sockets[0];
	while (socket->n_curves > 1)
		free(socket->curves[--socket->n_curves].points);
	socket->curves[0].n_points = 1;
	socket->curves[0].points[0].measure.value = 4711;
	is_number(pm_site_profile_add_missing(&profile, &older, &err), 0, "a profile with one row");
	curve = pm_site_socket_curve(&profile.sockets[0], PM_CURVE_COPY_IN);
	is_number((long long)curve->n_points, 1, "points of two runs are not mixed");
	is_number((long long)curve->points[0].measure.value, 4711, "the new one is kept");
	ok(pm_site_socket_curve(&profile.sockets[0], PM_CURVE_COPY_OUT), "a missing row is added");
	is_number((long long)profile.sockets[0].n_values, (long long)older.sockets[0].n_values,
		"and no value twice");
	is_number((long long)profile.n_loops, (long long)older.n_loops, "nor a loop of the node");
}

int main(void)
{
	test_nothing_to_add_to();
	test_rows_are_kept();
	return tap_done();
}
