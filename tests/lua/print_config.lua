-- SPDX-License-Identifier: Apache-2.0
-- pmem.conf as the controller reads it: a line for each value, as 'pmctl show-config' has it, or
-- "FILE:LINE" of the first fault. Run from the project's top: lua5.1 print_config.lua FILE [keys]
local conf = dofile("controller/pmem_conf.lua")

if arg[1] == "keys" then
	for _, key in ipairs(conf.keys) do
		print(string.format("%s=%s", key.name, key.default))
	end
	for _, name in ipairs(conf.others) do
		print(name)
	end
	os.exit(0)
end
local config, problem = conf.load(arg[1])
if not config then
	print(string.match(problem, "^(.*:%d+): ") or string.match(problem, "^([^:]*): "))
	os.exit(0)
end
for _, key in ipairs(conf.keys) do
	print(key.name .. "=" .. config.site[key.name].text)
end
for _, scope in ipairs(config.scopes) do
	for name, rule in pairs(scope.rules) do
		print(string.format("%s %s=%s", scope.text, name, rule.text))
	end
end
