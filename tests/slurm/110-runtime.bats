#!/usr/bin/env bats
# What a step's user learns of a runtime that was asked for and is not in the program.

setup() {
	load helper
	AT=$(bench_dir)/home/at
	[ -e "$AT/runtime.so" ] || make_programs
}

# A stand-in for a runtime, and programs that read no LD_PRELOAD: static, and with the rights of another.
make_programs() {
	mkdir -p "$AT"
	cc -shared -fPIC -o "$AT/runtime.so" "$TOP/tests/unit/stand_in_runtime.c"
	echo 'int main(void) { return 0; }' | cc -static -x c -o "$AT/static" -
	install -o root -m 4755 /bin/true "$AT/setuid"
}

# run_step PROGRAM...: three ranks that ask for the stand-in.
run_step() {
	run_srun -w n1 -n3 --overcommit --pm-bind=none --pm-runtime="$AT/runtime.so" "$@"
}

assert_missing() {
	assert_line "pm: runtime '$AT/runtime.so' did not attach in rank $1 of the 3 on this node: only the memory policy placed memory there"
	assert_equal "$(grep -c 'did not attach' <<<"$output")" 1
}

@test "a runtime that attaches in all ranks is not told of" {
	run_step true
	assert_output ''
}

@test "at the end of the ranks: a static program has none" {
	run_step "$AT/static"
	assert_missing 0-2
}

@test "nor has one that runs with other rights" {
	run_step "$AT/setuid"
	assert_missing 0-2
}

@test "of ranks with different programs those without are named" {
	printf '%s\n' '0,2 /bin/true' "1 $AT/static" >"$AT/programs"
	run_step --multi-prog "$AT/programs"
	assert_missing 1
}

@test "a task prolog, which has the rank's environment, does not sign for the rank" {
	printf '#!/bin/sh\necho print prolog\n' >"$AT/prolog"
	chmod 755 "$AT/prolog"
	run_step --task-prolog="$AT/prolog" "$AT/static"
	assert_line prolog
	assert_missing 0-2
	run_step --task-prolog="$AT/prolog" true
	refute_output --partial 'did not attach'
}

@test "of a library that knows nothing of it nothing is expected" {
	run_srun -w n1 --pm-bind=none --pm-runtime="$(ldconfig -p | sed -n 's/.*libm\.so\.6.*=> //p;T;q')" "$AT/static"
	refute_output --partial 'did not attach'
}

@test "ranks have the descriptor, and steps without a runtime have none" {
	run_step sh -c 'readlink /proc/self/fd/* | grep -c slurm-pmem-ranks'
	assert_line 1
	run_srun -w n1 --pm-bind=none sh -c 'readlink /proc/self/fd/* | grep -c slurm-pmem-ranks; env | grep -c PM_ATTACH; true'
	refute_line 1
}

@test "profile and advice are told to the ranks, asked for as options or by variables" {
	echo 'pmadvice 2' >"$AT/advice"
	# shellcheck disable=SC2016
	run_step --pm-profile=/tmp/profiles --pm-advice="$AT/advice" sh -c 'echo "<$PM_PROFILE $PM_ADVICE $LD_PRELOAD>"'
	assert_line "</tmp/profiles $AT/advice $AT/runtime.so>"
	# shellcheck disable=SC2016
	PM_PROFILE=/tmp/profiles run_srun -w n1 --pm-runtime=none sh -c 'echo "<$PM_PROFILE $LD_PRELOAD>"'
	assert_line '</tmp/profiles >'
	run_srun 255 -w n1 --pm-advice= true
	assert_output --partial '--pm-advice: write a path'
}

# ends_with SENTENCE OPTION...: two ranks that do not run; the sentence comes once, and last.
ends_with() {
	local sentence=$1
	shift
	run_client srun 1 -w n1 -n2 --overcommit --pm-bind=none --pm-runtime="$AT/runtime.so" "$@" echo ran
	refute_output --partial ran
	refute_output --partial 'plugin stack'
	assert_equal "$(grep -c 'pm: ' <<<"$output")" 1
	assert_equal "$(grep -v '^srun: error: n1: task' <<<"$output" | tail -n 1)" "slurmstepd-n1: error: pm: $sentence"
}

@test "a profile or advice that cannot be ends the step before it runs, by one sentence, the last" {
	ends_with "read the advice '$AT/none': No such file or directory" --pm-advice="$AT/none"
	ends_with "the advice '$AT' is not a file" --pm-advice="$AT"
	ends_with "make the profiles' directory '/root/profiles': Permission denied" --pm-profile=/root/profiles
	ends_with "write into the profiles' directory '/etc': Permission denied" --pm-profile=/etc
	PM_ADVICE=$AT/none ends_with "read the advice '$AT/none': No such file or directory"
}

@test "a runtime's name that is nearly ours is refused at submission" {
	local command
	for command in srun salloc; do
		run_client $command 1 --pm-runtime=plac true
		assert_output "$command: error: pm: --pm-runtime: unknown runtime 'plac', did you mean 'place'?"
	done
	PM_RUNTIME=Place run_client sbatch 1 --wrap=true
	assert_output "sbatch: error: pm: PM_RUNTIME: unknown runtime 'Place', did you mean 'place'?"
	assert_nothing_queued
	run_client sbatch --hold --pm-runtime=other --wrap=true
	cancel_jobs -f
}

@test "without a runtime's name they ask for ours" {
	[ ! -e /usr/lib/slurm-pmem/libpmplace.so ] || skip "there is one"
	run bench srun -w n1 --pm-profile=/tmp/profiles true
	assert_output --partial "runtime 'place': '/usr/lib/slurm-pmem/libpmplace.so': No such file"
}

# beside OPTIONS...: a step with the stand-in while another one of the job runs, and after it.
beside() {
	run_sbatch -w n1 -n1 <<-END
		#!/bin/bash
		touch \$SLURM_JOB_ID
		srun --overlap sh -c 'echo runs; while [ -e \$SLURM_JOB_ID ]; do sleep 0.1; done' | { read -r; srun --overlap -n2 --overcommit --pm-bind=none --pm-runtime="$AT/runtime.so" $* true; rm \$SLURM_JOB_ID; }
		echo alone
		srun --overlap -n2 --overcommit --pm-bind=none --pm-runtime="$AT/runtime.so" $* true
	END
}

@test "steps that run at once are told that they share the DRAM, once a node" {
	beside
	assert_output $'pm: step 0 runs on this node, too, and its ranks have the same DRAM: give each step a part by --pm-dram=SIZE\nalone'
	beside --pm-dram=64M
	assert_output alone
}
