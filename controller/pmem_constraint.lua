-- SPDX-License-Identifier: Apache-2.0
-- Slurm's constraint expressions (--constraint, --prefer): the modes that they allow, and the
-- expression with a mode added. site/features.h has the grammar; tests/fixtures/constraints.tsv is
-- the table that both readers are tested by.
local constraint = {}

local PREFIX = "pm_"
-- The same names as in site/features.c, by bytes, as slurmctld's locale must not matter.
local NAME = "^[^%z\1-\32\127*&,|%[%]()!\"'`\\]+"
local MAX_DIGITS, MAX_LENGTH = 9, 1024

-- Slurm up to 22.05 refuses these beside a feature that a reboot changes; later releases refuse
-- only '[', ']' and '*'.
local OPERATORS = "[%[%]*()|]"

-- Reading ----------------------------------------------------------------------------------------

local read_level

local function failure(at, expected)
	return nil, { at = at, expected = expected }
end

-- The term and the place behind it; nil and the failure. `inside` is the open bracket, if any.
local function read_term(text, at, inside)
	local first = string.sub(text, at, at)
	if (first == "(" and inside ~= ")") or (first == "[" and not inside) then
		local close = first == "(" and ")" or "]"
		local group, next_at = read_level(text, at + 1, close)
		if not group then
			return nil, next_at
		elseif string.sub(text, next_at, next_at) ~= close then
			return failure(next_at, string.format("'&', '|' or '%s'", close))
		end
		group.bracket = first == "["
		return group, next_at + 1, first
	end
	local name = string.match(text, NAME, at)
	if not name then
		return failure(at, "a feature")
	end
	return name, at + #name, first
end

-- The place behind the count that follows '*'.
local function read_count(text, at)
	local digits = string.match(text, "^[0-9]+", at)
	if not digits or #digits > MAX_DIGITS or not string.find(digits, "[1-9]") then
		return failure(at, "a count")
	end
	return at + #digits
end

local function read_item(text, at, inside)
	local term, next_at, first = read_term(text, at, inside)
	if term and inside ~= ")" and first ~= "[" and string.sub(text, next_at, next_at) == "*" then
		local after, fault = read_count(text, next_at + 1)
		if not after then
			return nil, fault
		end
		next_at = after
	end
	return term, next_at
end

