#!/usr/bin/env bats
# The placement runtime on a node in flat mode, under unmodified programs: in which NUMA node their pages are, as the kernel sees
# it. DRAM is in nodes 0 and 1, the persistent memory of these sockets in 2 and 3 (twin/machine/tables/numa.py).
# bats file_tags=long
# shellcheck disable=SC2154 # output and status are set by run

# A rank of pic has 102 MiB; on its socket it may have a quarter of that in DRAM.
BUDGET_MIB=26 RANK_KB=$((102 << 10))
# What a rank has besides what the runtime places: stack, libraries' data, the bookkeeping of malloc before there is a runtime.
BESIDES_KB=8192

setup_file() {
	load helpers
	load jobs
	local program
	wait_for 240 node_is n1 idle
	for program in pic bss; do
		pmtwin copy "${PM_BUILD:-$ROOT/build}/tests/runtime/$program" "head:/home/user1/$program"
	done
	pmtwin copy "$ROOT/tests/twin/programs/sample-nodes" head:/home/user1/sample-nodes
	on_head chmod 755 pic bss sample-nodes
}

setup() {
	load helpers
	load jobs
	wait_for 240 node_is n1 idle
}

# of_sample LINE: sets pid, and kB by node in placed and own.
of_sample() {
	local word
	read -ra word <<<"$1"
	[ "${#word[*]}" -eq 11 ] || fail "not a sample: $1"
	pid=${word[0]} placed=("${word[@]:2:4}") own=("${word[@]:7:4}")
}

# assert_within LINE: DRAM within the budget, and nothing of a socket other than the one where the process has its DRAM.
assert_within() {
	local pid placed own far
	of_sample "$1"
	((placed[0] + placed[1] <= BUDGET_MIB << 10)) || fail "more than $BUDGET_MIB MiB of DRAM: $1"
	((own[0] + own[1] <= BESIDES_KB)) || fail "the runtime does not know of so much: $1"
	far=$((placed[0] + own[0] > 0 ? 1 : 0))
	assert_equal "far $((placed[far] + placed[2 + far] + own[far] + own[2 + far])) kB: $1" "far 0 kB: $1"
	most_dram[pid]=$((placed[1 - far] > ${most_dram[pid]:-0} ? placed[1 - far] : ${most_dram[pid]:-0}))
	most[pid]=$((placed[1 - far] + placed[3 - far] > ${most[pid]:-0} ? placed[1 - far] + placed[3 - far] : ${most[pid]:-0}))
	looks[pid]=$((${looks[pid]:-0} + 1))
}

# shellcheck disable=SC2016 # expanded in the job
SAMPLED='#!/bin/bash
srun -n 4 --pm-mode=flat --pm-runtime=place --pm-dram='$BUDGET_MIB'M ./pic 120 >pic.out &
./sample-nodes $! pic
wait $! && grep -c ^sum pic.out'

@test "with a quarter of what ranks have as budget no look at them finds more than that in DRAM, and nothing far" {
	local most_dram=() most=() looks=() pid line samples
	run_sbatch 0 --pm-mode=flat -n 4 --mem=8000M <<<"$SAMPLED"
	assert_line 4
	mapfile -t samples < <(grep placed <<<"$output")
	for line in "${samples[@]}"; do
		assert_within "$line"
	done
	assert_equal "${#looks[*]} ranks" '4 ranks'
	for pid in "${!looks[@]}"; do
		echo "# rank $pid: ${looks[pid]} looks, at most ${most_dram[pid]} kB of DRAM and ${most[pid]} kB in all" >&3
		((looks[pid] >= 5)) || fail "process $pid was seen only ${looks[pid]} times"
		((most_dram[pid] >= BUDGET_MIB * 1024 * 3 / 4)) || fail "process $pid had only ${most_dram[pid]} kB of DRAM"
		((most[pid] >= RANK_KB * 9 / 10)) || fail "process $pid was not seen with more than ${most[pid]} kB"
	done
}

# run_bss VARIABLES: its numa_maps, of the rank on the first of two sockets. Half of its budget is for temporary objects.
run_bss() {
	# shellcheck disable=SC2016 # expanded by the rank
	run_user 0 srun -n 2 --pm-mode=flat --pm-runtime=place --pm-dram=256M --export="$1" \
		sh -c '[ "$SLURM_PROCID" = 1 ] || exec ./bss'
}

