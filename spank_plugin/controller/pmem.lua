-- SPDX-License-Identifier: Apache-2.0
-- The controller's side of --pm-mode: turns the mode that a job asks for into node features, and
-- applies what pmem.conf says of jobs. The feature is the contract: jobs that write
-- --constraint=pm_memory are served the same.
--
--	local pm = dofile("/usr/share/slurm-pmem/pmem.lua")
--	pm.submit(job_desc, part_list, submit_uid)            in slurm_job_submit()
--	pm.modify(job_desc, job_rec, part_list, modify_uid)   in slurm_job_modify()
--
-- Both return slurm.SUCCESS, or slurm.ERROR after one sentence to the user.

-- luacheck: read globals slurm
local pm = {}

local here = string.match(debug.getinfo(1, "S").source, "^@(.*/)") or "./"
local conf = dofile(here .. "pmem_conf.lua")
local nodelist = dofile(here .. "pmem_nodes.lua")

-- The controller's version, as a number. Up to 22.05 Slurm knows no '|' and '()' beside features
-- that can be changed; with 23.02 or more they are passed on. Lua cannot ask Slurm for it.
pm.slurm_version = 22.05

-- What the site decides; a file that is missing decides nothing.
pm.config_file = "/etc/slurm/pmem.conf"

pm.modes = conf.modes

local PREFIX = "pm_"
local NAME = "[%w_.=]+"
local MIB = 2 ^ 20
local NO_VAL16, NO_VAL = 0xfffe, 0xfffffffe
-- For who must not have nodes rebooted. Slurm adds it to the time of submission.
local FOREVER_S = 10 * 365 * 86400

-- Each with the variable by which Slurm carries it here, and its environment twin.
local OPTIONS = {
	mode = { text = "--pm-mode", word = "_SLURM_SPANK_OPTION_pmem_pm_mode", twin = "PM_MODE" },
	size = { text = "--pm-size", word = "_SLURM_SPANK_OPTION_pmem_pm_size", twin = "PM_SIZE" },
	namespace = { text = "--pm-namespace", word = "_SLURM_SPANK_OPTION_pmem_pm_namespace",
		twin = "PM_NAMESPACE" },
	dram = { text = "--pm-dram", word = "_SLURM_SPANK_OPTION_pmem_pm_dram", twin = "PM_DRAM" },
}

-- Modes whose jobs get persistent memory of their own: --pm-size and --pm-namespace mean something.
local HAS_PMEM = { appdirect = true, mixed = true }

local function problem(format, ...)
	return "pm: " .. string.format(format, ...)
end

local function refuse(sentence)
	slurm.log_user(sentence)
	return slurm.ERROR
end

-- Names ------------------------------------------------------------------------------------------

