#!/usr/bin/env bats
# What the site decides for jobs, through slurmctld. The whole table is tests/lua/test_policy.lua.

setup() {
	load helper
}

teardown() {
	cancel_jobs
	admin scancel -u root
	! grep -q '^AllowUserBoot' "$(bench_dir)/etc/helpers.conf" || allow_boot ''
	restore_site
	wait_for 20 no_jobs
}

FIELDS='\(Features\|OverSubscribe\|MinMemoryNode\|DelayBoot\)'

@test "a job that names no mode gets the default, with its memory, on whole nodes" {
	with_site DefaultMode=appdirect UsableMemory=memory:200M,appdirect:100M
	submit_held
	run job_field "$output" "$FIELDS"
	assert_line Features=pm_appdirect
	assert_line MinMemoryNode=100M
	assert_line OverSubscribe=NO
	submit_held --mem=50
	run job_field "$output" "$FIELDS"
	assert_line MinMemoryNode=50M
}

@test "the default may differ by partition, and a job that names a mode does not get it" {
	with_site 'PartitionName=main DefaultMode=memory' 'PartitionName=other DefaultMode=mixed'
	submit_held
	run job_field "$output" Features
	assert_output Features=pm_memory
	submit_held --pm-mode=mixed
	run job_field "$output" Features
	assert_output Features=pm_mixed
}

@test "a default of flat is what the node is asked for" {
	clean_nodes
	with_site DefaultMode=flat
	run bench srun -w n1 true
	assert_failure
	assert_output --partial 'set up its persistent memory and offer no flat'
	wait_for 10 state_is n1 idle
}

@test "more memory than the mode has is refused with the modes that have it" {
	with_site UsableMemory=memory:200M,appdirect:100M
	run_client sbatch 1 --pm-mode=appdirect --mem=150 --wrap=true
	assert_output --partial \
		'pm: --mem=150M is more than a node has in mode appdirect (100M), take --pm-mode=memory (200M)'
	run_client sbatch 1 --mem=150 --wrap=true
	assert_output --partial \
		'pm: --mem=150M is more than a node has in every mode, take --pm-mode=memory (200M)'
	run_client sbatch 1 --pm-mode=appdirect --mem-per-cpu=60 --cpus-per-task=2 --wrap=true
	assert_output --partial '--mem-per-cpu=60M on 2 CPUs is more than'
	assert_nothing_queued
}

@test "a request that only one mode can hold implies it, and all memory is what the mode has" {
	with_site UsableMemory=memory:200M,appdirect:100M ImplyMode=yes
	submit_held --mem=150
	run job_field "$output" "$FIELDS"
	assert_line Features=pm_memory
	assert_line MinMemoryNode=150M
	submit_held --pm-mode=memory --mem=0
	run job_field "$output" "$FIELDS"
	assert_line MinMemoryNode=200M
}

@test "a mode that the partition does not offer is refused by the controller" {
	with_site 'PartitionName=main Modes=appdirect'
	run_client sbatch 1 --pm-mode=memory --wrap=true
	assert_output --partial "pm: --pm-mode: mode 'memory' is not offered here, take one of appdirect"
	submit_held -C pm_appdirect
	run bench user scontrol update jobid="$output" features=pm_memory
	assert_failure
}

@test "a mode that only a partition offers is not refused by the command" {
	with_site Modes=appdirect 'PartitionName=main Modes=memory'
	submit_held --pm-mode=memory
	run job_field "$output" Features
	assert_output Features=pm_memory
}

