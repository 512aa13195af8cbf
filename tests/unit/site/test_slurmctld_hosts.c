/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/asprintf.h"
#include "base/cleanup.h"
#include "site/slurmctld_hosts.h"
#include "tests/unit/scratch.h"
#include "tests/unit/tap.h"

static void has(const char *text, const char *hosts)
{
	cleanup_free char *list = NULL;
	struct pm_err err = {0};
	bool here;

	scratch_file("slurm.conf", text);
	if (!ok(!pm_slurmctld_hosts(scratch_path("pmem.conf"), &list, &here, &err),
		    "read '%s' (%s)", text, err.text))
		return;
	is_text(list, hosts, text);
}

static void test_forms(void)
{
	has("SlurmctldHost=head\n", "head");
	has("slurmctldhost = head(10.77.0.1)\n", "10.77.0.1");
	has("ClusterName=x SlurmctldHost=head SlurmctldPort=1\n", "head");
	has("SlurmctldHost=a # the first\r\n#SlurmctldHost=b\nSlurmctldHost=c(fd00::1)\n",
		"a,[fd00::1]");
	has("SlurmctldHost=a\nSlurmctldHost=b\nSlurmctldAddr=vip\n", "vip");
	has("SlurmctldHost=a\nSlurmctldAddr=\n", "a");
	has("XSlurmctldHost=no\nSlurmctldHostX=no\nSlurmctldHost=yes", "yes");
}

static void test_included(void)
{
	scratch_file("parts/hosts.conf", "SlurmctldHost=inner\n");
	has("include parts/hosts.conf\nSlurmctldHost=outer\n", "inner,outer");
	has("Include  parts/none.conf\nSlurmctldHost=outer\n", "outer");
	scratch_file("self.conf", "include self.conf\n");
	has("include self.conf\nSlurmctldHost=outer\n", "outer");
}

static void test_place(void)
{
	cleanup_free char *list = NULL;
	struct pm_err err;
	bool here;

	setenv("SLURM_CONF", scratch_file("other/slurm.conf", "SlurmctldHost=other\n"), 1);
	has("SlurmctldHost=beside\n", "other");
	unsetenv("SLURM_CONF");
	scratch_file("slurm.conf", "ClusterName=x\n");
	is_number(pm_slurmctld_hosts(scratch_path("pmem.conf"), &list, &here, &err), -ENOENT,
		"no host");
	ok(strstr(err.text, "has no SlurmctldHost") && strstr(err.text, "slurm.conf"),
		"and the file's name: %s", err.text);
	setenv("SLURM_CONF", scratch_path("gone.conf"), 1);
	is_number(pm_slurmctld_hosts(NULL, &list, &here, &err), -ENOENT, "no file");
	ok(strstr(err.text, "gone.conf") && !list, "and its name: %s", err.text);
}

/* Whether this machine is slurmctld's, by a line with its name in place of %s. */
static bool is_here(const char *format)
{
	cleanup_free char *list = NULL;
	cleanup_free char *text = NULL;
	char name[256] = "";
	bool here = false;

	(void)gethostname(name, sizeof(name) - 1);
	text = replaced(format, "%s", strtok(name, "."));
	scratch_file("slurm.conf", text);
	is_number(pm_slurmctld_hosts(scratch_path("pmem.conf"), &list, &here, NULL), 0, text);
	return here;
}

static void test_here(void)
{
	ok(is_here("SlurmctldHost=%s\n"), "by its name");
	ok(is_here("SlurmctldHost=other\nSlurmctldHost=%s.example.org(10.0.0.1)\n"),
		"as the second one, by its long name");
	ok(!is_here("SlurmctldHost=%s2\n"), "a longer name");
	ok(!is_here("SlurmctldHost=other(%s)\n"), "an address");
}

int main(void)
{
	unsetenv("SLURM_CONF");
	test_forms();
	test_included();
	test_place();
	unsetenv("SLURM_CONF");
	test_here();
	return tap_done();
}
