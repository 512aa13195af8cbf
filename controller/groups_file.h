/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_GROUPS_FILE_H
#define PM_GROUPS_FILE_H

/*
 * A file with the users of the groups that pmem.conf names, for pmem.lua, which holds slurmctld's
 * locks and must not ask a directory service:
 *
 *	slurm-pmem-groups 1
 *	<group> <user> <user> ...
 *
 * The users are those of getgrnam(3), and those of getpwent(3) that have it as their primary group.
 * A group that does not exist has none. If the directory service fails the file stays as it is.
 */
#include <stdbool.h>

#include "controller/child.h"

/* Writes <run_dir>/groups each minute, in a child. Call it in each turn of the service. */
void pm_groups_turn(struct pm_child *child, const char *config_path, const char *run_dir);

/* The text of <run_dir>/groups, malloc'ed; NULL: it cannot be read, or it is torn. */
char *pm_groups_load(const char *run_dir);

/* True if the file's text has the user in the group. NULL has none. */
bool pm_groups_have(const char *text, const char *group, const char *user);

/* The file's text, malloc'ed; NULL when out of memory or if the directory service fails. */
char *pm_groups_text(const char *const *names);

#endif
