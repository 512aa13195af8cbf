-- SPDX-License-Identifier: Apache-2.0
-- Node lists, and the job's --nodelist. Slurm tests required nodes that must reboot against idle
-- nodes only: if one is busy, it refuses srun and salloc, and holds a batch job. A request that
-- excludes all other nodes means the same, and with it the job waits for busy nodes, on all
-- releases. So a job with --nodelist for all of its nodes gets this request instead; AdminComment
-- keeps the user's options.
--
--	local nodes = dofile("pmem_nodes.lua")
--	nodes.submit(job_desc, partitions, part_list, changes)       adds fields to the table `changes`
--	nodes.modify(job_desc, job_rec, partitions, part_list)       changes job_desc; false refuses
--
-- `partitions` are the names of the job's partitions; `part_list` is Slurm's table, by name. A job
-- with a list that cannot be read stays as it is. So does a job that gets its list by an update:
-- the change could not be recorded.

local nodes = {}

local NO_VAL16, NO_VAL = 0xfffe, 0xfffffffe
local SPREAD_JOB = 2 ^ 8 -- of slurm.h: the job takes as many nodes as it can
local MAX_DIGITS = 9
local MAX_LIST_BYTES = 60000 -- Slurm takes 64 KiB
local MAX_COMMENT_BYTES = 900 -- and 1 KiB

-- Sets of nodes ----------------------------------------------------------------------------------

-- A set of nodes has a list of ranges { low, high } for each pair of prefix and number of digits:
-- "n08" has ("n", 2); "n8" and "n10" have ("n", 0), in whichever range they were written. A name
-- without a number is a prefix with the number 0 and the digits -1.

