#!/usr/bin/env bats
# pmctl report: what a job got, what it used, why it ended.

setup() {
	load helper
	clean_nodes
	bench service start
}

teardown() {
	restore_site
	cancel_jobs -f
	wait_for 60 state_is n1 idle
}

admin_pmctl() {
	"${PM_BUILD:-$TOP/build}/pmctl" --config "$(bench_dir)/etc/pmem.conf" "$@"
}

# run_job OPTION...: a job that has ended; its number is in $job.
run_job() {
	run_client sbatch --parsable --output=/dev/null "$@"
	job=$output
	wait_for 60 eval "[[ -z \$(bench squeue -hj $job 2>/dev/null) ]]"
}

# reported JOB N: N nodes have reported.
reported() {
	[ "$(user_pmctl report --json "$1" | grep -c '"setup_ms"')" -eq "$2" ]
}

@test "a job's report, for its owner and root alone; it outlives the service" {
	put_in appdirect n1
	put_in appdirect n2
	run_job -N2 --pm-mode=appdirect --job-name=two --wrap='srun true'
	wait_for 30 reported "$job" 2
	run user_pmctl report "$job"
	assert_line --index 0 "Job:        $job, two, COMPLETED"
	assert_line 'Mode:       appdirect, on n[1-2]'
	assert_line --regexp '^Set-up:     [0-9.]+ s \(n[12]\), part of the job.s time$'
	assert_line --regexp '^Clean-up:   [0-9.]+ s \(n[12]\), after the job.s time$'
	refute_line --partial 'Reboot:'
	refute_line --partial 'Ended:'
	bench service kill
	bench service start
	run admin_pmctl report "$job"
	assert_line 'Mode:       appdirect, on n[1-2]'
	run setpriv --reuid daemon --regid daemon --clear-groups "${PM_BUILD:-$TOP/build}/pmctl" \
		--config "$(bench_dir)/etc/pmem.conf" report "$job"
	assert_failure
	assert_output --partial "there is no report of job $job"
}

@test "a report that the service could not take is sent later" {
	put_in appdirect n1
	bench service kill
	run_job -w n1 --pm-mode=appdirect --wrap=true
	bench service start
	wait_for 60 reported "$job" 1
}

@test "the reboot for a job is in its report" {
	[ "$(node_field n1 %b)" != pm_memory,rack1 ] || put_in appdirect n1
	bench inject n1 hang
	run_client sbatch --parsable -w n1 --pm-mode=memory --output=/dev/null --wrap=true
	job=$output
	wait_for 20 boot_hangs n1
	wait_for 30 eval 'user_pmctl cluster --nodes | grep -Eqx "n1 +memory +- +rebooting .*"'
	bench power-cycle n1
	bench inject n1 none
	wait_for 60 job_is "$job" COMPLETED
	wait_for 30 reported "$job" 1
	run user_pmctl report "$job"
	assert_line --regexp "^Reboot:     of 1 node, [0-9.]+ s; not part of the job's time$"
}

@test "of a running job: what is known so far, and top to its owner alone" {
	put_in appdirect n1
	run_client sbatch --parsable -w n1 --pm-mode=appdirect --output=/dev/null --wrap='sleep 300'
	job=$output
	wait_for 20 job_is "$job" RUNNING
	run user_pmctl report "$job"
	assert_line --index 0 "Job:        $job, wrap, RUNNING"
	assert_line "So far:     no node has reported; they do at the job's end"
	run user_pmctl top --json "$job"
	assert_success
	run /usr/bin/python3 -c '
import json, sys
answer = json.loads(sys.argv[1])
print(answer["version"], [(node["node"], node["job"], node["mode"]) for node in answer["nodes"]])' "$output"
	assert_output "1 [('n1', $job, 'appdirect')]"
	run setpriv --reuid 12345 --regid 12345 --clear-groups env SLURMD_NODENAME=n1 "${PM_BUILD:-$TOP/build}/pmctl" \
		--config "$(bench_dir)/etc/pmem.conf" top --here "$job"
	assert_failure
	assert_output "pmctl: top: job $job is another user's"
	run user_pmctl top 999999
	assert_failure
	run user_pmctl top twelve
	assert_output "pmctl: top: 'twelve' is not a job's number"
}

