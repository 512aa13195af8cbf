#!/usr/bin/env bats
# Partitions, shared nodes, reservations and other submission plugins: docs/admin/compatibility.md has a row for each.
# shellcheck disable=SC2016 # the single quotes are for the shell in the job

setup() {
	load helper
	clean_nodes
}

teardown() {
	cancel_jobs -f
	admin scontrol delete reservation=pm >/dev/null 2>&1 || true
	rm -f "$(bench_dir)/etc/gres.conf"
	restore_site
	restore_lua
	sed -i 's/^JobSubmitPlugins=.*/JobSubmitPlugins=lua/' "$(bench_dir)/etc/slurm-pmem.conf"
	if [ -e "$BATS_TEST_TMPDIR/slurm.conf" ]; then
		cp "$BATS_TEST_TMPDIR/slurm.conf" "$(bench_dir)/etc/slurm.conf"
		restart_all
	fi
	wait_for 20 no_jobs
}

# What 'scontrol reconfigure' does not change: plugins, GRES, topology.
restart_all() {
	bench restart-slurmctld
	bench restart-slurmd n1
	bench restart-slurmd n2
	wait_for 60 nodes_have_modes
	resume n1 n2
}

# with_slurm SED [PLUGINS]: as with_slurm_conf, with all daemons anew; PLUGINS as JobSubmitPlugins.
with_slurm() {
	local conf
	conf=$(bench_dir)/etc/slurm.conf
	[ -e "$BATS_TEST_TMPDIR/slurm.conf" ] || cp "$conf" "$BATS_TEST_TMPDIR/slurm.conf"
	sed "$1" "$BATS_TEST_TMPDIR/slurm.conf" >"$conf"
	sed -i "s/^JobSubmitPlugins=.*/JobSubmitPlugins=${2-lua}/" "$(bench_dir)/etc/slurm-pmem.conf"
	restart_all
}

# job_node JOB: where it runs, or ran.
job_node() {
	admin scontrol -o show job "$1" | grep -o ' NodeList=[^ ]*'
}

OTHER='$aPartitionName=other Nodes=ALL State=UP'

@test "-p a,b: partitions of one policy serve the job, of different ones the job names one" {
	with_slurm "$OTHER"
	put_in memory n2
	run_srun -p main,other -w n2 --pm-mode=memory pmctl mode
	assert_output memory
	with_site 'PartitionName=main DefaultMode=memory' 'PartitionName=other DefaultMode=mixed'
	run_client sbatch 1 -p main,other --wrap=true
	assert_output --partial 'pm: partitions main,other differ in DefaultMode, name one of them'
	run_client sbatch 1 -p main,other --pm-mode=memory --wrap=true
	assert_output --partial 'pm: partitions main,other differ'
	run_client sbatch --parsable -p main,other --pm-mode=none --hold --wrap=true
	run job_field "$output" Features
	assert_output 'Features=(null)'
	assert_equal "$(bench squeue -h | wc -l)" 1
}

@test "job_submit/all_partitions in front of lua: the policies of all partitions count" {
	with_slurm "$OTHER" all_partitions,lua
	with_site 'PartitionName=main Modes=memory' 'PartitionName=other Modes=appdirect'
	run_client sbatch 1 --pm-mode=memory --wrap=true
	assert_output --partial 'differ in Modes, name one of them'
	submit_held -p main --pm-mode=memory
	run job_field "$output" Features
	assert_output Features=pm_memory
}

@test "job_submit/all_partitions behind lua: the policy of the default partition counts" {
	with_slurm "$OTHER" lua,all_partitions
	with_site 'PartitionName=main Modes=memory' 'PartitionName=other Modes=appdirect'
	submit_held --pm-mode=memory
	run job_field "$output" '\(Features\|Partition\)'
	assert_line --regexp '^Partition=(main,other|other,main)$'
	assert_line Features=pm_memory
	run_client sbatch 1 --pm-mode=appdirect --wrap=true
	assert_output --partial "pm: --pm-mode: mode 'appdirect' is not offered here"
}

