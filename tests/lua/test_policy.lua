-- SPDX-License-Identifier: Apache-2.0
-- What pmem.conf says of jobs, as pmem.lua applies it: submissions and changes against site defaults,
-- under plain Lua 5.1; prints TAP. Run from the project's top: lua5.1 test_policy.lua FILE, which is
-- written and removed.

local file = assert(arg[1], "a file for pmem.conf")
local said, logged

-- luacheck: globals slurm
slurm = { SUCCESS = 0, ERROR = -1, log_user = function(text) said = text end,
	log_info = function(text) logged = text end }

local pm = dofile("controller/pmem.lua")
pm.config_file = file
pm.state_file = (string.match(file, "^.*/") or "") .. "modes"

local count, failed = 0, 0

local function check(label, got, wanted)
	count = count + 1
	local good = got == wanted
	failed = failed + (good and 0 or 1)
	print(string.format("%s %d - %s", good and "ok" or "not ok", count, label))
	if not good then
		print(string.format("# expected '%s', got '%s'", tostring(wanted), tostring(got)))
	end
end

local function write(text)
	local stream = assert(io.open(file, "w"))
	stream:write(text)
	stream:close()
end

-- The sites. Sizes as on the emulated nodes, in MiB: memory 7600, appdirect 900, flat 8900, mixed 4000.
local SIZES = "UsableMemory=memory:7600M,appdirect:900M,flat:8900M,mixed:4000M UsablePmem=8G\n"
local SITES = {
	none = "",
	sizes = SIZES,
	imply = SIZES .. "ImplyMode=yes",
	imply_flat = SIZES .. "ImplyMode=yes DefaultMode=none\nUsableMemory=memory:700M,flat:8900M",
	dram = SIZES .. "UsableDram=450M",
	dram_only = "UsableDram=450M",
	default = SIZES .. "DefaultMode=appdirect",
	flat = "DefaultMode=flat",
	two = "Modes=appdirect,mixed",
	shared = SIZES .. "Exclusive=no",
	delay = "DelayBoot=600",
	few = "RebootUsers=alice,bob",
	partitions = SIZES .. "PartitionName=big DefaultMode=memory\nPartitionName=old Modes=appdirect\n"
		.. "PartitionName=own RebootUsers=alice Exclusive=no DelayBoot=60",
	noted = "AccountingField=Comment",
	noted_admin = "AccountingField=AdminComment",
	federated = "Clusters=one,two",
	accounts = SIZES .. "RebootUsers=none\n"
		.. "Account=physics DefaultMode=memory RebootUsers=*\n"
		.. "Account=physics QOS=debug DefaultMode=none RebootTimeLimit=60\n"
		.. "User=dave,@staff RebootUsers=*\n"
		.. "Reservation=night,day Modes=mixed RebootUsers=*\n"
		.. "PartitionName=big Account=chem DefaultMode=mixed Exclusive=no\n",
	any = "RebootUsers=none\nReservation=* RebootUsers=*\nQOS=* DelayBoot=60",
	groups = "RebootUsers=alice,@staff,@nosuch",
	short = "RebootTimeLimit=60",
	hours = "DelayBoot=60\nRebootHours=Mon-Fri/18:00-06:00,Sat-Sun\nQOS=urgent RebootHours=any",
	limits = "RebootsPerDay=20 LeastNodes=memory:4 MostNodes=mixed:8,flat:2\nUser=alice RebootUsers=none",
	bad_hours = "RebootHours=18:00",
	bad_day = "RebootHours=Mon-/18:00-19:00",
	bad_time = "RebootHours=24:00-06:00",
	bad_number = "RebootsPerDay=0",
	bad_nodes = "MostNodes=memory:0",
	last = "Account=a DefaultMode=memory\nQOS=q DefaultMode=mixed\nAccount=b DefaultMode=memory",
	ended = "Account=a DefaultMode=memory\nDefaultMode=mixed",
	node_default = "PartitionName=main DefaultMode=flat\nAccount=a DefaultMode=appdirect\n"
		.. "Account=b DefaultMode=memory",
	broken = "Modes=memory\nNonsense=1",
	broken_value = "DelayBoot=soon",
}

local OPTION = "_SLURM_SPANK_OPTION_pmem_pm_"
local WORDS = { dram = OPTION .. "dram", PM_DRAM = "PM_DRAM",
	mode = OPTION .. "mode", size = OPTION .. "size", namespace = OPTION .. "namespace",
	PM_MODE = "PM_MODE", PM_SIZE = "PM_SIZE", PM_NAMESPACE = "PM_NAMESPACE" }
local FIELDS = { mem = "min_mem_per_node", per_cpu = "min_mem_per_cpu", delay = "delay_boot" }
local NO_VAL16, NO_VAL = 65534, 4294967294

-- A job as Slurm hands it over: unset numbers are NO_VAL, the environment's words count from 0.
local function job(fields)
	local desc = { user_name = "carol", delay_boot = NO_VAL, cpus_per_task = NO_VAL16, min_cpus = NO_VAL,
		ntasks_per_node = NO_VAL16, num_tasks = NO_VAL, max_nodes = NO_VAL, pn_min_cpus = NO_VAL16,
		shared = NO_VAL16 }
	local words, n = {}, 0
	for key, value in pairs(fields) do
		if WORDS[key] then
			words[n], n = WORDS[key] .. "=" .. value, n + 1
		else
			desc[FIELDS[key] or key] = value
		end
	end
	desc.spank_job_env = n > 0 and words or nil
	return desc