@test "the mode stands in the job's field that the site names" {
	with_site 'AccountingField=AdminComment'
	run_client sbatch --parsable --hold --pm-mode=flat --wrap=true
	job=$output
	run admin scontrol show job "$job"
	assert_line --partial 'AdminComment=pm_mode=flat'
	with_site 'AccountingField=Comment'
	run_client sbatch --parsable --hold --pm-mode=memory --comment='run 7' --wrap=true
	run admin scontrol show job "$output"
	assert_line --partial 'Comment=run 7; pm_mode=memory'
}

@test "of no job, of a job without a mode, and of no number" {
	run user_pmctl report 999999
	assert_failure
	assert_output --partial 'pmctl: report: there is no report of job 999999'
	run user_pmctl report twelve
	assert_failure
	assert_output "pmctl: report: 'twelve' is not a job's number"
	run_client sbatch --parsable --output=/dev/null --wrap=true
	run user_pmctl report "$output"
	assert_line 'Mode:       none asked for'
}

@test "a job is known at once, also where the service has just asked slurmctld" {
	for _ in 1 2; do
		run user_pmctl report 999999
		run_client sbatch --parsable --hold --output=/dev/null --wrap=true
		job=$output
		run user_pmctl report "$job"
		assert_line --index 0 "Job:        $job, wrap, PENDING"
		run user_pmctl explain 999999
		run_client sbatch --parsable --hold --output=/dev/null --wrap=true
		run user_pmctl explain "$output"
		assert_success
	done
}

@test "a user who asks often waits, and is not cut off" {
	run_client sbatch --parsable --hold --output=/dev/null --wrap=true
	job=$output
	wait_for 10 user_pmctl explain "$job"
	for _ in {1..30}; do
		run user_pmctl explain "$job"
		assert_success
	done
}

@test "only root may tell what a job used, and only in its form" {
	local socket
	socket=$(bench_dir)/run/controller/socket
	run setpriv --reuid 65534 --regid 65534 --clear-groups "$TOP/tests/slurm/ask.py" "$socket" ask \
		'{"type":"used","job":67108800,"node":"n1","list":[]}'
	assert_output --partial 'only root and SlurmUser may tell what a job used'
	run "$TOP/tests/slurm/ask.py" "$socket" ask '{"type":"used","job":67108800,"node":"n1","list":[{"job":67108801}]}'
	assert_output --partial "message 'used': the list has no job's use"
	run ls "$(bench_dir)/kept/reports"
	refute_output --partial 67108800
}

# output_of OPTION...: what a batch job with the script on stdin left in its output file, in $output; its number in $job.
output_of() {
	local script
	script=$(mktemp "$(bench_dir)/home/job.XXXXXX")
	cat >"$script"
	chmod 755 "$script"
	run bench sbatch --parsable --wait --output="$script.out" "$@" "$script"
	job=${output%%$'\n'*}
	run bench user cat "$script.out" # a link of the job's is followed by its owner alone, see fs.protected_symlinks
}

@test "--pm-report: the report ends a batch job's output, of what its first node knows" {
	put_in appdirect n1
	put_in appdirect n2
	output_of -N2 --pm-report --pm-mode=appdirect --job-name=told <<-'END'
		#!/bin/sh
		srun echo ran
	END
	assert_line --index 0 ran
	assert_line --index 2 "Job:        $job, told, RUNNING"
	assert_line 'Mode:       appdirect, on n[1-2]'
	assert_line --regexp '^Set-up:     [0-9.]+ s \(n1\), part of the job.s time$'
	assert_line "Clean-up:   not known yet, it follows the job's time"
	assert_line "So far:     of 1 of 2 nodes; the others report at the job's end"
	[ "$(grep -c '^Job:' <<<"$output")" -eq 1 ]
	wait_for 30 reported "$job" 2
	run user_pmctl report "$job"
	refute_line --partial 'So far:'
	assert_line --regexp "^Clean-up:   [0-9.]+ s"
}

