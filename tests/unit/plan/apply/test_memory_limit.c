/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "plan/apply/memory_limit.h"
#include "tests/unit/scratch.h"
#include "tests/unit/tap.h"

#define GIB (1ll << 30)

static const char v2_mounts[] =
	"22 1 254:0 / / rw - ext4 /dev/vda rw\n"
	"30 22 0:26 / /sys/fs/cgroup rw,nosuid shared:9 - cgroup2 cgroup2 rw,nsdelegate\n";
static const char v1_mounts[] = "22 1 254:0 / / rw - ext4 /dev/vda rw\n"
				"31 22 0:27 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu\n"
				"32 22 0:28 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n"
				"33 22 0:29 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n";
static const char container_mounts[] = "30 22 0:26 /job_7 /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n";

/* A limit and the file below the root that has it; the last is empty. */
struct limit {
	const char *file, *text;
};

static const struct {
	const char *name, *cgroups, *mounts;
	struct limit limits[3];
	int rc;
	long long bytes;
} cases[] = {
	{"version 2, a limit of its own", "0::/job_7/step_0\n", v2_mounts,
		{{"sys/fs/cgroup/job_7/step_0/memory.max", "4294967296\n"}}, 0, 4 * GIB},
	{"the cgroup above has less", "0::/job_7/step_0\n", v2_mounts,
		{{"sys/fs/cgroup/job_7/step_0/memory.max", "4294967296\n"},
			{"sys/fs/cgroup/job_7/memory.max", "2147483648\n"}},
		0, 2 * GIB},
	{"the cgroup above has more", "0::/job_7/step_0\n", v2_mounts,
		{{"sys/fs/cgroup/job_7/step_0/memory.max", "1073741824\n"},
			{"sys/fs/cgroup/job_7/memory.max", "2147483648\n"}},
		0, GIB},
	{"max is none", "0::/job_7\n", v2_mounts, {{"sys/fs/cgroup/job_7/memory.max", "max\n"}}, 0,
		0},
	{"no file is none", "0::/\n", v2_mounts, {{0}}, 0, 0},
	{"a neighbour's limit is none of ours", "0::/job_7\n", v2_mounts,
		{{"sys/fs/cgroup/job_70/memory.max", "4096\n"}}, 0, 0},
	{"version 1", "4:memory:/slurm/job_7\n1:cpu:/\n0::/\n", v1_mounts,
		{{"sys/fs/cgroup/memory/slurm/job_7/memory.limit_in_bytes", "3221225472\n"}}, 0,
		3 * GIB},
	{"version 1, another controller's mount has no say", "4:memory:/x\n1:cpu:/x\n", v1_mounts,
		{{"sys/fs/cgroup/cpu/x/memory.limit_in_bytes", "4096\n"}}, 0, 0},
	{"version 1's word for none", "4:memory:/x\n", v1_mounts,
		{{"sys/fs/cgroup/memory/x/memory.limit_in_bytes", "9223372036854771712\n"}}, 0, 0},
	{"a container sees its own part", "0::/job_7/step_0\n", container_mounts,
		{{"sys/fs/cgroup/step_0/memory.max", "1073741824\n"},
			{"sys/fs/cgroup/memory.max", "2147483648\n"}},
		0, GIB},
	{"no cgroups at all", "", v2_mounts, {{0}}, 0, 0},
	{"nothing mounted", "0::/job_7\n", "22 1 254:0 / / rw - ext4 /dev/vda rw\n", {{0}}, 0, 0},
	{"words", "0::/job_7\n", v2_mounts, {{"sys/fs/cgroup/job_7/memory.max", "much\n"}},
		-EBADMSG, 77},
};

static int make_root(const char *name, const char *file, const char *text)
{
	char path[200];

	snprintf(path, sizeof(path), "%s/%s", name, file);
	(void)scratch_file(path, text);
	return open(scratch_path(name), O_PATH | O_DIRECTORY | O_CLOEXEC);
}

int main(void)
{
	unsigned i = 0;

	FOR_EACH(row, cases)
	{
		struct pm_err err = {0};
		uint64_t bytes = 77;
		char root[20];
		int fd;

		snprintf(root, sizeof(root), "root%u", i++);
		close(make_root(root, "proc/self/cgroup", row->cgroups));
		fd = make_root(root, "proc/self/mountinfo", row->mounts);
		FOR_EACH(limit, row->limits)
		if (limit->file)
			close(make_root(root, limit->file, limit->text));
		is_number(pm_memory_limit(fd, &bytes, &err), row->rc, row->name);
		is_number((long long)bytes, row->bytes, "its limit");
		close(fd);
	}
	return tap_done();
}
