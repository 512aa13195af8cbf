-- SPDX-License-Identifier: Apache-2.0
-- How the controller reads the constraints on stdin, a line each, as print_constraints.c says; with an
-- argument also, after tabs, how each reads with pm_memory in it on 22.05 and on 24.11. Run from the
-- project's top.
local constraint = dofile("controller/pmem_constraint.lua")

local FEATURES = { "pm_memory", "pm_appdirect", "pm_mixed" }
local LETTERS = { "m", "a", "x" }

local function modes(tree)
	local text = ""
	for i, feature in ipairs(FEATURES) do
		text = text .. (constraint.allows(tree, feature) and LETTERS[i] or "")
	end
	return text .. (constraint.allows(tree, nil) and "-" or "") .. (tree.ours[1] and " pm" or "")
end

local function with(tree, version)
	if not constraint.allows(tree, "pm_memory") then
		return "no"
	end
	local text, fault = constraint.with(tree, "pm_memory", version)
	return text or "refused at " .. fault.at
end

for line in io.lines() do
	local tree, fault = constraint.read(line)
	if not tree then
		print(constraint.explain(line, fault))
	elseif arg[1] then
		print(modes(tree) .. "\t" .. with(tree, 22.05) .. "\t" .. with(tree, 24.11))
	else
		print(modes(tree))
	end
end
