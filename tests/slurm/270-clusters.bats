#!/usr/bin/env bats
# Two clusters of one slurmdbd, on MariaDB: -M, and a federation. The nodes of "bench" are n1 and n2, of "other" n3 and n4.
# docs/admin/compatibility.md has a row for each.
# shellcheck disable=SC2016 # the single quotes are for the shell in the job

setup_file() {
	export PM_BENCH=$BATS_FILE_TMPDIR/bench.dir PM_OTHER=$BATS_FILE_TMPDIR/other.dir
	"$BATS_TEST_DIRNAME/../cluster/bench" up --accounting --owner $$ --build "$PM_BUILD" 3>&-
	PM_BENCH=$PM_OTHER "$BATS_TEST_DIRNAME/../cluster/bench" up --cluster other --first 3 --owner $$ --build "$PM_BUILD" \
		--accounting-of "$(cat "$PM_BENCH")" 3>&-
}

teardown_file() {
	PM_BENCH=$PM_OTHER "$BATS_TEST_DIRNAME/../cluster/bench" down
	"$BATS_TEST_DIRNAME/../cluster/bench" down
}

setup() {
	load helper
	clean
}

teardown() {
	[ ! -e "$BATS_TEST_TMPDIR/pmctl.kept" ] || replace "$BATS_TEST_TMPDIR/pmctl.kept" "$(on_other bench_dir)/bin/pmctl"
	restore_site
	on_other restore_site
	if [ -e "$BATS_TEST_TMPDIR/other.conf" ]; then
		replace "$BATS_TEST_TMPDIR/other.conf" "$(on_other bench_dir)/etc/slurm.conf"
		restart_other
		wait_for 60 other_has_modes
	fi
	end_jobs
	leave_federation
}

# on_other COMMAND...: with the other cluster's bench.
on_other() {
	PM_BENCH=$PM_OTHER "$@"
}

no_jobs_anywhere() {
	no_jobs && on_other no_jobs
}

end_jobs() {
	cancel_jobs -f >/dev/null 2>&1 || true
	on_other cancel_jobs -f >/dev/null 2>&1 || true
	wait_for 60 no_jobs_anywhere
	let_epilogs_end
	on_other let_epilogs_end
}

clean() {
	end_jobs
	resume n1 n2
	on_other resume n3 n4
}

all_in_service() {
	nodes_are_in_service
	on_other nodes_are_in_service
}

other_has_modes() {
	[ "$(on_other admin sinfo -hN -o %f | grep -c pm_memory)" = 2 ]
}

# Of all nodes; a reboot changes it.
boots() {
	boot_id n1
	boot_id n2
	on_other boot_id n3
	on_other boot_id n4
}

