/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/secure.h"
#include "site/config.h"
#include "tests/unit/scratch.h"
#include "tests/unit/tap.h"

#define NOBODY 65534

static const char *file_with(const char *name, mode_t mode, uid_t owner)
{
	const char *path = scratch_file(name, "x");

	if (chmod(path, mode) || chown(path, owner, 0))
		exit(2);
	return path;
}

static const char *dir_with(const char *name, mode_t mode, uid_t owner)
{
	const char *path = scratch_path(name);

	if (mkdir(path, 0755) || chmod(path, mode) || chown(path, owner, 0))
		exit(2);
	return path;
}

static const char *link_to(const char *name, const char *target)
{
	const char *path = scratch_path(name);

	if (symlink(target, path))
		exit(2);
	return path;
}

static void refuses(const char *path, const char *component, const char *name)
{
	struct pm_err err = {0};

	is_number(pm_secure_path(path, &err), -EPERM, name);
	has_text(err.text, component, "the component is named");
	has_text(err.text, path, "and the path");
}

static void accepts(const char *path, const char *name)
{
	struct pm_err err = {0};

	if (!ok(!pm_secure_path(path, &err), "%s", name))
		printf("# %s\n", err.text);
}

static void test_files(void)
{
	accepts("/usr/bin/env", "a program of the system");
	accepts("/usr/bin", "a directory of the system");
	accepts(file_with("plain", 0644, 0), "a file of root's");
	refuses(file_with("foreign", 0644, NOBODY), "foreign' belongs to user 65534", "foreign");
	refuses(file_with("group", 0664, 0), "group' is writable", "writable by its group");
	refuses(file_with("all", 0646, 0), "all' is writable", "writable by all");
	is_number(pm_secure_path(scratch_path("none"), NULL), -ENOENT, "missing");
	is_number(pm_secure_path("usr/bin", NULL), -EINVAL, "relative");
}

static void test_directories(void)
{
	dir_with("open", 0777, 0);
	refuses(file_with("open/file", 0644, 0), "open' is writable", "in a directory for all");
	dir_with("sticky", 01777, 0);
	refuses(file_with("sticky/file", 0644, 0), "sticky' is writable", "in a sticky one");
	dir_with("his", 0755, NOBODY);
	refuses(file_with("his/file", 0644, 0), "his' belongs to user 65534", "in a foreign one");
}

static void test_links(void)
{
	accepts(link_to("good", "plain"), "a link to a good file");
	accepts(link_to("up", "../../bin/env"), "a link that goes up");
	refuses(link_to("bad", scratch_path("all")), "all' is writable", "a link to a bad one");
	refuses(link_to("through", "open/file"), "open' is writable", "a link through a bad one");
	link_to("open/hop", scratch_path("plain"));
	refuses(link_to("hops", "open/hop"), "open' is writable", "a link by a bad one's link");
	is_number(pm_secure_path(link_to("loop", "loop"), NULL), -ELOOP, "a link to itself");
	if (lchown(link_to("given", "plain"), NOBODY, 0))
		exit(2);
	refuses(scratch_path("given"), "given' belongs to user 65534", "a foreign link");
}

static void test_open(void)
{
	struct pm_config config;
	struct pm_err err = {0};
	int fd = -1;

	is_number(pm_secure_open(scratch_path("plain"), &fd, &err), 0, "a good file is opened");
	ok(fd >= 0, "with a descriptor");
	close(fd);
	fd = -1;
	is_number(pm_secure_open(scratch_dir(), &fd, &err), -EINVAL, "a directory is not a file");
	is_number(pm_secure_open("/dev/null", &fd, &err), -EPERM, "nor is a device for all");
	ok(fd == -1, "the result is untouched");
	is_number(pm_config_load(scratch_path("all"), &config, &err), -EPERM,
		"root reads no configuration that others can change");
}

int main(void)
{
	if (geteuid() != 0) {
		puts("1..0 # SKIP only root can make such files\n# 0 passed, 0 failed");
		return 0;
	}
	test_files();
	test_directories();
	test_links();
	test_open();
	return tap_done();
}
