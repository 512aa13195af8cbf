#!/usr/bin/env bats
# The controller's service: who waits for nodes, with it and without it, and what its peers may do.

setup() {
	load helper
	keep_pmctl
	clean_nodes
	bench service start
}

teardown() {
	restore_site
	put_pmctl_back
	restore_slurm_conf
	bench inject n1 none
	cancel_jobs -f
	state_is n1 idle || bench power-cycle n1 # out of a hung boot
	wait_for 60 state_is n1 idle
}

ask() {
	"$TOP/tests/slurm/ask.py" "$(bench_dir)/run/controller/socket" "$@" 3>&-
}

# As the ordinary user.
user_ask() {
	setpriv --reuid 65534 --regid 65534 --clear-groups \
		"$TOP/tests/slurm/ask.py" "$(bench_dir)/run/controller/socket" "$@" 3>&-
}

other_ask() {
	setpriv --reuid 12345 --regid 12345 --clear-groups \
		"$TOP/tests/slurm/ask.py" "$(bench_dir)/run/controller/socket" "$@" 3>&-
}

# The controller's own programs that run for a job: prolog_slurmctld waits, prolog_poll asks Slurm. Words end with a NUL
# there, and one look at all processes is to take no longer than a busy machine needs for a fork.
waits_as() {
	local file
	for file in $(grep -lsaP "/$1\\x00" /proc/[0-9]*/cmdline); do
		! grep -qsaP "(^|\\x00)SLURM_JOB_ID=$2\\x00" "${file%cmdline}environ" || return 0
	done
	return 1
}

# The boot of n1 hangs until it is reset; the job that waits for it, by the program $1, in $job.
submit_waiting_by() {
	[ "$(node_field n1 %b)" != pm_memory,rack1 ] || put_in appdirect n1
	bench inject n1 hang
	run_client sbatch --parsable -w n1 --pm-mode=memory --output=/dev/null --wrap="${2:-true}"
	job=$output
	wait_for 20 waits_as "$1" "$job"
	wait_for 20 boot_hangs n1
}

submit_waiting() {
	submit_waiting_by prolog_slurmctld "$@"
}

is_listed() {
	ask ask '{"type":"waiting"}' | grep -q "\"job\":$1,"
}

@test "the job of a rebooted node starts when the node is back, by the service's word" {
	submit_waiting
	wait_for 10 is_listed "$job"
	run ! waits_as prolog_poll "$job"
	bench power-cycle n1
	wait_for 60 job_is "$job" COMPLETED
	started_at_once "$job"
	run ! is_listed "$job"
}

@test "without the service its prolog asks Slurm itself" {
	bench service kill
	submit_waiting_by prolog_poll
	bench power-cycle n1
	wait_for 60 job_is "$job" COMPLETED
	started_at_once "$job"
}

@test "the service is killed while a job waits: its prolog asks Slurm itself" {
	submit_waiting
	bench service kill
	wait_for 20 waits_as prolog_poll "$job"
	bench power-cycle n1
	wait_for 60 job_is "$job" COMPLETED
	started_at_once "$job"
}

@test "a service that is back serves the next job" {
	bench service kill
	bench service start
	submit_waiting
	wait_for 10 is_listed "$job"
	bench power-cycle n1
	wait_for 60 job_is "$job" COMPLETED
}

@test "a job that is cancelled while it waits leaves nothing behind" {
	submit_waiting
	wait_for 10 is_listed "$job"
	bench scancel "$job"
	wait_for 20 no_jobs
	wait_for 40 eval '! is_listed "$job"'
	run ! waits_as prolog_slurmctld "$job"
}

# A reboot without ASAP waits for the node's jobs. It is called off, as slurmctld 22.05 may show a node that reboots once more
# right after its boot as rebooting for ever.
# The prolog in $1 waits until the node is back, for its own reboot: a client would take the job's nodes for ready.
reboot_behind() {
	local prolog=$1
	shift
	submit_waiting 'sleep 300'
	"$@"
	admin scontrol reboot n1
	sleep 2.5
	waits_as "$prolog" "$job"
	bench power-cycle n1
	wait_for 60 job_is "$job" RUNNING
	admin scontrol cancel_reboot n1
	bench scancel "$job"
}

