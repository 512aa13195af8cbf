/* The kernel's small text files. */
#ifndef PMTWIN_SYSFS_H
#define PMTWIN_SYSFS_H

#include <stdbool.h>
#include <stddef.h>

/* A file's text, of at most room - 1 bytes; false, and "": it cannot be read. */
bool sysfs_read(const char *file, char *text, size_t room);

#endif
