-- SPDX-License-Identifier: Apache-2.0
-- The controller's side of --pm-mode, in slurmctld's job_submit/lua plugin, under slurmctld's
-- locks: no function here may wait or ask Slurm. It turns a job's mode into node features and
-- applies the policy of pmem.conf. The feature is the contract: a job with --constraint=pm_memory
-- is served in the same way.
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
local constraint = dofile(here .. "pmem_constraint.lua")
local nodelist = dofile(here .. "pmem_nodes.lua")
local groups = dofile(here .. "pmem_groups.lua")
local hold = dofile(here .. "pmem_hold.lua")
local reboots = dofile(here .. "pmem_reboots.lua")
local auto = dofile(here .. "pmem_auto.lua")
local history = dofile(here .. "pmem_history.lua")

-- Slurm's version on the controller, as a number. The site sets it, as Lua cannot ask Slurm for it.
-- Up to 22.05 Slurm does not allow '|' and '()' beside features that a reboot changes; with 23.02
-- or more they are passed on.
pm.slurm_version = 22.05

-- The site's policy; without the file all keys have their defaults.
pm.config_file = "/etc/slurm/pmem.conf"

-- The number of idle nodes in each mode: a line "slurm-pmem-modes 1 SECONDS" with the time of
-- writing, then a line for each partition, "main pm_memory=3 pm_appdirect=0 pm_mixed=1".
-- pm-controller writes it (controller/modes_file.h). Without it, or if it is older than a minute,
-- the first suitable mode of the table is chosen, and users are not told whether nodes must reboot.
-- Beside it is "groups", the users of the groups that pmem.conf names (pmem_groups.lua).
pm.state_file = "/run/slurm-pmem-controller/modes"

-- Whether users are told at submission that nodes must reboot before their job starts.
pm.tells_reboots = true

pm.modes = conf.modes

local MIB = 2 ^ 20
local NO_VAL16, NO_VAL = 0xfffe, 0xfffffffe
local PENDING, STATE_FLAGS = 0, 256 -- of job_state, slurm.h
local CLUSTERS_BYTES = 1024 * 1024

-- An option of plan/options.def, the variable by which Slurm carries it here, and its twin.
local function our_option(name)
	return { text = "--pm-" .. name, word = "_SLURM_SPANK_OPTION_pmem_pm_" .. name,
		twin = "PM_" .. string.upper(name) }
end

local OPTIONS = { mode = our_option("mode"), size = our_option("size"),
	namespace = our_option("namespace"), dram = our_option("dram"), now = our_option("now") }

local function problem(format, ...)
	return "pm: " .. string.format(format, ...)
end

-- Slurm's function takes a format, in which a user's or a site's words may not stand.
local function tell_user(sentence)
	slurm.log_user("%s", sentence)
end

local function refuse(sentence)
	tell_user(sentence)
	return slurm.ERROR
end

-- Names ------------------------------------------------------------------------------------------

-- "memory, appdirect": field `key` of the modes in the set `wanted` (nil: of all), each text once.
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

-- The mode of a job that names only the feature: the DefaultMode that nodes know if that has the
-- feature, else the first mode that has it.
local function mode_of_feature(feature, policy)
	local default = find("name", policy.NodeDefault)
	if default and default.feature == feature then
		return default
	end
	return find("feature", feature)
end

-- The job's request -------------------------------------------------------------------------------

-- The plugin's variables, "NAME=VALUE" each. Slurm numbers them from 0, so ipairs() would miss the
-- first.
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

-- The parsed expression; nil and the sentence if it cannot be read, or names a mode that does not
-- exist.
local function read_features(source, text)
	local tree, fault = constraint.read(text)
	if not tree then
		return nil, problem("cannot read %s=%s: %s", source, string.sub(text, 1, 200),
			constraint.explain(text, fault))
	end
	for _, name in ipairs(tree.ours) do
		if not find("feature", name) then
			return nil, problem("%s: unknown feature '%s', valid features are %s", source, name,
				names("feature"))
		end
	end
	return tree
end

-- True if any of the features differs from this one.
local function contradicts(ours, feature)
	for _, name in ipairs(ours) do
		if name ~= feature then
			return true
		end
	end
	return false
end

-- Adds the twins in a batch script's environment that no plugin has passed on: the job comes through
-- slurmrestd, by --export, or from a machine without the plugin. Of srun and salloc Slurm has no
-- environment here.
local function add_environment(request, job_desc)
	for name, option in pairs(job_desc.script and OPTIONS or {}) do
		local value = not request.twins[name] and job_desc.environment[option.twin] or ""
		if value ~= "" then
			request.twins[name], request.bare[name] = value, true
		end
	end
end

-- The mode in the #SCRON lines of a job of a table; nil and the sentence for an option that the nodes
-- would not learn. scrontab checks our options by the plugin, but does not pass them on (24.11): they
-- are in the script alone.
local function scron_mode(script)
	local mode
	if not string.find(script, "^#![^\n]*\n# This job was submitted through scrontab\n") then
		return nil
	end
	for line in string.gmatch(script, "\n#SCRON([^\n]*)") do
		for name, value in string.gmatch(line, "%-%-pm%-([%w-]+)[= ]?([%w_]*)") do
			if name ~= "mode" then
				return nil, problem("--pm-%s cannot be passed by scrontab, write the job's command as sbatch --pm-%s",
					name, name)
			end
			mode = value
		end
	end
	return mode
end

