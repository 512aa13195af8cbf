/* SPDX-License-Identifier: Apache-2.0 */
#include "site/job_rules.h"

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "tests/unit/tap.h"

#define TEXT                                                                                       \
	"RebootsPerDay=50\n"                                                                       \
	"PartitionName=big RebootsPerDay=9\n"                                                      \
	"Account=physics,chem RebootsPerDay=8\n"                                                   \
	"Account=physics QOS=debug RebootsPerDay=7\n"                                              \
	"User=alice,@staff RebootsPerDay=6\n"                                                      \
	"Reservation=night,day RebootsPerDay=5\n"                                                  \
	"QOS=* Account=any RebootsPerDay=4\n"                                                      \
	"Account=late HoldTime=60\n"

static bool is_member(const void *context, const char *group, const char *user)
{
	return !strcmp(group, context) && !strcmp(user, "bob");
}

static const struct {
	const char *name;
	struct pm_rule_job job;
	const char *value;
} rows[] = {
	{"no condition is met", {.partition = "main"}, "50"},
	{"the partition", {.partition = "big"}, "9"},
	{"one of two accounts", {.partition = "big", .account = "chem"}, "8"},
	{"two conditions", {.account = "physics", .qos = "debug"}, "7"},
	{"one of two", {.account = "physics", .qos = "normal"}, "8"},
	{"a later line", {.account = "physics", .qos = "debug", .user = "alice"}, "6"},
	{"a group's user", {.user = "bob"}, "6"},
	{"not in the group", {.user = "carol"}, "50"},
	{"all reservations", {.reservation = "day,night"}, "5"},
	{"one more", {.reservation = "day,other"}, "50"},
	{"any QOS", {.account = "any", .qos = "x"}, "4"},
	{"without one", {.account = "any", .qos = ""}, "50"},
	{"a line with another key", {.account = "late"}, "50"},
	{"part of a name", {.account = "phys", .partition = "bi"}, "50"},
};

static struct pm_config load(const char *text)
{
	struct pm_config config = {0};
	struct pm_err err = {0};
	cleanup_free char *copy = strdup(text);

	is_number(pm_config_load_text("pmem.conf", copy, "n1", NULL, NULL, &config, &err), 0,
		"the file");
	return config;
}

static void test_rows(void)
{
	cleanup_with(pm_config_done) struct pm_config config = load(TEXT);

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct pm_rule_job job = rows[i].job;

		job.is_member = is_member;
		job.context = "staff";
		is_text(pm_job_rule_of(&config, PM_KEY_REBOOTS_PER_DAY, &job).text, rows[i].value,
			rows[i].name);
	}
	is_text(pm_job_rule_of(&config, PM_KEY_REBOOTS_PER_DAY, &rows[3].job).origin, "pmem.conf:4",
		"the line");
	is_text(pm_job_rule_of(&config, PM_KEY_REBOOT_HOURS, &rows[3].job).origin, "default",
		"no line");
}

static void test_use(void)
{
	cleanup_with(pm_config_done) struct pm_config config = load(TEXT);
	cleanup_with(pm_config_done) struct pm_config ended = load(TEXT "RebootsPerDay=none\n");

	ok(pm_job_rule_is_used(&config, PM_KEY_HOLD_TIME), "a key on a line with conditions");
	ok(pm_job_rule_is_used(&config, PM_KEY_REBOOTS_PER_DAY), "a key for all jobs");
	ok(!pm_job_rule_is_used(&config, PM_KEY_REBOOT_HOURS), "a key on no line");
	ok(!pm_job_rule_is_used(&ended, PM_KEY_REBOOTS_PER_DAY), "a key that the last line unsets");
}

static void test_users(void)
{
	struct pm_rule_job bob = {.user = "bob", .is_member = is_member, .context = "staff"};

	ok(pm_job_rule_has_user("*", &bob), "all users");
	ok(pm_job_rule_has_user("alice,@staff", &bob), "by the group");
	ok(!pm_job_rule_has_user("alice,@other", &bob), "another group");
	ok(!pm_job_rule_has_user("none", &bob), "none");
}

int main(void)
{
	test_rows();
	test_use();
	test_users();
	return tap_done();
}
