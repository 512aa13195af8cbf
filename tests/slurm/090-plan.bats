#!/usr/bin/env bats
# What the plugin gives the ranks of a step: processors, memory, variables; and whom it leaves alone.
# The host may have one socket and two processors, so that is what these tests ask for.
# shellcheck disable=SC2016 # expanded in the task

setup() {
	load helper
	[ "$(nproc)" -ge 2 ] || skip "one processor only"
	clean_nodes
}

teardown() {
	restore_site
}

# What a rank is bound to: "rank cpus policy".
LOOK='echo $SLURM_LOCALID $(grep Cpus_allowed_list /proc/self/status | cut -f2) $(head -1 /proc/self/numa_maps | cut -d" " -f2)'

ranks() {
	run_srun -w n1 "$@" sh -c "$LOOK"
}

# looks STEPS_BEFORE: how often a node has looked at its machine for a step's ranks.
looks() {
	cat "$(bench_dir)"/log/slurmd.*.log | grep -c 'pm: step .* looked at the machine' || true
}

planned() {
	run_srun -w n1 "$@" sh -c 'env | grep -E "^(PM_(RANK|NODE|LOCAL|SPACES|PLANNED)|OMP_)" | sort; true'
}

@test "a step without an option of ours is as Slurm makes it, and no machine is looked at" {
	local before
	before=$(looks)
	ranks -n2 --cpu-bind=none
	assert_line '0 0-1 default'
	assert_line '1 0-1 default'
	planned -n2
	assert_output ''
	[ "$(looks)" -eq "$before" ]
}

@test "--pm-bind=socket gives each rank its processors and binds its memory" {
	ranks -n2 --pm-bind=socket
	assert_line '0 0 bind:0'
	assert_line '1 1 bind:0'
	ranks -n1 -c2 --pm-bind=socket
	assert_output '0 0-1 bind:0'
}

@test "each option alone asks for the plan, its variable too, and so does the job's mode" {
	local option
	for option in --pm-dram=auto --pm-policy=dram-first --pm-distribution=cyclic --pm-threads=1 --pm-smt=no \
		--pm-verbose --pm-mode=memory; do
		run_srun -w n1 -n2 $option sh -c 'echo $PM_LOCAL_RANK of $PM_LOCAL_SIZE'
		assert_line '0 of 2'
		assert_line '1 of 2'
	done
	PM_BIND=socket ranks -n2
	assert_line '1 1 bind:0'
	run_srun -w n1 -n2 -C pm_memory sh -c 'echo $PM_LOCAL_RANK of $PM_LOCAL_SIZE'
	assert_line '1 of 2'
}

@test "an option wins over its variable" {
	PM_BIND=none ranks -n2 --pm-bind=socket
	assert_line '1 1 bind:0'
	PM_BIND=socket ranks -n2 --pm-bind=none
	assert_line '1 1 default'
}

@test "--pm-bind=none leaves processors, memory and OpenMP alone" {
	ranks -n2 --pm-bind=none --cpu-bind=none
	assert_line '0 0-1 default'
	assert_line '1 0-1 default'
	planned -n2 --pm-bind=none
	refute_output --partial OMP_
}

@test "what the user has told srun of binding wins" {
	ranks -n2 --pm-bind=socket --cpu-bind=map_cpu:1,0
	assert_line '0 1 default'
	assert_line '1 0 default'
	ranks -n2 --pm-bind=socket --cpu-bind=mask_cpu:0x2,0x1
	assert_line '0 1 default'
	ranks -n2 --pm-bind=socket --cpu-bind=none
	assert_line '0 0-1 default'
	# Not sockets: what CPUs=2 means by them differs between releases.
	ranks -n2 --pm-bind=socket --cpu-bind=ldoms
	assert_line '1 0-1 default'
	ranks -n2 --pm-mode=memory --cpu-bind=map_cpu:1,0
	assert_line '0 1 default'
	ranks -n2 --pm-bind=socket --mem-bind=none
	assert_line '0 0 default'
	ranks -n2 --pm-bind=socket --mem-bind=prefer,map_mem:0
	assert_line '1 1 prefer:0'
}

@test "-c tells how many threads a rank has, --pm-threads has the last word" {
	planned -n1 -c2 --pm-bind=socket
	assert_line OMP_NUM_THREADS=2
	planned -n1 -c2 --pm-threads=1
	assert_line OMP_NUM_THREADS=1
}

@test "a rank learns its share; what it has set of OpenMP stays" {
	planned -n2 --pm-dram=1G
	assert_line PM_RANK_DRAM=1073741824
	assert_line PM_NODE_DRAM=0
	assert_line PM_LOCAL_SIZE=2
	assert_line OMP_NUM_THREADS=1
	assert_line OMP_PLACES=threads
	assert_line --regexp '^PM_SPACES=metadata=[0-9]+,temporary=[0-9]+,migration=[0-9]+,free=[0-9]+$'
	run_srun -w n1 --export=ALL,OMP_NUM_THREADS=7,PM_RANK_DRAM=3 --pm-dram=1G sh -c 'echo $OMP_NUM_THREADS $PM_RANK_DRAM'
	assert_output '7 1073741824'
}

