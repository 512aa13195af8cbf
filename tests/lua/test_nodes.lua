-- SPDX-License-Identifier: Apache-2.0
-- Lists of nodes, which jobs' --nodelist is turned into an exclusion of all others, and what updates
-- of such jobs do, under plain Lua 5.1; prints TAP. Run from the project's top.

local nodes = dofile("controller/pmem_nodes.lua")

local tap = dofile("tests/lua/tap.lua")
local check = tap.check

-- list, how many nodes it has, how it is written; nothing for what cannot be read
local lists = {
	{ "", 0, "" },
	{ "n1", 1, "n1" },
	{ "login", 1, "login" },
	{ "n[1-4]", 4, "n[1-4]" },
	{ "n1,n2,n3,n2", 3, "n[1-3]" },
	{ "n[1-3,7],n[4-6]", 7, "n[1-7]" },
	{ "n[8-12]", 5, "n[8-12]" },
	{ "n[08-12]", 5, "n[08-09],n[10-12]" },
	{ "n8,n08,n008", 3, "n008,n08,n8" },
	{ "a,b,n[1-2,4]", 5, "a,b,n[1-2,4]" },
	{ "r0n[1-3],r1n2", 4, "r0n[1-3],r1n2" },
	{ "n1-ib,n2-ib", 2, "n1-ib,n2-ib" },
	{ "n[0-9]", 10, "n[0-9]" },
	{ "n123456789", 1, "n123456789" },
	{ "n1234567890", 1, "n1234567890" },
	{ "n[1-2]-ib" }, { "n[1-2]m[1-2]" }, { "n[3-1]" }, { "n[1-]" }, { "n[]" }, { "n[1" }, { "n1]" }, { "n1,," },
	{ "n1," }, { ",n1" }, { "n1 n2" }, { "n[1;2]" }, { "n[1234567890]" }, { "n%d" }, { "\n" },
}
for _, row in ipairs(lists) do
	local set = nodes.parse(row[1])
	check("read '" .. row[1] .. "'", set and nodes.count(set), row[2])
	check("write '" .. row[1] .. "'", set and nodes.text(set), row[3])
end

-- list, less this, leaves
local differences = {
	{ "n[1-10]", "n5", "n[1-4,6-10]" },
	{ "n[1-10]", "n[1-3],n5,n[7-8]", "n[4,6,9-10]" },
	{ "n[1-3,5-8]", "n[2-6]", "n[1,7-8]" },
	{ "n[01-12]", "n10,n01", "n[02-09],n[11-12]" },
	{ "n[01-12]", "n1", "n[01-09],n[10-12]" },
	{ "a,b,n1", "b,n1", "a" },
	{ "n[1-4]", "n[1-4]", "" },
	{ "n[1-4]", "m[1-4]", "n[1-4]" },
	{ "n[0001-9999],n10000", "n0001,n5000,n9999", "n[0002-0999],n[1000-4999,5001-9998,10000]" },
}
for _, row in ipairs(differences) do
	local left = nodes.minus(nodes.parse(row[1]), nodes.parse(row[2]))
	check(row[1] .. " less " .. row[2], nodes.text(left), row[3])
end

local NO_VAL16, NO_VAL = 65534, 4294967294
local PARTS = {
	main = { nodes = "n[1-4]", total_nodes = 4, total_cpus = 8, max_cpus_per_node = 4294967295 },
	mixed = { nodes = "n[1-4]", total_nodes = 4, total_cpus = 9 },
	small = { nodes = "n[1-4]", total_nodes = 4, total_cpus = 8, max_cpus_per_node = 1 },
	far = { nodes = "m[1-2]", total_nodes = 2, total_cpus = 4 },
	odd = { nodes = "n[1-2]-ib", total_nodes = 2, total_cpus = 4 },
}

