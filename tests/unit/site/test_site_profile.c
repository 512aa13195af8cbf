/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include <errno.h>

#include "base/cleanup.h"
#include "site/site_profile.h"
#include "tests/unit/scratch.h"
#include "tests/unit/tap.h"

#define ROUND "tests/fixtures/site-profiles/round.json"

static void test_values(void)
{
	struct pm_site_profile profile;
	const struct pm_site_socket *socket;
	const struct pm_measure *measure;
	struct pm_err err;

	is_number(pm_site_profile_load(ROUND, &profile, &err), 0, "a profile");
	is_text(profile.class, "round-numbers", "its class");
	ok(!profile.is_virtual, "a real machine");
	socket = pm_site_profile_socket(&profile, 0);
	ok(socket && !pm_site_profile_socket(&profile, 1), "one socket");
	measure = &pm_site_socket_curve(socket, PM_CURVE_COPY_IN)->points[0].measure;
	is_number((long long)measure->low, 2990000000, "a bound");
	is_number(measure->samples, 12, "the number of samples");
	ok(pm_site_socket_curve(socket, PM_CURVE_COPY_OUT)->points[2].measure.is_assumed,
		"an assumed point");
	ok(!pm_site_socket_curve(socket, PM_CURVE_BOTH_IN), "a curve that is not there");
	ok(pm_site_loop(socket->loops, socket->n_loops, PM_LOOP_TRIAD, PM_PLACE_PMEM)
				->points[1]
				.measure.value == 7777,
		"a loop at a place");
	ok(!pm_site_loop(socket->loops, socket->n_loops, PM_LOOP_COPY, PM_PLACE_PMEM),
		"one that is not there");
	ok(pm_site_loop(profile.loops, profile.n_loops, PM_LOOP_COPY, PM_PLACE_DRAM)
				->points->threads == 0,
		"one of all sockets, with all cores");
	is_text(pm_site_socket_value(socket, PM_VALUE_PEAK_IN)->measure.from,
		"WarpX-PM, section II", "where a value is printed");
	pm_site_profile_done(&profile);
}

static void test_round_trip(void)
{
	cleanup_free char *first = NULL, *second = NULL;
	struct pm_site_profile profile, again;
	struct pm_err err;

	is_number(pm_site_profile_load(ROUND, &profile, &err), 0, "a profile");
	first = pm_site_profile_format(&profile);
	is_number(pm_site_profile_load(scratch_file("again.json", first), &again, &err), 0,
		"is written, and read");
	second = pm_site_profile_format(&again);
	is_text(second, first, "nothing is lost");
	pm_site_profile_done(&profile);
	pm_site_profile_done(&again);
}

static void test_model(void)
{
	struct pm_site_profile profile;
	struct pm_model_words words;
	struct pm_err err;

	is_number(pm_site_profile_load(ROUND, &profile, &err), 0, "a profile");
	is_number(pm_site_profile_model(&profile, 0, &words, &err), 0, "a socket's parameters");
	is_text(words.class, "round-numbers", "with the class");
	is_number(words.socket.in.n, 3, "with the curve");
	is_number((long long)words.socket.peak_out, 13000000000, "with the peak");
	is_number(pm_site_profile_model(&profile, 1, &words, &err), -ENODATA, "no such socket");
	is_text(err.text, "site profile 'round-numbers' has no socket 1", "is named");
	strcpy(profile.reference, "a publication");
	is_number(pm_site_profile_model(&profile, 1, &words, &err), 0,
		"a reference is the same for each socket");
	profile.sockets[0].n_values = 1;
	is_number(pm_site_profile_model(&profile, 0, &words, &err), -ENODATA, "a peak is missing");
	is_text(err.text, "site profile 'round-numbers', socket 0: no value 'peak-out'",
		"it is named");
	profile.sockets[0].n_values = 3;
	profile.sockets[0].curves[0].curve = PM_CURVE_BOTH_IN;
	is_number(pm_site_profile_model(&profile, 0, &words, &err), -ENODATA, "a curve is missing");
	is_text(err.text, "site profile 'round-numbers', socket 0: no curve 'copy-in'",
		"it is named");
	pm_site_profile_done(&profile);
}

/* Each is the file above with one text replaced. */
static const struct {
	const char *old, *new, *error;
} edits[] = {
	{"slurm-pmem site profile", "recipe",
		"not JSON with \"format\": \"slurm-pmem site profile\"; 'pmctl calibrate' writes "
		"such "
		"files"},
	{"{\n", "",
		"not JSON with \"format\": \"slurm-pmem site profile\"; 'pmctl calibrate' "
		"writes such files"},
	{"\"version\": 1", "\"version\": 2", "another version of the format; this one reads 1"},
	{"round-numbers", "round numbers",
		"class 'round numbers': use letters, digits, '.', '_' and '-' only"},
	{"\"socket\": 0", "\"socket\": -1",
		"sockets[0]: 'socket' is missing, or is not a whole number below 2^32"},
	{"copy-out", "copy-up",
		"sockets[0]: curves[1]: 'name' is missing, or is not one of the known names"},
	{"copy-out", "copy-in", "socket 0: curve 'copy-in' is there twice"},
	{"peak-out", "peak-in", "socket 0: value 'peak-in' is there twice"},
	{"20000000000", "5000000000",
		"socket 0: curve 'copy-in': falls to 5000000000 B/s at 8 threads; end the curve at "
		"its "
		"peak, with 2 threads"},
	{"20000000000", "-5",
		"sockets[0]: curves[0]: points[2]: 'bytes_per_s' is missing, or is not a whole "
		"number "
		"below 2^63"},
	{": 3000000000", ": 0",
		"socket 0: curve 'copy-in': 0 B/s at 1 threads; bandwidth is above 0"},
	{"\"threads\": 8", "\"threads\": 2",
		"socket 0: curve 'copy-in': 2 threads at point 3; each point has more threads than "
		"the "
		"one before"},
	{"\"place\": \"pmem\"", "\"place\": \"tape\"",
		"sockets[0]: loops[1]: 'place' is missing, or is not one of the known names"},
	{"\"place\": \"pmem\"", "\"place\": \"dram\"",
		"socket 0: loop 'triad' at 'dram': is there twice"},
	{"\"threads\": 4, \"bytes_per_s\": 7", "\"threads\": 1, \"bytes_per_s\": 7",
		"socket 0: loop 'triad' at 'pmem': 1 threads at point 2; each point has more "
		"threads "
		"than the one before"},
	{": 7777", ": 0",
		"socket 0: loop 'triad' at 'pmem': 0 B/s at 4 threads; bandwidth is above 0"},
	{": 304000", ": 0", "socket 0: value 'pmem-random' is 0; remove it, or measure it again"},
};

static void test_bad_files(void)
{
	const char *text = fixture("site-profiles/round.json", NULL);
	struct pm_site_profile profile;
	struct pm_err err;

	FOR_EACH(row, edits)
	{
		cleanup_free char *bad = replaced(text, row->old, row->new), *expected = NULL;
		const char *path = scratch_file("bad.json", bad);

		if (asprintf(&expected, "site profile '%s': %s", path, row->error) < 0)
			abort();
		is_number(pm_site_profile_load(path, &profile, &err), -EBADMSG, row->error);
		is_text(err.text, expected, "says it so");
	}
	is_number(pm_site_profile_load("/nonexistent", &profile, &err), -ENOENT, "no file");
}

int main(void)
{
	test_values();
	test_round_trip();
	test_model();
	test_bad_files();
	return tap_done();
}
