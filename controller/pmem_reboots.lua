-- SPDX-License-Identifier: Apache-2.0
-- For which jobs Slurm may reboot nodes, for pmem.lua. Slurm reboots no node for a job before its time
-- of submission plus DelayBoot. So a job for which none may ever be rebooted has one of ten years. If
-- pmem.conf limits reboots by their hours or number, nine years are added to the job's own, which
-- pm-controller takes off while the limits let nodes be rebooted (controller/permits.h).

local here = string.match(debug.getinfo(1, "S").source, "^@(.*/)") or "./"
local conf = dofile(here .. "pmem_conf.lua")

local reboots = {}

local YEAR_S = 365 * 86400
reboots.WAIT_S = 9 * YEAR_S
reboots.FOREVER_S = 10 * YEAR_S

function reboots.has_user(policy, who)
	return policy.RebootUsers == "*" or conf.has_user(policy.RebootUsers, who.user, who.is_member)
end

-- For which jobs no node is ever rebooted, if this one is among them: "jobs of user carol"; else nil.
function reboots.none_for(policy, who)
	if not reboots.has_user(policy, who) then
		return "jobs of user " .. (who.user ~= "" and who.user or "?")
	elseif who.minutes and who.minutes < policy.RebootTimeLimit then
		return string.format("jobs with a time limit below %.0f minutes", policy.RebootTimeLimit)
	end
	return nil
end

-- The limits that pm-controller watches, as they are written: "RebootHours=Sat-Sun, RebootsPerDay=20";
-- nil: there is none.
function reboots.limits(policy)
	local list = {}
	for _, name in ipairs({ "RebootHours", "RebootsPerDay", "LeastNodes", "MostNodes" }) do
		local value = policy[name]
		if value and (type(value) ~= "table" or next(value)) then
			list[#list + 1] = name .. "=" .. policy.rules[name].text
		end
	end
	return list[1] and table.concat(list, ", ") or nil
end

-- The seconds of a job that waits for pm-controller's permit; `own_s` are its own.
local function waiting(own_s)
	return reboots.WAIT_S + math.min(own_s, YEAR_S - 1)
end

local function own_of(delay_s)
	local waits = delay_s >= reboots.WAIT_S and delay_s < reboots.FOREVER_S
	return waits and delay_s - reboots.WAIT_S or delay_s
end

-- DelayBoot at submission; `asked_s` by --delay-boot, nil without it. nil: it stays as it is.
function reboots.delay(policy, who, asked_s)
	if reboots.none_for(policy, who) then
		return reboots.FOREVER_S
	elseif reboots.limits(policy) then
		return waiting(asked_s or policy.DelayBoot)
	elseif policy.DelayBoot > 0 and not asked_s then
		return policy.DelayBoot
	end
	return nil
end

-- The same for a queued job that has `before_s`, in an update that asks for `asked_s` or for nothing.
-- Of root, and so of pm-controller, is a value that limits reboots or permits them.
function reboots.delay_after(policy, who, before_s, asked_s, by_root)
	if reboots.none_for(policy, who) then
		return (asked_s or before_s < reboots.FOREVER_S) and reboots.FOREVER_S or nil
	elseif by_root and asked_s then
		return nil
	end
	local own_s = asked_s or before_s >= reboots.FOREVER_S and policy.DelayBoot or own_of(before_s)
	local new_s = reboots.limits(policy) and waiting(own_s) or own_s
	return new_s ~= (asked_s or before_s) and new_s or nil
end

return reboots
