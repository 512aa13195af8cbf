-- SPDX-License-Identifier: Apache-2.0
-- The choice of --pm-mode=auto under plain Lua 5.1, prints TAP: lua5.1 test_auto.lua DIR, from the
-- project's top. In DIR the files of pm-controller are written.

local dir = assert(arg[1], "a directory for pm-controller's files") .. "/"
local said

-- luacheck: globals slurm
slurm = { SUCCESS = 0, ERROR = -1,
	log_user = function(...) said = (said and said .. "\n" or "") .. string.format(...) end,
	log_info = function() end }

local auto = dofile("controller/pmem_auto.lua")
local history = dofile("controller/pmem_history.lua")
local pm = dofile("controller/pmem.lua")
pm.config_file, pm.state_file = dir .. "pmem.conf", dir .. "modes"

local tap = dofile("tests/lua/tap.lua")
local check = tap.check

local function write(name, text)
	local stream = assert(io.open(dir .. name, "w"))
	stream:write(text)
	stream:close()
end

-- Choices -----------------------------------------------------------------------------------------

local MEMORY = { name = "memory", feature = "pm_memory" }
local APPDIRECT = { name = "appdirect", feature = "pm_appdirect" }
local MIXED = { name = "mixed", feature = "pm_mixed" }
local SIZES = { memory = 7600, appdirect = 900, mixed = 4000 }

-- Numbers of memory and appdirect: idle, could, in the mode; reboots take 100 s.
local function view(idle_m, could_m, nodes_m, idle_a, could_a, nodes_a)
	return { is_known = true, idle = { pm_memory = idle_m, pm_appdirect = idle_a },
		could = { pm_memory = could_m, pm_appdirect = could_a },
		nodes = { pm_memory = nodes_m, pm_appdirect = nodes_a },
		reboot_s = { pm_memory = 100, pm_appdirect = 100 } }
end

local function job(fields)
	local made = { nodes = 1, tasks = 1, may_reboot = true, view = view(0, 0, 0, 0, 0, 0), history = {},
		site = { jobs = 0, run_s = 0, used = {}, ratio = {} },
		usable = function(mode) return SIZES[mode.name] end }
	for key, value in pairs(fields) do
		made[key] = value
	end
	return made
end

-- Seconds of runs in memory and appdirect, nil: none; and the memory that they used.
local function past(memory_s, appdirect_s, used_mib)
	return { memory = memory_s and { runs = 3, run_s = memory_s },
		appdirect = appdirect_s and { runs = 2, run_s = appdirect_s }, used_mib = used_mib }
end

local BOTH = { MEMORY, APPDIRECT }
local EITHER = view(2, 2, 2, 2, 2, 2)  -- of four nodes two are in each mode, all idle
local A_ONLY = view(0, 4, 0, 4, 0, 4)  -- all four are in appdirect
local BUSY = view(0, 0, 1, 0, 0, 3)    -- none is idle
local MIXED_ONLY = { is_known = true, idle = { pm_mixed = 4, pm_memory = 0 }, could = { pm_mixed = 0, pm_memory = 4 },
	nodes = { pm_mixed = 4, pm_memory = 0 }, reboot_s = { pm_mixed = 100, pm_memory = 100 } }

-- Of four jobs one or two use 1000 MiB.
local function site(jobs, ratios, third_mib)
	local made = { jobs = jobs, run_s = 2000, used = { 100, 200, third_mib or 300, 1000 }, ratio = {} }
	for pair, ratio in pairs(ratios) do
		made.ratio[pair] = { jobs = 60, ratio = ratio }
	end
	return made
