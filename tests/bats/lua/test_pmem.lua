-- SPDX-License-Identifier: Apache-2.0
-- pmem.lua with fake job descriptions, under plain Lua 5.1; prints TAP. Run from the project's top.

local said

-- luacheck: globals slurm
slurm = { SUCCESS = 0, ERROR = -1, log_user = function(text) said = text end,
	log_info = function() end }

-- Without a pmem.conf: what that decides is in test_policy.lua.
local function load()
	local pm = dofile("spank_plugin/controller/pmem.lua")
	pm.config_file = "/nonexistent/pmem.conf"
	return pm
end

local count, failed = 0, 0

local function check(label, got, wanted)
	count = count + 1
	local ok = got == wanted
	if not ok then
		failed = failed + 1
	end
	print(string.format("%s %d - %s", ok and "ok" or "not ok", count, label))
	if not ok then
		print(string.format("# expected '%s', got '%s'", tostring(wanted), tostring(got)))
	end
end

-- A job as Slurm hands it over: the environment's words are counted from 0.
local function job(constraint, ...)
	local words = {}
	for i, word in ipairs({ ... }) do
		words[i - 1] = word
	end
	return { features = constraint, spank_job_env = select("#", ...) > 0 and words or nil }
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
	{ "pm_memory|pm_appdirect", {}, "pm_memory|pm_appdirect", 0 },
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
	{ "gpu*2", { MEMORY }, "cannot be combined" },
}

local function describe(row)
	return string.format("%s with %s", tostring(row[1]), table.concat(row[2], " "))
end

for _, row in ipairs(served) do
	local desc = job(row[1], unpack(row[2]))
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

-- From 23.02 on.
local newer = { ["gpu|big"] = "(gpu|big)&pm_memory", ["(gpu)"] = "(gpu)&pm_memory",
	["(gpu|big)"] = "(gpu|big)&pm_memory", ["big&(gpu|cpu)"] = "big&(gpu|cpu)&pm_memory",
	["gpu"] = "gpu&pm_memory", ["gpu|pm_memory"] = "(gpu|pm_memory)&pm_memory" }
for constraint, wanted in pairs(newer) do
	local pm, desc = load(), job(constraint, MEMORY)
	pm.slurm_version = 23.02
	check("23.02: " .. constraint, pm.submit(desc, {}, 1000) == 0 and desc.features, wanted)
end
for _, constraint in ipairs({ "[gpu|big]", "gpu*2", "gpu|(big&cpu)" }) do
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
}
for _, row in ipairs(changes) do
	check(string.format("modify %s to %s", tostring(row[2]), tostring(row[1])),
		load().modify({ features = row[1] }, { features = row[2] }, {}, 1000), row[3])
end

print("1.." .. count)
os.exit(failed == 0 and 0 or 1)
