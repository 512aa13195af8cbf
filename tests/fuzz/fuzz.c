/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/fuzz/fuzz.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "base/file.h"
#include "base/secure.h"

static const uint8_t *file_data;
static size_t file_size;

char *pm_fuzz_text(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1);

	CHECK(text);
	if (size)
		memcpy(text, data, size);
	text[size] = '\0';
	return text;
}

void pm_fuzz_set_file(const uint8_t *data, size_t size)
{
	file_data = data;
	file_size = size;
}

int __wrap_pm_file_read(int dir_fd, const char *path, size_t max_bytes, char **ret,
	size_t *ret_length, struct pm_err *err);
int __wrap_pm_file_read_fd(int fd, const char *name, size_t max_bytes, char **ret,
	size_t *ret_length, struct pm_err *err);
int __wrap_pm_file_read_ours(int dir_fd, const char *path, size_t max_bytes, char **ret,
	size_t *ret_length, struct pm_err *err);
int __wrap_pm_secure_open(const char *path, int *ret_fd, struct pm_err *err);

int __wrap_pm_file_read_fd(int fd, const char *name, size_t max_bytes, char **ret,
	size_t *ret_length, struct pm_err *err)
{
	(void)fd;
	if (file_size > max_bytes)
		return pm_err_set(err, -EFBIG, "read '%s': too long", name);
	*ret = pm_fuzz_text(file_data, file_size);
	if (ret_length)
		*ret_length = file_size;
	return 0;
}

int __wrap_pm_file_read(int dir_fd, const char *path, size_t max_bytes, char **ret,
	size_t *ret_length, struct pm_err *err)
{
	return __wrap_pm_file_read_fd(dir_fd, path, max_bytes, ret, ret_length, err);
}

int __wrap_pm_file_read_ours(int dir_fd, const char *path, size_t max_bytes, char **ret,
	size_t *ret_length, struct pm_err *err)
{
	return __wrap_pm_file_read_fd(dir_fd, path, max_bytes, ret, ret_length, err);
}

int __wrap_pm_secure_open(const char *path, int *ret_fd, struct pm_err *err)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return pm_err_sys(err, -errno, "open '%s'", path);
	*ret_fd = fd;
	return 0;
}