@test "an administrator's reboot that waits for a job is not waited for by that job" {
	reboot_behind prolog_slurmctld true
}

@test "nor is it without the service" {
	reboot_behind prolog_poll bench service kill
}

@test "a job that is requeued while it waits waits once" {
	submit_waiting
	wait_for 10 is_listed "$job"
	admin scontrol requeue "$job"
	wait_for 40 eval '! is_listed "$job" || [ "$(ask ask "{\"type\":\"waiting\"}" | grep -o "\"job\":$job," | wc -l)" = 1 ]'
}

@test "the state file tells how many idle nodes of each partition are in which mode" {
	put_in memory n1
	put_in appdirect n2
	let_epilogs_end
	local file
	file=$(bench_dir)/run/controller/modes
	wait_for 30 eval 'user_ask ask "{\"type\":\"modes\"}" | grep -q "\"pm_memory\":1,\"pm_appdirect\":1,"'
	wait_for 30 grep -Eqx 'main pm_memory=1 pm_appdirect=1 pm_mixed=0 could:pm_memory=1 could:pm_appdirect=1 could:pm_mixed=2 nodes:pm_memory=1 nodes:pm_appdirect=1 nodes:pm_mixed=0( reboot_s:pm_[a-z]+=[0-9]+)*' "$file"
	run head -n 1 "$file"
	assert_output --regexp '^slurm-pmem-modes 1 [0-9]{10}$'
	[ "$(stat -c %a "$file")" = 644 ]
}

@test "the state file is not renewed while slurmctld does not answer" {
	local file pid
	file=$(bench_dir)/run/controller/modes
	wait_for 20 test -e "$file"
	pid=$(bench_pids slurmctld)
	kill -STOP "$pid"
	sleep 1
	head -n 1 "$file" >"$BATS_TEST_TMPDIR/before"
	sleep 15
	head -n 1 "$file" >"$BATS_TEST_TMPDIR/after"
	kill -CONT "$pid"
	run cmp "$BATS_TEST_TMPDIR/before" "$BATS_TEST_TMPDIR/after"
	assert_success
}

@test "a user may not wait in slurmctld's place" {
	run user_ask ask '{"type":"wait","job":1,"uid":65534,"nodes":"n1"}'
	assert_output --partial '"type":"error"'
	assert_output --partial 'only root and SlurmUser may wait, and only over the unix socket'
}

@test "garbage, frames that are too long or empty and half ones cost their sender the connection" {
	run ask bare 'this is not JSON'
	assert_output --partial '"type":"error"'
	run ask bare '{"version":2,"type":"modes","id":1}'
	assert_output --partial 'message of version 2, this side supports version 1'
	run ask bare '{"version":1,"type":"still","id":1}'
	assert_output --partial 'message is not a request'
	run ask ask '{"type":"wait","job":1,"uid":0,"nodes":"n1\u0000n2"}'
	assert_output --partial "bad or missing 'nodes'"
	run ask oversized
	assert_output closed
	run ask empty
	assert_output closed
	run ask slow '{"type":"modes"}'
	assert_output closed
	run ask ask '{"type":"modes"}'
	assert_output --partial '"type":"list"'
}

@test "the state file and what is in it are kept from users where Slurm keeps nodes private" {
	with_slurm_conf '$aPrivateData=nodes'
	bench service start
	wait_for 30 eval '[ "$(stat -c %a "$(bench_dir)/run/controller/modes")" = 600 ]'
	run user_ask ask '{"type":"modes"}'
	assert_output --partial '"type":"error"'
	assert_output --partial 'PrivateData keeps nodes from users'
	run ask ask '{"type":"modes"}'
	assert_output --partial '"type":"list"'
}

@test "a user that opens connection after connection is turned away, and keeps nobody else out" {
	user_ask crowd 300 >"$BATS_TEST_TMPDIR/closed" &
	local crowd=$!
	submit_waiting
	wait_for 10 is_listed "$job"
	wait "$crowd"
	[ "$(cat "$BATS_TEST_TMPDIR/closed")" -ge 284 ]
	bench power-cycle n1
	wait_for 60 job_is "$job" COMPLETED
}

