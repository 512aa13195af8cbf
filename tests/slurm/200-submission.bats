#!/usr/bin/env bats
# Other ways to submit a job and to start its steps than the plain ones: docs/admin/compatibility.md has a row for each.
# shellcheck disable=SC2016 # the single quotes are for the shell in the job

setup() {
	load helper
	clean_nodes
}

teardown() {
	[ ! -e "$BATS_TEST_TMPDIR/restd.pid" ] || kill "$(cat "$BATS_TEST_TMPDIR/restd.pid")" || true
	cancel_jobs -f
	restore_slurm_conf
	[ ! -e "$BATS_TEST_TMPDIR/restd.pid" ] || bench restart-slurmctld
	rm -rf "$(bench_dir)/rest"
}

@test "heterogeneous: a constraint, an option, a variable and no mode, each for its own component" {
	put_in memory n1
	put_in appdirect n2
	run_client sbatch --parsable --hold -N1 -C pm_memory : -N1 --pm-mode=mixed --wrap=true
	run admin scontrol -o show job "$output"
	assert_line --index 0 --partial Features=pm_memory
	assert_line --index 1 --partial Features=pm_mixed
	run_srun -w n1 -C pm_memory sh -c 'echo 0 $(pmctl mode) "$PM_MODE"' : -w n2 sh -c 'echo 1 "$PM_MODE"'
	assert_line '0 memory memory'
	assert_line '1 '
	run_srun -w n2 --pm-mode=appdirect sh -c 'echo 0 "$PM_MODE"' : -w n1 --pm-mode=memory sh -c 'echo 1 "$PM_MODE"'
	assert_line '0 appdirect'
	assert_line '1 memory'
	run_client srun 1 -w n1 -C pm_memory true : -w n2 -C pm_appdirect --pm-mode=memory true
	assert_output --partial 'pm: --pm-mode=memory contradicts --constraint=pm_appdirect'
	nodes_are_in_service
}

@test "sbatch --wrap" {
	local out
	out=$(bench_dir)/home/wrapped
	run_client sbatch --wait -w n1 --pm-mode=memory --output="$out" --wrap='echo $(pmctl mode) $PM_MODE'
	run cat "$out"
	assert_output 'memory memory'
}

@test "srun --overlap, also from outside of the job and with an option that contradicts it" {
	local job
	put_in memory n1
	run_client sbatch --parsable -w n1 --pm-mode=memory --output=/dev/null --wrap='srun --overlap sleep 60'
	job=$output
	wait_for 30 job_is "$job" RUNNING
	run_srun --jobid="$job" --overlap sh -c 'echo $(pmctl mode) $PM_MODE'
	assert_output 'memory memory'
	run bench srun --jobid="$job" --overlap --pm-mode=appdirect true
	assert_failure
	assert_output --partial 'pm: --pm-mode=appdirect: this node is in mode memory, the task does not run'
	job_is "$job" RUNNING
	nodes_are_in_service
}

# sattached STEP: it shows the line; slurmctld has a step a moment before its tasks run.
sattached() {
	bench user timeout 4 sattach "$1" >"$BATS_TEST_TMPDIR/out" 2>&1 || true
	grep -qx 'seen in memory' "$BATS_TEST_TMPDIR/out"
}

@test "sattach shows a step of a job with a mode" {
	local job
	put_in memory n1
	run_client sbatch --parsable -w n1 --pm-mode=memory --output=/dev/null \
		--wrap='srun sh -c "while :; do echo seen in \$PM_MODE; sleep 1; done"'
	job=$output
	wait_for 30 job_is "$job" RUNNING
	wait_for 30 sattached "$job.0"
}

@test "--export=NONE, NIL and PATH, for srun and for a job's steps" {
	local kept
	put_in memory n1
	for kept in NONE PATH; do
		run_srun -w n1 --export=$kept --pm-mode=memory /bin/sh -c 'echo "$PM_MODE"'
		assert_output memory
	done
	run_sbatch -w n1 --export=PATH --pm-mode=memory <<-END
		#!/bin/sh
		export SLURM_CONF=$(bench_dir)/etc/slurm.conf
		echo batch \$(pmctl mode) \$PM_MODE
		srun --export=NONE /bin/sh -c 'echo step \$PM_MODE'
	END
	assert_line 'batch memory memory'
	assert_line 'step memory'
	is_slurm 22.05 || {
		run_sbatch -w n1 --export=NIL --pm-mode=memory <<-'END'
			#!/bin/sh
			echo nil $PM_MODE
		END
		assert_line 'nil memory'
	}
}

@test "--export=PM_MODE=… asks for the mode, and what it cannot ask for is refused" {
	put_in appdirect n1
	run_sbatch -w n1 --export=ALL,PM_MODE=memory <<-'END'
		#!/bin/sh
		echo $(pmctl mode) $PM_MODE
	END
	assert_output 'memory memory'
	run_client sbatch 1 --export=ALL,PM_MODE=flat --wrap=true
	assert_output --partial "pm: PM_MODE=flat cannot be passed by the job's environment alone, as slurmrestd and --export do: take sbatch --pm-mode=flat"
	run_client sbatch 1 --pm-mode=appdirect --export=ALL,PM_SIZE=1G --wrap=true
	assert_output --partial 'pm: PM_SIZE=1G cannot be passed'
	assert_nothing_queued
}

