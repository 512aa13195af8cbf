/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>

#include "base/err.h"
#include "tests/unit/tap.h"

static void test_store(void)
{
	struct pm_err err = {0};

	is_number(pm_err_set(&err, -EPERM, "open '%s'", "x"), -EPERM, "set returns its code");
	is_text(err.text, "open 'x'", "set stores the text as it is");
	is_number(err.code, -EPERM, "set stores the code");
	is_number(pm_err_sys(&err, -ENOENT, "open '%s'", "y"), -ENOENT, "sys returns its code");
	is_text(err.text, "open 'y': No such file or directory", "sys adds the errno's text");
	is_number(pm_err_prefix(&err, "read %d", 7), -ENOENT, "prefix keeps the code");
	is_text(err.text, "read 7: open 'y': No such file or directory", "prefix goes in front");
	is_number(pm_err_set(NULL, -EIO, "x"), -EIO, "no place to store is fine");
	is_number(pm_err_prefix(NULL, "x"), -EINVAL, "also for a prefix");
}

static void test_cut(void)
{
	static char longer[3000];
	struct pm_err err;

	memset(longer, 'a', sizeof(longer) - 1);
	pm_err_set(&err, -EIO, "%s", longer);
	is_number(strlen(err.text), sizeof(err.text) - 1, "a long text fills the field");
	is_text(err.text + sizeof(err.text) - 4, "...", "and shows that it is cut");
	pm_err_prefix(&err, "front");
	ok(!strncmp(err.text, "front: aaa", 10), "a prefix is kept when the rest is cut");
	is_text(err.text + sizeof(err.text) - 4, "...", "and the cut is shown again");
}

int main(void)
{
	test_store();
	test_cut();
	return tap_done();
}
