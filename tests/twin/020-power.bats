# Reboots, faults, power.

setup() { load helpers; }

@test "a reboot goes through POST and keeps the node's disk" {
	before=$(boot_id n1)
	pmtwin exec n1 -- sh -c 'echo kept > /var/tmp/mark; sync'
	pmtwin exec n1 -- systemctl reboot
	wait_for 20 run -125 pmtwin exec n1 -- true
	assert_output --regexp 'node n1 (is rebooting|went away)'
	[[ $(boot_id n1) != "$before" ]]
	run -0 pmtwin exec n1 -- cat /var/tmp/mark
	assert_output kept
	wait_for 90 node_is n1 idle
}

@test "power-cycle cuts the power: no orderly shutdown, a new boot" {
	before=$(boot_id n2)
	pmtwin power-cycle --wait 120 n2
	[[ $(boot_id n2) != "$before" ]]
	run -0 pmtwin events
	assert_line --regexp 'n2 +power +power cycle'
	wait_for 60 node_is n2 idle
}

# The host's clock is read first: what lies between only makes the guest's later.
clock_is_right() {
	local host
	host=$(date +%s)
	(($(pmtwin exec n2 -- date +%s) >= host - 3))
}

@test "a guest's clock follows the host's" {
	pmtwin exec n2 -- date -s '-60 seconds'
	wait_for 60 clock_is_right
}

# bats test_tags=long
@test "a guest that powers off stays off until the power cycle" {
	pmtwin exec n2 -- systemctl poweroff
	wait_for 30 run -125 pmtwin exec n2 -- true
	wait_for 30 bash -c '"$PMTWIN" exec n2 -- true 2>&1 | grep -q "is powered off"'
	pmtwin power-cycle --wait 120 n2
	wait_for 60 node_is n2 idle
}

# bats test_tags=long
@test "boot-hang: dark until the fault is cleared and the power cycled" {
	pmtwin inject n2 boot-hang
	run -1 pmtwin power-cycle n2
	assert_output --partial 'node n2 is dark'
	run -125 pmtwin exec n2 -- true
	assert_output --partial 'pmtwin inject n2 none'
	run -0 pmtwin status
	assert_line --regexp '^n2 +dark .* boot-hang'
	pmtwin inject n2 none
	pmtwin power-cycle --wait 120 n2
	wait_for 60 node_is n2 idle
}

# bats test_tags=long
@test "a goal by ipmctl takes effect at the reboot; goal-ignored keeps it pending" {
	pmtwin inject n1 goal-ignored
	pmtwin exec n1 -- ipmctl create -f -goal MemoryMode=100
	pmtwin exec n1 -- systemctl reboot
	wait_for 20 run -125 pmtwin exec n1 -- true
	run -0 pmtwin exec --wait 60 n1 -- ipmctl show -goal
	assert_output --partial 0x0001
	run -0 pmtwin exec n1 -- ndctl list -R
	assert_output --partial region0
	pmtwin inject n1 none
	run -0 pmtwin exec n1 -- ipmctl delete -goal
	wait_for 90 node_is n1 idle
}

# bats test_tags=long
@test "down and up: DIMMs, disks and Slurm's state stay" {
	run -0 pmtwin run -- sbatch --parsable --hold --wrap true
	job=$output
	pmtwin exec n1 -- sh -c 'echo kept > /var/tmp/over; sync'
	pmtwin down 3>&-
	run -1 pmtwin status
	run -125 pmtwin exec n1 -- true
	assert_output --partial 'the twin is down'
	pmtwin up --timeout 300 3>&-
	run -0 pmtwin exec n1 -- cat /var/tmp/over
	assert_output kept
	run -0 pmtwin run -- squeue -h -j "$job" -o %T
	assert_output PENDING
	pmtwin run -- scancel "$job"
}