@test "jobs of who may not cause a reboot wait, and say so" {
	local before
	clean_nodes
	put_in appdirect n1
	with_site RebootUsers=alice
	before=$(boot_id n1)
	run bench sbatch -w n1 --pm-mode=memory --wrap=true
	assert_success
	assert_output --partial 'pm: no node is rebooted for jobs of user nobody: this one takes nodes in mode memory only'
	local job=${output##* }
	run bench user scontrol update jobid="$job" delayboot=0
	assert_failure
	sleep 3
	run job_field "$job" JobState
	assert_output JobState=PENDING
	assert_equal "$(boot_id n1)" "$before"
	admin scancel "$job"
	run_srun -w n1 --pm-mode=appdirect pmctl mode
	assert_line appdirect
}

@test "more DRAM for a rank, or for a node's ranks, than any node has is refused with the most that fits" {
	with_site UsableMemory=memory:250M,appdirect:200M UsableDram=100M
	run_client srun 1 -n1 --pm-mode=appdirect --pm-dram=100G true
	assert_output --partial "pm: --pm-dram=100G is more than a socket's DRAM has for a rank (100M)"
	run_client sbatch 1 -N1 --ntasks-per-node=4 --pm-mode=flat --pm-dram=60M --wrap=true
	assert_output --partial 'pm: --pm-dram=60M needs 240M on a node, one in mode flat has 200M, take at most 50M a rank'
	PM_DRAM=8G run_client salloc 1 --pm-mode=memory true
	assert_output --partial 'PM_DRAM=8G needs 8192M'
	assert_nothing_queued
}

# allow_boot USERS: as AllowUserBoot in helpers.conf; nothing takes the line away.
allow_boot() {
	sed -i '/^AllowUserBoot/d' "$(bench_dir)/etc/helpers.conf"
	[ -z "$1" ] || echo "AllowUserBoot=$1" >>"$(bench_dir)/etc/helpers.conf"
	admin scontrol reconfigure
}

started() { [ "$(job_field "$1" JobState)" != JobState=PENDING ]; }
reason_is() { [ "$(job_field "$1" Reason)" = "Reason=$2" ]; }

# submit_as_root OPTION...: a job that runs for a minute; its number is in $job.
submit_as_root() {
	run admin sbatch --parsable --chdir=/ --output=/dev/null --wrap='sleep 60' "$@"
	assert_success
	job=$output
	roots+=("$job")
}

# Only root may have nodes rebooted, and has the one in App Direct, n2; n1 is idle in memory mode.
occupy_as_root() {
	clean_nodes
	put_in memory n1
	put_in appdirect n2
	with_site RebootUsers=root
	allow_boot root
	submit_as_root -w n2 --exclusive
	wait_for 20 started "$job"
}

@test "a job of who may not cause a reboot delays nobody, and never reboots a node" {
	local roots=() job waiting before
	occupy_as_root
	before=$(boot_id n1)
	run bench sbatch --pm-mode=mixed --wrap=true
	assert_failure # no node is in that mode
	assert_output --partial 'pm: no node is rebooted for jobs of user nobody'
	run_client sbatch --pm-mode=appdirect --output=/dev/null --wrap=true
	waiting=${output##* }
	submit_as_root -n1 --nice=1000
	wait_for 20 started "$job"
	assert_equal "$(job_field "$waiting" Reason)" Reason=Resources

	admin scancel "${roots[@]}"
	wait_for 20 started "$waiting"
	assert_equal "$(job_field "$waiting" ' NodeList')" ' NodeList=n2'
	assert_equal "$(boot_id n1)" "$before"
}

@test "a job of who may not cause a reboot waits for its mode to come back, behind others" {
	local roots=() job waiting before
	occupy_as_root
	run_client sbatch --pm-mode=appdirect --output=/dev/null --wrap=true
	waiting=${output##* }
	admin scontrol hold "$waiting"
	admin scancel "${roots[@]}"
	wait_for 20 state_is n2 idle
	admin srun -w n2 --pm-mode=memory true
	wait_for 20 state_is n2 idle
	before=$(boot_id n1)$(boot_id n2)

	admin scontrol release "$waiting"
	wait_for 20 reason_is "$waiting" BadConstraints
	roots=()
	submit_as_root -w n2 --exclusive
	wait_for 20 started "$job"
	submit_as_root -n1 --nice=1000
	wait_for 20 started "$job"
	assert_equal "$(boot_id n1)$(boot_id n2)" "$before"

	admin scancel "${roots[@]}"
	wait_for 20 state_is n2 idle
	admin srun -w n2 --pm-mode=appdirect true
	wait_for 60 started "$waiting"
}

@test "DelayBoot is for jobs that give none" {
	with_site DelayBoot=600
	submit_held --pm-mode=memory
	run job_field "$output" "$FIELDS"
	assert_line DelayBoot=00:10:00
	submit_held --pm-mode=memory --delay-boot=3
	run job_field "$output" "$FIELDS"
	assert_line DelayBoot=00:03:00
}

@test "Exclusive=no lets a job share its nodes, but not in flat mode" {
	with_site Exclusive=no
	submit_held --pm-mode=memory
	run job_field "$output" "$FIELDS"
	assert_line OverSubscribe=OK
	submit_held --pm-mode=flat
	run job_field "$output" "$FIELDS"
	assert_line OverSubscribe=NO
	submit_held --pm-mode=appdirect --pm-namespace=devdax
	run job_field "$output" "$FIELDS"
	assert_line OverSubscribe=NO
}

@test "a file that cannot be read refuses jobs with a mode, with file and line, and no others" {
	with_site 'RebootUsers=a b'
	run bench user env SLURM_SPANK__SLURM_SPANK_OPTION_pmem_pm_mode= srun true
	run_client sbatch 1 -C pm_memory --wrap=true
	assert_output --regexp "pm: .*/pmem.conf:[0-9]+: RebootUsers='a b'"
	submit_held
	assert_nothing_unusual "$output"
}

assert_nothing_unusual() {
	run job_field "$1" "$FIELDS"
	assert_line 'Features=(null)'
	assert_line OverSubscribe=OK
}

@test "--pm-size and --pm-namespace are checked where they are typed, and by the controller" {
	run_client sbatch 255 --pm-mode=appdirect --pm-size=5 --wrap=true
	assert_output --partial "pm: --pm-size: '5' is not a size; write a whole number and K, M, G or T, as 100G"
	run_client sbatch 255 --pm-mode=appdirect --pm-size="$(printf '%0300d' 1)G" --wrap=true
	assert_output --partial 'is not a size'
	run_client sbatch 255 --pm-mode=appdirect --pm-namespace=raw --wrap=true
	assert_output --partial "pm: --pm-namespace: unknown kind 'raw', valid kinds are fsdax, devdax"
	run_client sbatch 1 --pm-mode=memory --pm-size=1G --wrap=true
	assert_output --partial "pm: --pm-size needs --pm-mode=appdirect or mixed, the job's mode is memory"
	PM_SIZE=5 run_client sbatch 1 --pm-mode=appdirect --wrap=true
	assert_output --partial "pm: PM_SIZE: '5' is not a size"
	with_site UsablePmem=2G
	run_client sbatch 1 --pm-mode=appdirect --pm-size=3G --wrap=true
	assert_output --partial "pm: --pm-size=3G is more than a socket's persistent memory has for a job"
	assert_nothing_queued
	PM_SIZE=5 run_srun -w n1 true
}

@test "PM_SIZE and PM_NAMESPACE mean what the options do" {
	with_site Exclusive=no
	PM_NAMESPACE=devdax submit_held --pm-mode=appdirect
	run job_field "$output" "$FIELDS"
	assert_line OverSubscribe=NO
	PM_SIZE=1G run_client sbatch 1 --pm-mode=appdirect --pm-namespace=devdax --wrap=true
	assert_output --partial 'pm: PM_SIZE and devdax exclude each other'
}
