#!/usr/bin/env bats
# What people see of the cluster's modes: pmctl cluster and explain, what a submission says, and what srun hears as it waits.

setup() {
	load helper
	clean_nodes
	bench service start
}

teardown() {
	restore_lua
	restore_slurm_conf
	bench inject n1 none
	cancel_jobs -f
	state_is n1 idle || bench power-cycle n1
	wait_for 60 state_is n1 idle
}

root_pmctl() {
	admin "$(pmctl_program)" --config "$(bench_dir)/etc/pmem.conf" "$@"
}

# line_is MODES REGULAR: the line of these modes; other columns than the counts are left to it.
line_is() {
	user_pmctl cluster | grep -Eqx "$1 +$2"
}

# n1 in memory mode, n2 in appdirect. The reboot of n1 lasts until the service has seen it: that looks once a second.
put_in_both() {
	boot_n1_hangs
	run_client sbatch --parsable --account=physics -w n1 --pm-mode=memory --output=/dev/null --wrap=true
	job=$output
	wait_for 20 boot_hangs n1
	wait_for 30 n1_reboots
	bench power-cycle n1
	wait_for 60 job_is "$job" COMPLETED
	let_epilogs_end
}

# The boot of n1 hangs until it is reset.
boot_n1_hangs() {
	[ "$(node_field n1 %b)" != pm_memory,rack1 ] || put_in appdirect n1
	put_in appdirect n2
	let_epilogs_end
	bench inject n1 hang
}

n1_reboots() {
	user_pmctl cluster --nodes | grep -Eqx 'n1 +memory +- +rebooting .*'
}

@test "a line for each mode: nodes, jobs that wait, and how long a reboot takes" {
	put_in_both
	wait_for 30 line_is memory '1 +1 +0 +0 +0 +1 +0 +[0-9]+ s .*'
	wait_for 30 line_is 'appdirect, flat' '1 +1 +0 +0 +0 +1 +0 .*'
	wait_for 30 line_is mixed '0 +0 +0 +0 +0 +2 +0 .*'
	run user_pmctl cluster --json
	run /usr/bin/python3 -c '
import json, sys
answer = json.loads(sys.argv[1])
modes = {row["feature"]: row for row in answer["modes"]}
print(answer["version"], sorted(modes), modes["pm_memory"]["could"], modes["pm_memory"]["reboots"] > 0)' "$output"
	assert_output "1 ['pm_appdirect', 'pm_memory', 'pm_mixed'] 1 True"
}

@test "a line for each node, with its last reboot" {
	put_in_both
	wait_for 30 eval 'user_pmctl cluster --nodes | grep -Eqx "n1 +memory +- +idle +[1-9][0-9]* +[0-9]+  20.*: .* to memory, [0-9]+ s"'
	run user_pmctl cluster --nodes
	assert_line --regexp '^n2 +appdirect +(-|fsdax) +idle '
	assert_equal "${#lines[@]}" 3
}

@test "the sub-state that a node has told, until its next boot" {
	local socket
	socket=$(bench_dir)/run/controller/socket
	put_in_both
	sleep 1 # boots are compared in whole seconds, and the bench's are as short
	run setpriv --reuid 65534 --regid 65534 --clear-groups "$TOP/tests/slurm/ask.py" "$socket" ask \
		'{"type":"substate","node":"n2","text":"flat"}'
	assert_output --partial 'only root and SlurmUser may tell a sub-state'
	run "$TOP/tests/slurm/ask.py" "$socket" ask '{"type":"substate","node":"n2","text":"flut"}'
	assert_output --partial "'flut' is not a sub-state"
	run "$TOP/tests/slurm/ask.py" "$socket" ask '{"type":"substate","node":"n2","text":"flat"}'
	assert_output --partial noted
	wait_for 30 eval 'user_pmctl cluster --nodes | grep -Eq "^n2 +appdirect +flat +idle "'
	run user_pmctl cluster --nodes
	assert_line --regexp '^n1 +memory +- '
	sleep 1
	put_in memory n2
	wait_for 30 eval 'user_pmctl cluster --nodes | grep -Eq "^n2 +memory +- +idle "'
}

@test "reboots that were seen are known to the next service" {
	put_in_both
	wait_for 30 line_is memory '1 .* [0-9]+ s .*'
	bench service kill
	bench service start
	wait_for 30 line_is memory '1 .* [0-9]+ s .*'
}

