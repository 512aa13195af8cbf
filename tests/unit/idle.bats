#!/usr/bin/env bats
# Flat memory that stays for the next job. ndctl and daxctl are stand-ins that change between recorded states, as the
# kernel has no such memory here; a wipe fails, as the devices are missing. Needs root.
# shellcheck disable=SC2154 # output, stderr and status are set by run
bats_require_minimum_version 1.5.0

recorded=tests/fixtures/substate/ndctl-76

setup() {
	bats_load_library bats-support
	bats_load_library bats-assert
	[ "$(id -u)" -eq 0 ] || skip "pmctl changes modes only as root"
	cd "$BATS_TEST_DIRNAME/../.." || return
	build=${PM_BUILD:-$PWD/build}
	node=$(mktemp -d /run/pm-bats.XXXXXX)
	root=$node/machine/root
	chmod 755 "$node"
	mkdir -m 755 "$node/state" "$node/run"
	script ipmctl "export LD_PRELOAD=$build/tests/pmshim.so PMSHIM_NODE=$node/machine" 'exec /usr/bin/ipmctl "$@"'
	script reset "cd '$PWD/twin' && PYTHONDONTWRITEBYTECODE=1 exec /usr/bin/python3 -m machine reboot \"\$@\" '$node/machine' >/dev/null"
	script tool "now() { cat '$node/kernel'; }" 'case $* in' \
		"*-R*) cat \"$node/\$(now).regions.json\"; exit ;; *-D*) cat \"$node/\$(now).daxes.json\"; exit ;;" \
		"*-N*) cat '$PWD/tests/fixtures/ndctl/nothing'; exit ;; esac" "echo \"\$*\" >>'$node/changed'" 'case $* in' \
		"create-namespace*slurm-flat*) echo device >'$node/kernel' ;;" \
		"*'-m system-ram'*) echo flat >'$node/kernel' ;;" \
		"*'-m devdax -f'*) [ ! -e '$node/stuck' ] || exit 1; echo device >'$node/kernel' ;; esac"
	recorded_states
	configure Provision=no
	(cd twin && PYTHONDONTWRITEBYTECODE=1 /usr/bin/python3 -m machine init "$node/machine" >/dev/null)
	pmctl set appdirect >/dev/null && pmctl reboot >/dev/null && pmctl verify >/dev/null
	mkdir -p "$root/proc/self" "$root/sys/devices/system/memory" "$root/sys/kernel/mm/numa" "$root/proc/sys/vm"
	touch "$root/proc/self/mountinfo" "$root/proc/sys/vm/drop_caches"
	echo empty >"$node/kernel"
	configure
	echo online >"$root/sys/devices/system/memory/auto_online_blocks"
	echo true >"$root/sys/kernel/mm/numa/demotion_enabled"
}

teardown() {
	[ -z "${full-}" ] || umount -l "$full"
	# A 'pmctl job watch' in the background may still write.
	[ -z "${node-}" ] || until rm -rf "$node" 2>/dev/null; do sleep 0.2; done
}

# The states none, empty, device (the namespace is there, its memory is not online) and flat.
recorded_states() {
	local kind
	for kind in regions daxes; do
		cp "$recorded/empty.$kind.json" "$recorded/flat.$kind.json" "$node/"
		sed -e 's/"system-ram"/"devdax"/' -e '/_memblocks"/d' -e 's/"movable":true/"align":2097152/' \
			"$recorded/flat.$kind.json" >"$node/device.$kind.json"
	done
	touch "$node/none.regions.json" "$node/none.daxes.json"
	echo none >"$node/kernel"
}

script() {
	local path=$node/$1
	shift
	printf '%s\n' '#!/bin/sh' "$@" >"$path"
	chmod 755 "$path"
}

configure() {
	printf '%s\n' "IpmctlPath=$node/ipmctl NdctlPath=$node/tool DaxctlPath=$node/tool" "RebootCommand=$node/reset" \
		"StateDir=$node/state" "RunDir=$node/run" "FsRoot=$root" SubstateIdleTime=300 "$@" >"$node/pmem.conf"
	chmod 644 "$node/pmem.conf"
}

pmctl() {
	"$build/pmctl" --config "$node/pmem.conf" "$@"
}