-- A job as Slurm hands it over, unset numbers being NO_VAL.
local function job(fields)
	local desc = { min_nodes = NO_VAL, max_nodes = NO_VAL, num_tasks = NO_VAL, cpus_per_task = NO_VAL16,
		min_cpus = 1, threads_per_core = NO_VAL16, ntasks_per_core = NO_VAL16, bitflags = 503316480 }
	for name, value in pairs(fields) do
		desc[name] = value
	end
	return desc
end

local function describe(fields)
	local words = {}
	for name, value in pairs(fields) do
		words[#words + 1] = name .. "=" .. tostring(value)
	end
	table.sort(words)
	return table.concat(words, " ")
end

-- partitions, the job, which nodes it then excludes; nothing where it stays as it is
local submissions = {
	{ "main", { req_nodes = "n1", min_nodes = 1 }, "m[1-2],n[2-4]" },
	{ "main", { req_nodes = "n1", min_nodes = 1, max_nodes = 1, min_cpus = 9 }, "m[1-2],n[2-4]" },
	{ "main", { req_nodes = "n[1-2]", min_nodes = 2 }, "m[1-2],n[3-4]" },
	{ "main", { req_nodes = "n2,n1", min_nodes = 2 }, "m[1-2],n[3-4]" },
	{ "main", { req_nodes = "n[1-4]", min_nodes = 4 }, "m[1-2]" },
	{ "main", { req_nodes = "n[1-2]", min_nodes = 1, max_nodes = 2 }, "m[1-2],n[3-4]" },
	{ "main", { req_nodes = "n1", exc_nodes = "n2,x9" }, "m[1-2],n[2-4],x9" },
	{ "main,mixed", { req_nodes = "n1", min_nodes = 1 }, "m[1-2],n[2-4]" },
	{ "main", { req_nodes = "n1", num_tasks = 2, min_cpus = 2 }, "m[1-2],n[2-4]" },
	{ "main", { req_nodes = "n1", num_tasks = 3, min_cpus = 3 } },
	{ "main", { req_nodes = "n1", num_tasks = 2, min_cpus = 4, cpus_per_task = 2 } },
	{ "main", { req_nodes = "n1", num_tasks = 2, min_cpus = 2, threads_per_core = 1 } },
	{ "main", { req_nodes = "n1", num_tasks = 2, min_cpus = 2, min_mem_per_cpu = 100 } },
	{ "small", { req_nodes = "n1", num_tasks = 2, min_cpus = 2 } },
	{ "mixed", { req_nodes = "n1", num_tasks = 2, min_cpus = 2 } },
	{ "mixed", { req_nodes = "n[1-2]", num_tasks = 2, min_cpus = 2 }, "m[1-2],n[3-4]" },
	{ "main,mixed", { req_nodes = "n1", num_tasks = 2, min_cpus = 2 } },
	{ "main", { req_nodes = "n1", min_nodes = 2, max_nodes = 2 } },
	{ "main", { req_nodes = "n1", min_nodes = 1, max_nodes = 2 } },
	{ "main", { req_nodes = "n[1-2]", min_nodes = 1, max_nodes = 1 } },
	{ "main", { req_nodes = "n1", bitflags = 503316736 } },
	{ "main", { req_nodes = "n1", tres_per_job = "gres:gpu:4" } },
	{ "main", { req_nodes = "n1,n1", min_nodes = 1, num_tasks = 2 } },
	{ "main", { req_nodes = "n9" } }, { "main", { req_nodes = "m1" } }, { "main,far", { req_nodes = "m1" } },
	{ "odd", { req_nodes = "n1-ib" } }, { "nowhere", { req_nodes = "n1" } }, { "", { req_nodes = "n1" } },
	{ "main", { req_nodes = "n1", exc_nodes = "n1" } }, { "main", { req_nodes = "n1", exc_nodes = "[" } },
	{ "main", { req_nodes = "n[1-" } }, { "main", { req_nodes = "" } }, { "main", {} },
	{ "main", { req_nodes = "n1", admin_comment = string.rep("x", 900) } },
}

local function names(text)
	local list = {}
	for name in string.gmatch(text, "[^,]+") do
		list[#list + 1] = name
	end
	return list
end

for _, row in ipairs(submissions) do
	local label, changes = row[1] .. ": " .. describe(row[2]), {}
	nodes.submit(job(row[2]), names(row[1]), PARTS, changes)
	check(label, changes.exc_nodes, row[3])
	if row[3] then
		local number = nodes.count(nodes.parse(row[2].req_nodes))
		check(label .. ": required", changes.req_nodes, "")
		check(label .. ": least", changes.min_nodes, number)
		check(label .. ": most", changes.max_nodes, number)
	else
		check(label .. ": untouched", next(changes), nil)
	end
end

local MARKED = "by the site; pm: submitted with --nodelist=n1 --exclude=n4"

local UNEXCLUDED = "pm: submitted with --nodelist=n1 --exclude="

local HELD = MARKED .. "; pm: held, as nodes have turned it away (n1: full)"

-- AdminComment, state, the update, then the lists in it; false for a refusal
local updates = {
	{ MARKED, 0, { req_nodes = "n2" }, { "", "m[1-2],n[1,3-4]", 1 } },
	{ HELD, 0, { req_nodes = "n2" }, { "", "m[1-2],n[1,3-4]", 1 } },
	{ MARKED, 0, { req_nodes = "n[2-3]", exc_nodes = "n4" }, { "", "m[1-2],n[1,4]", 2 } },
	{ MARKED, 0, { req_nodes = "n2", min_nodes = 2 }, { "n2", "n4", 2 } },
	{ MARKED, 0, { req_nodes = "n2", exc_nodes = "n3", min_nodes = 2 }, { "n2", "n3", 2 } },
	{ MARKED, 0, { req_nodes = "" }, { "", "n4", NO_VAL } },
	{ MARKED, 0, { req_nodes = "", exc_nodes = "" }, { "", "", NO_VAL } },
	{ UNEXCLUDED, 0, { req_nodes = "" }, false },
	{ UNEXCLUDED, 0, { req_nodes = "n1", min_nodes = 2 }, false },
	{ UNEXCLUDED, 0, { req_nodes = "n1", exc_nodes = "", min_nodes = 2 }, { "n1", "", 2 } },
	{ MARKED, 0, { exc_nodes = "" }, false },
	{ MARKED, 0, { exc_nodes = "n3" }, false },
	{ MARKED, 0, { min_nodes = 2 }, false },
	{ MARKED, 0, { max_nodes = 2, partition = "main" }, false },
	{ MARKED, 0, { partition = "far" }, false },
	{ MARKED, 0, { partition = "main" }, {} },
	{ MARKED, 0, { min_nodes = 1 }, { nil, nil, 1 } },
	{ MARKED, 1, { req_nodes = "n1", min_nodes = 2 }, { "n1", nil, 2 } },
	{ MARKED, 1, { min_nodes = 2 }, { nil, nil, 2 } },
	{ nil, 0, { req_nodes = "n2" }, { "n2" } },
	{ "by the site", 0, { exc_nodes = "" }, { nil, "" } },
	{ MARKED .. " or so", 0, { exc_nodes = "" }, { nil, "" } },
}
for _, row in ipairs(updates) do
	local desc = job(row[3])
	local rec = { admin_comment = row[1], job_state = row[2], min_nodes = 1, max_nodes = 1, min_cpus = 1 }
	local label = tostring(row[1]) .. ", state " .. row[2] .. ": " .. describe(row[3])
	local good = nodes.modify(desc, rec, { row[3].partition or "main" }, PARTS)
	check(label, good and true or false, row[4] and true)
	if row[4] then
		check(label .. ": required", desc.req_nodes, row[4][1])
		check(label .. ": excluded", desc.exc_nodes, row[4][2])
		check(label .. ": least", desc.min_nodes, row[4][3] or NO_VAL)
	end
end

tap.done()
