/* SPDX-License-Identifier: Apache-2.0 */
#include "base/confinement.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

bool pm_confinement_cut(char *text)
{
	static const char enforced[] = " (enforce)";
	size_t end = strcspn(text, "\n");
	size_t mode = sizeof(enforced) - 1;

	if (end <= mode || strncmp(text + end - mode, enforced, mode))
		return false;
	text[end - mode] = '\0';
	return true;
}

/* The bytes read, or -1. */
static ssize_t read_own(char *ret_text, size_t size)
{
	int fd = open("/proc/self/attr/current", O_RDONLY | O_CLOEXEC);
	ssize_t got = -1;

	if (fd >= 0) {
		got = read(fd, ret_text, size);
		close(fd);
	}
	return got;
}

bool pm_confinement_own(char *ret_profile, size_t size)
{
	int kept = errno;
	ssize_t got = read_own(ret_profile, size - 1);

	errno = kept;
	if (got <= 0)
		return false;
	ret_profile[got] = '\0';
	return pm_confinement_cut(ret_profile);
}