# A job on n1, in the mode that it is in; the job that is held behind it in $job.
submit_held_behind() {
	put_in appdirect n1
	run_client sbatch --parsable -w n1 --pm-mode=appdirect --output=/dev/null --wrap='sleep 600'
	before=$output
	wait_for 30 eval '[ "$(job_field "$before" JobState)" = JobState=RUNNING ]'
	run_client sbatch --parsable -w n1 -N1-2 --pm-mode=memory --output=/dev/null --wrap=true
	job=$output
	wait_for 20 is_held_by_slurm "$job"
}

is_held_by_slurm() {
	[ "$(job_field "$1" Reason)" = Reason=BadConstraints ] && [ "$(job_field "$1" Priority)" = Priority=0 ]
}

@test "a job that slurmctld holds because its node is busy runs when the node is idle" {
	submit_held_behind
	local eligible submitted
	eligible=$(job_field "$job" EligibleTime)
	submitted=$(job_field "$job" SubmitTime)
	sleep 40 # Slurm's own pass, each 30 s, clears such holds once after a node has changed its mode
	bench scancel "$before"
	wait_for 60 job_is "$job" COMPLETED
	[ "$(job_field "$job" EligibleTime)" = "$eligible" ]
	[ "$(job_field "$job" SubmitTime)" = "$submitted" ]
	run job_field "$job" Comment
	refute_output --regexp 'Comment=.'
}

@test "while the node is busy slurmctld is not asked to look again" {
	submit_held_behind
	sleep 25
	run grep -c "_slurm_rpc_update_job: complete JobId=$job " "$(bench_dir)/log/slurmctld.log"
	assert_output 0
	bench scancel "$job" "$before"
}

# slurmctld knows no node's modes until it has registered, and holds what it looks at until then: a submission has it look.
# No node changes its mode here, which would clear the hold.
@test "jobs that wait while slurmctld restarts are not held, whether they name nodes or not" {
	put_in appdirect n1 n2
	run_client sbatch --parsable -N2 --pm-mode=appdirect --output=/dev/null --wrap='sleep 600'
	local before=$output waiting=() request job
	wait_for 30 job_is "$before" RUNNING
	for request in '' '-x n1' '-N2' '-w n1'; do
		# shellcheck disable=SC2086 # several words, or none
		run_client sbatch --parsable $request --pm-mode=mixed --output=/dev/null --wrap=true
		waiting+=("$output")
	done
	bench restart-slurmctld
	run_client sbatch --parsable --output=/dev/null --wrap=true
	waiting+=("$output")
	sleep 15
	for job in "${waiting[@]}"; do
		run job_field "$job" Reason
		refute_output Reason=BadConstraints
		run job_field "$job" Priority
		refute_output Priority=0
	done
	bench scancel "$before" "${waiting[@]}"
}

@test "holds of users and admins stay" {
	put_in appdirect n1
	run_client sbatch --parsable --hold -w n1 --pm-mode=memory --output=/dev/null --wrap=true
	local of_user=$output of_admin
	submit_held_behind
	of_admin=$job
	admin scontrol hold "$of_admin"
	bench scancel "$before"
	sleep 25
	run job_field "$of_user" Reason
	assert_output Reason=JobHeldUser
	run job_field "$of_admin" Reason
	assert_output Reason=JobHeldAdmin
	bench scancel "$of_user" "$of_admin"
}

# turn_away_on NODE...: pmctl has no place for a job there.
turn_away_on() {
	pmctl_in_case "$(printf "*'%s job begin'*|" "$@")nowhere)
	echo \"pmctl: another has the devices of \$SLURMD_NODENAME\" >&2; exit 3 ;;"
}

tcp() {
	local dir
	dir=$(bench_dir)
	"$TOP/tests/slurm/ask.py" "127.0.0.1:$(cat "$dir/service_port")" --munge "$dir/run/munge.socket" "$@" 3>&-
}

