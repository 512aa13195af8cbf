/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>

#include "site/config.h"
#include "tests/unit/scratch.h"
#include "tests/unit/tap.h"

static int load(const char *text, struct pm_config *ret, struct pm_err *err)
{
	return pm_config_load_for(scratch_file("pmem.conf", text), "n2", ret, err);
}

static void test_defaults(void)
{
	struct pm_config config;

	is_number(load("", &config, NULL), 0, "an empty file is fine");
	is_text(config.ipmctl_path, "/usr/bin/ipmctl", "IpmctlPath");
	is_text(config.reboot_command[0], "/usr/bin/systemctl", "RebootCommand, its program");
	is_text(config.reboot_command[1], "reboot", "RebootCommand, its argument");
	ok(!config.reboot_command[2], "RebootCommand has no more");
	is_number(config.tool_timeout_s, 120, "ToolTimeout");
	is_text(config.bad_ipmctl_versions[2], "02.00.00.3816", "BadIpmctlVersions");
	is_text(config.fs_root, "/", "FsRoot");
	ok(pm_config_allows(&config, PM_MODE_MEMORY), "memory is allowed");
	ok(!pm_config_allows(&config, PM_MODE_UNKNOWN), "unknown is never allowed");
	for (enum pm_key key = 0; key < PM_KEY_MAX; key++) {
		ok(pm_key_info(key)->key == key, "row of key %d", key);
		is_text(config.origin[key], "default", pm_key_info(key)->name);
		is_text(config.text[key], pm_key_info(key)->value, "has its default");
	}
	pm_config_done(&config);
	ok(!pm_key_info(PM_KEY_MAX), "there are no more keys");
}

