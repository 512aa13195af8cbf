-- SPDX-License-Identifier: Apache-2.0
-- What pmem.conf says of jobs, as pmem.lua applies it: submissions and changes against site defaults,
-- under plain Lua 5.1; prints TAP. Run from the project's top: lua5.1 test_policy.lua FILE, which is
-- written and removed.

local file = assert(arg[1], "a file for pmem.conf")
local said, logged

-- luacheck: globals slurm
slurm = { SUCCESS = 0, ERROR = -1, log_user = function(...) said = string.format(...) end,
	log_info = function(...) logged = string.format(...) end }

local pm = dofile("controller/pmem.lua")
pm.config_file = file
pm.state_file = (string.match(file, "^.*/") or "") .. "modes"

local tap = dofile("tests/lua/tap.lua")
local check = tap.check

local function write(text)
	local stream = assert(io.open(file, "w"))
	stream:write(text)
	stream:close()
end

local table_of = dofile("tests/lua/submissions.lua")
local SITES, served = table_of.sites, table_of.served

local OPTION = "_SLURM_SPANK_OPTION_pmem_pm_"
local WORDS = { dram = OPTION .. "dram", PM_DRAM = "PM_DRAM",
	mode = OPTION .. "mode", size = OPTION .. "size", namespace = OPTION .. "namespace",
	PM_MODE = "PM_MODE", PM_SIZE = "PM_SIZE", PM_NAMESPACE = "PM_NAMESPACE" }
local FIELDS = { mem = "min_mem_per_node", per_cpu = "min_mem_per_cpu", delay = "delay_boot" }
local NO_VAL16, NO_VAL = 65534, 4294967294