# sums_agree BY MEMBER: the lines and the total of --by are the sums of the file in which the service keeps reboots.
sums_agree() {
	user_pmctl cluster --json --by "$1" >"$BATS_TEST_TMPDIR/sums.json"
	/usr/bin/python3 - "$BATS_TEST_TMPDIR/sums.json" "$(bench_dir)/kept/reboots.json" "$2" <<-'END'
		import collections, json, sys
		answer, kept = (json.load(open(path)) for path in sys.argv[1:3])
		sums = collections.defaultdict(lambda: [0, 0, 0])
		for reboot in kept["reboots"]:
		    row = sums[reboot.get(sys.argv[3], 0 if "job" in reboot and sys.argv[3] == "uid" else None)]
		    row[0] += 1
		    row[1] += "failure" in reboot
		    row[2] += reboot["end"] - reboot["start"]
		member = "uid" if sys.argv[3] == "uid" else "name"
		assert {row.get(member): [row["reboots"], row["failed"], row["seconds"]] for row in answer["reboots"]} == sums, (answer, sums)
		total = [sum(row[i] for row in sums.values()) for i in range(3)]
		assert list(answer["total"].values()) == total and total[0], (answer["total"], total)
	END
}

@test "reboots by user, account and partition are the sums of the reboots that are kept" {
	put_in_both
	wait_for 30 sums_agree user uid
	sums_agree account account
	sums_agree partition partition
	run user_pmctl cluster --by account
	assert_line --regexp '^ACCOUNT +REBOOTS +FAILED +NODE-HOURS$'
	assert_line --regexp '^physics +[1-9][0-9]* +[0-9]+ +[0-9]+\.[0-9][0-9]$'
	assert_line --regexp '^total +[1-9]'
	run user_pmctl cluster --by user
	assert_line --regexp '^nobody +[1-9]'
	run user_pmctl cluster --by partition
	assert_line --regexp '^main +[1-9]'
	run user_pmctl cluster --by user --since now-0
	assert_line --regexp '^total +0 +0 +0\.00$'
	run user_pmctl cluster --by user --since 2020-01-01
	assert_line --regexp '^nobody +[1-9]'
	run user_pmctl cluster --by user --since yesterday
	assert_failure 2
	assert_output "pmctl: cluster: 'yesterday' is not a time; write 2026-11-01, 2026-11-01T08:30 or now-7days"
}

@test "PrivateData=usage leaves users the reboots for their own jobs" {
	put_in_both
	wait_for 30 eval 'user_pmctl cluster --by user | grep -Eq "^nobody +[1-9]"'
	admin srun -w n2 --pm-mode=memory true
	wait_for 30 eval 'root_pmctl cluster --by user | grep -Eq "^root +[1-9]"'
	with_slurm_conf '$aPrivateData=usage'
	bench service kill
	bench service start
	run user_pmctl cluster --by user
	mine=$output
	run root_pmctl cluster --by user
	all=$output
	restore_slurm_conf
	bench service kill
	bench service start
	assert_equal "$(grep -Evc '^(USER|total)' <<<"$mine")" 1
	grep -Eq '^nobody +[1-9]' <<<"$mine"
	grep -Eq '^root +[1-9]' <<<"$all"
}

@test "a node that does not serve is a problem, with Slurm's reason and what comes next" {
	put_in_both
	run user_pmctl cluster --problems
	assert_output 'all nodes that have modes serve'
	admin scontrol update nodename=n2 state=drain reason='the fan is loud'
	wait_for 30 line_is '(memory|appdirect, flat|mixed)' '1 +0 +0 +0 +1 .*'
	run user_pmctl cluster --problems
	assert_line --regexp '^n2, since 20[0-9-]+ [0-9:]+: the fan is loud$'
	assert_line '  next: ssh n2 pmctl health; when that prints nothing: scontrol update NodeName=n2 State=RESUME'
	refute_line --partial n1
	admin scontrol update nodename=n2 state=drain reason='Low RealMemory (reported:1 < 100.00% of configured:2)'
	wait_for 30 eval 'user_pmctl cluster --problems | grep -q "Low RealMemory"'
	run user_pmctl cluster --problems
	assert_line '  next, if it does not: on the controller systemctl status pm-reregister.timer'
}

@test "a node that does not serve names the jobs that it concerns" {
	local runs waits
	put_in_both
	run_client sbatch --parsable -w n2 --output=/dev/null --wrap='sleep 60'
	runs=$output
	wait_for 20 job_is "$runs" RUNNING
	run_client sbatch --parsable -w n2 --exclusive --output=/dev/null --wrap=true
	waits=$output
	admin scontrol update nodename=n2 state=drain reason='the fan is loud'
	wait_for 40 eval "user_pmctl cluster --problems | grep -qx '  jobs that require it: $waits'"
	run user_pmctl cluster --problems
	assert_line "  jobs on it: $runs"
	run user_pmctl cluster --nodes --json
	run /usr/bin/python3 -c '
import json, sys
nodes = {row["node"]: row for row in json.loads(sys.argv[1])["nodes"]}
print(nodes["n2"]["running"], nodes["n2"]["waiting"], "running" in nodes["n1"])' "$output"
	assert_output "[$runs] [$waits] False"
}

