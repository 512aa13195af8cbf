#!/usr/bin/env bats
# The job template calibrate on two nodes: each is measured, the profile of their class is merged, and nothing stays.
# bats file_tags=long
# shellcheck disable=SC2154 # output and status are set by run

setup_file() {
	load helpers
	load jobs
	wait_for 240 node_is n1 idle
	wait_for 240 node_is n2 idle
	on_head sh -c 'rm -rf calibrate && cp -r /usr/share/slurm-pmem/job_templates/calibrate .'
}

setup() {
	load helpers
	load jobs
}

# of_class EXPRESSION: of Python, on the profile of the class and its sockets.
of_class() {
	on_head sh -c 'cat calibrate/calibrate.*/twin.json' |
		/usr/bin/python3 -c 'import json, sys; profile = json.load(sys.stdin); sockets = profile["sockets"]; print(eval(sys.argv[1]))' "$1"
}

@test "two nodes are measured in one job, and make the profile of their class" {
	run timeout "$LIMIT_S" "$ROOT/twin/pmtwin" run -- sh -c \
		'cd calibrate && CLASS=twin EFFORT=--quick sbatch --wait --nodes=2 --output=out --error=err job.sh; rc=$?; cat out err; exit $rc'
	expect_status 0 calibrate
	assert_line --partial 'pmctl: calibrate:  45 %, socket 1, copy-in with 1 threads'
	assert_line 'twin, n1'
	assert_line 'measured under a hypervisor: not compared with printed figures'
	assert_equal "$(of_class 'profile["host"], profile["machine"], [socket["socket"] for socket in sockets]')" "('n1,n2', 'virtual', [0, 1])"
	assert_equal "$(of_class '[{"copy-in", "copy-out"} <= {curve["name"] for curve in socket["curves"]} for socket in sockets]')" '[True, True]'
	assert_equal "$(of_class 'sorted({loop["place"] for socket in sockets for loop in socket["loops"]})')" \
		"['dram', 'pmem', 'read-pmem', 'remote-dram', 'remote-pmem', 'write-pmem']"
	assert_equal "$(of_class 'sorted({loop["loop"] for loop in profile["loops"]})')" "['add', 'copy', 'scale', 'triad']"
	assert_equal "$(of_class '{point["samples"] for socket in sockets for curve in socket["curves"] for point in curve["points"]}')" '{2}'
	assert_equal "$(on_head sh -c 'grep -c "^<!doctype html>" calibrate/calibrate.*/twin.html')" 1
}

@test "a virtual profile gives ranks no bandwidths" {
	on_head sh -c 'cat calibrate/calibrate.*/twin.json' >"$BATS_TEST_TMPDIR/twin.json"
	pmtwin exec n1 -- mkdir -p /etc/slurm/pmem-profile.d
	pmtwin copy "$BATS_TEST_TMPDIR/twin.json" n1:/etc/slurm/pmem-profile.d/twin.json
	run timeout "$LIMIT_S" "$ROOT/twin/pmtwin" run -- srun -w n1 --pm-mode=flat --pm-site-profile=twin printenv PM_MODEL
	assert_failure
	assert_output --partial "site profile 'twin' was measured under a hypervisor"
}