@test "the ranks of a step keep to the processors that Slurm gave to it" {
	ranks -n1 --pm-bind=socket
	assert_output --regexp '^0 [01] bind:0$'
}

@test "the machine is looked at once for a step and node, whatever the number of ranks" {
	local before
	before=$(looks)
	run_srun -w n1 -n32 --overcommit --pm-bind=none sh -c 'echo $PM_LOCAL_RANK of $PM_LOCAL_SIZE'
	[ "$(sort -u <<<"$output" | grep -c 'of 32$')" -eq 32 ]
	[ $(($(looks) - before)) -eq 1 ]
	run_srun -N2 -n4 --overcommit --pm-bind=none true
	[ $(($(looks) - before)) -eq 3 ]
}

@test "--pm-verbose prints the plan once a node" {
	run_srun -w n1 -n2 --pm-verbose true
	[ "$(grep -c '^RANK ' <<<"$output")" -eq 1 ]
	assert_line --partial '2 ranks on 1 socket with'
	assert_line --regexp '^ +1 +0 +1 '
	run_srun -N2 -n4 --pm-verbose true
	[ "$(grep -c '^RANK ' <<<"$output")" -eq 2 ]
	PM_VERBOSE=0 run_srun -w n1 -n2 --pm-bind=socket true
	assert_output ''
}

@test "what cannot be planned ends the step with one sentence where it was asked for" {
	run_srun 1 -w n1 -n2 --pm-dram=1T true
	assert_line --partial 'pm: 2 ranks with --pm-dram=1048576M need 2097152M'
	[ "$(grep -c 'pm: 2 ranks' <<<"$output")" -eq 1 ]
	run_srun 1 -w n1 -n4 --overcommit --pm-bind=socket true
	assert_line --partial 'pm: 4 ranks need 4 cores'
}

@test "a job that has but a mode runs all the same, and its first rank says why" {
	# In an allocation: on 24.11 whole nodes for more tasks than they have processors are waited for without end.
	run_salloc -w n1 -n1 --pm-mode=memory srun -n4 --overcommit sh -c "$LOOK"
	assert_line --partial 'pm: 4 ranks need 4 cores'
	assert_line --partial 'the ranks stay where Slurm has put them'
	[ "$(grep -c 'default$' <<<"$output")" -eq 4 ]
}

@test "a slip in an option or a variable is told where it is typed" {
	run_srun 255 --pm-bind=core true
	assert_output --partial "pm: --pm-bind='core': write socket or none"
	run_srun 255 --pm-dram=4GB true
	assert_output --partial "pm: --pm-dram='4GB': write a size like 4G, 2M at least, or auto"
	PM_POLICY=first run_srun 1 true
	assert_output --partial "pm: PM_POLICY='first': write dram-first"
	run_client sbatch 255 --pm-threads=0 --wrap=true
	assert_output --partial "pm: --pm-threads='0': write a number from 1 to 65536"
	assert_nothing_queued
}

@test "ranks get the bandwidths of the site profile; a file is read with its user's rights" {
	local profiles own bandwidths='1 class=round-numbers ranks='
	profiles=$(bench_dir)/etc/profiles
	own=$(bench_dir)/home/own.json
	mkdir -p "$profiles"
	cp tests/fixtures/site-profiles/round.json "$profiles/round-numbers.json"
	with_site SiteProfile=round-numbers "SiteProfileDir=$profiles"
	run_srun -w n1 -n2 --pm-bind=socket printenv PM_MODEL
	[ "$(grep -c "^$bandwidths" <<<"$output")" -eq 2 ]
	run_srun -w n1 -n1 --pm-verbose true
	assert_line --partial ', bandwidths of site profile round-numbers'
	run_srun 1 -w n1 --pm-site-profile=none --pm-bind=socket printenv PM_MODEL
	with_site SiteProfile=none "SiteProfileDir=$profiles"
	run_srun -w n1 --pm-site-profile=round-numbers printenv PM_MODEL
	assert_line --partial "$bandwidths"
	PM_SITE_PROFILE=round-numbers run_srun -w n1 printenv PM_MODEL
	assert_line --partial "$bandwidths"
	install -m 600 -o nobody tests/fixtures/site-profiles/round.json "$own"
	run_srun -w n1 --pm-site-profile="$own" printenv PM_MODEL
	assert_line --partial "$bandwidths"
	chown root "$own"
	run_srun 1 -w n1 -n2 --pm-site-profile="$own" true
	assert_line --partial "pm: open '$own': Permission denied"
	[ "$(grep -c 'Permission denied' <<<"$output")" -eq 1 ]
	run_srun 255 --pm-site-profile='a b' true
	assert_output --partial "pm: --pm-site-profile: 'a b' is not the name of a class"
	rm -r "$profiles" "$own"
}

