#!/usr/bin/env bats
# What stands beside a mode in a job's constraint and preference, on a Slurm that takes '|' and '()' there (23.02 and
# later): no job gets into another mode by it. The older one is on the bench (tests/slurm/020-constraints.bats).
# bats file_tags=long
# shellcheck disable=SC2154 # output and status are set by run

setup() {
	load helpers
	load jobs
	use_mode n1 appdirect
}

teardown() {
	pmtwin exec head -- rm -rf /run/slurm-pmem-controller/modes
	on_head scancel --user=user1
}

# With features as sites have them, until slurmd or slurmctld starts anew.
add_features() {
	pmtwin exec head -- scontrol update nodename=n1 \
		availablefeatures=pm_memory,pm_appdirect,pm_mixed,rack-1,c++ activefeatures=pm_appdirect,rack-1,c++
}

# As the controller service writes it.
write_state() {
	pmtwin exec head -- sh -c 'mkdir -p /run/slurm-pmem-controller && printf "slurm-pmem-modes 1 %s\n%s\n" \
		"$(date +%s)" "$(sinfo -ho %R | head -1) $1" >/run/slurm-pmem-controller/modes' sh "$1"
}

# Slurm's own words for the constraint of the job in $output.
features_of_job() {
	run pmtwin exec head -- sh -c 'scontrol -o show job "$1" | tr " " "\n" | grep -E "^(Features|Prefer)="' sh "$output"
}

@test "a preference for another mode is refused, any other keeps the job in its own" {
	add_features
	run_user 1+ srun -C pm_appdirect --prefer=pm_memory pmctl mode
	assert_output --partial "pm: --prefer=pm_memory prefers another mode than the job's, which is appdirect"
	run_user 0 srun -C pm_appdirect --prefer='rack-1|c++' pmctl mode
	assert_output appdirect
	run_user 0 sbatch --parsable --hold -C pm_memory --prefer='rack-1|c++' --wrap=true
	features_of_job
	assert_line 'Prefer=(rack-1|c++)&pm_memory'
}

@test "a job keeps its mode through changes, and is told what it cannot do" {
	add_features
	run_user 0 sbatch --parsable --hold -C pm_memory --prefer=rack-1 --wrap=true
	local job=$output
	run_user 0 scontrol update "jobid=$job" features=pm_appdirect
	output=$job features_of_job
	assert_line Features=pm_appdirect
	assert_line Prefer=pm_appdirect
	run_user 0 scontrol update "jobid=$job" features='rack-1|c++'
	output=$job features_of_job
	assert_line 'Features=(rack-1|c++)&pm_appdirect'
	run_user 1+ scontrol update "jobid=$job" prefer=pm_memory
	assert_output --partial 'prefers another mode'
}

@test "either of two modes: the idle node's, and it is not rebooted" {
	local before
	before=$(boot_id n1)
	write_state 'pm_memory=0 pm_appdirect=1 pm_mixed=0'
	run_user 0 srun -C 'pm_memory|pm_appdirect' pmctl mode
	assert_output appdirect
	assert_equal "$(boot_id n1)" "$before"
}

@test "Slurm takes what a constraint becomes with a mode in it" {
	local constraint option
	add_features
	for constraint in rack-1 c++ 'rack-1|c++' '(rack-1|c++)' '(rack-1|c++)&rack-1' '(rack-1&c++)|c++' \
		'(rack-1&pm_appdirect)|(c++&pm_appdirect)' '(pm_appdirect|pm_memory)&rack-1' '[pm_appdirect|pm_memory]&c++'; do
		write_state 'pm_memory=0 pm_appdirect=1 pm_mixed=0'
		option=--pm-mode=appdirect
		[[ $constraint != *pm_memory* ]] || option=--comment=by-constraint
		run_user 0 sbatch --parsable --hold -C "$constraint" "$option" --wrap=true
		features_of_job
		assert_output --regexp '^Features=.*pm_appdirect'
	done
	run_user 0 srun --pm-mode=appdirect -C '(rack-1&c++)|c++' pmctl mode
	assert_output appdirect
	run_user 1+ sbatch -C '[rack-1|c++]' --pm-mode=appdirect --wrap=true
	assert_output --partial "beside a mode Slurm refuses '[' (character 1)"
}
