-- SPDX-License-Identifier: Apache-2.0
-- Reads pmem.conf for pmem.lua: the same form of lines as site/config_file.c, and the keys of
-- site/keys.def. Only keys of a job's policy become values, as only these may differ by partition.
-- Keys of nodes are known by name, and checked on the nodes. Lines with NodeName= are checked and
-- have no effect here.
--
--	local config, problem = conf.load("/etc/slurm/pmem.conf")
--	local policy, differing = conf.policy(config, { "main" }, { user = "alice", account = "physics" })
--
-- A line may begin with conditions, all of which must hold for a job. Of the lines for a job the last
-- one decides, key by key; a line for all jobs ends what stands above it.

local conf = {}

-- The modes; made by 'make tables' from site/modes.def
conf.modes = {
	{ name = "memory", feature = "pm_memory", substate = "empty" },
	{ name = "appdirect", feature = "pm_appdirect", substate = "fsdax" },
	{ name = "flat", feature = "pm_appdirect", substate = "flat" },
	{ name = "mixed", feature = "pm_mixed", substate = "fsdax" },
}
-- end of the modes

local MAX_FILE_BYTES = 1024 * 1024
local MAX_PAIRS = 64
local MAX_SECONDS = 86400
local MAX_MINUTES = 525600
local DAY_MINUTES = 24 * 60
local MAX_PER_DAY = 4000
local BLANK = "[ \t\r]"
local NO_BLANK = "[^ \t\r]"
local SHIFT = { K = 2 ^ 10, M = 2 ^ 20, G = 2 ^ 30, T = 2 ^ 40 }
local MAX_BYTES = 2 ^ 63

local function known_mode(name)
	for _, mode in ipairs(conf.modes) do
		if mode.name == name then
			return true
		end
	end
	return false
end

-- "800G" in bytes; nil if the text is not a size.
function conf.size(text)
	local digits, unit = string.match(text, "^(%d+)([KMGTkmgt])$")
	local bytes = digits and tonumber(digits) * SHIFT[string.upper(unit)]
	return bytes and bytes < MAX_BYTES and bytes or nil
end

-- Readers: the value, or nil and the fault.

local function read_modes(text)
	local set = {}
	for name in string.gmatch(text, "[^,]+") do
		if not known_mode(name) then
			return nil, string.format("unknown mode '%s'", name)
		elseif set[name] then
			return nil, string.format("mode '%s' is named twice", name)
		end
		set[name] = true
	end
	if not next(set) then
		return nil, "a comma list of modes expected"
	end
	return set
end

local function read_mode(text)
	if text == "none" or text == "auto" or known_mode(text) then
		return text
	end
	return nil, string.format("unknown mode '%s'", text)
end

-- "memory:800G,mixed:900G", by mode; `what` names the values, which `read` reads, and `fault` is the
-- sentence for one that it does not.
local function read_by_mode(text, what, read, fault)
	local values, count = {}, 0
	for word in string.gmatch(text ~= "none" and text or "", "[^,]+") do
		local name, value = string.match(word, "^([^:]*):(.*)$")
		if not name then
			return nil, string.format("MODE:%s expected at '%s'", what, word)
		elseif not known_mode(name) then
			return nil, string.format("unknown mode '%s'", name)
		elseif values[name] then
			return nil, string.format("mode '%s' is named twice", name)
		elseif (read(value) or 0) == 0 then
			return nil, string.format(fault, value)
		end
		values[name] = read(value)
		count = count + 1
	end
	if count == 0 and text ~= "none" then
		return nil, string.format("none or a comma list of MODE:%s expected", what)
	end
	return values
end

local function read_usable(text)
	return read_by_mode(text, "SIZE", conf.size, "a size like 800G expected at '%s'")
end

local function read_node_counts(text)
	return read_by_mode(text, "NUMBER", function(digits)
		return string.find(digits, "^%d+$") and #digits <= 9 and tonumber(digits)
	end, "a number of nodes expected at '%s'")
