-- SPDX-License-Identifier: Apache-2.0
-- The users of the groups that pmem.conf names, for pmem.lua: slurmctld's locks are held, so no
-- directory service is asked here. pm-controller asks and writes the file (controller/groups_file.h):
--
--	slurm-pmem-groups 1
--	physics alice bob
--
--	local is_member = groups.load("/run/slurm-pmem-controller/groups")
--	is_member("physics", "alice")

local groups = {}

local MAX_FILE_BYTES = 4 * 1024 * 1024
local cache = {}

local function is_whole(text)
	return string.find(text, "^slurm%-pmem%-groups 1\n") ~= nil and string.sub(text, -1) == "\n"
end

local function parse(text)
	local members = {}
	if not string.find(text, "^slurm%-pmem%-groups 1\n") then
		return members
	end
	for line in string.gmatch(text, "\n([^\n]+)") do
		local name, users = string.match(line, "^(%S+)(.*)$")
		members[name or ""] = (users or "") .. " "
	end
	return members
end

-- A function that tells whether a user is in a group. Without the file no group has any user; a file
-- that pm-controller no longer updates is still used. If it is torn, what it had before counts until
-- pm-controller writes it again, within a minute.
function groups.load(path)
	local stream = io.open(path, "rb")
	local text = stream and stream:read(MAX_FILE_BYTES) or ""
	if stream then
		stream:close()
	end
	local is_torn = stream and not is_whole(text)
	if cache.text ~= text and not (is_torn and cache.is_whole) then
		cache = { text = text, members = parse(text), is_whole = is_whole(text) }
	end
	local members = cache.members
	return function(group, user)
		return user ~= "" and string.find(members[group] or "", " " .. user .. " ", 1, true) ~= nil
	end
end

return groups
