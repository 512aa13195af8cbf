-- SPDX-License-Identifier: Apache-2.0
-- pmem.lua with fake job descriptions, under plain Lua 5.1; prints TAP. Run from the project's top.

local said

-- luacheck: globals slurm
slurm = { SUCCESS = 0, ERROR = -1, log_user = function(...) said = string.format(...) end,
	log_info = function() end }

-- Without a pmem.conf: what that decides is in test_policy.lua.
local function load()
	local pm = dofile("controller/pmem.lua")
	pm.config_file = "/nonexistent/pmem.conf"
	return pm
end

local tap = dofile("tests/lua/tap.lua")
local check = tap.check

-- A job as Slurm hands it over: the environment's words are counted from 0.
local function job(constraint, ...)
	local words = {}
	for i, word in ipairs({ ... }) do
		words[i - 1] = word
	end
	return { features = constraint, spank_job_env = select("#", ...) > 0 and words or nil }
end

-- As Slurm does it: who sets a field to nil ends the whole call, and the job is let through as it is.
local function strict(fields)
	return setmetatable({}, {
		__index = fields,
		__newindex = function(_, name, value)
			assert(value ~= nil, "bad argument to 'newindex'")
			fields[name] = value
		end,
	})
end

local MEMORY = "_SLURM_SPANK_OPTION_pmem_pm_mode=memory"
local APPDIRECT = "_SLURM_SPANK_OPTION_pmem_pm_mode=appdirect"
local BOGUS = "_SLURM_SPANK_OPTION_pmem_pm_mode=bogus"
local TWIN = "PM_MODE=memory"

-- constraint, words, then: features and exclusiveness after it
local served = {
	{ nil, {}, nil, nil },
	{ "gpu", {}, "gpu", nil },
	{ "(gpu|cpu)", {}, "(gpu|cpu)", nil },
	{ "spm_x", {}, "spm_x", nil },
	{ nil, { "OTHER=memory" }, nil, nil },
	{ nil, { "MY_PM_MODE=memory" }, nil, nil },
	{ nil, { MEMORY }, "pm_memory", 0 },
	{ "", { MEMORY }, "pm_memory", 0 },
	{ nil, { APPDIRECT }, "pm_appdirect", 0 },
	{ nil, { "A=1", "B=x=y", MEMORY }, "pm_memory", 0 },
	{ nil, { TWIN }, "pm_memory", 0 },
	{ nil, { TWIN, APPDIRECT }, "pm_appdirect", 0 },
	{ nil, { APPDIRECT, TWIN }, "pm_appdirect", 0 },
	{ "gpu", { MEMORY }, "gpu&pm_memory", 0 },
	{ "gpu,big", { MEMORY }, "gpu,big&pm_memory", 0 },
	{ "gpu&big", { MEMORY }, "gpu&big&pm_memory", 0 },
	{ "pm_memory", { MEMORY }, "pm_memory", 0 },
	{ "gpu&pm_memory", { MEMORY }, "gpu&pm_memory", 0 },
	{ "pm_memory", {}, "pm_memory", 0 },
	{ "pm_memory|pm_appdirect", {}, "pm_memory", 0 },
	{ "pm_mixed|pm_appdirect", {}, "pm_appdirect", 0 },
	{ "[pm_mixed|pm_appdirect]&rack1", {}, "rack1&pm_appdirect", 0 },
	{ "rack-1&(pm_memory|pm_appdirect)", {}, "rack-1&pm_memory", 0 },
	{ "pm_memory&pm_memory", {}, "pm_memory", 0 },
	{ "rack-1", { MEMORY }, "rack-1&pm_memory", 0 },
	{ "c++", { MEMORY }, "c++&pm_memory", 0 },
	{ "gpu&&big", {}, "gpu&&big", nil },
	{ "(pm_appdirect)", { TWIN }, "pm_appdirect", 0 },
	{ "pm_appdirect", { TWIN }, "pm_appdirect", 0 },
}

