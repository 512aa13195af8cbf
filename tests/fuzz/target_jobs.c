/* SPDX-License-Identifier: Apache-2.0 */
/* A job's record, read as the one file 7.json of a directory. */
#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>

#include "node/state/jobs.h"
#include "tests/fuzz/fuzz.h"

static char directory[PATH_MAX];

static void remove_directory(void)
{
	char path[PATH_MAX + 8];

	snprintf(path, sizeof(path), "%s/7.json", directory);
	(void)unlink(path);
	(void)rmdir(directory);
}

static void make_directory(void)
{
	char path[PATH_MAX + 8];
	int fd;

	snprintf(directory, sizeof(directory), "/tmp/fuzz_jobs.XXXXXX");
	CHECK(mkdtemp(directory));
	snprintf(path, sizeof(path), "%s/7.json", directory);
	fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	CHECK(fd >= 0);
	close(fd);
	atexit(remove_directory);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	cleanup_with(pm_jobs_done) struct pm_jobs jobs = {0};
	struct pm_err err = {0};
	int rc;

	if (!*directory)
		make_directory();
	pm_fuzz_set_file(data, size);
	rc = pm_jobs_read(directory, &jobs, &err);
	CHECK_RESULT(rc, err);
	CHECK(rc ? !jobs.n : jobs.n == 1 && jobs.list[0].id == 7);
	for (size_t i = 0; i < jobs.n; i++) {
		CHECK_FITS(jobs.list[i].boot_id);
		CHECK_FITS(jobs.list[i].time);
		CHECK_FITS(jobs.list[i].run);
	}
	return 0;
}
