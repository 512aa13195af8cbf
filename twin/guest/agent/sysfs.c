#include "sysfs.h"

#include <fcntl.h>
#include <unistd.h>

bool sysfs_read(const char *file, char *text, size_t room)
{
	int fd = open(file, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, text, room - 1);

	text[n < 0 ? 0 : n] = 0;
	if (fd >= 0)
		close(fd);
	return n >= 0;
}
