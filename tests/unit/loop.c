/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "tests/unit/loop.h"

#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/run.h"
#include "tests/unit/scratch.h"

bool loop_run(const char *const *argv, char *line, size_t size)
{
	const struct pm_program run = {.argv = argv, .timeout_ms = 60000};
	struct pm_output output = {0};
	bool done = !pm_run(&run, &output, NULL) && !output.status;

	if (done && line)
		snprintf(line, size, "%.*s", (int)strcspn(output.out, "\n"), output.out);
	pm_output_done(&output);
	return done;
}

bool loop_make(size_t bytes, char device[64])
{
	static unsigned count;
	const char *file;
	char name[20];

	snprintf(name, sizeof(name), "image%u", count++);
	file = scratch_file(name, "");
	return geteuid() == 0 && !truncate(file, (off_t)bytes) &&
	       LOOP_RUN(device, 64, "/usr/sbin/losetup", "--find", "--show", file);
}

void loop_drop(const char *device)
{
	if (*device)
		LOOP_RUN(NULL, 0, "/usr/sbin/losetup", "--detach", device);
}

bool loop_mount(const char *device, const char *place, const char *type, const char *options)
{
	(void)mkdir(place, 0755);
	return !unshare(CLONE_NEWNS) && !mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) &&
	       !mount(device, place, type, 0, options);
}