static const struct {
	const char *text;
	enum pm_key key;
	const char *value; /* as config.text has it */
	unsigned line;	   /* of its origin, 0 for the default */
} good[] = {
	{"ToolTimeout=5", PM_KEY_TOOL_TIMEOUT, "5", 1},
	{"ControllerAddr=head", PM_KEY_CONTROLLER_ADDR, "head", 1},
	{"ControllerAddr=head:1", PM_KEY_CONTROLLER_ADDR, "head:1", 1},
	{"ControllerAddr=[::1]:65535", PM_KEY_CONTROLLER_ADDR, "[::1]:65535", 1},
	{"ControllerAddr=auto", PM_KEY_CONTROLLER_ADDR, "auto", 1},
	{"ControllerAddr=a,b:1,[::1]:2", PM_KEY_CONTROLLER_ADDR, "a,b:1,[::1]:2", 1},
	{"ControllerAddr=none", PM_KEY_CONTROLLER_ADDR, "none", 1},
	{"SiteResumeProgram=none", PM_KEY_SITE_RESUME_PROGRAM, "none", 1},
	{"SiteResumeProgram=/sbin/on", PM_KEY_SITE_RESUME_PROGRAM, "/sbin/on", 1},
	{"SiteHealthCheckProgram=none", PM_KEY_SITE_HEALTH_CHECK_PROGRAM, "none", 1},
	{"SiteHealthCheckProgram=/sbin/nhc -t 30 ToolTimeout=7", PM_KEY_SITE_HEALTH_CHECK_PROGRAM,
		"/sbin/nhc -t 30", 1},
	{"TurnAwayLimit=1000", PM_KEY_TURN_AWAY_LIMIT, "1000", 1},
	{"tooltimeout=5\n", PM_KEY_TOOL_TIMEOUT, "5", 1},
	{"\r\n  ToolTimeout=5 \r\n", PM_KEY_TOOL_TIMEOUT, "5", 2},
	{"# x\n\nToolTimeout=5 # five\n", PM_KEY_TOOL_TIMEOUT, "5", 3},
	{"#ToolTimeout=5", PM_KEY_TOOL_TIMEOUT, "120", 0},
	{"ToolTimeout=5\nToolTimeout=6", PM_KEY_TOOL_TIMEOUT, "6", 2},
	{"StateDir=/a#b", PM_KEY_STATE_DIR, "/a#b", 1},
	{"StateDir=/a ToolTimeout=7", PM_KEY_TOOL_TIMEOUT, "7", 1},
	{"StateDir=/a ToolTimeout=7", PM_KEY_STATE_DIR, "/a", 1},
	{"RebootCommand=/sbin/x  -f --now=1 ToolTimeout=7", PM_KEY_REBOOT_COMMAND,
		"/sbin/x  -f --now=1", 1},
	{"RebootCommand=/sbin/x  -f ToolTimeout=7", PM_KEY_TOOL_TIMEOUT, "7", 1},
	{"RebootCommand=\"/bin/env A=b # x\" ToolTimeout=7", PM_KEY_REBOOT_COMMAND,
		"/bin/env A=b # x", 1},
	{"Modes=appdirect", PM_KEY_MODES, "appdirect", 1},
	{"BadIpmctlVersions=", PM_KEY_BAD_IPMCTL_VERSIONS, "", 1},
	{"BadIpmctlVersions=\"\"", PM_KEY_BAD_IPMCTL_VERSIONS, "", 1},
	{"AppDirectType=appdirectnotinterleaved", PM_KEY_APPDIRECT_TYPE, "appdirectnotinterleaved",
		1},
	{"MixedPercent=99", PM_KEY_MIXED_PERCENT, "99", 1},
	{"MixedPercent=9 ReservedPercent=90", PM_KEY_RESERVED_PERCENT, "90", 1},
	{"NodeName=n2 ToolTimeout=5", PM_KEY_TOOL_TIMEOUT, "5", 1},
	{"nodename=n[1-4,7] ToolTimeout=5", PM_KEY_TOOL_TIMEOUT, "5", 1},
	{"NodeName=n[3-4] ToolTimeout=5", PM_KEY_TOOL_TIMEOUT, "120", 0},
	{"ToolTimeout=5\nNodeName=n3 ToolTimeout=6", PM_KEY_TOOL_TIMEOUT, "5", 1},
	{"NodeName=n2 ToolTimeout=6\nToolTimeout=5", PM_KEY_TOOL_TIMEOUT, "5", 2},
	{"PartitionName=a DefaultMode=memory", PM_KEY_DEFAULT_MODE, "none", 0},
	{"DefaultMode=memory\nPartitionName=a DefaultMode=none", PM_KEY_DEFAULT_MODE, "memory", 1},
	{"UsableMemory=memory:7600M,appdirect:900m", PM_KEY_USABLE_MEMORY,
		"memory:7600M,appdirect:900m", 1},
	{"UsablePmem=3T", PM_KEY_USABLE_PMEM, "3T", 1},
	{"UsableDram=90G", PM_KEY_USABLE_DRAM, "90G", 1},
	{"DelayBoot=0", PM_KEY_DELAY_BOOT, "0", 1},
	{"SubstateIdleTime=0", PM_KEY_SUBSTATE_IDLE_TIME, "0", 1},
	{"RebootUsers=alice,bob", PM_KEY_REBOOT_USERS, "alice,bob", 1},
	{"Exclusive=NO", PM_KEY_EXCLUSIVE, "NO", 1},
	{"DramReserve=8G", PM_KEY_DRAM_RESERVE, "8G", 1},
	{"DramReserve=90%", PM_KEY_DRAM_RESERVE, "90%", 1},
	{"DramReserve=None", PM_KEY_DRAM_RESERVE, "None", 1},
	{"MigrationSpace=1G TemporarySpace=none", PM_KEY_TEMPORARY_SPACE, "none", 1},
	{"RemoteMemory=yes", PM_KEY_REMOTE_MEMORY, "yes", 1},
	{"MemoryNodes=2:pmem:0,3:cxl", PM_KEY_MEMORY_NODES, "2:pmem:0,3:cxl", 1},
};

static void test_good(void)
{
	FOR_EACH(row, good)
	{
		struct pm_config config;
		struct pm_err err = {0};
		char origin[256];
		int rc = load(row->text, &config, &err);

		snprintf(origin, sizeof(origin), "%s:%u", scratch_path("pmem.conf"), row->line);
		is_number(rc, 0, row->text);
		if (rc) {
			printf("# %s\n", err.text);
			continue;
		}
		is_text(config.text[row->key], row->value, "its value");
		is_text(config.origin[row->key], row->line ? origin : "default", "its origin");
		pm_config_done(&config);
	}
}