-- constraint, words, a part of what the user is told
local refused = {
	{ nil, { BOGUS }, "^pm: %-%-pm%-mode: unknown mode 'bogus', valid modes are memory, appdirect, flat, mixed$" },
	{ nil, { "_SLURM_SPANK_OPTION_pmem_pm_mode=" }, "unknown mode ''" },
	{ nil, { "PM_MODE=bogus" }, "^pm: PM_MODE: unknown mode 'bogus'" },
	{ "pm_appdirect", { MEMORY },
		"^pm: %-%-pm%-mode=memory contradicts %-%-constraint=pm_appdirect" },
	{ "gpu&pm_appdirect", { MEMORY }, "contradicts" },
	{ "pm_memory|pm_appdirect", { MEMORY }, "contradicts" },
	{ "pm_flat", {}, "^pm: %-%-constraint: unknown feature 'pm_flat', valid features are "
		.. "pm_memory, pm_appdirect, pm_mixed$" },
	{ "gpu&pm_bogus", { MEMORY }, "unknown feature 'pm_bogus'" },
	{ "pm_memoryx", {}, "unknown feature 'pm_memoryx'" },
	{ "gpu|big", { MEMORY }, "cannot be combined with %-%-constraint=gpu|big, use only '&'" },
	{ "(gpu)", { MEMORY }, "cannot be combined" },
	{ "[gpu|big]", { MEMORY }, "cannot be combined" },
	{ "gpu*2", { MEMORY }, "cannot be combined .* Slurm refuses '%*' %(character 4%)$" },
	{ "gpu&&big", { MEMORY }, "cannot read %-%-constraint=gpu&&big: a feature expected at character 5, not '&'$" },
	{ "pm_memory&&big", {}, "a feature expected at character 11, not '&'$" },
	{ "pm_memory|gpu&big", {}, "alternatives expected at character 14, not '&'$" },
	{ "gpu|big&small", { MEMORY }, "alternatives expected at character 8, not '&'$" },
	{ "\"pm_memory\"", {}, "a feature expected at character 1, not '\"'$" },
	{ "!pm_memory", {}, "a feature expected at character 1, not '!'$" },
	{ "pm_memory|gpu", {}, "leaves open whether the job has a mode" },
	{ "pm_memory&pm_mixed", {}, "several modes at once" },
	{ "pm_memory*2", {}, "^pm: mode memory cannot be combined with %-%-constraint=pm_memory%*2" },
	{ "(gpu|big)&pm_memory", {}, "use only '&' in it: .* '%(' %(character 1%)$" },
}

local function describe(row)
	return string.format("%s with %s", tostring(row[1]), table.concat(row[2], " "))
end

for _, row in ipairs(served) do
	local desc = strict(job(row[1], unpack(row[2])))
	said = nil
	check(describe(row) .. ": status", load().submit(desc, {}, 1000), slurm.SUCCESS)
	check(describe(row) .. ": features", desc.features, row[3])
	check(describe(row) .. ": exclusive", desc.shared, row[4])
	check(describe(row) .. ": silent", said, nil)
end

for _, row in ipairs(refused) do
	local desc = job(row[1], unpack(row[2]))
	said = ""
	check(describe(row) .. ": refused", load().submit(desc, {}, 1000), slurm.ERROR)
	check(describe(row) .. ": '" .. said .. "'", string.find(said, row[3]) ~= nil, true)
	check(describe(row) .. ": untouched", desc.features, row[1])
end

-- A batch job's environment, which slurmrestd and --export pass without the plugin.
local function with_environment(words, environment)
	local desc = job(nil, unpack(words))
	desc.script, desc.environment = "#!/bin/sh", environment
	return desc
end

-- words, environment, then: features, a part of what the user is told
for i, row in ipairs({
	{ {}, { PM_MODE = "memory" }, "pm_memory" },
	{ {}, { PM_MODE = "" }, nil },
	{ {}, { PM_SIZE = "1G", PM_NAMESPACE = "devdax" }, nil },
	{ { TWIN }, { PM_MODE = "mixed", PM_SIZE = "1G" }, "pm_memory" },
	{ { APPDIRECT }, { PM_MODE = "memory" }, "pm_appdirect" },
	{ { "_SLURM_SPANK_OPTION_pmem_pm_mode=none" }, { PM_MODE = "memory" }, nil },
	{ { APPDIRECT, "PM_SIZE=1G" }, { PM_SIZE = "1G" }, "pm_appdirect" },
	{ { "_SLURM_SPANK_OPTION_pmem_pm_mode=flat" }, { PM_MODE = "flat" }, "pm_appdirect" },
	{ {}, { PM_MODE = "bogus" }, nil, "^pm: PM_MODE: unknown mode 'bogus'" },
	{ {}, { PM_MODE = "flat" }, nil,
		"^pm: PM_MODE=flat cannot be passed by the job's environment alone, .*: take sbatch %-%-pm%-mode=flat$" },
	{ {}, { PM_MODE = "appdirect", PM_SIZE = "1G" }, nil, "^pm: PM_SIZE=1G .*: take sbatch %-%-pm%-size=1G$" },
	{ { APPDIRECT }, { PM_NAMESPACE = "devdax" }, nil, "^pm: PM_NAMESPACE=devdax cannot" },
}) do
	local desc, label = with_environment(row[1], row[2]), "environment, row " .. i
	said = ""
	check(label .. ": status", load().submit(desc, {}, 1000), row[4] and slurm.ERROR or slurm.SUCCESS)
	check(label .. ": features", desc.features, row[3])
	check(label .. ": '" .. said .. "'", string.find(said, row[4] or "^$") ~= nil, true)
