-- SPDX-License-Identifier: Apache-2.0
-- The choices of controller/pmem_auto.lua for submissions on stdin, a line each, for auto_regret.py; from
-- the project's top:
--
--	lua5.1 tests/economy/auto_choose.lua DIR
--	NUMBER NODES TASKS REBOOT_S ASKED_MIB DRAM_MIB MODE,SIZE_MIB,IDLE,REBOOTABLE,IN_MODE ...
--
-- DIR has history-NUMBER, as pm-controller writes it, of the key KEY, and history-site. Modes that the job
-- may not have are left out. Prints the mode and the reason, a line each.

local auto = dofile("controller/pmem_auto.lua")
local history = dofile("controller/pmem_history.lua")
local dir = assert(arg[1], "a directory with histories") .. "/"
local KEY = "0123456789abcdef"
local site = history.read_site(dir)

for line in io.lines() do
	local number, nodes, tasks, reboot_s, asked, dram, rest =
		string.match(line, "^(%d+) (%d+) (%d+) (%d+) (%d+) (%d+) (.*)$")
	local function fits(need)
		return need > 0 and need <= tonumber(dram)
	end
	local modes, sizes, past = {}, {}, history.read(dir, tonumber(number), KEY)
	local view = { is_known = true, idle = {}, could = {}, nodes = {}, reboot_s = {} }
	for name, size, idle, could, in_mode in string.gmatch(rest, "(%a+),(%d+),(%d+),(%d+),(%d+)") do
		local feature = "pm_" .. name
		modes[#modes + 1] = { name = name, feature = feature }
		sizes[name] = tonumber(size)
		view.idle[feature], view.could[feature] = tonumber(idle), tonumber(could)
		view.nodes[feature], view.reboot_s[feature] = tonumber(in_mode), tonumber(reboot_s)
	end
	local mode, why = auto.choose(modes, { nodes = tonumber(nodes), tasks = tonumber(tasks), may_reboot = true,
		view = view,
		history = past, site = site, knows_memory = (past.used_mib or tonumber(asked)) > 0,
		fits_dram = fits(past.used_mib or tonumber(asked)), usable = function(of) return sizes[of.name] end })
	print(mode.name .. "\t" .. why)
end