-- A job as Slurm hands it over: unset numbers are NO_VAL, the environment's words count from 0.
local function job(fields)
	local desc = { user_name = "carol", user_id = 1000, delay_boot = NO_VAL, cpus_per_task = NO_VAL16, min_cpus = NO_VAL,
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

local load_groups = dofile("controller/pmem_groups.lua").load

-- As pm-controller writes it.
local groups = (string.match(file, "^.*/") or "") .. "groups"
do
	local stream = assert(io.open(groups, "w"))
	stream:write("slurm-pmem-groups 1\nstaff erin frank\nempty\n")
	stream:close()
end

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
	{ "sizes", { features = "pm_appdirect", mem = 900 }, { features = "pm_memory" }, { mem = 7600 } },
	-- by an operator: no limit holds for values in an operator's update
	{ "sizes", { features = "pm_appdirect", mem = 900 }, { features = "pm_memory" }, { says =
		"^pm: job keeps its memory, 900M of a node; its owner's update or MinMemoryNode=7600 gives it that of mode memory$" },
		uid = 0 },
	{ "sizes", { features = "pm_appdirect", mem = 900 }, { features = "pm_memory" }, {}, uid = 1001 },
	{ "sizes", { features = "pm_appdirect", mem = 900 }, { features = "pm_memory", mem = 7600 }, { mem = 7600 }, uid = 0 },
	{ "sizes", { features = "pm_memory", mem = 7600 }, { features = "pm_appdirect" },
		{ refused = "mode appdirect %(900M%)" }, uid = 0 },
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
	-- whatever has become of pmem.conf since the job was queued
	{ "broken", { features = "pm_memory", delay = 283824060 }, { delay = 60 }, {}, uid = 0 },
	{ "broken", { features = "pm_memory", delay = 60 }, { delay = 283824060 }, {}, uid = 0 },
	{ "broken", { features = "pm_memory", delay = 283824060 }, { delay = 60 }, { refused = ":2: unknown key" } },
	{ "broken", { features = "pm_memory" }, { delay = 60, partition = "big" }, { refused = ":2: unknown key" }, uid = 0 },
	{ "partitions", { features = "pm_memory", partition = "old", delay = 283824060 }, { delay = 60 }, {}, uid = 0 },
	{ "partitions", { features = "pm_memory", partition = "main,old", delay = 283824060 }, { delay = 60 }, {}, uid = 0 },
	{ "sizes", { features = "pm_appdirect", mem = 5000, delay = 283824060 }, { delay = 60 }, {}, uid = 0 },
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
		check(label .. ": '" .. tostring(said) .. "'", not wanted.says or matches(said, wanted.says), true)
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

-- A file of groups that is torn: what it had before counts.
local GROUPS = "slurm-pmem-groups 1\nstaff erin frank\nempty\n"
local function is_frank_in_staff(text)
	local stream = assert(io.open(groups, "w"))
	stream:write(text)
	stream:close()
	return load_groups(groups)("staff", "frank")
end

check("a group", is_frank_in_staff(GROUPS), true)
for length = 0, #GROUPS - 1 do
	if string.sub(GROUPS, length, length) ~= "\n" then
		check("cut at " .. length, is_frank_in_staff(string.sub(GROUPS, 1, length)), true)
	end
end
check("garbage", is_frank_in_staff("\0\1\2\n"), true)
check("a whole one without the user", is_frank_in_staff("slurm-pmem-groups 1\nstaff erin\n"), false)

-- The clusters of the federation that offer modes, as pm-controller has found them.
local clusters = (string.match(file, "^.*/") or "") .. "clusters"
local function clusters_after(text, site, named)
	local stream = assert(io.open(clusters, "w"))
	stream:write(text)
	stream:close()
	write(SITES[site])
	local desc = job({ mode = "memory", clusters = named })
	return pm.submit(desc, PARTITIONS, 1000) == slurm.SUCCESS and desc.clusters
end
check("clusters", clusters_after("slurm-pmem-clusters 1\none,two\n", "none"), "one,two")
check("named", clusters_after("slurm-pmem-clusters 1\none,two\n", "none", "two"), "two")
check("one that offers none", clusters_after("slurm-pmem-clusters 1\none,two\n", "none", "two,three"), false)
check("Clusters= wins", clusters_after("slurm-pmem-clusters 1\nthree\n", "federated"), "one,two")
check("all offer modes", clusters_after("slurm-pmem-clusters 1\n\n", "none"), nil)
check("a torn file", clusters_after("slurm-pmem-clusters 1\none", "none"), nil)
os.remove(clusters)

-- The first lease: pm-controller tells of the licence, and where nodes wake for jobs that may cause no
-- change of mode. "few" has RebootUsers, "hours" RebootHours, "short" RebootTimeLimit.
local leases = (string.match(file, "^.*/") or "") .. "leases"
local function licences_with(tail, site, fields, until_s)
	local stream = assert(io.open(leases, "w"))
	stream:write(string.format("slurm-pmem-leases 1 %d\n%s", until_s or os.time() + 60, tail))
	stream:close()
	write(SITES[site])
	fields.mode = "memory"
	local desc = job(fields)
	return pm.submit(desc, PARTITIONS, 1000) == slurm.SUCCESS and desc.licenses
end
for _, site in ipairs({ "few", "hours" }) do
	check(site .. ": nodes wake", licences_with("wakes\n", site, {}), "pm_wait:1")
	check(site .. ": they do not", licences_with("", site, {}), nil)
	check(site .. ": a torn line", licences_with("wak", site, {}), nil)
	check(site .. ": it is over", licences_with("wakes\n", site, {}, os.time()), nil)
	check(site .. ": beside others", licences_with("wakes\n", site, { licenses = "matlab:1" }), "matlab:1,pm_wait:1")
	for _, fields in ipairs({ { req_nodes = "n1" }, { dependency = "afterany:7" }, { begin_time = os.time() + 60 } }) do
		check(site .. ": " .. next(fields), licences_with("wakes\n", site, fields), "pm_wait:1")
	end
	for _, fields in ipairs({ { reservation = "night" }, { immediate = 1 }, { het_job_offset = 0 } }) do
		check(site .. ": " .. next(fields), licences_with("wakes\n", site, fields), nil)
	end
end
check("a short job", licences_with("wakes\n", "short", { time_limit = 30 }), "pm_wait:1")
check("a long one", licences_with("wakes\n", "short", { time_limit = 90 }), nil)
check("a user who may", licences_with("wakes\n", "few", { user_name = "alice" }), nil)
os.remove(leases)

os.remove(groups)
check("no file", load_groups(groups)("staff", "erin"), false)
print("# " .. submissions .. " submissions, " .. #changed .. " changes")
tap.done()