# bound_kb NUMA_MAPS: kB by node of what is bound to one node alone.
bound_kb() {
	awk '/^[0-9a-f]+ bind:[0-9]+ / && !/ file=/ {
		for (i = 3; i <= NF; i++)
			if ($i ~ /^N[0-9]+=/)
				n[substr($i, 2, 1)] += substr($i, index($i, "=") + 1) * 4
	} END { printf "%d %d %d %d", n[0], n[1], n[2], n[3] }' <<<"$1"
}

@test "64 MiB of static data are in persistent memory when the rule says so, and in DRAM within the budget" {
	local kb
	run_bss ALL,PM_STATIC=pmem
	IFS=' ' read -ra kb <<<"$(bound_kb "$output")"
	((kb[2] >= 65528 && kb[2] <= 70000)) || fail "$output"
	((kb[0] + kb[1] + kb[3] <= 8192)) || fail "$output"
	run_bss ALL
	IFS=' ' read -ra kb <<<"$(bound_kb "$output")"
	((kb[0] >= 65528 && kb[1] + kb[2] + kb[3] <= 8192)) || fail "$output"
}

# shellcheck disable=SC2016 # awk's
# served OF KIND: percent of the bytes that the ranks in file OF read and wrote that were in DRAM; KIND: a kind of data, or all.
served() {
	on_head awk -v kind="$2" '$1 == kind || kind == "all" && NF == 3 { all += $2; dram += $3 } END { printf "%d", 100 * dram / all }' "$1"
}

# shellcheck disable=SC2016 # awk's
# shares OF: percent in DRAM of each kind of data, for reading beside the sum, which hangs on a few of them (docs/dev/runtime.md).
shares() {
	on_head awk 'NF == 3 && $2 { all[$1] += $2; dram[$1] += $3 }
		END { for (kind in all) printf " %s %d %%", kind, 100 * dram[kind] / all[kind] }' "$1"
}

# A rank on each socket, of 2.8 GiB: three times the socket's DRAM. First touch is shown beside it and not compared with: what
# it gets differs by tens of points between runs, as the kernel demotes pages (docs/dev/runtime.md).
@test "with the advice of a profiled run the runtime has more of what is read and written in DRAM than without it" {
	run_sbatch 0 --pm-mode=flat -n 2 -c 2 --mem=8000M <<-'END'
		#!/bin/bash
		rm -rf prof next first profiled advised
		node() {
			echo "node before $1: MiB free$(awk '/MemFree/ { printf " %d", $4 / 1024 }' /sys/devices/system/node/node?/meminfo)," \
				"pages demoted until then $(awk '/^pgdemote_/ { printf " %d", $2 }' /proc/vmstat)"
		}
		pic() { node "$1"; srun -n 2 -c 2 --pm-mode=flat "${@:2}" ./pic 2 0 28 >"$1"; }
		pic first && pic profiled --pm-runtime=place --pm-profile=prof:bursts &&
			pmreport prof --advice next && pic advised --pm-advice=next
	END
	assert_line --partial 'call sites, by how often a byte of their memory is accessed'
	local run
	sed -n 's/^node before/# before/p' <<<"$output" >&3
	for run in first profiled advised; do echo "# $run:$(shares $run)" >&3; done
	local first profiled advised
	first=$(served first all) profiled=$(served profiled all) advised=$(served advised all)
	echo "# in DRAM: first touch $first %, the runtime without advice $profiled %, with advice $advised %" >&3
	((advised > profiled)) || fail "without advice $profiled %, advised $advised %"
	assert_equal "$(served advised fields)" 100
	assert_equal "$(served advised work)" 100
	assert_equal "$(on_head grep -h ^sum first profiled advised | sort | uniq -c | wc -l)" 1
}

# Debian's kernels have this setting from the start; page faults are an event of software, which needs no counter.
@test "where the kernel forbids users its events, kernel.perf_event_paranoid=3, a profile says so and the run is as without it" {
	run_sbatch 0 --pm-mode=flat -n 1 --mem=4000M <<-'END'
		#!/bin/bash
		exec 2>&1
		cat /proc/sys/kernel/perf_event_paranoid
		pic() { srun -n 1 --pm-mode=flat --pm-runtime=place --pm-dram=26M "$@" ./pic 3 | grep ^sum; }
		rm -rf strict
		[ "$(pic)" = "$(pic --pm-profile=strict:faults)" ] && pmreport --no-names strict | grep 'call sites'
	END
	assert_line 3
	assert_line --partial 'PM_PROFILE: accesses are not measured by faults: Permission denied'
	assert_line --partial 'accesses were not measured'
}
