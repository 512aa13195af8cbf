#!/usr/bin/env bats
# Nodes without a file of Slurm's (slurmd --conf-server): docs/admin/compatibility.md has a row for each.
# shellcheck disable=SC2016 # the single quotes are for the shell in the job

setup_file() {
	load helper
	export PM_BENCH=$BATS_FILE_TMPDIR/bench.dir
	"$BATS_TEST_DIRNAME/../cluster/bench" up --owner $$ --build "$PM_BUILD" 3>&-
	make_configless "127.0.0.1:$(slurmctld_port)"
}

teardown_file() {
	"$BATS_TEST_DIRNAME/../cluster/bench" down
}

setup() {
	load helper
	clean_nodes
}

teardown() {
	[ ! -e "$BATS_TEST_TMPDIR/pmctl.kept" ] || put_pmctl_back
	bench service start
}

@test "configless: nodes change their modes; scripts and steps have mode and directory, and Slurm's configuration" {
	local cache
	cache=$(bench_dir)/n1/spool/conf-cache
	put_in memory n1
	run_sbatch -w n1 --pm-mode=mixed <<-'END'
		#!/bin/sh
		echo batch $PM_MODE $(pmctl mode) $SLURM_CONF
		srun sh -c 'echo step $PM_MODE $SLURM_CONF'
	END
	assert_line "batch mixed mixed $cache/slurm.conf"
	assert_line "step mixed $cache/slurm.conf"
	run ls "$cache"
	assert_line helpers.conf
	assert_line slurm-pmem.conf
	assert_line plugstack.conf
	nodes_are_in_service
}

@test "configless: a node asks Slurm without pm-controller, and has a job that it turns away requeued" {
	put_in appdirect n1 n2
	bench service kill
	keep_pmctl
	touch "$BATS_TEST_TMPDIR/turns"
	pmctl_in_case "*' job begin'*) if rm $BATS_TEST_TMPDIR/turns 2>/dev/null; then
		echo \"pmctl: another has the devices of \$SLURMD_NODENAME\" >&2; exit 3; fi ;;"
	run_client sbatch --parsable --pm-mode=appdirect --output=/dev/null --wrap='pmctl mode'
	wait_for 60 job_is "$output" COMPLETED
	run job_field "$output" Restarts
	assert_output Restarts=1
	nodes_are_in_service
}

carried() {
	grep -qx '# once more' "$(bench_dir)/n1/spool/conf-cache/helpers.conf"
}

@test "configless: scontrol reconfigure brings an edit of helpers.conf to the nodes" {
	echo '# once more' >>"$(bench_dir)/etc/helpers.conf"
	admin scontrol reconfigure
	wait_for 60 carried
	wait_for 60 nodes_have_modes
	put_in memory n1
	put_in appdirect n1
	nodes_are_in_service
}
