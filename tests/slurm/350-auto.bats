#!/usr/bin/env bats
# --pm-mode=auto: the mode is chosen by idle nodes and by earlier runs of the same job, docs/admin/policy.md. Under plain Lua
# tests/lua/test_auto.lua has more choices.

setup_file() {
	export PM_BENCH=$BATS_FILE_TMPDIR/bench.dir
	"$BATS_TEST_DIRNAME/../cluster/bench" up --owner $$ --build "$PM_BUILD" 3>&-
}

teardown_file() {
	"$BATS_TEST_DIRNAME/../cluster/bench" down
}

setup() {
	load helper
	bench service start
	clean_nodes
}

teardown() {
	restore_site
	cancel_jobs -f
	wait_for 60 no_jobs
}

# all_in MODE OTHER: both nodes are in the mode, and pm-controller has written that none is in the other one.
all_in() {
	put_in "$1" n1 n2
	let_epilogs_end
	wait_for 30 grep -q "^main .*pm_$1=2 .*nodes:pm_$1=2 " "$(bench_dir)/run/controller/modes"
	boot1=$(boot_id n1) boot2=$(boot_id n2)
}

nothing_rebooted() {
	assert_equal "$(boot_id n1) $(boot_id n2)" "$boot1 $boot2"
}

# says COMMAND ARGUMENT...: with all that pmem.lua says.
says() {
	run bench "$@"
	[ "$status" -eq 0 ] || fail "$output"
}

# held OPTION...: a held job's number is in $job.
held() {
	submit_held "$@"
	job=$(grep -oE '^[0-9]+$' <<<"$output")
}

@test "a job takes the mode of idle nodes, in which it and its steps run, by each command" {
	local mode
	for mode in memory appdirect; do
		all_in "$mode"
		run_sbatch --pm-mode=auto <<<$'#!/bin/bash\npmctl mode; echo $PM_MODE; srun -Q sh -c "pmctl mode; echo \$PM_MODE"; srun -Q --pm-mode=auto pmctl mode'
		assert_output "$(printf '%s\n' "$mode" "$mode" "$mode" "$mode" "$mode")"
		run_srun --pm-mode=auto pmctl mode
		assert_line "$mode"
		PM_MODE=auto run_srun pmctl mode
		assert_line "$mode"
		PM_MODE=flat run_srun --pm-mode=auto sh -c 'pmctl mode; echo is $PM_MODE'
		assert_line "$mode"
		assert_line "is $mode"
		run_salloc --pm-mode=auto srun pmctl mode
		assert_line "$mode"
		nothing_rebooted
	done
	says srun --pm-mode=auto true
	assert_output --partial 'pm: --pm-mode=auto takes mode appdirect: 1 node is idle in it'
	all_in appdirect
	says srun --pm-mode=auto -N2 true
	assert_output --partial 'pm: --pm-mode=auto takes mode appdirect: 2 nodes are idle in it'
}

@test "an option of a step against the mode that auto took is refused, and its own mode is not" {
	all_in memory
	run_sbatch --pm-mode=auto <<<$'#!/bin/bash\nsrun --pm-mode=memory pmctl mode; srun --pm-mode=appdirect pmctl mode; echo $?'
	assert_line --index 0 memory
	assert_output --partial 'this node is in mode memory, the task does not run'
	refute_line appdirect
}

@test "a memory request, a constraint and options leave the modes that can serve them" {
	with_site Modes=memory,appdirect UsableMemory=memory:200M,appdirect:100M
	all_in appdirect
	held --pm-mode=auto --mem=150M
	assert_equal "$(job_field "$job" Features)" Features=pm_memory
	held --pm-mode=auto -C pm_memory
	assert_equal "$(job_field "$job" Features)" Features=pm_memory
	held --pm-mode=auto
	assert_equal "$(job_field "$job" Features) $(job_field "$job" MinMemoryNode)" 'Features=pm_appdirect MinMemoryNode=100M'
	held --pm-mode=auto --array=1-3
	assert_equal "$(job_field "${job}_2" Features)" Features=pm_appdirect
	held --pm-mode=auto --export=NONE
	assert_equal "$(job_field "$job" Features)" Features=pm_appdirect
	held --pm-mode=auto : --pm-mode=memory
	assert_equal "$(job_field "$job+0" Features) $(job_field "$job+1" Features)" 'Features=pm_appdirect Features=pm_memory'
	run_client sbatch 1 --pm-mode=auto --mem=250M --wrap=true
	assert_output --partial 'pm: --pm-mode=auto: no mode can serve the job; --mem=250M is more than a node has in mode memory (200M)'
	assert_output --partial 'ask for less'
	nothing_rebooted
}

@test "DefaultMode=auto is for jobs that name no mode" {
	with_site DefaultMode=auto
	all_in memory
	run_srun pmctl mode
	assert_line memory
	run_srun --pm-mode=appdirect pmctl mode
	assert_output appdirect
	held --pm-mode=none
	assert_equal "$(job_field "$job" Features)" 'Features=(null)'
	run "$PM_BUILD/pmctl" check-config "$(bench_dir)/etc/pmem.conf"
	assert_success
}

