/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "base/archive.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "base/asprintf.h"
#include "base/cleanup.h"
#include "base/run.h"

#define GZIP		"/usr/bin/gzip"
#define GZIP_TIMEOUT_MS 120000
#define BLOCK		512

/* See tar(5) of libarchive: "POSIX ustar Archives", and "GNU Tar Archives" for long names. */
struct header {
	char name[100], mode[8], uid[8], gid[8], size[12], mtime[12], checksum[8], type, link[100];
	char magic[6], version[2], user[32], group[32], major[8], minor[8], prefix[155], pad[12];
};

_Static_assert(sizeof(struct header) == BLOCK, "a tar header is one block");

struct pm_archive {
	char path[PATH_MAX], temporary[PATH_MAX + sizeof(".XXXXXX.gz")];
	char prefix[64];
	FILE *stream; /* of the temporary file */
	time_t time;
};

/* gzip gets an absolute path, as pm_run() starts programs in the root directory. */
static int make_absolute(const char *path, char ret[PATH_MAX])
{
	char here[PATH_MAX] = "";

	if (path[0] != '/' && !getcwd(here, sizeof(here)))
		return -errno;
	return snprintf(ret, PATH_MAX, "%s%s%s", here, *here ? "/" : "", path) < PATH_MAX
		       ? 0
		       : -ENAMETOOLONG;
}

int pm_archive_open(
	const char *path, const char *prefix, struct pm_archive **ret, struct pm_err *err)
{
	struct pm_archive *archive = calloc(1, sizeof(*archive));
	int fd, rc = archive ? make_absolute(path, archive->path) : -ENOMEM;

	if (rc) {
		free(archive);
		return pm_err_sys(err, rc, "write '%.100s'", path);
	}
	archive->time = time(NULL);
	snprintf(archive->prefix, sizeof(archive->prefix), "%s", prefix);
	snprintf(archive->temporary, sizeof(archive->temporary), "%s.XXXXXX", archive->path);
	fd = mkostemp(archive->temporary, O_CLOEXEC);
	archive->stream = fd < 0 ? NULL : fdopen(fd, "w");
	if (!archive->stream) {
		rc = -errno;
		archive->temporary[0] = '\0';
		pm_archive_close(archive);
		return pm_err_sys(err, rc, "write '%s'", path);
	}
	*ret = archive;
	return 0;
}

static int put(struct pm_archive *archive, const void *data, size_t length, struct pm_err *err)
{
	if (!length || fwrite(data, 1, length, archive->stream) == length)
		return 0;
	return pm_err_sys(err, -errno, "write '%s'", archive->path);
}

/* The sum of all bytes, with the checksum field itself taken as spaces. */
static void add_checksum(struct header *header)
{
	const unsigned char *byte = (const unsigned char *)header;
	unsigned sum = 0;

	memset(header->checksum, ' ', sizeof(header->checksum));
	for (size_t i = 0; i < sizeof(*header); i++)
		sum += byte[i];
	snprintf(header->checksum, sizeof(header->checksum), "%06o", sum);
}

static int put_padded(
	struct pm_archive *archive, const char *data, size_t length, struct pm_err *err)
{
	static const char zeros[BLOCK];
	int rc = put(archive, data, length, err);

	return rc || !(length % BLOCK) ? rc : put(archive, zeros, BLOCK - length % BLOCK, err);
}

static int put_header(struct pm_archive *archive, const char *name, char type, size_t size,
	const char *link, struct pm_err *err)
{
	struct header header = {.type = type, .magic = "ustar", .version = {'0', '0'}};

	memcpy(header.name, name, strnlen(name, sizeof(header.name)));
	memcpy(header.link, link, strnlen(link, sizeof(header.link)));
	snprintf(header.mode, sizeof(header.mode), "%07o", 0600);
	snprintf(header.uid, sizeof(header.uid), "%07o", 0);
	snprintf(header.gid, sizeof(header.gid), "%07o", 0);
	snprintf(header.size, sizeof(header.size), "%011lo", (unsigned long)size);
	snprintf(header.mtime, sizeof(header.mtime), "%011lo", (unsigned long)archive->time);
	add_checksum(&header);
	return put(archive, &header, sizeof(header), err);
}