end

local PARTITIONS = { main = { flag_default = 1, default_time = NO_VAL }, big = { flag_default = 0 },
	quick = { flag_default = 0, default_time = 30 } }

-- As pm-controller writes it.
local groups = (string.match(file, "^.*/") or "") .. "groups"
do
	local stream = assert(io.open(groups, "w"))
	stream:write("slurm-pmem-groups 1\nstaff erin frank\nempty\n")
	stream:close()
end

-- site, job, then what must come of it: features, shared, mem, delay, and a remark ("says"); fields
-- that are not named must be as they were.
local served = {
	-- nothing asked for, nothing decided
	{ "none", {}, {} },
	{ "none", { mem = 100000 }, {} },
	{ "none", { features = "gpu" }, {} },
	{ "sizes", {}, {} },
	{ "sizes", { mem = 900 }, {} },
	{ "sizes", { mem = 0 }, {} },
	{ "few", {}, {} },
	{ "delay", {}, {} },
	{ "broken", {}, {} },
	{ "broken", { mem = 5000, features = "gpu" }, {} },
	{ "broken_value", { partition = "big" }, {} },
	{ "none", { PM_SIZE = "3G", PM_NAMESPACE = "devdax" }, {} },
	-- modes by option, variable and constraint
	{ "default", { mode = "none" }, {} },
	{ "default", { PM_MODE = "none" }, {} },
	{ "default", { mode = "none", PM_MODE = "flat" }, {} },
	{ "imply", { mode = "none", mem = 5000 }, { mem = 5000 } },
	{ "none", { mode = "none", features = "pm_memory" }, { refused = "^pm: %-%-pm%-mode=none contradicts" } },
	{ "default", { mode = "none", size = "2G" }, { refused = "needs %-%-pm%-mode=appdirect or mixed" } },
	{ "none", { mode = "memory" }, { features = "pm_memory", shared = 0 } },
	{ "none", { mode = "flat" }, { features = "pm_appdirect", shared = 0 } },
	{ "none", { mode = "mixed" }, { features = "pm_mixed", shared = 0 } },
	{ "none", { PM_MODE = "mixed" }, { features = "pm_mixed", shared = 0 } },
	{ "none", { features = "pm_appdirect" }, { shared = 0 } },
	{ "none", { features = "gpu", mode = "flat" }, { features = "gpu&pm_appdirect", shared = 0 } },
	{ "none", { features = "pm_appdirect", mode = "flat" }, { features = "pm_appdirect", shared = 0 } },
	{ "sizes", { features = "pm_appdirect", PM_MODE = "flat" }, { shared = 0, mem = 8900 } },
	{ "sizes", { features = "pm_memory", PM_MODE = "flat" }, { shared = 0, mem = 7600 } },
	{ "sizes", { features = "pm_memory|pm_appdirect", PM_MODE = "flat" },
		{ features = "pm_memory", shared = 0, mem = 7600 } },
	{ "none", { mode = "memory", PM_MODE = "flat" }, { features = "pm_memory", shared = 0 } },
	-- the mode for sacct
	{ "noted", { mode = "flat" }, { features = "pm_appdirect", shared = 0, comment = "pm_mode=flat" } },
	{ "noted", { features = "pm_appdirect", comment = "run 7" },
		{ shared = 0, comment = "run 7; pm_mode=appdirect" } },
	{ "noted", { mode = "memory", comment = "pm_mode=flat; run 7" },
		{ features = "pm_memory", shared = 0, comment = "pm_mode=memory; run 7" } },
	{ "noted", { comment = "run 7" }, {} },
	{ "noted_admin", { mode = "flat" }, { features = "pm_appdirect", shared = 0, admin_comment = "pm_mode=flat" } },
	{ "none", { mode = "flat" }, { features = "pm_appdirect", shared = 0 } },
	-- lines for accounts, QOS, users, groups and reservations
	{ "accounts", {}, {} },
	{ "accounts", { mode = "memory" }, { features = "pm_memory", shared = 0, mem = 7600, delay = 315360000,
		says = "^pm: no node is rebooted for jobs of user carol: this one takes nodes in mode memory only$" } },
	{ "accounts", { account = "physics" }, { features = "pm_memory", shared = 0, mem = 7600 } },
	{ "accounts", { default_account = "physics" }, { features = "pm_memory", shared = 0, mem = 7600 } },
	{ "accounts", { account = "chem", default_account = "physics" }, {} },
	{ "accounts", { account = "physics2" }, {} },
	{ "accounts", { account = "physics", qos = "debug" }, {} },
	{ "accounts", { account = "physics", default_qos = "debug" }, {} },
	{ "accounts", { account = "physics", qos = "debug", mode = "memory", time_limit = 59 },
		{ features = "pm_memory", shared = 0, mem = 7600, delay = 315360000,
			says = "rebooted for jobs with a time limit below 60 minutes: this one takes nodes in mode memory only$" } },
	{ "accounts", { account = "physics", qos = "debug", mode = "memory", time_limit = 60 },
		{ features = "pm_memory", shared = 0, mem = 7600 } },
	{ "accounts", { qos = "debug", mode = "memory", time_limit = 5, user_name = "dave" },
		{ features = "pm_memory", shared = 0, mem = 7600 } },
	{ "accounts", { user_name = "erin", mode = "memory" }, { features = "pm_memory", shared = 0, mem = 7600 } },
	{ "accounts", { reservation = "night", mode = "mixed" }, { features = "pm_mixed", shared = 0, mem = 4000 } },
	{ "accounts", { reservation = "night,day", mode = "mixed" }, { features = "pm_mixed", shared = 0, mem = 4000 } },
	{ "accounts", { reservation = "night,other", mode = "mixed" }, { features = "pm_mixed", shared = 0, mem = 4000,
		delay = 315360000, says = "jobs of user carol" } },
	{ "accounts", { reservation = "night", mode = "memory" },
		{ refused = "mode 'memory' is not offered here, take one of mixed$" } },
	{ "accounts", { partition = "big", account = "chem" },
		{ features = "pm_mixed", delay = 315360000, says = "jobs of user carol" } },
	{ "accounts", { partition = "big", account = "physics" }, { features = "pm_memory", shared = 0, mem = 7600 } },
	{ "accounts", { partition = "big,main", account = "chem" }, { refused = "differ in DefaultMode, name one" } },
	{ "accounts", { account = "physics", mode = "none" }, {} },
	{ "any", { mode = "memory", reservation = "x" }, { features = "pm_memory", shared = 0 } },
	{ "any", { mode = "memory", reservation = "" }, { features = "pm_memory", shared = 0, delay = 315360000,
		says = "jobs of user carol" } },
	{ "any", { mode = "memory", reservation = "x", qos = "q" }, { features = "pm_memory", shared = 0, delay = 60 } },
	{ "groups", { mode = "memory", user_name = "erin" }, { features = "pm_memory", shared = 0 } },
	{ "groups", { mode = "memory", user_name = "alice" }, { features = "pm_memory", shared = 0 } },
	{ "groups", { mode = "memory", user_name = "eri" }, { features = "pm_memory", shared = 0, delay = 315360000,
		says = "jobs of user eri:" } },
	{ "short", { mode = "memory", time_limit = 5 }, { features = "pm_memory", shared = 0, delay = 315360000,
		says = "time limit below 60" } },
	{ "short", { mode = "memory", partition = "quick" }, { features = "pm_memory", shared = 0, delay = 315360000,
		says = "time limit below 60" } },
	{ "short", { mode = "memory", partition = "quick", time_limit = 90 }, { features = "pm_memory", shared = 0 } },
	{ "short", { mode = "memory" }, { features = "pm_memory", shared = 0 } },
	-- limits that pm-controller watches: nine years more
	{ "hours", { mode = "memory" }, { features = "pm_memory", shared = 0, delay = 283824060 } },
	{ "hours", { mode = "memory", delay = 600 }, { features = "pm_memory", shared = 0, delay = 283824600 } },
	{ "hours", { mode = "memory", delay = 400 * 86400 },
		{ features = "pm_memory", shared = 0, delay = 315359999 } },
	{ "hours", { mode = "memory", qos = "urgent" }, { features = "pm_memory", shared = 0, delay = 60 } },
	{ "hours", {}, {} },
	{ "limits", { mode = "memory" }, { features = "pm_memory", shared = 0, delay = 283824000 } },
	{ "limits", { mode = "memory", user_name = "alice" },
		{ features = "pm_memory", shared = 0, delay = 315360000, says = "jobs of user alice" } },
	{ "last", { account = "a", qos = "q" }, { features = "pm_mixed", shared = 0 } },
	{ "last", { account = "b", qos = "q" }, { features = "pm_memory", shared = 0 } },
	{ "ended", { account = "a" }, { features = "pm_mixed", shared = 0 } },
	{ "node_default", { partition = "main", account = "a" }, { refused = "^pm: .*:2 Account=a has "
		.. "DefaultMode=appdirect, which nodes take for flat there: tell your administrators, or "
		.. "take %-%-pm%-mode=appdirect$" } },
	{ "node_default", { partition = "main", account = "a", mode = "appdirect" },
		{ features = "pm_appdirect", shared = 0 } },
	{ "node_default", { partition = "main", account = "b" }, { features = "pm_memory", shared = 0 } },
	{ "node_default", { partition = "big", account = "a" }, { features = "pm_appdirect", shared = 0 } },
	-- clusters of a federation
	{ "federated", { mode = "memory" }, { features = "pm_memory", shared = 0, clusters = "one,two" } },
	{ "federated", { features = "pm_memory" }, { shared = 0, clusters = "one,two" } },
	{ "federated", { mode = "memory", clusters = "two" }, { features = "pm_memory", shared = 0 } },
	{ "federated", { mode = "memory", clusters = "two,three" },
		{ refused = "^pm: %-%-clusters=two,three: cluster 'three' offers no modes, take of one,two$" } },
	{ "federated", { clusters = "three" }, {} },
	{ "federated", { mode = "none" }, {} },
	{ "none", { mode = "memory" }, { features = "pm_memory", shared = 0 } },
	-- the site's modes
	{ "two", { mode = "appdirect" }, { features = "pm_appdirect", shared = 0 } },
	{ "two", { features = "pm_mixed" }, { shared = 0 } },
	-- DRAM of each rank
	{ "none", { mode = "flat", dram = "100G" }, { features = "pm_appdirect", shared = 0 } },
	{ "sizes", { dram = "100G" }, {} },
	{ "sizes", { mode = "appdirect", dram = "900M" }, { features = "pm_appdirect", shared = 0, mem = 900 } },
	{ "sizes", { mode = "appdirect", dram = "auto" }, { features = "pm_appdirect", shared = 0, mem = 900 } },
	{ "sizes", { mode = "appdirect", dram = "100G" }, { refused = "^pm: %-%-pm%-dram=100G needs 102400M "
		.. "on a node, one in mode appdirect has 900M, take at most 900M a rank$" } },
	{ "sizes", { mode = "flat", dram = "901M" }, { refused = "one in mode flat has 900M" } },
	{ "sizes", { mode = "memory", dram = "7600M" }, { features = "pm_memory", shared = 0, mem = 7600 } },
	{ "sizes", { mode = "memory", dram = "8G" }, { refused = "one in mode memory has 7600M" } },
	{ "sizes", { mode = "appdirect", dram = "300M", ntasks_per_node = 4 }, { refused = "^pm: "
		.. "%-%-pm%-dram=300M needs 1200M on a node, .* take at most 225M a rank$" } },
	{ "sizes", { mode = "appdirect", dram = "300M", ntasks_per_node = 4, num_tasks = 2 },
		{ features = "pm_appdirect", shared = 0, mem = 900 } },
	{ "sizes", { mode = "appdirect", dram = "300M", num_tasks = 8, max_nodes = 2 }, { refused = "needs 1200M" } },
	{ "sizes", { mode = "appdirect", dram = "300M", num_tasks = 8 },
		{ features = "pm_appdirect", shared = 0, mem = 900 } },
	{ "sizes", { mode = "appdirect", PM_DRAM = "1G" }, { refused = "PM_DRAM=1G needs 1024M" } },
	{ "sizes", { mode = "appdirect", PM_DRAM = "1G", dram = "1M" },
		{ features = "pm_appdirect", shared = 0, mem = 900 } },
	{ "sizes", { features = "pm_memory|pm_appdirect", dram = "1G" }, { features = "pm_memory", shared = 0, mem = 7600 } },
	{ "sizes", { features = "pm_memory|pm_appdirect", dram = "8G" }, { refused = "in mode memory" } },
	{ "dram", { mode = "appdirect", dram = "451M" },
		{ refused = "^pm: %-%-pm%-dram=451M is more than a socket's DRAM has for a rank %(450M%)$" } },
	{ "dram", { mode = "appdirect", dram = "301M", ntasks_per_node = 3 }, { refused = "at most 300M a rank" } },
	{ "dram", { mode = "memory", dram = "4G" }, { features = "pm_memory", shared = 0, mem = 7600 } },
	{ "dram_only", { mode = "flat", dram = "1G" }, { refused = "socket's DRAM has for a rank %(450M%)" } },
	-- the default
	{ "default", {}, { features = "pm_appdirect", shared = 0, mem = 900 } },
	{ "default", { prefer = "ssd" }, { features = "pm_appdirect", prefer = "ssd&pm_appdirect", shared = 0, mem = 900 } },
	{ "imply", { mem = 901, prefer = "ssd" }, { features = "pm_memory", prefer = "ssd&pm_memory", shared = 0 } },
	{ "default", { features = "gpu" }, { features = "gpu&pm_appdirect", shared = 0, mem = 900 } },
	{ "default", { mode = "memory" }, { features = "pm_memory", shared = 0, mem = 7600 } },
	{ "default", { PM_MODE = "memory" }, { features = "pm_memory", shared = 0, mem = 7600 } },
	{ "default", { features = "pm_mixed" }, { shared = 0, mem = 4000 } },
	{ "default", { size = "1G" }, { features = "pm_appdirect", shared = 0, mem = 900 } },
	{ "flat", {}, { features = "pm_appdirect", shared = 0 } },
	-- memory that a mode has
	{ "sizes", { mode = "memory" }, { features = "pm_memory", shared = 0, mem = 7600 } },
	{ "sizes", { mode = "flat" }, { features = "pm_appdirect", shared = 0, mem = 8900 } },
	{ "sizes", { features = "pm_appdirect" }, { shared = 0, mem = 900 } },
	{ "sizes", { features = "pm_memory|pm_appdirect" }, { features = "pm_memory", shared = 0, mem = 7600 } },
	{ "sizes", { features = "pm_memory|pm_appdirect", mem = 5000 }, { features = "pm_memory", shared = 0 } },
	{ "sizes", { features = "pm_mixed|pm_appdirect", PM_MODE = "flat" },
		{ features = "pm_appdirect", shared = 0, mem = 8900 } },
	{ "shared", { features = "pm_mixed|pm_appdirect", PM_MODE = "flat" },
		{ features = "pm_appdirect", shared = 0, mem = 8900 } },
	{ "sizes", { features = "pm_mixed|pm_appdirect", mem = 3000 }, { features = "pm_mixed", shared = 0 } },
	{ "flat", { features = "pm_mixed|pm_appdirect" }, { features = "pm_appdirect", shared = 0 } },
	{ "two", { features = "pm_memory|pm_mixed" }, { features = "pm_mixed", shared = 0 } },
	{ "sizes", { mode = "memory", mem = 0 }, { features = "pm_memory", shared = 0, mem = 7600 } },
	{ "sizes", { mode = "memory", mem = 7600 }, { features = "pm_memory", shared = 0 } },
	{ "sizes", { mode = "memory", mem = 100 }, { features = "pm_memory", shared = 0 } },
	{ "sizes", { mode = "appdirect", per_cpu = 225, cpus_per_task = 4 },
		{ features = "pm_appdirect", shared = 0 } },
	{ "sizes", { mode = "memory", mem_per_tres = "gres:gpu:100" }, { features = "pm_memory", shared = 0 } },
	{ "shared", { mode = "memory" }, { features = "pm_memory" } },
	{ "shared", { mode = "memory", mem = 0 }, { features = "pm_memory", mem = 7600 } },
	{ "shared", { mode = "flat" }, { features = "pm_appdirect", shared = 0, mem = 8900 } },
	{ "shared", { mode = "appdirect", namespace = "devdax" },
		{ features = "pm_appdirect", shared = 0, mem = 900 } },
	{ "shared", { mode = "appdirect", namespace = "fsdax" }, { features = "pm_appdirect" } },
	-- a request that only some modes can hold
	{ "imply", { mem = 900 }, {} },
	{ "imply", { mem = 901 }, { features = "pm_memory", shared = 0 } },
	{ "imply", { mem = 7600 }, { features = "pm_memory", shared = 0 } },
	{ "imply", { per_cpu = 1000, ntasks_per_node = 4 }, { features = "pm_memory", shared = 0 } },
	{ "imply", { per_cpu = 1000, num_tasks = 8, max_nodes = 4 }, { features = "pm_memory", shared = 0 } },
	{ "imply", { per_cpu = 1000, min_cpus = 8 }, { features = "pm_memory", shared = 0 } },
	{ "imply", { per_cpu = 100, num_tasks = 8 }, {} },
	{ "imply", { mem = 5000, features = "gpu" }, { features = "gpu&pm_memory", shared = 0 } },
	-- persistent memory
	{ "sizes", { mode = "appdirect", size = "8G" }, { features = "pm_appdirect", shared = 0, mem = 900 } },
	{ "none", { mode = "mixed", size = "3t" }, { features = "pm_mixed", shared = 0 } },
	{ "none", { features = "pm_appdirect", namespace = "devdax" }, { shared = 0 } },
	{ "none", { mode = "appdirect", PM_SIZE = "2G" }, { features = "pm_appdirect", shared = 0 } },
	{ "none", { mode = "memory", PM_SIZE = "bogus" }, { features = "pm_memory", shared = 0 } },
	{ "none", { mode = "appdirect", PM_SIZE = "" }, { features = "pm_appdirect", shared = 0 } },
	-- reboots
	{ "delay", { mode = "memory" }, { features = "pm_memory", shared = 0, delay = 600 } },
	{ "delay", { mode = "memory", delay = 5 }, { features = "pm_memory", shared = 0 } },
	{ "few", { mode = "memory" }, { features = "pm_memory", shared = 0, delay = 315360000,
		says = "no node is rebooted for jobs of user carol: this one takes nodes in mode memory only" } },
	{ "few", { mode = "memory", delay = 0 }, { features = "pm_memory", shared = 0, delay = 315360000,
		says = "no node is rebooted" } },
	{ "few", { mode = "memory", user_name = "bob" }, { features = "pm_memory", shared = 0 } },
	{ "few", { features = "pm_flat" }, { refused = "unknown feature" } },
	-- partitions
	{ "partitions", { partition = "big" }, { features = "pm_memory", shared = 0, mem = 7600 } },
	{ "partitions", { partition = "big", mode = "flat" },
		{ features = "pm_appdirect", shared = 0, mem = 8900 } },
	{ "partitions", {}, {} },
	{ "partitions", { partition = "main,other", mode = "memory" },
		{ features = "pm_memory", shared = 0, mem = 7600 } },
	{ "partitions", { partition = "main,old" }, {} },
	{ "partitions", { partition = "own", mode = "memory", user_name = "alice" },
		{ features = "pm_memory", delay = 60 } },
	{ "partitions", { partition = "own", mode = "memory" },
		{ features = "pm_memory", delay = 315360000, says = "no node is rebooted" } },
	-- refused, with the sentence that helps
	{ "none", { mode = "bogus" },
		{ refused = "^pm: %-%-pm%-mode: unknown mode 'bogus', valid modes are memory, appdirect, flat, mixed$" } },
	{ "two", { mode = "memory" },
		{ refused = "^pm: %-%-pm%-mode: mode 'memory' is not offered here, take one of appdirect, mixed$" } },
	{ "two", { mode = "flat" }, { refused = "'flat' is not offered" } },
	{ "two", { PM_MODE = "memory" }, { refused = "^pm: PM_MODE: mode 'memory' is not offered" } },
	{ "two", { features = "pm_memory" }, { refused = "^pm: %-%-constraint: mode 'memory' is not offered" } },
	{ "partitions", { partition = "old", mode = "memory" }, { refused = "'memory' is not offered here" } },
	{ "sizes", { mode = "appdirect", mem = 901 }, { refused = "^pm: %-%-mem=901M is more than a node has in "
		.. "mode appdirect %(900M%), take %-%-pm%-mode=memory %(7600M%) or %-%-pm%-mode=flat %(8900M%) or "
		.. "%-%-pm%-mode=mixed %(4000M%)$" } },
	{ "sizes", { mode = "memory", mem = 8000 }, { refused = "take %-%-pm%-mode=flat %(8900M%)$" } },
	{ "sizes", { mode = "flat", mem = 9000 }, { refused = "mode flat %(8900M%), ask for less$" } },
	{ "sizes", { mode = "appdirect", per_cpu = 500, ntasks_per_node = 2 },
		{ refused = "^pm: %-%-mem%-per%-cpu=500M on 2 CPUs is more than a node has in mode appdirect" } },
	{ "sizes", { features = "pm_memory|pm_appdirect", mem = 8000 }, { refused = "mode memory %(7600M%)" } },
	{ "two", { features = "pm_memory" }, { refused = "mode 'memory' is not offered here" } },
	{ "default", { prefer = "pm_memory" }, { refused = "prefers another mode than the job's, which is appdirect" } },
	{ "default", { features = "\"gpu\"" }, { refused = "cannot read %-%-constraint=\"gpu\"" } },
	{ "broken", { prefer = "pm_memory" }, { refused = ":2: unknown key" } },
	{ "sizes", { mem = 901 }, { refused = "^pm: %-%-mem=901M is more than a node has in every mode, "
		.. "take %-%-pm%-mode=memory" } },
	{ "imply", { mem = 8000 }, { refused = "take %-%-pm%-mode=flat %(8900M%)$" } },
	{ "imply", { mem = 10000 }, { refused = "more than a node has in any mode, ask for less$" } },
	{ "imply_flat", { mem = 800 }, { refused = "take %-%-pm%-mode=flat" } },
	{ "default", { mem = 901 }, { refused = "mode appdirect %(900M%), take %-%-pm%-mode=memory" } },
	{ "none", { size = "1G" },
		{ refused = "^pm: %-%-pm%-size needs %-%-pm%-mode=appdirect or mixed$" } },
	{ "none", { size = "1G", mode = "memory" },
		{ refused = "^pm: %-%-pm%-size needs %-%-pm%-mode=appdirect or mixed, the job's mode is memory$" } },
	{ "none", { namespace = "devdax", mode = "flat" }, { refused = "^pm: %-%-pm%-namespace needs" } },
	{ "flat", { features = "pm_appdirect", size = "1G" }, { refused = "the job's mode is flat" } },
	{ "none", { namespace = "raw", mode = "appdirect" },
		{ refused = "^pm: %-%-pm%-namespace: unknown kind 'raw', valid kinds are fsdax, devdax$" } },
	{ "none", { size = "5", mode = "appdirect" },
		{ refused = "^pm: %-%-pm%-size: '5' is not a size; write a whole number and K, M, G or T, as 100G$" } },
	{ "none", { size = string.rep("0", 20) .. "1G", mode = "appdirect" }, { refused = "is not a size" } },
	{ "none", { size = "0G", mode = "appdirect" }, { refused = "is not a size" } },
	{ "none", { PM_SIZE = "-1G", mode = "appdirect" }, { refused = "^pm: PM_SIZE: '%-1G' is not a size" } },
	{ "sizes", { size = "9G", mode = "appdirect" }, { refused = "^pm: %-%-pm%-size=9G is more than a "
		.. "socket's persistent memory has for a job %(8192M%)$" } },
	{ "none", { size = "1G", namespace = "devdax", mode = "appdirect" }, { refused = "leave %-%-pm%-size out" } },
	{ "partitions", { partition = "main,big" },
		{ refused = "^pm: partitions main,big differ in DefaultMode, name one of them$" } },
	{ "partitions", { partition = "main,old", mode = "appdirect" }, { refused = "differ in Modes" } },
	{ "bad_hours", { mode = "memory" }, { refused = ":1: RebootHours='18:00': any, or hours like "
		.. "Mon%-Fri/18:00%-06:00,Sat%-Sun expected at '18:00'$" } },
	{ "bad_day", { mode = "memory" }, { refused = "expected at 'Mon%-/18:00%-19:00'$" } },
	{ "bad_time", { mode = "memory" }, { refused = "expected at '24:00%-06:00'$" } },
	{ "bad_number", { mode = "memory" }, { refused = "none or a whole number from 1 to 4000 expected$" } },
	{ "bad_nodes", { mode = "memory" }, { refused = "a number of nodes expected at '0'$" } },
	{ "broken", { mode = "memory" }, { refused = ":2: unknown key 'Nonsense', see pmem.conf%(5%)$" } },
	{ "broken", { features = "pm_memory" }, { refused = ":2: unknown key" } },
	{ "broken", { size = "1G" }, { refused = ":2: unknown key" } },
	{ "broken_value", { mode = "memory" }, { refused = ":1: DelayBoot='soon'" } },
	{ "default", { features = "(gpu)" }, { refused = "^pm: DefaultMode=appdirect cannot be combined" } },
}

