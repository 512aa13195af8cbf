/* SPDX-License-Identifier: Apache-2.0 */
/* The switch is a pipe here, which keeps all that was written to it. What becomes of ext4 is seen
 * on the emulated machine. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "node/act/caches.h"
#include "tests/unit/scratch.h"
#include "tests/unit/tap.h"

#define SWITCH "proc/sys/vm/drop_caches"
#define MOUNTS "proc/self/mountinfo"

static struct pm_config config;

static int make_switch(void)
{
	unlink(scratch_path(SWITCH));
	scratch_file(SWITCH, ""); /* with the folders above it */
	unlink(scratch_path(SWITCH));
	mkfifo(scratch_path(SWITCH), 0600);
	return open(scratch_path(SWITCH), O_RDWR | O_CLOEXEC);
}

static void test_once(void)
{
	cleanup_close int fd = make_switch();
	char written[2] = "";

	is_number(pm_caches_evict(&config, NULL), 0, "emptied once");
	is_number(read(fd, written, 1), 1, "the kernel was told");
	is_text(written, "1", "that pages are not needed");
}

static void test_again(void)
{
	cleanup_close int fd = make_switch();
	struct pm_caches_evictor evictor;
	char written[3] = "";

	is_number(pm_caches_evictor_start(&evictor, &config, NULL), 0, "kept empty");
	for (size_t got = 0; got < 2; got++)
		is_number(read(fd, written + got, 1), 1, "the kernel is told");
	pm_caches_evictor_stop(&evictor);
	is_text(written, "11", "also later");
}

static void test_failures(void)
{
	struct pm_caches_evictor evictor;
	struct pm_err err = {0};

	unlink(scratch_path(SWITCH));
	is_number(pm_caches_evictor_start(&evictor, &config, &err), -ENOENT, "no switch");
	has_text(err.text, SWITCH, "is told with its file");
	scratch_file(MOUNTS, "rubbish\n");
	is_number(pm_caches_evictor_start(&evictor, &config, &err), -EBADMSG, "mounts unknown");
}

int main(void)
{
	alarm(60); /* in place of waiting for ever for what is not written */
	config.fs_root = (char *)scratch_dir();
	scratch_file(MOUNTS, "29 1 254:1 / / rw - ext4 /dev/vda1 rw\n"
			     "30 29 254:2 / /gone rw - ext4 /dev/vda2 rw\n");
	test_once();
	test_again();
	test_failures();
	return tap_done();
}
