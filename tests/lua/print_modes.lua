-- SPDX-License-Identifier: Apache-2.0
-- pmem.lua's modes, a line each: "memory pm_memory". Run from the project's top.
for _, mode in ipairs(dofile("controller/pmem.lua").modes) do
	print(mode.name .. " " .. mode.feature)
end
