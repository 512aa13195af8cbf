#!/usr/bin/env bats
# Two SlurmctldHosts, and nodes without a file of Slurm's (slurmd --conf-server).
# shellcheck disable=SC2016 # the single quotes are for the shell in the job

setup_file() {
	load ../slurm/helper
	export PM_BENCH=$BATS_FILE_TMPDIR/bench.dir
	"$BATS_TEST_DIRNAME/../cluster/bench" up --controllers 2 --owner $$ --build "$PM_BUILD" 3>&-
	make_configless "127.0.0.1:$(slurmctld_port),127.0.0.2:$(slurmctld_port)"
	bench daemon start slurmctld backup # it serves no configuration until it has read of that
}

teardown_file() {
	"$BATS_TEST_DIRNAME/../cluster/bench" down
}

setup() {
	load ../slurm/helper
}

slurmctld_runs() {
	admin scontrol ping | grep "$1" | grep -q 'is UP'
}

backup_serves() {
	grep 'slurmctld of this host' "$(bench_dir)/log/pm-controller.backup.out" | tail -n 1 | grep -q 'serving$'
}

@test "configless nodes and a fail-over: a node that reboots has its configuration from the backup" {
	wait_for 60 slurmctld_runs backup
	put_in memory n1
	admin scontrol takeover # it saves its state; what a killed one has not saved, Slurm loses
	wait_for 60 backup_serves
	wait_for 60 nodes_have_modes
	touch "$BATS_TEST_TMPDIR/before"
	run_sbatch -w n1 --pm-mode=mixed <<-'END'
		#!/bin/sh
		echo batch $PM_MODE $(pmctl mode)
		srun sh -c 'echo step $PM_MODE'
	END
	assert_line 'batch mixed mixed'
	assert_line 'step mixed'
	[ "$(bench_dir)/n1/spool/conf-cache/helpers.conf" -nt "$BATS_TEST_TMPDIR/before" ]
	put_in appdirect n1
	nodes_are_in_service
}
