#!/usr/bin/env bats
# Lines of pmem.conf for accounts, QOS, users, groups and reservations, with Slurm's accounting; pmctl explain -- OPTION... The
# whole table of policies is tests/lua/test_policy.lua. docs/admin/compatibility.md has a row for each.
# shellcheck disable=SC2016 # the single quotes are for the shell in the job

setup_file() {
	export PM_BENCH=$BATS_FILE_TMPDIR/bench.dir
	# As much memory as the page's small site has.
	"$BATS_TEST_DIRNAME/../cluster/bench" up --accounting --owner $$ --build "$PM_BUILD" \
		--hardware 'Sockets=1 CoresPerSocket=2 ThreadsPerCore=1 RealMemory=4000' 3>&-
	load helper
	admin sacctmgr -Q -i add account physics,chem
	admin sacctmgr -Q -i add qos debug
	admin sacctmgr -Q -i add user nobody account=chem,physics defaultaccount=chem
	admin sacctmgr -Q -i modify user nobody set qos=normal,debug defaultqos=normal
}

teardown_file() {
	"$BATS_TEST_DIRNAME/../cluster/bench" down
}

setup() {
	load helper
	clean_nodes
}

teardown() {
	cancel_jobs -f
	admin scontrol delete reservation night >/dev/null 2>&1 || true
	restore_site
	wait_for 60 no_jobs
}

FOREVER='DelayBoot=3650-00:00:00'

# Users may have nodes rebooted by account, by reservation, or by group.
with_rules() {
	with_site RebootUsers=none \
		'Account=physics DefaultMode=memory RebootUsers=*' \
		'Account=physics QOS=debug DefaultMode=mixed RebootTimeLimit=60' \
		'Reservation=night RebootUsers=*' "$@"
}

# of_job OPTION...: Features and DelayBoot of a held job with these options.
of_job() {
	submit_held "$@"
	run job_field "$(number)" '\(Features\|DelayBoot\)'
}

# The job's number, beside which sbatch prints what pmem.lua says.
number() {
	grep -oE '^[0-9]+' <<<"$output"
}

reserve_night() {
	admin scontrol create reservation reservationname=night starttime=now duration=60 nodes=n1 users=nobody
}

@test "the account decides, also the user's default account, and with the QOS" {
	with_rules
	of_job --account=physics
	assert_line Features=pm_memory
	refute_line "$FOREVER"
	of_job
	refute_output --partial pm_memory
	of_job --pm-mode=memory
	assert_line "$FOREVER"
	of_job --account=physics --qos=debug --time=90
	assert_line Features=pm_mixed
	refute_line "$FOREVER"
	of_job --account=physics --qos=debug --time=30
	assert_line Features=pm_mixed
	assert_line "$FOREVER"
	admin sacctmgr -Q -i modify user nobody set defaultaccount=physics
	of_job
	assert_line Features=pm_memory
	admin sacctmgr -Q -i modify user nobody set defaultaccount=chem
}

@test "a job that may not have nodes rebooted starts on a node in its mode, and reboots none" {
	local before
	put_in memory n1
	put_in appdirect n2
	with_rules
	before=$(boot_id n2)
	run_client sbatch --wait --output=/dev/null -N1 --pm-mode=memory --wrap='[ "$SLURMD_NODENAME" = n1 ]'
	run_client sbatch --parsable -w n2 --output=/dev/null --pm-mode=memory --wrap=true
	assert_equal "$(boot_id n2)" "$before"
}

@test "a reservation decides, and an update takes the job out of it" {
	local job
	with_rules
	reserve_night
	submit_held --pm-mode=memory --reservation=night
	job=$(number)
	run job_field "$job" DelayBoot
	refute_output "$FOREVER"
	admin scontrol update jobid="$job" reservationname=
	run job_field "$job" DelayBoot
	assert_output "$FOREVER"
	run bench user scontrol update jobid="$job" delayboot=0
	assert_failure # 22.05 does not print the sentence
	admin scontrol update jobid="$job" reservationname=night
	run job_field "$job" DelayBoot
	refute_output "$FOREVER"
}

@test "an update of account, QOS and time limit: the job has the policy of what it is then" {
	local job
	with_rules
	submit_held --pm-mode=memory --account=physics --time=90
	job=$(number)
	bench user scontrol update jobid="$job" account=chem
	run job_field "$job" DelayBoot
	assert_output "$FOREVER"
	bench user scontrol update jobid="$job" account=physics
	run job_field "$job" DelayBoot
	refute_output "$FOREVER"
	bench user scontrol update jobid="$job" qos=debug
	run job_field "$job" DelayBoot
	refute_output "$FOREVER"
	bench user scontrol update jobid="$job" timelimit=30
	run job_field "$job" DelayBoot
	assert_output "$FOREVER"
}