end

-- A job of a table of scrontab: its options are in the script alone.
for i, row in ipairs({
	{ "--pm-mode=memory", "pm_memory" },
	{ "-C pm_memory", nil },
	{ "--time=5 --pm-mode memory", "pm_memory" },
	{ "--pm-mode=bogus", nil, "^pm: %-%-pm%-mode: unknown mode 'bogus'" },
	{ "--pm-mode=flat", nil, "^pm: %-%-pm%-mode=flat cannot be passed by scrontab, .* sbatch %-%-pm%-mode=flat$" },
	{ "--pm-mode=memory --pm-dram=1G", nil, "^pm: %-%-pm%-dram cannot be passed by scrontab" },
}) do
	local desc, label = with_environment({}, {}), "scrontab, row " .. i
	desc.script = "#!/bin/sh\n# This job was submitted through scrontab\n#SCRON " .. row[1] .. "\ntrue\n"
	said = ""
	check(label .. ": status", load().submit(desc, {}, 1000), row[3] and slurm.ERROR or slurm.SUCCESS)
	check(label .. ": features", desc.features, row[2])
	check(label .. ": '" .. said .. "'", string.find(said, row[3] or "^$") ~= nil, true)
end
local plain = with_environment({}, {})
plain.script = "#!/bin/sh\n#SCRON --pm-mode=memory\n"
load().submit(plain, {}, 1000)
check("#SCRON in a batch script is a comment", plain.features, nil)

-- From 23.02 on.
local newer = { ["gpu|big"] = "(gpu|big)&pm_memory", ["(gpu)"] = "(gpu)&pm_memory",
	["(gpu|big)"] = "(gpu|big)&pm_memory", ["big&(gpu|cpu)"] = "big&(gpu|cpu)&pm_memory",
	["gpu"] = "gpu&pm_memory", ["gpu|pm_memory"] = "pm_memory",
	["gpu|(big&cpu)"] = "(gpu&pm_memory)|(big&cpu&pm_memory)" }
for constraint, wanted in pairs(newer) do
	local pm, desc = load(), job(constraint, MEMORY)
	pm.slurm_version = 23.02
	check("23.02: " .. constraint, pm.submit(desc, {}, 1000) == 0 and desc.features, wanted)
end
for _, constraint in ipairs({ "[gpu|big]", "gpu*2", "gpu|big&cpu" }) do
	local pm = load()
	pm.slurm_version = 24.11
	check("24.11: " .. constraint, pm.submit(job(constraint, MEMORY), {}, 1000), slurm.ERROR)
end

-- Changes of a job: new features, old features, result
local changes = {
	{ nil, nil, slurm.SUCCESS },
	{ nil, "pm_memory", slurm.SUCCESS },
	{ "gpu", nil, slurm.SUCCESS },
	{ "gpu", "pm_memory", slurm.SUCCESS },
	{ "pm_appdirect", "gpu&pm_memory", slurm.SUCCESS },
	{ "pm_memory", nil, slurm.ERROR },
	{ "pm_memory", "gpu", slurm.ERROR },
	{ "pm_bogus", "pm_memory", slurm.ERROR },
	{ "pm_memory&", "pm_memory", slurm.ERROR },
	{ "gpu&", "pm_memory", slurm.ERROR },
	{ "gpu&", "big", slurm.SUCCESS },
	{ "!pm_memory", nil, slurm.ERROR },
	{ "pm_memory|gpu", "pm_memory", slurm.ERROR },
}
for _, row in ipairs(changes) do
	check(string.format("modify %s to %s", tostring(row[2]), tostring(row[1])),
		load().modify({ features = row[1] }, { features = row[2] }, {}, 1000), row[3])
end