@test "an interactive salloc whose shell is a step on the node" {
	put_in memory n1
	with_slurm_conf '$aLaunchParameters=use_interactive_step'
	run bench user env SHELL=/bin/sh timeout 60 script -qefc \
		"salloc -w n1 --pm-mode=memory" /dev/null <<<$'echo node=$SLURMD_NODENAME $(pmctl mode) mode=$PM_MODE\nsrun --overlap sh -c \'echo step=$PM_MODE\' </dev/null\nexit\n'
	assert_success
	assert_output --partial 'node=n1 memory mode=memory'
	assert_output --partial 'step=memory'
	nodes_are_in_service
}

@test "a cluster by name is refused by Slurm without slurmdbd, before anything of ours" {
	run bench sbatch -M bench --pm-mode=memory --wrap=true
	assert_failure
	refute_output --partial 'pm:'
	assert_nothing_queued
}

@test "scrontab, where the release has it: a job of a table has its mode" {
	if is_slurm 22.05; then
		run command -v scrontab
		assert_failure
		return
	fi
	with_slurm_conf '$aScronParameters=enable'
	bench restart-slurmctld
	wait_for 60 nodes_have_modes
	printf '%s\n' '#SCRON --pm-mode=memory --output=/dev/null' '@hourly true' >"$(bench_dir)/home/table"
	run bench user scrontab "$(bench_dir)/home/table"
	assert_success
	run bench squeue -h -o %i
	run job_field "$output" Features
	assert_output Features=pm_memory
	printf '%s\n' '#SCRON --pm-mode=memory --pm-dram=1G' '@hourly true' >"$(bench_dir)/home/table"
	run bench user scrontab "$(bench_dir)/home/table"
	assert_failure
	assert_output --partial 'There was an issue with the job submission'
	printf '%s\n' '#SCRON --pm-mode=memory -C pm_mixed' '@hourly true' >"$(bench_dir)/home/table"
	run bench user scrontab "$(bench_dir)/home/table"
	assert_failure
	assert_output --partial 'There was an issue with the job submission'
}

# slurmrestd with tokens, as a user of its own; $version is that of its interface.
start_restd() {
	local dir
	dir=$(bench_dir)
	(umask 077 && head -c 32 /dev/urandom >"$dir/etc/jwt.key")
	cp "$dir/etc/slurm.conf" "$BATS_TEST_TMPDIR/slurm.conf"
	printf '%s\n' AuthAltTypes=auth/jwt AuthAltParameters=jwt_key="$dir/etc/jwt.key" >>"$dir/etc/slurm.conf"
	bench restart-slurmctld
	wait_for 60 nodes_have_modes
	install -d -o daemon -g daemon "$dir/rest"
	version=v0.0.38 plugin=openapi/v0.0.38
	is_slurm 22.05 || version=v0.0.42 plugin=openapi/slurmctld
	SLURM_CONF=$dir/etc/slurm.conf SLURM_JWT=daemon setpriv --reuid daemon --regid daemon --clear-groups \
		slurmrestd -a rest_auth/jwt -s "$plugin" "unix:$dir/rest/socket" >"$dir/log/slurmrestd.log" 2>&1 3>&- &
	echo $! >"$BATS_TEST_TMPDIR/restd.pid"
	wait_for 20 test -S "$dir/rest/socket"
}

# rest MEMBERS [VARIABLE=VALUE...]: a job of the ordinary user with these members; its environment has the variables.
rest() {
	local token members=$1
	shift
	token=$(admin scontrol token username=nobody lifespan=600)
	run /usr/bin/python3 - "$members" "$(bench_dir)" "$version" "$@" <<-'END'
		import json, sys
		members, home, version, *variables = sys.argv[1:]
		environment = [f"PATH={home}/bin:/usr/bin:/bin", *variables]
		if version == "v0.0.38":
		    environment = dict(word.split("=", 1) for word in environment)
		print(json.dumps(json.loads(members) | {
		    "script": "#!/bin/sh\necho $(pmctl mode) $PM_MODE\n", "name": "rest", "environment": environment,
		    "current_working_directory": f"{home}/home", "standard_output": f"{home}/home/rest.%j"}))
	END
	run /usr/bin/python3 -B "$TOP/tests/slurm/rest.py" "$(bench_dir)/rest/socket" "$version" nobody "${token#SLURM_JWT=}" "$output"
	assert_success
}

# rest_printed: of the job that rest has submitted, when it has ended.
rest_printed() {
	assert_line --index 0 --regexp '^job [0-9]+$'
	job=${lines[0]#job }
	wait_for 60 job_is "$job" COMPLETED
	run cat "$(bench_dir)/home/rest.$job"
}

@test "slurmrestd: a constraint and PM_MODE in the environment ask for a mode" {
	local version job
	start_restd
	put_in appdirect n1
	rest '{"constraints": "pm_memory&rack1"}'
	rest_printed
	assert_output 'memory memory'
	rest '{"constraints": "rack1"}' PM_MODE=appdirect
	rest_printed
	assert_output 'appdirect appdirect'
	rest '{"constraints": "rack1"}'
	rest_printed
	assert_output appdirect
	nodes_are_in_service
}

@test "slurmrestd: what needs the plugin, and what is wrong, is refused with a sentence" {
	local version
	start_restd
	rest '{}' PM_MODE=flat
	assert_line --index 0 refused
	rest '{"constraints": "pm_appdirect"}' PM_SIZE=1G
	assert_line --index 0 refused
	rest '{"constraints": "pm_bogus"}'
	assert_line --index 0 refused
	run cat "$(bench_dir)/log/slurmrestd.log"
	assert_output --partial "pm: PM_MODE=flat cannot be passed by the job's environment alone"
	assert_output --partial "pm: PM_SIZE=1G cannot be passed by the job's environment alone"
	assert_output --partial "pm: --constraint: unknown feature 'pm_bogus'"
	assert_nothing_queued
}