@test "PrivateData=nodes keeps them from users" {
	with_slurm_conf '$aPrivateData=nodes'
	bench service kill
	bench service start
	run user_pmctl cluster
	restore_slurm_conf
	bench service kill
	bench service start
	assert_failure
	assert_output 'pmctl: cluster: PrivateData keeps nodes from users'
}

@test "without the service it says so" {
	bench service kill
	run user_pmctl cluster
	assert_failure
	assert_output --partial 'pmctl: cluster: '
	run user_pmctl explain 1
	assert_failure
}

@test "srun is told when its node reboots, and when it is back" {
	boot_n1_hangs
	bench srun -w n1 --pm-mode=memory true >"$BATS_TEST_TMPDIR/out" 2>&1 3>&- &
	wait_for 20 boot_hangs n1
	wait_for 40 grep -q 'pm: n1 reboots into mode memory for this job' "$BATS_TEST_TMPDIR/out"
	bench power-cycle n1
	wait
	run cat "$BATS_TEST_TMPDIR/out"
	assert_line --regexp '^srun: pm: n1 is back after [0-9]+ s$'
}

@test "explain tells what a starting and a queued job wait for" {
	local job job2
	boot_n1_hangs
	run_client sbatch --parsable -w n1 --pm-mode=memory --output=/dev/null --wrap=true
	job=$output
	wait_for 20 boot_hangs n1
	wait_for 30 n1_reboots
	run user_pmctl explain "$job"
	assert_line "The job has its nodes, n1; its time begins when they are ready."
	assert_line --regexp '^n1 has been rebooting into mode memory for [0-9]+ s; the median here is [0-9]+ s\.$'
	run_client sbatch --parsable -w n1 --pm-mode=memory --output=/dev/null --wrap=true
	job2=$output
	wait_for 10 user_pmctl explain "$job2"
	run user_pmctl explain --json "$job2"
	run /usr/bin/python3 -c 'import json, sys; job = json.loads(sys.argv[1]); print(job["state"], job["reason"], job["feature"])' "$output"
	assert_output --regexp '^pending (Resources|ReqNodeNotAvail|Priority) pm_memory$'
	bench power-cycle n1
	wait_for 60 job_is "$job" COMPLETED
}

@test "explain of a job without a mode, of none, and of no number" {
	run_client sbatch --parsable --hold --wrap=true
	run user_pmctl explain "$output"
	assert_line 'The job asks for no mode, so modes of nodes do not keep it waiting.'
	assert_line --partial "Slurm's reason is JobHeldUser: the job is held"
	run user_pmctl explain 999999
	assert_failure
	assert_output 'pmctl: explain: Slurm has no such job, or it ended a while ago'
	run user_pmctl explain n1
	assert_failure
	assert_output "pmctl: explain: 'n1' is not a job's number"
}

tell_reboots() {
	sed 's/^pm.tells_reboots = false$/--&/' "$(bench_dir)/etc/job_submit.lua" >"$BATS_TEST_TMPDIR/tells.lua"
	keep_lua
	put_lua "$BATS_TEST_TMPDIR/tells.lua"
}

@test "a submission says whether nodes must reboot, and what would not wait for that" {
	put_in_both
	wait_for 30 line_is memory '1 +1 .* [0-9]+ s .*'
	tell_reboots
	wait_for 30 grep -q 'main pm_memory=1 pm_appdirect=1 .*reboot_s:pm_memory=' "$(bench_dir)/run/controller/modes"
	run bench sbatch --hold --pm-mode=memory --wrap=true
	refute_output --partial 'pm: '
	run bench sbatch --hold -N2 --pm-mode=memory --wrap=true
	assert_line --regexp '^sbatch: pm: 1 of 2 nodes is idle in mode memory: one is rebooted into it first, which takes about [0-9]+ s here$'
	run bench sbatch --hold --pm-mode=mixed --wrap=true
	assert_line --regexp '^sbatch: pm: no node is idle in mode mixed: one is rebooted into it first(, which takes about [0-9]+ s here)?; mode memory has 1 idle$'
	run bench sbatch --hold --wrap=true
	refute_output --partial 'pm: '
}
