#!/usr/bin/env bats
# Limits of a QOS on memory hold for the memory that pmem.lua sets, whoever changes the job later. Slurm takes all values in an
# operator's update for the operator's own, for which no limit holds.

setup_file() {
	export PM_BENCH=$BATS_FILE_TMPDIR/bench.dir
	"$BATS_TEST_DIRNAME/../cluster/bench" up --accounting --owner $$ --build "$PM_BUILD" --consume-memory \
		--hardware 'Sockets=1 CoresPerSocket=2 ThreadsPerCore=1 RealMemory=4000' 3>&-
	load helper
	admin sacctmgr -Q -i add account chem
	admin sacctmgr -Q -i add qos small set MaxTRESPerJob=mem=500
	admin sacctmgr -Q -i add user nobody account=chem defaultaccount=chem
	admin sacctmgr -Q -i modify user nobody set qos=small defaultqos=small
	printf '%s\n' AccountingStorageEnforce=limits,qos 'PartitionName=large Nodes=ALL' >>"$(bench_dir)/etc/slurm.conf"
	restart_all
}

teardown_file() {
	"$BATS_TEST_DIRNAME/../cluster/bench" down
}

setup() {
	load helper
	clean_nodes
	with_site UsableMemory=memory:3000M,appdirect:180M 'PartitionName=large UsableMemory=memory:3000M,appdirect:900M'
}

teardown() {
	restore_site
	cancel_jobs -f
	wait_for 60 no_jobs
}

# held OPTION...: a held job's number is in $job.
held() {
	submit_held "$@"
	job=$(grep -oE '^[0-9]+$' <<<"$output")
}

has_memory() {
	assert_equal "$(job_field "$job" MinMemoryNode)" "MinMemoryNode=$1"
}

waits_for_its_limit() {
	admin scontrol release "$job"
	wait_for 60 eval '[ "$(job_field "$job" Reason)" = Reason=QOSMaxMemoryPerJob ]'
}

@test "all memory of a mode is more than the limit: the job waits, as one that asks for so much" {
	held --pm-mode=memory
	has_memory 3000M
	waits_for_its_limit
}

@test "the owner changes the mode: the job gets the memory of the new one, and waits for its limit" {
	held -C pm_appdirect
	has_memory 180M
	bench user scontrol update jobid="$job" features=pm_memory
	has_memory 3000M
	waits_for_its_limit
}

@test "an operator changes the mode: the job keeps its memory, is said so, and limits hold for later updates, too" {
	held -C pm_appdirect
	run admin scontrol update jobid="$job" features=pm_memory
	has_memory 180M
	is_slurm 22.05 || assert_output --partial 'job keeps its memory, 180M of a node'
	bench user scontrol update jobid="$job" MinMemoryNode=3000
	waits_for_its_limit
}

@test "an operator moves the job to a partition with other sizes: the same" {
	held -C pm_appdirect
	admin scontrol update jobid="$job" partition=large
	has_memory 180M
	bench user scontrol update jobid="$job" MinMemoryNode=900
	waits_for_its_limit
}

@test "an operator takes the mode with more memory from a job: the change is refused, unless it names the memory" {
	held -C pm_memory
	run admin scontrol update jobid="$job" features=pm_appdirect
	[ "$status" -ne 0 ]
	has_memory 3000M
	admin scontrol update jobid="$job" features=pm_appdirect MinMemoryNode=180
	has_memory 180M
	admin scontrol release "$job"
	wait_for 120 job_is "$job" COMPLETED
}

# Slurm 22.05 keeps SlurmctldParameters that a reconfiguration no longer has, so each case gives its own.
# says_at_start SLURM_CONF_EDIT SENTENCE PMEM_CONF_LINE
says_at_start() {
	local log
	log=$(bench_dir)/log/pm-controller.out
	with_slurm_conf "$1"
	with_site "$3"
	: >"$log"
	bench service start
	wait_for 20 grep -qF "$2" "$log"
	restore_slurm_conf
}

@test "pm-controller says at its start that RealMemory or node_reg_mem_percent keep nodes from serving a mode" {
	local log
	log=$(bench_dir)/log/pm-controller.out
	with_slurm_conf '$aSlurmctldParameters=node_reg_mem_percent=4'
	with_site UsableMemory=memory:4000M,appdirect:180M
	: >"$log"
	bench service start
	sleep 3
	run grep -E 'RealMemory|node_reg' "$log"
	assert_failure
	restore_slurm_conf
	says_at_start '$aSlurmctldParameters=node_reg_mem_percent=5' 'RealMemory=4000 of n1 is below UsableMemory=memory:4001M: Slurm refuses jobs in that mode' \
		UsableMemory=memory:4001M,appdirect:4000M
	says_at_start '$aSlurmctldParameters=node_reg_mem_percent=5' \
		'node_reg_mem_percent=5 lets n1 register with 200M or more, but it has about 180M in mode appdirect' \
		UsableMemory=memory:4000M,appdirect:180M
	says_at_start '$aSlurmctldParameters=node_reg_mem_percent=100' \
		'node_reg_mem_percent=100 lets n1 register with 4000M or more, but it has about 3999M in mode appdirect' \
		UsableMemory=memory:4000M,appdirect:3999M
	says_at_start '$aSlurmctldParameters=node_reg_mem_percent=100' 'has about 180M in mode flat' UsableMemory=memory:4000M,flat:180M,appdirect:4000M
}