-- The job's request. A constraint that names the feature of another mode overrides PM_MODE. A
-- constraint that cannot be read is left to Slurm, unless it may name a mode or a mode must be
-- added to it.
local function read_request(job_desc)
	local text = job_desc.features or ""
	local tree, fault = read_features("--constraint", text)
	if not tree and constraint.may_be_ours(text) then
		return nil, fault
	end
	local variables = spank_variables(job_desc)
	local ours = tree and tree.ours or {}
	local request = { constraint = text, tree = tree, unreadable = fault, ours = ours, twins = {},
		bare = {}, prefer = job_desc.prefer or "" }
	for name, option in pairs(OPTIONS) do
		request[name] = variables[option.word]
		request.twins[name] = variables[option.twin]
	end
	add_environment(request, job_desc)
	if not next(variables) and job_desc.script then
		request.mode, fault = scron_mode(job_desc.script)
		if fault then
			return nil, fault
		end
		request.by_scron = request.mode ~= nil
	end
	request.explains = variables.PM_EXPLAIN == "1"
	request.source = OPTIONS.mode.text
	local twin = find("name", request.twins.mode)
	if not request.mode and (#ours == 0 or (twin and not contradicts(ours, twin.feature))) then
		request.mode, request.source = request.twins.mode, OPTIONS.mode.twin
	end
	return request
end

-- --pm-now, or its variable.
local function asks_now(request)
	local twin = request.twins.now or "0"
	return request.now ~= nil or twin ~= "0" and twin ~= ""
end

local function asks(request)
	return request.mode or #request.ours > 0 or request.size or request.namespace
		or constraint.may_be_ours(request.prefer)
end

-- Memory -----------------------------------------------------------------------------------------

local function given(number, no_val)
	return number and number > 0 and number < no_val and number or nil
end

-- The number of CPUs that at least one of the job's nodes must have; the nodes are not known yet.
local function least_cpus(job)
	local per_task = given(job.cpus_per_task, NO_VAL16) or 1
	local on_node = (given(job.ntasks_per_node, NO_VAL16) or 1) * per_task
	local total = math.max(given(job.min_cpus, NO_VAL) or 1,
		(given(job.num_tasks, NO_VAL) or 1) * per_task)
	local nodes = given(job.max_nodes, NO_VAL)
	local share = nodes and math.ceil(total / nodes) or 1
	return math.max(on_node, share, given(job.pn_min_cpus, NO_VAL16) or 1)
end

-- The memory that a job requests on a node, in MiB: nil for none, 0 for all; and the option that
-- requests it.
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

-- The least usable memory of those modes for which the site has a value; nil if it has none for any
-- of them.
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

-- The offered modes with at least this much memory, and options with sizes: "--pm-mode=memory
-- (7600M)".
local function modes_with_memory(policy, wanted)
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

-- The sentence for a job that requests more memory than its modes have.
local function too_much(policy, wanted, text, modes)
	local size = least_usable(policy, modes)
	local _, cures = modes_with_memory(policy, wanted)
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

-- The first of the modes that a constraint on its feature alone stands for: the node gets only the
-- feature.
local function first_by_feature(modes, policy)
	for _, mode in ipairs(modes) do
		if mode_of_feature(mode.feature, policy) == mode then
			return mode
		end
	end
	return nil
end

-- The mode that a large request implies; nil if every mode has that much; nil and the sentence if
-- no mode has it, or if the site has ImplyMode=no.
local function implied_mode(job, policy)
	local wanted, text = memory_of(job)
	local size = least_usable(policy, offered(policy))
	if not wanted or not size or wanted <= size then
		return nil
	end
	local fitting, cures = modes_with_memory(policy, wanted)
	if not fitting[1] then
		return nil, problem("%s is more than a node has in any mode, ask for less", text)
	end
	local mode = policy.ImplyMode and first_by_feature(fitting, policy)
	return mode or nil, not mode
		and problem("%s is more than a node has in every mode, take %s", text, cures) or nil
end

-- An exclusive job that requests no memory, or all of it, gets all usable memory of the mode.
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

-- The modes that a constraint allows, one for each feature, in the order of the table; `meant`, if
-- given, stands for its feature. nil and the sentence if the constraint is also satisfied without a
-- mode, or by no mode.
local function open_modes(source, tree, policy, meant)
	local modes = {}
	if #tree.ours > 0 and constraint.allows(tree, nil) then
		return nil, problem("%s=%s leaves open whether the job has a mode, name one in each alternative "
			.. "or in none", source, tree.text)
	end
	for _, mode in ipairs(#tree.ours > 0 and pm.modes or {}) do
		local first = find("feature", mode.feature) == mode
		if first and constraint.allows(tree, mode.feature) then
			modes[#modes + 1] = meant and meant.feature == mode.feature and meant
				or mode_of_feature(mode.feature, policy)
		end
	end
	if #tree.ours > 0 and #modes == 0 then
		return nil, problem("%s=%s asks for several modes at once, a node has one: use '|' between them",
			source, tree.text)
	end
	return modes
end

-- The modes for which check() finds no fault; all if it finds one with each.
local function without_faults(modes, check)
	local good = {}
	for _, mode in ipairs(modes) do
		good[#good + 1] = not check(mode) and mode or nil
	end
	return good[1] and good or modes
end

-- Chooses one of several modes. Slurm takes alternatives for features that a node must have at
-- once, finds no such node, and has one rebooted. So the job gets one mode: the mode of the most
-- idle nodes, else the first.
local function choose_mode(modes, job_desc, policy, partitions)
	if #modes < 2 then
		return modes[1]
	end
	modes = without_faults(modes, function(mode) return check_offered(policy, { mode }, "") end)
	modes = without_faults(modes, function(mode) return check_memory(job_desc, policy, { mode }) end)
	local idle = constraint.view(pm.state_file, partitions).idle
	local best = modes[1]
	for _, mode in ipairs(modes) do
		if (idle[mode.feature] or 0) > (idle[best.feature] or 0) then
			best = mode
		end
	end
	return best
end

local function cannot_combine(what, source, text, fault)
	if fault.expected then
		return problem("cannot read %s=%s beside %s: %s", source, text, what,
			constraint.explain(text, fault))
	end
	return problem("%s cannot be combined with %s=%s, use only %s in it: beside a mode Slurm refuses '%s' "
		.. "(character %d)", what, source, text, pm.slurm_version < 23.02 and "'&'" or "'&', '|' and '()'",
		string.sub(text, fault.at, fault.at), fault.at)
end

-- The expression with the mode's feature required; nil and the sentence.
local function with_mode(tree, mode, source, what)
	local text, fault = constraint.with(tree, mode.feature, pm.slurm_version)
	if not text then
		return nil, cannot_combine(what, source, tree.text, fault)
	end
	return text
end

-- The job's constraint with its mode's feature; nil and the sentence.
local function constraint_with(request, mode, from_constraint)
	local what = from_constraint and "mode " .. mode.name or request.source .. "=" .. mode.name
	if not from_constraint and contradicts(request.ours, mode.feature) then
		return nil, problem("%s contradicts --constraint=%s, leave one of them out", what,
			request.constraint)
	elseif not request.tree then
		return nil, request.unreadable
	end
	return with_mode(request.tree, mode, "--constraint", what)
end

-- The job's preference with its mode's feature, as Slurm uses --prefer instead of the constraint
-- while it can. nil: there is none, or it needs no change; nil and the sentence.
local function preference_with(text, mode)
	local tree, fault = read_features("--prefer", text or "")
	if (text or "") == "" or (not tree and not mode and not constraint.may_be_ours(text)) then
		return nil
	elseif not tree then
		return nil, fault
	elseif tree.ours[1] and not mode then
		return nil, problem("--prefer=%s: a node would be rebooted for what the job can do without, write "
			.. "--pm-mode if it needs the mode, else leave it out", text)
	elseif mode and contradicts(tree.ours, mode.feature) then
		return nil, problem("--prefer=%s prefers another mode than the job's, which is %s: leave it out, "
			.. "or write --constraint='%s|%s' for either", text, mode.name, mode.feature, tree.ours[1])
	elseif not mode then
		return nil
	end
	return with_mode(tree, mode, "--prefer", "mode " .. mode.name)
end

-- The value that stands for no mode, whatever the site's defaults are, and the one that leaves the choice
-- to pmem_auto.lua.
local NO_MODE, AUTO_MODE = "none", "auto"

-- The site's default, which the nodes get as a feature alone; nil and the sentence if they would take
-- it for another mode.
local function default_mode(policy)
	local mode = find("name", policy.DefaultMode)
	local seen = mode_of_feature(mode.feature, policy)
	if seen ~= mode then
		return nil, problem("%s has DefaultMode=%s, which nodes take for %s there: tell your administrators, or "
			.. "take --pm-mode=%s", policy.rules.DefaultMode.origin, mode.name, seen.name, mode.name)
	end
	return mode
end

-- The mode of option, twin, default or large request; nil if the constraint has the mode, or if the
-- job has none.
local function single_mode(job_desc, request, policy)
	if request.mode == NO_MODE then
		return nil, #request.ours > 0 and problem("%s=none contradicts --constraint=%s, leave one of them out",
			request.source, request.constraint) or nil
	elseif request.mode then
		local mode = find("name", request.mode)
		return mode, not mode and problem("%s: unknown mode '%s', valid modes are %s",
			request.source, request.mode, names("name", policy.Modes)) or nil
	elseif #request.ours > 0 then
		return nil
	elseif policy.DefaultMode ~= "none" then
		request.source = "DefaultMode"
		return default_mode(policy)
	end
	request.source = "ImplyMode"
	return implied_mode(job_desc, policy)
end

-- Persistent memory of the job's own -------------------------------------------------------------

-- True if jobs of all these modes get persistent memory of their own, so that --pm-size and
-- --pm-namespace have a meaning.
local function have_pmem(modes)
	for _, mode in ipairs(modes) do
		if mode.substate ~= "fsdax" then
			return false, mode.name
		end
	end
	return #modes > 0
end

local function check_size(text, source, policy)
	local bytes = #text <= 20 and conf.size(text)
	if not bytes or bytes == 0 then
		return problem("%s: '%s' is not a size; write a whole number and K, M, G or T, as 100G", source, text)
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

-- A variable may be set for all jobs of a user, so it counts only in modes that use it.
local function apply_twins(request, modes)
	request.sources = { size = OPTIONS.size.text, namespace = OPTIONS.namespace.text }
	for name in pairs(request.sources) do
		if not request[name] and have_pmem(modes) and (request.twins[name] or "") ~= "" then
			request[name], request.sources[name] = request.twins[name], OPTIONS[name].twin
		end
	end
end

-- Refuses a twin of the environment alone that the nodes could not learn: they get the constraint, and
-- what a plugin has passed on.
local function check_bare(request, policy, mode)
	local known = not mode or mode_of_feature(mode.feature, policy) == mode
	local sources = { mode = not known and request.source, size = request.sources.size,
		namespace = request.sources.namespace }
	if request.by_scron and not known then
		return problem("--pm-mode=%s cannot be passed by scrontab, write the job's command as sbatch --pm-mode=%s",
			mode.name, mode.name)
	end
	for name, source in pairs(sources) do
		local option, value = OPTIONS[name], request[name]
		if request.bare[name] and source == option.twin then
			return problem("%s=%s cannot be passed by the job's environment alone, as slurmrestd and --export do: "
				.. "take sbatch %s=%s", option.twin, value, option.text, value)
		end
	end
	return nil
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

-- The number of ranks that at least one of the job's nodes must have.
local function least_ranks(job)
	local ranks, nodes = given(job.num_tasks, NO_VAL), given(job.max_nodes, NO_VAL)
	if ranks and nodes then
		return math.ceil(ranks / nodes)
	end
	return math.min(given(job.ntasks_per_node, NO_VAL16) or 1, ranks or NO_VAL)
end

-- DRAM in bytes for a rank, on its socket, and for all ranks of a node; nil if the site has no
-- value. Only in App Direct modes is a socket's main memory DRAM.
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

-- Refuses DRAM that no node has in any of the modes. A node resolves 'auto' itself, and the plugin
-- has refused values that cannot be read.
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

-- flat and devdax change the whole node; else the site decides.
local function needs_whole_nodes(request, policy, modes)
	for _, mode in ipairs(modes) do
		if mode.substate == "flat" then
			return true
		end
	end
	return policy.Exclusive or request.namespace == "devdax"
end

-- The job's time limit in minutes: its own, else the least default of its partitions; nil: it is
-- limited by none of these.
local function minutes_of(time_limit, partitions, part_list)
	local minutes = given(time_limit, NO_VAL)
	for _, name in ipairs(minutes and {} or partitions) do
		local default = given((part_list and part_list[name] or {}).default_time, NO_VAL)
		if default and (not minutes or default < minutes) then
			minutes = default
		end
	end
	return minutes
end

-- The remark for a job for which no node is ever rebooted; nil for others.
local function set_delay(job_desc, policy, modes, who, changes)
	local kind = reboots.none_for(policy, who)
	changes.delay_boot = reboots.delay(policy, who, given(job_desc.delay_boot, NO_VAL))
	if not kind then
		return nil
	elseif not reboots.has_user(policy, who) and not conf.limits_reboots(pm.config_file) then
		local user = who.user ~= "" and who.user or "?"
		slurm.log_info("%s", problem("RebootUsers without AllowUserBoot: %s's job keeps idle nodes from others", user))
	end
	return problem("no node is rebooted for %s: this one takes nodes in mode %s only", kind, modes[1].name)
end

-- The directory of pm-controller's files.
local function run_dir()
	return string.match(pm.state_file, "^.*/") or ""
end

-- Minutes for which a job with a mode may wait for nodes of its mode; nil and the sentence.
local function hold_minutes(policy, who, now, whole)
	if now and not policy.AllowNow then
		return nil, problem("--pm-now is not allowed here (%s), leave it out", policy.rules.AllowNow.origin)
	elseif now or not whole or reboots.none_for(policy, who) then
		return 0
	end
	return policy.HoldTime
end

-- "1 of 2 nodes is", "2 of 4 nodes are", "no node is".
local function count_text(count, needed)
	if count == 0 then
		return "no node is"
	end
	return string.format("%.0f of %.0f nodes %s", count, needed, count == 1 and "is" or "are")
end

-- "; mode appdirect has 3 idle nodes": another mode in which the job could start at once.
local function sooner(job, policy, mode, needed, view)
	for _, other in ipairs(offered(policy)) do
		if other.feature ~= mode.feature and (view.idle[other.feature] or 0) >= needed
			and not check_memory(job, policy, { other }) then
			return string.format("; mode %s has %.0f idle", other.name, view.idle[other.feature])
		end
	end
	return ""
end

-- The cluster as pm-controller has written it, read once for a submission.
local function view_for(request)
	request.view = request.view or constraint.view(pm.state_file, request.partitions)
	return request.view
end

-- "1 of 2 nodes is idle in mode memory"; nil: enough are, or the idle nodes are not known.
local function missing_text(job, mode, request)
	local idle = view_for(request).idle[mode.feature]
	local needed = (given(job.min_nodes, NO_VAL) or 1) * hold.count_tasks(job.array_inx)
	if not idle or idle >= needed then
		return nil
	end
	return string.format("%s idle in mode %s", count_text(idle, needed), mode.name)
end

-- The remark for a job that waits from its submission on, and the change by which others do not wait
-- for it; nil: it does not wait, or no node is ever rebooted for it, which has a remark of its own.
local function first_hold(job, policy, mode, request, changes, who)
	if request.explains then
		return nil
	end
	local never, limits = reboots.none_for(policy, who), reboots.limits(policy)
	local missing = not never and missing_text(job, mode, request)
	changes.licenses = hold.first_lease(job, run_dir(), never or limits, missing)
	if not missing then
		return nil
	elseif limits then
		return problem("%s: others are rebooted for the job as far as %s let them be", missing, limits)
	end
	return changes.licenses and problem("%s: the job waits for nodes of its mode before others are rebooted, "
		.. "%.0f minutes at most%s", missing, policy.HoldTime,
		policy.AllowNow and "; --pm-now has them rebooted at once" or "") or nil
end

-- That nodes must reboot before the job starts, or that it could start at once in another mode; nil
-- if neither is so or known, or if the job waits for something else. The view is some seconds old.
local function reboot_remark(job, policy, mode, request)
	if not pm.tells_reboots or (job.req_nodes or "") ~= "" or (job.dependency or "") ~= ""
		or (given(job.begin_time, NO_VAL) or 0) > os.time() then
		return nil
	end
	local view = view_for(request)
	local idle, could = view.idle[mode.feature], view.could[mode.feature] or 0
	local needed = given(job.min_nodes, NO_VAL) or 1
	if not idle or idle >= needed then
		return nil
	end
	local seconds = view.reboot_s[mode.feature]
	local has = string.format("%s idle in mode %s", count_text(idle, needed), mode.name)
	local other = sooner(job, policy, mode, needed, view)
	if idle + could < needed then
		return other ~= "" and problem("%s%s", has, other) or nil
	end
	return problem("%s: %s rebooted into it first%s%s", has,
		needed - idle == 1 and "one is" or string.format("%.0f are", needed - idle),
		seconds and string.format(", which takes about %.0f s here", seconds) or "", other)
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

-- The option, variable or default by which pmem.lua chooses the mode, as "--pm-mode=auto"; nil without one.
local function auto_source(request, policy)
	if request.mode == AUTO_MODE then
		return request.source .. "=auto"
	end
	local is_default = not request.mode and #request.ours == 0 and policy.DefaultMode == AUTO_MODE
	return is_default and "DefaultMode=auto" or nil
end

-- The modes that could serve a job, of which auto takes one: those that the node tells by their feature,
-- as the job has no option with a mode's name. nil and the sentence if there is none.
local function modes_for_auto(job_desc, request, policy, source)
	local open, contradiction = offered(policy), nil
	local fitting, first = {}, nil
	if #request.ours > 0 then
		open, contradiction = open_modes("--constraint", request.tree, policy)
	end
	apply_twins(request, {})
	for _, mode in ipairs(open or {}) do
		local fault = check_offered(policy, { mode }, "--constraint") or check_pmem(request, policy, { mode })
			or check_memory(job_desc, policy, { mode }) or check_dram(job_desc, request, policy, { mode })
		local is_told = mode_of_feature(mode.feature, policy) == mode
		fitting[#fitting + 1] = is_told and not fault and mode or nil
		first = first or fault
	end
	if not open or not fitting[1] then
		return nil, contradiction or problem("%s: no mode can serve the job; %s", source,
			string.gsub(first or "none is offered", "^pm: ", ""))
	end
	return fitting
end

-- The key of the job's earlier runs, made once for a submission.
local function key_for(request, job_desc)
	request.key = request.key or history.key(job_desc)
	return request.key
end

-- MiB that a job needs of a node, by what its earlier runs used, or without such runs by what it asks
-- for; nil: neither is known.
local function needed_mib(job_desc, past)
	local need = past.used_mib or memory_of(job_desc)
	return need and need > 0 and need or nil
end

-- The mode that auto takes; nil and the sentence.
local function auto_mode(job_desc, request, policy, who, source)
	local modes, fault = modes_for_auto(job_desc, request, policy, source)
	if not modes then
		return nil, fault
	end
	local past = history.read(run_dir(), job_desc.user_id or 0, key_for(request, job_desc))
	local need, dram = needed_mib(job_desc, past), usable_mib(policy, find("name", "appdirect"))
	local mode, why = auto.choose(modes, {
		nodes = given(job_desc.min_nodes, NO_VAL) or 1,
		tasks = hold.count_tasks(job_desc.array_inx),
		may_reboot = not reboots.none_for(policy, who) and not reboots.limits(policy),
		view = view_for(request),
		history = past,
		site = history.read_site(run_dir()),
		knows_memory = need ~= nil,
		fits_dram = need ~= nil and dram ~= nil and need <= dram,
		usable = function(of) return usable_mib(policy, of) end,
	})
	request.source = source .. ": " .. why
	request.choice = problem("%s takes mode %s: %s", source, mode.name, why)
	return mode
end

-- The job's mode, nil for none; or nil and the sentence. The third value is true if only the
-- constraint names it.
local function mode_of_request(job_desc, request, policy, who)
	local source = auto_source(request, policy)
	if source then
		local chosen, refusal = auto_mode(job_desc, request, policy, who, source)
		return chosen, refusal, true
	end
	local mode, fault = single_mode(job_desc, request, policy)
	if mode or fault or #request.ours == 0 then
		return mode, fault
	end
	local meant = not request.bare.mode and find("name", request.twins.mode) or nil
	local modes, contradiction = open_modes("--constraint", request.tree, policy, meant)
	if not modes then
		return nil, contradiction
	end
	return choose_mode(modes, job_desc, policy, request.partitions), nil, true
end

-- A mode's name where Slurm expects features, by a job without a mode: Slurm will not know it.
local function name_remark(request)
	for word in string.gmatch(request.constraint, "[%w_.-]+") do
		local mode = find("name", word)
		if mode then
			return problem("--constraint=%s: did you mean --pm-mode=%s, or the feature %s?", word, word,
				mode.feature)
		end
	end
	return nil
end

-- Slurm's names of the fields that AccountingField names.
local FIELDS = { Comment = "comment", AdminComment = "admin_comment" }
local MODE_NOTE = "pm_mode=%a+"

-- The text of the site's field with the mode in it: behind the text of others, or instead of an
-- earlier mode. nil: the site names no field.
local function accounting_field(policy, mode, record)
	local field = FIELDS[policy.AccountingField]
	if not field or not mode then
		return nil
	end
	local text = record[field] or ""
	local note = "pm_mode=" .. mode.name
	if string.find(text, MODE_NOTE) then
		return field, (string.gsub(text, MODE_NOTE, note, 1))
	end
	return field, text ~= "" and text .. "; " .. note or note
end

-- The changes of the job, by field, and a remark to the user; or nil and the sentence of refusal.
local function plan(job_desc, request, policy, who)
	local mode, fault, by_constraint = mode_of_request(job_desc, request, policy, who)
	local modes = { mode }
	local changes = {}
	if not fault then
		fault = check_offered(policy, modes, by_constraint and "--constraint" or request.source)
	end
	apply_twins(request, modes)
	fault = fault or check_bare(request, policy, mode) or check_pmem(request, policy, modes)
		or check_memory(job_desc, policy, modes) or check_dram(job_desc, request, policy, modes)
	if not fault and mode then
		changes.features, fault = constraint_with(request, mode, by_constraint)
	end
	if not fault then
		changes.prefer, fault = preference_with(job_desc.prefer, mode)
	end
	if fault then
		return nil, fault
	elseif #modes == 0 then
		return changes, name_remark(request)
	end
	local field, text = accounting_field(policy, mode, job_desc)
	if field then
		job_desc[field] = text -- nodelist.submit() puts more behind it
	end
	local whole = needs_whole_nodes(request, policy, modes)
	local minutes, refusal = hold_minutes(policy, who, asks_now(request), whole)
	if not minutes then
		return nil, refusal
	end
	changes.shared = whole and 0 or nil
	set_memory(job_desc, policy, modes, whole, changes)
	changes.mode = mode
	local key = policy.LearnModes and key_for(request, job_desc)
	if key then
		job_desc.admin_comment = history.note(job_desc.admin_comment, key)
	end
	if minutes > 0 then
		job_desc.admin_comment = hold.note(job_desc.admin_comment, minutes)
	end
	local remark = set_delay(job_desc, policy, modes, who, changes)
	if minutes > 0 or remark or reboots.limits(policy) then
		remark = first_hold(job_desc, policy, mode, request, changes, who) or remark
	end
	return changes, remark or reboot_remark(job_desc, policy, mode, request)
end

-- Who asks, as far as lines of pmem.conf may depend on it.
local function asker(job_desc, partitions, part_list)
	local function text(value, default)
		return (value or "") ~= "" and value or default or ""
	end
	return { user = text(job_desc.user_name), account = text(job_desc.account, job_desc.default_account),
		qos = text(job_desc.qos, job_desc.default_qos), reservation = text(job_desc.reservation),
		minutes = minutes_of(job_desc.time_limit, partitions, part_list),
		is_member = groups.load(run_dir() .. "groups") }
end

-- True if any of the partitions gives modes to jobs that name none.
local function has_defaults(config, partitions, who)
	for _, partition in ipairs(partitions) do
		if conf.policy(config, { partition }, who).DefaultMode ~= "none" then
			return true
		end
	end
	return false
end

-- The clusters of the federation to which jobs with a mode go, as pm-controller has found them
-- (controller/clusters_file.h); nil: all, or it is not known. Its last look counts while it is dead.
local function clusters_that_offer()
	local file = io.open(run_dir() .. "clusters", "r")
	local text = file and file:read(CLUSTERS_BYTES) or ""
	if file then
		file:close()
	end
	return string.match(text, "^slurm%-pmem%-clusters 1\n([^\n]+)\n$")
end

-- The clusters of a federation for a job with a mode, nil if they stay as they are; nil and the
-- sentence if the job names one without slurm-pmem.
local function clusters_with(named, policy)
	local with = policy.Clusters or clusters_that_offer()
	if not with then
		return nil
	elseif named == "" then
		return with
	end
	for name in string.gmatch(named, "[^,]+") do
		if not string.find("," .. with .. ",", "," .. name .. ",", 1, true) then
			return nil, problem("--clusters=%s: cluster '%s' offers no modes, take of %s", named, name, with)
		end
	end
	return nil
end

-- Prints for pmctl explain: the job's partition, user, account, QOS and reservation, then each key with
-- the line that decides it, then the job's mode, constraint and memory.
local function explain(request, policy, who, changes)
	local function tell(name, value, origin)
		tell_user(string.format("pm: %s: %s%s", name, value, origin and " (" .. origin .. ")" or ""))
	end
	tell("Partition", table.concat(request.partitions, ","))
	for _, name in ipairs({ "User", "Account", "QOS", "Reservation" }) do
		tell(name, who[string.lower(name)] ~= "" and who[string.lower(name)] or "none")
	end
	for _, key in ipairs(conf.keys) do
		tell(key.name, policy.rules[key.name].text, policy.rules[key.name].origin)
	end
	if not changes then
		return
	end
	tell("Mode", changes.mode and changes.mode.name or "none", changes.mode and request.source or nil)
	for _, row in ipairs({ { "Constraint", changes.features }, { "Exclusive nodes", changes.shared == 0 and "yes" },
		{ "Memory of a node", changes.min_mem_per_node and changes.min_mem_per_node .. "M" } }) do
		if row[2] then
			tell(row[1], row[2])
		end
	end
	if changes.mode then
		local limits = reboots.limits(policy)
		tell("Reboots", reboots.none_for(policy, who) and "no"
			or limits and "as far as " .. limits .. " let them be" or "yes")
	end
end

-- The policy of the job's partitions for who asks; nil and the sentence if these differ.
local function policy_of(request, config, who)
	local partitions = request.partitions
	local policy, differing = conf.policy(config, partitions, who)
	if differing and request.mode ~= NO_MODE and (asks(request) or has_defaults(config, partitions, who)) then
		return nil, differs(differing, partitions)
	end
	return policy
end

local function apply(job_desc, changes)
	changes.mode = nil
	for field, value in pairs(changes) do
		job_desc[field] = value
	end
end

local function submit(job_desc, part_list)
	local request, fault = read_request(job_desc)
	if not request then
		return refuse(fault)
	end
	local config, unreadable = conf.load(pm.config_file)
	if not config then
		return asks(request) and refuse("pm: " .. unreadable) or slurm.SUCCESS
	end
	request.partitions = partitions_of(job_desc.partition, part_list)
	local who = asker(job_desc, request.partitions, part_list)
	local policy, differing = policy_of(request, config, who)
	if not policy then
		return refuse(differing)
	end
	local changes, remark = plan(job_desc, request, policy, who)
	if request.explains then
		explain(request, policy, who, changes)
	end
	if not changes then
		return refuse(remark)
	end
	if changes.features or #request.ours > 0 then
		changes.clusters, fault = clusters_with(job_desc.clusters or "", policy)
		if fault then
			return refuse(fault)
		end
		nodelist.submit(job_desc, request.partitions, part_list, changes)
	end
	apply(job_desc, changes)
	if request.choice then
		tell_user(request.choice)
	end
	if remark then
		tell_user(remark)
	end
	return slurm.SUCCESS
end

-- Refuses a job if a call raises an error: Slurm would else accept the job unchecked.
local function fail_closed(call, ...)
	local good, result = pcall(call, ...)
	if good then
		return result
	end
	return refuse(problem("cannot check the job, tell your administrators: %s", tostring(result)))
end

function pm.submit(job_desc, part_list, _)
	return fail_closed(submit, job_desc, part_list)
end

-- Changes of a job -------------------------------------------------------------------------------

-- The value of a field after the update.
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

-- The mode of the job's option, else of its twin, which tells apart the modes of a feature; and the
-- mode of the option alone.
local function recorded_mode(job_rec)
	local variables = spank_variables(job_rec)
	local option = find("name", variables[OPTIONS.mode.word])
	local given_word = variables[OPTIONS.mode.word]
	if given_word == NO_MODE or given_word == AUTO_MODE then
		return nil
	end
	return option or find("name", variables[OPTIONS.mode.twin]), option
end

-- The mode that an expression means for a queued job.
local function mode_in(text, job_rec, policy)
	local tree = constraint.read(text or "")
	local modes = tree and open_modes("Features", tree, policy, recorded_mode(job_rec))
	return modes and modes[1]
end

-- Slurm changes all tasks of an array and all components of a heterogeneous job by one job_desc:
-- each part gets the changes that were made for the part before it. So a mode that is added for one
-- part could be the mode of another.
local function has_parts(job_rec)
	return (job_rec.array_job_id or 0) ~= 0 or (job_rec.het_job_id or 0) ~= 0
end

-- The mode after the update and the new constraint; nil, nil and the sentence. A job keeps its mode
-- unless the new constraint names another.
local function new_features(job_desc, job_rec, policy, partitions, old)
	local tree, fault = read_features("Features", job_desc.features)
	local meant, option = recorded_mode(job_rec)
	local modes, mode = {}, old
	if not tree then
		return nil, nil, fault
	elseif old and not tree.ours[1] and has_parts(job_rec) then
		return nil, nil, problem("Features=%s: name the mode as well (%s), the change is for all parts of "
			.. "the job", tree.text, old.feature)
	elseif tree.ours[1] and not old then
		return nil, nil, problem("job was submitted without a mode, submit it again with %s", tree.ours[1])
	elseif option and contradicts(tree.ours, option.feature) then
		return nil, nil, problem("job was submitted with --pm-mode=%s, submit it again with the other mode",
			option.name)
	elseif tree.ours[1] then
		modes, fault = open_modes("Features", tree, policy, meant)
	end
	if fault or not mode then
		return nil, job_desc.features, fault
	elseif modes[1] then
		mode = choose_mode(modes, memory_after(job_desc, job_rec), policy, partitions)
	end
	return mode, with_mode(tree, mode, "Features", "mode " .. mode.name)
end

-- job_rec does not have a queued job's preference, which could name another mode. So a new
-- constraint replaces the preference as well.
local function change_features(job_desc, job_rec, policy, partitions)
	local mode = mode_in(job_rec.features, job_rec, policy)
	local features, prefer, fault
	if job_desc.features then
		mode, features, fault = new_features(job_desc, job_rec, policy, partitions, mode)
	end
	if not fault then
		prefer, fault = preference_with(job_desc.prefer, mode)
	end
	if fault then
		return fault
	end
	if features then
		job_desc.features = features
	end
	if prefer or (features and mode and not job_desc.prefer) then
		job_desc.prefer = prefer or features
	end
	return nil
end

-- A job that got all memory of its old mode gets all memory of the new one: in its owner's update. Of an
-- operator's, slurmctld takes each value for the operator's own, which no limit of a QOS or an account
-- holds for any more, also in later updates of the owner. The remark for an operator; nil: there is none.
local function carry_memory(job_desc, job_rec, policy, modes, uid)
	local old = { mode_in(job_rec.features, job_rec, policy) }
	local size, new_size = least_usable(policy, old), least_usable(policy, modes)
	if not size or not new_size or size == new_size or changes_memory(job_desc)
		or job_rec.min_mem_per_node ~= size then
		return nil
	elseif uid == job_rec.user_id then
		job_desc.min_mem_per_node = new_size
		return nil
	end
	return problem("job keeps its memory, %.0fM of a node; its owner's update or MinMemoryNode=%.0f gives it that of "
		.. "mode %s", size, new_size, modes[1].name)
end

-- Who asks after the update.
local function asker_after(job_desc, job_rec, partitions, part_list)
	return asker({ user_name = job_rec.user_name, account = after(job_desc, job_rec, "account"),
		qos = after(job_desc, job_rec, "qos"), reservation = job_desc.reservation or job_rec.resv_name,
		time_limit = given(job_desc.time_limit, NO_VAL) or job_rec.time_limit }, partitions, part_list)
end

local function is_pending(job_rec)
	return (job_rec.job_state or 0) % STATE_FLAGS == PENDING
end

-- A job for which no node is rebooted any more waits for nodes in its mode; one that was so before
-- waits no longer.
local function change_delay(job_desc, job_rec, policy, who, by_root)
	local kind = reboots.none_for(policy, who)
	local asked = job_desc.delay_boot
	if not is_pending(job_rec) then
		return nil
	elseif asked and asked >= NO_VAL then
		asked = nil
	end
	if kind and asked and asked < reboots.WAIT_S then
		return problem("no node is rebooted for %s", kind)
	end
	local delay = reboots.delay_after(policy, who, given(job_rec.delay_boot, NO_VAL) or 0, asked, by_root)
	if delay then
		job_desc.delay_boot = delay
	end
	return nil
end

local function check_change(job_desc, job_rec, policy, modes)
	return check_offered(policy, modes, "--constraint")
		or check_memory(memory_after(job_desc, job_rec), policy, modes)
end

local function changes_delay(job_desc)
	return given(job_desc.delay_boot or NO_VAL, NO_VAL) or job_desc.delay_boot == 0
end

local function changes_others(job_desc, job_rec)
	return job_desc.features or job_desc.prefer or job_desc.partition
		or changes_memory(job_desc)
		or is_pending(job_rec) and (job_desc.account or job_desc.qos or job_desc.reservation
			or given(job_desc.time_limit or NO_VAL, NO_VAL))
		or nodelist.concerns(job_desc, job_rec)
end

-- A permit of pm-controller for a reboot, or the end of one. It has looked at the policy: a job that it
-- keeps from rebooting must not stay so because pmem.conf has an error, or no longer offers the job's mode.
local function is_permit(job_desc, job_rec, uid)
	return uid == 0 and changes_delay(job_desc) and not changes_others(job_desc, job_rec)
end

local function concerns_us(job_desc, job_rec)
	local changed = changes_delay(job_desc) or changes_others(job_desc, job_rec)
	return changed and (constraint.may_be_ours(job_rec.features or "")
		or constraint.may_be_ours(job_desc.features or "") or constraint.may_be_ours(job_desc.prefer or ""))
end

-- Only operators may change a job's exclusiveness, so a job that was submitted without a mode
-- cannot get one later.
local function modify(job_desc, job_rec, part_list, uid)
	if not concerns_us(job_desc, job_rec) then
		return slurm.SUCCESS
	end
	local config, unreadable = conf.load(pm.config_file)
	local permit = is_permit(job_desc, job_rec, uid)
	if not config then
		return permit and slurm.SUCCESS or refuse("pm: " .. unreadable)
	end
	local partitions = partitions_of(after(job_desc, job_rec, "partition"), part_list)
	local who = asker_after(job_desc, job_rec, partitions, part_list)
	local policy, differing = conf.policy(config, partitions, who)
	if permit then
		local never = not differing and change_delay(job_desc, job_rec, policy, who, true)
		return never and refuse(never) or slurm.SUCCESS
	elseif differing then
		return refuse(differs(differing, partitions))
	end
	local fault = change_features(job_desc, job_rec, policy, partitions)
	if fault then
		return refuse(fault)
	end
	local modes = { mode_in(after(job_desc, job_rec, "features"), job_rec, policy) }
	local remark = carry_memory(job_desc, job_rec, policy, modes, uid)
	local field, text = accounting_field(policy, job_desc.features and modes[1], {
		comment = after(job_desc, job_rec, "comment"),
		admin_comment = after(job_desc, job_rec, "admin_comment") })
	if field then
		job_desc[field] = text
	end
	fault = check_change(job_desc, job_rec, policy, modes)
		or modes[1] and change_delay(job_desc, job_rec, policy, who, uid == 0)
	if not fault and not nodelist.modify(job_desc, job_rec, partitions, part_list) then
		fault = problem("job was submitted with --nodelist, give ReqNodeList= and ExcNodeList= anew")
	end
	if not fault and remark then
		tell_user(remark)
	end
	return fault and refuse(fault) or slurm.SUCCESS
end

function pm.modify(job_desc, job_rec, part_list, modify_uid)
	return fail_closed(modify, job_desc, job_rec, part_list, modify_uid)
end

return pm
