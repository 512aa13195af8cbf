/* SPDX-License-Identifier: Apache-2.0 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/asprintf.h"
#include "base/cleanup.h"
#include "base/file.h"
#include "node/act/cpusets.h"
#include "tests/unit/tap.h"

static char root[] = "/tmp/test_cpusets.XXXXXX";

static const char *const directories[] = {
	"sys",
	"sys/fs",
	"sys/fs/cgroup",
	"sys/fs/cgroup/cpuset",
	"sys/fs/cgroup/cpuset/slurm_n1",
	"sys/fs/cgroup/cpuset/other",
};

static void make_directories(void)
{
	for (size_t i = 0; i < sizeof(directories) / sizeof(directories[0]); i++) {
		cleanup_free char *path = pm_asprintf("%s/%s", root, directories[i]);

		mkdir(path, 0755);
	}
}

static void put(const char *of, const char *list)
{
	cleanup_free char *path = pm_asprintf("%s/sys/fs/cgroup/cpuset%s/cpuset.mems", root, of);
	FILE *file = fopen(path, "we");

	fputs(list, file);
	fclose(file);
}

static void is_list(const char *of, const char *expected, const char *name)
{
	cleanup_free char *path = pm_asprintf("%s/sys/fs/cgroup/cpuset%s/cpuset.mems", root, of);
	cleanup_free char *list = NULL;

	pm_file_read(AT_FDCWD, path, 64, &list, NULL, NULL);
	is_text(list, expected, name);
}

static void remove_all(void)
{
	for (size_t i = sizeof(directories) / sizeof(directories[0]); i--;) {
		cleanup_free char *path = pm_asprintf("%s/%s", root, directories[i]);
		cleanup_free char *list = pm_asprintf("%s/cpuset.mems", path);

		unlink(list);
		rmdir(path);
	}
	rmdir(root);
}

int main(void)
{
	const struct pm_config config = {.fs_root = root};
	struct pm_err err;

	if (!mkdtemp(root))
		return 1;
	is_number(pm_cpusets_follow(&config, &err), 0, "no cpusets of version 1");
	make_directories();
	put("", "0-3\n");
	put("/slurm_n1", "0-1\n");
	put("/other", "0\n");
	is_number(pm_cpusets_follow(&config, &err), 0, "with version 1");
	is_list("/slurm_n1", "0-3\n", "Slurm's cpuset has the memory nodes of the root");
	is_list("/other", "0\n", "another's is left alone");
	remove_all();
	return tap_done();
}
