/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/reader_file.h"

#include <endian.h>
#include <errno.h>
#include <linux/posix_acl.h>
#include <linux/posix_acl_xattr.h>
#include <stdio.h>
#include <string.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/asprintf.h"
#include "base/cleanup.h"
#include "base/file.h"

/* Writes the ACL in the kernel's form, <linux/posix_acl_xattr.h>, with entries in this order. */
static int let_read(const char *path, uid_t reader)
{
	const struct {
		struct posix_acl_xattr_header head;
		struct posix_acl_xattr_entry list[5];
	} acl = {{htole32(POSIX_ACL_XATTR_VERSION)},
		{{htole16(ACL_USER_OBJ), htole16(ACL_READ | ACL_WRITE), htole32(ACL_UNDEFINED_ID)},
			{htole16(ACL_USER), htole16(ACL_READ), htole32(reader)},
			{htole16(ACL_GROUP_OBJ), 0, htole32(ACL_UNDEFINED_ID)},
			{htole16(ACL_MASK), htole16(ACL_READ), htole32(ACL_UNDEFINED_ID)},
			{htole16(ACL_OTHER), 0, htole32(ACL_UNDEFINED_ID)}}};

	return setxattr(path, "system.posix_acl_access", &acl, sizeof(acl), 0) ? -errno : 0;
}

/*
 * Writes under another name until the reader has access, so that the reader always finds a file
 * that it may read.
 */
static int write_private(const char *path, const char *text, uid_t reader, struct pm_err *err)
{
	cleanup_free char *beside = pm_asprintf("%s.new", path);
	int rc;

	if (!beside)
		return pm_err_nomem(err);
	rc = pm_file_write(beside, 0600, text, strlen(text), err);
	if (rc)
		return rc;
	if (reader != geteuid())
		rc = let_read(beside, reader);
	if (!rc && rename(beside, path))
		rc = -errno;
	if (rc)
		(void)unlink(beside);
	return rc ? pm_err_sys(err, rc, "write '%s' for user %u", path, (unsigned)reader) : 0;
}

int pm_reader_file_write(
	const char *path, const char *text, const uid_t *only_reader, struct pm_err *err)
{
	return only_reader ? write_private(path, text, *only_reader, err)
			   : pm_file_write(path, 0644, text, strlen(text), err);
}