static const struct {
	const char *text, *error;
	unsigned line;
} bad[] = {
	{"Bogus=1", "unknown key 'Bogus'", 1},
	{"ToolTimeout=5\n\nBogus=1", "unknown key 'Bogus'", 3},
	{"NodeName=n9 Bogus=1", "unknown key 'Bogus'", 1},
	{"NodeName=n9 ToolTimeout=x", "ToolTimeout='x'", 1},
	{"NodeName=n[1 ToolTimeout=5", "read node list 'n[1'", 1},
	{"NodeName=n2", "nothing after NodeName=", 1},
	{"ToolTimeout=5 NodeName=n2", "NodeName= must come first", 1},
	{"ToolTimeout", "Key=Value expected at 'ToolTimeout'", 1},
	{"ToolTimeout =5", "Key=Value expected", 1},
	{"ToolTimeout= 5", "ToolTimeout=' 5'", 1},
	{"=5", "Key=Value expected", 1},
	{"ToolTimeout=", "whole seconds expected", 1},
	{"ToolTimeout=0", "seconds from 1 to 86400", 1},
	{"ToolTimeout=86401", "seconds from 1 to 86400", 1},
	{"ToolTimeout=-1", "whole seconds expected", 1},
	{"ToolTimeout=1m", "whole seconds expected", 1},
	{"ToolTimeout=99999999999999999999", "whole seconds expected", 1},
	{"ToolTimeout=5 6", "ToolTimeout='5 6'", 1},
	{"TurnAwayLimit=0", "a whole number from 1 to 1000 expected", 1},
	{"TurnAwayLimit=1001", "a whole number from 1 to 1000 expected", 1},
	{"TurnAwayLimit=-3", "a whole number from 1 to 1000 expected", 1},
	{"SiteHealthCheckProgram=nhc", "an absolute path and its arguments expected, or none", 1},
	{"SiteResumeProgram=on", "an absolute path expected, or none", 1},
	{"ControllerAddr=", "auto, none, HOST or HOST:PORT expected", 1},
	{"ControllerAddr=:1", "auto, none, HOST or HOST:PORT expected", 1},
	{"ControllerAddr=h:", "auto, none, HOST or HOST:PORT expected", 1},
	{"ControllerAddr=h:0", "auto, none, HOST or HOST:PORT expected", 1},
	{"ControllerAddr=h:65536", "auto, none, HOST or HOST:PORT expected", 1},
	{"ControllerAddr=h:1:2", "auto, none, HOST or HOST:PORT expected", 1},
	{"ControllerAddr=[::1", "auto, none, HOST or HOST:PORT expected", 1},
	{"ControllerAddr=a,,b", "auto, none, HOST or HOST:PORT expected", 1},
	{"ControllerAddr=a,b:x", "auto, none, HOST or HOST:PORT expected", 1},
	{"ControllerAddr=a,", "auto, none, HOST or HOST:PORT expected", 1},
	{"ControllerAddr=a/b", "auto, none, HOST or HOST:PORT expected", 1},
	{"ToolTimeout=5 tooltimeout=6", "key 'tooltimeout' twice", 1},
	{"IpmctlPath=ipmctl", "an absolute path expected", 1},
	{"IpmctlPath=", "an absolute path expected", 1},
	{"IpmctlPath=/a b", "an absolute path expected", 1},
	{"RebootCommand=reboot", "an absolute path and its arguments", 1},
	{"Modes=", "a comma list of modes", 1},
	{"Modes=fast", "unknown mode 'fast', modes are: memory, appdirect, flat, mixed", 1},
	{"Modes=memory,memory", "named twice", 1},
	{"Modes=Memory", "unknown mode 'Memory'", 1},
	{"MixedPercent=0", "a percentage from 1 to 99", 1},
	{"MixedPercent=100", "a percentage from 1 to 99", 1},
	{"MixedPercent=50%", "a whole percentage", 1},
	{"MixedPercent=", "a whole percentage", 1},
	{"ReservedPercent=91", "a percentage from 0 to 90", 1},
	{"ReservedPercent=-1", "a whole percentage", 1},
	{"ReservedPercent=50", "leave nothing for App Direct", 1},
	{"ReservedPercent=30\nMixedPercent=70", "MixedPercent=70 and ReservedPercent=30", 2},
	{"BadIpmctlVersions=3.x", "a comma list of versions", 1},
	{"AppDirectType=Interleaved", "AppDirect or AppDirectNotInterleaved expected", 1},
	{"StateDir=\"/a", "a quotation mark is missing", 1},
	{"StateDir=\"/a\"b", "text right after a quotation mark", 1},
	{"StateDir=/a\"b\"", "a quotation mark inside a value", 1},
	{"StateDir=/a\001", "unprintable bytes", 1},
	{"PartitionName=a", "nothing after PartitionName=", 1},
	{"PartitionName= Modes=memory", "read list '' of PartitionName=", 1},
	{"PartitionName=a,,b Modes=memory", "read list 'a,,b' of PartitionName=", 1},
	{"PartitionName=a, Modes=memory", "read list 'a,' of PartitionName=", 1},
	{"Modes=memory PartitionName=a", "PartitionName= must come first", 1},
	{"NodeName=n2 PartitionName=a Modes=memory", "NodeName= stands alone", 1},
	{"PartitionName=a NodeName=n2 Modes=memory", "NodeName= stands alone", 1},
	{"Account=a QOS=b", "nothing after QOS=b", 1},
	{"Account=a,, Modes=memory", "read list 'a,,' of Account=", 1},
	{"Modes=memory Account=a", "Account= must come first", 1},
	{"User=a DefaultMode=flat", "DefaultMode=flat may differ by PartitionName= alone", 1},
	{"RebootHours=18:00", "any, or hours like Mon-Fri/18:00-06:00,Sat-Sun expected at '18:00'",
		1},
	{"RebootsPerDay=4001", "none or a whole number from 1 to 4000", 1},
	{"LeastNodes=memory:x", "a number of nodes expected at 'x'", 1},
	{"MostNodes=memory", "MODE:NUMBER expected at 'memory'", 1},
	{"RebootTimeLimit=1h", "whole minutes from 0 to 525600", 1},
	{"Clusters=,", "none or a comma list of clusters", 1},
	{"PartitionName=a ToolTimeout=5", "ToolTimeout= cannot differ by job", 1},
	{"PartitionName=a Modes=bogus", "unknown mode 'bogus'", 1},
	{"PartitionName=a Bogus=1", "unknown key 'Bogus'", 1},
	{"DefaultMode=Memory", "unknown mode 'Memory'", 1},
	{"DefaultMode=", "unknown mode ''", 1},
	{"UsableMemory=", "none or a comma list of MODE:SIZE", 1},
	{"UsableMemory=memory", "MODE:SIZE expected at 'memory'", 1},
	{"UsableMemory=memory:7600", "a size like 800G expected at '7600'", 1},
	{"UsableMemory=memory:0M", "a size like 800G", 1},
	{"UsableMemory=memory:1M,memory:2M", "mode 'memory' is named twice", 1},
	{"UsableMemory=bogus:1M", "unknown mode 'bogus'", 1},
	{"UsableMemory=memory:9999999T", "a size like 800G", 1},
	{"UsablePmem=8", "none or a size like 800G", 1},
	{"UsableDram=auto", "none or a size like 800G", 1},
	{"DramReserve=91%", "a percentage from 0 to 90", 1},
	{"DramReserve=%", "a whole percentage", 1},
	{"DramReserve=8", "a size like 8G or a share like 5%", 1},
	{"MemoryNodes=2:ddr", "'2:ddr' is not NODE:KIND", 1},
	{"MemoryNodes=2:pmem:0:1", "is not NODE:KIND", 1},
	{"MemoryNodes=1024:pmem", "is not NODE:KIND", 1},
	{"MemoryNodes=,", "a list of NODE:KIND", 1},
	{"ImplyMode=1", "yes or no expected", 1},
	{"DelayBoot=", "whole seconds expected", 1},
	{"DelayBoot=86401", "seconds from 1 to 86400", 1},
	{"RebootUsers=", "* or a comma list of user names", 1},
	{"RebootUsers=a b", "* or a comma list of user names", 1},
	{"Exclusive=maybe", "yes or no expected", 1},
};