local function describe(site, fields)
	local words = {}
	for key, value in pairs(fields) do
		words[#words + 1] = key .. "=" .. tostring(value)
	end
	table.sort(words)
	return site .. ": " .. table.concat(words, " ")
end

local function matches(text, pattern)
	return text ~= nil and string.find(text, pattern) ~= nil
end

for _, row in ipairs(served) do
	local site, fields, wanted = row[1], row[2], row[3]
	local label, desc, before = describe(site, fields), job(fields), job(fields)
	write(SITES[site])
	said = nil
	local rc = pm.submit(desc, PARTITIONS, 1000)
	check(label .. ": status", rc, wanted.refused and slurm.ERROR or slurm.SUCCESS)
	if wanted.refused or wanted.says then
		check(label .. ": '" .. tostring(said) .. "'", matches(said, wanted.refused or wanted.says), true)
	else
		check(label .. ": silent", said, nil)
	end
	for name, field in pairs({ features = "features", shared = "shared", mem = "min_mem_per_node",
		delay = "delay_boot", per_cpu = "min_mem_per_cpu", prefer = "prefer",
		comment = "comment", admin_comment = "admin_comment", clusters = "clusters" }) do
		local value = wanted[name]
		if value == nil then
			value = before[field]
		end
		check(label .. ": " .. field, desc[field], value)
	end
end
local submissions = #served

-- Changes: site, the job in the queue, the change, then the memory after it, or the refusal.
local changed = {
	{ "sizes", { features = "pm_memory", mem = 7600 }, { features = "pm_appdirect" }, { mem = 900 } },
	{ "sizes", { features = "pm_memory", mem = 800 }, { features = "pm_appdirect" }, {} },
	{ "sizes", { features = "pm_memory", mem = 5000 }, { features = "pm_appdirect" },
		{ refused = "mode appdirect %(900M%)" } },
	{ "sizes", { features = "pm_memory", mem = 5000 }, { mem = 8000 }, { refused = "mode memory %(7600M%)" } },
	{ "sizes", { features = "pm_appdirect", mode = "flat", mem = 8900 }, { partition = "other" }, {} },
	{ "sizes", { features = "pm_memory", mode = "memory" }, { features = "pm_appdirect" },
		{ refused = "job was submitted with %-%-pm%-mode=memory" } },
	{ "sizes", { features = "gpu" }, { mem = 100000 }, {} },
	{ "sizes", { features = "pm_appdirect", PM_MODE = "flat" }, { mem = 5000 }, {} },
	{ "sizes", { features = "pm_appdirect" }, { mem = 5000 }, { refused = "mode appdirect %(900M%)" } },
	{ "partitions", { features = "pm_memory" }, { partition = "old" }, { refused = "is not offered here" } },
	{ "partitions", { features = "pm_appdirect" }, { partition = "old" }, {} },
	{ "partitions", { features = "pm_memory" }, { partition = "main,old" }, { refused = "differ in Modes" } },
	{ "few", { features = "pm_memory" }, { delay = 0 }, { refused = "no node is rebooted for jobs of user carol" } },
	{ "few", { features = "pm_memory", user_name = "bob" }, { delay = 0 }, {} },
	{ "few", { features = "gpu" }, { delay = 0 }, {} },
	{ "few", { features = "pm_memory" }, { name = "other" }, {} },
	{ "broken", { features = "pm_memory" }, { name = "other" }, {} },
	{ "broken", { features = "pm_memory" }, { partition = "big" }, { refused = ":2: unknown key" } },
	{ "broken", { features = "gpu" }, { partition = "big" }, {} },
	-- conditions that the update changes
	{ "accounts", { features = "pm_memory", account = "physics" }, { account = "chem" }, { delay = 315360000 } },
	{ "accounts", { features = "pm_memory", account = "chem", delay = 315360000 }, { account = "physics" },
		{ delay = 0 } },
	{ "accounts", { features = "pm_memory", account = "physics", mem = 7600 }, { reservation = "night" },
		{ refused = "is not offered here" } },
	{ "accounts", { features = "pm_memory", resv_name = "night" }, { reservation = "" }, { delay = 315360000 } },
	{ "accounts", { features = "pm_memory", account = "physics" }, { qos = "debug" }, {} },
	{ "accounts", { features = "pm_memory", account = "physics", qos = "debug", time_limit = 90 },
		{ time_limit = 30 }, { delay = 315360000 } },
	{ "accounts", { features = "pm_memory", account = "physics", qos = "debug", time_limit = 90, job_state = 1 },
		{ time_limit = 30 }, {} },
	{ "accounts", { features = "pm_memory", account = "physics", qos = "debug", time_limit = 30,
		delay = 315360000 }, { time_limit = 30, delay = 0 }, { refused = "time limit below 60 minutes$" } },
	{ "accounts", { features = "gpu", account = "physics" }, { account = "chem" }, {} },
	{ "two", { features = "pm_memory", job_state = 1 }, { time_limit = 90 }, {} },
	{ "broken", { features = "pm_memory", job_state = 1 }, { qos = "long" }, {} },
	{ "short", { features = "pm_memory", time_limit = 90 }, { time_limit = 30 }, { delay = 315360000 } },
	-- limits: users get no reboot by an update, root is pm-controller
	{ "hours", { features = "pm_memory", delay = 283824060 }, { delay = 0 }, { delay = 283824000 } },
	{ "hours", { features = "pm_memory", delay = 60 }, { delay = 0 }, { delay = 283824000 } },
	{ "hours", { features = "pm_memory", delay = 60 }, { time_limit = 9 }, { delay = 283824060 } },
	{ "hours", { features = "pm_memory", delay = 283824060 }, { time_limit = 9 }, {} },
	{ "hours", { features = "pm_memory", delay = 283824060 }, { qos = "urgent" }, { delay = 60 } },
	{ "hours", { features = "pm_memory", delay = 60, qos = "urgent" }, { qos = "normal" }, { delay = 283824060 } },
	{ "hours", { features = "pm_memory", delay = 283824060 }, { delay = 60 }, {}, uid = 0 },
	{ "hours", { features = "pm_memory", delay = 60 }, { delay = 283824060 }, {}, uid = 0 },
	{ "none", { features = "pm_memory", delay = 283824060 }, { delay = 60 }, {}, uid = 0 },
	{ "limits", { features = "pm_memory", user_name = "alice", delay = 315360000 }, { delay = 283824000 },
		{ delay = 315360000 }, uid = 0 },
	{ "limits", { features = "pm_memory", user_name = "alice", delay = 315360000 }, { delay = 0 },
		{ refused = "jobs of user alice" }, uid = 0 },
	{ "noted", { features = "pm_memory", comment = "run 7; pm_mode=memory" }, { features = "pm_appdirect" },
		{ comment = "run 7; pm_mode=appdirect" } },
	{ "noted", { features = "pm_memory", comment = "pm_mode=memory" },
		{ features = "pm_mixed", comment = "mine" }, { comment = "mine; pm_mode=mixed" } },
	{ "noted", { features = "pm_memory", comment = "pm_mode=memory" }, { partition = "other" }, {} },
}

-- What scontrol does not change is not in the description.
local function change(fields)
	local desc = { delay_boot = NO_VAL }
	for key, value in pairs(fields) do
		desc[FIELDS[key] or key] = value
	end
	return desc
end

for _, row in ipairs(changed) do
	local site, wanted = row[1], row[4]
	local label, desc = describe(site, row[2]) .. " -> " .. describe("", row[3]), change(row[3])
	write(SITES[site])
	said = nil
	check(label, pm.modify(desc, job(row[2]), PARTITIONS, row.uid or 1000),
		wanted.refused and slurm.ERROR or slurm.SUCCESS)
	if wanted.refused then
		check(label .. ": '" .. tostring(said) .. "'", matches(said, wanted.refused), true)
	else
		check(label .. ": memory", desc.min_mem_per_node, wanted.mem or row[3].mem)
		check(label .. ": comment", desc.comment, wanted.comment or row[3].comment)
		check(label .. ": delay", desc.delay_boot, wanted.delay or row[3].delay or NO_VAL)
	end
end

-- A changed file counts at the next submission; a missing one decides nothing.
write("Modes=memory")
check("a file is read", pm.submit(job({ mode = "flat" }), PARTITIONS, 1000), slurm.ERROR)
write("Modes=flat  ")
check("a changed file is read again", pm.submit(job({ mode = "flat" }), PARTITIONS, 1000), slurm.SUCCESS)
os.remove(file)
check("a missing file is none", pm.submit(job({ mode = "memory" }), PARTITIONS, 1000), slurm.SUCCESS)

-- Whether Slurm's own list is there too, beside pmem.conf.
local helpers = string.match(file, "^.*/") .. "helpers.conf"

local function logged_with(helpers_text, user)
	local stream = assert(io.open(helpers, "w"))
	stream:write(helpers_text)
	stream:close()
	logged = nil
	write(SITES.few)
	pm.submit(job({ mode = "memory", user_name = user }), PARTITIONS, 1000)
	os.remove(file)
	os.remove(helpers)
	return logged
end

local MISSING = "pm: RebootUsers without AllowUserBoot: carol's job keeps idle nodes from others"
check("no list of Slurm's", logged_with("Feature=pm_memory\n#AllowUserBoot=alice\n", "carol"), MISSING)
check("an empty one", logged_with("AllowUserBoot=\n", "carol"), MISSING)
check("one", logged_with("BootTime=300\n allowuserboot = alice,bob\n", "carol"), nil)
check("a user who may", logged_with("", "alice"), nil)

os.remove(groups)
print("# " .. submissions .. " submissions, " .. #changed .. " changes")
print("1.." .. count)
os.exit(failed == 0 and 0 or 1)
