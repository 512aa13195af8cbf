/* SPDX-License-Identifier: Apache-2.0 */
/* Copies of a mount in private mount namespaces, as job_container/tmpfs makes them; root's. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "node/act/mount_copies.h"
#include "node/tools/mounts.h"
#include "tests/unit/scratch.h"
#include "tests/unit/tap.h"

static char place[300], second[300], kept[300], device[40];

static bool own_private_mounts(void)
{
	return !unshare(CLONE_NEWNS) && !mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL);
}

static size_t count_of_device(void)
{
	struct pm_mounts mounts = {0};
	size_t n = 0;

	if (pm_mounts_load("", &mounts, NULL))
		return 99;
	for (size_t i = 0; i < mounts.n; i++)
		n += !strcmp(mounts.list[i].device, device);
	pm_mounts_done(&mounts);
	return n;
}

static bool mount_one(void)
{
	struct pm_mounts mounts = {0};
	const struct pm_mount *mount_at;

	(void)mkdir(place, 0755);
	(void)mkdir(second, 0755);
	if (mount("none", place, "tmpfs", 0, "size=1M") || pm_mounts_load("", &mounts, NULL))
		return false;
	mount_at = pm_mounts_at(&mounts, place);
	snprintf(device, sizeof(device), "%s", mount_at ? mount_at->device : "");
	pm_mounts_done(&mounts);
	return *device;
}

/* In a namespace of its own, with further mounts of the file system, one below another. */
static void live(int ready, int go, bool uses, uid_t uid)
{
	char byte = 0;
	int fd;

	if (!own_private_mounts() || mount(place, second, NULL, MS_BIND, NULL) ||
		mount(second, second, NULL, MS_BIND, NULL))
		_exit(90);
	if (uid && setuid(uid))
		_exit(91);
	fd = uses ? openat(AT_FDCWD, second, O_RDONLY | O_DIRECTORY) : -1;
	(void)!write(ready, "r", 1);
	(void)!read(go, &byte, 1);
	close(fd);
	_exit((int)count_of_device());
}

struct tenant {
	pid_t pid;
	uid_t uid; /* root, unless the test says another */
	int ready[2], go[2];
};

static void begin(struct tenant *tenant, bool uses)
{
	char byte;

	if (pipe(tenant->ready) || pipe(tenant->go))
		exit(1);
	tenant->pid = fork();
	if (tenant->pid == 0)
		live(tenant->ready[1], tenant->go[0], uses, tenant->uid);
	close(tenant->ready[1]);
	ok(read(tenant->ready[0], &byte, 1) == 1, "a namespace with copies");
}

/* How many mounts of the device it has at its end. */
static int finish(const struct tenant *tenant)
{
	int status = -1;

	(void)!write(tenant->go[1], "g", 1);
	waitpid(tenant->pid, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void detaches(const char *what)
{
	struct pm_err err = {0};

	ok(!umount2(place, 0), "%s: unmounted here", what);
	is_number(pm_mount_copies_detach(device, &err), 0, what);
	is_text(err.text, "", what);
}

static void test_processes(bool uses, const char *what)
{
	struct tenant one = {0}, two = {0};

	ok(mount_one(), "%s: mounted", what);
	begin(&one, uses);
	begin(&two, false);
	detaches(what);
	is_number(finish(&one), 0, what);
	is_number(finish(&two), 0, what);
}

static int count_in_kept(void)
{
	int status = -1;
	pid_t child = fork();

	if (child == 0) {
		int fd = open(kept, O_RDONLY);

		_exit(fd < 0 || setns(fd, CLONE_NEWNS) ? 91 : (int)count_of_device());
	}
	waitpid(child, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void test_kept(void)
{
	struct tenant one = {0};
	char path[64];

	ok(mount_one(), "kept: mounted");
	begin(&one, false);
	snprintf(path, sizeof(path), "/proc/%d/ns/mnt", (int)one.pid);
	close(open(kept, O_CREAT | O_RDWR | O_CLOEXEC, 0600));
	ok(!mount(path, kept, NULL, MS_BIND, NULL), "a file keeps the namespace");
	is_number(finish(&one), 3, "the copies are there until they are detached");
	detaches("kept by a file");
	is_number(count_in_kept(), 0, "no copy is left in the namespace without a process");
	umount2(kept, MNT_DETACH);
}

static void test_others(void)
{
	struct tenant one = {0};
	char first[sizeof(device)];

	ok(mount_one(), "another file system: mounted");
	begin(&one, false);
	snprintf(first, sizeof(first), "%s", device);
	snprintf(device, sizeof(device), "0:4094");
	is_number(pm_mount_copies_detach(device, NULL), 0, "a device that is not mounted");
	snprintf(device, sizeof(device), "%s", first);
	is_number(finish(&one), 3, "mounts of other devices stay");
	ok(count_of_device() == 1 && !umount2(place, 0), "so does the mount here");
}

/* Without the capability, the kernel lets this process open no namespace of another user's. */
static bool may_open_all(bool may)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct data[2];
	uint32_t bit = 1U << CAP_SYS_PTRACE;

	if (syscall(SYS_capget, &header, data))
		return false;
	data[0].effective = may ? data[0].effective | bit : data[0].effective & ~bit;
	return !syscall(SYS_capset, &header, data);
}

static void test_unopened(void)
{
	struct tenant one = {.uid = 65534};
	struct pm_err err = {0};
	char wanted[200];

	ok(mount_one(), "a namespace that cannot be opened: mounted");
	begin(&one, false);
	ok(may_open_all(false), "without the capability");
	is_number(pm_mount_copies_detach("0:4094", NULL), 0, "it has no mount of the device");
	is_number(pm_mount_copies_detach(device, &err), -EACCES, "it has one");
	snprintf(wanted, sizeof(wanted),
		"the file system of device %s stays mounted in the mount namespace of process %d; "
		"end that process: open '/proc/%d/ns/mnt': Permission denied",
		device, (int)one.pid, (int)one.pid);
	is_text(err.text, wanted, "the sentence names it");
	ok(may_open_all(true), "with the capability again");
	is_number(finish(&one), 3, "its mounts stay");
	ok(!umount2(place, 0), "unmounted");
}

/*
 * A file keeps only a namespace with a higher number than its own has. Linux 6.18 numbers them by
 * processor, each from a range of its own (mnt_ns_loop() in fs/namespace.c).
 */
static void stay_on_one_processor(void)
{
	cpu_set_t here;

	CPU_ZERO(&here);
	CPU_SET(sched_getcpu(), &here);
	(void)sched_setaffinity(0, sizeof(here), &here);
}

int main(void)
{
	stay_on_one_processor();
	snprintf(place, sizeof(place), "%s", scratch_path("place"));
	snprintf(second, sizeof(second), "%s", scratch_path("second"));
	snprintf(kept, sizeof(kept), "%s", scratch_path("kept"));
	if (geteuid() || !own_private_mounts()) {
		ok(true, "copies of mounts # SKIP not root, or no mount namespaces");
		return tap_done();
	}
	test_processes(false, "copies in two namespaces");
	test_processes(true, "a process uses its copy");
	test_kept();
	test_others();
	test_unopened();
	return tap_done();
}