@test "PM_JOB_REPORT asks for it, 0 does not, and a job without a mode has a report" {
	PM_JOB_REPORT=1 output_of -w n1 <<<$'#!/bin/sh\necho ran'
	assert_line --index 0 ran
	assert_line --index 1 --regexp '^Job: .* RUNNING$'
	assert_line 'Mode:       none asked for'
	PM_JOB_REPORT=0 output_of -w n1 <<<$'#!/bin/sh\necho ran'
	assert_output ran
}

@test "--pm-report of a script that is killed, and of one that has moved its output away" {
	local other
	put_in appdirect n1
	other=$(bench_dir)/home/other
	echo kept >"$other"
	output_of -w n1 --pm-report --pm-mode=appdirect <<-'END'
		#!/bin/sh
		out=$(readlink /proc/$$/fd/1)
		echo "$out"
		mv "$out" "$out.moved"
		ln -s "$PWD/other" "$out"
		scancel "$SLURM_JOB_ID"
		sleep 300
	END
	assert_output kept
	run cat "$(bench_dir)"/home/job.??????.out.moved
	assert_line --regexp "^Job:        $job, .*, CANCELLED$"
	assert_line --partial 'Clean-up:   not known yet'
}

@test "--pm-report when pm-controller does not answer: a sentence, and the job has its end" {
	put_in appdirect n1
	bench service kill
	output_of -w n1 --pm-report --pm-mode=appdirect <<<$'#!/bin/sh\necho ran'
	assert_line --index 0 ran
	assert_line --partial 'pm: --pm-report: report: '
	wait_for 30 job_is "$job" COMPLETED
}

@test "--pm-report of srun and salloc: on stderr, when the nodes have reported; not for steps in a job" {
	local out
	out=$BATS_TEST_TMPDIR/out
	put_in appdirect n1
	run bash -c '"$@" 2>&1 >"$0"' "$out" "$TOP/tests/cluster/bench" srun -w n1 --pm-report --pm-mode=appdirect echo ran
	assert_line --regexp '^Job: .*, echo, COMPLETED$'
	assert_line --regexp '^Clean-up:   [0-9.]+ s \(n1\)'
	assert_equal "$(cat "$out")" ran
	run_salloc -w n1 --pm-report --pm-mode=appdirect srun echo ran
	assert_line --index 0 --partial 'salloc: Granted'
	[ "$(grep -c '^Job: .*COMPLETED$' <<<"$output")" -eq 1 ]
	[ "$(grep -c '^ran$' <<<"$output")" -eq 1 ]
}

# watches_of NODE: the processes that watch its jobs.
watches_of() {
	pgrep -f "^pmctl job watch --config=$(realpath "$(bench_dir)")/$1/pmem.conf" || true
}

@test "a report that the service could not write is sent again" {
	local reports
	reports=$(bench_dir)/kept/reports
	put_in appdirect n1
	mv "$reports" "$reports.away"
	run_job -w n1 --pm-mode=appdirect --wrap=true
	wait_for 30 eval '[[ -n $(ls "$(bench_dir)/n1/state/used") ]]'
	mv "$reports.away" "$reports"
	wait_for 60 reported "$job" 1
}

@test "a watch that is killed: the job's end has one send the report, and none is left" {
	local watch
	put_in appdirect n1
	run_client sbatch --parsable -w n1 --pm-mode=appdirect --output=/dev/null --wrap='sleep 300'
	job=$output
	wait_for 20 job_is "$job" RUNNING
	wait_for 20 eval '[[ -n $(watches_of n1) ]]'
	watch=$(watches_of n1)
	kill -9 "$watch"
	wait_for 10 eval '[[ -z $(watches_of n1) ]]'
	admin scancel "$job"
	wait_for 30 reported "$job" 1
	run user_pmctl report "$job"
	assert_line --regexp '^Clean-up:   [0-9.]+ s \(n1\)'
	wait_for 30 eval '[[ -z $(watches_of n1) ]]'
}