# What the controller's service counted for a job.
counted() {
	grep -c "job $1: '.*' turns it away" "$(bench_dir)/log/pm-controller.out"
}

# cancelled_as_turned_away: n1's pmctl cancels the job, and then turns it away.
cancelled_as_turned_away() {
	put_in appdirect n1
	let_epilogs_end
	pmctl_in_case "'n1 job begin'*)
	SLURM_CONF=$(bench_dir)/etc/slurm.conf scancel \"\$(expr \"\$*\" : '.*--job=\([0-9]*\)')\"
	echo 'pmctl: another has the devices of n1' >&2; exit 3 ;;"
	run_client sbatch --parsable -w n1 --pm-mode=appdirect --output=/dev/null --wrap=true
	job=$output
	wait_for 20 job_is "$job" CANCELLED
	wait_for 30 state_is n1 idle
	job_is "$job" CANCELLED
}

@test "a job that is cancelled as a node turns it away does not come back" {
	cancelled_as_turned_away
}

@test "nor without the service" {
	bench service kill
	cancelled_as_turned_away
}

@test "a job that a node turns away goes to another, and runs there" {
	put_in appdirect n1 n2
	let_epilogs_end
	turn_away_on n1
	run_client sbatch --parsable --pm-mode=appdirect --output=/dev/null --wrap='sleep 2'
	job=$output
	wait_for 90 job_is "$job" COMPLETED
	run job_field "$job" ' NodeList'
	assert_output ' NodeList=n2'
	[ "$(job_field "$job" Restarts)" = Restarts=1 ]
}

# Slurm takes the number of an array for all of its tasks; its last task has it as well.
array_with_last_on() {
	put_in appdirect n1 n2
	let_epilogs_end
	turn_away_on "$1"
	run_client sbatch --parsable --array=0-1 --pm-mode=appdirect --output=/dev/null --wrap='sleep 8'
	job=$output
	wait_for 30 eval '[ "$(job_field "${job}_1" Restarts)" = Restarts=1 ]'
	put_pmctl_back
	wait_for 60 job_is "${job}_1" COMPLETED
	wait_for 60 job_is "${job}_0" COMPLETED
	run job_field "${job}_0" Restarts
	assert_output Restarts=0
}

@test "the other tasks of an array run on when a node turns its last one away" {
	array_with_last_on n2
}

@test "so they do without the service" {
	bench service kill
	array_with_last_on n2
}

@test "a job that all nodes turn away is held with what they say; its owner may release it" {
	put_in appdirect n1 n2
	let_epilogs_end
	turn_away_on n1 n2
	run_client sbatch --parsable --pm-mode=appdirect --output=/dev/null --wrap='sleep 2'
	job=$output
	wait_for 120 eval '[ "$(job_field "$job" Reason)" = Reason=JobHeldUser ]'
	run counted "$job"
	assert_output 3
	run admin scontrol show job "$job"
	assert_output --partial "AdminComment=pm: held, as nodes have turned it away ("
	assert_output --partial "n1: another has the devices of n1"
	assert_output --partial "n2: another has the devices of n2"
	assert_output --partial "scontrol release $job"
	assert_output --partial 'ExcNodeList=(null)'
	put_pmctl_back
	bench user scontrol release "$job"
	wait_for 60 job_is "$job" COMPLETED
}

# slurmctld that begins anew in that moment does it now and then; here scontrol does it.
@test "its owner may release it also where its hold becomes an administrator's before it is back in the queue" {
	put_in appdirect n1 n2
	let_epilogs_end
	turn_away_on n1 n2
	with_slurm_conf "\$ a Epilog=$(program slow_epilog 'sleep 4')"
	run_client sbatch --parsable --pm-mode=appdirect --output=/dev/null --wrap='sleep 2'
	job=$output
	wait_for 120 eval '[ "$(counted "$job")" = 3 ]'
	admin scontrol hold "$job"
	wait_for 10 job_is "$job" COMPLETING
	wait_for 10 job_is "$job" PENDING
	put_pmctl_back
	wait_for 60 eval '[ "$(job_field "$job" Reason)" = Reason=JobHeldUser ]'
	bench user scontrol release "$job"
	wait_for 60 job_is "$job" COMPLETED
}

