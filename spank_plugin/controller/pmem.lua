-- SPDX-License-Identifier: Apache-2.0
-- The controller's side of --pm-mode: turns the mode that a job asks for into node features. The
-- feature is the contract: jobs that write --constraint=pm_memory are served the same.
--
--	local pm = dofile("/usr/share/slurm-pmem/pmem.lua")
--	pm.submit(job_desc, part_list, submit_uid)            in slurm_job_submit()
--	pm.modify(job_desc, job_rec, part_list, modify_uid)   in slurm_job_modify()
--
-- Both return slurm.SUCCESS, or slurm.ERROR after one sentence to the user.

-- luacheck: read globals slurm
local pm = {}

-- The controller's version, as a number. Up to 22.05 Slurm knows no '|' and '()' beside features
-- that can be changed; with 23.02 or more they are passed on. Lua cannot ask Slurm for it.
pm.slurm_version = 22.05

-- The modes, as in lib/modes.c.
pm.modes = {
	{ name = "memory", feature = "pm_memory" },
	{ name = "appdirect", feature = "pm_appdirect" },
	{ name = "flat", feature = "pm_appdirect" },
	{ name = "mixed", feature = "pm_mixed" },
}

-- Modes that this site does not offer: pm.withheld.memory = true
pm.withheld = {}

local OPTION = "_SLURM_SPANK_OPTION_pmem_pm_mode"
local TWIN = "PM_MODE"
local PREFIX = "pm_"
local NAME = "[%w_.=]+"

local function names(key)
	local list, seen = {}, {}
	for _, mode in ipairs(pm.modes) do
		if not pm.withheld[mode.name] and not seen[mode[key]] then
			list[#list + 1] = mode[key]
			seen[mode[key]] = true
		end
	end
	return table.concat(list, ", ")
end

local function find(key, value)
	for _, mode in ipairs(pm.modes) do
		if mode[key] == value and not pm.withheld[mode.name] then
			return mode
		end
	end
	return nil
end

local function refuse(format, ...)
	slurm.log_user("pm: " .. string.format(format, ...))
	return slurm.ERROR
end

-- The words "NAME=VALUE" that the plugin put there. Slurm counts them from 0: ipairs() would see
-- none where there is one.
local function spank_variables(job_desc)
	local found = {}
	for _, word in pairs(job_desc.spank_job_env or {}) do
		local name, value = string.match(word, "^([^=]+)=(.*)$")
		if name then
			found[name] = value
		end
	end
	return found
end

-- Our features in a constraint, or the first that starts like ours and is none.
local function our_features(constraint)
	local ours = {}
	for name in string.gmatch(constraint, NAME) do
		if string.sub(name, 1, #PREFIX) == PREFIX then
			if not find("feature", name) then
				return nil, name
			end
			ours[#ours + 1] = name
		end
	end
	return ours
end

local function contradicts(ours, feature)
	for _, name in ipairs(ours) do
		if name ~= feature then
			return true
		end
	end
	return false
end

-- '&' and ',' mean the same to Slurm.
local function is_plain(constraint)
	return not string.find(constraint, "[^%w_.=&,]")
end

-- With '|' and '()': Slurm refuses parentheses within parentheses, so only what has none is put
-- into a pair.
local function combine_groups(constraint, feature)
	local outside, groups = string.gsub(constraint, "%b()", "")
	if not string.find(outside, "|", 1, true) then
		return constraint .. "&" .. feature
	elseif groups == 0 then
		return "(" .. constraint .. ")&" .. feature
	end
	return nil
end

-- The constraint with the feature added; nil when this Slurm cannot express it.
local function combine(constraint, ours, feature)
	if constraint == "" then
		return feature
	elseif is_plain(constraint) then
		return #ours > 0 and constraint or constraint .. "&" .. feature
	elseif pm.slurm_version >= 23.02 and not string.find(constraint, "[%[%]*]") then
		return combine_groups(constraint, feature)
	end
	return nil
end

local function add_feature(job_desc, constraint, ours, mode, source)
	if contradicts(ours, mode.feature) then
		return refuse("%s=%s contradicts --constraint=%s, leave one of them out",
			source, mode.name, constraint)
	end
	local combined = combine(constraint, ours, mode.feature)
	if not combined then
		return refuse("%s=%s cannot be combined with --constraint=%s, use only '&' in it",
			source, mode.name, constraint)
	end
	job_desc.features = combined
	return slurm.SUCCESS
end

-- What is written wins over the environment: a PM_MODE gives way to a constraint on our features.
local function wanted(variables, ours)
	if variables[OPTION] then
		return variables[OPTION], "--pm-mode"
	elseif #ours == 0 then
		return variables[TWIN], TWIN
	end
	return nil
end

local function unknown_feature(name)
	return refuse("--constraint: unknown feature '%s', valid features are %s", name,
		names("feature"))
end

-- A mode is a property of the whole node, and so is such a job's use of it.
local function take_whole_nodes(job_desc)
	job_desc.shared = 0
end

function pm.submit(job_desc, _, _)
	local constraint = job_desc.features or ""
	local ours, unknown = our_features(constraint)
	if not ours then
		return unknown_feature(unknown)
	end
	local name, source = wanted(spank_variables(job_desc), ours)
	if not name and #ours == 0 then
		return slurm.SUCCESS
	end
	take_whole_nodes(job_desc)
	if not name then
		return slurm.SUCCESS
	end
	local mode = find("name", name)
	if not mode then
		return refuse("%s: unknown mode '%s', valid modes are %s", source, name,
			names("name"))
	end
	return add_feature(job_desc, constraint, ours, mode, source)
end

-- Slurm lets only operators change a job's exclusiveness, so a job that was submitted without a mode
-- cannot get one later.
function pm.modify(job_desc, job_rec, _, _)
	if not job_desc.features then
		return slurm.SUCCESS
	end
	local ours, unknown = our_features(job_desc.features)
	if not ours then
		return unknown_feature(unknown)
	end
	if #ours > 0 and #(our_features(job_rec.features or "") or {}) == 0 then
		return refuse("job was submitted without a mode, submit it again with %s", ours[1])
	end
	return slurm.SUCCESS
end

return pm