-- Slurm takes the preference instead of the constraint. Version, constraint, preference, words, then the
-- preference after it, or a part of the refusal.
local PREFERENCES = {
	{ 22.05, "pm_appdirect", "ssd", {}, "ssd&pm_appdirect" },
	{ 24.11, "pm_appdirect", "ssd|nvme", {}, "(ssd|nvme)&pm_appdirect" },
	{ 22.05, nil, "ssd", { MEMORY }, "ssd&pm_memory" },
	{ 22.05, nil, "ssd,rack-1", { TWIN }, "ssd,rack-1&pm_memory" },
	{ 22.05, nil, "ssd", {}, "ssd" },
	{ 22.05, "gpu", "ssd&&x", {}, "ssd&&x" },
	{ 22.05, "pm_memory", "", {}, "" },
	{ 22.05, "pm_memory", "pm_memory", {}, "pm_memory" },
	{ 22.05, "pm_memory", "ssd&pm_memory", {}, "ssd&pm_memory" },
	{ 24.11, "pm_memory", "(pm_memory|ssd)", {}, "pm_memory" },
	{ 22.05, "pm_memory|pm_mixed", "ssd", {}, "ssd&pm_memory" },
	{ 22.05, "pm_appdirect", "pm_memory", {}, nil, "^pm: %-%-prefer=pm_memory prefers another mode than the job's, "
		.. "which is appdirect: leave it out, or write %-%-constraint='pm_appdirect|pm_memory' for either$" },
	{ 24.11, "pm_appdirect", "pm_memory|pm_appdirect", {}, nil, "prefers another mode" },
	{ 22.05, nil, "gpu&pm_appdirect", { MEMORY }, nil, "prefers another mode" },
	{ 22.05, "pm_memory", "pm_bogus", {}, nil, "^pm: %-%-prefer: unknown feature 'pm_bogus'" },
	{ 22.05, nil, "pm_memory", {}, nil, "a node would be rebooted" },
	{ 22.05, "gpu", "ssd|pm_memory", {}, nil, "a node would be rebooted" },
	{ 22.05, "pm_memory", "ssd&&x", {}, nil,
		"^pm: cannot read %-%-prefer=ssd&&x: a feature expected at character 5, not '&'$" },
	{ 22.05, nil, "!pm_memory", {}, nil, "cannot read %-%-prefer" },
	{ 22.05, "pm_memory", "ssd|nvme", {}, nil,
		"^pm: mode memory cannot be combined with %-%-prefer=ssd|nvme, use only '&'" },
	{ 24.11, "pm_memory", "[ssd|nvme]", {}, nil, "refuses '%[' %(character 1%)$" },
}
for _, row in ipairs(PREFERENCES) do
	local pm, desc = load(), job(row[2], unpack(row[4]))
	local label = string.format("%s prefers %s with %s: ", tostring(row[2]), row[3], table.concat(row[4], " "))
	pm.slurm_version, desc.prefer, said = row[1], row[3], ""
	check(label .. "status", pm.submit(strict(desc), {}, 1000), row[6] and slurm.ERROR or slurm.SUCCESS)
	check(label .. "'" .. said .. "'", string.find(said, row[6] or "^$") ~= nil, true)
	check(label .. "preference", desc.prefer, row[5] or row[3])
end

