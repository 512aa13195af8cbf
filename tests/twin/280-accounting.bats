#!/usr/bin/env bats
# Slurm's accounting, on a twin of `up --accounting` with one node: slurmdbd and MariaDB on the head node.
# shellcheck disable=SC2154 # output and status are set by run

setup() {
	load helpers
	load jobs
}

# recorded COLUMNS OPTION…: what sacct, asked by user1, has of allocations; columns apart by "|".
recorded() {
	local columns=$1
	shift
	on_head sacct --allocations --noheader --parsable2 --format="$columns" "$@"
}

# has_record NAME LINE: job NAME's user, account, state and nodes are LINE.
has_record() {
	[[ $(recorded User,Account,State,NodeList --name="$1") == "$2" ]]
}

@test "the cluster, an account and its users are in the accounting" {
	run -0 on_head sacctmgr -nP show association cluster=twin format=Account,User
	assert_line 'research|user1'
	assert_line 'research|user2'
	run -0 on_head sacctmgr -nP show user user1 format=User,DefaultAccount
	assert_output 'user1|research'
}

@test "the head node alone runs slurmdbd and MariaDB, and only slurmdbd reads its configuration" {
	run -0 pmtwin exec head -- systemctl is-active mariadb slurmdbd pmtwin-accounting
	run -3 pmtwin exec n1 -- systemctl is-active mariadb slurmdbd
	assert_output $'inactive\ninactive'
	run -1 on_head cat /etc/slurm/slurmdbd.conf
	assert_output --partial 'Permission denied'
}

@test "a job that a reboot gave its mode is in sacct once, with account and comment" {
	local before waited
	use_mode n1 appdirect
	before=$(boot_id n1)
	run_sbatch 0 --job-name=booted --pm-mode=memory --comment='needs 7 GiB' <<<"$WHERE"
	assert_output --partial 'n1 memory '
	assert [ "$(boot_id n1)" != "$before" ]
	wait_for 60 has_record booted 'user1|research|COMPLETED|n1'
	run -0 recorded Comment,Constraints,AllocNodes,ExitCode --name=booted
	assert_output 'needs 7 GiB|pm_memory|1|0:0'
	# Slurm 22.05 calls it Reserved.
	waited=$(on_head sacct --helpformat | grep -owE 'Planned|Reserved' | head -n 1)
	run -0 on_head sacct -X -o "JobID,User,Account,State,Elapsed,$waited,AllocNodes,Comment" --name=booted
	sed 's/^/# /' <<<"$output" >&3
}

@test "a job for an account that its user does not belong to is refused" {
	run_user 1+ srun --account=elsewhere true
	assert_output --partial 'Invalid account or account/partition combination specified'
}

@test "a job that ends while slurmdbd is down is in sacct later" {
	pmtwin exec head -- systemctl stop slurmdbd
	run_user 0 srun --job-name=meanwhile --pm-mode=memory true
	pmtwin exec head -- systemctl start slurmdbd
	wait_for 120 has_record meanwhile 'user1|research|COMPLETED|n1'
}

@test "the records outlive a power cut of the head node" {
	local before
	before=$(recorded JobID,JobName,State --name=booted,meanwhile)
	assert_equal "$(wc -l <<<"$before")" 2
	pmtwin power-cycle --wait 240 head
	run -0 recorded JobID,JobName,State --name=booted,meanwhile
	assert_output "$before"
	run_user 0 srun --job-name=after true
	wait_for 60 has_record after 'user1|research|COMPLETED|n1'
}
