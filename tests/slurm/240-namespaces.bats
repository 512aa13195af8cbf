#!/usr/bin/env bats
# Where Slurm runs prologs: docs/admin/compatibility.md has a row for each. Namespaces of jobs are in tests/twin/300-containers.bats.

setup() {
	load helper
	clean_nodes
	conf=$(bench_dir)/etc/slurm-pmem.conf
	cp "$conf" "$BATS_TEST_TMPDIR/slurm-pmem.conf"
	log=$(bench_dir)/log/pm-controller.out
	: >"$log"
}

teardown() {
	cp "$BATS_TEST_TMPDIR/slurm-pmem.conf" "$conf"
	restart_all
}

restart_all() {
	bench restart-slurmctld
	bench restart-slurmd n1
	bench restart-slurmd n2
	bench service start
	wait_for 60 nodes_have_modes
	resume n1 n2
}

@test "PrologFlags=RunInJob: no job with a mode runs, pm-controller and the job say why" {
	if is_slurm 22.05; then # has no such flag, and does not read it
		sed 's/^PrologFlags=.*/PrologFlags=RunInJob/' "$conf" >"$BATS_TEST_TMPDIR/next"
		replace "$BATS_TEST_TMPDIR/next" "$conf"
		run bench sinfo
		assert_failure
		assert_output --partial 'Invalid PrologFlag: RunInJob'
		return
	fi
	sed -i 's/^PrologFlags=.*/&,Contain,RunInJob/' "$conf"
	restart_all
	wait_for 20 grep -q '^PrologFlags=RunInJob: Slurm runs no prolog of a plugin then' "$log"
	run_client srun 1 -w n1 --pm-mode=appdirect true
	assert_output --partial 'slurm.conf has PrologFlags=RunInJob, which keeps slurm-pmem from preparing nodes'
	run_srun -w n1 pmctl mode # a job without a mode
	run node_field n1 %E
	assert_output none
}