# submit OPTION...: its number is in $job.
submit() {
	run_client sbatch --parsable "$@"
	job=${output##*$'\n'} # behind remarks
	job=${job%%;*}
}

# other_field JOB NAME: as job_field, of that cluster's own record.
other_field() {
	on_other admin scontrol --all --local -o show job "$1" | grep -o "$2=[^ ]*"
}

own_field() {
	admin scontrol --all --local -o show job "$1" | grep -o "$2=[^ ]*"
}

other_is() {
	[ "$(other_field "$1" JobState)" = "JobState=$2" ]
}

own_is() {
	[ "$(own_field "$1" JobState)" = "JobState=$2" ]
}

# The jobs of others take all nodes of "bench", so that a job of the federation gets nodes of "other".
fill_own() {
	run_client sbatch -M bench --exclusive -w n1 --output=/dev/null --wrap='sleep 600'
	run_client sbatch -M bench --exclusive -w n2 --output=/dev/null --wrap='sleep 600'
	wait_for 30 eval '[ "$(admin squeue --local -ht running -o %i | wc -l)" = 2 ]'
}

is_synced() {
	admin scontrol show federation | grep -q 'Synced:Yes' && on_other admin scontrol show federation | grep -q 'Synced:Yes'
}

federate() {
	admin sacctmgr -Q -i add federation fed clusters=bench,other
	wait_for 60 is_synced
}

is_alone() {
	! admin scontrol show federation | grep -q Sibling && ! on_other admin scontrol show federation | grep -q Sibling
}

leave_federation() {
	admin sacctmgr -Q -i delete federation fed >/dev/null 2>&1 || true
	wait_for 30 is_alone
}

restart_other() {
	on_other bench restart-slurmctld
	on_other bench restart-slurmd n3
	on_other bench restart-slurmd n4
}

# with_little_there [KEY]: "other" becomes a cluster without slurm-pmem, but for what the key of slurm.conf names.
with_little_there() {
	local conf
	conf=$(on_other bench_dir)/etc/slurm.conf
	cp -p "$conf" "$BATS_TEST_TMPDIR/other.conf"
	grep -E "^(AuthInfo|${1-AuthInfo})=" "$(on_other bench_dir)/etc/slurm-pmem.conf" >"$BATS_TEST_TMPDIR/kept"
	sed -i -e "/^include/{r $BATS_TEST_TMPDIR/kept" -e 'd}' -e 's|^PlugStackConfig=.*|PlugStackConfig=/dev/null|' "$conf"
	restart_other
	wait_for 60 on_other state_is n3 idle
}

# Slurm's words for a feature that no node has.
no_feature='Invalid feature specification|Requested node configuration is not available'

write_mode='echo $SLURM_CLUSTER_NAME $SLURMD_NODENAME $PM_MODE >>ran'

ran() {
	run cat "$(bench_dir)/home/ran"
	rm -f "$(bench_dir)/home/ran"
}

@test "-M: a job goes to another cluster, and has its mode there; squeue -M shows it" {
	submit -M other -w n3 --pm-mode=memory --wrap="$write_mode; sleep 3"
	run bench squeue -M other -h -j "$job" -o %f
	assert_output --partial pm_memory
	wait_for 60 other_is "$job" COMPLETED
	ran
	assert_output 'other n3 memory'
	run on_other bench node n3 pmctl mode
	assert_output memory
	run_srun -M other -w n3 --pm-mode=appdirect sh -c 'echo $SLURM_CLUSTER_NAME $PM_MODE'
	assert_output 'other appdirect'
	run_client sbatch 1 -M other -C pm_memory --pm-mode=appdirect --wrap=true
	assert_output --partial 'pm: --pm-mode=appdirect contradicts --constraint=pm_memory'
	all_in_service
}

@test "-M: --pm-report of srun does not print the report of another job, of the same number" {
	local command
	for command in srun salloc; do
		run_client $command -M other -w n3 --pm-mode=appdirect --pm-report true
		assert_output --regexp "pm: --pm-report: job [0-9]+ is on another cluster, ask 'pmctl report [0-9]+' there"
		refute_output --partial 'Mode:'
	done
}

# in_environment VARIABLE COMMAND [RC] ARGUMENT...: run_client with it.
in_environment() {
	local variable=$1 command=$2 wanted=0
	shift 2
	if [[ $1 =~ ^[0-9]+$ ]]; then
		wanted=$1
		shift
	fi
	run_client user "$wanted" env "$variable" "$command" "$@"
}

@test "SLURM_CLUSTERS: a job goes to the cluster of the environment as by -M, and has its mode there" {
	local command
	for command in srun salloc; do
		in_environment SLURM_CLUSTERS=other $command -w n3 --pm-mode=memory sh -c 'echo "$SLURM_CLUSTER_NAME"'
		assert_line other
		run on_other bench node n3 pmctl mode
		assert_output memory
		in_environment SLURM_CLUSTERS=other $command -w n3 --pm-mode=appdirect true
		run on_other bench node n3 pmctl mode
		assert_output appdirect
	done
	for command in SLURM_CLUSTERS SBATCH_CLUSTERS; do
		in_environment $command=other sbatch --wait -w n3 --pm-mode=memory --wrap="$write_mode"
		ran
		assert_output 'other n3 memory'
	done
	in_environment SLURM_CLUSTERS=other sbatch 1 -w n1 --pm-mode=memory --wrap=true
	assert_output --partial 'Invalid node name specified'
	in_environment SLURM_CLUSTERS=other sbatch --wait -M bench -w n1 --pm-mode=memory --wrap="$write_mode"
	ran
	assert_output 'bench n1 memory'
	in_environment SLURM_CLUSTERS=other sbatch 1 -C '[rack3|rack4]' --pm-mode=memory --wrap=true
	assert_output --partial "a job for other clusters needs its mode in the constraint: write pm_memory into --constraint=[rack3|rack4]"
	all_in_service
}

@test "SLURM_CLUSTERS: a cluster with nothing of slurm-pmem refuses a job with a mode" {
	local command
	with_little_there
	for command in srun salloc; do
		in_environment SLURM_CLUSTERS=other $command 1 --pm-mode=memory true
		assert_output --regexp "$no_feature"
	done
	for command in SLURM_CLUSTERS SBATCH_CLUSTERS; do
		in_environment $command=other sbatch 1 --pm-mode=memory --wrap=true
		assert_output --regexp "$no_feature"
	done
	in_environment SLURM_CLUSTERS=other sbatch --wait --output=/dev/null --wrap=true
}

@test "-M c1,c2: the job runs on one of them, in its mode" {
	submit -M bench,other --pm-mode=mixed --wrap="$write_mode"
	wait_for 60 test -e "$(bench_dir)/home/ran"
	ran
	assert_output --regexp '^(bench n[12]|other n[34]) mixed$'
	all_in_service
}

@test "-M: a cluster whose slurmctld has pmem.lua, and whose nodes have nothing of slurm-pmem, refuses a job with a mode" {
	with_little_there JobSubmitPlugins
	run_client sbatch 1 -M other --pm-mode=memory --wrap=true
	assert_output --regexp "$no_feature"
	run_client sbatch 1 -M other -C pm_memory --wrap=true
	assert_output --regexp "$no_feature"
	run_client sbatch --wait -M other --output=/dev/null --wrap=true
}

@test "-M: a cluster with nothing of slurm-pmem refuses a job with a mode, by feature, option and variable" {
	local command
	with_little_there
	run_client sbatch 1 -M other -C pm_memory --wrap=true
	assert_output --regexp "$no_feature"
	run_client sbatch 1 -M other --pm-mode=memory --wrap=true
	assert_output --regexp "$no_feature"
	for command in srun salloc; do
		run_client $command 1 -M other --pm-mode=memory true
		assert_output --regexp "$no_feature"
	done
	PM_MODE=flat run_client sbatch 1 -M other --wrap=true
	assert_output --regexp "$no_feature"
	printf '#!/bin/sh\n#SBATCH -M other\n#SBATCH --pm-mode=flat\ntrue\n' >"$(bench_dir)/home/elsewhere"
	run_client sbatch 1 "$(bench_dir)/home/elsewhere"
	assert_output --regexp "$no_feature"
	run_client srun 1 -M other --mem=10 : --pm-mode=memory true
	assert_output --regexp "$no_feature"
	run_client sbatch --wait -M other --pm-mode=none --output=/dev/null --wrap=true
	run_client sbatch --wait -M other --output=/dev/null --wrap=true
}

@test "-M: a constraint of the user's goes with the mode's feature, or the user is told to write it" {
	submit -M other -w n3 -C rack3 --pm-mode=memory --wrap="$write_mode"
	wait_for 60 other_is "$job" COMPLETED
	ran
	assert_output 'other n3 memory'
	run_client sbatch 1 -M other -C '[rack3|rack4]' --pm-mode=memory --wrap=true
	assert_output --partial "a job for other clusters needs its mode in the constraint: write pm_memory into --constraint=[rack3|rack4]"
}

@test "federation: the cluster that is free starts the job and reboots a node; explain and report tell where it is" {
	local job before
	federate
	on_other put_in appdirect n3 n4
	fill_own
	before="$(boot_id n1) $(boot_id n2)"
	submit --pm-mode=memory --wrap="$write_mode; sleep 30"
	[ "$job" -gt 67108864 ]
	wait_for 60 other_is "$job" RUNNING
	wait_for 30 test -e "$(bench_dir)/home/ran"
	ran
	assert_output --regexp '^other n[34] memory$'
	assert_equal "$(boot_id n1) $(boot_id n2)" "$before"
	wait_for 20 own_is "$job" REVOKED
	run bench node n1 pmctl explain "$job"
	assert_output "Cluster other of the federation has started the job: ask 'pmctl explain $job' there."
	run bench node n1 pmctl report "$job"
	assert_line --regexp "^Job: +$job, wrap, REVOKED$"
	assert_output --partial 'another cluster of the federation has started the job; ask there'
	run on_other bench node n3 pmctl explain "$job"
	assert_output --partial 'The job runs on n'
	run on_other bench node n3 pmctl report "$job"
	assert_line --regexp '^Reboot: +of 1 node'
	all_in_service
}

@test "federation: both clusters are free: one of them reboots one node, and the job runs once" {
	local before
	federate
	put_in appdirect n1 n2
	on_other put_in appdirect n3 n4
	boots >"$BATS_TEST_TMPDIR/before"
	submit --pm-mode=memory --wrap="$write_mode; sleep 5"
	wait_for 60 test -e "$(bench_dir)/home/ran"
	wait_for 60 no_jobs_anywhere
	ran
	assert_output --regexp '^(bench n[12]|other n[34]) memory$'
	boots >"$BATS_TEST_TMPDIR/after"
	assert_equal "$(diff "$BATS_TEST_TMPDIR/before" "$BATS_TEST_TMPDIR/after" | grep -c '^>')" 1
	all_in_service
}

@test "federation: a job that is cancelled where it was submitted while the other cluster's node reboots leaves that in service" {
	federate
	on_other put_in appdirect n3 n4
	fill_own
	on_other bench inject n3 hang
	on_other bench inject n4 hang
	submit --pm-mode=memory --output=/dev/null --wrap=true
	wait_for 30 other_is "$job" CONFIGURING
	wait_for 30 eval 'on_other boot_hangs n3 || on_other boot_hangs n4'
	bench scancel "$job"
	wait_for 30 eval '[ -z "$(on_other bench squeue --local -h)" ]'
	on_other boot_hangs n3 && on_other bench power-cycle n3
	on_other boot_hangs n4 && on_other bench power-cycle n4
	on_other bench inject n3 none
	on_other bench inject n4 none
	wait_for 60 on_other state_is n3 idle
	wait_for 60 on_other state_is n4 idle
	submit -M other -w n3 --pm-mode=memory --wrap="$write_mode"
	wait_for 60 test -e "$(bench_dir)/home/ran"
	ran
	assert_output 'other n3 memory'
	all_in_service
}

turns_away_no_more() {
	[ ! -e "$BATS_TEST_TMPDIR/turns" ]
}

@test "federation: a job that a node of the other cluster turns away is requeued, and runs in its mode" {
	federate
	on_other put_in appdirect n3 n4
	fill_own
	on_other keep_pmctl
	touch "$BATS_TEST_TMPDIR/turns"
	on_other pmctl_in_case "*' job begin'*) if rm $BATS_TEST_TMPDIR/turns 2>/dev/null; then
		echo \"pmctl: another has the devices of \$SLURMD_NODENAME\" >&2; exit 3; fi ;;"
	submit --pm-mode=appdirect --wrap="$write_mode; sleep 3"
	wait_for 60 turns_away_no_more
	wait_for 60 test -e "$(bench_dir)/home/ran"
	ran
	assert_output --regexp '^other n[34] appdirect$'
	run own_field "$job" Restarts
	assert_output Restarts=1
	all_in_service
}

@test "federation: without pm-controller a node requeues the job itself" {
	federate
	on_other put_in appdirect n3 n4
	fill_own
	on_other bench service kill
	on_other keep_pmctl
	touch "$BATS_TEST_TMPDIR/turns"
	on_other pmctl_in_case "*' job begin'*) if rm $BATS_TEST_TMPDIR/turns 2>/dev/null; then
		echo \"pmctl: another has the devices of \$SLURMD_NODENAME\" >&2; exit 3; fi ;;"
	submit --pm-mode=appdirect --wrap="$write_mode; sleep 3"
	wait_for 60 turns_away_no_more
	wait_for 90 test -e "$(bench_dir)/home/ran"
	on_other bench service start
	ran
	assert_output --regexp '^other n[34] appdirect$'
	run own_field "$job" Restarts
	assert_output Restarts=1
	all_in_service
}

@test "federation with a cluster whose slurmctld has pmem.lua alone: jobs with a mode wait for the other cluster" {
	with_little_there JobSubmitPlugins
	federate
	fill_own
	submit --pm-mode=memory --wrap="$write_mode"
	sleep 5
	run own_field "$job" JobState
	assert_output JobState=PENDING
	refute [ -e "$(bench_dir)/home/ran" ]
	run_client sbatch --parsable --output=/dev/null --wrap=true # one without a mode goes there at once
	wait_for 60 other_is "${output%%;*}" COMPLETED
	bench scancel "$(admin squeue --local -ht running -o %i | head -n 1)"
	wait_for 60 test -e "$(bench_dir)/home/ran"
	ran
	assert_output --regexp '^bench n[12] memory$'
}

@test "federation with a cluster with nothing of slurm-pmem: jobs with a mode keep to those of Clusters=" {
	with_little_there
	federate
	with_site Clusters=bench
	bench service kill
	bench service start
	wait_for 20 names_no_clusters
	jobs_with_a_mode_keep_to_bench
}

clusters_file() { echo "$(bench_dir)/run/controller/clusters"; }
names_no_clusters() { [ "$(tail -n +2 "$(clusters_file)")" = '' ]; }
keeps_to_bench() { [ "$(tail -n +2 "$(clusters_file)")" = bench ]; }

jobs_with_a_mode_keep_to_bench() {
	local job
	fill_own
	run_client sbatch 1 --clusters=bench,other --pm-mode=memory --wrap=true
	assert_output --partial "--clusters=bench,other: cluster 'other' offers no modes, take of bench"
	submit --pm-mode=memory --wrap="$write_mode"
	run own_field "$job" FedViableSiblings
	assert_output FedViableSiblings=bench
	run_client sbatch --parsable --hold --output=/dev/null --wrap=true # one without a mode may go there
	run own_field "${output%%;*}" FedViableSiblings
	assert_output FedViableSiblings=bench,other
	bench scancel "$(admin squeue --local -ht running -o %i | head -n 1)"
	wait_for 60 test -e "$(bench_dir)/home/ran"
	ran
	assert_output --regexp '^bench n[12] memory$'
}

@test "federation without Clusters=: pm-controller finds which clusters offer modes, and jobs with a mode keep to these" {
	local log
	log=$(bench_dir)/log/pm-controller.out
	federate
	bench service kill
	bench service start
	wait_for 20 names_no_clusters # both offer modes: a job goes to either
	submit --hold --pm-mode=memory --wrap=true
	run own_field "$job" FedViableSiblings
	assert_output FedViableSiblings=bench,other
	bench scancel "$job"
	leave_federation

	with_little_there
	federate
	: >"$log"
	bench service kill
	bench service start
	wait_for 20 keeps_to_bench
	run grep ^federation "$log"
	assert_output 'federation: jobs with a mode go to bench alone, since other offers no modes or does not answer; write Clusters=bench into pmem.conf to keep it so'
	bench service kill # the last look counts
	jobs_with_a_mode_keep_to_bench
	bench service start
}

# After a test in which the other cluster offers no modes, pm-controller may not have looked again yet.
federate_with_modes() {
	federate
	wait_for 90 names_no_clusters
}

is_barred() {
	[[ $1 =~ ^DelayBoot=[0-9]{4}- ]]
}

@test "federation: a job waits outside of the RebootHours of one cluster, and has a node rebooted at the other" {
	local job
	federate_with_modes
	put_in appdirect n1 n2
	on_other put_in appdirect n3 n4
	boots >"$BATS_TEST_TMPDIR/before"
	fill_own
	on_other with_site "RebootHours=$(other_hours)"
	submit --pm-mode=memory --wrap="$write_mode" --time=5
	wait_for 10 eval 'is_barred "$(other_field "$job" DelayBoot)"'
	assert_equal "$(own_field "$job" DelayBoot)" DelayBoot=00:00:00
	sleep 15
	own_is "$job" PENDING
	other_is "$job" PENDING
	boots | diff "$BATS_TEST_TMPDIR/before" -
	bench scancel -M bench -u "$(id -un nobody)" --state=running
	wait_for 90 test -e "$(bench_dir)/home/ran"
	ran
	assert_output --regexp '^bench n[12] memory$'
	all_in_service
}

# Slurm has one DelayBoot for all clusters: an update goes to the cluster of the submission, and from there to all.
@test "federation: RebootHours of both: no node is rebooted; when one comes to its hours, any cluster may have the job" {
	local job
	federate_with_modes
	put_in appdirect n1 n2
	on_other put_in appdirect n3 n4
	boots >"$BATS_TEST_TMPDIR/before"
	with_site "RebootHours=$(other_hours)"
	on_other with_site "RebootHours=$(other_hours)"
	submit --pm-mode=memory --wrap="$write_mode" --time=5
	sleep 15
	own_is "$job" PENDING
	other_is "$job" PENDING
	is_barred "$(own_field "$job" DelayBoot)"
	is_barred "$(other_field "$job" DelayBoot)"
	boots | diff "$BATS_TEST_TMPDIR/before" -
	on_other with_site RebootHours=any
	wait_for 90 test -e "$(bench_dir)/home/ran"
	ran
	assert_output --regexp '^(bench n[12]|other n[34]) memory$'
	all_in_service
}
