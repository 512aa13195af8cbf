-- SPDX-License-Identifier: Apache-2.0
-- Jobs that wait for nodes of their mode in place of a reboot, for pmem.lua. pm-controller decides
-- which jobs wait (controller/leases.h); here a job gets the note by which it may (lease_note.h), and
-- if too few nodes of its mode are idle, its first lease: the licence pm_wait (lease_licence.h).

local hold = {}

local NO_VAL16, NO_VAL = 0xfffe, 0xfffffffe
local NOTE = "pm_hold="
local LICENCE = "pm_wait:1"
local LEASES_HEAD = "^slurm%-pmem%-leases 1 ([0-9]+)\n(.*)"

-- The first is true while pm-controller keeps the licence from jobs: without it a job would start at
-- once, but Slurm refuses a licence that slurm.conf does not have. The second is true if slurmctld
-- wakes nodes that are off also for jobs for which none may change its mode.
local function read_leases(path)
	local file = io.open(path, "r")
	local text = file and file:read(100)
	if file then
		file:close()
	end
	local until_s, rest = string.match(text or "", LEASES_HEAD)
	until_s = tonumber(until_s)
	return until_s ~= nil and until_s > os.time(), rest == "wakes\n"
end

local function is_given(number, no_val)
	return number and number > 0 and number < no_val
end

-- Jobs that are never held: Slurm would refuse them, or cannot take the licence from them again.
local function is_exempt(job)
	return (job.reservation or "") ~= "" or (job.clusters or "") ~= ""
		or string.find(job.licenses or "", "|", 1, true) ~= nil
		or is_given(job.immediate, NO_VAL16) or (job.het_job_offset or NO_VAL) < NO_VAL
		or string.find(job.script or "", "\n# This job was submitted through scrontab\n", 1, true) ~= nil
end

-- Slurm would serve them later than without a lease.
local function is_delayed(job)
	return (job.req_nodes or "") ~= "" or (job.dependency or "") ~= ""
		or (job.begin_time or 0) > os.time() and job.begin_time < NO_VAL
end

-- The text of AdminComment with the note for this many minutes. Slurm lets no user change it later, nor
-- pmem.lua in a user's update, so a job keeps the note of its submission.
function hold.note(comment, minutes)
	local text = NOTE .. minutes
	return (comment or "") ~= "" and text .. "; " .. comment or text
end

-- The number of tasks in --array's text, "0-3,7,10-20:2%4"; 1 without it.
function hold.count_tasks(text)
	local count = 0
	for range in string.gmatch(string.match(text or "", "^[^%%]*"), "[^,]+") do
		local first, last, step = string.match(range, "^(%d+)%-?(%d*):?(%d*)$")
		first, last, step = tonumber(first), tonumber(last), tonumber(step) or 1
		if first then
			count = count + math.max(1, math.floor(((last or first) - first) / math.max(step, 1)) + 1)
		end
	end
	return math.max(count, 1)
end

-- The licences of a job that waits from its submission on; nil: it does not. Some jobs are `barred`
-- from causing a change of mode: where nodes wake for them they wait until pm-controller has looked.
-- Others wait if too few nodes of their mode are idle (`is_short`).
function hold.first_lease(job, run_dir, barred, is_short)
	local in_force, wakes = read_leases(run_dir .. "leases")
	if not in_force or is_exempt(job) then
		return nil
	elseif not (barred and wakes) and (not is_short or is_delayed(job)) then
		return nil
	end
	local others = job.licenses or ""
	return others ~= "" and others .. "," .. LICENCE or LICENCE
end

return hold
