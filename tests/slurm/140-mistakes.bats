#!/usr/bin/env bats
# Mistakes that users make: what is typed, the sentence that comes, that it is ours and the last one, and that nothing is queued.

setup() {
	load helper
	clean_nodes
}

# Of a refusal by the controller Slurm itself tells in one line behind ours.
SLURMS_OWN='^(srun|salloc): error: (Unable to allocate resources|Job submit/allocate failed): |^sbatch: error: Batch job submission failed: '

# answers SENTENCE COMMAND WORD...: as the ordinary user. VARIABLE=VALUE words may stand in front of the command.
answers() {
	local sentence=$1 variables=() command
	shift
	while [[ $1 == PM_*=* ]]; do
		variables+=("$1")
		shift
	done
	command=$1
	shift
	case $command in
	sbatch) set -- "$@" --wrap=true ;;
	srun | salloc) set -- "$@" true ;;
	esac
	run env "${variables[@]}" timeout --kill-after=5 "$LIMIT_S" "$TOP/tests/cluster/bench" "$command" "$@"
	[ "$status" -ne 0 ] || fail "'${variables[*]} $command $*' was taken: $output"
	assert_equal "$(grep -Ev "$SLURMS_OWN" <<<"$output" | tail -n 1)" "$command: error: pm: $sentence"
	assert_equal "$(grep -c 'pm: ' <<<"$output")" 1
	assert_nothing_queued
}

@test "modes: misspelt, in another case, not a mode, two at once" {
	local all='memory, appdirect, flat, mixed'
	answers "--pm-mode: unknown mode 'memroy', did you mean memory? Valid modes are $all" srun --pm-mode=memroy
	answers "--pm-mode: unknown mode 'Memory', did you mean memory? Valid modes are $all" sbatch --pm-mode=Memory
	answers "--pm-mode: unknown mode 'app-direct', did you mean appdirect? Valid modes are $all" salloc --pm-mode=app-direct
	answers "--pm-mode: unknown mode '2LM', valid modes are $all" sbatch --pm-mode=2LM
	answers "--pm-mode: unknown mode 'pm_memory', did you mean memory? Valid modes are $all" srun --pm-mode=pm_memory
	answers "--pm-mode: unknown mode '', valid modes are $all" srun --pm-mode=
	answers "--pm-mode: unknown mode 'memory,flat', valid modes are $all" sbatch --pm-mode=memory,flat
	answers "PM_MODE: unknown mode 'flta', did you mean flat? Valid modes are $all" PM_MODE=flta sbatch
}

@test "constraints: unknown features, contradictions, and what Slurm cannot combine" {
	local features='valid features are pm_memory, pm_appdirect, pm_mixed'
	answers "--constraint: unknown feature 'pm_flat', $features" srun -C pm_flat
	answers "--constraint: unknown feature 'pm_Memory', $features" sbatch -C pm_Memory
	answers '--pm-mode=memory contradicts --constraint=pm_appdirect, leave one of them out' sbatch --pm-mode=memory -C pm_appdirect
	answers '--pm-mode=none contradicts --constraint=pm_memory, leave one of them out' salloc --pm-mode=none -C pm_memory
	answers "--constraint=pm_memory&pm_mixed asks for several modes at once, a node has one: use '|' between them" srun -C 'pm_memory&pm_mixed'
	answers '--constraint=pm_memory|rack1 leaves open whether the job has a mode, name one in each alternative or in none' sbatch -C 'pm_memory|rack1'
	answers "cannot read --constraint=pm_memory&&rack1: a feature expected at character 11, not '&'" sbatch -C 'pm_memory&&rack1'
	answers "--prefer=pm_memory: a node would be rebooted for what the job can do without, write --pm-mode if it needs the mode, else leave it out" \
		sbatch --prefer=pm_memory
	answers "--prefer=pm_memory prefers another mode than the job's, which is appdirect: leave it out, or write --constraint='pm_appdirect|pm_memory' for either" \
		sbatch --pm-mode=appdirect --prefer=pm_memory
}

@test "sizes and kinds" {
	local write='is not a size; write a whole number and K, M, G or T, as'
	answers "--pm-size: '3.5G' $write 3584M" sbatch --pm-mode=appdirect --pm-size=3.5G
	answers "--pm-size: '1GB' $write 1G" srun --pm-mode=appdirect --pm-size=1GB
	answers "--pm-size: '100' $write 100G" salloc --pm-mode=appdirect --pm-size=100
	answers "--pm-size: '-1G' $write 100G" sbatch --pm-mode=appdirect --pm-size=-1G
	answers "--pm-size: '0G' $write 100G" sbatch --pm-mode=appdirect --pm-size=0G
	answers "PM_SIZE: 'lots' $write 100G" PM_SIZE=lots sbatch --pm-mode=appdirect
	answers "--pm-size needs --pm-mode=appdirect or mixed, the job's mode is memory" sbatch --pm-mode=memory --pm-size=1G
	answers '--pm-size needs --pm-mode=appdirect or mixed' sbatch --pm-size=1G
	answers "--pm-namespace: unknown kind 'dax', valid kinds are fsdax, devdax" srun --pm-mode=appdirect --pm-namespace=dax
	answers '--pm-size and devdax exclude each other, the job gets whole devices: leave --pm-size out' \
		sbatch --pm-mode=appdirect --pm-namespace=devdax --pm-size=1G
}

@test "ranks: their DRAM, binding, threads and policy" {
	answers "--pm-dram='4GB': write a size like 4G, 2M at least, or auto" sbatch --pm-mode=flat --pm-dram=4GB
	answers "--pm-dram='1K': write a size like 4G, 2M at least, or auto" srun --pm-dram=1K
	answers "--pm-bind='cores': write socket or none" srun --pm-bind=cores
	answers "--pm-threads='0': write a number from 1 to 65536" salloc --pm-threads=0
	answers "--pm-threads='many': write a number from 1 to 65536" sbatch --pm-threads=many
	answers "PM_BIND='Socket': write socket or none" PM_BIND=Socket sbatch
	answers "--pm-runtime: unknown runtime 'plac', did you mean 'place'?" sbatch --pm-runtime=plac
	answers "--pm-runtime: write a runtime's name, or none" sbatch --pm-runtime=
	answers '--pm-advice: write a path' sbatch --pm-advice=
	answers '--pm-profile: write a path' sbatch --pm-profile=
	answers "--pm-site-profile: 'two words' is not the name of a class; write a name, a file with a '/' in it, or none" \
		sbatch '--pm-site-profile=two words'
}

@test "options of sbatch and srun after pmrun, and misspelt ones" {
	local pmrun=${PM_BUILD:-$TOP/build}/pmrun
	run -2 "$pmrun" --pm-mode=flat true
	assert_output "pmrun: '--pm-mode=flat' belongs to sbatch, srun and salloc, which choose the nodes; pmrun places ranks on this one"
	run -2 "$pmrun" --pm-size 1G true
	assert_output "pmrun: '--pm-size' belongs to sbatch, srun and salloc, which choose the nodes; pmrun places ranks on this one"
	run -2 "$pmrun" --pm-dramm=1G true
	assert_output "pmrun: unknown option '--pm-dramm=1G', did you mean --pm-dram? Try 'pmrun --help'"
	run -2 "$pmrun" --help-me
	assert_output "pmrun: unknown option '--help-me', try 'pmrun --help'"
}
