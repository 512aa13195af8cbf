#!/usr/bin/env bats
# Every kind of job: heterogeneous, array, without its environment, mixed.
# shellcheck disable=SC2016 # the single quotes are for the shell in the job

setup() {
	load helper
	clean_nodes
}

teardown() {
	cancel_jobs
	admin scancel --user=root
}

# The features of a heterogeneous job's components, in one line.
components() {
	admin scontrol -o show job "$1" | grep -o 'Features=[^ ]*' | tr '\n' ' '
}

assert_components() {
	run components "$1"
	assert_output "$2 "
}

@test "an option holds for its component of a heterogeneous job alone: sbatch" {
	submit_held -N1 --pm-mode=memory : -N1
	assert_components "$output" 'Features=pm_memory Features=(null)'
	submit_held -N1 : -N1 --pm-mode=memory
	assert_components "$output" 'Features=(null) Features=pm_memory'
	submit_held -N1 --pm-mode=memory : -N1 --pm-mode=mixed
	assert_components "$output" 'Features=pm_memory Features=pm_mixed'
	submit_held -N1 --pm-mode=appdirect --pm-size=1G : -N1 --pm-mode=memory
	assert_components "$output" 'Features=pm_appdirect Features=pm_memory'
}

@test "PM_MODE holds for the components that name no mode" {
	PM_MODE=mixed submit_held -N1 --pm-mode=memory : -N1
	assert_components "$output" 'Features=pm_memory Features=pm_mixed'
}

@test "the components of a #SBATCH hetjob run in their modes, and its steps know which" {
	put_in memory n1
	put_in appdirect n2
	run_sbatch <<-END
		#!/bin/sh
		#SBATCH -w n1 --pm-mode=memory
		#SBATCH hetjob
		#SBATCH -w n2
		srun --het-group=0 sh -c 'echo 0 \$(pmctl mode) "\$PM_MODE"'
		srun --het-group=1 sh -c 'echo 1 \$(pmctl mode) "\$PM_MODE"'
	END
	assert_line '0 memory memory'
	assert_line '1 appdirect '
}

@test "the same with srun and salloc" {
	run_srun -w n1 --pm-mode=memory sh -c 'echo 0 "$PM_MODE"' : -w n2 sh -c 'echo 1 "$PM_MODE"'
	assert_line '0 memory'
	assert_line '1 '
	run_salloc -w n1 --pm-mode=memory : -w n2 sh -c \
		'srun --het-group=0 sh -c "echo 0 \$PM_MODE"; srun --het-group=1 sh -c "echo 1 \$PM_MODE"'
	assert_line '0 memory'
	assert_line 1
}

@test "each task of an array runs in the mode" {
	run_sbatch -w n1 --array=1-2 --pm-mode=memory <<-END
		#!/bin/sh
		echo \$SLURM_ARRAY_TASK_ID \$(pmctl mode) \$PM_MODE
	END
	assert_line '1 memory memory'
	assert_line '2 memory memory'
}

# The script of a job without its environment: what the batch script has, and its steps.
without_environment() {
	cat <<-END
		#!/bin/sh
		export PATH=$(bench_dir)/bin:/usr/bin:/bin SLURM_CONF=$(bench_dir)/etc/slurm.conf
		echo batch \$(pmctl mode) \$PM_MODE
		srun --export=ALL sh -c 'echo step \$(pmctl mode) \$PM_MODE'
	END
}

# With --export=NONE slurmd has a login shell tell the user's environment.
@test "a job without its environment has its mode, in the batch script and in its steps" {
	local script out
	script=$(bench_dir)/home/none.sh out=$(bench_dir)/home/none.out
	without_environment >"$script"
	run admin sbatch -w n1 --export=NONE --pm-mode=memory --wait --output="$out" "$script"
	assert_success
	run cat "$out"
	assert_line 'batch memory memory'
	assert_line 'step memory memory'
}

has_reason() { [ "$(job_field "$1" Reason)" = "Reason=$2" ]; }

@test "--export=NONE of a user without a login shell: the job has its mode; Slurm 26.05 holds it, and --export=NIL does not need one" {
	if is_slurm 26.05; then
		run_client sbatch --parsable -w n1 --export=NONE --pm-mode=memory --wrap=true
		wait_for 30 has_reason "$output" user_env_retrieval_failed_requeued_held
		nodes_are_in_service
		run_sbatch -w n1 --export=NIL --pm-mode=memory <<<"$(without_environment)"
	else
		run_sbatch -w n1 --export=NONE --pm-mode=memory <<<"$(without_environment)"
	fi
	assert_line 'batch memory memory'
	assert_line 'step memory memory'
}

@test "mixed mode: a reboot, then memory and regions" {
	put_in appdirect n1
	run_srun -w n1 --pm-mode=mixed sh -c 'pmctl mode; echo $PM_MODE'
	assert_line --index 0 mixed
	assert_line --index 1 mixed
	run bench node n1 pmctl mode --verbose
	assert_output --partial 'seen by: '
}

@test "what another job had is taken out of the environment" {
	PM_DIR=/x PM_DIR7=/x PM_DAX0_SOCKET=1 PM_DIRECTORY=mine run_srun -w n1 --pm-mode=memory \
		sh -c 'env | grep ^PM_ | sort'
	refute_line --partial PM_DIR=
	refute_line --partial PM_DIR7
	refute_line --partial PM_DAX0
	assert_line PM_DIRECTORY=mine
	assert_line PM_MODE=memory
}