end
local SITE = site(80, { ["appdirect memory"] = 1.5, ["memory appdirect"] = 1 / 1.5 })
local HALF = site(80, {}, 1000)
local FEW = site(19, {}, 1000)
local SLOW_MIXED = site(80, { ["appdirect mixed"] = 2.5 })
local CHOICES = {
	-- idle nodes
	{ BOTH, { view = A_ONLY }, "appdirect", "1 node is idle in it" },
	{ BOTH, { view = A_ONLY, nodes = 3 }, "appdirect", "3 nodes are idle in it" },
	{ BOTH, { view = EITHER }, "memory", "1 node is idle in it" },
	{ { APPDIRECT, MEMORY }, { view = EITHER }, "appdirect", "1 node is idle in it" },
	{ BOTH, { view = view(1, 3, 1, 3, 1, 3), nodes = 4 }, "appdirect",
		"no mode has the idle nodes, and it needs the fewest reboots: 1" },
	{ BOTH, { view = view(1, 3, 1, 3, 1, 3), nodes = 4, may_reboot = false }, "appdirect",
		"no mode has the idle nodes, 3 nodes are in it" },
	{ BOTH, { view = BUSY }, "appdirect", "no mode has the idle nodes, 3 nodes are in it" },
	{ BOTH, { view = view(0, 0, 1, 0, 0, 0) }, "memory", "no mode has the idle nodes, 1 node is in it" },
	{ BOTH, { view = view(0, 1, 0, 0, 0, 4) }, "memory",
		"no mode has the idle nodes, and it needs the fewest reboots: 1" },
	-- one that can serve
	{ { MIXED }, { view = A_ONLY }, "mixed", "no other mode can serve the job" },
	-- memory of earlier runs
	{ BOTH, { view = A_ONLY, history = past(300, nil, 2000) }, "memory",
		"earlier runs used 2000M of a node, which no other mode has" },
	{ { MEMORY, APPDIRECT, MIXED }, { view = A_ONLY, history = past(nil, nil, 900) }, "memory",
		"earlier runs used 900M of a node; no mode has the idle nodes, and it needs the fewest reboots: 1" },
	{ BOTH, { view = A_ONLY, history = past(nil, nil, 899) }, "appdirect", "1 node is idle in it" },
	{ BOTH, { view = A_ONLY, history = past(nil, nil, 9000) }, "appdirect", "1 node is idle in it" },
	{ BOTH, { view = A_ONLY, history = past(nil, nil, 9000), usable = function() return nil end }, "appdirect",
		"1 node is idle in it" },
	-- run times
	{ BOTH, { view = EITHER, history = past(520, 310) }, "appdirect",
		"its runs take 310 s, the median of 2, and 520 s in memory" },
	{ BOTH, { view = EITHER, history = past(nil, 310) }, "appdirect", "1 node is idle in it" },
	{ BOTH, { view = A_ONLY, history = past(200, 310) }, "memory",
		"its runs take 200 s, the median of 3, and 310 s in appdirect; 1 node is rebooted, about 100 s each" },
	{ BOTH, { view = A_ONLY, history = past(210, 310) }, "appdirect", "1 node is idle in it" },
	{ BOTH, { view = A_ONLY, history = past(209, 310), nodes = 2 }, "memory",
		"its runs take 209 s, the median of 3, and 310 s in appdirect; 2 nodes are rebooted, about 100 s each" },
	-- an array: Slurm reboots idle nodes for all of its tasks
	{ BOTH, { view = A_ONLY, history = past(300, 310), tasks = 41 }, "memory",
		"its runs take 300 s, the median of 3, and 310 s in appdirect; 4 nodes are rebooted, about 100 s each" },
	{ BOTH, { view = A_ONLY, history = past(300, 310), tasks = 40 }, "appdirect", "1 node is idle in it" },
	{ BOTH, { view = view(1, 3, 1, 3, 1, 3), tasks = 100 }, "appdirect",
		"no mode has the idle nodes, and it needs the fewest reboots: 1" },
	-- expected run times of a job that fits in DRAM
	{ BOTH, { view = EITHER, history = past(330, nil), fits_dram = true }, "appdirect",
		"its runs take 330 s in memory, and are expected to take 300 s, as they fit in DRAM" },
	{ BOTH, { view = EITHER, history = past(nil, 300), fits_dram = true }, "appdirect",
		"its runs take 300 s, the median of 2, and are expected to take 330 s in memory" },
	{ BOTH, { view = EITHER, history = past(290, 300), fits_dram = true }, "memory",
		"its runs take 290 s, the median of 3, and 300 s in appdirect" },
	{ BOTH, { view = view(4, 0, 4, 0, 4, 0), history = past(1111, nil), fits_dram = true }, "appdirect",
		"its runs take 1111 s in memory, and are expected to take 1010 s, as they fit in DRAM; 1 node is rebooted, "
			.. "about 100 s each" },
	{ BOTH, { view = view(4, 0, 4, 0, 4, 0), history = past(1099, nil), fits_dram = true }, "memory",
		"1 node is idle in it" },
	{ BOTH, { view = EITHER, fits_dram = true }, "appdirect", "1 node is idle in it" },
	{ BOTH, { view = A_ONLY, history = past(10, 310), may_reboot = false }, "appdirect", "1 node is idle in it" },
	{ BOTH, { view = A_ONLY, history = past(10, nil) }, "appdirect", "1 node is idle in it" },
	{ BOTH, { view = BUSY, history = past(10, 310) }, "memory", "no mode has the idle nodes, 1 node is in it" },
	-- an array larger than the mode: nodes that come free of other modes reboot, too
	{ BOTH, { view = view(0, 0, 3, 0, 0, 9), tasks = 10 }, "appdirect", "no mode has the idle nodes, 9 nodes are in it" },
	{ BOTH, { view = view(1, 0, 3, 1, 0, 9), tasks = 10, history = past(300, 310) }, "appdirect",
		"no mode has the idle nodes, and it needs the fewest reboots: 1" },
	-- jobs of the site: 60 have run in both modes, and took 1.5 times as long in memory
	{ BOTH, { view = EITHER, history = past(300, nil), site = SITE }, "appdirect",
		"its runs take 300 s in memory, and are expected to take 216 s, by jobs that ran in both, 60" },
	{ BOTH, { view = EITHER, history = past(nil, 300), site = SITE }, "appdirect",
		"its runs take 300 s, the median of 2, and are expected to take 416 s in memory" },
	{ BOTH, { view = view(4, 0, 4, 0, 4, 0), history = past(360, nil), site = SITE }, "appdirect",
		"its runs take 360 s in memory, and are expected to take 259 s, by jobs that ran in both, 60; 1 node is "
			.. "rebooted, about 100 s each" },
	{ BOTH, { view = view(4, 0, 4, 0, 4, 0), history = past(350, nil), site = SITE }, "memory", "1 node is idle in it" },
	{ BOTH, { view = EITHER, history = past(300, 290), site = SITE }, "appdirect",
		"its runs take 290 s, the median of 2, and 300 s in memory" },
	{ { MEMORY, MIXED }, { view = MIXED_ONLY, history = past(nil, 3000), site = SITE, fits_dram = true }, "mixed",
		"1 node is idle in it" },
	{ { MEMORY, MIXED }, { view = MIXED_ONLY, history = past(nil, 3000), site = SLOW_MIXED, fits_dram = true }, "memory",
		"by its runs in other modes it is expected to take 3300 s in it and 6108 s in mixed; 1 node is rebooted, about "
			.. "100 s each" },
	-- a job that has never run, on a site of which half of the jobs use more than appdirect has
	{ BOTH, { view = A_ONLY, site = HALF }, "memory",
		"of the jobs here 50 % use more memory than appdirect has; 1 node is rebooted, about 100 s each" },
	{ BOTH, { view = A_ONLY, site = HALF, knows_memory = true }, "appdirect", "1 node is idle in it" },
	{ BOTH, { view = A_ONLY, site = SITE }, "appdirect", "1 node is idle in it" },
	{ BOTH, { view = view(4, 0, 4, 0, 4, 0), site = SITE, knows_memory = true }, "appdirect", "jobs here take 2000 s, "
		.. "the median of 80, and are expected to take 1441 s in it and 2000 s in memory; 1 node is rebooted, about "
			.. "100 s each" },
	{ BOTH, { view = A_ONLY, site = FEW }, "appdirect", "1 node is idle in it" },
	{ BOTH, { view = view(1, 0, 1, 1, 0, 1), site = HALF }, "memory",
		"of the jobs here 50 % use more memory than appdirect has; 1 node is idle in it" },
	-- a job that has run, and used more than appdirect has
	{ BOTH, { view = A_ONLY, site = SITE, history = past(300, nil, 2000), knows_memory = true }, "memory",
		"earlier runs used 2000M of a node, which no other mode has" },
	-- without pm-controller
	{ BOTH, { view = { idle = {}, could = {}, nodes = {}, reboot_s = {} } }, "memory",
		"it is the first of the modes that can serve the job" },
	{ BOTH, { view = { idle = {}, could = {}, nodes = {}, reboot_s = {} }, history = past(520, 310) }, "appdirect",
		"its runs take 310 s, the median of 2, and 520 s in memory" },
}

