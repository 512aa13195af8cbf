#!/usr/bin/env bats
# pmctl with real ipmctl on the emulated machine of twin/machine, which is rebooted by its own
# firmware. Hooks stand in for single ipmctl commands where only a fault is wanted. Needs root.
# shellcheck disable=SC2154 # output, stderr and status are set by run
bats_require_minimum_version 1.5.0

setup() {
	bats_load_library bats-support
	bats_load_library bats-assert
	[ "$(id -u)" -eq 0 ] || skip "pmctl changes modes only as root"
	cd "$BATS_TEST_DIRNAME/../.." || return
	build=${PM_BUILD:-$PWD/build}
	node=$(mktemp -d /run/pm-bats.XXXXXX)
	chmod 755 "$node"
	mkdir -m 755 "$node/state" "$node/run" "$node/hooks"
	script ipmctl "for hook in '$node'/hooks/*; do" \
		'	[ -e "$hook" ] || break' '	case $* in $(basename "$hook")*) exec "$hook" "$@" ;; esac' 'done' \
		"exec '$node/real' \"\$@\""
	script real "export LD_PRELOAD=$build/tests/pmshim.so PMSHIM_NODE=$node/machine" \
		'exec /usr/bin/ipmctl "$@"'
	script ndctl ":"
	script reset "cd '$PWD/twin' && PYTHONDONTWRITEBYTECODE=1 exec /usr/bin/python3 -m machine reboot \"\$@\" '$node/machine' >/dev/null"
	configure
	machine init "$node/machine" >/dev/null
}

teardown() {
	[ -z "${node-}" ] || rm -rf "$node"
}

machine() {
	(cd twin && PYTHONDONTWRITEBYTECODE=1 /usr/bin/python3 -m machine "$@")
}