static void test_bad(void)
{
	FOR_EACH(row, bad)
	{
		struct pm_config config;
		struct pm_err err = {0};
		char place[256];

		snprintf(place, sizeof(place), "%s:%u: ", scratch_path("pmem.conf"), row->line);
		if (!ok(load(row->text, &config, &err) == -EINVAL, "%s", row->text)) {
			pm_config_done(&config);
			continue;
		}
		has_text(err.text, row->error, "what is wrong");
		ok(!strncmp(err.text, place, strlen(place)), "and where: %s", err.text);
	}
}

static void test_arguments(void)
{
	struct pm_config config;
	struct pm_err err;
	char *names;

	load("ToolTimeout=5\nModes=appdirect\n", &config, NULL);
	is_number(pm_config_set(&config, "TOOLTIMEOUT", "9", &err), 0, "an argument overrides");
	is_number(config.tool_timeout_s, 9, "the file's value");
	is_text(config.origin[PM_KEY_TOOL_TIMEOUT], "argument", "and says so");
	is_number(pm_config_set(&config, "ToolTimeout", "x", &err), -EINVAL, "a bad one");
	is_number(config.tool_timeout_s, 9, "changes nothing");
	is_number(pm_config_set(&config, "Nope", "x", &err), -EINVAL, "an unknown one");
	has_text(err.text, "unknown key 'Nope'", "is named");
	names = pm_config_mode_names(&config);
	is_text(names, "appdirect", "allowed modes in one line");
	ok(!pm_config_allows(&config, PM_MODE_MEMORY), "memory is not allowed here");
	free(names);
	pm_config_done(&config);
}