-- Terms between operators of one kind; `mixed` is the first place of the other kind.
function read_level(text, at, inside)
	local level = { terms = {} }
	while true do
		local term, next_at = read_item(text, at, inside)
		if not term then
			return nil, next_at
		end
		level.terms[#level.terms + 1] = term
		local operator = string.match(text, "^[&,|]", next_at)
		if not operator then
			return level, next_at
		end
		operator = operator == "|" and "|" or "&"
		level.mixed = level.mixed or (level.op and level.op ~= operator and next_at) or nil
		level.op = level.op or operator
		at = next_at + 1
	end
end

local function is_level(term)
	return type(term) == "table"
end

local function is_ours(name)
	return string.sub(name, 1, #PREFIX) == PREFIX
end

-- Fills the tree's list of our features, and the first place, on any level, where operators are
-- mixed.
local function collect(tree, level)
	tree.mixed = math.min(tree.mixed or math.huge, level.mixed or math.huge)
	for _, term in ipairs(level.terms) do
		if is_level(term) then
			collect(tree, term)
		elseif is_ours(term) then
			tree.ours[#tree.ours + 1] = term
		end
	end
end

local AROUND = "'(' and ')' around the alternatives"

-- The parsed text: text, level, ours (names with our prefix), mixed. nil and the failure: at (a
-- character's number), expected.
function constraint.read(text)
	local tree = { text = text, level = { terms = {} }, ours = {} }
	if #text > MAX_LENGTH then
		return failure(MAX_LENGTH + 1, "the end")
	elseif text ~= "" then
		local level, ends = read_level(text, 1)
		if not level then
			return nil, ends
		elseif ends <= #text then
			return failure(ends, "'&' or '|'")
		end
		tree.level = level
		collect(tree, level)
		tree.mixed = tree.mixed < math.huge and tree.mixed or nil
	end
	-- Slurm releases differ in the precedence of operators.
	if tree.mixed and tree.ours[1] then
		return failure(tree.mixed, AROUND)
	end
	return tree
end

-- True if slurmctld, or a less exact reader, could find a feature of ours in the text.
function constraint.may_be_ours(text)
	return string.find(text, PREFIX, 1, true) ~= nil
end

local function shown(text, at)
	local byte = string.byte(text, at)
	if not byte then
		return "the end"
	end
	return string.format(byte > 31 and byte < 127 and "'%c'" or "byte 0x%02x", byte)
end

-- "a feature expected at character 3, not '&'"
function constraint.explain(text, fault)
	return string.format("%s expected at character %d, not %s", fault.expected, fault.at,
		shown(text, fault.at))
end

-- Modes ------------------------------------------------------------------------------------------

-- The term with this feature of ours true and our other features false: true, false, or the rest of
-- the term, a level or a name.
local function simplify(term, feature)
	if not is_level(term) then
		return not is_ours(term) and term or term == feature
	end
	local either = term.op == "|"
	local rest = {}
	for _, part in ipairs(term.terms) do
		local value = simplify(part, feature)
		if value == either then
			return either
		elseif type(value) ~= "boolean" then
			rest[#rest + 1] = value
		end
	end
	if #rest < 2 then
		return rest[1] or not either
	end
	return { op = term.op, terms = rest, bracket = term.bracket }
end

-- True if a node with this feature of ours can satisfy the expression; nil is a node with none.
function constraint.allows(tree, feature)
	return simplify(tree.level, feature) ~= false
end

local function join(terms, op)
	local texts = {}
	for i, term in ipairs(terms) do
		texts[i] = is_level(term) and "(" .. join(term.terms, term.op) .. ")" or term
	end
	return table.concat(texts, op)
end

-- (a|b)&feature; and where parentheses would be within parentheses, (a&feature)|(b&c&feature).
local function join_alternatives(level, feature)
	local texts, deep = {}, false
	for _, term in ipairs(level.terms) do
		deep = deep or is_level(term)
		for _, part in ipairs(is_level(term) and term.op == "|" and term.terms or { term }) do
			local text = is_level(part) and join(part.terms, part.op) or part
			texts[#texts + 1] = "(" .. text .. "&" .. feature .. ")"
		end
	end
	if not deep then
		return "(" .. join(level.terms, "|") .. ")&" .. feature
	end
	return table.concat(texts, "|")
end

local function has_brackets(term)
	if not is_level(term) then
		return false
	end
	for _, part in ipairs(term.terms) do
		if has_brackets(part) then
			return true
		end
	end
	return term.bracket
end

-- The text for the simplified tree `rest` and the feature. It keeps the user's own text if
-- possible.
local function combine(tree, rest, feature)
	if rest == true then
		return feature
	elseif #tree.ours == 1 and not string.find(tree.text, OPERATORS) then
		return tree.text
	elseif not tree.ours[1] and tree.level.op ~= "|" and not string.find(tree.text, "[", 1, true) then
		return tree.text .. "&" .. feature
	elseif is_level(rest) and rest.op == "|" then
		return join_alternatives(rest, feature)
	end
	return (is_level(rest) and join(rest.terms, "&") or rest) .. "&" .. feature
end

-- The text with this one of our features required, which the tree allows. If Slurm of this version
-- does not accept such a text: nil and the failure, at a character of the tree's text; `expected`
-- as in read(), nil if the character cannot stand beside a mode.
function constraint.with(tree, feature, version)
	local rest = simplify(tree.level, feature)
	local at = string.find(tree.text, "*", 1, true)
		or has_brackets(rest) and string.find(tree.text, "[", 1, true)
	if at then
		return failure(at)
	elseif tree.mixed then
		return failure(tree.mixed, AROUND)
	end
	local text = combine(tree, rest, feature)
	if version < 23.02 and string.find(text, OPERATORS) then
		return failure((string.find(tree.text, OPERATORS)))
	end
	return text
end

-- The view of the cluster ------------------------------------------------------------------------

local STATE_HEAD = "^slurm%-pmem%-modes 1 ([0-9]+)\n"
local STATE_BYTES, STATE_AGE_S = 256 * 1024, 60

local function read_state(path)
	local file = io.open(path, "r")
	local text = file and file:read(STATE_BYTES + 1)
	if file then
		file:close()
	end
	if not text or #text > STATE_BYTES then
		return nil
	end
	local written = tonumber(string.match(text, STATE_HEAD))
	if not written or math.abs(os.time() - written) > STATE_AGE_S then
		return nil
	end
	return text
end

local function add_counts(counts, words, pattern)
	for feature, count in string.gmatch(words, pattern) do
		counts[feature] = (counts[feature] or 0) + tonumber(count)
	end
end

-- The view of the partitions: four tables by feature, which are empty if the file is missing or
-- old. `idle`: idle nodes; `could`: idle nodes that a reboot brings into the mode; `nodes`: nodes in the
-- mode, idle or busy; `reboot_s`: the median seconds of the last such reboots, if the cluster has seen
-- any. is_known is true if the file has any of the partitions.
function constraint.view(path, partitions)
	local wanted, view = {}, { idle = {}, could = {}, nodes = {}, reboot_s = {} }
	for _, name in ipairs(partitions) do
		wanted[name] = true
	end
	for line in string.gmatch(read_state(path) or "", "[^\n]+") do
		local words = wanted[string.match(line, "^[^ ]+")] and line or ""
		add_counts(view.idle, words, " (pm_[%w_]+)=([0-9]+)")
		add_counts(view.could, words, " could:(pm_[%w_]+)=([0-9]+)")
		add_counts(view.nodes, words, " nodes:(pm_[%w_]+)=([0-9]+)")
		view.is_known = view.is_known or words ~= ""
		for feature, seconds in string.gmatch(words, " reboot_s:(pm_[%w_]+)=([0-9]+)") do
			view.reboot_s[feature] = tonumber(seconds)
		end
	end
	return view
end

return constraint