@test "an administrator's hold of such a job stays one" {
	put_in appdirect n1 n2
	let_epilogs_end
	turn_away_on n1 n2
	run_client sbatch --parsable --pm-mode=appdirect --output=/dev/null --wrap='sleep 2'
	job=$output
	wait_for 120 eval '[ "$(job_field "$job" Reason)" = Reason=JobHeldUser ]'
	sleep 20 # the service has seen its hold
	admin scontrol hold "$job"
	sleep 20
	run job_field "$job" Reason
	assert_output Reason=JobHeldAdmin
	admin scancel "$job"
}

@test "a job that all of its nodes turn away at once is held as well, and not lost" {
	put_in appdirect n1 n2
	let_epilogs_end
	turn_away_on n1 n2
	run_client sbatch --parsable -N 2 --pm-mode=appdirect --output=/dev/null --wrap=true
	job=$output
	wait_for 120 eval '[ "$(job_field "$job" Reason)" = Reason=JobHeldUser ]'
	run admin scontrol show job "$job"
	assert_output --partial "n1: another has the devices of n1"
	assert_output --partial "n2: another has the devices of n2"
	assert_output --partial 'ExcNodeList=(null)'
	put_pmctl_back
	bench user scontrol release "$job"
	wait_for 60 job_is "$job" COMPLETED
}

@test "a job that was held may still be sent to another node" {
	put_in appdirect n1 n2
	let_epilogs_end
	turn_away_on n2
	run_client sbatch --parsable -w n2 --pm-mode=appdirect --output=/dev/null --wrap=true
	job=$output
	wait_for 120 eval '[ "$(job_field "$job" Reason)" = Reason=JobHeldUser ]'
	bench user scontrol update "jobid=$job" reqnodelist=n1
	bench user scontrol release "$job"
	wait_for 60 job_is "$job" COMPLETED
	run job_field "$job" ' NodeList'
	assert_output ' NodeList=n1'
}

@test "the count survives the service, and the user's own exclusions stay" {
	put_in appdirect n1
	let_epilogs_end
	turn_away_on n1
	run_client sbatch --parsable -x n2 --pm-mode=appdirect --output=/dev/null --wrap='sleep 2'
	job=$output
	wait_for 60 eval '[ "$(counted "$job")" = 1 ]'
	bench service kill
	bench service start
	wait_for 120 eval '[ "$(job_field "$job" Reason)" = Reason=JobHeldUser ]'
	run counted "$job"
	assert_output 3
	[ "$(job_field "$job" ExcNodeList)" = ExcNodeList=n2 ]
	bench scancel "$job"
}

is_excluded_from() {
	[ "$(job_field "$job" ExcNodeList)" = "ExcNodeList=$1" ]
}

# A job that n1 has turned away, and that n2, which another one has, is to serve; in $job.
submit_to_other() {
	put_in appdirect n1 n2
	let_epilogs_end
	run_client sbatch --parsable -w n2 --pm-mode=appdirect --output=/dev/null --wrap='sleep 600'
	job=$output
	wait_for 30 job_is "$job" RUNNING
	turn_away_on n1
	run_client sbatch --parsable --pm-mode=appdirect --output=/dev/null --wrap='sleep 2'
	job=$output
	wait_for 60 is_excluded_from n1
}

@test "a job runs where it was turned away when the other node has left service, also after the service began anew" {
	submit_to_other
	put_pmctl_back
	bench service kill
	bench service start
	sleep 20 # the service has looked
	is_excluded_from n1
	admin scontrol update nodename=n2 state=drain reason=test
	wait_for 90 job_is "$job" COMPLETED
	is_excluded_from '(null)'
	run job_field "$job" ' NodeList'
	assert_output ' NodeList=n1'
}

# What the service cannot see: Slurm holds a job that is excluded from the only node with such a disk.
submit_for_disk() {
	put_in appdirect n1 n2
	let_epilogs_end
	with_slurm_conf '/^NodeName=n1 /s/$/ TmpDisk=10/'
	turn_away_on n1
	run_client sbatch --parsable --tmp=5 --pm-mode=appdirect --output=/dev/null --wrap='sleep 2'
	job=$output
}