groups_have_nobody() {
	grep -q '^nogroup.* nobody\( \|$\)' "$(bench_dir)/run/controller/groups"
}

@test "a group decides, which pm-controller looks up; the last look counts while the service is dead" {
	with_rules 'User=@nogroup RebootUsers=@nogroup'
	bench service kill
	bench service start # else within a minute
	wait_for 20 groups_have_nobody
	of_job --pm-mode=memory
	refute_line "$FOREVER"
	bench service kill
	of_job --pm-mode=memory
	refute_line "$FOREVER"
	rm "$(bench_dir)/run/controller/groups"
	of_job --pm-mode=memory
	assert_line "$FOREVER"
	bench service start
	wait_for 20 groups_have_nobody
}

@test "heterogeneous jobs, srun, salloc and --export=NONE have the policy of each component" {
	put_in memory n1 n2
	with_rules
	run_client sbatch --parsable --hold --account=physics --output=/dev/null : --account=chem --wrap=true
	run job_field "$(number)" Features
	assert_line Features=pm_memory
	assert_line Features='(null)'
	of_job --export=NONE --account=physics
	assert_line Features=pm_memory
	run_srun --account=physics sh -c 'echo $PM_MODE'
	assert_output memory
	run_client salloc -Q --account=physics srun sh -c 'echo $PM_MODE'
	assert_output memory
	run_srun --account=chem sh -c 'echo "<$PM_MODE>"'
	assert_output '<>'
}

# user_explain ARGUMENT...: pmctl explain, typed by the user.
user_explain() {
	user_pmctl explain "$@"
}

@test "pmctl explain -- OPTION...: each key with the line that decides it, without a job" {
	local conf
	with_rules
	conf=$(bench_dir)/etc/pmem.conf
	run user_explain -- --account=physics --qos=debug --time=30
	assert_success
	assert_line 'Account: physics'
	assert_line 'QOS: debug'
	assert_line --regexp "^DefaultMode: mixed \($conf:[0-9]+ Account=physics QOS=debug\)$"
	assert_line --regexp "^RebootUsers: \* \($conf:[0-9]+ Account=physics\)$"
	assert_line 'DelayBoot: 0 (default)'
	assert_line 'Mode: mixed (DefaultMode)'
	assert_line 'Constraint: pm_mixed'
	assert_line 'Reboots: no'
	assert_line 'no node is rebooted for jobs with a time limit below 60 minutes: this one takes nodes in mode mixed only'
	run user_explain --json -- --pm-mode=memory
	assert_success
	run python3 -c 'import json, sys
answer = json.load(sys.stdin)
values = {row["name"]: row["value"] for row in answer["policy"]}
print(answer["accepted"], values["RebootUsers"], values["Mode"], len(answer["sentences"]))' <<<"$output"
	assert_output 'True none memory 2'
	run user_explain -- --pm-mode=bogus
	assert_failure
	assert_output --partial "unknown mode 'bogus'"
	assert_nothing_queued
}

# with_page SECTION: the lines of pmem.conf in that section of docs/admin/policy.md, as they stand there.
with_page() {
	local line lines=()
	while IFS= read -r line; do
		lines+=("$line")
	done < <(awk -v section="## $1" '$0 == section { at = 1; next } /^## / { at = 0 } at && sub(/^    /, "")' \
		"$BATS_TEST_DIRNAME/../../docs/admin/policy.md")
	[ "${#lines[@]}" -gt 1 ]
	with_site "${lines[@]}"
}

# gets MODE yes|no OPTION...: a job with these options gets that mode, and nodes may reboot for it, or not.
gets() {
	local mode=$1 reboots=$2
	shift 2
	run user_explain -- "$@"
	assert_success
	assert_line --regexp "^Mode: $mode "
	assert_line "Reboots: $reboots"
}

@test "docs/admin/policy.md: a small site" {
	with_page 'A small site'
	gets appdirect yes --nodes=1
	gets memory yes --mem=200M --pm-mode=memory
	gets memory no --pm-mode=memory --time=5
}

@test "docs/admin/policy.md: a shared centre" {
	with_page 'A shared centre'
	admin sacctmgr -Q -i add account other
	admin sacctmgr -Q -i add user nobody account=other
	gets memory no --account=other
	gets mixed yes --account=chem --pm-mode=mixed
	gets mixed no --account=physics --qos=debug --time=30 --pm-mode=mixed
	gets mixed yes --account=physics --qos=debug --time=90 --pm-mode=mixed
	run user_explain -- --account=other --pm-mode=mixed
	assert_failure
	assert_line "--pm-mode: mode 'mixed' is not offered here, take one of memory"
}

@test "docs/admin/policy.md: modes by reservation alone" {
	with_page 'Modes by reservation alone'
	reserve_night
	gets memory no --pm-mode=memory
	gets memory yes --pm-mode=memory --reservation=night
}