local function add(set, prefix, digits, low, high)
	local key = prefix .. "\n" .. digits
	local own = set[key] or { prefix = prefix, digits = digits }
	own[#own + 1] = { low, high }
	set[key] = own
end

-- Numbers with `width` digits: those below 10^(width-1) begin with a zero.
local function add_range(set, prefix, low, high, width)
	local first = width > 1 and 10 ^ (width - 1) or 0
	if low < first then
		add(set, prefix, width, low, math.min(high, first - 1))
	end
	if high >= first then
		add(set, prefix, 0, math.max(low, first), high)
	end
end

local function parse_ranges(set, prefix, text)
	for range in string.gmatch(text .. ",", "([^,]*),") do
		local low, high = string.match(range, "^(%d+)%-?(%d*)$")
		local last = low and tonumber(high ~= "" and high or low)
		if not low or #low > MAX_DIGITS or #high > MAX_DIGITS or string.find(range, "%-$")
			or last < tonumber(low) then
			return false
		end
		add_range(set, prefix, tonumber(low), last, #low)
	end
	return true
end

local function parse_name(set, name)
	local prefix, number = string.match(name, "^(.-)(%d+)$")
	if not string.find(name, "^[%w._-]+$") then
		return false
	elseif number and #number <= MAX_DIGITS then
		add_range(set, prefix, tonumber(number), tonumber(number), #number)
	else
		add(set, name, -1, 0, 0)
	end
	return true
end

-- The ranges sorted, without overlaps.
local function join(ranges)
	table.sort(ranges, function(a, b) return a[1] < b[1] end)
	local joined = { prefix = ranges.prefix, digits = ranges.digits }
	for _, range in ipairs(ranges) do
		local last = joined[#joined]
		if last and range[1] <= last[2] + 1 then
			last[2] = math.max(last[2], range[2])
		else
			joined[#joined + 1] = { range[1], range[2] }
		end
	end
	return joined
end

local function joined(set)
	for key, ranges in pairs(set) do
		set[key] = join(ranges)
	end
	return set
end

local function parse(text)
	local set, at = {}, 1
	while at <= #text do
		local prefix, ranges, stop = string.match(text, "^([%w._-]+)%[([%d,-]+)%]()", at)
		if not prefix then
			prefix, stop = string.match(text, "^([^,]+)()", at)
		end
		local good = prefix and (ranges and parse_ranges(set, prefix, ranges) or not ranges
			and parse_name(set, prefix))
		if not good or not string.find(text, "^,[^,]", stop) and stop <= #text then
			return nil
		end
		at = stop + 1
	end
	return joined(set)
end

local cache, cached = {}, 0

-- The set of a list like "n[1-4,07],login"; nil if it cannot be read. Cached, as lists of
-- partitions are long and rarely change. So no function may change a set.
function nodes.parse(text)
	if cache[text] == nil then
		cache, cached = cached < 100 and cache or {}, cached < 100 and cached + 1 or 1
		cache[text] = parse(text) or false
	end
	return cache[text] or nil
end

function nodes.count(set)
	local sum = 0
	for _, ranges in pairs(set) do
		for _, range in ipairs(ranges) do
			sum = sum + range[2] - range[1] + 1
		end
	end
	return sum
end

function nodes.union(sets)
	local all = {}
	for _, set in ipairs(sets) do
		for _, ranges in pairs(set) do
			for _, range in ipairs(ranges) do
				add(all, ranges.prefix, ranges.digits, range[1], range[2])
			end
		end
	end
	return joined(all)
end

-- The index of the first of the sorted ranges that does not end below the number.
local function first_from(ranges, number)
	local low, high = 1, #ranges + 1
	while low < high do
		local middle = math.floor((low + high) / 2)
		if ranges[middle][2] < number then
			low = middle + 1
		else
			high = middle
		end
	end
	return low
end

-- Appends to `left` the parts of one range that are not in the sorted `others`. A range without
-- overlap stays the same table.
local function cut(left, range, others)
	local at, low = first_from(others, range[1]), range[1]
	while others[at] and others[at][1] <= range[2] do
		if others[at][1] > low then
			left[#left + 1] = { low, others[at][1] - 1 }
		end
		low = others[at][2] + 1
		at = at + 1
	end
	if low <= range[2] then
		left[#left + 1] = low == range[1] and range or { low, range[2] }
	end
end

function nodes.minus(set, other)
	local left = {}
	for key, ranges in pairs(set) do
		local rest = ranges
		if other[key] then
			rest = { prefix = ranges.prefix, digits = ranges.digits }
			for _, range in ipairs(ranges) do
				cut(rest, range, other[key])
			end
		end
		left[key] = rest[1] and rest or nil
	end
	return left
end

-- Cached in the range: each job needs the text of thousands of a partition's ranges.
local function word_of(range, digits)
	if not range.word then
		local form = "%0" .. math.max(digits, 1) .. ".0f"
		range.word = string.format(form, range[1])
		if range[2] > range[1] then
			range.word = range.word .. "-" .. string.format(form, range[2])
		end
	end
	return range.word
end

local function text_of(ranges)
	if ranges.digits < 0 then
		return ranges.prefix
	elseif not ranges[2] and ranges[1][1] == ranges[1][2] then
		return ranges.prefix .. word_of(ranges[1], ranges.digits)
	end
	local words = {}
	for i, range in ipairs(ranges) do
		words[i] = word_of(range, ranges.digits)
	end
	return ranges.prefix .. "[" .. table.concat(words, ",") .. "]"
end

-- As Slurm writes it; "" for no node.
function nodes.text(set)
	local words = {}
	for _, ranges in pairs(set) do
		words[#words + 1] = text_of(ranges)
	end
	table.sort(words)
	return table.concat(words, ",")
end

-- Whether a list names all that a job gets --------------------------------------------------------

local function given(number, no_val)
	return number and number > 0 and number < no_val and number or nil
end

-- Options by which a job may need more CPUs of a node than its tasks' number.
local SHAPE = { "threads_per_core", "ntasks_per_core", "ntasks_per_socket", "sockets_per_node",
	"cores_per_socket" }
local TRES = { "tres_per_job", "tres_per_socket", "tres_per_task" }

local function has_shape(job)
	for _, field in ipairs(SHAPE) do
		if given(job[field], NO_VAL16) then
			return true
		end
	end
	return given(job.min_mem_per_cpu, NO_VAL) ~= nil
end

-- The least CPUs of a node of the partitions; 1 if the nodes of one of them differ.
local function cpus_of_node(partitions, part_list)
	local least
	for _, name in ipairs(partitions) do
		local part = part_list[name]
		local share = (part.total_cpus or 0) / (part.total_nodes or 0)
		if share ~= math.floor(share) or share < 1 then
			return 1
		end
		share = math.min(share, given(part.max_cpus_per_node, NO_VAL) or share)
		least = math.min(least or share, share)
	end
	return least or 1
end

local function holds_cpus(job, count, partitions, part_list)
	local tasks = (given(job.num_tasks, NO_VAL) or 1) * (given(job.cpus_per_task, NO_VAL16) or 1)
	local cpus = math.max(given(job.min_cpus, NO_VAL) or 1, tasks)
	return cpus <= count
		or not has_shape(job) and cpus <= count * cpus_of_node(partitions, part_list)
end

-- True if Slurm may add nodes to the required ones: without a maximum it does as soon as these are
-- not enough.
local function may_add_nodes(job, count, partitions, part_list)
	for _, field in ipairs(TRES) do
		if job[field] then
			return true
		end
	end
	return math.floor((job.bitflags or 0) / SPREAD_JOB) % 2 == 1
		or not holds_cpus(job, count, partitions, part_list)
end

local function is_whole(job, count, partitions, part_list)
	local most = given(job.max_nodes, NO_VAL)
	if (given(job.min_nodes, NO_VAL) or 1) > count then
		return false
	elseif most then
		return most == count
	end
	return not may_add_nodes(job, count, partitions, part_list)
end

-- Excluding all others ----------------------------------------------------------------------------

local function have_all(partitions, part_list, wanted)
	for _, name in ipairs(partitions) do
		local set = part_list[name] and nodes.parse(part_list[name].nodes or "")
		if not set or next(nodes.minus(wanted, set)) then
			return false
		end
	end
	return #partitions > 0
end

local everything = {}

-- All nodes of the partitions that the user may use, not only of the job's: the job may be moved
-- later.
local function all_nodes(part_list)
	local texts, sets = {}, {}
	for _, part in pairs(part_list) do
		texts[#texts + 1] = part.nodes
	end
	local key = table.concat(texts, "\n")
	if everything.key ~= key then
		for _, text in ipairs(texts) do
			sets[#sets + 1] = nodes.parse(text)
		end
		everything = { key = key, set = nodes.union(sets) }
	end
	return everything.set
end

-- The list of nodes to exclude, and the number of nodes left; nil if the exclusion would not mean
-- the same as the job's request. The list of an arbitrary distribution names a node once for each
-- of its tasks, and stays.
local function exclude_others(job, partitions, part_list)
	local wanted, unwanted = nodes.parse(job.req_nodes), nodes.parse(job.exc_nodes or "")
	local count = wanted and nodes.count(wanted) or 0
	local _, commas = string.gsub(job.req_nodes, ",", "")
	if not wanted or not unwanted or commas >= count
		or not have_all(partitions, part_list, wanted)
		or nodes.count(nodes.minus(wanted, unwanted)) < count
		or not is_whole(job, count, partitions, part_list) then
		return nil
	end
	local others = nodes.minus(all_nodes(part_list), wanted)
	local text = nodes.text(next(unwanted) and nodes.union({ others, unwanted }) or others)
	return #text <= MAX_LIST_BYTES and text or nil, count
end

-- Submission and updates --------------------------------------------------------------------------

-- AdminComment stays with a job, can be read in updates, and only operators may write it. So it
-- holds the options of the submission, after the text of others; the job's owner cannot change it.
-- pm-controller appends the cause of a hold (controller/rejected_jobs.h).
local MARK = "pm: submitted with %-%-nodelist=([^ ]+) %-%-exclude=([^ ]*)$"

local function mark(comment, wanted, unwanted)
	local before = comment or ""
	local text = string.format("%s%spm: submitted with --nodelist=%s --exclude=%s", before,
		before ~= "" and "; " or "", wanted, unwanted or "")
	return #text <= MAX_COMMENT_BYTES and text or nil
end

local function submitted_with(job_rec)
	local comment = string.gsub(job_rec.admin_comment or "", "; pm: held, .*$", "")
	return string.match(comment, MARK)
end

function nodes.submit(job_desc, partitions, part_list, changes)
	local wanted, unwanted = job_desc.req_nodes or "", job_desc.exc_nodes
	local others, count
	if wanted ~= "" then
		others, count = exclude_others(job_desc, partitions, part_list)
	end
	local comment = others and mark(job_desc.admin_comment, wanted, unwanted)
	if comment then
		changes.req_nodes, changes.exc_nodes, changes.admin_comment = "", others, comment
		changes.min_nodes, changes.max_nodes = count, count
	end
end

local function changes_count(job_desc, job_rec)
	local least, most = given(job_desc.min_nodes, NO_VAL), given(job_desc.max_nodes, NO_VAL)
	return (least or job_rec.min_nodes) ~= job_rec.min_nodes
		or (most or job_rec.max_nodes) ~= job_rec.max_nodes
end

local function is_pending(job_rec)
	return (job_rec.job_state or 0) % 256 == 0 -- above are flags
end

-- True if the update concerns the nodes of a rewritten job. A running job may give up nodes.
function nodes.concerns(job_desc, job_rec)
	return submitted_with(job_rec) ~= nil and is_pending(job_rec)
		and (job_desc.req_nodes ~= nil or job_desc.exc_nodes ~= nil or job_desc.partition ~= nil
			or changes_count(job_desc, job_rec))
end

-- True if the list of the submission still holds in an update without a new one. A list that was
-- changed since is not known, as Slurm does not show it.
local function keeps_list(job_desc, job_rec, partitions, part_list)
	local wanted = nodes.parse((submitted_with(job_rec)))
	return not job_desc.exc_nodes and not changes_count(job_desc, job_rec) and wanted
		and have_all(partitions, part_list, wanted)
end

-- Slurm takes "" from Lua for "unchanged", so only the update itself can empty the list.
local function set_excluded(job_desc, list)
	if list ~= "" then
		job_desc.exc_nodes = list
	end
	return list ~= "" or job_desc.exc_nodes == ""
end

-- Sets the job's nodes as the update requests; counts that the update does not have follow from the
-- list. False for an update that would lose the nodes that the job requires.
function nodes.modify(job_desc, job_rec, partitions, part_list)
	if not nodes.concerns(job_desc, job_rec) then
		return true
	elseif not job_desc.req_nodes then
		return keeps_list(job_desc, job_rec, partitions, part_list)
	end
	local least = given(job_desc.min_nodes, NO_VAL)
	local most = given(job_desc.max_nodes, NO_VAL) or least
	local others, count = exclude_others({
		req_nodes = job_desc.req_nodes, exc_nodes = job_desc.exc_nodes, min_nodes = least,
		max_nodes = most, num_tasks = job_desc.num_tasks,
		min_cpus = given(job_desc.min_cpus, NO_VAL) or job_rec.min_cpus,
	}, partitions, part_list)
	local _, unwanted = submitted_with(job_rec)
	if others then
		job_desc.req_nodes, job_desc.min_nodes, job_desc.max_nodes = "", count, count
	elseif most then
		job_desc.max_nodes = most -- the count of the old list may be below the new minimum
	end
	return set_excluded(job_desc, others or job_desc.exc_nodes or unwanted)
end

return nodes
