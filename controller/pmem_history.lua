-- SPDX-License-Identifier: Apache-2.0
-- How earlier runs of a job fared in each mode, for pmem.lua. A job is the same if its user, name, script
-- and shape (nodes, tasks, CPUs) are. pmem.lua notes a digest of these in AdminComment, by which
-- pm-controller knows the job when it ends (controller/history.h); users cannot change that field.

local history = {}

local NOTE = "pm_same="
local HEAD = "slurm-pmem-history 1"
local SITE_HEAD = "slurm-pmem-site-history 1"
local NO_VAL16, NO_VAL = 0xfffe, 0xfffffffe

-- The part of a script that counts, beside its length: a loop over more would cost slurmctld a millisecond.
local SCRIPT_BYTES = 8192

-- 16 hexadecimal digits: two remainders of a polynomial in words of three bytes, by which texts of one
-- user are told apart. Products stay below 2^53, as numbers are doubles up to Lua 5.2.
local function digest(text)
	local byte, one, two = string.byte, #text, #text
	for at = 1, #text, 3 do
		local a, b, c = byte(text, at, at + 2)
		local word = a * 65536 + (b or 0) * 256 + (c or 0)
		one = (one * 1000003 + word) % 2147483647
		two = (two * 611953 + word) % 2147483629
	end
	return string.format("%08x%08x", one, two)
end

local function given(number, no_val)
	return number and number > 0 and number < no_val and number or nil
end

-- The digest of a job with a script; nil: it has none, as srun and salloc.
function history.key(job)
	local script = job.script or ""
	if script == "" then
		return nil
	end
	local nodes = given(job.min_nodes, NO_VAL) or 1
	local shape = string.format("%.0f %.0f %.0f %.0f", nodes, given(job.num_tasks, NO_VAL) or nodes,
		given(job.ntasks_per_node, NO_VAL16) or 0, given(job.cpus_per_task, NO_VAL16) or 1)
	return digest(table.concat({ job.name or "", shape, tostring(#script), string.sub(script, 1, SCRIPT_BYTES) }, "\n"))
end

-- The text of AdminComment with the note.
function history.note(comment, key)
	return (comment or "") ~= "" and NOTE .. key .. "; " .. comment or NOTE .. key
end

local function read_file(path)
	local file = io.open(path, "r")
	local text = file and file:read("*a")
	if file then
		file:close()
	end
	return text or ""
end

-- The earlier runs of the key: by mode a table of `runs` and their median `run_s`; used_mib is the
-- memory that the next one is expected to need on a node (controller/history_table.h). Empty if none is
-- known, or the file has another form.
function history.read(run_dir, uid, key)
	local found = {}
	local text = key and read_file(string.format("%shistory-%.0f", run_dir, uid)) or ""
	if string.match(text, "^[^\n]*") ~= HEAD then
		return found
	end
	for mode, runs, run_s, used_mib in string.gmatch(text,
		"\n" .. key .. " (%a+) ([0-9]+) ([0-9]+) ([0-9]+)") do
		found.used_mib = math.max(found.used_mib or 0, tonumber(used_mib))
		if tonumber(runs) > 0 then
			found[mode] = { runs = tonumber(runs), run_s = tonumber(run_s) }
		end
	end
	return found
end

-- How the jobs of all users fared, as controller/history_site.h has it: `jobs` that have run, and their
-- median `run_s`; `used`, MiB of 32 equal parts of the jobs; `ratio` by "MODE OTHER", with `jobs` and
-- `ratio`. With no job and empty lists if none is known, or the file has another form.
function history.read_site(run_dir)
	local site = { jobs = 0, run_s = 0, used = {}, ratio = {} }
	local text = read_file(run_dir .. "history-site")
	if string.match(text, "^[^\n]*") ~= SITE_HEAD then
		return site
	end
	local jobs, run_s = string.match(text, "\njobs ([0-9]+) ([0-9]+)\n")
	if jobs then
		site.jobs, site.run_s = tonumber(jobs), tonumber(run_s)
	end
	for mib in string.gmatch(string.match(text, "\nused [0-9]+( [0-9 ]+)\n") or "", "[0-9]+") do
		site.used[#site.used + 1] = tonumber(mib)
	end
	for pair, both, thousandths in string.gmatch(text, "\nratio (%a+ %a+) ([0-9]+) ([1-9][0-9]*)") do
		site.ratio[pair] = { jobs = tonumber(both), ratio = tonumber(thousandths) / 1000 }
	end
	return site
end

return history
