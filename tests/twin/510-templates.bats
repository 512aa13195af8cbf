#!/usr/bin/env bats
# Job templates as a user takes them from where they are installed, with programs from Debian's packages and problems that an
# emulated node solves in seconds: one node of two sockets with two cores each.
# bats file_tags=long
# shellcheck disable=SC2154 # output, lines and status are set by run
# shellcheck disable=SC2016 # expanded in the job

setup_file() {
	load helpers
	load jobs
	on_head sh -c 'rm -rf job_templates && cp -r /usr/share/slurm-pmem/job_templates .'
}

setup() {
	load helpers
	load jobs
	wait_for 240 node_is n1 idle
}

# file TEMPLATE/NAME: stdin becomes a file in the user's copy of a template.
file() {
	on_head tee "job_templates/$1" >/dev/null
}

# run_template NAME VARIABLE=VALUE... -- OPTION...: on the one node, waited for. $output: what the job printed; the plan is in
# the file err.
run_template() {
	local name=$1 variables=()
	shift
	while [ "$1" != -- ]; do
		variables+=("$1")
		shift
	done
	run timeout --kill-after=5 "$LIMIT_S" "$ROOT/twin/pmtwin" run -- sh -c 'cd "$0" && exec env "$@" job.sh' \
		"job_templates/$name" SLURM_MPI_TYPE=pmix "${variables[@]}" \
		sbatch --wait --nodes=1 --output=out --error=err "${@:2}"
	[ "$status" -eq 0 ] || fail "$output $(on_head cat "job_templates/$name/out" "job_templates/$name/err")"
	run on_head cat "job_templates/$name/out"
}

# assert_plan TEMPLATE RANKS: half of them on each socket.
assert_plan() {
	run on_head cat "job_templates/$1/err"
	assert_line --partial "$2 ranks on 2 sockets with"
	assert_equal "$(grep -cE '^ +[0-9]+ +1 +' <<<"${output#*RANK}")" $(($2 / 2))
}

@test "appdirect-workflow: consumers on both sockets get each step from where the producer's rank has written it" {
	local step rank
	file appdirect-workflow/producer.sh <<-'END'
		for step in 01 02 03; do
			mkdir "$PM_DIR/step-$step"
			echo "rank $PM_LOCAL_RANK wrote step $step into $PM_DIR" >"$PM_DIR/step-$step/data"
			touch "$PM_DIR/step-$step/done"
		done
	END
	file appdirect-workflow/consumer.sh <<-'END'
		{ cat "$1/data"; echo "rank $PM_LOCAL_RANK read from $PM_DIR, $OMP_NUM_THREADS threads"; } >"$2/${1##*/}.$PM_LOCAL_RANK"
	END
	run_template appdirect-workflow 'PRODUCER=sh producer.sh' 'CONSUMER=sh consumer.sh' STEPS=3 -- \
		--pm-size=100M --ntasks-per-node=2
	for step in 01 02 03; do
		for rank in 0 1; do
			run on_head cat "job_templates/appdirect-workflow/results/step-$step.$rank"
			assert_line --regexp "^rank $rank wrote step $step into /mnt/slurm-pmem/socket$rank/job_[0-9]+$"
			assert_line --regexp "^rank $rank read from /mnt/slurm-pmem/socket$rank/job_[0-9]+, 4 threads$"
		done
	done
}

nothing_queued() {
	run -0 --separate-stderr on_head squeue -h
	[ -z "$output" ]
}

@test "appdirect-workflow: a producer that fails ends the job and its consumers" {
	run_user 1 sh -c 'cd job_templates/appdirect-workflow && PRODUCER=false CONSUMER=true timeout 300 sbatch --wait --nodes=1 \
		--pm-size=100M --ntasks-per-node=2 --output=out --error=err job.sh'
	# sbatch is back before the epilog has ended.
	wait_for 60 nothing_queued
}

@test "flat-hybrid runs LAMMPS on DRAM and persistent memory of each rank's socket" {
	file flat-hybrid/in.lj <<-'END'
		units lj
		atom_style atomic
		lattice fcc 0.8442
		region box block 0 5 0 5 0 5
		create_box 1 box
		create_atoms 1 box
		mass 1 1.0
		velocity all create 1.44 87287 loop geom
		pair_style lj/cut 2.5
		pair_coeff 1 1 1.0 1.0 2.5
		fix 1 all nve
		run 20
	END
	run_template flat-hybrid 'APP=lmp -log none -in in.lj' -- --ntasks-per-node=2
	assert_line --regexp '^Loop time of .* for 20 steps with 500 atoms'
	assert_line --partial 'with 2 MPI tasks x 2 OpenMP threads'
	assert_plan flat-hybrid 2
	assert_line --regexp '^ +1 +1 +2-3 .* bind +1,3$'
}

@test "mini-apps measures DRAM and persistent memory by turns" {
	file mini-apps/app.sh <<-'END'
		echo "rank $PM_LOCAL_RANK $(head -1 /proc/self/numa_maps | cut -d" " -f2)"
	END
	run_template mini-apps 'APP=sh app.sh' RANKS=2 REPEAT=1 -- --ntasks=2
	assert_line --index 1 --regexp '^flat,dram-first,2,1,[0-9]+$'
	assert_line --index 2 --regexp '^flat,pm-only,2,1,[0-9]+$'
	run on_head sh -c 'sort job_templates/mini-apps/mini-apps.*.out'
	assert_output "$(printf 'rank %s\n' '0 bind:0,2' '0 bind:2' '1 bind:1,3' '1 bind:3')"
}

@test "memory-mpi runs HPCC in Memory Mode, a rank on each socket" {
	file memory-mpi/hpccinf.txt <"$BATS_TEST_DIRNAME/hpccinf.txt"
	run_template memory-mpi APP=hpcc -- --ntasks-per-node=2
	assert_plan memory-mpi 2
	assert_equal "$(mode_of n1)" memory
	run on_head cat job_templates/memory-mpi/hpccoutf.txt
	assert_line CommWorldProcs=2
	assert_line Success=1
}
