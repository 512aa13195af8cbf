-- SPDX-License-Identifier: Apache-2.0
-- The table of submissions as JSON, a row a line: [site's text, job, what must come of it].
-- Run from the project's top: lua5.1 print_submissions.lua
local submissions = dofile("tests/lua/submissions.lua")

local ESCAPES = { ["\\"] = "\\\\", ['"'] = '\\"', ["\n"] = "\\n" }

local function json(value)
	if type(value) == "string" then
		return '"' .. string.gsub(value, '[\\"\n]', ESCAPES) .. '"'
	elseif type(value) ~= "table" then
		return tostring(value)
	end
	local words = {}
	for key, item in pairs(value) do
		words[#words + 1] = json(key) .. ": " .. json(item)
	end
	return "{" .. table.concat(words, ", ") .. "}"
end

for _, row in ipairs(submissions.served) do
	print("[" .. json(submissions.sites[row[1]]) .. ", " .. json(row[2]) .. ", " .. json(row[3]) .. "]")
end
