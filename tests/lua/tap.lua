-- SPDX-License-Identifier: Apache-2.0
-- Checks of the tests under plain Lua 5.1, printed as TAP.

local tap = {}
local count, failed = 0, 0

function tap.check(label, got, wanted)
	count = count + 1
	local good = got == wanted
	failed = failed + (good and 0 or 1)
	print(string.format("%s %d - %s", good and "ok" or "not ok", count, label))
	if not good then
		print(string.format("# expected '%s', got '%s'", tostring(wanted), tostring(got)))
	end
end

-- Prints the number of checks and ends the program, with 1 if one has failed.
function tap.done()
	print("1.." .. count)
	os.exit(failed == 0 and 0 or 1)
end

return tap
