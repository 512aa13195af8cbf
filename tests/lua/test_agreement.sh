#!/bin/bash
# The controller's reader of pmem.conf and pmctl's take the same files, refuse the same at the same
# line, and see the same values. Prints TAP. Run from the project's top.
set -uo pipefail

pmctl=${PM_BUILD:-build}/pmctl
lua=${LUA:-lua5.1}
passed=0 failed=0
base=${TMPDIR:-/tmp}
[ "$(id -u)" -ne 0 ] || base=/run
scratch=$(mktemp -d "$base/pm-agree.XXXXXX") || exit
trap 'rm -rf "$scratch"' EXIT
file=$scratch/pmem.conf
# Those that say what jobs get: they are printed with their defaults.
keys=$("$lua" tests/lua/print_config.lua keys | sed -n 's/=.*//p' | paste -sd'|')

# Either the values, or "FILE:LINE".
by_pmctl() {
	local out
	if out=$("$pmctl" --config "$file" --node other show-config 2>&1); then
		grep -E "^((PartitionName|Account|QOS|User|Reservation)=[^ ]* )*($keys)=" <<<"$out" | sed 's/ # [^#]*$//'
	else
		grep -oE "$file(:[0-9]+)?" <<<"$out" | head -1
	fi
}

# agree TEXT: of a file, as printf %b takes it.
agree() {
	local of_c of_lua
	printf '%b' "$1" >"$file"
	chmod 644 "$file"
	of_c=$(by_pmctl | sort)
	of_lua=$("$lua" tests/lua/print_config.lua "$file" | sort)
	if [ -n "$of_c" ] && [ "$of_c" = "$of_lua" ]; then
		passed=$((passed + 1))
		echo "ok $((passed + failed)) - $1"
	else
		failed=$((failed + 1))
		echo "not ok $((passed + failed)) - $1"
		diff <(echo "$of_c") <(echo "$of_lua") | sed 's/^/# /'
	fi
}

while IFS= read -r text; do
	agree "$text"
done <<'END'

# a comment only
Modes=memory
modes=memory,flat
MODES=mixed # a comment
  Modes=memory \t
Modes=memory\r\nDefaultMode=memory\r
Modes=memory DefaultMode=memory ImplyMode=yes
Modes="memory" DefaultMode="none"
RebootUsers=a#b
RebootUsers=alice,bob
RebootUsers=alice, bob
RebootUsers=svc-x,u_1,a.b
RebootUsers=*
RebootUsers=*,alice
UsableMemory=memory:7600M,appdirect:900m,flat:1T
UsableMemory=none
UsablePmem=NONE
UsableDram=none
UsableDram=90g
UsablePmem=3t
DelayBoot=0
DelayBoot=00
DelayBoot=007
DelayBoot=86400
AccountingField=admincomment
AccountingField=Comment
AccountingField=none
Exclusive=NO ImplyMode=Yes
StateDir=/a Modes=memory
RebootCommand=/sbin/x -f now=1 Modes=memory
RebootCommand="/bin/env A=b # x" Modes=memory
PartitionName=a,b DefaultMode=memory Exclusive=no
partitionname=a DefaultMode=memory\nDefaultMode=flat
DefaultMode=flat\nPartitionName=a DefaultMode=memory
PartitionName=a DefaultMode=memory Exclusive=no\nDefaultMode=none
Account=a,b DefaultMode=memory Exclusive=no
account=a qos=high User=alice,@staff reservation=* PartitionName=p RebootUsers=none
User=@staff RebootUsers=@staff,alice
QOS=* Modes=memory\nAccount=a Modes=mixed\nDelayBoot=3
Account=a Modes=memory\nModes=mixed
Account=a,b
Account= Modes=memory
Account=a, Modes=memory
Account=a b Modes=memory
Account=a account=b Modes=memory
Account=a Modes=memory QOS=b
Account=a NodeName=n1 Modes=memory
NodeName=n1 Account=a Modes=memory
Account=a ToolTimeout=5
Account=a DefaultMode=flat
PartitionName=p Account=a DefaultMode=flat
PartitionName=p DefaultMode=flat
Group=a Modes=memory
RebootTimeLimit=0
RebootTimeLimit=90
RebootTimeLimit=525601
RebootTimeLimit=1h
RebootTimeLimit=
Clusters=one,two
Clusters=none
Clusters=,
Clusters=one two
NodeName=n1 DefaultMode=memory
NodeName=n[1-3,07-12],x ToolTimeout=5
NodeName=rack[0-3]n[1-2] Modes=memory
DefaultMode=memory\nDefaultMode=none
Modes=memory\n\n\nBogus=1
Bogus=1
bogus
=5
Modes =memory
Modes= memory
Modes=
Modes=,
Modes=Memory
Modes=memory,memory
Modes=memory,
Modes=memory modes=flat
DefaultMode=
DefaultMode=bogus
DefaultMode=memory,flat
UsableMemory=
UsableMemory=memory
UsableMemory=memory:
UsableMemory=memory:7600
UsableMemory=memory:0G
UsableMemory=memory:1G,memory:2G
UsableMemory=bogus:1G
UsableMemory=memory:8388608T
UsableMemory=memory:1G appdirect:2G
UsablePmem=
UsablePmem=5
UsablePmem=-5G
UsablePmem=0G
UsableDram=0G
UsableDram=5%
ImplyMode=1
ImplyMode=
DelayBoot=
DelayBoot=-1
AccountingField=Extra
DelayBoot=5m
DelayBoot=86401
DelayBoot=9999999999
RebootUsers=
RebootUsers=,
RebootUsers=a b
RebootUsers=a:b
Exclusive=maybe
PartitionName=a
PartitionName= Modes=memory
PartitionName=a, Modes=memory
PartitionName=,a Modes=memory
PartitionName=a,,b Modes=memory
PartitionName=a b Modes=memory
PartitionName=a ToolTimeout=5
PartitionName=a Bogus=1
PartitionName=a Modes=bogus
Modes=memory PartitionName=a
NodeName=n1 PartitionName=a Modes=memory
PartitionName=a NodeName=n1 Modes=memory
NodeName=n1
NodeName=n[1 Modes=memory
NodeName=n[2-1] Modes=memory
NodeName=n[] Modes=memory
NodeName=[1-2] Modes=memory
NodeName=n1,,n2 Modes=memory
NodeName=n[1-] Modes=memory
NodeName=n] Modes=memory
NodeName=n1 Modes=bogus
NodeName=n1 Bogus=1
StateDir="/a
StateDir="/a"b
StateDir=/a"b"
RebootUsers=a\0001
RebootUsers="a\0001b"
Modes=memory\0000
END

echo "1..$((passed + failed))"
echo "# $passed passed, $failed failed"
[ "$failed" -eq 0 ]
