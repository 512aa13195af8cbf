-- SPDX-License-Identifier: Apache-2.0
-- The choice of --pm-mode=auto, for pmem.lua: of the modes that a job may have, the one that costs the
-- least. The cost of a mode is the run time there and the reboots that it needs first, both in
-- node-seconds. A run time is known of earlier runs of the same job (pmem_history.lua). For a mode in which
-- the job has not run it is taken from another mode, if the job is known to fit in DRAM. Where run times
-- cannot be compared the fewest reboots decide.

local auto = {}

-- Seconds of a reboot into a mode that pm-controller has not measured yet: large servers take this long
-- to train their memory and boot.
auto.REBOOT_S = 600

-- The run time of a job that fits in DRAM where DRAM is a cache, against where it is main memory: CASTEP
-- took 1.06 and 1.10 times as long (Weiland et al., SC 2019), as a cache of one way also misses.
auto.CACHED = 1.10
local IS_CACHED = { memory = true, mixed = true }

-- The candidates that have the memory which earlier runs used on a node; all if none has it, or if no
-- run is known. `usable` gives the MiB of a mode, nil where the site has no value.
local function with_memory(modes, used_mib, usable)
	local good = {}
	for _, mode in ipairs(modes) do
		good[#good + 1] = (usable(mode) or math.huge) > used_mib and mode or nil
	end
	return good[1] and good or modes
end

-- The properties of a mode by which it is compared with others:
--
--	idle       idle nodes in it
--	waits      true: too few nodes are idle, or may be rebooted, to start now
--	reboots    nodes that reboot before the start
--	boot_cost  node-seconds of these reboots
--	run_s      median seconds of earlier runs, or expected ones; nil: not known
--	runs       the number of these runs; nil: run_s is expected
--	cached     DRAM is a cache in it
local function judge(mode, rank, job)
	local view, feature = job.view, mode.feature
	local idle = view.idle[feature] or 0
	local could = job.may_reboot and view.could[feature] or 0
	local waits = idle + could < job.nodes
	local in_mode = view.nodes[feature] or 0
	-- Slurm reboots idle nodes for each task of an array. A job that waits gets nodes of its mode when they
	-- come free, as far as there are any.
	local reboots = waits and math.max(job.nodes - in_mode, 0)
		or math.max(math.min(job.nodes * job.tasks - idle, could), 0)
	local past = job.history[mode.name]
	return { mode = mode, rank = rank, idle = idle, in_mode = in_mode, waits = waits, reboots = reboots,
		boot_cost = reboots * (view.reboot_s[feature] or auto.REBOOT_S), run_s = past and past.run_s,
		runs = past and past.runs, cached = IS_CACHED[mode.name] or false }
end

-- The seconds that a job which fits in DRAM takes where DRAM is main memory, by its runs: of such a mode,
-- else of one with a cache. nil: it has none.
local function direct_s(history)
	local cached
	for name, past in pairs(history) do
		if name ~= "used_mib" and not IS_CACHED[name] then
			return past.run_s
		elseif name ~= "used_mib" then
			cached = math.min(cached or math.huge, past.run_s / auto.CACHED)
		end
	end
	return cached
end

-- Fills in the expected run times.
local function expect(choices, job)
	local direct = job.fits_dram and direct_s(job.history)
	for _, choice in ipairs(direct and choices or {}) do
		choice.run_s = choice.run_s or direct * (choice.cached and auto.CACHED or 1)
	end
end

-- Where no run times are compared: one that starts now, the fewest node-seconds of reboots, the shorter
-- run, DRAM as main memory if the job fits in it, more nodes in the mode, the order of the table.
local function is_nearer(a, b, job)
	if a.waits ~= b.waits then
		return b.waits
	elseif a.boot_cost ~= b.boot_cost then
		return a.boot_cost < b.boot_cost
	elseif (a.run_s or math.huge) ~= (b.run_s or math.huge) then
		return (a.run_s or math.huge) < (b.run_s or math.huge)
	elseif a.cached ~= b.cached and job.fits_dram then
		return b.cached
	elseif a.in_mode ~= b.in_mode then
		return a.in_mode > b.in_mode
	end
	return a.rank < b.rank
end

local function total(choice, job)
	return choice.run_s * job.nodes * job.tasks + choice.boot_cost
end

-- The nearest choice, and the one with the least total cost among those of known run time. They differ
-- where a reboot pays. A mode for which the job would wait for others' nodes is not compared with one in
-- which it starts now: the length of the wait is not known.
local function best_of(choices, job)
	local nearest = choices[1]
	for _, choice in ipairs(choices) do
		nearest = is_nearer(choice, nearest, job) and choice or nearest
	end
	local best = nearest
	for _, choice in ipairs(nearest.run_s and choices or {}) do
		if choice.run_s and choice.waits == nearest.waits and total(choice, job) < total(best, job) then
			best = choice
		end
	end
	return best, nearest
end

-- "1 node is", "3 nodes are".
local function count_nodes(count)
	return count == 1 and "1 node is" or string.format("%.0f nodes are", count)
end

-- "its runs take 310 s, the median of 4, and 520 s in memory". pmctl explain puts it into parentheses.
local function run_times(best, other)
	if not best.runs then
		return string.format("its runs take %.0f s in %s, and are expected to take %.0f s, as they fit in DRAM", other.run_s,
			other.mode.name, best.run_s)
	elseif not other.runs then
		return string.format("its runs take %.0f s, the median of %.0f, and are expected to take %.0f s in %s", best.run_s,
			best.runs, other.run_s, other.mode.name)
	end
	return string.format("its runs take %.0f s, the median of %.0f, and %.0f s in %s", best.run_s, best.runs, other.run_s,
		other.mode.name)
end

-- The second best of known run time, to be named beside the best. One with runs, if the best has none.
local function runner_up(choices, best)
	local other
	for _, choice in ipairs(choices) do
		if choice ~= best and choice.run_s and (best.runs or choice.runs) and (not other or choice.run_s < other.run_s) then
			other = choice
		end
	end
	return other
end

local function why(best, nearest, choices, job)
	local other = runner_up(choices, best)
	if best ~= nearest then
		return string.format("%s; %s rebooted, about %.0f s each", run_times(best, nearest), count_nodes(best.reboots),
			best.boot_cost / best.reboots)
	elseif best.waits then
		return string.format("no mode has the idle nodes, %s in it", count_nodes(best.in_mode))
	elseif best.reboots > 0 then
		return string.format("no mode has the idle nodes, and it needs the fewest reboots: %.0f", best.reboots)
	elseif other and best.run_s and other.run_s > best.run_s then
		return run_times(best, other)
	end
	return string.format("%s idle in it", count_nodes(job.nodes))
end

-- `others` tells why this one of several modes with that memory.
local function memory_reason(used_mib, others)
	local rest = others and "; " .. others or ", which no other mode has"
	return string.format("earlier runs used %.0fM of a node%s", used_mib, rest)
end

-- Chooses one of `modes`, which has one at least, each of which could serve the job; and tells why.
--
--	job.nodes, job.tasks   the nodes of a task; the tasks of its array, 1 without one
--	job.may_reboot         nodes may be rebooted for it, now
--	job.view               of constraint.view(); idle, could, nodes and reboot_s by feature
--	job.history            of history.read(); by mode; used_mib for all
--	job.usable(mode)       MiB, nil: the site does not say
--	job.fits_dram          true: it fits in DRAM by what earlier runs used, else by what it asks for
function auto.choose(modes, job)
	local fitting = with_memory(modes, job.history.used_mib or 0, job.usable)
	local choices = {}
	for rank, mode in ipairs(fitting) do
		choices[rank] = judge(mode, rank, job)
	end
	expect(choices, job)
	local best, nearest = best_of(choices, job)
	if #modes == 1 then
		return best.mode, "no other mode can serve the job"
	elseif #fitting < #modes then
		return best.mode, memory_reason(job.history.used_mib, fitting[2] and why(best, nearest, choices, job))
	elseif not job.view.is_known then
		return best.mode, best.run_s and runner_up(choices, best) and run_times(best, runner_up(choices, best))
			or "it is the first of the modes that can serve the job"
	end
	return best.mode, why(best, nearest, choices, job)
end

return auto
