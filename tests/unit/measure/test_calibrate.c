/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include <sched.h>

#include "base/cleanup.h"
#include "measure/calibrate.h"
#include "tests/unit/tap.h"

#define MIB ((size_t)1 << 20)

static const struct pm_effort effort = {
	.runs_min = 1, .runs_max = 1, .narrow = 1, .seconds = 1e-9, .bytes = MIB};

static void ignore(void *context, const char *point, size_t done, size_t known, size_t total)
{
	(void)context, (void)point, (void)done, (void)known, (void)total;
}

static int drop(void *context, const struct pm_site_profile *profile, struct pm_err *err)
{
	(void)context, (void)profile, (void)err;
	return 0;
}

static const struct pm_calibrate_watch watch = {NULL, ignore, drop};

/* This process's CPU and the memory beside it. */
static struct pm_calibrate_socket here(int *ret_cpu)
{
	unsigned cpu = 0, node = 0;

	getcpu(&cpu, &node);
	*ret_cpu = (int)cpu;
	return (struct pm_calibrate_socket){
		.cpus = ret_cpu, .n_cpus = 1, .dram = {.node = (int)node}, .is_memory_mode = true};
}

static void is_measured(const struct pm_site_profile *profile, enum pm_measured_loop loop,
	enum pm_measured_place place, bool expected, const char *name)
{
	const struct pm_site_socket *socket = pm_site_profile_socket(profile, 0);

	is_number(
		pm_site_loop(socket->loops, socket->n_loops, loop, place) != NULL, expected, name);
}

static void test_memory_mode(void)
{
	cleanup_with(pm_site_profile_done) struct pm_site_profile profile = {0};
	struct pm_err err = {0};
	int cpu;
	struct pm_calibrate_socket socket = here(&cpu);

	is_number(pm_calibrate(&socket, 1, &effort, &watch, &profile, &err), 0, "Memory Mode");
	is_measured(&profile, PM_LOOP_TRIAD, PM_PLACE_MEMORY, true, "within the DRAM that caches");
	is_measured(&profile, PM_LOOP_TRIAD, PM_PLACE_MEMORY_LARGE, false, "and not beyond it");
	socket.beyond_bytes = 8 * MIB;
	is_number(pm_calibrate(&socket, 1, &effort, &watch, &profile, &err), 0, "continued");
	is_measured(&profile, PM_LOOP_TRIAD, PM_PLACE_MEMORY_LARGE, true, "with memory beyond it");
	is_measured(&profile, PM_LOOP_READ, PM_PLACE_MEMORY_LARGE, false, "for STREAM alone");
	is_measured(&profile, PM_LOOP_COPY, PM_PLACE_PMEM, false, "persistent memory is not there");
}

static void test_no_room(void)
{
	cleanup_with(pm_site_profile_done) struct pm_site_profile profile = {0};
	struct pm_err err = {0};
	int cpu;
	struct pm_calibrate_socket socket = here(&cpu);

	socket.beyond_bytes = (size_t)1 << 46;
	ok(pm_calibrate(&socket, 1, &effort, &watch, &profile, &err) < 0, "more than there is");
	ok(strstr(err.text, "socket 0: NUMA node "), "names the socket and its memory: %s",
		err.text);
	is_number((long long)profile.n_sockets, 0, "before anything is measured");
}

int main(void)
{
	test_memory_mode();
	test_no_room();
	return tap_done();
}
