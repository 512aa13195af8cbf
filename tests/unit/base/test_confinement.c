/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "base/confinement.h"
#include "tests/unit/tap.h"

/* What the kernel says in attr/current, and the profile that confines; NULL where none does. */
static const struct {
	const char *text;
	const char *profile;
} rows[] = {
	{"/usr/bin/pmctl (enforce)\n", "/usr/bin/pmctl"},
	{"site (1)//hat (enforce)", "site (1)//hat"},
	{"/usr/bin/pmctl (complain)\n", NULL},
	{"unconfined\n", NULL},
	{"system_u:system_r:init_t:s0", NULL},
	{" (enforce)", NULL},
	{"(enforce)", NULL},
	{"", NULL},
};

static void test_texts(void)
{
	for (size_t at = 0; at < sizeof(rows) / sizeof(rows[0]); at++) {
		char text[64];

		strcpy(text, rows[at].text);
		is_number(pm_confinement_cut(text), rows[at].profile != NULL, rows[at].text);
		is_text(text, rows[at].profile ? rows[at].profile : rows[at].text,
			"is then a name");
	}
}

int main(void)
{
	test_texts();
	return tap_done();
}