static void test_partitions(void)
{
	struct pm_config config;

	load("DefaultMode=memory\nPartitionName=a,bc DefaultMode=appdirect Exclusive=no\n"
	     "PartitionName=bc DefaultMode=none",
		&config, NULL);
	is_number(pm_config_default_mode(&config, NULL), PM_MODE_MEMORY, "for all");
	is_number(pm_config_default_mode(&config, "a"), PM_MODE_APPDIRECT, "a's own");
	is_number(pm_config_default_mode(&config, "bc"), PM_MODE_UNKNOWN, "the later line");
	is_number(pm_config_default_mode(&config, "b"), PM_MODE_MEMORY, "part of a name");
	is_number(pm_config_default_mode(&config, ""), PM_MODE_MEMORY, "no name");
	is_number((long)config.for_jobs.count, 3, "pairs by partition");
	ok(config.exclusive, "a partition's value is not everybody's");
	is_number(
		pm_config_set(&config, "DefaultMode", "memory", NULL), 0, "a later value for all");
	is_number(pm_config_default_mode(&config, "a"), PM_MODE_MEMORY, "overrides partitions");
	is_number((long)config.for_jobs.count, 1, "and leaves other keys");
	pm_config_done(&config);
	load("PartitionName=a Account=x,y DefaultMode=mixed\nPartitionName=a DefaultMode=flat",
		&config, NULL);
	is_number(pm_config_default_mode(&config, "a"), PM_MODE_FLAT, "by partition alone");
	is_text(config.for_jobs.list[0].scope, "PartitionName=a Account=x,y", "conditions");
	ok(!config.for_jobs.list[0].partitions, "not a partition's own line");
	pm_config_done(&config);
	load("UsableMemory=memory:7600M,appdirect:1t\nUsablePmem=2G", &config, NULL);
	ok(config.usable_memory_bytes[PM_MODE_MEMORY] == 7600ull << 20, "megabytes");
	ok(config.usable_memory_bytes[PM_MODE_APPDIRECT] == 1ull << 40, "a terabyte");
	ok(config.usable_pmem_bytes == 2ull << 30, "gigabytes");
	pm_config_done(&config);
}

static void test_missing(void)
{
	struct pm_config config;
	struct pm_err err = {0};

	is_number(pm_config_load(scratch_path("none"), &config, &err), -ENOENT, "no such file");
	has_text(err.text, "none", "is named");
	setenv("SLURMD_NODENAME", "n7", 1);
	is_number(pm_config_load(scratch_file("s", "NodeName=n7 ToolTimeout=3"), &config, &err), 0,
		"slurmd says which node we are");
	is_number(config.tool_timeout_s, 3, "and its lines count");
	is_text(config.node, "n7", "the node is remembered");
	pm_config_done(&config);
}

int main(void)
{
	test_defaults();
	test_good();
	test_bad();
	test_arguments();
	test_partitions();
	test_missing();
	return tap_done();
}