# At one moment: the service gives the node back.
is_held_away_from() {
	local shown
	shown=$(admin scontrol -o show job "$job")
	[[ $shown == *" Priority=0 "*" Reason=BadConstraints "*" ExcNodeList=$1 "* ]]
}

@test "a job that Slurm holds since the other node lacks something runs where it was turned away" {
	submit_for_disk
	wait_for 60 is_held_away_from n1
	put_pmctl_back
	wait_for 90 job_is "$job" COMPLETED
	is_excluded_from '(null)'
	run job_field "$job" ' NodeList'
	assert_output ' NodeList=n1'
}

@test "a job that gets the same node back again and again is held by its limit" {
	submit_for_disk
	wait_for 180 eval '[ "$(job_field "$job" Reason)" = Reason=JobHeldUser ]'
	run counted "$job"
	assert_output 3
	is_excluded_from '(null)'
	run admin scontrol show job "$job"
	assert_output --partial "n1: another has the devices of n1"
}

@test "without the service a job that is turned away goes back to the queue" {
	put_in appdirect n1 n2
	let_epilogs_end
	bench service kill
	turn_away_on n1 n2
	run_client sbatch --parsable --pm-mode=appdirect --output=/dev/null --wrap=true
	job=$output
	run_client sbatch --parsable -N 2 --pm-mode=appdirect --output=/dev/null --wrap=true
	both=$output
	wait_for 60 eval '[ "$(job_field "$job" Restarts)" = Restarts=2 ]'
	[ "$(job_field "$job" Reason)" != Reason=JobHeldUser ]
	bench scancel "$job"
	wait_for 60 eval '[ "$(job_field "$both" Restarts)" = Restarts=2 ]'
	bench scancel "$both"
}

@test "over TCP munge says who asks; what was used, is forged or another user's is refused" {
	run tcp ask '{"type":"modes"}'
	assert_output --partial '"type":"list"'
	run tcp replay '{"type":"modes"}'
	assert_line --index 0 --partial '"type":"list"'
	assert_line --index 1 --partial 'Replayed credential'
	run tcp bare 'MUNGE:AwQDAAAA:'
	assert_output --partial '"type":"error"'
	run tcp bare '{"version":1,"type":"modes","id":1}'
	assert_output --partial '"type":"error"'
	run tcp oversized
	assert_output closed
	run tcp slow '{"type":"modes"}'
	assert_output closed
	run tcp ask '{"type":"wait","job":1,"uid":0,"nodes":"n1"}'
	assert_output --partial 'and only over the unix socket'
	run setpriv --reuid 65534 --regid 65534 --clear-groups "$TOP/tests/slurm/ask.py" \
		"127.0.0.1:$(cat "$(bench_dir)/service_port")" --munge "$(bench_dir)/run/munge.socket" \
		ask '{"type":"turned-away","job":1,"node":"n1","text":"go"}'
	assert_output --partial 'only root and SlurmUser may reject a job'
	run tcp ask '{"type":"turned-away","job":999999,"node":"n1","text":"go"}'
	assert_output --partial '"type":"error"'
}

@test "which jobs wait is shown to their owners only where Slurm keeps jobs private" {
	submit_waiting
	wait_for 10 is_listed "$job"
	run other_ask ask '{"type":"waiting"}'
	assert_output --partial "\"job\":$job,"
	bench power-cycle n1
	wait_for 60 job_is "$job" COMPLETED
	with_slurm_conf '$aPrivateData=jobs'
	bench service start
	bench inject n1 hang
	run_client sbatch --parsable -w n1 --pm-mode=appdirect --output=/dev/null --wrap=true
	job=$output
	wait_for 20 is_listed "$job"
	run user_ask ask '{"type":"waiting"}'
	assert_output --partial "\"job\":$job,"
	run other_ask ask '{"type":"waiting"}'
	assert_output '{"version":1,"type":"list","id":7,"list":[]}'
}
