-- SPDX-License-Identifier: Apache-2.0
-- The choice of --pm-mode=auto, for pmem.lua: of the modes that a job may have, the one that costs the
-- least. The cost of a mode is the run time there and the reboots that it needs first, both in
-- node-seconds. A run time is known of earlier runs of the same job (pmem_history.lua). For a mode in which
-- the job has not run it is taken from another mode, by the jobs of the site that ran in both; a job that
-- has never run is expected to be as others of the site, and to outgrow a mode's memory as often. Where
-- run times cannot be compared the fewest reboots decide.

local auto = {}

-- Seconds of a reboot into a mode that pm-controller has not measured yet: large servers take this long
-- to train their memory and boot.
auto.REBOOT_S = 600

-- The run time of a job that fits in DRAM where DRAM is a cache, against where it is main memory: CASTEP
-- took 1.06 and 1.10 times as long (Weiland et al., SC 2019), as a cache of one way also misses.
auto.CACHED = 1.10
local IS_CACHED = { memory = true, mixed = true }

-- CACHED counts as this many jobs of the site that ran in both modes; and with fewer jobs in all, nothing
-- is expected of one that has never run.
auto.FEW_JOBS = 20

-- The share of its run after which a job ends that outgrows a mode's memory.
local OUTGROWN_AFTER = 0.5