for i, row in ipairs(CHOICES) do
	local mode, why = auto.choose(row[1], job(row[2]))
	check("choice " .. i .. ": mode", mode.name, row[3])
	check("choice " .. i .. ": why", why, row[4])
end

-- The same job ------------------------------------------------------------------------------------

local SAME = { name = "run", script = "#!/bin/bash\nsrun ./app\n", min_nodes = 2, num_tasks = 8 }

local function key_with(fields)
	local changed = {}
	for key, value in pairs(SAME) do
		changed[key] = value
	end
	for key, value in pairs(fields) do
		changed[key] = value
	end
	return history.key(changed)
end

local key = history.key(SAME)
check("a key has 16 digits", string.match(key, "^%x+$") and #key, 16)
check("the same job has the same key", key_with({ user_id = 7, time_limit = 5, min_mem_per_node = 9 }), key)
check("nodes and tasks may be left out", history.key({ name = "x", script = "y" }),
	history.key({ name = "x", script = "y", min_nodes = 1, num_tasks = 1,
		cpus_per_task = 65534, ntasks_per_node = 65534 }))
for _, fields in ipairs({ { name = "other" }, { script = "#!/bin/bash\nsrun ./apq\n" }, { min_nodes = 3 },
	{ num_tasks = 9 },
	{ cpus_per_task = 2 }, { script = SAME.script .. "\n" }, { script = SAME.script .. string.rep("#", 20000) } }) do
	check("another job has another key", key_with(fields) ~= key, true)
end
check("of a long script the length counts",
	key_with({ script = string.rep("#", 20000) }) ~= key_with({ script = string.rep("#", 20001) }), true)
check("a job without a script has none", history.key({ name = "run" }), nil)
check("the note", history.note("", key), "pm_same=" .. key)
check("before a site's text", history.note("site's", key), "pm_same=" .. key .. "; site's")

local LINES = key .. " memory 3 520 2000 1790000000 520,500,530\n" .. key .. " appdirect 0 0 890 1790000000 -\n"
	.. string.rep("0", 16) .. " mixed 3 1 4000 1790000000 1,1,1\n"
write("history-1000", "slurm-pmem-history 1\n" .. LINES)
local found = history.read(dir, 1000, key)
check("runs", found.memory.runs, 3)
check("their median", found.memory.run_s, 520)
check("a mode without a run that counts", found.appdirect, nil)
check("the most memory of all modes", found.used_mib, 2000)
check("another job's", found.mixed, nil)
check("another user's", history.read(dir, 1001, key).memory, nil)
check("a job without a key", history.read(dir, 1000, nil).memory, nil)
for _, text in ipairs({ "", "slurm-pmem-history 2\n" .. LINES, LINES,
	"slurm-pmem-history 1\n" .. key .. " memory x 520 1\n" }) do
	write("history-1000", text)
	check("another form", history.read(dir, 1000, key).used_mib, nil)
end

-- The site's jobs ---------------------------------------------------------------------------------

local SITE_LINES = "jobs 412 1840\nused 400 10 20 30 4000\nratio memory appdirect 57 920\n"
	.. "ratio appdirect memory 57 1086\n"
write("history-site", "slurm-pmem-site-history 1\n" .. SITE_LINES)
local told = history.read_site(dir)
check("jobs", told.jobs, 412)
check("their median", told.run_s, 1840)
check("memory", table.concat(told.used, " "), "10 20 30 4000")
check("a ratio", told.ratio["memory appdirect"].ratio, 0.92)
check("the jobs that tell it", told.ratio["appdirect memory"].jobs, 57)
check("a pair without jobs", told.ratio["memory mixed"], nil)
for _, text in ipairs({ "", SITE_LINES, "slurm-pmem-site-history 2\n" .. SITE_LINES,
	"slurm-pmem-site-history 1\nratio memory appdirect 57 0\njobs x 1\n" }) do
	write("history-site", text)
	told = history.read_site(dir)
	check("another form: no jobs", told.jobs, 0)
	check("no ratio", told.ratio["memory appdirect"], nil)
end

-- Submissions -------------------------------------------------------------------------------------

local function submit(fields, policy)
	local desc = { user_name = "carol", user_id = 1000, partition = "main", environment = {},
		spank_job_env = { [0] = "_SLURM_SPANK_OPTION_pmem_pm_mode=auto" } }
	for field, value in pairs(fields) do
		desc[field] = value
	end
	said = nil
	write("pmem.conf", "UsableMemory=memory:7600M,appdirect:900M,flat:8900M,mixed:4000M\n" .. (policy or ""))
	check("is taken", pm.submit(desc, {}, 1000), slurm.SUCCESS)
	return desc
end

write("modes", "slurm-pmem-modes 1 " .. os.time() .. "\nmain pm_memory=0 pm_appdirect=4 pm_mixed=0 could:pm_memory=4 "
	.. "could:pm_appdirect=0 could:pm_mixed=4 nodes:pm_memory=0 nodes:pm_appdirect=4 nodes:pm_mixed=0 "
	.. "reboot_s:pm_memory=100\n")
write("history-1000", "slurm-pmem-history 1\n" .. LINES)
check("idle nodes", submit({}).features, "pm_appdirect")
check("are told", said, "pm: --pm-mode=auto takes mode appdirect: 1 node is idle in it")
check("memory of its own mode", submit({}).min_mem_per_node, 900)
check("earlier runs", submit(SAME).features, "pm_memory")
check("are told first", string.match(said, "^[^\n]*"),
	"pm: --pm-mode=auto takes mode memory: earlier runs used 2000M of a node; no mode has the idle nodes, "
		.. "and it needs the fewest reboots: 2")
check("another user's earlier runs", submit({ name = SAME.name, script = SAME.script, min_nodes = 2, num_tasks = 8,
	user_id = 1001 }).features, "pm_appdirect")
check("without LearnModes no note", submit(SAME).admin_comment, nil)
check("with it a note", submit(SAME, "LearnModes=yes").admin_comment, "pm_same=" .. key)
check("behind that of HoldTime", submit(SAME, "LearnModes=yes HoldTime=60").admin_comment,
	"pm_hold=60; pm_same=" .. key)
check("a user who may not cause reboots", submit({ min_nodes = 3 }, "RebootUsers=alice").features, "pm_appdirect")
check("an option that needs App Direct", submit({ spank_job_env = { [0] = "_SLURM_SPANK_OPTION_pmem_pm_mode=auto",
	"_SLURM_SPANK_OPTION_pmem_pm_size=2G" } }, "Modes=memory,appdirect").features, "pm_appdirect")
check("and then one mode is left", said, "pm: --pm-mode=auto takes mode appdirect: no other mode can serve the job")
submit({ spank_job_env = { [0] = "_SLURM_SPANK_OPTION_pmem_pm_mode=auto", "PM_EXPLAIN=1" } })
check("explained", string.match(said, "pm: (Mode: [^\n]*)"), "Mode: appdirect (--pm-mode=auto: 1 node is idle in it)")

-- A queued job that auto gave its mode has that of its constraint, whatever PM_MODE says.
local queued = { user_name = "carol", user_id = 1000, features = "pm_memory", min_mem_per_node = 7600, job_state = 0,
	partition = "main",
	spank_job_env = { [0] = "_SLURM_SPANK_OPTION_pmem_pm_mode=auto", "PM_MODE=flat" } }
local change = { features = "pm_appdirect" }
check("its owner may change the mode", pm.modify(change, queued, {}, 1000), slurm.SUCCESS)
check("and it gets the memory of it", change.min_mem_per_node, 900)

-- The site's jobs are read at each submission.
write("history-site", "slurm-pmem-site-history 1\njobs 100 2000\nused 100 100 950 950 950\n")
check("jobs that have never run, of unknown memory", submit({}).features, "pm_memory")
check("is told", string.match(said, "^[^\n]*"), "pm: --pm-mode=auto takes mode memory: of the jobs here 75 % use more "
	.. "memory than appdirect has; 1 node is rebooted, about 100 s each")
check("with --mem", submit({ min_mem_per_node = 800 }).features, "pm_appdirect")

tap.done()
