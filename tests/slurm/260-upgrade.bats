#!/usr/bin/env bats
# Programs of two versions under a full queue: docs/admin/compatibility.md has a row for each. "Old" is this version; "new"
# is a later one that tests/cluster/next_version makes of it: other versions of all state files, words that the old one does
# not know. Nodes have their programs apart: n1 to n10 are one class, n11 to n15 the other, which is slow to boot.
# The new one reads the files of the old, as each release reads those of the one before; going back, the old one meets
# files of the new.
# shellcheck disable=SC2016,SC2154 # the single quotes are for the shell in the job; submit sets job

NEW=9.0.0

setup_file() {
	export PM_BENCH=$BATS_FILE_TMPDIR/bench.dir NEXT=$BATS_FILE_TMPDIR/next OLD=$BATS_FILE_TMPDIR/old
	"$BATS_TEST_DIRNAME/../cluster/next_version" "$NEXT" 3>&-
	"$BATS_TEST_DIRNAME/../cluster/bench" up --owner $$ --build "$PM_BUILD" --nodes 15 --own-programs 3>&-
	load helper
	cp -r "$(bench_dir)/lib" "$OLD" # a build may go on meanwhile
	prepare_site
}

teardown_file() {
	"$BATS_TEST_DIRNAME/../cluster/bench" down
}

setup() {
	load helper
	load upgrade
	export LIMIT_S=120
}

# Jobs share nodes and stay known.
prepare_site() {
	local dir
	dir=$(bench_dir)
	printf 'Exclusive=no\n' >>"$dir/etc/pmem.conf"
	sed -i 's/^ResumeTimeout=.*/ResumeTimeout=900/; s/^HealthCheckInterval=.*/HealthCheckInterval=15/' "$dir/etc/slurm-pmem.conf"
	sed -i '/^ClusterName=/a MinJobAge=7200' "$dir/etc/slurm.conf"
	bench restart-slurmctld
	admin scontrol reconfigure
	wait_for 120 all_have_modes
}

all_have_modes() { [ "$(admin sinfo -hN -o '%N %f' | sort -u | grep -c pm_memory)" = 15 ]; }

# The folder of a version's programs, "old" or "new", and of its Lua.
programs_of() { if [ "$1" = new ]; then echo "$NEXT/build"; else echo "$OLD"; fi; }
lua_of() { if [ "$1" = new ]; then echo "$NEXT/controller"; else echo "$TOP/controller"; fi; }

# put VERSION PROGRAM NODE...: as a package does it, by a rename, while daemons and jobs run.
put() {
	local version=$1 program=$2 node
	shift 2
	for node in "$@"; do
		replace "$(programs_of "$version")/$program" "$(bench_dir)/$node/lib/$program"
	done
}

# On the controller's host, which users log in to as well.
put_on_controller() { replace "$(programs_of "$1")/$2" "$(bench_dir)/lib/$2"; }

put_lua_files() {
	local file
	for file in pmem pmem_conf pmem_constraint pmem_nodes; do
		replace "$(lua_of "$1")/$file.lua" "$(bench_dir)/share/$file.lua"
	done
	bench restart-slurmctld
}

put_service() {
	put_on_controller "$1" pm-controller
	bench service start
}

# What upgrade.md has administrators look at on each node. One that boots for a queued job is sound when it has verified its goal.
are_sound() {
	local node
	for node in "$@"; do
		wait_for 60 bench node "$node" "$(bench_dir)/bin/pmctl" health
	done
}

version_on() { bench exec "$(bench_dir)/$1/lib/pmctl" --version; }