begin() {
	run -0 pmctl job begin --expect flat --job "$1" --uid 1000 --gid 1000 --run "$1:0"
}

end() {
	run -0 pmctl job end --job "$1"
}

# assert_set_ups N: how often devices became memory, of the two that there are
assert_set_ups() {
	assert_equal "$(grep -c 'system-ram' "$node/changed")" $((2 * $1))
}

assert_take_backs() {
	assert_equal "$(grep -c 'devdax -f' "$node/changed")" $((2 * $1))
}

assert_kernel() {
	assert_equal "$(cat "$node/kernel")" "$1"
}

# One job in flat has been, and its memory stays.
leave_flat() {
	begin 1
	end 1
	assert_output --partial "the flat memory stays for the next job, for up to 300 s"
	[ -e "$node/run/idle.json" ]
	assert_kernel flat
}

# A job in flat as before, of memory as recorded.
begin_anew() {
	cp "$recorded/flat.daxes.json" "$node/"
	echo flat >"$node/kernel"
	begin 9
	end 9
}

@test "twenty jobs in flat, one set-up" {
	for job in {1..20}; do
		begin "$job"
		[ ! -e "$node/run/idle.json" ]
		grep -qx PM_NODE1=3 "$node/run/jobs/$job"
		end "$job"
		[ ! -e "$node/run/jobs/$job" ]
		[ ! -e "$node/state/jobs/$job.json" ]
	done
	assert_set_ups 1
	assert_take_backs 0
	run -0 pmctl job idle
	assert_take_backs 0
}

@test "the memory is read back: what is missing of it is set up again" {
	leave_flat
	sed -i 's/"online_memblocks":31/"online_memblocks":30/' "$node/flat.daxes.json"
	script tool.new "case \$* in online-memory*) cp '$PWD/$recorded/flat.daxes.json' '$node/' ;; esac" "exec '$node/tool.old' \"\$@\""
	mv "$node/tool" "$node/tool.old"
	mv "$node/tool.new" "$node/tool"
	begin 2
	assert_equal "$(grep -c online-memory "$node/changed")" 2
	assert_set_ups 1
	end 2
	echo device >"$node/kernel"
	begin 3
	assert_set_ups 2
}

@test "demotion is not written again where it is on, and is turned on where it is not" {
	local switch=$root/sys/kernel/mm/numa/demotion_enabled
	leave_flat
	touch -d @1 "$switch"
	begin 2
	end 2
	assert_equal "$(stat -c %Y "$switch")" 1
	echo false >"$switch"
	begin 3
	assert_equal "$(head -c 1 "$switch")" 1
	assert_set_ups 1
}

@test "a job without a mode: the kernel gives the memory back first, and it is wiped later" {
	leave_flat
	run -0 pmctl job make-way
	assert_kernel device
	assert_take_backs 1
	grep -q '"memory": *"offline"' "$node/run/idle.json"
	run -0 pmctl job make-way
	assert_take_backs 1
	begin 2
	assert_kernel flat
	assert_set_ups 2
	[ ! -e "$node/run/idle.json" ]
}

@test "the kernel keeps the memory: 5, it is online again, and the next call is later" {
	leave_flat
	touch "$node/stuck"
	run -5 pmctl job make-way
	assert_output --partial "only a reboot removes it"
	assert_kernel flat
	configure SubstateIdleTime=0
	run -5 pmctl job idle
	configure SubstateIdleTime=60
	run -0 pmctl job idle
	refute_output
}

@test "a full RunDir does not cost a job without a mode its node" {
	full=$node/run
	mount -t tmpfs -o size=64k,mode=755 tmpfs "$full"
	leave_flat
	# An empty file has no block: the mark is written anew, and its new file has no room.
	head -c 64k /dev/zero >"$full/filler" 2>/dev/null || true
	run -0 pmctl job make-way
	assert_output --partial "No space left on device"
	assert_kernel device
	run ! grep offline "$node/run/idle.json"
	rm "$full/filler"
	run -0 pmctl job make-way
	assert_take_backs 1
	grep -q '"memory": *"offline"' "$node/run/idle.json"
}