-- "memory, appdirect": of the modes that are `wanted`, each text once.
local function names(key, wanted)
	local list, seen = {}, {}
	for _, mode in ipairs(pm.modes) do
		if (not wanted or wanted[mode.name]) and not seen[mode[key]] then
			seen[mode[key]] = true
			list[#list + 1] = mode[key]
		end
	end
	return table.concat(list, ", ")
end

local function find(key, value)
	for _, mode in ipairs(pm.modes) do
		if mode[key] == value then
			return mode
		end
	end
	return nil
end

-- The mode of a job that writes the feature alone: the default where that is one of its modes.
local function mode_of_feature(feature, policy)
	local default = find("name", policy.DefaultMode)
	if default and default.feature == feature then
		return default
	end
	return find("feature", feature)
end

-- What the job says ------------------------------------------------------------------------------

-- The words "NAME=VALUE" that the plugin put there. Slurm counts them from 0: ipairs() would see
-- none where there is one.
local function spank_variables(job)
	local found = {}
	for _, word in pairs(job.spank_job_env or {}) do
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

local function unknown_feature(name)
	return problem("--constraint: unknown feature '%s', valid features are %s", name,
		names("feature"))
end

-- Does any of the features differ from this one?
local function contradicts(ours, feature)
	for _, name in ipairs(ours) do
		if name ~= feature then
			return true
		end
	end
	return false
end

-- What is written wins over the environment: a PM_MODE gives way to a constraint on other features.
local function read_request(job_desc)
	local constraint = job_desc.features or ""
	local ours, unknown = our_features(constraint)
	if not ours then
		return nil, unknown_feature(unknown)
	end
	local variables = spank_variables(job_desc)
	local request = { constraint = constraint, ours = ours, twins = {} }
	for name, option in pairs(OPTIONS) do
		request[name] = variables[option.word]
		request.twins[name] = variables[option.twin]
	end
	request.source = OPTIONS.mode.text
	local twin = find("name", request.twins.mode)
	if not request.mode and (#ours == 0 or (twin and not contradicts(ours, twin.feature))) then
		request.mode, request.source = request.twins.mode, OPTIONS.mode.twin
	end
	return request
end

local function asks(request)
	return request.mode or #request.ours > 0 or request.size or request.namespace
end

-- Memory -----------------------------------------------------------------------------------------

local function given(number, no_val)
	return number and number > 0 and number < no_val and number or nil
end

-- CPUs that one of the job's nodes has at least; the nodes are not known yet.
local function least_cpus(job)
	local per_task = given(job.cpus_per_task, NO_VAL16) or 1
	local on_node = (given(job.ntasks_per_node, NO_VAL16) or 1) * per_task
	local total = math.max(given(job.min_cpus, NO_VAL) or 1,
		(given(job.num_tasks, NO_VAL) or 1) * per_task)
	local nodes = given(job.max_nodes, NO_VAL)
	local share = nodes and math.ceil(total / nodes) or 1
	return math.max(on_node, share, given(job.pn_min_cpus, NO_VAL16) or 1)
end

-- What a job asks for on a node, in MiB: nil for nothing, 0 for all; and how it was written.
local function memory_of(job)
	local per_cpu = job.min_mem_per_cpu
	if not per_cpu or per_cpu == 0 then
		local per_node = per_cpu or job.min_mem_per_node
		return per_node, per_node and string.format("--mem=%.0fM", per_node)
	end
	local cpus = least_cpus(job)
	return per_cpu * cpus, string.format("--mem-per-cpu=%.0fM on %.0f CPUs", per_cpu, cpus)
end

local function usable_mib(policy, mode)
	local bytes = policy.UsableMemory[mode.name]
	return bytes and math.floor(bytes / MIB)
end

-- The least of the modes; nil when the site says nothing of one.
local function least_usable(policy, modes)
	local least
	for _, mode in ipairs(modes) do
		local size = usable_mib(policy, mode)
		if size and (not least or size < least) then
			least = size
		end
	end
	return least
end

local function offered(policy)
	local list = {}
	for _, mode in ipairs(pm.modes) do
		if policy.Modes[mode.name] then
			list[#list + 1] = mode
		end
	end
	return list
end

-- The offered modes that have this much, and their names with sizes: "memory (7600M)".
local function roomy_modes(policy, wanted)
	local fitting, texts = {}, {}
	for _, mode in ipairs(offered(policy)) do
		local size = usable_mib(policy, mode)
		if size and size >= wanted then
			fitting[#fitting + 1] = mode
			texts[#texts + 1] = string.format("--pm-mode=%s (%.0fM)", mode.name, size)
		end
	end
	return fitting, table.concat(texts, " or ")
end

-- The sentence for a job that asks for more than its modes have.
local function too_much(policy, wanted, text, modes)
	local size = least_usable(policy, modes)
	local _, cures = roomy_modes(policy, wanted)
	local list = {}
	for _, mode in ipairs(modes) do
		list[#list + 1] = mode.name
	end
	return problem("%s is more than a node has in mode %s (%.0fM), %s", text,
		table.concat(list, " or "), size, cures ~= "" and "take " .. cures or "ask for less")
end

local function check_memory(job, policy, modes)
	local wanted, text = memory_of(job)
	local size = least_usable(policy, modes)
	if wanted and size and wanted > size then
		return too_much(policy, wanted, text, modes)
	end
	return nil
end

-- The first of the modes that its feature alone leads to: nothing else reaches the node.
local function first_by_feature(modes, policy)
	for _, mode in ipairs(modes) do
		if mode_of_feature(mode.feature, policy) == mode then
			return mode
		end
	end
	return nil
end

-- The mode that a large request implies; nil when every mode has that much.
local function implied_mode(job, policy)
	local wanted, text = memory_of(job)
	local size = least_usable(policy, offered(policy))
	if not wanted or not size or wanted <= size then
		return nil
	end
	local fitting, cures = roomy_modes(policy, wanted)
	if not fitting[1] then
		return nil, problem("%s is more than a node has in any mode, ask for less", text)
	end
	local mode = policy.ImplyMode and first_by_feature(fitting, policy)
	return mode or nil, not mode
		and problem("%s is more than a node has in every mode, take %s", text, cures) or nil
end

-- All memory of an exclusive node when the job asks for none, or for all.
local function set_memory(job, policy, modes, exclusive, changes)
	local size = least_usable(policy, modes)
	local wanted = memory_of(job)
	if size and (wanted == 0 or (not wanted and exclusive and not job.mem_per_tres)) then
		changes.min_mem_per_node = size
	end
end

-- Modes ------------------------------------------------------------------------------------------

local function check_offered(policy, modes, source)
	for _, mode in ipairs(modes) do
		if not policy.Modes[mode.name] then
			return problem("%s: mode '%s' is not offered here, take one of %s", source, mode.name,
				names("name", policy.Modes))
		end
	end
	return nil
end

-- The modes that a constraint leaves open, one for each of its features.
local function modes_of_features(ours, policy)
	local modes = {}
	for _, feature in ipairs(ours) do
		modes[#modes + 1] = mode_of_feature(feature, policy)
	end
	return modes
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

-- The job's constraint with its mode in it; nil and a sentence.
local function constraint_with(request, mode)
	if contradicts(request.ours, mode.feature) then
		return nil, problem("%s=%s contradicts --constraint=%s, leave one of them out",
			request.source, mode.name, request.constraint)
	end
	local combined = combine(request.constraint, request.ours, mode.feature)
	if not combined then
		return nil, problem("%s=%s cannot be combined with --constraint=%s, use only '&' in it",
			request.source, mode.name, request.constraint)
	end
	return combined
end

-- The one mode of the option, the twin, the default, or a large request; nil when the job's
-- constraint says it, or nothing does.
local function single_mode(job_desc, request, policy)
	if request.mode then
		local mode = find("name", request.mode)
		return mode, not mode and problem("%s: unknown mode '%s', valid modes are %s",
			request.source, request.mode, names("name", policy.Modes)) or nil
	elseif #request.ours > 0 then
		return nil
	elseif policy.DefaultMode ~= "none" then
		request.source = "DefaultMode"
		return find("name", policy.DefaultMode)
	end
	request.source = "ImplyMode"
	return implied_mode(job_desc, policy)
end

-- Persistent memory of the job's own -------------------------------------------------------------

local function have_pmem(modes)
	for _, mode in ipairs(modes) do
		if not HAS_PMEM[mode.name] then
			return false, mode.name
		end
	end
	return #modes > 0
end

local function check_size(text, source, policy)
	local bytes = #text <= 20 and conf.size(text)
	if not bytes or bytes == 0 then
		return problem("%s: '%s' is no size, write it like 100G", source, text)
	elseif policy.UsablePmem and bytes > policy.UsablePmem then
		return problem("%s=%s is more than a socket's persistent memory has for a job (%.0fM)",
			source, text, policy.UsablePmem / MIB)
	end
	return nil
end

local function check_namespace(text, source)
	if text ~= "fsdax" and text ~= "devdax" then
		return problem("%s: unknown kind '%s', valid kinds are fsdax, devdax", source, text)
	end
	return nil
end

-- A variable that stands in somebody's profile counts only where it means something.
local function apply_twins(request, modes)
	request.sources = { size = OPTIONS.size.text, namespace = OPTIONS.namespace.text }
	for name in pairs(request.sources) do
		if not request[name] and have_pmem(modes) and (request.twins[name] or "") ~= "" then
			request[name], request.sources[name] = request.twins[name], OPTIONS[name].twin
		end
	end
end

local function check_pmem(request, policy, modes)
	local option = request.size and request.sources.size
		or request.namespace and request.sources.namespace
	local has, other = have_pmem(modes)
	if not option then
		return nil
	elseif not has then
		return problem("%s needs --pm-mode=appdirect or mixed%s", option,
			other and ", the job's mode is " .. other or "")
	elseif request.size and request.namespace == "devdax" then
		return problem("%s and devdax exclude each other, the job gets whole devices: leave %s out",
			request.sources.size, request.sources.size)
	end
	return request.size and check_size(request.size, request.sources.size, policy)
		or request.namespace and check_namespace(request.namespace, request.sources.namespace)
		or nil
end

-- DRAM of each rank ------------------------------------------------------------------------------

-- Ranks that one of the job's nodes has at least.
local function least_ranks(job)
	local ranks, nodes = given(job.num_tasks, NO_VAL), given(job.max_nodes, NO_VAL)
	if ranks and nodes then
		return math.ceil(ranks / nodes)
	end
	return math.min(given(job.ntasks_per_node, NO_VAL16) or 1, ranks or NO_VAL)
end

-- Bytes that a rank may have of its socket, and all ranks of the node; nil where the site does not
-- say. In the other modes a socket has more than DRAM.
local function dram_of(policy, mode)
	local usable = policy.UsableMemory
	if mode.feature ~= "pm_appdirect" then
		return nil, usable[mode.name]
	end
	return policy.UsableDram or nil, usable.appdirect or usable.flat
end

local function dram_fault(job, policy, mode, bytes, option)
	local ranks = least_ranks(job)
	local of_socket, of_node = dram_of(policy, mode)
	if of_socket and bytes > of_socket then
		return problem("%s is more than a socket's DRAM has for a rank (%.0fM)", option,
			of_socket / MIB)
	elseif of_node and ranks * bytes > of_node then
		local most = math.floor(math.min(of_node / ranks, of_socket or of_node) / MIB)
		return problem("%s needs %.0fM on a node, one in mode %s has %.0fM, take at most %.0fM a rank",
			option, ranks * bytes / MIB, mode.name, of_node / MIB, most)
	end
	return nil
end

-- Refuses what no node could give in any of the modes. Of 'auto' the node makes what it has, and the
-- plugin has refused what cannot be read.
local function check_dram(job, request, policy, modes)
	local text = request.dram or request.twins.dram or ""
	local option = (request.dram and OPTIONS.dram.text or OPTIONS.dram.twin) .. "=" .. text
	local bytes = #text <= 20 and conf.size(text)
	local first
	for _, mode in ipairs(bytes and modes or {}) do
		local fault = dram_fault(job, policy, mode, bytes, option)
		if not fault then
			return nil
		end
		first = first or fault
	end
	return first
end

-- Nodes ------------------------------------------------------------------------------------------

-- flat and devdax change what a whole node is; else it is the site's choice.
local function needs_whole_nodes(request, policy, modes)
	for _, mode in ipairs(modes) do
		if mode.name == "flat" then
			return true
		end
	end
	return policy.Exclusive or request.namespace == "devdax"
end

local function may_reboot(policy, user)
	return policy.RebootUsers["*"] or policy.RebootUsers[user or ""] or false
end

local function set_delay(job_desc, policy, modes, changes)
	if not may_reboot(policy, job_desc.user_name) then
		changes.delay_boot = FOREVER_S
		if not conf.limits_reboots(pm.config_file) then
			slurm.log_info(problem("RebootUsers without AllowUserBoot: %s's job keeps idle nodes from others",
				job_desc.user_name or "?"))
		end
		return problem("no node is rebooted for jobs of user %s: this one takes nodes in mode %s only",
			job_desc.user_name or "?", modes[1].name)
	elseif policy.DelayBoot > 0 and not given(job_desc.delay_boot, NO_VAL) then
		changes.delay_boot = policy.DelayBoot
	end
	return nil
end

local function partitions_of(names_text, part_list)
	local list = {}
	for name in string.gmatch(names_text or "", "[^,]+") do
		list[#list + 1] = name
	end
	for name, partition in pairs(list[1] and {} or part_list or {}) do
		if partition.flag_default == 1 then
			list[1] = name
		end
	end
	return list
end

local function differs(key, partitions)
	return problem("partitions %s differ in %s, name one of them", table.concat(partitions, ","), key)
end

-- What must become of the job: a table of its fields, a remark; or nil and the sentence of refusal.
local function plan(job_desc, request, policy)
	local mode, fault = single_mode(job_desc, request, policy)
	local modes = mode and { mode } or modes_of_features(request.ours, policy)
	local changes = {}
	if not fault and mode then
		fault = check_offered(policy, modes, request.source)
	elseif not fault then
		fault = check_offered(policy, modes, "--constraint")
	end
	apply_twins(request, modes)
	fault = fault or check_pmem(request, policy, modes) or check_memory(job_desc, policy, modes)
		or check_dram(job_desc, request, policy, modes)
	if not fault and mode then
		changes.features, fault = constraint_with(request, mode)
	end
	if fault then
		return nil, fault
	elseif #modes == 0 then
		return changes
	end
	local whole = needs_whole_nodes(request, policy, modes)
	changes.shared = whole and 0 or nil
	set_memory(job_desc, policy, modes, whole, changes)
	return changes, set_delay(job_desc, policy, modes, changes)
end

-- Does any of the partitions give modes to jobs that name none?
local function has_defaults(config, partitions)
	for _, partition in ipairs(partitions) do
		if conf.policy(config, { partition }).DefaultMode ~= "none" then
			return true
		end
	end
	return false
end

function pm.submit(job_desc, part_list, _)
	local request, fault = read_request(job_desc)
	if not request then
		return refuse(fault)
	end
	local config, unreadable = conf.load(pm.config_file)
	if not config then
		return asks(request) and refuse("pm: " .. unreadable) or slurm.SUCCESS
	end
	local partitions = partitions_of(job_desc.partition, part_list)
	local policy, differing = conf.policy(config, partitions)
	if differing and (asks(request) or has_defaults(config, partitions)) then
		return refuse(differs(differing, partitions))
	end
	local changes, remark = plan(job_desc, request, policy)
	if not changes then
		return refuse(remark)
	end
	if changes.features or #request.ours > 0 then
		nodelist.submit(job_desc, partitions, part_list, changes)
	end
	for field, value in pairs(changes) do
		job_desc[field] = value
	end
	if remark then
		slurm.log_user(remark)
	end
	return slurm.SUCCESS
end

-- Changes of a job -------------------------------------------------------------------------------

local function check_new_features(job_desc, job_rec)
	local ours, unknown = our_features(job_desc.features)
	local old = our_features(job_rec.features or "") or {}
	local option = spank_variables(job_rec)[OPTIONS.mode.word]
	if not ours then
		return unknown_feature(unknown)
	elseif #ours > 0 and #old == 0 then
		return problem("job was submitted without a mode, submit it again with %s", ours[1])
	elseif option and find("name", option) and contradicts(ours, find("name", option).feature) then
		return problem("job was submitted with --pm-mode=%s, submit it again with the other mode",
			option)
	end
	return nil
end

-- A field as it will be.
local function after(job_desc, job_rec, field)
	local value = job_desc[field]
	if value == nil then
		value = job_rec[field]
	end
	return value
end

local function changes_memory(job_desc)
	return job_desc.min_mem_per_node ~= nil or job_desc.min_mem_per_cpu ~= nil
end

local function memory_after(job_desc, job_rec)
	local from = changes_memory(job_desc) and job_desc or job_rec
	return { min_mem_per_node = from.min_mem_per_node, min_mem_per_cpu = from.min_mem_per_cpu }
end

-- The modes of a job that is in the queue: that of its option tells apart those of a feature.
local function modes_of_job(features, job_rec, policy)
	local ours = our_features(features or "") or {}
	local mode = find("name", spank_variables(job_rec)[OPTIONS.mode.word])
	if mode and #ours > 0 and not contradicts(ours, mode.feature) then
		return { mode }
	end
	return modes_of_features(ours, policy)
end

-- A job that got all memory of its old mode gets all of the new one.
local function carry_memory(job_desc, job_rec, policy, modes)
	local old = modes_of_job(job_rec.features, job_rec, policy)
	local size, new_size = least_usable(policy, old), least_usable(policy, modes)
	if size and size ~= new_size and not changes_memory(job_desc)
		and job_rec.min_mem_per_node == size then
		job_desc.min_mem_per_node = new_size
	end
end

local function check_change(job_desc, job_rec, policy, modes)
	local user = job_rec.user_name
	local delay = job_desc.delay_boot
	if delay and delay < FOREVER_S and not may_reboot(policy, user) then
		return problem("no node is rebooted for jobs of user %s", user or "?")
	end
	return check_offered(policy, modes, "--constraint")
		or check_memory(memory_after(job_desc, job_rec), policy, modes)
end

local function concerns_us(job_desc, job_rec)
	local changed = job_desc.features or job_desc.partition or changes_memory(job_desc)
		or given(job_desc.delay_boot or NO_VAL, NO_VAL) or job_desc.delay_boot == 0
		or nodelist.concerns(job_desc, job_rec)
	return changed and #(our_features(after(job_desc, job_rec, "features") or "") or {}) > 0
end

-- Slurm lets only operators change a job's exclusiveness, so a job that was submitted without a mode
-- cannot get one later.
function pm.modify(job_desc, job_rec, part_list, _)
	local fault = job_desc.features and check_new_features(job_desc, job_rec)
	if fault then
		return refuse(fault)
	elseif not concerns_us(job_desc, job_rec) then
		return slurm.SUCCESS
	end
	local config, unreadable = conf.load(pm.config_file)
	if not config then
		return refuse("pm: " .. unreadable)
	end
	local partitions = partitions_of(after(job_desc, job_rec, "partition"), part_list)
	local policy, differing = conf.policy(config, partitions)
	if differing then
		return refuse(differs(differing, partitions))
	end
	local modes = modes_of_job(after(job_desc, job_rec, "features"), job_rec, policy)
	carry_memory(job_desc, job_rec, policy, modes)
	fault = check_change(job_desc, job_rec, policy, modes)
	if not fault and not nodelist.modify(job_desc, job_rec, partitions, part_list) then
		fault = problem("job was submitted with --nodelist, give ReqNodeList= and ExcNodeList= anew")
	end
	return fault and refuse(fault) or slurm.SUCCESS
end

return pm