-- Changes of a queued job, which may have a preference that Lua does not see: words of the job, its
-- features, the new features and preference, then those that are set; false: refused.
local REPLACED = {
	{ {}, "pm_memory", "pm_appdirect", nil, "pm_appdirect", "pm_appdirect" },
	{ {}, "pm_memory", "gpu", nil, "gpu&pm_memory", "gpu&pm_memory" },
	{ {}, "pm_memory", "", nil, "pm_memory", "pm_memory" },
	{ { APPDIRECT }, "gpu&pm_appdirect", "ssd", nil, "ssd&pm_appdirect", "ssd&pm_appdirect" },
	{ {}, "pm_memory", "pm_appdirect", "ssd", "pm_appdirect", "ssd&pm_appdirect" },
	{ {}, "pm_memory", "pm_appdirect", "", "pm_appdirect", "" },
	{ {}, "pm_memory", "pm_appdirect|pm_mixed", nil, "pm_appdirect", "pm_appdirect" },
	{ {}, "pm_memory", nil, "ssd", nil, "ssd&pm_memory" },
	{ {}, "pm_memory", nil, "", nil, "" },
	{ {}, "pm_memory|pm_appdirect", nil, "ssd", nil, "ssd&pm_memory" },
	{ {}, "pm_memory", "pm_appdirect", "pm_memory", false },
	{ {}, "pm_memory", nil, "pm_appdirect", false },
	{ {}, "pm_memory", nil, "ssd&", false },
	{ { MEMORY }, "pm_memory", "pm_appdirect", nil, false },
	{ { MEMORY }, "pm_memory", "pm_memory|pm_appdirect", nil, false },
	{ {}, "gpu&pm_memory", "gpu&pm_memory", nil, "gpu&pm_memory", "gpu&pm_memory" },
	{ { "PM_MODE=flat" }, "pm_appdirect", "pm_appdirect|pm_memory", nil, "pm_memory", "pm_memory" },
	{ { "ARRAY" }, "pm_memory", "gpu", nil, false },
	{ { "ARRAY" }, "pm_memory", "", nil, false },
	{ { "HET" }, "pm_memory", "gpu", nil, false },
	{ { "ARRAY" }, "pm_memory", "gpu&pm_memory", nil, "gpu&pm_memory", "gpu&pm_memory" },
	{ { "HET" }, "pm_memory", nil, "ssd&pm_appdirect", false },
	{ { "HET" }, "gpu", nil, "ssd&pm_appdirect", false },
	{ { "ARRAY" }, "gpu", "big", nil, "big", nil },
	{ {}, "gpu", nil, "pm_memory", false },
	{ {}, nil, nil, "pm_memory", false },
	{ {}, "gpu", nil, "ssd", nil, "ssd" },
	{ {}, "gpu", "big", nil, "big", nil },
}
for _, row in ipairs(REPLACED) do
	local desc, label = { features = row[3], prefer = row[4] },
		string.format("modify %s by %s, %s: ", tostring(row[2]), tostring(row[3]), tostring(row[4]))
	local queued = job(row[2], unpack(row[1]))
	queued.array_job_id = row[1][1] == "ARRAY" and 7 or 0
	queued.het_job_id = row[1][1] == "HET" and 7 or 0
	check(label .. "status", load().modify(strict(desc), queued, {}, 1000),
		row[5] == false and slurm.ERROR or slurm.SUCCESS)
	check(label .. "features", desc.features, row[5] or row[3])
	check(label .. "preference", desc.prefer, row[6] or row[4])
end

-- A fault of ours must not let a job through.
local broken = setmetatable({}, { __index = function() error("no such field") end })
check("a submission that cannot be checked", load().submit(broken, {}, 1000), slurm.ERROR)
check("it is told: " .. said, string.find(said, "^pm: cannot check the job, .*no such field$") ~= nil, true)
check("a change that cannot be checked", load().modify(broken, {}, {}, 1000), slurm.ERROR)

-- Which of the alternatives: the view of the cluster, partition, constraint, then the features.
local state = assert(arg[1], "a file for the view of the cluster")
local now = os.time()
local HEAD_AT = "slurm-pmem-modes 1 "
local HEAD = HEAD_AT .. now .. "\n"
local CHOICES = {
	{ nil, "main", "pm_appdirect|pm_mixed", "pm_appdirect" },
	{ HEAD .. "main pm_memory=1 pm_appdirect=2 pm_mixed=0\n", "main", "pm_memory|pm_appdirect", "pm_appdirect" },
	{ HEAD .. "main pm_memory=2 pm_appdirect=2 pm_mixed=9\n", "main", "pm_appdirect|pm_memory", "pm_memory" },
	{ HEAD .. "main pm_memory=1 pm_appdirect=2 pm_mixed=9", "main", "pm_appdirect|pm_memory", "pm_appdirect" },
	{ HEAD .. "big pm_memory=1 pm_appdirect=2\n", "main", "pm_memory|pm_appdirect", "pm_memory" },
	{ HEAD .. "main pm_memory=2 pm_appdirect=1\nbig pm_memory=0 pm_appdirect=9\n", "main,big",
		"pm_memory|pm_appdirect", "pm_appdirect" },
	{ HEAD .. "main pm_memory=0 pm_appdirect=9\n", nil, "(pm_memory|pm_appdirect)&rack1", "rack1&pm_appdirect" },
	{ HEAD_AT .. now - 50 .. "\nmain pm_appdirect=2\n", "main", "pm_memory|pm_appdirect", "pm_appdirect" },
	{ HEAD_AT .. now - 70 .. "\nmain pm_appdirect=2\n", "main", "pm_memory|pm_appdirect", "pm_memory" },
	{ HEAD_AT .. now + 3600 .. "\nmain pm_appdirect=2\n", "main", "pm_memory|pm_appdirect", "pm_memory" },
	{ "slurm-pmem-modes 2 " .. now .. "\nmain pm_appdirect=2\n", "main", "pm_memory|pm_appdirect", "pm_memory" },
	{ "", "main", "pm_memory|pm_appdirect", "pm_memory" },
	{ HEAD .. "main pm_appdirect=x pm_memory\n\0\n=\n", "main", "pm_memory|pm_appdirect", "pm_memory" },
	{ HEAD .. "main pm_appdirect=9\n" .. string.rep("x", 300000), "main", "pm_memory|pm_appdirect", "pm_memory" },
}
local function write_state(text)
	os.remove(state)
	if text then
		local file = assert(io.open(state, "w"))
		file:write(text)
		file:close()
	end