@test "the owner may give a waiting job that auto placed another mode" {
	all_in memory
	held --pm-mode=auto
	bench user scontrol update jobid="$job" features=pm_appdirect
	assert_equal "$(job_field "$job" Features)" Features=pm_appdirect
	admin scontrol release "$job"
	wait_for 120 job_is "$job" COMPLETED
}

# A job that is slow in appdirect.
SLOW=$'#!/bin/bash\n[ $(pmctl mode) = memory ] || sleep 20'

# learnt MODE: pm-controller has a run of the job in the mode.
learnt() {
	grep -Eqs "^$key $1 1 " "$(bench_dir)/run/controller/history-65534"
}

@test "earlier runs: the mode in which the job was faster, and a reboot where that pays, of which pmctl explain tells" {
	local script
	with_site LearnModes=yes
	bench service start
	all_in appdirect
	script=$(bench_dir)/home/slow.sh
	printf '%s\n' "$SLOW" >"$script"
	run_client sbatch --parsable --pm-mode=appdirect --output=/dev/null "$script"
	key=$(job_field "$output" AdminComment | grep -oE '[0-9a-f]{16}')
	wait_for 120 learnt appdirect
	run_client sbatch --parsable --pm-mode=memory -w n1 --output=/dev/null "$script"
	wait_for 120 learnt memory
	all_in appdirect
	# For a hundred tasks the reboots of the bench's nodes pay, which take seconds.
	says sbatch --hold --pm-mode=auto --array=1-100 "$script"
	assert_output --regexp 'pm: --pm-mode=auto takes mode memory: its runs take [0-9]+ s, the median of 1, and 2[0-9] s in appdirect; 2 nodes are rebooted'
	says user "$PM_BUILD/pmctl" --config "$(bench_dir)/etc/pmem.conf" explain -- --pm-mode=auto --array=1-100 "$script"
	assert_line --regexp '^Mode: memory \(--pm-mode=auto: its runs take '
	all_in memory
	says sbatch --hold --pm-mode=auto "$script"
	assert_output --regexp 'takes mode memory: its runs take [0-9]+ s, the median of 1, and 2[0-9] s in appdirect'
	# Another job, and the same of a user who may not have nodes rebooted.
	printf '\n' >>"$script"
	all_in appdirect
	says sbatch --hold --pm-mode=auto --array=1-100 "$script"
	assert_output --partial 'takes mode appdirect: 1 node is idle in it'
	printf '%s\n' "$SLOW" >"$script"
	with_site LearnModes=yes RebootUsers=none
	says sbatch --hold --pm-mode=auto --array=1-100 "$script"
	assert_output --partial 'takes mode appdirect: 1 node is idle in it'
}

@test "what is learnt outlives the service, is for the service and SlurmUser alone, and users cannot write the note" {
	local history script=$BATS_TEST_TMPDIR/job
	history=$(bench_dir)/run/controller/history-65534
	with_site LearnModes=yes
	all_in appdirect
	script=$(bench_dir)/home/job.sh
	printf '#!/bin/bash\ntrue # %s\n' "$BATS_TEST_NAME" >"$script"
	run_client sbatch --parsable --pm-mode=appdirect --output=/dev/null "$script"
	key=$(job_field "$output" AdminComment | grep -oE '[0-9a-f]{16}')
	wait_for 120 learnt appdirect
	bench service kill
	rm "$history"
	bench service start
	wait_for 30 learnt appdirect
	run bench user cat "$history"
	assert_failure
	held --pm-mode=auto
	run bench user scontrol update jobid="$job" admincomment=pm_same=0123456789abcdef
	assert_failure
}

# site_learnt USED_MIB: pm-controller has 20 jobs of another user that took so much memory, and no others, and has summed them up.
site_learnt() {
	local number kept
	kept=$(bench_dir)/kept/history
	rm -f "$kept"/*
	for number in $(seq 20); do
		printf '%016x memory 1 10000 %s 1 10000\n' "$number" "$1"
	done | (umask 077 && sed '1i slurm-pmem-history 1' >"$kept/12345")
	reboots_cost_ten_minutes # with a new pm-controller
	wait_for 30 grep -qs "^used 20 $1 " "$(bench_dir)/run/controller/history-site"
}

@test "a job that has never run is expected to be as other jobs of the site, of which users see nothing" {
	with_site Modes=memory,appdirect UsableMemory=memory:200M,appdirect:100M
	all_in appdirect
	site_learnt 150
	says sbatch --hold --pm-mode=auto --wrap=true
	assert_output --partial 'takes mode memory: of the jobs here 100 % use more memory than appdirect has; 1 node is rebooted'
	says sbatch --hold --pm-mode=auto --mem=50M --wrap=true
	assert_output --partial 'takes mode appdirect: 1 node is idle in it'
	site_learnt 50
	says sbatch --hold --pm-mode=auto --wrap=true
	assert_output --partial 'takes mode appdirect: 1 node is idle in it'
	run bench user cat "$(bench_dir)/run/controller/history-site"
	assert_failure
}