-- The candidates that have the memory which earlier runs used on a node; all if none has it, or if no
-- run is known. `usable` gives the MiB of a mode, nil where the site has no value.
local function with_memory(modes, used_mib, usable)
	local good = {}
	for _, mode in ipairs(modes) do
		good[#good + 1] = (usable(mode) or math.huge) > used_mib and mode or nil
	end
	return good[1] and good or modes
end

local function sum(counts)
	local all = 0
	for _, count in pairs(counts) do
		all = all + count
	end
	return all
end

-- Slurm reboots idle nodes for each task of an array. Tasks that are left get nodes that come free: first
-- those of the mode, as far as there are any, then others, which reboot, too. A job that waits gets all of its
-- nodes so.
local function count_reboots(job, waits, idle, could, in_mode)
	local all = math.min(job.nodes * job.tasks, math.max(job.nodes, sum(job.view.nodes)))
	local short = math.max(all - idle, 0)
	local now = waits and 0 or math.min(short, could)
	local later = job.may_reboot and math.max(short - now - (in_mode - idle), 0) or 0
	return now + later
end

-- The properties of a mode by which it is compared with others:
--
--	idle       idle nodes in it
--	waits      true: too few nodes are idle, or may be rebooted, to start now
--	reboots    nodes that reboot before the start
--	boot_cost  node-seconds of these reboots
--	run_s      median seconds of earlier runs, or expected ones; nil: not known
--	runs       the number of these runs; nil: run_s is expected
--	by_jobs    run_s is expected by this many jobs of the site that ran in both modes
--	outgrown   the share of the site's jobs that use more memory than it has, if the job's use is not known
--	cached     DRAM is a cache in it
local function judge(mode, rank, job)
	local view, feature = job.view, mode.feature
	local idle = view.idle[feature] or 0
	local could = job.may_reboot and view.could[feature] or 0
	local waits = idle + could < job.nodes
	local in_mode = view.nodes[feature] or 0
	local reboots = count_reboots(job, waits, idle, could, in_mode)
	local past = job.history[mode.name]
	return { mode = mode, rank = rank, idle = idle, in_mode = in_mode, waits = waits, reboots = reboots,
		boot_cost = reboots * (view.reboot_s[feature] or auto.REBOOT_S), run_s = past and past.run_s,
		runs = past and past.runs, cached = IS_CACHED[mode.name] or false, outgrown = 0 }
end

-- The run time in mode `to` by that in `from`, and the number of the site's jobs that tell it.
local function ratio(site, from, to)
	local cached = (IS_CACHED[to] and auto.CACHED or 1) / (IS_CACHED[from] and auto.CACHED or 1)
	local learnt = site.ratio[from .. " " .. to] or { jobs = 0, ratio = 1 }
	local logs = auto.FEW_JOBS * math.log(cached) + learnt.jobs * math.log(learnt.ratio)
	return math.exp(logs / (auto.FEW_JOBS + learnt.jobs)), learnt.jobs
end

-- The modes in which the job has run: their names, and the runs.
local function modes_of(history)
	local list = {}
	for name, past in pairs(history) do
		list[#list + 1] = name ~= "used_mib" and { name = name, past = past } or nil
	end
	return list
end

-- Fills in the run time by the modes in which the job has run: the geometric mean, by their runs. A
-- job that does not fit in DRAM, or may not, is compared only where jobs of the site tell how.
local function expect_by_runs(choice, job)
	local runs, logs, by_jobs = 0, 0, 0
	for _, one in ipairs(modes_of(job.history)) do
		local by, jobs = ratio(job.site, one.name, choice.mode.name)
		if jobs > 0 or job.fits_dram then
			runs, logs = runs + one.past.runs, logs + one.past.runs * math.log(one.past.run_s * by)
			by_jobs = math.max(by_jobs, jobs)
		end
	end
	if runs > 0 then
		choice.run_s, choice.by_jobs = math.exp(logs / runs), by_jobs
	end
end

-- Fills in the run time of a job that has never run: that of the site's jobs, which are taken to have run
-- in the mode with the most nodes.
local function expect_by_site(choice, home, site)
	choice.run_s = site.run_s * ratio(site, home.mode.name, choice.mode.name)
end

local function with_most_nodes(choices)
	local most = choices[1]
	for _, choice in ipairs(choices) do
		most = choice.in_mode > most.in_mode and choice or most
	end
	return most
end

-- The share of the site's jobs that use as much memory.
local function share_that_uses(site, mib)
	local count = 0
	for _, used_mib in ipairs(site.used) do
		count = count + (used_mib >= mib and 1 or 0)
	end
	return #site.used > 0 and count / #site.used or 0
end

-- Fills in what is expected.
local function expect(choices, job)
	local site, home = job.site, with_most_nodes(choices)
	local is_new = #modes_of(job.history) == 0 and site.jobs >= auto.FEW_JOBS
	for _, choice in ipairs(choices) do
		if is_new then
			expect_by_site(choice, home, site)
		elseif not choice.run_s then
			expect_by_runs(choice, job)
		end
		if is_new and not job.knows_memory then
			choice.outgrown = share_that_uses(site, job.usable(choice.mode) or math.huge)
		end
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

-- Node-seconds. A job that outgrows the mode has reboots of its own again, for its next run.
local function total(choice, job)
	local run_cost = choice.run_s * job.nodes * job.tasks
	return run_cost + choice.boot_cost + choice.outgrown * (run_cost * OUTGROWN_AFTER + choice.boot_cost)
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

-- "as they fit in DRAM", "by jobs that ran in both, 12".
local function expected_why(choice)
	if choice.by_jobs == 0 then
		return "as they fit in DRAM"
	end
	return string.format("by jobs that ran in both, %.0f", choice.by_jobs)
end

-- "its runs take 310 s, the median of 4, and 520 s in memory". pmctl explain puts it into parentheses.
local function run_times(best, other)
	if not best.runs then
		return string.format("its runs take %.0f s in %s, and are expected to take %.0f s, %s", other.run_s,
			other.mode.name, best.run_s, expected_why(best))
	elseif not other.runs then
		return string.format("its runs take %.0f s, the median of %.0f, and are expected to take %.0f s in %s", best.run_s,
			best.runs, other.run_s, other.mode.name)
	end
	return string.format("its runs take %.0f s, the median of %.0f, and %.0f s in %s", best.run_s, best.runs, other.run_s,
		other.mode.name)
end

-- Of a job that has run in none of the modes that it may have.
local function expected_times(best, nearest)
	return string.format("by its runs in other modes it is expected to take %.0f s in it and %.0f s in %s", best.run_s,
		nearest.run_s, nearest.mode.name)
end

-- Why a job that has never run gets this mode in place of the nearest.
local function site_reason(best, nearest, job)
	if nearest.outgrown > best.outgrown then
		return string.format("of the jobs here %.0f %% use more memory than %s has", 100 * nearest.outgrown,
			nearest.mode.name)
	end
	return string.format("jobs here take %.0f s, the median of %.0f, and are expected to take %.0f s in it and %.0f s "
		.. "in %s", job.site.run_s, job.site.jobs, best.run_s, nearest.run_s, nearest.mode.name)
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

-- "1 node is rebooted, about 600 s each", "2 nodes are idle in it".
local function start_of(choice, job)
	if choice.reboots == 0 and choice.waits then
		return string.format("no mode has the idle nodes, %s in it", count_nodes(choice.in_mode))
	elseif choice.reboots == 0 then
		return string.format("%s idle in it", count_nodes(job.nodes))
	end
	return string.format("%s rebooted, about %.0f s each", count_nodes(choice.reboots), choice.boot_cost / choice.reboots)
end

-- The run times by which the best differs from the nearest, or from the others; nil: by none.
local function compared(best, nearest, choices, job)
	local other = best ~= nearest and nearest or runner_up(choices, best)
	if not other or not best.run_s or (best == nearest and other.run_s <= best.run_s) then
		return nil
	elseif best.runs or other.runs then
		return run_times(best, other)
	end
	return best.by_jobs and expected_times(best, other) or site_reason(best, other, job)
end

local function why(best, nearest, choices, job)
	if best ~= nearest then
		return compared(best, nearest, choices, job) .. "; " .. start_of(best, job)
	elseif best.waits then
		return string.format("no mode has the idle nodes, %s in it", count_nodes(best.in_mode))
	elseif best.reboots > 0 then
		return string.format("no mode has the idle nodes, and it needs the fewest reboots: %.0f", best.reboots)
	end
	return compared(best, nearest, choices, job) or string.format("%s idle in it", count_nodes(job.nodes))
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
--	job.site               of history.read_site()
--	job.knows_memory       true: by what earlier runs used, or by what it asks for
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
		return best.mode, compared(best, nearest, choices, job) or "it is the first of the modes that can serve the job"
	end
	return best.mode, why(best, nearest, choices, job)
end

return auto