end

for i, row in ipairs(CHOICES) do
	local pm, desc = load(), job(row[3])
	write_state(row[1])
	pm.state_file, desc.partition = state, row[2]
	pm.submit(desc, { main = { flag_default = 1 } }, 1000)
	check("choice " .. i .. ": " .. row[3], desc.features, row[4])
end

-- Whether nodes must reboot first: the view, fields of the job, then the sentence.
local TWO = HEAD .. "main pm_memory=1 pm_appdirect=3 pm_mixed=0 could:pm_memory=3 could:pm_appdirect=1 "
	.. "could:pm_mixed=4 reboot_s:pm_memory=95\n"
local NONE = HEAD .. "main pm_memory=0 pm_appdirect=0 could:pm_memory=0 could:pm_appdirect=0\n"
local OTHER = HEAD .. "main pm_memory=0 pm_appdirect=2 could:pm_memory=0\n"
local SOONER = "pm: no node is idle in mode memory; mode appdirect has 2 idle"
local REMARKS = {
	{ TWO, {}, nil },
	{ TWO, { min_nodes = 2 }, "pm: 1 of 2 nodes is idle in mode memory: one is rebooted into it first, which takes "
		.. "about 95 s here; mode appdirect has 3 idle" },
	{ TWO, { min_nodes = 4 }, "pm: 1 of 4 nodes is idle in mode memory: 3 are rebooted into it first, which takes "
		.. "about 95 s here" },
	{ TWO, { min_nodes = 5 }, nil },
	{ NONE, {}, nil },
	{ OTHER, {}, SOONER },
	{ HEAD .. "main pm_memory=0 could:pm_memory=1\n", {},
		"pm: no node is idle in mode memory: one is rebooted into it first" },
	{ HEAD .. "other pm_memory=0 could:pm_memory=1\n", {}, nil },
	{ HEAD_AT .. now - 70 .. "\nmain pm_memory=0 could:pm_memory=1\n", {}, nil },
	{ OTHER, { req_nodes = "n1" }, nil },
	{ OTHER, { dependency = "afterok:17" }, nil },
	{ OTHER, { begin_time = now + 3600 }, nil },
	{ OTHER, { begin_time = now - 3600 }, SOONER },
	{ nil, {}, nil },
}
for i, row in ipairs(REMARKS) do
	local pm, desc = load(), job(nil, MEMORY)
	write_state(row[1])
	for field, value in pairs(row[2]) do
		desc[field] = value
	end
	pm.state_file, desc.partition, said = state, "main", nil
	check("remark " .. i .. " does not refuse the job", pm.submit(desc, {}, 1000), slurm.SUCCESS)
	check("remark " .. i, said, row[3])
end
for word, feature in pairs({ memory = "pm_memory", ["rack-1&flat"] = "pm_appdirect" }) do
	said = nil
	check("a mode's name as a feature, " .. word, load().submit(job(word), {}, 1000), slurm.SUCCESS)
	check("has a remark", string.match(said or "", "^pm: %-%-constraint=%a+: did you mean .* or the feature (.*)%?$"),
		feature)
end
local untold, pm = job(nil, MEMORY), load()
said = nil
write_state(OTHER)
pm.state_file, pm.tells_reboots, untold.partition = state, false, "main"
pm.submit(untold, {}, 1000)
check("a site may have it not said", said, nil)
local quiet = job("gpu")
said = nil
write_state(OTHER)
load().submit(quiet, {}, 1000)
check("a job without a mode is told nothing", said, nil)
os.remove(state)

tap.done()