/* A text that is too long for its field of a header goes before that header, in blocks of its own.
 */
static int put_long(struct pm_archive *archive, char type, const char *text, size_t field_size,
	struct pm_err *err)
{
	int rc;

	if (strlen(text) <= field_size)
		return 0;
	rc = put_header(archive, "././@LongLink", type, strlen(text) + 1, "", err);
	return rc ? rc : put_padded(archive, text, strlen(text) + 1, err);
}

static int put_entry(struct pm_archive *archive, const char *name, char type, size_t size,
	const char *link, struct pm_err *err)
{
	cleanup_free char *full = pm_asprintf("%s/%s", archive->prefix, name);
	int rc;

	if (!full)
		return pm_err_nomem(err);
	rc = put_long(archive, 'K', link, sizeof(((struct header *)0)->link), err);
	if (!rc)
		rc = put_long(archive, 'L', full, sizeof(((struct header *)0)->name), err);
	return rc ? rc : put_header(archive, full, type, size, link, err);
}

int pm_archive_add(struct pm_archive *archive, const char *name, const char *data, size_t length,
	struct pm_err *err)
{
	int rc = put_entry(archive, name, '0', length, "", err);

	return rc ? rc : put_padded(archive, data, length, err);
}

int pm_archive_add_link(
	struct pm_archive *archive, const char *name, const char *target, struct pm_err *err)
{
	return put_entry(archive, name, '2', 0, target, err);
}

static int end(struct pm_archive *archive, struct pm_err *err)
{
	static const char zeros[2 * BLOCK];
	int rc = put(archive, zeros, sizeof(zeros), err);

	if (fclose(archive->stream) && !rc)
		rc = pm_err_sys(err, -errno, "write '%s'", archive->path);
	archive->stream = NULL;
	return rc;
}

/* gzip replaces the temporary file with TEMPORARY.gz and keeps its mode. */
static int compress(struct pm_archive *archive, struct pm_err *err)
{
	const char *const argv[] = {GZIP, "-9", "-n", archive->temporary, NULL};
	const struct pm_program run = {.argv = argv, .timeout_ms = GZIP_TIMEOUT_MS};
	cleanup_with(pm_output_done) struct pm_output output = {0};
	cleanup_free char *text = NULL;
	int rc = pm_run(&run, &output, err);

	if (rc)
		return rc;
	if (output.status) {
		text = pm_run_describe(&run, &output);
		return pm_err_set(err, -EREMOTEIO, "%s", text ? text : GZIP);
	}
	strcat(archive->temporary, ".gz");
	return 0;
}

/* Also checks gzip's magic number: an exit status of 0 is not enough. */
static int make_durable(const struct pm_archive *archive, struct pm_err *err)
{
	cleanup_close int fd = open(archive->temporary, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	unsigned char magic[2];

	if (fd < 0 || fchmod(fd, 0600) || fsync(fd))
		return pm_err_sys(err, -errno, "write '%s'", archive->path);
	if (read(fd, magic, sizeof(magic)) != sizeof(magic) || magic[0] != 0x1f || magic[1] != 0x8b)
		return pm_err_set(
			err, -EIO, "write '%s': " GZIP " did not compress it", archive->path);
	return 0;
}

int pm_archive_commit(struct pm_archive *archive, struct pm_err *err)
{
	int rc = end(archive, err);

	if (!rc)
		rc = compress(archive, err);
	if (!rc)
		rc = make_durable(archive, err);
	if (rc)
		return rc;
	if (rename(archive->temporary, archive->path))
		return pm_err_sys(err, -errno, "write '%s'", archive->path);
	archive->temporary[0] = '\0';
	return 0;
}

void pm_archive_close(struct pm_archive *archive)
{
	if (!archive)
		return;
	if (archive->stream)
		fclose(archive->stream);
	if (archive->temporary[0])
		unlink(archive->temporary);
	free(archive);
}
