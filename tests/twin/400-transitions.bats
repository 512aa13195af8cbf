#!/usr/bin/env bats
# A chain of user1's jobs goes from each mode to each other one; both nodes walk half of the twelve ways at a time.
# shellcheck disable=SC2154 # output and status are set by run

# What a job shows of its node: by tools that know nothing of slurm-pmem, but for the last word.
# shellcheck disable=SC2016 # expanded in the job
EVIDENCE='#!/bin/bash
mib=$(free -m | awk "/^Mem:/ { print \$2 }")
without_cpus=$(numactl -H | grep -c "^node [0-9]* cpus: *$")
dax=$(findmnt -n -o OPTIONS --target "${PM_DIR:-/}" | grep -c "dax=always")
echo "$(cat /proc/sys/kernel/random/boot_id) mib=$mib without_cpus=$without_cpus dax=$dax $(pmctl mode)"'

setup() {
	load helpers
	load jobs
}

# GiB of persistent memory as main memory and as App Direct, as the firmware has it.
resources() {
	pmtwin exec "$1" -- ipmctl show -u GiB -memoryresources |
		awk -F'|' '/^ *Volatile/ { v = $3 } /^ *AppDirect/ { a = $3 } END { printf "volatile=%d appdirect=%d\n", v, a }'
}

# walk NODE MODE…: a job for each mode; a line for each: MODE, whether the node rebooted for it, what it shows.
walk() {
	local node=$1 name=walk.$1 mode boot before
	before=$(boot_id "$node")
	shift
	for mode in "$@"; do
		# Slurm holds a job for ever (BadConstraints) that names a node which still completes another in another mode.
		wait_for 240 node_is "$node" idle || return
		on_head sh -c 'cat >"$1"; sbatch --wait -o "$1.out" -e "$1.err" -w "$2" --pm-mode="$3" "$1"' \
			sh "$name" "$node" "$mode" <<<"$EVIDENCE" >/dev/null || return
		read -r boot rest < <(on_head cat "$name.out")
		echo "$mode reboots=$([ "$boot" = "$before" ]; echo $?) $rest $(resources "$node")"
		before=$boot
	done
}

# A node's 2 sockets have 1 GiB of DRAM and 4 GiB of persistent memory each; the site's mixed mode halves that.
# What the kernel keeps for itself is not in `free`.
assert_way() {
	local line=$1 mode=$2 reboots=$3 low high place expected
	case $mode in
	memory)    low=7400 high=8192 expected='volatile=8 appdirect=0' place='without_cpus=0 dax=0' ;;
	appdirect) low=1500 high=2048 expected='volatile=0 appdirect=8' place='without_cpus=0 dax=1' ;;
	flat)      low=9000 high=10240 expected='volatile=0 appdirect=8' place='without_cpus=2 dax=0' ;;
	mixed)     low=3400 high=4096 expected='volatile=4 appdirect=4' place='without_cpus=0 dax=1' ;;
	esac
	assert_regex "$line" "^$mode reboots=$reboots mib=[0-9]+ $place $mode $expected\$"
	[[ $line =~ mib=([0-9]+) ]]
	[ "${BASH_REMATCH[1]}" -ge $low ] && [ "${BASH_REMATCH[1]}" -le $high ]
}

# assert_ways FILE MODE:REBOOTS…
assert_ways() {
	local ways way i=0
	mapfile -t ways <"$1"
	shift
	for way in "$@"; do
		assert_way "${ways[i]}" "${way%:*}" "${way#*:}"
		i=$((i + 1))
	done
}

@test "flat and back reboot nothing; mixed has both" {
	use_mode n1 appdirect
	# From any other mode.
	[ "$(node_features n2)" != pm_mixed ] || use_mode n2 appdirect
	walk n1 flat appdirect >"$BATS_TEST_TMPDIR/n1" 3>&- &
	walk n2 mixed >"$BATS_TEST_TMPDIR/n2" 3>&- &
	wait
	cat "$BATS_TEST_TMPDIR/n1" "$BATS_TEST_TMPDIR/n2" # shown when it fails
	assert_ways "$BATS_TEST_TMPDIR/n1" flat:0 appdirect:0
	assert_ways "$BATS_TEST_TMPDIR/n2" mixed:1
}

# bats test_tags=long
@test "all ordered pairs of modes, each with its own evidence" {
	use_modes n1 appdirect n2 appdirect
	walk n1 flat appdirect memory flat memory appdirect >"$BATS_TEST_TMPDIR/n1" 3>&- &
	walk n2 mixed flat mixed memory mixed appdirect >"$BATS_TEST_TMPDIR/n2" 3>&- &
	wait
	cat "$BATS_TEST_TMPDIR/n1" "$BATS_TEST_TMPDIR/n2" # shown when it fails
	assert_ways "$BATS_TEST_TMPDIR/n1" flat:0 appdirect:0 memory:1 flat:1 memory:1 appdirect:1
	assert_ways "$BATS_TEST_TMPDIR/n2" mixed:1 flat:1 mixed:1 memory:1 mixed:1 appdirect:1
}
