#!/usr/bin/env bats
# Reports of jobs where the site accounts energy, and where its time limits are shorter than a set-up:
# docs/admin/compatibility.md has a row for each.

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
	put_in appdirect n1
	put_in appdirect n2
}

teardown() {
	restore_site
	cancel_jobs -f
	wait_for 60 no_jobs
}

# reported JOB N: N nodes have reported.
reported() {
	[ "$(user_pmctl report --json "$1" | grep -c '"setup_ms"')" -eq "$2" ]
}

# hold_node NODE: its set-ups wait, as for another pmctl that changes the node; until release_nodes.
hold_node() {
	flock "$(bench_dir)/$1/state/lock" sh -c "until [ -e '$BATS_TEST_TMPDIR/go' ]; do sleep 0.1; done" 3>&- &
}

release_nodes() {
	touch "$BATS_TEST_TMPDIR/go"
}

# is_past_limit JOB: Slurm has ended it, and its prolog still runs.
is_past_limit() {
	[[ $(job_field "$1" Reason) == Reason=TimeLimit ]]
}

@test "a time limit that passes while the nodes are set up" {
	local job out=$BATS_TEST_TMPDIR/srun.out
	with_site ToolTimeout=600
	hold_node n1
	hold_node n2
	run_client sbatch --parsable --time=1 -w n1 --pm-mode=appdirect --output=/dev/null --wrap='echo ran'
	job=$output
	LIMIT_S=300 bench srun --time=1 -w n2 --pm-mode=appdirect echo ran >"$out" 2>&1 &
	wait_for 120 is_past_limit "$job"
	wait_for 120 is_past_limit $((job + 1))
	release_nodes
	wait $! || true
	wait_for 60 reported "$job" 1
	run user_pmctl report "$job"
	assert_line --index 0 "Job:        $job, wrap, TIMEOUT"
	assert_line --regexp "^Ended:      the time limit of 60 s passed before n1 was set up, which took [0-9]+ s; ask for more with --time: the set-up is part of the job's time$"
	wait_for 60 reported $((job + 1)) 1
	run user_pmctl report $((job + 1))
	assert_line --index 0 "Job:        $((job + 1)), echo, TIMEOUT"
	assert_line --partial 'Ended:      the time limit of 60 s passed before n2 was set up, which took '
	run cat "$out"
	refute_line ran
	assert_line --partial 'Something is wrong with the boot of the nodes.' # docs/user/modes.md has what it means
	wait_for 60 state_is n1 idle
	wait_for 60 state_is n2 idle
}

# in_bench COMMAND...: among the bench's mounts, which the host does not see.
in_bench() {
	nsenter --target "$(bench_pids munged | head -n 1)" --mount --root "$@"
}

# A /sys with counters as a Cray node has them, which acct_gather_energy/pm_counters of Slurm reads: the counters stand in for
# hardware, all that reads and adds them up is Slurm. Both nodes of the bench have the same ones.
install_counters() {
	# shellcheck disable=SC2016 # for the shell in there
	in_bench sh -ec 'mount --make-rprivate /sys
		mkdir "$1"
		mount -t tmpfs tmpfs "$1"
		for entry in /sys/*; do
			mkdir "$1/${entry##*/}"
			mount --rbind "$entry" "$1/${entry##*/}"
		done
		mkdir -p "$1/cray/pm_counters"
		mount --rbind "$1" /sys' sh "$(bench_dir)/sys"
}

count_joules() {
	in_bench sh -ec 'echo "$1 J $2 us" >/sys/cray/pm_counters/energy; echo "100 W $2 us" >/sys/cray/pm_counters/power' \
		sh "$1" "$(date +%s)000000"
}

account_energy() {
	local conf
	conf=$(bench_dir)/etc
	install_counters
	count_joules 1000
	sed -i '/^JobAcctGatherType=/d' "$conf/slurm.conf"
	printf '%s\n' JobAcctGatherType=jobacct_gather/linux JobAcctGatherFrequency=1 AcctGatherNodeFreq=1 \
		AcctGatherEnergyType=acct_gather_energy/pm_counters >>"$conf/slurm.conf"
	sed -i 's/^PrologFlags=.*/PrologFlags=Alloc,DeferBatch,Contain/' "$conf/slurm-pmem.conf"
	bench restart-slurmctld
	bench restart-slurmd n1
	bench restart-slurmd n2
	wait_for 60 nodes_have_modes
	bench idle
}

# kept JOB KEY VALUE N: so many lines of the service's file have it. A question for the report would have the service ask
# slurmctld, this does not.
kept() {
	[ "$(grep -cs "\"$2\":$3[,}]" "$(bench_dir)/kept/reports/$1.jsonl")" = "$4" ]
}

# energy_of JOB: of the report in JSON, in J.
energy_of() {
	user_pmctl report --json "$1" | /usr/bin/python3 -c 'import json, sys; print(json.load(sys.stdin)["job"].get("energy_joules"))'
}

@test "AcctGatherEnergyType: the energy of a job's nodes, as Slurm accounts it" {
	local job go
	go=$(bench_dir)/home/go
	account_energy
	run_client sbatch --parsable -N2 --pm-mode=appdirect --output=/dev/null --wrap="until [ -e $go ]; do sleep 0.1; done"
	job=$output
	wait_for 60 job_is "$job" RUNNING
	wait_for 60 eval 'bench exec scontrol listpids "$job" n2 | grep -q extern'
	sleep 3 # a sample of each node is before the counters move
	run energy_of "$job"
	assert_output None
	count_joules 7150
	sleep 3
	touch "$go"
	wait_for 60 kept "$job" type '"node"' 2
	kept "$job" state '"COMPLETED"' 1
	kept "$job" energy_joules 12300 1
	run energy_of "$job"
	assert_output 12300
	run user_pmctl report "$job"
	assert_line 'Energy:     12.3 kJ'
	run_client sbatch --parsable --output=/dev/null --wrap=true
	run user_pmctl report "$output"
	refute_line --partial 'Energy:'
}