@test "100 queued, 20 running and 5 configuring jobs: each part is upgraded alone, and goes back; no job is lost" {
	local submitted=0 first queued configuring late still node
	local a=(n{1..10}) b=(n{11..15})
	submit 10 -n1 --pm-mode=appdirect -x 'n[11-15]' "$(script_until go.1)"
	first=$job
	submit 10 -n1 --pm-mode=appdirect -x 'n[11-15]' "$(script_until go.2)"
	still=$job
	wait_for 120 count_is running 20
	boots_last
	submit 5 -n1 -c2 --pm-mode=memory -x 'n[1-10]' 'pmctl mode; srun pmctl mode'
	configuring=$job
	wait_for 60 configuring_are "$configuring" 5
	submit 40 -n1 --pm-mode=appdirect 'pmctl mode; srun pmctl mode'
	queued=("$job")
	submit 30 -n1 --pm-mode=memory 'pmctl mode; srun pmctl mode'
	queued+=("$job")
	submit 30 -n1 'pmctl mode >/dev/null; echo any; srun echo any'
	queued+=("$job")
	count_is pending 100
	count_is running 20

	# The controller first: pmem.lua, the service, its client. Jobs wait for reboots meanwhile.
	put_lua_files new
	put_service new
	put_on_controller new prolog_slurmctld
	# A class of nodes by its plugin first, the other by pmctl first.
	put new spank_pmem.so "${a[@]}"
	touch "$(bench_dir)/home/go.1"
	wait_for 180 has_ended "$first"
	wait_for 180 completed_are 20
	put new pmctl "${a[@]}"
	are_sound "${a[@]}"
	put new pmctl "${b[@]}"
	boots_end
	wait_for 180 has_ended "$configuring"
	put new spank_pmem.so "${b[@]}"
	put_on_controller new spank_pmem.so
	put_on_controller new pmctl
	assert_equal "$(version_on n11)" "pmctl $NEW"
	wait_for 300 completed_are 45
	assert_equal "$(aside)" ''

	# Back again: nodes in service first, with jobs that began by the new version, and nodes that it reboots.
	boots_last
	submit 4 -n1 --pm-mode=appdirect -x 'n[11-15]' "$(script_until go.3)"
	late=$job
	submit 5 -n1 -c2 --pm-mode=mixed -x 'n[1-10]' 'pmctl mode; srun pmctl mode'
	admin scontrol update jobid="$late" nice=-1000
	admin scontrol update jobid="$job" nice=-2000
	wait_for 300 configuring_are "$job" 5
	wait_for 300 running_are "$late" 4
	put_on_controller old spank_pmem.so
	put_on_controller old pmctl
	put old pmctl "${a[@]}"
	are_sound "${a[@]}"
	wait_for 300 completed_are 65
	put old spank_pmem.so "${a[@]}"
	put old spank_pmem.so "${b[@]}"
	put old pmctl "${b[@]}"
	boots_end
	wait_for 300 has_ended "$job"
	put_on_controller old prolog_slurmctld
	put_service old
	put_lua_files old
	touch "$(bench_dir)/home/go.2" "$(bench_dir)/home/go.3"
	wait_for 600 no_jobs

	assert_equal "$(completed)" "$submitted"
	assert_equal "$submitted" 134
	ran_in "$first" appdirect 10
	ran_in "$still" appdirect 10
	ran_in "$configuring" memory 5
	ran_in "${queued[0]}" appdirect 40
	ran_in "${queued[1]}" memory 30
	ran_in "${queued[2]}" any 30
	ran_in "$late" appdirect 4
	ran_in "$job" mixed 5
	no_node_has_left
	for node in "${b[@]}"; do
		run cat "$(bench_dir)/$node/state/journal.json.unreadable"
		assert_output --regexp '"version": *2,'
		assert_output --regexp '"mode": *"mixed"'
	done
	run aside
	assert_output --partial '/kept/reboots.json.unreadable'
	run grep -h 'is of a newer slurm-pmem and was renamed' "$(bench_dir)/log/pm-controller.out"
	assert_output --partial "reboots.json.unreadable'; starting with an empty list"
}

@test "a service whose messages are of another version: jobs get their modes without it, and pmctl names both" {
	boots_end
	cancel_jobs
	wait_for 120 no_jobs
	replace "$NEXT/build/pm-controller.protocol" "$(bench_dir)/lib/pm-controller"
	bench service start
	run bench user "$(bench_dir)/lib/pmctl" --config "$(bench_dir)/etc/pmem.conf" cluster
	assert_failure
	assert_output --partial 'message of version 2, this side supports version 1'
	put_in memory n1
	put_in appdirect n1
	put_service old
	no_node_has_left
}