@test "--exclusive=user: with Exclusive=no jobs of a user share nodes in a mode, else each has its own" {
	local job
	put_in memory n1
	with_site Exclusive=no
	run_client sbatch --parsable -w n1 -n1 --exclusive=user --pm-mode=memory --output=/dev/null --wrap='sleep 60'
	job=$output
	wait_for 20 job_is "$job" RUNNING
	run_srun -w n1 -n1 --exclusive=user --pm-mode=memory pmctl mode
	assert_output memory
	run bench srun --immediate=3 -w n1 -n1 --exclusive=user --pm-mode=appdirect true
	assert_failure
	admin scancel "$job"
	wait_for 20 no_jobs
	restore_site
	submit_held --exclusive=user --pm-mode=memory
	run job_field "$output" OverSubscribe
	assert_output OverSubscribe=NO
	nodes_are_in_service
}

@test "OverSubscribe=FORCE: two jobs of one mode share a node, one of another waits" {
	local job
	with_slurm 's/^PartitionName=main .*/& OverSubscribe=FORCE:2/'
	put_in memory n1
	run_client sbatch --parsable -w n1 --pm-mode=memory --output=/dev/null --wrap='sleep 60'
	job=$output
	wait_for 20 job_is "$job" RUNNING
	run_srun -w n1 --pm-mode=memory pmctl mode
	assert_output memory
	run_client sbatch --parsable -w n1 --pm-mode=appdirect --output=/dev/null --wrap=true
	sleep 4
	job_is "$output" PENDING
	job_is "$job" RUNNING
	nodes_are_in_service
}

@test "GRES on shared nodes: a job with a mode gets its share beside another" {
	local job
	with_slurm '/^NodeName=n[12] /s/$/ Gres=licence:2/;$aGresTypes=licence'
	put_in memory n1
	with_site Exclusive=no
	run_client sbatch --parsable -w n1 -n1 --gres=licence:1 --pm-mode=memory --output=/dev/null --wrap='sleep 60'
	job=$output
	wait_for 20 job_is "$job" RUNNING
	run_srun -w n1 -n1 --gres=licence:1 --pm-mode=memory pmctl mode
	assert_output memory
	run_srun -w n2 -n1 --gres=licence:2 --pm-mode=memory pmctl mode
	assert_output memory
	nodes_are_in_service
}

# Two GPUs on each node: device files, as GRES has them, of /dev/null's kind.
with_gpus() {
	local dir gpu
	dir=$(bench_dir)
	mkdir -p "$dir/gpus"
	for gpu in 0 1; do
		[ -e "$dir/gpus/gpu$gpu" ] || mknod -m 666 "$dir/gpus/gpu$gpu" c 1 3
	done
	echo "NodeName=n[1-2] Name=gpu File=$dir/gpus/gpu[0-1]" >"$dir/etc/gres.conf"
	with_slurm '/^NodeName=n[12] /s/$/ Gres=gpu:2/;$aGresTypes=gpu'
	with_site Exclusive=no
}

@test "GPUs on shared nodes: jobs of one mode have a GPU each, one of another mode waits for both and for the reboot" {
	local job own
	with_gpus
	put_in memory n1
	run_client sbatch --parsable -w n1 -n1 --gres=gpu:1 --pm-mode=memory --output="$(bench_dir)/home/gpu" \
		--wrap='echo $CUDA_VISIBLE_DEVICES $(pmctl mode); sleep 60'
	job=$output
	wait_for 20 test -s "$(bench_dir)/home/gpu"
	own=$(cat "$(bench_dir)/home/gpu")
	[[ $own =~ ^[01]\ memory$ ]]
	run_srun -w n1 -n1 --gpus=1 --pm-mode=memory sh -c 'echo $CUDA_VISIBLE_DEVICES $(pmctl mode)'
	assert_output "$((1 - ${own% *})) memory"
	run_client sbatch --parsable -w n1 -n1 --gres=gpu:2 --pm-mode=appdirect --output="$(bench_dir)/home/gpus" \
		--wrap='echo $CUDA_VISIBLE_DEVICES $(pmctl mode); srun --gpus-per-task=1 sh -c "echo \$PM_MODE"'
	sleep 3
	job_is "$output" PENDING
	bench scancel "$job"
	wait_for 60 job_is "$output" COMPLETED
	run cat "$(bench_dir)/home/gpus"
	assert_line --index 0 '0,1 appdirect'
	assert_line --index 1 appdirect
	nodes_are_in_service
}