@test "an administrator was quicker: memory offline, a device, or nothing at all" {
	leave_flat
	sed -i -e 's/"online_memblocks":31/"online_memblocks":0/' "$node/flat.daxes.json"
	run -0 pmctl job make-way
	assert_kernel device
	assert_take_backs 1
	begin_anew
	echo device >"$node/kernel"
	run -0 pmctl job make-way
	assert_take_backs 1
	grep -q '"memory": *"offline"' "$node/run/idle.json"
	begin_anew
	echo empty >"$node/kernel"
	configure SubstateIdleTime=0
	run -0 pmctl job idle
	refute_output
	[ ! -e "$node/run/idle.json" ]
}

@test "pmctl killed between the mark and the record's end: the job's end comes again, and nothing is made twice" {
	begin 1
	cp -a "$node/state/jobs/1.json" "$node/record"
	cp -a "$node/run/jobs/1" "$node/view"
	end 1
	cp -a "$node/record" "$node/state/jobs/1.json"
	cp -a "$node/view" "$node/run/jobs/1"
	run -3 pmctl job begin --expect flat --job 2 --uid 1000 --gid 1000 --run 2:0
	assert_output --partial "in use by job 1"
	[ -e "$node/run/idle.json" ]
	end 1
	begin 2
	assert_set_ups 1
	assert_take_backs 0
}

@test "a mark that a newer pmctl wrote is one of unknown time" {
	leave_flat
	sed -i 's/"version": *1/"version": 2, "zone": "x"/' "$node/run/idle.json"
	begin 2
	assert_set_ups 1
	end 2
	sed -i 's/"version": *1/"version": 2, "zone": "x"/' "$node/run/idle.json"
	run -1 pmctl job idle
	assert_output --partial "/dev/dax"
	assert_take_backs 1
}

@test "idle time: not before it has passed, not while a job is on the node" {
	leave_flat
	mkdir "$node/run/prologs"
	touch "$node/run/prologs/7"
	configure SubstateIdleTime=0
	run -0 pmctl job idle
	assert_take_backs 0
	rm "$node/run/prologs/7"
	run -1 pmctl job idle
	assert_output --partial "/dev/dax"
	assert_take_backs 1
}

@test "the memory does not stay: no idle time, another job here, no room for the mark" {
	begin 1
	configure SubstateIdleTime=0
	run -1 pmctl job end --job 1
	assert_take_backs 1
	assert_output --partial "/dev/dax"
	configure
	rm "$node/state/jobs/1.json"
	begin 2
	mkdir "$node/run/prologs"
	touch "$node/run/prologs/2" "$node/run/prologs/9"
	run -1 pmctl job end --job 2
	assert_take_backs 2
	rm -r "$node/run/prologs" "$node/state/jobs/2.json"
	begin 3
	mkdir "$node/run/idle.json" # no file can be written there
	run -1 pmctl job end --job 3
	assert_output --partial "the flat memory is taken back now"
	assert_take_backs 3
}

@test "Provision=no, or a mark that is damaged or of an earlier boot: the memory is taken back all the same" {
	leave_flat
	configure Provision=no
	run -0 pmctl job make-way
	assert_kernel device
	configure
	begin 2
	end 2
	sed -i 's/"boot_id": *"[^"]*"/"boot_id": "11111111-2222-3333-4444-555555555555"/' "$node/run/idle.json"
	run -1 pmctl job idle
	assert_take_backs 2
	assert_output --partial "/dev/dax"
	echo flat >"$node/kernel"
	echo '{' >"$node/run/idle.json"
	run -0 pmctl job make-way
	assert_kernel device
}

@test "whoever needs the lock ends a wipe of idle memory, and nothing else" {
	exec 8>"$node/state/lock" 7>"$node/run/idle.lock"
	flock 8
	flock 7
	sleep 300 8>&8 7>&7 3>&- &
	local wiper=$!
	exec 8>&- 7>&-
	leave_flat
	run ! kill -0 "$wiper"
	exec 8>"$node/state/lock"
	flock 8
	sleep 300 8>&8 3>&- &
	local other=$!
	exec 8>&-
	configure ToolTimeout=1
	run -1 pmctl job make-way
	assert_output --partial "held by"
	kill "$other"
}
