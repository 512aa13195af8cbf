/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/asprintf.h"
#include "base/cleanup.h"
#include "site/rank_model.h"
#include "tests/unit/scratch.h"
#include "tests/unit/tap.h"

#define ROUND "site-profiles/round.json"
#define MODEL                                                                                      \
	"1 class=round-numbers ranks=2 in=1:3000000000,2:6000000000,8:20000000000 "                \
	"out=1:2000000000,2:4000000000,4:6000000000 peak=39000000000,13000000000"

/* One package, or two; CPUs do not matter here. */
static struct pm_package packages[2] = {{.number = 0}, {.number = 1}};
static struct pm_topology machine(unsigned n_packages)
{
	return (struct pm_topology){.packages = packages, .n_packages = n_packages};
}

static struct pm_plan_rank bound(int package)
{
	struct pm_plan_rank rank = {.package = package};

	CPU_SET(0, &rank.cpus);
	return rank;
}

/* The fixture as NAME.json, with the first `old` in it as `new`; returns its path. */
static const char *install(const char *name, const char *old, const char *new)
{
	cleanup_free char *text = replaced(fixture(ROUND, NULL), old, new);
	cleanup_free char *file = pm_asprintf("%s.json", name);

	return scratch_file(file, text);
}

static int load(
	const char *asked, unsigned n_packages, struct pm_site_profile *ret, struct pm_err *err)
{
	struct pm_topology topology = machine(n_packages);

	return pm_rank_model_load(asked, scratch_dir(), &topology, ret, err);
}

static void fails(const char *asked, unsigned n_packages, int rc, const char *words)
{
	struct pm_site_profile profile;
	struct pm_err err = {0};

	is_number(load(asked, n_packages, &profile, &err), rc, words);
	ok(strstr(err.text, words), "says so");
}

static void test_load(void)
{
	struct pm_site_profile profile;
	struct pm_err err;

	install("round-numbers", "\"n1\"", "\"n2\"");
	is_number(load("round-numbers", 1, &profile, &err), 0, "a class");
	is_text(profile.host, "n2", "from the site's folder");
	pm_site_profile_done(&profile);
	is_number(load("tests/fixtures/" ROUND, 1, &profile, &err), 0, "a file");
	is_text(profile.host, "n1", "from its place");
	pm_site_profile_done(&profile);
	is_number(load("none", 1, &profile, &err), 0, "none");
	is_number((long long)profile.n_sockets, 0, "has no sockets");
}

static void test_peaks_of_the_site(void)
{
	struct pm_topology topology = machine(1);
	struct pm_config config = {.site_profile = (char *)"peakless",
		.site_profile_dir = (char *)scratch_dir(),
		.site_profile_peaks = {UINT64_C(30) << 30, UINT64_C(10) << 30}};
	struct pm_site_profile profile;
	struct pm_model_words words;
	struct pm_err err;

	install("peakless", "\"round-numbers\"", "\"peakless\"");
	is_number(pm_rank_model_load_site(&config, &topology, &profile, &err), 0, "a class");
	is_number(pm_site_profile_model(&profile, 0, &words, &err), 0, "with");
	ok(words.socket.peak_in == (double)(UINT64_C(30) << 30), "the site's peak of reads");
	ok(words.socket.peak_out == (double)(UINT64_C(10) << 30), "and of writes");
	ok(words.socket.in.points[0].bytes_per_s == 3e9, "the rest is the profile's");
	pm_site_profile_done(&profile);
	is_number(load("round-numbers", 1, &profile, &err), 0, "the profile alone");
	is_number(pm_site_profile_model(&profile, 0, &words, &err), 0, "has");
	ok(words.socket.peak_in == 39e9, "its own");
	pm_site_profile_done(&profile);
}

static void test_refusals(void)
{
	install("other", "\"n1\"", "\"n1\"");
	fails("other", 1, -EBADMSG, "it is of class 'round-numbers'");
	install("guest", "\"round-numbers\",", "\"guest\", \"machine\": \"virtual\",");
	fails("guest", 1, -EPERM, "measured under a hypervisor");
	fails("absent", 1, -ENOENT, "absent.json");
	fails("", 1, -EINVAL, "write the name of a class");
	fails("a b", 1, -EINVAL, "write the name of a class");
	fails("tests/fixtures/" ROUND, 2, -ENODATA, "has no socket 1");
}

static void test_root_trusts_root(void)
{
	if (geteuid())
		return;
	ok(!chmod(install("round-numbers", "\"n1\"", "\"n1\""), 0666),
		"a file that anybody may write");
	fails("round-numbers", 1, -EPERM, "writable by group or others");
}

static void test_format(void)
{
	struct pm_topology topology = machine(2);
	struct pm_plan_rank ranks[] = {bound(0), bound(0)}, *rank = ranks;
	struct pm_plan plan = {.ranks = ranks, .n_ranks = 2};
	struct pm_site_profile profile, none = {0};
	char text[PM_MODEL_TEXT_MAX];
	struct pm_err err;

	is_number(load("tests/fixtures/" ROUND, 1, &profile, &err), 0, "a profile");
	is_number(pm_rank_model_format(&profile, &topology, &plan, 0, text, &err), 0, "a rank");
	is_text(text, MODEL, "has its socket's bandwidths");
	is_number(pm_rank_model_format(&none, &topology, &plan, 0, text, &err), 0, "no profile");
	is_text(text, "", "no bandwidths");
	rank->spans_packages = true;
	is_number(pm_rank_model_format(&profile, &topology, &plan, 0, text, &err), 0,
		"on two sockets");
	is_text(text, "", "no bandwidths");
	*rank = (struct pm_plan_rank){0};
	is_number(pm_rank_model_format(&profile, &topology, &plan, 0, text, &err), 0, "unbound");
	is_text(text, "", "no bandwidths");
	*rank = bound(1);
	is_number(pm_rank_model_format(&profile, &topology, &plan, 0, text, &err), -ENODATA,
		"on a socket that the profile lacks");
	pm_site_profile_done(&profile);
}

int main(void)
{
	test_load();
	test_peaks_of_the_site();
	test_refusals();
	test_root_trusts_root();
	test_format();
	return tap_done();
}