end

local function read_limit(text)
	if string.lower(text) == "none" then
		return false
	elseif (conf.size(text) or 0) == 0 then
		return nil, "none or a size like 800G expected"
	end
	return conf.size(text)
end

local function read_yes_no(text)
	local answer = ({ yes = true, no = false })[string.lower(text)]
	if answer == nil then
		return nil, "yes or no expected"
	end
	return answer
end

local FIELDS = { none = "none", comment = "Comment", admincomment = "AdminComment" }

local function read_comment(text)
	local field = FIELDS[string.lower(text)]
	if not field then
		return nil, "none, Comment or AdminComment expected"
	end
	return field
end

local function read_delay(text)
	local seconds = string.match(text, "^%d+$") and #text <= 9 and tonumber(text)
	if not seconds or seconds > MAX_SECONDS or (seconds == 0 and text ~= "0") then
		return nil, string.format("whole seconds from 0 to %d expected", MAX_SECONDS)
	end
	return seconds
end

-- True for a comma list of names that have no character of this class.
local function are_names(text, no_part_of_a_name)
	for name in string.gmatch(text, "[^,]+") do
		if string.find(name, no_part_of_a_name) then
			return false
		end
	end
	return string.find(text, "[^,]") ~= nil
end

local function read_minutes(text)
	local minutes = string.match(text, "^%d+$") and #text <= 9 and tonumber(text)
	if not minutes or minutes > MAX_MINUTES then
		return nil, string.format("whole minutes from 0 to %d expected", MAX_MINUTES)
	end
	return minutes
end

local function read_per_day(text)
	local number = string.match(text, "^%d+$") and #text <= 9 and tonumber(text)
	if string.lower(text) == "none" then
		return false
	elseif not number or number < 1 or number > MAX_PER_DAY then
		return nil, string.format("none or a whole number from 1 to %d expected", MAX_PER_DAY)
	end
	return number
end

local DAYS = { mon = true, tue = true, wed = true, thu = true, fri = true, sat = true, sun = true }