@test "a site profile that cannot be used is told in slurmd's log, and the step runs" {
	with_site SiteProfile=absent
	run_srun -w n1 --pm-bind=socket sh -c 'echo "<$PM_MODEL>"'
	assert_output '<>'
	grep -q "pm: SiteProfile=absent: .*; the ranks get no PM_MODEL" "$(bench_dir)"/log/slurmd.n1.log
	run_srun 1 -w n1 --pm-site-profile=absent true
	assert_line --partial 'pm: use '
}

@test "a batch script is as it was; the steps in it have its options" {
	run_sbatch -w n1 -n2 --pm-bind=socket <<-END
		#!/bin/sh
		env | grep -c -E '^(PM_(RANK|LOCAL|PLANNED)|OMP_|LD_PRELOAD)'
		$LOOK
		srun -n2 sh -c '$LOOK'
		srun -n2 --pm-bind=none sh -c '$LOOK'
	END
	assert_line --index 0 0
	assert_line --index 1 --partial default
	assert_line '1 1 bind:0'
	assert_line '1 1 default'
}

@test "the daemons that mpirun starts with srun are no ranks" {
	local daemon
	daemon=$(bench_dir)/home/orted
	printf '#!/bin/sh\n%s\nenv | grep -c ^PM_PLANNED\ntrue\n' "$LOOK" >"$daemon"
	chmod 755 "$daemon"
	run_srun -w n1 -n2 --pm-bind=socket "$daemon"
	assert_line '1 1 default'
	assert_line 0
}

@test "the shell of salloc on its node is left alone" {
	run_salloc -w n1 -n2 --pm-bind=socket srun --interactive --preserve-env sh -c 'env | grep -c ^PM_PLANNED; true'
	assert_line 0
}

@test "a runtime is put in front of LD_PRELOAD; one that is not there, and a static program, are told" {
	local runtime
	runtime=$(ldconfig -p | sed -n 's/.*libm\.so\.6.*=> //p;T;q')
	run_srun -w n1 --pm-runtime="$runtime" sh -c 'echo $LD_PRELOAD; grep -c "libm\.so" /proc/self/maps'
	assert_line --index 0 "$(realpath "$runtime")"
	refute_line --index 1 0
	run_srun -w n1 --export=ALL,LD_PRELOAD=libc.so.6 --pm-runtime="$runtime" sh -c 'echo $LD_PRELOAD'
	assert_line "$(realpath "$runtime"):libc.so.6"
	run_srun 1 -w n1 -n2 --pm-runtime=nosuch true
	[ "$(grep -c "pm: runtime 'nosuch'" <<<"$output")" -eq 1 ]
	echo 'int main(void) { return 0; }' | cc -static -x c -o "$(bench_dir)/home/static" -
	run_srun -w n1 -n2 --pm-runtime="$runtime" "$(bench_dir)/home/static"
	[ "$(grep -c 'static.: it is statically linked' <<<"$output")" -eq 1 ]
	run_srun -w n1 --pm-runtime=none sh -c 'echo "<$LD_PRELOAD>"'
	assert_output '<>'
}

@test "pmrun in a step that the plugin has planned does nothing again" {
	run_srun -w n1 -n2 --pm-dram=1G "$PM_BUILD/pmrun" sh -c 'echo $PM_LOCAL_RANK $PM_RANK_DRAM'
	assert_line '1 1073741824'
	run_srun -w n1 -n2 "$PM_BUILD/pmrun" --pm-dram=2G sh -c 'echo $PM_LOCAL_RANK $PM_RANK_DRAM'
	assert_line '1 2147483648'
}

@test "pmrun plans for a node as Slurm knows it" {
	with_site UsableMemory=appdirect:8G,flat:40G
	for option in --node=n1 --partition=main; do
		run bench exec "$PM_BUILD/pmrun" --config="$(bench_dir)/etc/pmem.conf" --plan "$option"
		assert_success
		assert_line --regexp "^pmrun: $option is planned as --machine=[1-9]+x[1-9]+x[1-9]+,[1-9][0-9]*M\+[1-9][0-9]*M: "
	done
	run bench exec "$PM_BUILD/pmrun" --config="$(bench_dir)/etc/pmem.conf" --plan --node=n77
	assert_failure
	assert_output --partial 'n77 not found'
}

@test "the site's reserve counts, and a broken configuration stops only who asks for a plan" {
	with_site DramReserve=50%
	run_srun -w n1 -n1 --pm-bind=socket sh -c 'echo $PM_RANK_DRAM'
	[ "$output" -lt $(($(awk '/^MemTotal/ { print $2 }' /proc/meminfo) * 1024 * 51 / 100)) ]
	with_site Nonsense=1
	run_srun -w n1 true
	run_srun 1 -w n1 --pm-bind=socket true
	assert_output --partial "unknown key 'Nonsense'"
}
