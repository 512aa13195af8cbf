#!/usr/bin/env bats
# Job templates: a real Slurm takes their #SBATCH lines, and the commands of their READMEs, on nodes like those that they were made
# for, and runs them.
# shellcheck disable=SC2016 # expanded in the job

setup() {
	load helper
	TEMPLATES=$TOP/job_templates
}

# Two sockets of 24 cores with two hardware threads each, 3 TiB of persistent memory beside 192 GiB of DRAM.
PAPER='Sockets=2 CoresPerSocket=24 ThreadsPerCore=2 RealMemory=3300000'

# Nodes enough for the largest template, with the memory that each mode has there.
large_bench() {
	export PM_BENCH=$BATS_TEST_TMPDIR/bench.dir
	"$TOP/tests/cluster/bench" up --owner $$ --nodes 20 --build "$PM_BUILD" --hardware "$PAPER" 3>&-
	echo "UsableMemory=memory:3000G,appdirect:180G,flat:3180G,mixed:1500G" >>"$(bench_dir)/etc/pmem.conf"
}

# The READMEs' commands for a login node, as they stand, a README at a time. Jobs stay in the queue, since all nodes are drained.
type_commands_of_readmes() {
	local pages page
	admin scontrol update nodename=ALL state=drain reason=templates
	install -d -o nobody "$(bench_dir)/home/reader"
	mkdir -p "$BATS_TEST_TMPDIR/blocks" "$BATS_TEST_TMPDIR/tree/usr/share/slurm-pmem"
	cp -r "$TEMPLATES" "$BATS_TEST_TMPDIR/tree/usr/share/slurm-pmem"
	cp -r "$TEMPLATES/memory-mpi" "$(bench_dir)/home/reader" # dram-baseline is compared with it
	chown -R nobody "$(bench_dir)/home/reader"
	"$TOP/tests/docs/blocks.py" 'bench of 20 nodes' "$BATS_TEST_TMPDIR/blocks" >"$BATS_TEST_TMPDIR/list"
	pages=$(cut -d: -f1 "$BATS_TEST_TMPDIR/list" | uniq)
	[ "$(wc -l <<<"$pages")" -ge 5 ] || fail "not the READMEs: $pages"
	for page in $pages; do
		run "$TOP/tests/docs/installed" "$BATS_TEST_TMPDIR/tree" "$TOP/tests/cluster/bench" user env -C reader \
			bash -e -c "$(grep "^$page:" "$BATS_TEST_TMPDIR/list" | cut -d' ' -f2 | xargs cat)" 3>&- </dev/null
		[ "$status" -eq 0 ] || fail "$page ended with $status: $output"
		assert_line --partial 'Submitted batch job'
	done
}

# app LINES: a script that the ordinary user may run; prints its path.
app() {
	install -m 755 "$(program app "$1")" "$(bench_dir)/home/app"
	echo "$(bench_dir)/home/app"
}

# run_template [RC] NAME OPTION...: on one node of the small bench, waited for; what it printed is in $output.
run_template() {
	local wanted=()
	if [[ $1 =~ ^[0-9]+$ ]]; then
		wanted=("$1")
		shift
	fi
	run_sbatch "${wanted[@]}" -w n1 --nodes=1 "${@:2}" <"$TEMPLATES/$1/job.sh"
}

@test "Slurm takes each template as it is, on whole nodes of the kind that it was made for" {
	local dir script nodes
	large_bench
	for dir in "$TEMPLATES"/*/; do
		script=$(bench_dir)/home/job.sh
		install -m 755 "$dir/job.sh" "$script"
		nodes=$(sed -n 's/^#SBATCH --nodes=//p' "$script")
		run_client sbatch --test-only "$script"
		assert_output --partial "using $((nodes * 96)) processors"
	done
	type_commands_of_readmes
	"$TOP/tests/cluster/bench" down
}

@test "memory-mpi runs the program of APP with its words, in its mode, with a plan" {
	clean_nodes
	run_template memory-mpi --ntasks-per-node=2 \
		--export=ALL,APP="$(app 'echo "$PM_LOCAL_RANK of $PM_LOCAL_SIZE in $PM_MODE, $OMP_NUM_THREADS: $*"') one two"
	assert_line '0 of 2 in memory, 1: one two'
	assert_line '1 of 2 in memory, 1: one two'
	assert_line --regexp '^RANK +SOCKET'
}

@test "a program that fails fails the job, and one that is not there" {
	run_template 7 memory-mpi --ntasks-per-node=1 --export=ALL,APP="$(app 'exit 7')"
	run_template 2 memory-mpi --ntasks-per-node=1 --export=ALL,APP=/nonexistent
}

@test "dram-baseline runs with two threads a rank, beside persistent memory that is no main memory" {
	run_template dram-baseline --ntasks-per-node=1 --export=ALL,APP="$(app 'echo "$OMP_NUM_THREADS in $PM_MODE"')"
	assert_line '2 in appdirect'
}

# No kernel here makes persistent memory NUMA nodes, so the two of mode flat run in another; the twin has them in theirs.

@test "flat-hybrid leaves the cores to the program, and some to the helpers of a runtime" {
	local runtime show
	runtime=$(realpath "$(ldconfig -p | sed -n 's/.*libm\.so\.6.*=> //p;T;q')")
	show=$(app 'echo "$OMP_NUM_THREADS threads, ${LD_PRELOAD:-nothing} preloaded"')
	run_template flat-hybrid --pm-mode=memory --ntasks-per-node=1 --export=ALL,APP="$show"
	assert_line '2 threads, nothing preloaded'
	PM_RUNTIME=$runtime PM_THREADS=1 run_template flat-hybrid --pm-mode=memory --ntasks-per-node=1 --export=ALL,APP="$show"
	assert_line "1 threads, $runtime preloaded"
	PM_RUNTIME=$runtime run_template 1 flat-hybrid --pm-mode=memory --ntasks-per-node=1 --export=ALL,APP="$show"
	assert_line --partial 'pm: 1 rank of 10 threads needs 10 cores'
}

@test "mini-apps prints a line for each number of ranks and run" {
	run_template mini-apps --pm-mode=memory --ntasks=2 --export=ALL,APP="$(app 'echo words')",RANKS='1 2',REPEAT=2
	# On a busy host a step waits for the one before it to end, and srun says so.
	run grep -v '^srun: ' <<<"$output"
	assert_line --index 0 mode,policy,ranks,run,milliseconds
	assert_line --index 1 --regexp '^memory,dram-first,1,1,[0-9]+$'
	assert_line --index 2 --regexp '^memory,dram-first,1,2,[0-9]+$'
	assert_line --index 4 --regexp '^memory,dram-first,2,2,[0-9]+$'
	assert_equal "${#lines[@]}" 5
	assert_equal "$(cat "$(bench_dir)"/home/mini-apps.*.out | grep -c words)" 6
}
