/* SPDX-License-Identifier: Apache-2.0 */
#include "launcher/program.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/asprintf.h"
#include "base/cleanup.h"
#include "base/strv.h"

#define DEFAULT_PATH "/usr/bin:/bin"

static int check(const char *path)
{
	struct stat info;

	if (stat(path, &info))
		return -errno;
	if (!S_ISREG(info.st_mode) || access(path, X_OK))
		return -EACCES;
	return 0;
}

static int try(const char *dir, const char *word, char **ret)
{
	char *path = pm_asprintf("%s/%s", dir, word);
	int rc = path ? check(path) : -ENOMEM;

	if (rc)
		free(path);
	else
		*ret = path;
	return rc;
}

/* A file that may not be executed does not end the search, but the error names it. */
static int search(const char *word, char **ret)
{
	const char *path = getenv("PATH");
	cleanup_with(pm_strv_cleanup) char **dirs = pm_strv_split(path ? path : DEFAULT_PATH, ":");
	int worst = -ENOENT;

	if (!dirs)
		return -ENOMEM;
	for (size_t i = 0; dirs[i]; i++) {
		int rc = try(dirs[i], word, ret);

		if (!rc || rc == -ENOMEM)
			return rc;
		if (rc == -EACCES)
			worst = rc;
	}
	return worst;
}

static int take(const char *word, char **ret)
{
	int rc = check(word);

	if (rc)
		return rc;
	*ret = strdup(word);
	return *ret ? 0 : -ENOMEM;
}

int pm_program_find(const char *word, char **ret, struct pm_err *err)
{
	bool is_path = strchr(word, '/');
	int rc = is_path ? take(word, ret) : search(word, ret);

	if (rc == -ENOENT)
		return pm_err_set(err, rc, "program '%.200s': %s", word,
			is_path ? "there is no such file" : "not found in PATH");
	if (rc == -EACCES)
		return pm_err_set(err, rc,
			"program '%.200s': it may not be executed, 'chmod +x' it or name another",
			word);
	return rc ? pm_err_sys(err, rc, "program '%.200s'", word) : 0;
}

int pm_program_status(int rc)
{
	return rc == -ENOENT ? PM_EXIT_NOT_FOUND : PM_EXIT_NOT_EXECUTABLE;
}