@test "MaxNodes of the partition: more nodes than that are refused by Slurm, as many are served" {
	with_slurm 's/^PartitionName=main .*/& MaxNodes=1/;$aEnforcePartLimits=ALL'
	run bench sbatch -N2 --pm-mode=memory --wrap=true
	assert_failure
	run bench sbatch -w n1,n2 --pm-mode=memory --wrap=true
	assert_failure
	run_srun -N1 --pm-mode=memory pmctl mode
	assert_output memory
}

@test "topology/tree: a job on both switches gets its mode" {
	printf '%s\n' 'SwitchName=s1 Nodes=n1' 'SwitchName=s2 Nodes=n2' 'SwitchName=top Switches=s[1-2]' \
		>"$(bench_dir)/etc/topology.conf"
	with_slurm '$aTopologyPlugin=topology/tree'
	put_in appdirect n1
	put_in memory n2
	run bench srun -N1 --switches=1 --pm-mode=memory pmctl mode
	assert_output --partial memory
	run_srun -N2 --pm-mode=memory pmctl mode
	assert_line --index 0 memory
	assert_line --index 1 memory
	nodes_are_in_service
}

@test "reservations: by feature, FLEX and MAINT, and a change of mode in each" {
	local flags mode=memory
	put_in appdirect n1 n2
	for flags in '' FLEX MAINT; do
		run admin scontrol create reservation=pm start=now duration=10 users=nobody nodes=n1 ${flags:+flags=$flags}
		assert_success
		run_srun --reservation=pm -w n1 --pm-mode=$mode pmctl mode
		assert_output $mode
		[ $mode = appdirect ] && mode=memory || mode=appdirect
		let_epilogs_end
		admin scontrol delete reservation=pm
	done
	run admin scontrol create reservation=pm start=now duration=10 users=nobody nodecnt=1 features=rack2
	assert_success
	run_srun --reservation=pm --pm-mode=memory sh -c 'echo $SLURMD_NODENAME $(pmctl mode)'
	assert_output 'n2 memory'
	nodes_are_in_service
}

# site_lua BEFORE AFTER: a site's own job_submit.lua around ours.
site_lua() {
	keep_lua
	sed "s/^\treturn pm.submit(.*/\t$1\n\tlocal rc = pm.submit(job_desc, part_list, submit_uid)\n\t$2\n\treturn rc/" \
		"$(bench_dir)/etc/job_submit.lua" >"$BATS_TEST_TMPDIR/around.lua"
	put_lua "$BATS_TEST_TMPDIR/around.lua"
}

@test "a site's lua in front of pm.submit: its features go with the mode" {
	site_lua 'job_desc.features = "rack1"' ''
	submit_held --pm-mode=memory
	run job_field "$output" Features
	assert_output 'Features=rack1&pm_memory'
}

@test "a site's lua behind pm.submit that replaces the constraint: the job runs on no node in another mode" {
	put_in appdirect n1
	site_lua '' 'job_desc.features = "rack1"'
	run bench srun -w n1 --pm-mode=memory pmctl mode
	assert_failure
	refute_line appdirect
	assert_output --partial 'pm: '
	nodes_are_in_service
}

@test "a site's lua that ignores a refusal of pm.submit: the job runs on no node in a mode that it did not ask for" {
	site_lua '' 'rc = slurm.SUCCESS'
	run bench srun -w n1 --pm-mode=memory -C pm_appdirect pmctl mode
	assert_failure
	refute_line memory
	refute_line appdirect
	nodes_are_in_service
}

@test "job_submit/require_timelimit in front of lua and behind it" {
	local order
	for order in require_timelimit,lua lua,require_timelimit; do
		with_slurm '' $order
		run bench sbatch --pm-mode=memory --wrap=true
		assert_failure
		assert_output --partial 'ime limit'
		submit_held --pm-mode=memory --time=5
		run job_field "$output" Features
		assert_output Features=pm_memory
	done
}