# shape KEY=VALUE... : another machine, by the fields of machine.Topology; GIB, MIB are known
shape() {
	rm -rf "$node/machine" "$node/state/"*.json
	(cd twin && PYTHONDONTWRITEBYTECODE=1 /usr/bin/python3 -c "
from machine import GIB, MIB, Node, Topology, fakeroot
node = Node('$node/machine', Topology($(IFS=,; echo "$*")))
node.power_on()
fakeroot.write(node.directory / 'root', node.topology, node.state)")
}

# The machine of a real site, with more or less of it.
twelve() {
	shape cpus_per_socket=4 channels=3 pmem_per_dimm=126*GIB pmem_overhead=432*MIB "$@"
}

# script NAME LINE... : an executable of root's in the node's directory
script() {
	local path=$node/$1
	shift
	printf '%s\n' '#!/bin/sh' "$@" >"$path"
	chmod 755 "$path"
}

# hook 'WORDS' LINE... : runs instead of ipmctl commands that start with these words; $real is ipmctl
hook() {
	local words=$1
	shift
	script "hooks/$words" "real='$node/real'" "$@"
}

unhook() {
	rm -f "$node/hooks/"*
}

# configure [LINE]... : the node's pmem.conf, with these lines at its end
configure() {
	printf '%s\n' "IpmctlPath=$node/ipmctl NdctlPath=$node/ndctl DaxctlPath=$node/ndctl Provision=no" "RebootCommand=$node/reset" \
		"StateDir=$node/state" "RunDir=$node/run" "FsRoot=$node/machine/root" "$@" >"$node/pmem.conf"
	chmod 644 "$node/pmem.conf"
}

pmctl() {
	"$build/pmctl" --config "$node/pmem.conf" "$@"
}

as_user() {
	setpriv --reuid 65534 --regid 65534 --clear-groups "$build/pmctl" --config "$node/pmem.conf" "$@"
}

# into MODE : the whole way
into() {
	pmctl set "$1" >/dev/null && pmctl reboot >/dev/null && pmctl verify >/dev/null
}

goals() {
	"$node/real" show -goal
}

assert_no_goal() {
	run goals
	assert_output --partial "There are no goal configs defined"
}

assert_mode() {
	run -0 pmctl mode --fresh
	assert_output "$1"
}

journal_state() {
	pmctl journal | sed -n '1s/:.*//p'
}

@test "a node goes from unconfigured to App Direct, to Memory Mode and back" {
	assert_mode unknown
	run -0 pmctl set appdirect
	assert_output "goal appdirect is staged on 4 modules, reboot to apply it"
	assert_mode unknown
	run -0 pmctl reboot
	run -0 pmctl verify
	assert_output "node is in appdirect, as it was asked"
	assert_mode appdirect
	into memory
	assert_mode memory
	into appdirect
	assert_mode appdirect
	run -0 pmctl health
	refute_output
}

@test "the journal has each step, with the boots" {
	into memory
	run -0 pmctl journal
	assert_line --index 0 "done: from unknown to memory"
	assert_line --index 1 --regexp 'Z  intent     boot ........  change from unknown to memory$'
	assert_line --index 2 --regexp 'Z  staged     boot ........  goal written and read back$'
	assert_line --index 3 --regexp 'Z  rebooting  boot ........  reboot asked for$'
	assert_line --index 4 --regexp 'Z  done       boot ........  node is in memory, as it was asked$'
	[ "$(pmctl journal | sed -n 's/.*boot \(........\) .*/\1/p' | uniq | wc -l)" -eq 2 ]
	run -0 bash -c "'$build/pmctl' --config '$node/pmem.conf' journal --json | /usr/bin/python3 -m json.tool"
}

@test "without a change there is no journal" {
	run -0 pmctl journal
	assert_output "no change yet"
	run -0 pmctl journal --list
	assert_output "no change has ended yet"
}

@test "the history has each change that ended, by whom and how, newest last" {
	into memory
	pmctl set appdirect
	run -0 as_user journal --list
	assert_line --index 0 --regexp '^START +SECONDS  FROM +TO +BY +OUTCOME$'
	assert_line --index 1 --regexp '^20..-..-..T..:..:..Z +[0-9]+  unknown  memory  admin  done$'
	assert_equal "${#lines[@]}" 2
	pmctl set memory
	pmctl helper pm_appdirect
	script reset false
	run ! pmctl reboot
	run -0 pmctl journal --list
	assert_line --index 2 --regexp ' memory   appdirect  admin  undone   withdrawn for another change$'
	assert_line --index 3 --regexp ' memory   appdirect  job    undone   '
	assert_equal "${#lines[@]}" 4
	run -0 bash -c "'$build/pmctl' --config '$node/pmem.conf' journal --list --json | /usr/bin/python3 -c '
import json, sys
changes = json.load(sys.stdin)[\"changes\"]
print([(c[\"mode\"], c[\"outcome\"], c.get(\"ordered_by\"), c[\"seconds\"] >= 0) for c in changes])'"
	assert_output "[('memory', 'done', None, True), ('appdirect', 'undone', None, True), ('appdirect', 'undone', 'job', True)]"
}

@test "verify ends a change once in the history, also after a crash before it wrote the journal" {
	pmctl set memory
	pmctl reboot
	cp "$node/state/journal.json" "$node/before"
	pmctl verify
	pmctl verify
	cat "$node/before" >"$node/state/journal.json"
	pmctl verify
	run -0 pmctl journal --list
	assert_line --index 1 --regexp ' unknown  memory  admin  done$'
	assert_equal "${#lines[@]}" 2
}

@test "a malformed history is set aside and fails no change" {
	echo '{' >"$node/state/history.json"
	run ! pmctl journal --list
	assert_output --partial "read '$node/state/history.json': truncated or not a history of changes"
	pmctl set memory
	pmctl reboot
	run -0 pmctl verify
	assert_output --partial "'$node/state/history.json' is malformed and was renamed to '$node/state/history.json.unreadable'; the history starts again"
	run -0 pmctl journal --list
	assert_equal "${#lines[@]}" 2
	run -0 cat "$node/state/history.json.unreadable"
	assert_output '{'
}

# later FILE: as a newer slurm-pmem wrote it
later() {
	sed -i 's/"version": *[0-9]*/"version":99,"later":"word"/' "$1"
}

@test "files of a newer slurm-pmem are set aside, the change they were about is not undone, and the node serves" {
	pmctl set memory
	pmctl reboot
	pmctl verify
	pmctl set appdirect
	for file in journal history modules counters; do
		later "$node/state/$file.json"
	done
	later "$node/run/mode.json"
	cp -r "$node/state" "$node/before"
	run -0 pmctl health
	for file in journal history modules counters; do
		assert_output --partial "'$node/state/$file.json' is of a newer slurm-pmem and was renamed to '$node/state/$file.json.unreadable'"
		cmp "$node/before/$file.json" "$node/state/$file.json.unreadable"
	done
	assert_output --partial 'the mode record was of a newer slurm-pmem and is written anew'
	run -0 pmctl health
	assert_output ''
	run -0 setpriv --reuid 65534 --regid 65534 --clear-groups "$build/pmctl" --config "$node/pmem.conf" mode
	assert_output memory
	run ! pmctl set mixed
	assert_output --partial 'a goal that pmctl did not set is pending'
	pmctl reboot
	run -0 pmctl verify
	assert_output --partial 'node is in appdirect'
	run -0 pmctl health
	assert_output ''
}

@test "the second file of a newer slurm-pmem does not take the place of the first" {
	into memory
	for time in 1 2 3; do
		echo "{\"version\":99,\"time\":$time}" >"$node/state/journal.json"
		run -0 pmctl verify
	done
	run -0 cat "$node/state/journal.json.unreadable" "$node/state/journal.json.unreadable.1" "$node/state/journal.json.unreadable.2"
	assert_output '{"version":99,"time":3}
{"version":99,"time":1}
{"version":99,"time":2}'
}

@test "pins of a newer slurm-pmem stay, and nothing is destroyed while they cannot be read" {
	into appdirect
	echo '{"version":99,"pins":[{"uuid":"7"}]}' >"$node/state/pins"
	run ! pmctl set memory
	assert_output --partial "'$node/state/pins' is of a newer slurm-pmem, and without it no namespace is known to be free"
	assert_no_goal
	run -0 cat "$node/state/pins"
	assert_output '{"version":99,"pins":[{"uuid":"7"}]}'
}

@test "the mode a node is in is not set again" {
	into memory
	before=$(md5sum "$node/state/journal.json")
	run -0 pmctl set memory
	assert_output "node is in memory already"
	assert_no_goal
	assert_equal "$(md5sum "$node/state/journal.json")" "$before"
}

@test "a staged mode is not staged again" {
	pmctl set memory
	before=$(md5sum "$node/state/journal.json")
	run -0 pmctl set memory
	assert_output "goal memory is staged already, reboot to apply it"
	assert_equal "$(md5sum "$node/state/journal.json")" "$before"
}

@test "another mode replaces the staged one" {
	pmctl set memory
	run -0 pmctl set appdirect
	assert_line "goal memory of this boot is withdrawn"
	pmctl reboot && pmctl verify
	assert_mode appdirect
}

@test "asking for the present mode withdraws what is staged" {
	into appdirect
	pmctl set memory
	run -0 pmctl set appdirect
	assert_line "goal memory of this boot is withdrawn"
	assert_line "node is in appdirect already"
	assert_no_goal
	assert_equal "$(journal_state)" undone
}

@test "a dry run says what it would do and does nothing" {
	run -0 pmctl set --dry-run memory
	assert_output "would run '$node/ipmctl create -u B -o nvmxml -goal MemoryMode=100', which destroys the labels of 4 modules at once and, at the next reboot, all bytes on their App Direct regions"
	assert_no_goal
	[ ! -e "$node/state/journal.json" ]
	configure "BadIpmctlVersions=03.00.00.0468"
	run -1 pmctl set --dry-run memory
	assert_output --partial "BadIpmctlVersions"
}

@test "a dry run tells programs the same, and whether a goal would wait for a reboot" {
	plan() {
		pmctl set --dry-run --json "$1" | /usr/bin/python3 -c '
import json, sys
plan = json.load(sys.stdin)
print(len(plan["steps"]), plan["reboot"], *(step.get("destroys", "nothing")[:24] for step in plan["steps"]))'
	}
	into appdirect
	run -0 plan appdirect
	assert_output "0 False"
	run -0 plan memory
	assert_output "1 True the labels of 4 modules "
	pmctl set memory
	run -0 plan memory
	assert_output "0 True"
	run -0 plan mixed
	assert_output "2 True nothing the labels of 4 modules "
	run -2 pmctl set --json memory
	assert_output --partial "--json goes with --dry-run only"
	configure BadIpmctlVersions=03.00.00.0468
	run -1 --separate-stderr pmctl set --dry-run --json mixed
	refute_output
}

@test "verify before the reboot leaves the goal and the journal" {
	into appdirect
	pmctl set memory
	run -0 pmctl verify
	assert_line "goal memory waits for a reboot"
	assert_equal "$(journal_state)" staged
	run goals
	assert_output --partial "0x1101"
	run -0 pmctl health --clear
	assert_output "there was nothing to clear"
	assert_equal "$(journal_state)" staged
}

@test "a goal that the firmware rejects is named by verify and health" {
	into appdirect
	pmctl set memory
	"$node/reset" --fault goal-rejected
	sentence="goal memory was rejected by the firmware on 0x0001, 0x0101, 0x1001, 0x1101 (ConfigurationStatus 'Failed - Reverted'); node is in appdirect; 'pmctl set memory' and a reboot try again, 'pmctl health --clear' leaves it at that"
	run -1 pmctl verify
	assert_line "pmctl: verify: $sentence"
	run -1 pmctl health
	assert_output "$sentence"
	assert_mode appdirect
	run -0 pmctl helper
	assert_output pm_appdirect
}

@test "a goal that the firmware ignores is deleted" {
	into appdirect
	pmctl set memory
	"$node/reset" --fault goal-ignored
	run -1 pmctl health
	assert_output "goal memory is from before this boot and not verified, run 'pmctl verify'"
	run -1 pmctl verify --json
	assert_output --partial '"change": "failed"'
	run -1 pmctl health
	assert_output "goal memory was not applied at reboot (still pending), goal deleted; node is in appdirect; 'pmctl set memory' and a reboot try again, 'pmctl health --clear' leaves it at that"
	assert_no_goal
}

@test "a goal that only one socket got fails" {
	pmctl set appdirect
	"$node/reset" --fault goal-split
	run -1 pmctl verify
	assert_output --partial "goal appdirect was rejected by the firmware on 0x1001, 0x1101"
	run -1 pmctl health
	assert_output --partial "the node's mode is unknown"
	run -1 pmctl helper
	refute_output
}

@test "a failure stays until a later change succeeds" {
	into appdirect
	pmctl set memory
	"$node/reset" --fault goal-rejected
	run -1 pmctl verify
	run -0 pmctl verify
	run -1 pmctl health
	into memory
	run -0 pmctl health
	refute_output
}

@test "health --clear forgets a failure of a sound node" {
	into appdirect
	pmctl set memory
	"$node/reset" --fault goal-rejected
	run -1 pmctl verify
	"$node/real" create -f -goal MemoryMode=100 >/dev/null
	run -1 pmctl health --clear
	assert_output --partial "a goal is pending on module 0x0001"
	"$node/real" delete -goal >/dev/null
	run -0 pmctl health --clear
	assert_output --regexp "^cleared the failed change to mode memory: goal memory was rejected by the firmware on .*$"
	assert_equal "$(journal_state)" cleared
	run -1 as_user health --clear
	assert_output --partial "must be root"
}

@test "a foreign goal is refused and left alone" {
	"$node/real" create -f -goal MemoryMode=100 >/dev/null
	before=$(goals)
	run -1 pmctl set appdirect
	assert_output --partial "a goal that pmctl did not set is pending on module 0x0001 and 3 more"
	run -1 pmctl set memory
	assert_equal "$(goals)" "$before"
}

@test "a change of an earlier boot must be verified first" {
	pmctl set memory
	"$node/reset"
	run -1 pmctl set appdirect
	assert_output --partial "a change to memory from before this boot is not verified; run 'pmctl verify' first"
}

@test "namespaces are refused by name, with the cure" {
	script ndctl "[ \$2 = -N ] && cat '$PWD/tests/fixtures/ndctl/array-with-seed.json' || :"
	run -1 pmctl set memory
	assert_output --partial "there are 2 namespaces, the first is namespace1.0 named 'slurm-17'"
	assert_output --partial "'ndctl destroy-namespace -f namespace1.0'"
	assert_no_goal
}

@test "a pin of a namespace that is not there vetoes, also where there are no regions" {
	printf '%s' '{"version":1,"pins":[{"uuid":"c4708bbc-f93f-4740-a27b-b20bb76dce8a","dev":"namespace0.0"}]}' >"$node/state/pins"
	run -1 pmctl set memory
	assert_output --partial "pinned namespace c4708bbc-f93f-4740-a27b-b20bb76dce8a is missing"
	assert_no_goal
	run -0 pmctl unpin namespace0.0
	run -0 pmctl set memory
}

@test "what ndctl says and we do not understand is an error that quotes it" {
	script ndctl 'echo "libndctl: failed"'
	run -1 pmctl set memory
	assert_output --partial "it printed: 'libndctl: failed'"
}

@test "a version of ipmctl that loses goals is refused" {
	configure "BadIpmctlVersions=02.00.00.3809,03.00.00.0468"
	run -1 pmctl set memory
	assert_output --partial "ipmctl 03.00.00.0468 is one of BadIpmctlVersions"
	assert_no_goal
}

@test "a locked, and an unhealthy module are refused by name" {
	hook "show -d" "cat '$PWD/tests/fixtures/ipmctl/locked/dimm.xml'"
	run -1 pmctl set memory
	assert_output --partial "module 0x0011 has LockState 'Locked'"
	hook "show -d" "cat '$PWD/tests/fixtures/ipmctl/unhealthy/dimm.xml'"
	run -1 pmctl set memory
	assert_output --partial "module 0x1101 has HealthState 'Noncritical failure'"
	assert_no_goal
}

@test "a platform without 2LM is refused before ipmctl is asked" {
	hook "show -u B -o nvmxml -system" "cat '$PWD/tests/fixtures/ipmctl/hand-made/capabilities-1lm.xml'"
	run -1 pmctl set memory
	assert_output --partial "AllowedVolatileMode is '1LM' and lacks 2LM"
	assert_no_goal
}

@test "a goal that ipmctl would not take is not created" {
	hook "create -goal" "cat '$PWD/tests/fixtures/ipmctl/error-93.txt'; exit 1"
	hook "create -u" "touch '$node/created'"
	run -1 pmctl set memory
	assert_output --partial "dry run of '$node/ipmctl create -goal MemoryMode=100': ipmctl does not offer the goal"
	assert_output --partial "below the NM:FM limit"
	[ ! -e "$node/created" ]
	[ ! -e "$node/state/journal.json" ]
}

@test "when create fails nothing is left" {
	hook "create -u" 'echo "<?xml version=\"1.0\"?>"; echo "<Error Type = \"1\">Error 2 - Command not run</Error>"; exit 1'
	run -1 pmctl set memory
	assert_output --partial "Error 2 - Command not run"
	assert_output --partial "goal deleted, the mode stays unknown"
	assert_equal "$(journal_state)" undone
	assert_no_goal
	unhook
	run -0 pmctl set memory
}

@test "when create does half of it all is taken back" {
	hook "create -u" 'exec "$real" create -u B -o nvmxml -goal -socket 0 MemoryMode=100'
	run -1 pmctl set memory
	assert_output --partial "module 0x1001 has 0 goals"
	assert_no_goal
	assert_equal "$(journal_state)" undone
}

@test "when create does something else it is taken back" {
	hook "create -u" 'exec "$real" create -u B -o nvmxml -goal PersistentMemoryType=AppDirect'
	run -1 pmctl set memory
	assert_output --partial "bytes App Direct"
	assert_no_goal
}

@test "when create hangs after its work it is taken back" {
	configure "ToolTimeout=1"
	hook "create -u" '"$real" "$@" >/dev/null; sleep 30'
	run -1 pmctl set memory
	assert_output --partial "did not end within 1000 ms and was killed"
	assert_no_goal
	assert_equal "$(journal_state)" undone
}

@test "when the goal cannot be taken back either, health says so" {
	hook "create -u" 'exec "$real" create -u B -o nvmxml -goal -socket 0 MemoryMode=100'
	hook "delete" 'echo "no way"; exit 1'
	run -1 pmctl set memory
	assert_output --partial "and the goal could not be deleted: 2 goals are still there"
	assert_equal "$(journal_state)" failed
	run -1 pmctl health
	assert_output --partial "no way"
}

# start_slow COMMAND... : pmctl in the background, waits until ipmctl's create is under way
start_slow() {
	"$build/pmctl" --config "$node/pmem.conf" "$@" >"$node/out" 2>&1 3>&- &
	pid=$!
	for _ in $(seq 100); do
		[ ! -e "$node/creating" ] || return 0
		sleep 0.05
	done
	return 1
}

@test "a termination signal waits until the goal is complete" {
	hook "create -u" "touch '$node/creating'; sleep 1" 'exec "$real" "$@"'
	start_slow set memory
	kill -TERM $pid
	ended=0
	wait $pid || ended=$?
	unhook
	assert_equal $ended 143
	assert_equal "$(journal_state)" staged
	run goals
	assert_output --partial "0x1101"
}

@test "a crash behind the goal is finished by the next set" {
	hook "create -u" '"$real" "$@"' "touch '$node/creating'; exec sleep 2"
	start_slow set memory
	kill -KILL $pid
	unhook
	assert_equal "$(journal_state)" intent
	run -0 pmctl set memory
	assert_output "goal memory is staged already, reboot to apply it"
	assert_equal "$(journal_state)" staged
}

@test "what a killed pmctl was changing is waited for, and works alone" {
	hook "create -u" "touch '$node/creating'; echo create >>'$node/log'; sleep 2" '"$real" "$@"; rc=$?' \
		"echo created >>'$node/log'; exit \$rc"
	start_slow set memory
	kill -KILL $pid
	hook "show" "echo show >>'$node/log'" 'exec "$real" "$@"'
	run -0 pmctl set memory
	assert_output "goal memory is staged already, reboot to apply it"
	run -0 sed -n '/^create$/,/^created$/p' "$node/log"
	assert_output $'create\ncreated'
	assert_equal "$(journal_state)" staged
}

@test "the wait for what a killed pmctl was changing has an end, which names it" {
	hook "create -u" "touch '$node/creating'; exec sleep 30"
	start_slow set memory
	kill -KILL $pid
	configure ToolTimeout=1
	run -1 pmctl set memory
	assert_output --regexp "ipmctl.lock': held by 'sleep 30' \(pid [0-9]+\), left behind by pmctl ipmctl \(pid $pid\)"
	kill "$(sed -E "s/.*'sleep 30' .pid ([0-9]+).*/\1/" <<<"$output")"
}

@test "what a killed pmctl was only looking at dies with it" {
	script ipmctl "echo \$\$ >'$node/creating'; exec sleep 30"
	start_slow mode --fresh
	kill -KILL $pid
	tool=$(cat "$node/creating")
	for _ in $(seq 100); do
		[ -e "/proc/$tool" ] || break
		sleep 0.05
	done
	[ ! -e "/proc/$tool" ]
}

@test "a crash behind the goal and a reboot are finished by verify" {
	hook "create -u" '"$real" "$@"' "touch '$node/creating'; exec sleep 2"
	start_slow set memory
	kill -KILL $pid
	unhook
	"$node/reset"
	run -0 pmctl verify
	assert_output "node is in memory, as it was asked"
	assert_equal "$(journal_state)" "done"
}

@test "a crash before the goal and a reboot change nothing" {
	hook "create -u" "touch '$node/creating'; exec sleep 2"
	start_slow set memory
	kill -KILL $pid
	unhook
	"$node/reset"
	run -1 pmctl verify
	assert_line "the change to memory was interrupted before its goal was written; the node's mode is unknown: the persistent memory is not configured"
	assert_equal "$(journal_state)" undone
}

@test "who meets another change waits for it and says for whom" {
	hook "create -u" "touch '$node/creating'; sleep 1" 'exec "$real" "$@"'
	start_slow set memory
	run -0 pmctl set memory
	assert_line --partial "held by pmctl set (pid $pid), waiting"
	assert_line "goal memory is staged already, reboot to apply it"
	wait $pid
}

@test "a truncated journal is reported and kept" {
	into appdirect
	truncate -s -20 "$node/state/journal.json"
	before=$(md5sum "$node/state/journal.json")
	for command in "set memory" verify journal health; do
		run -1 pmctl $command
		assert_output --partial "read '$node/state/journal.json': truncated or not a journal"
	done
	run -0 pmctl mode
	assert_output appdirect
	run -0 pmctl reboot
	assert_output --partial "rebooting anyway"
	assert_equal "$(md5sum "$node/state/journal.json")" "$before"
	assert_no_goal
}

@test "verify writes the record although the journal cannot be read" {
	into appdirect
	echo '{' >"$node/state/journal.json"
	"$node/reset"
	run -1 pmctl verify
	run -0 as_user mode
	assert_output appdirect
}

@test "verify waits for the kernel's regions" {
	into appdirect
	pmctl set memory && pmctl set appdirect
	mv "$node/machine/root/sys/bus/nd/devices" "$node/devices"
	(sleep 1 && mv "$node/devices" "$node/machine/root/sys/bus/nd/devices") 3>&- &
	run -0 pmctl verify
	assert_output --partial "node is in appdirect (1LM, 2 region(s)"
	wait
}

@test "everybody may read the mode, from the record alone" {
	into memory
	hook "show" "touch '$node/asked'; exit 1"
	run -0 as_user mode
	assert_output memory
	run -0 as_user mode --verbose
	assert_line --regexp '^source: record of 20'
	run -0 as_user mode --json
	assert_output --partial '"source": "record"'
	run -0 pmctl mode
	assert_output memory
	[ ! -e "$node/asked" ]
}

@test "a record of another boot, or of another kernel's view, does not count" {
	into memory
	cp "$node/run/mode.json" "$node/old.json"
	"$node/reset"
	run -1 as_user mode
	assert_output --partial "the record is of an earlier boot"
	run -0 pmctl mode --verbose
	assert_line "source: ipmctl and the kernel, now"
	pmctl verify
	run -0 as_user mode
	sed -i 's/^MemTotal:.*/MemTotal:        1960000 kB/' "$node/machine/root/proc/meminfo"
	run -1 as_user mode
	assert_output --partial "mem_total_bytes"
}

@test "a record that a user has planted does not count" {
	into memory
	sed 's/memory/appdirect/' "$node/run/mode.json" >"$node/planted"
	cat "$node/planted" >"$node/run/mode.json"
	chown 65532 "$node/run/mode.json"
	run -1 as_user mode
	assert_output --partial "must be a regular file of root that group and others cannot write"
	run -0 pmctl mode
	assert_output memory
}

@test "a record of an unknown mode does not keep root from asking" {
	into memory
	sed -i 's/"platform": "memory"/"platform": "unknown"/' "$node/run/mode.json"
	run -0 as_user mode
	assert_output unknown
	run -0 pmctl mode
	assert_output memory
}

@test "while a goal waits root asks afresh" {
	into memory
	pmctl set appdirect
	run -0 pmctl mode --verbose
	assert_line --index 0 memory
	assert_line "source: ipmctl and the kernel, now"
}

@test "the mode from the record takes less than 100 ms" {
	into memory
	start=$(date +%s%N)
	for _ in 1 2 3 4 5 6 7 8 9 10; do
		as_user mode >/dev/null
	done
	[ $((($(date +%s%N) - start) / 10000000)) -lt 100 ]
}

@test "ipmctl's garbage is an error that quotes it, never a mode" {
	hook "show -u B -o nvmxml -memoryresources" "cat '$PWD/tests/fixtures/ipmctl/hand-made/issue-170.xml'"
	run -1 pmctl mode
	assert_output --partial "cannot read <PMemModule>17179869056.000 GiB</PMemModule>, it printed: "
	run -1 --separate-stderr pmctl helper
	refute_output
	assert_equal "$stderr" ""
	run -1 pmctl job begin --expect memory
	assert_output --partial "job expects memory, the node's mode cannot be read"
}

@test "a node with a state that cannot be read has no record" {
	into memory
	hook "show" 'echo "Initialization failed. No PMem modules in the system."; exit 1'
	run -1 pmctl verify
	assert_output --partial "it printed: 'Initialization failed. No PMem modules in the system.'"
	run -1 as_user mode
	run -1 pmctl health
	assert_output --partial "the node's mode cannot be read"
}

@test "the helper prints the active feature and nothing else" {
	run -1 --separate-stderr pmctl helper
	refute_output
	assert_equal "$stderr" ""
	into memory
	run -0 --separate-stderr pmctl helper
	assert_output pm_memory
	assert_equal "$stderr" ""
}

@test "the helper sets the mode of a feature" {
	run -0 pmctl helper pm_memory
	assert_output --partial "goal memory is staged"
	run -1 pmctl helper memory
	assert_output --partial "unknown feature 'memory'"
	configure "Modes=appdirect"
	run -1 pmctl helper pm_memory
	assert_output --partial "mode 'memory' is not one of this node's Modes=: appdirect"
}

@test "the helper script calls pmctl helper, and has the controller told what was refused" {
	local name
	for name in pmctl pm-reachable; do
		printf '%s\n' '#!/bin/sh' "echo $name \"\$@\"" 'case $2 in pm_bad) exit 1 ;; pm_held) exit 6 ;; esac' >"$node/$name"
		chmod 755 "$node/$name"
	done
	sed "s|/usr/bin/pmctl|$node/pmctl|; s|/usr/libexec/slurm-pmem|$node|" agent/pm-helper >"$node/helper"
	run -0 sh "$node/helper"
	assert_output 'pmctl helper'
	run -0 sh "$node/helper" pm_memory
	assert_output 'pmctl helper pm_memory'
	run -1 sh "$node/helper" pm_bad
	assert_output "$(printf '%s\n' 'pmctl helper pm_bad' 'pm-reachable refused')"
	run -0 sh "$node/helper" pm_held
	assert_output 'pmctl helper pm_held'
}

@test "RebootProgram has slurmd report a boot only where a suspended job forbids the reboot" {
	local name
	for name in pmctl pm-reachable pm-slurmd-booted; do
		printf '%s\n' '#!/bin/sh' "echo $name \"\$@\"" 'case $2 in pm_bad) exit 1 ;; pm_held) exit 6 ;; esac' >"$node/$name"
		chmod 755 "$node/$name"
	done
	sed "s|/usr/bin/pmctl|$node/pmctl|; s|/usr/libexec/slurm-pmem|$node|" agent/pm-reboot >"$node/reboot"
	run -0 sh "$node/reboot" pm_memory
	assert_output 'pmctl reboot pm_memory'
	run -1 sh "$node/reboot" pm_bad
	assert_output "$(printf '%s\n' 'pmctl reboot pm_bad' 'pm-reachable refused')"
	run -1 sh "$node/reboot" pm_held
	assert_output "$(printf '%s\n' 'pmctl reboot pm_held' 'pm-reachable refused' 'pm-slurmd-booted')"
}

# stand_in PROGRAM PARENT LOST UNIT: a process of slurmd's, for the script under test. It ends at SIGTERM, but the first LOST
# are lost on it. Its number is in $process.
stand_in() {
	/usr/bin/python3 -c 'import os, pathlib, shutil, signal, sys, time
program, parent, lost, unit, proc = sys.argv[1:]
entry = pathlib.Path(proc) / str(os.getpid())
left = int(lost)
def end(*_):
    global left
    left -= 1
    if left < 0:
        shutil.rmtree(entry)
        sys.exit()
signal.signal(signal.SIGTERM, end)
entry.mkdir(parents=True)
(entry / "exe").symlink_to(program)
(entry / "status").write_text(f"Name:\texe\nPPid:\t{parent}\n")
(entry / "environ").write_text("HOME=/\0SLURMD_OPTIONS=--conf-server head -b\0")
(entry / "cgroup").write_text(f"0::/system.slice/{unit}\n")
time.sleep(60)' "$@" "$node/proc" 3>&- &
	process=$!
	until [ -s "$node/proc/$process/cgroup" ]; do sleep 0.1; done
}

# A systemd on which a stop is lost too, and whose slurmd starts only if no other has the port.
with_systemctl() {
	script systemctl "drop_in=\$(cat $node/run/systemd/system/slurmd.service.d/*.env 2>/dev/null)" 'case $1 in' \
		"show) cat $node/main ;;" "start) echo start \$drop_in; [ ! -e $node/fails ] || [ -z \"\$drop_in\" ] || exit 1" \
		"for slurmd in \$(cat $node/slurmds); do [ ! -d $node/proc/\$slurmd ] || exit 1; done ;;" \
		'stop | reset-failed) echo $1 ;;' 'esac'
	script sleep 'exec /usr/bin/sleep 0.1'
	sed "s|/proc/|$node/proc/|g; s|/run/systemd|$node/run/systemd|" agent/pm-slurmd-booted >"$node/booted"
}

@test "slurmd is restarted with -b when all that is left of it has ended, steps aside; without -b if it does not start with it" {
	local kept=()
	stand_in /sbin/slurmd-wlm 1 1 slurmd.service
	echo "$process" | tee "$node/main" >"$node/slurmds"
	stand_in /sbin/slurmd-wlm 1 0 slurmd.service
	echo "$process" >>"$node/slurmds"
	stand_in /sbin/slurmstepd 1 0 slurmd.service
	kept+=("$process")
	stand_in /sbin/slurmd-wlm 77 0 slurmd.service
	kept+=("$process")
	stand_in /sbin/slurmd-wlm 1 0 other-slurmd.service
	kept+=("$process")
	with_systemctl
	PATH=$node:$PATH run -0 sh "$node/booted" now
	assert_output "$(printf '%s\n' stop reset-failed 'start SLURMD_OPTIONS="--conf-server head -b"')"
	run -0 ls "$node/proc"
	assert_output "$(printf '%s\n' "${kept[@]}" | sort)"
	run -0 ls "$node/run/systemd/system/slurmd.service.d"
	assert_output ''

	stand_in /sbin/slurmd-wlm 1 0 slurmd.service
	echo "$process" | tee "$node/main" >"$node/slurmds"
	touch "$node/fails"
	PATH=$node:$PATH run -0 sh "$node/booted" now
	assert_output "$(for _ in 1 2 3 4 5 6; do printf '%s\n' stop reset-failed 'start SLURMD_OPTIONS="--conf-server head -b"'; done
		printf '%s\n' stop reset-failed start)"
	kill "${kept[@]}"
}

# with_squeue LINE...: what Slurm says of this node's jobs.
with_squeue() {
	script squeue 'cat <<END' "$@" END
	configure "SqueuePath=$node/squeue"
}

# listen_as JOB: a step's socket on node pmunit7, as slurmstepd has one.
listen_as() {
	/usr/bin/python3 -c 'import socket, sys, time
listener = socket.socket(socket.AF_UNIX)
listener.bind(sys.argv[1])
listener.listen()
time.sleep(60)' "$node/pmunit7_$1.4294967291" 3>&- &
	listener=$!
	until [ -S "$node/pmunit7_$1.4294967291" ]; do sleep 0.1; done
}

KEPT="the node's mode is not changed until that job has ended"

@test "helper and reboot refuse while a job is suspended, and reachable prints its mode alone until it is not" {
	into memory
	with_squeue '12 CONFIGURING' '14 COMPLETING' '15 RUNNING'
	run -0 pmctl reachable
	assert_output "$(printf '%s\n' pm_memory pm_appdirect pm_mixed)"
	with_squeue '12 CONFIGURING' '13 SUSPENDED'
	run -0 pmctl reachable
	assert_line pm_appdirect
	run -6 pmctl helper pm_appdirect
	assert_output "pmctl: helper: job 13 is suspended on this node: $KEPT"
	run -0 pmctl reachable
	assert_output "$(printf '%s\n' "pmctl: reachable: job 13 is suspended on this node: $KEPT" pm_memory)"
	run -6 pmctl reboot
	assert_output "pmctl: reboot: job 13 is suspended on this node: $KEPT"
	with_squeue '12 CONFIGURING'
	run -0 pmctl reachable
	assert_output "$(printf '%s\n' pm_memory pm_appdirect pm_mixed)"
	run -0 pmctl helper pm_appdirect
	# Suspended since: the goal is not left for another reboot.
	with_squeue '13 SUSPENDED'
	run -6 pmctl reboot
	run -0 pmctl journal
	assert_output --partial 'withdrawn'
	run -0 pmctl mode
	assert_output memory
}

@test "a job that Slurm calls running keeps the mode if it has a step here; a step of a job that has ended does not" {
	into memory
	configure
	with_squeue '13 RUNNING'
	listen_as 13
	SLURMD_NODENAME=pmunit7 run -6 pmctl helper pm_appdirect
	assert_output "pmctl: helper: job 13 runs on this node: $KEPT"
	SLURMD_NODENAME=pmunit8 run -0 pmctl helper pm_appdirect
	run -0 pmctl reboot
	run -0 pmctl verify
	into memory
	with_squeue '13 COMPLETING'
	SLURMD_NODENAME=pmunit7 run -0 pmctl helper pm_appdirect
	script squeue 'echo no controller >&2' 'exit 1'
	SLURMD_NODENAME=pmunit7 run -6 pmctl helper pm_appdirect
	assert_output --partial "job 13 may be suspended on this node: $KEPT"
	SLURMD_NODENAME=pmunit8 run -0 pmctl helper pm_appdirect
	kill "$listener"
	SLURMD_NODENAME=pmunit7 run -0 pmctl helper pm_appdirect
}

@test "job begin and job end say what is wrong with their words" {
	run -2 pmctl job begin --expect memory --job 1 --uid 1
	assert_output --partial "--gid=GID: a group's number expected"
	run -2 pmctl job begin --expect memory --job 1 --uid 1 --gid 4294967295
	run -2 pmctl job begin --expect memory --job 1 --uid root --gid 1
	run -2 pmctl job begin --expect memory --job ../1 --uid 1 --gid 1
	run -2 pmctl job begin --expect memory --job 1 --uid 1 --gid 1 --size 10
	run -2 pmctl job begin --expect memory --job 1 --uid 1 --gid 1 --size 0G
	run -2 pmctl job begin --expect memory --job 1 --uid 1 --gid 1 --namespace raw
	run -2 pmctl job end
	run -2 pmctl job end --job 0
	run -0 ls "$node/state" "$node/run"
	refute_output --partial jobs
}

# view_of JOB MODE: what a job of user 1 is told on a node that makes nothing
view_of() {
	printf '%s\n' PM_JOB="$1" PM_UID=1 PM_BOOT="$(cat "$node/machine/root/proc/sys/kernel/random/boot_id")" PM_MODE="$2"
}

@test "a job is told its mode, also again, and forgotten at its end" {
	into memory
	run -0 pmctl job begin --expect appdirect,memory --job 12 --uid 1 --gid 1
	assert_equal "$(cat "$node/run/jobs/12")" "$(view_of 12 memory)"
	assert_equal "$(stat -c %a "$node/run/jobs/12" "$node/state/jobs" "$node/state/jobs/12.json" | xargs)" "644 700 600"
	run -0 pmctl job begin --expect memory --job 12 --uid 1 --gid 1
	run -0 pmctl job begin --expect memory --job 13 --uid 1 --gid 1
	run -1 pmctl job begin --expect appdirect --job 14 --uid 1 --gid 1
	run -0 pmctl job end --job 12
	run -0 pmctl job end --job 12
	run -0 ls "$node/run/jobs" "$node/state/jobs"
	refute_line 12
	assert_line 13
	rm -f "$node/run/jobs/13"
	run -0 pmctl job begin --expect memory --job 13 --uid 1 --gid 1
	assert_equal "$(cat "$node/run/jobs/13")" "$(view_of 13 memory)"
}

@test "a job gets memory that exists beside that of others, and memory that is one job's alone with its nodes alone" {
	into appdirect
	run -2 pmctl job begin --expect appdirect --job 12 --uid 1 --gid 1 --memory 10
	assert_output --partial "--memory=SIZE|all"
	run -2 pmctl job begin --expect appdirect --job 12 --uid 1 --gid 1 --allocated many
	run -3 pmctl job begin --expect appdirect --job 12 --uid 1 --gid 1 --memory 2000M
	assert_output --partial "job 12 has 2000 MiB of memory here, the node has 1984 MiB in mode appdirect"
	run -0 pmctl job begin --expect appdirect --job 12 --uid 1 --gid 1 --memory 1200M
	run -3 --separate-stderr pmctl job begin --expect appdirect --job 13 --uid 1 --gid 1 --memory 1200M
	assert_output holder=12
	run -3 --separate-stderr pmctl job begin --expect appdirect --job 13 --uid 1 --gid 1 --memory 100M --allocated 2000M
	assert_output unrecorded=$((700 << 20))
	run -0 pmctl job begin --expect appdirect --job 13 --uid 1 --gid 1 --memory 784M --allocated 1984M
	run -3 pmctl job begin --expect appdirect --job 14 --uid 1 --gid 1 --memory 1K
	run -0 pmctl job end --job 12
	run -0 pmctl job end --job 13
	run -0 pmctl job begin --expect appdirect --job 14 --uid 1 --gid 1 --memory all --allocated 8000M
	run -3 --separate-stderr pmctl job begin --expect appdirect --job 15 --uid 1 --gid 1 --memory 1M
	assert_output holder=14
	run -4 pmctl job begin --expect appdirect --namespace devdax --job 16 --uid 1 --gid 1 --shared
	assert_output --partial "only one job at a time can have devdax memory"
}

@test "what the site does not offer is refused with a sentence for the user" {
	into appdirect
	run -4 pmctl job begin --expect flat --job 12 --uid 1 --gid 1
	assert_output --partial "set up its persistent memory and offer no flat"
	run cat "$node/run/jobs/12"
	assert_line PM_MODE=flat
	assert_line --regexp '^PM_REFUSED=the administrators of this node set up its persistent memory'
	run -4 pmctl job begin --expect flat --job 12 --uid 1 --gid 1 --namespace devdax
	run -0 pmctl job end --job 12
	assert [ ! -e "$node/run/jobs/12" ]
	run -0 pmctl job begin --expect appdirect --job 12 --uid 1 --gid 1 --size 1G
	assert_equal "$(cat "$node/run/jobs/12")" "$(view_of 12 appdirect)"
}

@test "a job's record that cannot be understood is in the way of others until the job is over, and kept" {
	into appdirect
	run -0 pmctl job begin --expect appdirect --job 12 --uid 1 --gid 1
	echo '{' >"$node/state/jobs/12.json"
	run -3 --separate-stderr pmctl job begin --expect appdirect --job 13 --uid 1 --gid 1
	assert_output holder=12
	assert_regex "$stderr" "/jobs/12.json' is not a valid job record"
	assert_regex "$stderr" 'in use by job 12 .unreadable., job 13 needs'
	run -0 pmctl show
	assert_line --regexp '^  12 of '
	run -0 pmctl verify
	assert [ -s "$node/state/jobs/12.json" ]
	run -0 pmctl job end --job 12
	assert_output --partial "aside as '12.json.unreadable'"
	assert_equal "$(cat "$node/state/jobs/12.json.unreadable")" '{'
	assert [ ! -e "$node/run/jobs/12" ]
	run -0 pmctl job begin --expect appdirect --job 13 --uid 1 --gid 1
	refute_output
}

@test "what an earlier run of a job was given is made anew" {
	into memory
	run -2 pmctl job begin --expect memory --job 12 --uid 1 --gid 1 --run 'a b'
	assert_output --partial '--run=WORD'
	local run before=
	for run in 2026-11-23T21:21:07.0 2026-11-23T21:21:07.1; do
		run -0 pmctl job begin --expect memory --job 12 --uid 1 --gid 1 --run "$run"
		assert_not_equal "$(cat "$node/state/jobs/12.json")" "$before"
		before=$(cat "$node/state/jobs/12.json")
		run -0 pmctl job begin --expect memory --job 12 --uid 1 --gid 1 --run "$run"
		assert_equal "$(cat "$node/state/jobs/12.json")" "$before"
	done
}

@test "a view that is not this job's is not taken for it" {
	into memory
	run -0 pmctl job begin --expect memory --job 12 --uid 1 --gid 1
	sed -i 's/PM_JOB=12/PM_JOB=11/' "$node/run/jobs/12"
	run -0 pmctl job begin --expect memory --job 12 --uid 1 --gid 1
	assert_equal "$(cat "$node/run/jobs/12")" "$(view_of 12 memory)"
}

@test "show prints modules, goal and jobs, as JSON too, and to users what they may see" {
	into appdirect
	run -0 pmctl job begin --expect appdirect --job 12 --uid 0 --gid 0
	run -0 pmctl set memory
	run -0 pmctl show
	assert_line --regexp ': appdirect \(1LM'
	assert_line --regexp '^last change: staged, from appdirect to memory'
	assert_line --regexp '^  0x0001  socket 0 .* Healthy, lock Disabled'
	assert_line --regexp '^  goal on 0x0001: .* memory, 0.0 GiB App Direct'
	assert_line --regexp '^  12 of root: appdirect, '
	run -0 pmctl show --json
	run -0 /usr/bin/python3 -c 'import json, sys; node = json.load(sys.stdin)
print(node["mode"], len(node["modules"]) == len(node["goal"]) > 0, node["jobs"][0]["job"], node["unseen"])' <<<"$output"
	assert_output 'appdirect True 12 []'
	run -0 as_user show
	assert_line --partial 'modules and goal: must be root'
	refute_line --partial '0x0001'
}

# metric NAME... : the samples of these names
metric() {
	local names
	names=$(IFS='|'; echo "$*")
	pmctl metrics | grep -E "^slurm_pmem_($names)(\\{| )"
}

# sensors MODULE SENSOR VALUE... : ipmctl shows these values
sensors() {
	hook "show -o nvmxml -sensor" "\"\$real\" \"\$@\" | /usr/bin/python3 -c 'import re, sys
text, words = sys.stdin.read(), sys.argv[1:]
for module, kind, value in zip(*[iter(words)] * 3):
    text = re.sub(rf\"(<Type>{kind}</Type>\\s*<CurrentValue>)[^<]*(</CurrentValue>\\s*<DimmID>{module})\", rf\"\\g<1>{value}\\2\", text)
print(text)' $*"
}

# no_metric NAME
no_metric() {
	! pmctl metrics 2>/dev/null | grep -E "^slurm_pmem_$1(\{| )"
}

@test "metrics: the mode, and the last change with its outcome and its times" {
	run -0 metric node_mode node_serves
	assert_line 'slurm_pmem_node_mode{mode="unknown"} 1'
	assert_line 'slurm_pmem_node_serves 0'
	run -0 no_metric last_change
	into memory
	run -0 metric node_mode node_serves last_change changes_total
	assert_line 'slurm_pmem_node_mode{mode="unknown"} 0'
	assert_line 'slurm_pmem_node_mode{mode="memory"} 1'
	assert_line 'slurm_pmem_node_mode{mode="appdirect"} 0'
	assert_line 'slurm_pmem_node_serves 1'
	assert_line 'slurm_pmem_last_change{from="unknown",to="memory",state="done"} 1'
	assert_line 'slurm_pmem_changes_total{outcome="done"} 1'
	run -0 metric last_change_start_timestamp_seconds last_change_seconds last_change_reboot_seconds
	assert_line --regexp '^slurm_pmem_last_change_reboot_seconds [0-9]+([.][0-9]{1,3})?$'
	run -0 /usr/bin/python3 -c 'import json, sys
from datetime import datetime
times = [datetime.fromisoformat(step["time"][:-1] + "+00:00").timestamp() for step in json.load(open(sys.argv[1]))["steps"]]
values = [float(line.split()[1]) for line in sys.argv[2].splitlines()]
print([abs(a - b) < 1e-5 for a, b in zip(values, [times[0], times[-1] - times[0], times[-1] - times[2]])])' \
		"$node/state/journal.json" "$output"
	assert_output '[True, True, True]'
}

@test "metrics: changes are counted by their outcome, and an open one has no time" {
	into memory
	run -0 pmctl set appdirect
	run -0 metric changes_total last_change
	assert_line 'slurm_pmem_changes_total{outcome="done"} 1'
	assert_line 'slurm_pmem_last_change{from="memory",to="appdirect",state="staged"} 1'
	run -0 no_metric last_change_seconds
	run -0 pmctl set memory
	run -0 metric changes_total
	assert_line 'slurm_pmem_changes_total{outcome="undone"} 1'
	run -0 metric last_change_seconds
	run -0 no_metric last_change_reboot_seconds
	run -0 pmctl set appdirect
	"$node/reset" --fault goal-rejected
	run -1 pmctl verify
	run -0 metric changes_total node_serves
	assert_line 'slurm_pmem_changes_total{outcome="done"} 1'
	assert_line 'slurm_pmem_changes_total{outcome="failed"} 1'
	assert_line 'slurm_pmem_node_serves 0'
}

@test "metrics: each module with its firmware, its health and its sensors" {
	configure SiteProfile=optane-200
	hook "show -d" "\"\$real\" \"\$@\" | sed '/<DimmID>0x1101/,/<.Dimm>/ { s/>Healthy</>Critical failure</; s/>02.02.00.1352</>02.02.00.1553</; }'"
	sensors 0x0001 MediaTemperature -7C 0x0001 PercentageRemaining 3% 0x0001 LatchedDirtyShutdownCount 5 0x0001 PowerOnTime 86400s \
		0x0101 FwErrorCount 2 0x0101 ControllerTemperature Unknown
	run -0 metric module_info module_sound module_health modules_missing module_capacity_bytes module_remaining_life_ratio \
		module_media_temperature_celsius module_controller_temperature_celsius \
		module_unsafe_shutdowns_total module_error_log_entries module_power_cycles_total module_power_on_seconds_total
	assert_line 'slurm_pmem_module_info{module="0x0001",socket="0",class="optane-200",part="NMB1XXD128GPS",firmware="02.02.00.1352"} 1'
	assert_line 'slurm_pmem_module_info{module="0x1101",socket="1",class="optane-200",part="NMB1XXD128GPS",firmware="02.02.00.1553"} 1'
	assert_line 'slurm_pmem_module_sound{module="0x0001"} 1'
	assert_line 'slurm_pmem_module_sound{module="0x1101"} 0'
	assert_line 'slurm_pmem_module_health{module="0x1101",state="Critical failure"} 1'
	assert_line 'slurm_pmem_modules_missing 0'
	assert_line 'slurm_pmem_module_capacity_bytes{module="0x1101"} 2214592512'
	assert_line 'slurm_pmem_module_remaining_life_ratio{module="0x0001"} 0.03'
	assert_line 'slurm_pmem_module_remaining_life_ratio{module="0x0101"} 1'
	assert_line 'slurm_pmem_module_media_temperature_celsius{module="0x0001"} -7'
	assert_line 'slurm_pmem_module_media_temperature_celsius{module="0x0101"} 38'
	assert_line 'slurm_pmem_module_unsafe_shutdowns_total{module="0x0001"} 5'
	assert_line 'slurm_pmem_module_unsafe_shutdowns_total{module="0x0101"} 0'
	assert_line 'slurm_pmem_module_controller_temperature_celsius{module="0x0001"} 40'
	refute_line --partial 'controller_temperature_celsius{module="0x0101"}'
	assert_line 'slurm_pmem_module_error_log_entries{module="0x0101"} 2'
	assert_line 'slurm_pmem_module_power_on_seconds_total{module="0x0001"} 86400'
	assert_line 'slurm_pmem_module_power_cycles_total{module="0x1101"} 0'
}

@test "metrics: a module that does not tell its sensors takes none from the others" {
	hook "show -o nvmxml -sensor" "case \$* in *0x0001 | *-sensor)" "	cat '$PWD/tests/fixtures/ipmctl/sensor-failed.xml'" \
		"	exit 1 ;;" "esac" "exec \"\$real\" \"\$@\""
	run -0 --separate-stderr pmctl metrics
	assert_line 'slurm_pmem_read_failed{part="sensors"} 1'
	assert_line 'slurm_pmem_read_failed{part="modules"} 0'
	assert_line 'slurm_pmem_module_sound{module="0x0001"} 1'
	assert_line 'slurm_pmem_module_media_temperature_celsius{module="0x0101"} 38'
	assert_line 'slurm_pmem_module_media_temperature_celsius{module="0x1101"} 38'
	refute_line --partial 'celsius{module="0x0001"}'
	output=$stderr
	assert_output --regexp '^pmctl: metrics: sensors: .*ipmctl show -o nvmxml -sensor -dimm 0x0001 .*Failed to read the sensors'
}

@test "metrics: a module that has gone is counted" {
	into appdirect
	without_module 0x0101
	run -0 metric modules_missing
	assert_output 'slurm_pmem_modules_missing 1'
}

@test "metrics: bad blocks of the regions" {
	into appdirect
	local devices=$node/machine/root/sys/bus/nd/devices
	printf '%s\n' '2048 8' '4096 16' >"$devices/region0/badblocks"
	rm -f "$devices/region1/badblocks"
	run -0 metric region_bad_blocks
	assert_output 'slurm_pmem_region_bad_blocks{region="region0"} 24'
	: >"$devices/region1/badblocks"
	run -0 metric region_bad_blocks
	assert_line 'slurm_pmem_region_bad_blocks{region="region1"} 0'
	echo rubbish >"$devices/region1/badblocks"
	run -0 pmctl metrics
	assert_line "pmctl: metrics: bad_blocks: region1: two numbers expected in a list of bad blocks, not 'rubbish'"
	assert_line 'slurm_pmem_read_failed{part="bad_blocks"} 1'
}

@test "metrics: without root, or without ipmctl, what can be read is printed, and the rest is named" {
	into appdirect
	run -0 as_user metrics
	assert_line 'slurm_pmem_node_mode{mode="appdirect"} 1'
	assert_line 'slurm_pmem_read_failed{part="mode"} 0'
	assert_line 'slurm_pmem_read_failed{part="modules"} 1'
	assert_line 'slurm_pmem_read_failed{part="jobs"} 1'
	assert_line 'pmctl: metrics: modules: must be root'
	refute_line --partial slurm_pmem_module
	hook "show" "echo broken"
	echo '{' >"$node/state/counters.json"
	run -0 pmctl metrics
	assert_line 'slurm_pmem_node_mode{mode="appdirect"} 1'
	assert_line 'slurm_pmem_read_failed{part="modules"} 1'
	assert_line 'slurm_pmem_read_failed{part="counters"} 1'
	assert_line 'slurm_pmem_jobs 0'
	refute_line --partial slurm_pmem_changes_total
}

@test "metrics: a job that has persistent memory is counted" {
	into appdirect
	run -0 pmctl job begin --expect appdirect --job 12 --uid 0 --gid 0
	run -0 metric jobs
	assert_output 'slurm_pmem_jobs 1'
}

@test "metrics: written as a whole for everybody, as promtool likes them, and as JSON" {
	into memory
	(umask 077; pmctl metrics --output="$node/slurm-pmem.prom")
	assert_equal "$(stat -c %a "$node/slurm-pmem.prom")" 644
	run -0 promtool check metrics <"$node/slurm-pmem.prom"
	assert_output ''
	cp "$node/slurm-pmem.prom" "$node/before"
	run -1 pmctl metrics --output="$node/none/slurm-pmem.prom"
	assert_output --partial "$node/none/slurm-pmem.prom"
	run -0 pmctl metrics --json
	run -0 /usr/bin/python3 -c 'import json, sys
answer, lines = json.loads(sys.argv[1]), open(sys.argv[2]).read().splitlines()
named = {row["name"]: row for row in answer["metrics"]}
samples = sum(len(row["samples"]) for row in answer["metrics"])
print(answer["version"], samples == sum(not line.startswith("#") for line in lines),
      named["slurm_pmem_node_mode"]["samples"][0], named["slurm_pmem_changes_total"]["type"])' "$output" "$node/before"
	assert_output "1 True {'labels': {'mode': 'memory'}, 'value': 1} counter"
	run -1 pmctl metrics --cluster
	assert_line 'slurm_pmem_controller_up 0'
	assert_line --regexp '^pmctl: metrics: ControllerAddr=auto in pmem.conf: '
	echo 'ControllerAddr=127.0.0.1:1,[::1]:2' >>"$node/pmem.conf"
	run -1 pmctl metrics --cluster
	assert_line "pmctl: metrics: connect to '127.0.0.1:1': Connection refused; connect to '[::1]:2': Connection refused"
	refute_line --partial slurm_pmem_cluster
}

@test "gather writes one private archive that holds what the tools print" {
	into appdirect
	run -0 pmctl gather -o "$node/report.tar.gz"
	assert_output "$node/report.tar.gz"
	assert_equal "$(stat -c %a "$node/report.tar.gz")" 600
	mkdir "$node/unpacked"
	run -0 tar -xzf "$node/report.tar.gz" -C "$node/unpacked" --strip-components=1
	assert_output ''
	cmp "$node/unpacked/state/journal.json" "$node/state/journal.json"
	cmp "$node/unpacked/root/proc/sys/kernel/random/boot_id" "$node/machine/root/proc/sys/kernel/random/boot_id"
	"$node/real" show -u B -o nvmxml -region | cmp - "$node/unpacked/tools/ipmctl.show.-u.B.-o.nvmxml.-region"
	grep -q "^IpmctlPath=$node/ipmctl # $node/pmem.conf:1" "$node/unpacked/config"
	grep -q "^pmctl " "$node/unpacked/versions"
	run -1 pmctl gather --output="$node/none/report.tar.gz"
	run -0 ls "$node"
	refute_output --partial report.tar.gz.
}

# A tool's output as it was recorded, found by its words.
PLAYER='name=$(basename "$0"); for word; do name=$name.$word; done; file=${0%/*}/tools/$name
[ -e "$file" ] || { echo "not recorded: $name"; exit 99; }
cat "$file"; exit "$(cat "$file.status" 2>/dev/null || echo 0)"'

# play NAME [LINE]... : the node is a recorded one, with these lines more in its configuration
play() {
	local tool
	tar -xzf "tests/fixtures/gathered/$1.tar.gz" -C "$node" --strip-components=1 --no-same-permissions
	chmod -R go-w "$node"
	for tool in ipmctl ndctl daxctl; do script $tool "$PLAYER"; done
	shift
	configure Provision=yes "FsRoot=$node/root DaxctlPath=$node/daxctl" "$@"
}

@test "what gather has recorded on a node is a machine that pmctl reads like that node" {
	play appdirect-fsdax
	run -0 pmctl mode --fresh
	assert_output appdirect
	run -0 pmctl show --json
	run -0 /usr/bin/python3 -c 'import json, sys; node = json.load(sys.stdin)
print(node["unseen"], node["jobs"][0]["job"], [space["owner"] + " " + space["mount"]["place"] + " " + str(space["jobs"][0]["job"])
    for region in node["regions"] for space in region["namespaces"]])' <<<"$output"
	assert_output "[] 4711 ['ours /mnt/slurm-pmem/socket0 4711', 'ours /mnt/slurm-pmem/socket1 4711']"
}

@test "show tells the site profile of the node's class, and that it cannot be read" {
	mkdir "$node/profiles"
	cp tests/fixtures/site-profiles/round.json "$node/profiles/round-numbers.json"
	play appdirect-fsdax SiteProfile=round-numbers "SiteProfileDir=$node/profiles"
	run -0 pmctl show
	assert_line --regexp '^site profile round-numbers, measured on n1, 2026-11-25, [0-9]+ days? ago$'
	run -0 pmctl show --json
	run -0 /usr/bin/python3 -c 'import json, sys; profile = json.load(sys.stdin)["site_profile"]
print(profile["class"], profile["host"], profile["is_virtual"])' <<<"$output"
	assert_output 'round-numbers n1 False'
	play appdirect-fsdax SiteProfile=absent "SiteProfileDir=$node/profiles"
	run -0 pmctl show
	assert_line --partial 'site profile: '
	refute_line --partial 'site profile absent'
}

# in_kernel TEXT FILE... : what the recorded kernel says in files of sys/bus/nd/devices
in_kernel() {
	local text=$1 file
	shift
	for file; do echo "$text" >"$node/root/sys/bus/nd/devices/$file"; done
}

@test "new keys go to all modules of our regions, and to none that hold anything else" {
	play appdirect-devdax Wipe=crypto-erase
	script ndctl "echo \"\$*\" >>'$node/log'" "case \$1 in sanitize-dimm) . '$node/sanitize' ;; list)" \
		"	name=ndctl; for word; do name=\$name.\$word; done; cat '$node/tools'/\$name ;; esac"
	echo "for mode in '$node'/root/sys/bus/nd/devices/namespace*/mode; do echo raw >\$mode; done" >"$node/sanitize"

	in_kernel disabled nmem{0,1,2,3}/security
	in_kernel frozen nmem2/security
	run -1 pmctl provision empty
	assert_output --partial "security of module nmem2 is frozen"
	rm "$node/root/sys/bus/nd/devices/nmem2/security"
	run -1 pmctl provision empty
	assert_output --partial "module nmem2 offers no security, set Wipe=zero in pmem.conf"
	in_kernel unlocked nmem2/security
	in_kernel data namespace1.0/alt_name
	run -1 pmctl provision empty
	assert_output --partial "namespace1.0 is foreign and would be lost"
	in_kernel slurm-devdax namespace1.0/alt_name
	run ! grep -E 'region|sanitize' <(grep -v ^list "$node/log")

	run pmctl provision empty
	assert_output --partial "wiped 4 modules by new keys"
	run grep -E '^(disable|enable|sanitize)' "$node/log"
	assert_line --index 0 --regexp '^disable-region region[01]$'
	assert_line 'sanitize-dimm --crypto-erase nmem0 --zero-key'
	assert_line 'sanitize-dimm --crypto-erase nmem2'
	assert_equal "$(grep -c sanitize "$node/log")" 4
	assert_equal "$(grep -c 'enable-region region' "$node/log")" 2

	in_kernel dax namespace0.0/mode
	: >"$node/sanitize"
	run -1 pmctl provision empty
	assert_output --partial "namespace0.0 is still 'dax', its bytes were not erased"
}

@test "job begin lets a job in only where it wants to be" {
	into memory
	run -0 pmctl job begin --expect memory
	refute_output
	run -0 pmctl job begin --expect=appdirect,memory
	run -1 --separate-stderr pmctl job begin --expect appdirect
	refute_output
	assert_regex "$stderr" "^pmctl: job begin: job expects appdirect, node is in memory \(2LM"
	run -2 pmctl job begin --expect bogus
	assert_output --partial "unknown mode 'bogus' in --expect, modes are: memory, appdirect, flat, mixed"
	run -2 pmctl job begin
	run -2 pmctl job begin --expect ,
}

@test "a reboot does without the lock when there is no writing" {
	pmctl set memory >/dev/null
	rm "$node/state/lock" && mkdir "$node/state/lock"
	run -0 pmctl reboot
	assert_line --partial "open '$node/state/lock': Is a directory; rebooting anyway"
	run -0 pmctl mode --fresh
	assert_output memory
}

@test "a reboot that fails says what the command said" {
	script reset 'echo "inhibited" >&2; exit 3'
	run -1 pmctl reboot pm_memory
	assert_output --partial "'$node/reset' ended with status 3, printed: 'inhibited'"
}

# The goal was staged an hour ago.
age_goal() {
	sed -i -E 's/("ordered_s": ?)[0-9]+/\10/' "$node/state/journal.json"
}

no_goals() {
	[ "$(goals | grep -c 0x)" -eq 0 ]
}

WITHDRAWN="goal memory was staged for a job that is gone, and is withdrawn"

@test "a goal that was staged for a job is applied by the reboot behind it" {
	into appdirect
	pmctl helper pm_memory
	run -0 pmctl reboot
	refute_output --partial withdrawn
	run -0 pmctl verify
	assert_output "node is in memory, as it was asked"
}

@test "a goal that was staged for a job is applied by a reboot that names its feature" {
	into appdirect
	pmctl helper pm_memory
	age_goal
	run -0 pmctl reboot rack1,pm_memory
	run -0 pmctl verify
	assert_output "node is in memory, as it was asked"
}

@test "a goal that was staged for a job is withdrawn at a reboot that is not the job's" {
	local words
	into appdirect
	for words in '' rack1,pm_mixed; do
		pmctl helper pm_memory
		age_goal
		run -0 pmctl reboot $words
		assert_line "$WITHDRAWN"
		run -0 pmctl verify
		assert_mode appdirect
		assert_equal "$(journal_state)" undone
		run -0 pmctl health
	done
}

@test "a goal that an administrator has staged, or taken over, is applied by any reboot" {
	into appdirect
	pmctl set memory
	age_goal
	run -0 pmctl reboot
	run -0 pmctl verify
	assert_output "node is in memory, as it was asked"
	into appdirect
	pmctl helper pm_memory
	pmctl set memory
	age_goal
	run -0 pmctl reboot
	run -0 pmctl verify
	assert_output "node is in memory, as it was asked"
}

@test "a goal that was staged for a job is withdrawn when its reboot fails, an administrator's is not" {
	into appdirect
	script reset 'exit 3'
	pmctl helper pm_memory
	run -1 pmctl reboot
	assert_line "$WITHDRAWN"
	no_goals
	run -0 metric last_change
	assert_output --partial 'state="undone"'
	run -0 no_metric last_change_reboot_seconds
	pmctl set memory
	run -1 pmctl reboot
	refute_output --partial withdrawn
	run ! no_goals
}

@test "a bad line of the configuration stops every verb with file and line" {
	configure "" "Bogus=1"
	for verb in mode verify health journal helper show-config reboot "set memory" "job begin --expect memory"; do
		run -1 pmctl $verb
		assert_output --partial "$node/pmem.conf:7: unknown key 'Bogus', see pmem.conf(5)"
	done
	[ ! -e "$node/state/journal.json" ]
}

@test "root reads no configuration and runs no tool that others can change" {
	chmod 664 "$node/pmem.conf"
	run -1 pmctl mode
	assert_output --partial "'$node/pmem.conf' is writable by group or others (mode 0664)"
	configure
	chmod 757 "$node/ipmctl"
	run -1 pmctl mode
	assert_output --partial "'$node/ipmctl' is writable by group or others"
	chmod 755 "$node/ipmctl"
	chmod 777 "$node/state"
	run -1 pmctl set memory
	assert_output --partial "'$node/state' is writable by group or others"
}

@test "show-config says where each value comes from" {
	configure "ToolTimeout=7" "NodeName=n[1-3] ToolTimeout=8"
	run -0 pmctl --node n2 show-config
	assert_line "# node n2, file $node/pmem.conf"
	assert_line "ToolTimeout=8 # $node/pmem.conf:7"
	assert_line "ScontrolPath=/usr/bin/scontrol # default"
	run -0 pmctl show-config --node n4
	assert_line "ToolTimeout=7 # $node/pmem.conf:6"
	SLURMD_NODENAME=n1 run -0 pmctl show-config
	assert_line "ToolTimeout=8 # $node/pmem.conf:7"
}

@test "wrong usage exits 2 and says what to try" {
	for words in "" bogus "--bogus mode" "mode --bogus" "mode --clear" set "set memory appdirect" "set bogus" \
		"mode extra" "job" "job end" "mode --config"; do
		run -2 "$build/pmctl" $words
		assert_output --regexp "^(pmctl: |usage: pmctl )"
	done
	run -2 pmctl set bogus
	assert_output "pmctl: set: unknown mode 'bogus', modes are: memory, appdirect, flat, mixed"
}

@test "what only root may do is refused to others" {
	for words in "set memory" reboot verify helper "job begin --expect memory"; do
		run -1 as_user $words
		assert_output --partial "must be root"
	done
	run -1 as_user mode --fresh
	assert_output --partial "must be root"
}

@test "output that cannot be written is an error" {
	into memory
	run -1 bash -c "'$build/pmctl' --config '$node/pmem.conf' mode >/dev/full"
	assert_output --partial "write to stdout"
}

@test "two pmctl never run ipmctl at the same time" {
	into memory
	hook show "mkdir '$node/busy' || touch '$node/overlap'" 'sleep 0.1' \
		'$real "$@"; rc=$?' "rmdir '$node/busy'" 'exit $rc'
	pmctl mode --fresh >"$node/first" 3>&- &
	run -0 pmctl mode --fresh
	wait $!
	assert_output memory
	assert_equal "$(cat "$node/first")" memory
	[ ! -e "$node/overlap" ]
}

# used KIND : GiB of that row of -memoryresources
used() {
	"$node/real" show -memoryresources | sed -n "s/^ *$1 .*| *\([0-9.]*\) GiB *| [^|]*$/\1/p"
}

@test "mixed at the site's percentages" {
	twelve dram_per_socket=96*GIB
	configure MixedPercent=40 ReservedPercent=30
	into mixed
	assert_mode mixed
	assert_equal "$(used Volatile) $(used AppDirect)" "600.000 456.000"
	run -0 pmctl helper
	assert_output pm_mixed
	run -0 pmctl health
	refute_output
	run -0 as_user mode --verbose
	assert_line mixed
	assert_line --partial "2LM, 600.0 GiB of persistent memory as main memory, MemTotal"
	assert_line --partial "2 region(s) of 456.0 GiB App Direct"
	run -0 pmctl set mixed
	assert_output "node is in mixed already"
}

@test "other percentages than the node has are another goal" {
	configure MixedPercent=50
	shape pmem_per_dimm=8*GIB
	into mixed
	configure MixedPercent=75
	run -0 pmctl set mixed
	assert_output "goal mixed is staged on 4 modules, reboot to apply it"
	pmctl reboot && pmctl verify
	assert_equal "$(used Volatile) $(used AppDirect)" "24.000 8.000"
	into memory
	configure ReservedPercent=25
	run -0 pmctl set memory
	assert_output --partial "is staged on 4 modules"
	pmctl reboot && pmctl verify
	assert_mode memory
	assert_equal "$(used Volatile)" 24.000
	into appdirect
	assert_mode appdirect
	assert_equal "$(used AppDirect)" 24.000
}

@test "a staged goal is replaced when the percentages change" {
	shape pmem_per_dimm=8*GIB
	pmctl set mixed
	run -0 pmctl set mixed
	assert_output --partial "staged already"
	configure MixedPercent=25
	run -0 pmctl set mixed
	assert_line "goal mixed of this boot is withdrawn"
	assert_line --partial "goal mixed is staged"
}

@test "ipmctl stores what was computed, on modules of all sizes" {
	local overhead percent sizes=(2*GIB 7*GIB 126*GIB 252*GIB)
	RANDOM=17
	for overhead in 0 64*MIB 1000*MIB; do
		shape "pmem_per_dimm=${sizes[RANDOM % 4]}" "pmem_overhead=$overhead" dram_per_socket=512*MIB
		for percent in 50 $((RANDOM % 40 + 50)) $((RANDOM % 99 + 1)); do
			configure "MixedPercent=$percent" "ReservedPercent=$((RANDOM % (100 - percent) % 91))"
			run pmctl set mixed
			[ "$status" -eq 0 ] || assert_output --partial "rounding would leave module 0x0001"
			run -0 pmctl set memory
		done
	done
}

@test "App Direct regions that are not interleaved" {
	configure AppDirectType=AppDirectNotInterleaved
	into appdirect
	assert_mode appdirect
	assert_equal "$("$node/real" show -region | grep -c AppDirectNotInterleaved)" 4
	into mixed
	assert_mode mixed
	assert_equal "$("$node/real" show -region | grep -c AppDirectNotInterleaved)" 4
}

@test "more DRAM than main memory behind it is refused with the percentage that would do" {
	twelve dram_per_socket=96*GIB
	configure MixedPercent=10
	run -1 pmctl set mixed
	assert_output --partial "socket 0x0000 has 96.0 GiB of DRAM as cache and would have only 72.0 GiB of persistent memory as main memory behind it; set MixedPercent to 13 or more in pmem.conf"
	configure MixedPercent=12
	run -1 pmctl set mixed
	assert_no_goal
	configure MixedPercent=13
	run -0 pmctl set mixed
	assert_line --partial "ipmctl: WARNING! The requested memory mode size is below the recommended NM:FM limit of 1:3.6"
	assert_line "goal mixed is staged on 12 modules, reboot to apply it"
	shape dram_per_socket=8*GIB
	run -1 pmctl set memory
	assert_output --partial "socket 0x0000 has 8.0 GiB of DRAM as cache and would have only 4.0 GiB of persistent memory as main memory behind it; the socket needs less DRAM or more persistent memory"
}

@test "what a CPU cannot map is said, and the rest is staged" {
	twelve dram_per_socket=96*GIB mapped_limit=700*GIB
	run -0 pmctl set memory
	assert_line --partial "Socket 0x0000: Error 127 - The amount of mapped memory was limited"
	pmctl reboot && pmctl verify
	assert_mode memory
	run -0 pmctl set memory
	assert_output "node is in memory already"
}

@test "rounding that leaves nothing of a kind is refused" {
	configure MixedPercent=50 ReservedPercent=10
	run -1 pmctl set mixed
	assert_output --partial "rounding would leave module 0x0001 of 2.1 GiB nothing as App Direct; change MixedPercent or ReservedPercent in pmem.conf"
	assert_no_goal
}

# Takes a module out of what ipmctl shows.
without_module() {
	hook "show -d" "\"\$real\" \"\$@\" | /usr/bin/python3 -c 'import re, sys
print(re.sub(r\" *<Dimm>\\s*<DimmID>$1</DimmID>.*?</Dimm>\\s*\", \"\", sys.stdin.read(), flags=re.S))'"
}

@test "a module that has gone is named, and nothing is set without it" {
	into appdirect
	without_module 0x0101
	run -1 pmctl set memory
	assert_output --partial "module 0x0101 of socket 0x0000 is missing, 3 of 4 are there; put it back"
	assert_no_goal
	run -1 pmctl verify
	assert_output --partial "module 0x0101 of socket 0x0000, which the node had, is missing"
	run -1 pmctl health
	assert_output --partial "module 0x0101"
	unhook
	run -0 pmctl verify
	run -0 pmctl health
	without_module 0x0101
	pmctl verify || true
	pmctl health --clear || true
	run -0 pmctl verify
	assert_output --partial "node is in appdirect"
}

@test "sockets in different modes are no mode" {
	into memory
	hook "show -d" "\"\$real\" \"\$@\" | /usr/bin/python3 -c 'import re, sys
print(re.sub(r\"(<SocketID>0x0001.*?<MemoryCapacity>)\\d+ B\", r\"\\g<1>0 B\", sys.stdin.read(), flags=re.S))'"
	run -1 pmctl verify
	assert_output --partial "the sockets are in different modes: socket 0x0000 has 4.0 GiB as main memory and 0.0 GiB App Direct, socket 0x0001 has 0.0 and 0.0 GiB"
	assert_mode unknown
	run -1 pmctl helper
	refute_output
}

# online REGION NODE : the kernel of the machine has the region's memory
online() {
	local root=$node/machine/root dax=sys/devices/ndbus0/region$1/dax$1.0/dax$1.0
	mkdir -p "$root/$dax" "$root/sys/bus/dax/devices" "$root/sys/devices/system/node/node$2"
	ln -s "../../../../../../bus/dax/drivers/kmem" "$root/$dax/driver"
	echo "$2" >"$root/$dax/target_node"
	ln -s "../../../devices/ndbus0/region$1/dax$1.0/dax$1.0" "$root/sys/bus/dax/devices/dax$1.0"
	echo "Node $2 MemTotal:    4000000 kB" >"$root/sys/devices/system/node/node$2/meminfo"
	awk '/^MemTotal/ { $2 += 4000000 } { print }' "$root/proc/meminfo" >"$node/meminfo"
	cp "$node/meminfo" "$root/proc/meminfo"
}

@test "a node is in flat while the memory of all regions is online, at once and for everybody" {
	into appdirect
	run -0 as_user mode
	assert_output appdirect
	online 0 2
	run -0 as_user mode
	assert_output unknown
	online 1 3
	run -0 as_user mode --verbose
	assert_line flat
	assert_line --partial "system-ram: 2 of 2 regions, 7.6 GiB"
	run -0 pmctl mode --fresh
	assert_output flat
	run -0 pmctl helper
	assert_output pm_appdirect
	run -0 pmctl verify
	rm "$node/machine/root/sys/bus/dax/devices/dax"*
	awk '/^MemTotal/ { $2 -= 8000000 } { print }' "$node/meminfo" >"$node/machine/root/proc/meminfo"
	run -0 as_user mode
	assert_output appdirect
}

@test "flat is App Direct to the firmware" {
	configure Provision=yes
	run -0 pmctl set flat
	assert_output "goal flat is staged on 4 modules, reboot to apply it"
	pmctl reboot
	run pmctl verify
	assert_line "node is in appdirect, as it was asked"
	run -0 pmctl journal
	assert_line --index 0 "done: from unknown to flat"
	configure
	run -1 pmctl set flat
	assert_output --partial "Provision=no in pmem.conf: pmctl makes no flat memory on this node"
}

@test "whatever becomes of a goal of mixed, what to do is said and no bad state serves" {
	shape pmem_per_dimm=8*GIB
	into appdirect
	for fault in goal-socket0-only goal-split; do
		pmctl set mixed
		run "$node/reset" --fault "$fault"
		if [ "$status" -eq 0 ]; then
			run -1 pmctl verify
			assert_output --partial "; 'pmctl set mixed' and a reboot try again"
			run -1 pmctl health
			run -1 pmctl helper
			refute_output
		else
			"$node/reset" --fault goal-ignored
			run -1 pmctl verify
			assert_output --partial "goal mixed was not applied at reboot (still pending), goal deleted; node is in appdirect; 'pmctl set mixed'"
			pmctl health --clear
		fi
		assert_no_goal
		into appdirect
		run -0 pmctl health
		refute_output
	done
}

@test "the same mode at the old percentages is not what was asked" {
	shape pmem_per_dimm=8*GIB
	into mixed
	configure MixedPercent=75
	pmctl set mixed
	"$node/reset" --fault goal-rejected
	run -1 pmctl verify
	assert_output --partial "node is in mixed, but module 0x0001 has ConfigurationStatus 'Failed - Reverted'; 'pmctl set mixed' and a reboot try again"
	pmctl set mixed
	"$node/real" delete -goal >/dev/null
	"$node/reset"
	run -1 pmctl verify
	assert_output --partial "node is in mixed, but"
	into mixed
	run -0 pmctl health
}

@test "set leaves a living job's persistent memory alone" {
	into appdirect
	mkdir -m 700 "$node/state/jobs"
	pmctl mode --json >"$node/mode"
	boot=$(sed -n 's/.*"boot_id": *"\(.*\)".*/\1/p' "$node/mode")
	printf '%s' '{"version": 1, "job": 17, "uid": 1000, "gid": 1000, "state": "ready", "mode": "appdirect",' \
		'"substate": "fsdax", "size_bytes": 0, "boot_id": "'"$boot"'", "time": "2026-01-31T12:34:56.789Z"}' \
		>"$node/state/jobs/17.json"
	chmod 600 "$node/state/jobs/17.json"
	run -1 pmctl set memory
	assert_output --partial "job 17 has persistent memory of this node"
	assert_no_goal
}

# regions STATE [NAMESPACES] : what ndctl and daxctl print, recorded in that state
regions() {
	local recorded=$PWD/tests/fixtures/substate/ndctl-76/$1
	mkdir -p "$node/machine/root/proc/self"
	touch "$node/machine/root/proc/self/mountinfo"
	script ndctl 'case $* in' "*-R*) cat '$recorded.regions.json' ;;" \
		"*-N*) cat '${2:-$PWD/tests/fixtures/ndctl/nothing}' ;;" \
		"*-D*) [ ! -e '$recorded.daxes.json' ] || cat '$recorded.daxes.json' ;;" \
		"*) echo \"ndctl \$*\" >>'$node/changed' ;;" "esac"
}

@test "a dry run prints each command and what it destroys, and runs none" {
	into appdirect
	configure Provision=yes
	regions devdax "$PWD/tests/fixtures/ndctl/one-object.json"
	run -0 pmctl provision --dry-run empty
	assert_line --regexp "^would run 'wipe /dev/dax[01].0 by zero', which destroys "
	run -0 pmctl set --dry-run memory
	refute_output --partial 'wipe'
	assert_line --partial "would run '$node/ndctl destroy-namespace -f namespace1.0', which destroys the namespace namespace1.0"
	assert_line --regexp "^would run '$node/ipmctl create -u B -o nvmxml -goal MemoryMode=100', which destroys the labels of 4 modules"
	[ ! -e "$node/changed" ]
	assert_no_goal
	assert_equal "$(journal_state)" "done"
	pmctl set memory || true
	regions empty
	hook "create -goal" "touch '$node/tried'; exec \"\$real\" \"\$@\""
	run -0 pmctl set --dry-run memory
	assert_line --partial "-goal MemoryMode=100'"
	[ -e "$node/tried" ]
	configure Provision=yes MixedPercent=60
	run -0 pmctl set --dry-run mixed
	assert_line --partial "-goal MemoryMode=60 PersistentMemoryType=AppDirect'"
	run -0 pmctl set --dry-run flat
	assert_line --regexp "^would run '$node/ndctl create-namespace -m devdax .* -n slurm-flat -r region[01]'"
	refute_output --partial "-goal"
}

@test "a dry run shows which goal it would withdraw" {
	pmctl set memory
	run -0 pmctl set --dry-run appdirect
	assert_line "would withdraw the goal memory of this boot:"
	assert_line "would run '$node/ipmctl delete -o nvmxml -goal'"
	assert_line --partial "-goal PersistentMemoryType=AppDirect'"
	assert_equal "$(journal_state)" staged
}

@test "a foreign namespace is in the way of a goal, and nothing is changed" {
	into appdirect
	configure Provision=yes
	regions foreign
	run -1 pmctl set memory
	assert_output --partial "data"
	run -1 pmctl set --dry-run memory
	[ ! -e "$node/changed" ]
	assert_no_goal
	assert_equal "$(journal_state)" "done"
}

@test "a foreign namespace that was made since the goal was staged has the goal withdrawn" {
	into appdirect
	configure Provision=yes
	regions empty
	run -0 pmctl set memory
	regions foreign
	run -1 pmctl set memory
	assert_output --partial "is not slurm-pmem's"
	assert_output --partial "goal deleted, the mode stays appdirect"
	assert_no_goal
	assert_equal "$(journal_state)" undone
}

@test "a reboot withdraws a goal that would take a namespace that was made since" {
	into appdirect
	configure Provision=yes
	regions empty
	run -0 pmctl set memory
	regions foreign
	run -0 pmctl reboot
	assert_line --partial "goal memory is withdrawn, since it would take data: "
	assert_line --partial "is not slurm-pmem's"
	assert_equal "$(journal_state)" undone
	pmctl verify || true # the foreign namespace is in the way of file systems
	assert_mode appdirect
}

@test "a reboot applies a goal though the namespaces cannot be read" {
	into appdirect
	configure Provision=yes
	regions empty
	run -0 pmctl set memory
	script ndctl 'exit 1'
	run -0 pmctl reboot
	refute_output --partial withdrawn
	script ndctl "cat '$PWD/tests/fixtures/ndctl/nothing'"
	run -0 pmctl verify
	assert_output "node is in memory, as it was asked"
}

@test "a namespace is not pinned below a goal, which would take it at any reset" {
	into appdirect
	configure Provision=yes
	regions empty
	run -0 pmctl set memory
	regions foreign
	run -1 pmctl pin namespace0.0
	assert_output "pmctl: pin: goal memory is staged, and the next reset takes all namespaces; withdraw it first with 'pmctl set appdirect'"
	pmctl set appdirect || true # the foreign namespace is in the way of file systems
	assert_equal "$(journal_state)" undone
	run -0 pmctl pin namespace0.0
}

@test "capacity that is taken though ndctl shows nothing is in the way" {
	into appdirect
	hook "show -u B -o nvmxml -region" "\"\$real\" \"\$@\" | sed '0,/<FreeCapacity>[0-9]* B/s//<FreeCapacity>0 B/'"
	run -1 pmctl set memory
	assert_output --partial "ndctl shows no namespace, but for ipmctl 4294967296 of 4294967296 bytes of region 0x0001 on socket 0x0000 are taken"
	assert_no_goal
}

@test "a module that is missing, locked or ill after a boot is named" {
	into memory
	"$node/reset" --fault dimm-missing
	run -1 pmctl verify
	assert_output --partial "module 0x1101 of socket 0x0001, which the node had, is missing"
	run -1 pmctl set appdirect
	assert_output --partial "module 0x1101 of socket 0x0001 is missing, 3 of 4 are there"
	"$node/reset" --fault dimm-locked
	pmctl verify || true
	run -1 pmctl set appdirect
	assert_output --partial "module 0x1101 has LockState 'Locked'"
	"$node/reset" --fault dimm-unhealthy
	pmctl verify || true
	run -1 pmctl set appdirect
	assert_output --partial "module 0x1101 has HealthState 'Noncritical failure'"
	assert_no_goal
	"$node/reset"
	pmctl verify || true
	into appdirect
	assert_mode appdirect
}