local function are_days(text)
	local first, last = string.match(string.lower(text), "^(%a%a%a)%-?(%a*)$")
	return DAYS[first] and (last == "" and #text == 3 or DAYS[last]) or false
end

-- "18:00" in minutes; nil if it is not a time of the day.
local function minute_of(text)
	local hour, minute = string.match(text, "^(%d%d):(%d%d)$")
	local sum = hour and tonumber(minute) < 60 and hour * 60 + minute
	return sum and sum <= DAY_MINUTES and sum or nil
end

local function are_times(text)
	local from, to = string.match(text, "^([^-]+)%-([^-]+)$")
	from, to = minute_of(from or ""), minute_of(to or "")
	return from ~= nil and to ~= nil and from ~= to and from < DAY_MINUTES
end

-- The form is that of site/hours.h; pm-controller looks at the clock.
local function read_hours(text)
	if string.lower(text) == "any" then
		return false
	elseif not string.find(text, "[^,]") then
		return nil, "any, or hours like Mon-Fri/18:00-06:00,Sat-Sun expected"
	end
	for word in string.gmatch(text, "[^,]+") do
		local days, times = string.match(word, "^(%a[^/]*)/(.*)$")
		if not (days and are_days(days) and are_times(times)) and not are_days(word) and not are_times(word) then
			return nil, string.format("any, or hours like Mon-Fri/18:00-06:00,Sat-Sun expected at '%s'", word)
		end
	end
	return text
end

local function read_users(text)
	if text ~= "*" and not are_names(text, "[^%w._@$-]") then
		return nil, "* or a comma list of user names expected"
	end
	return text
end

local function read_clusters(text)
	if not are_names(text, "[^%w._-]") then
		return nil, "none or a comma list of clusters expected"
	end
	return text ~= "none" and text
end

-- Readers by the kind of a key's value.
local readers = {
	modes = read_modes,
	mode = read_mode,
	usable = read_usable,
	limit = read_limit,
	yes_no = read_yes_no,
	comment = read_comment,
	delay = read_delay,
	minutes = read_minutes,
	hours = read_hours,
	per_day = read_per_day,
	node_counts = read_node_counts,
	users = read_users,
	clusters = read_clusters,
}

-- The keys of a job's policy.
-- made by 'make tables' from site/keys.def
conf.keys = {
	{ name = "Modes", kind = "modes", default = "memory,appdirect,flat,mixed" },
	{ name = "DefaultMode", kind = "mode", default = "none" },
	{ name = "UsableMemory", kind = "usable", default = "none" },
	{ name = "UsablePmem", kind = "limit", default = "none" },
	{ name = "UsableDram", kind = "limit", default = "none" },
	{ name = "ImplyMode", kind = "yes_no", default = "no" },
	{ name = "LearnModes", kind = "yes_no", default = "no" },
	{ name = "DelayBoot", kind = "delay", default = "0" },
	{ name = "RebootUsers", kind = "users", default = "*" },
	{ name = "RebootTimeLimit", kind = "minutes", default = "0" },
	{ name = "RebootHours", kind = "hours", default = "any" },
	{ name = "RebootsPerDay", kind = "per_day", default = "none" },
	{ name = "LeastNodes", kind = "node_counts", default = "none" },
	{ name = "MostNodes", kind = "node_counts", default = "none" },
	{ name = "HoldTime", kind = "minutes", default = "0" },
	{ name = "AllowNow", kind = "yes_no", default = "yes" },
	{ name = "Exclusive", kind = "yes_no", default = "yes" },
	{ name = "Clusters", kind = "clusters", default = "none" },
	{ name = "AccountingField", kind = "comment", default = "none" },
}

-- The nodes' keys.
conf.others = {
	"IpmctlPath", "NdctlPath", "DaxctlPath", "ScontrolPath", "ScancelPath", "SqueuePath",
	"SbatchPath", "SrunPath", "PmctlPath", "MkfsExt4Path", "MkfsXfsPath", "RebootCommand",
	"ToolTimeout", "SiteHealthCheckProgram", "JobUseInterval", "StateDir", "RunDir",
	"BadIpmctlVersions", "AppDirectType", "MixedPercent", "ReservedPercent", "Provision",
	"FileSystem", "MountDir", "OfflineTimeout", "SubstateIdleTime", "Wipe", "FsRoot",
	"DramReserve", "MetadataSpace", "TemporarySpace", "MigrationSpace", "RemoteMemory",
	"MemoryNodes", "SiteProfile", "SiteProfilePeaks", "SiteProfileDir", "ControllerAddr",
	"TurnAwayLimit", "SiteResumeProgram", "JobReportDays", "MungeSocket",
}
-- end

local by_name = {}
for _, key in ipairs(conf.keys) do
	key.read = readers[key.kind]
	by_name[string.lower(key.name)] = key
end
for _, name in ipairs(conf.others) do
	by_name[string.lower(name)] = { name = name }
end

-- The form of a line -----------------------------------------------------------------------------

local function cut_comment(line)
	local quoted = false
	for at = 1, #line do
		local char = string.sub(line, at, at)
		if char == '"' then
			quoted = not quoted
		elseif char == "#" and not quoted
			and (at == 1 or string.find(line, "^" .. BLANK, at - 1)) then
			return string.sub(line, 1, at - 1)
		end
	end
	return line
end

local function key_at(line, at)
	return string.match(line, "^([%w_]+)=", at)
end

-- The end of a bare value: a blank before the next Key=, or the end of the line.
local function bare_value_end(line, at)
	while true do
		local word_end = string.find(line, BLANK, at) or #line + 1
		local next_word = string.find(line, NO_BLANK, word_end)
		if not next_word or key_at(line, next_word) then
			return word_end
		end
		at = next_word
	end
end

local function quoted_value(line, at)
	local stop = string.find(line, '"', at + 1, true)
	if not stop then
		return nil, "a quotation mark is missing"
	elseif stop < #line and not string.find(line, "^" .. BLANK, stop + 1) then
		return nil, "text right after a quotation mark"
	end
	return string.sub(line, at + 1, stop - 1), stop + 1
end

-- The value at this place, and the place behind it; nil and the fault.
local function take_value(line, at)
	if string.sub(line, at, at) == '"' then
		return quoted_value(line, at)
	end
	local stop = bare_value_end(line, at)
	local value = string.sub(line, at, stop - 1)
	if string.find(value, '"', 1, true) then
		return nil, "a quotation mark inside a value"
	end
	return value, stop
end

local function split_line(line)
	local pairs_of_line, seen = {}, {}
	local text = cut_comment(line)
	local at = string.find(text, NO_BLANK)
	while at do
		local key = key_at(text, at)
		if not key then
			return nil, string.format("Key=Value expected at '%s'", string.sub(text, at, at + 39))
		elseif #pairs_of_line == MAX_PAIRS then
			return nil, string.format("more than %d pairs on one line", MAX_PAIRS)
		elseif seen[string.lower(key)] then
			return nil, string.format("key '%s' twice on one line", key)
		end
		seen[string.lower(key)] = true
		local value, stop = take_value(text, at + #key + 1)
		if not value then
			return nil, stop
		end
		pairs_of_line[#pairs_of_line + 1] = { key = key, value = value }
		at = string.find(text, NO_BLANK, stop)
	end
	return pairs_of_line
end

-- The scope of a line -----------------------------------------------------------------------------

local SCOPES = { nodename = "NodeName", partitionname = "PartitionName", account = "Account", qos = "QOS",
	user = "User", reservation = "Reservation" }

local function is_range(text)
	local low, high = string.match(text, "^(%d+)%-?(%d*)$")
	if not low or #low > 9 or #high > 9 or string.find(text, "%-$") then
		return false
	end
	return high == "" or tonumber(high) >= tonumber(low)
end

local function are_ranges(text)
	for range in string.gmatch(text .. ",", "([^,]*),") do
		if not is_range(range) then
			return false
		end
	end
	return true
end

-- "n1,n[3-5,07-12]". Brackets come first, as they hold commas, too.
local function is_node_list(list)
	local good = true
	local plain = string.gsub(list, "([^,]?)%[([^%[%]]*)%]", function(before, ranges)
		good = good and before ~= "" and are_ranges(ranges)
		return before .. "0"
	end)
	for name in string.gmatch(plain .. ",", "([^,]*),") do
		good = good and string.find(name, "^[%w._-]+$") ~= nil
	end
	return good
end

local function is_name_list(list)
	return not string.find(list, BLANK) and not string.find("," .. list .. ",", ",,", 1, true)
end

local function check_scope(scope, list)
	if scope == "NodeName" and not is_node_list(list) then
		return string.format("read node list '%s': not of the form n1,n[3-5,7]", list)
	elseif scope ~= "NodeName" and not is_name_list(list) then
		return string.format("read list '%s' of %s=: not of the form a,b", list, scope)
	end
	return nil
end

-- The names of a list; of those that begin with "@", the groups. "*" is a name here.
local function as_set(list)
	local set = { groups = {} }
	for name in string.gmatch(list, "[^,]+") do
		local group = string.match(name, "^@(.+)")
		set.groups[#set.groups + 1] = group
		set[name] = true
	end
	return set
end

-- The conditions at the beginning of a line: sets by name, their text, and the line's pairs, which
-- are yet to come; and the number of the first pair behind them. nil and the fault.
local function take_scope(found)
	local scope, texts, at = { sets = {}, names = 0, rules = {} }, {}, 1
	while found[at] and SCOPES[string.lower(found[at].key)] do
		local name, list = SCOPES[string.lower(found[at].key)], found[at].value
		local fault = check_scope(name, list)
		if fault then
			return nil, fault
		end
		scope.sets[name], scope.names = as_set(list), scope.names + 1
		texts[at], at = name .. "=" .. list, at + 1
	end
	if scope.sets.NodeName and scope.names > 1 then
		return nil, "NodeName= stands alone, the other conditions are of jobs"
	elseif at > 1 and not found[at] then
		return nil, "nothing after " .. texts[at - 1]
	end
	scope.text = table.concat(texts, " ")
	scope.is_of_partition = scope.names == 1 and scope.sets.PartitionName ~= nil
	return scope, at
end

-- The values -------------------------------------------------------------------------------------

local function read_value(key, text)
	if not key.read then
		return text
	end
	local value, problem = key.read(text)
	if string.find(text, "[^\32-\126]") then
		value, problem = nil, "unprintable bytes"
	end
	if value == nil then
		return nil, string.format("%s='%s': %s", key.name, text, problem)
	end
	return value
end

-- Nodes know a job's partition, and no more of it, when they tell flat from appdirect.
local function check_default(key, value, scope)
	if key.name == "DefaultMode" and value == "flat" and scope.names > 0
		and not scope.is_of_partition then
		return "DefaultMode=flat may differ by PartitionName= alone, nodes know no more of a job without an option"
	end
	return nil
end

-- A line for all jobs overrides earlier lines for some.
local function set_for_all(config, key, value, pair, origin)
	for _, scope in ipairs(config.scopes) do
		scope.rules[key.name] = nil
	end
	config.site[key.name] = { value = value, text = pair.value, origin = origin }
end

local function take_pair(config, scope, pair, origin)
	local key = by_name[string.lower(pair.key)]
	if not key then
		return string.format("unknown key '%s', see pmem.conf(5)", pair.key)
	end
	local value, problem = read_value(key, pair.value)
	problem = problem or check_default(key, value, scope)
	if problem or scope.sets.NodeName then
		return problem
	elseif scope.names > 0 and not key.read then
		return key.name .. "= cannot differ by job"
	elseif scope.names > 0 then
		scope.rules[key.name] = { value = value, text = pair.value, origin = origin .. " " .. scope.text }
	elseif key.read then
		set_for_all(config, key, value, pair, origin)
	end
	return nil
end

local function take_line(config, line, origin)
	local found, problem = split_line(line)
	if not found then
		return problem
	end
	local scope, at = take_scope(found)
	if not scope then
		return at
	end
	for i = at, #found do
		local late = SCOPES[string.lower(found[i].key)]
		problem = late and late .. "= must come first on its line"
			or take_pair(config, scope, found[i], origin)
		if problem then
			return problem
		end
	end
	if scope.names > 0 and not scope.sets.NodeName then
		table.insert(config.scopes, scope)
		table.insert(scope.is_of_partition and config.of_partitions or {}, scope)
	end
	return nil
end

local function new_config()
	local config = { site = {}, scopes = {}, of_partitions = {} }
	for _, key in ipairs(conf.keys) do
		config.site[key.name] = { value = key.read(key.default), text = key.default, origin = "default" }
	end
	return config
end

local function parse(file, text)
	local config, number = new_config(), 0
	if #text > MAX_FILE_BYTES then
		return nil, file .. ": larger than 1 MiB"
	elseif string.find(text, "\0", 1, true) then
		return nil, file .. ": it has a NUL byte"
	end
	for line in string.gmatch(text .. "\n", "([^\n]*)\n") do
		number = number + 1
		local problem = take_line(config, line, file .. ":" .. number)
		if problem then
			return nil, string.format("%s:%d: %s", file, number, problem)
		end
	end
	return config
end

local function read_text(file)
	local stream, problem, code = io.open(file, "rb")
	if not stream then
		return code == 2 and "" or nil, problem -- 2 is ENOENT: all keys have their defaults
	end
	local text, fault = stream:read(MAX_FILE_BYTES + 1)
	stream:close()
	if fault then
		return nil, file .. ": " .. fault
	end
	return text or ""
end

local cache = {}

-- The configuration, or nil and one sentence. The file is read each time, which takes microseconds,
-- and parsed again if it has changed.
function conf.load(file)
	local text, problem = read_text(file)
	if not text then
		return nil, problem
	elseif cache.file ~= file or cache.text ~= text then
		local config, fault = parse(file, text)
		cache = { file = file, text = text, config = config, problem = fault }
	end
	return cache.config, cache.problem
end

-- True if Slurm itself limits the users that may cause reboots: AllowUserBoot= in helpers.conf,
-- which is beside pmem.conf.
function conf.limits_reboots(file)
	local text = read_text((string.match(file, "^.*/") or "") .. "helpers.conf")
	return string.find("\n" .. string.lower(text or ""), "\n%s*allowuserboot%s*=%s*[^%s#]") ~= nil
end

-- The policy of a job ----------------------------------------------------------------------------

-- True if the set has this name, or "*" and there is one.
local function has(set, name)
	return name ~= "" and (set[name] or set["*"]) or false
end

-- True if the set has the user, or a group that has.
local function has_user(set, user, is_member)
	if has(set, user) then
		return true
	end
	for _, group in ipairs(set.groups) do
		if is_member(group, user) then
			return true
		end
	end
	return false
end

-- The same for a list as it is written.
function conf.has_user(list, user, is_member)
	return has_user(as_set(list), user, is_member)
end

-- True if all reservations that the job names are in the set.
local function has_all(set, names)
	for name in string.gmatch(names, "[^,]+") do
		if not has(set, name) then
			return false
		end
	end
	return names ~= ""
end

-- Called for each line and job: a name that is in the set needs no call.
local function is_met(sets, partition, job)
	local partitions, accounts, qos = sets.PartitionName, sets.Account, sets.QOS
	return not ((partitions and not partitions[partition])
		or (accounts and not accounts[job.account] and not (accounts["*"] and job.account ~= ""))
		or (qos and not qos[job.qos] and not (qos["*"] and job.qos ~= ""))
		or (sets.Reservation and not has_all(sets.Reservation, job.reservation))
		or (sets.User and not has_user(sets.User, job.user, job.is_member)))
end

-- The rules that decide, by key.
local function deciding(config, partition, job)
	local rules = {}
	for name, rule in pairs(config.site) do
		rules[name] = rule
	end
	local scopes = config.scopes
	for i = 1, #scopes do
		local scope = scopes[i]
		if is_met(scope.sets, partition, job) then
			for name, rule in pairs(scope.rules) do
				rules[name] = rule
			end
		end
	end
	return rules
end

-- The DefaultMode of a partition's jobs as nodes know it.
local function node_default(config, partition)
	local default = config.site.DefaultMode.value
	for _, scope in ipairs(config.of_partitions) do
		if scope.rules.DefaultMode and scope.sets.PartitionName[partition] then
			default = scope.rules.DefaultMode.value
		end
	end
	return default
end

-- The policy of a job in these partitions, values by key, with the rules that decide in `rules` and
-- NodeDefault, the DefaultMode that nodes know; and the first key with different values among the
-- partitions, if there is one. `job` has account, qos, user, reservation ("" for none), and
-- is_member(group, user).
function conf.policy(config, partitions, job)
	local first = deciding(config, partitions[1] or "", job)
	local policy = { rules = first, NodeDefault = node_default(config, partitions[1] or "") }
	for name, rule in pairs(first) do
		policy[name] = rule.value
	end
	for i = 2, #partitions do
		local other = deciding(config, partitions[i], job)
		for _, key in ipairs(conf.keys) do
			if other[key.name].text ~= first[key.name].text then
				return policy, key.name
			end
		end
	end
	return policy
end

return conf
