#!/usr/bin/env bats
# Slurm itself is upgraded under a full queue, from 24.11 to 26.05, in the order of docs/admin/upgrade.md: slurmctld, then a
# slurmd after the other, then the login node. It runs in 'tests/cluster/root trixie,sid': a machine is upgraded by sid's /usr
# and by programs of ours that are built there (PM_BUILD_NEXT), for jobs that run, too. Nodes: 260-upgrade.bats.
# shellcheck disable=SC2016,SC2154 # the single quotes are for the shell in the job; submit sets job

USR=/sid/usr
more=()

setup_file() {
	export PM_BENCH=$BATS_FILE_TMPDIR/bench.dir NEXT=$BATS_FILE_TMPDIR/next OLD=$BATS_FILE_TMPDIR/old
}

teardown() {
	"$BATS_TEST_DIRNAME/../cluster/bench" down
}

setup() {
	load helper
	load upgrade
	export LIMIT_S=120
}

# bench_with NODES LINE...: a bench on 24.11 where pmem.conf has these lines, and jobs stay known; with the options `more`.
bench_with() {
	local nodes=$1 dir node
	shift
	"$BATS_TEST_DIRNAME/../cluster/bench" up --owner $$ --build "$PM_BUILD" --nodes "$nodes" --own-programs "${more[@]}" 3>&-
	dir=$(bench_dir)
	rm -rf "$OLD" "$NEXT"
	cp -r "$dir/lib" "$OLD" # builds may go on meanwhile
	cp -r "$OLD" "$NEXT"
	cp "$PM_BUILD_NEXT"/{pmctl,spank_pmem.so,pm-reachable,pm-controller,prolog_slurmctld,pm-resume,tests/pmshim.so,tests/uptime.so} \
		"$NEXT"
	printf '%s\n' "$@" >>"$dir/etc/pmem.conf"
	sed -i 's/^ResumeTimeout=.*/ResumeTimeout=900/; s/^HealthCheckInterval=.*/HealthCheckInterval=15/' "$dir/etc/slurm-pmem.conf"
	sed -i '/^ClusterName=/a MinJobAge=7200\nLicenses=pm_wait:1000000' "$dir/etc/slurm.conf"
	bench restart-slurmctld
	for node in $(cat "$dir/nodes"); do # a slurmd that is told to reconfigure gives way to another process
		bench restart-slurmd "$node"
	done
	bench service start
	wait_for 120 all_have_modes "$nodes"
}

all_have_modes() { [ "$(admin sinfo -hN -o '%N %f' | sort -u | grep -c pm_memory)" = "$1" ]; }

lease_is_in_force() {
	[[ $(admin scontrol show reservation pm_wait 2>/dev/null) == *'Licenses=pm_wait:1000000'* ]]
}

# put FOLDER: our programs built for 26.05, by a rename, while daemons and jobs run.
put() {
	local program
	for program in "$NEXT"/*; do
		replace "$program" "$1/${program##*/}"
	done
}

upgrade_slurmctld() {
	local dir
	dir=$(bench_dir)
	mkdir "$dir/controller"
	cp -r "$NEXT" "$dir/controller/lib"
	echo $USR >"$dir/controller/usr"
	sed -i 's/^pm.slurm_version = .*/pm.slurm_version = 26.05/' "$dir/etc/job_submit.lua"
	bench restart-slurmctld
}

# in_place NODE COMMAND...: where its slurmd runs, and with it its jobs.
in_place() {
	local node=$1
	shift
	nsenter --mount --root --target "$(bench_pids slurmd "SLURMD_NODENAME=$node" | head -n 1)" -- "$@"
}

# upgrade_node NODE: no job may begin there or call srun while apt replaces files; jobs that run stay. Then slurmd is restarted.
upgrade_node() {
	local node=$1
	admin scontrol update nodename="$node" state=drain reason="Slurm upgrade"
	wait_for 60 has_only_waiting "$node"
	put "$(bench_dir)/$node/lib"
	in_place "$node" mount --bind $USR /usr
	echo $USR >"$(bench_dir)/$node/usr"
	bench restart-slurmd --gently "$node"
	wait_for 60 has_version "$node" 26.05
	is_sound "$node"
	admin scontrol update nodename="$node" state=resume
}
has_only_waiting() { [ -z "$(bench squeue -h -w "$1" -o %j | grep -v waiting)" ]; }

# on_new_login COMMAND...: as on a login node with Slurm 26.05, with the plugin in FOLDER.
on_new_login() {
	local plugin=$1
	shift
	unshare --mount sh -ec 'mount --bind "$1" "$2"; mount --bind "$3" /usr; shift 3; exec "$@"' sh "$plugin" "$(bench_dir)/lib" \
		$USR "$(bench_dir)/bin/enter" user "$@"
}

# What upgrade.md has administrators look at on each node.
is_sound() {
	run in_place "$1" env SLURMD_NODENAME="$1" "$(bench_dir)/bin/pmctl" health
	[ "$status" -eq 0 ] || fail "pmctl health on $1 ends with $status: $output"
}

version_of() { admin scontrol show node "$1" | sed -n 's/.* Version=//p'; }
has_version() { [[ $(version_of "$1") = "$2."* ]]; }
versions() { admin scontrol show node | sed -n 's/.* Version=\([0-9]*\.[0-9]*\).*/\1/p' | sort | uniq -c | tr -s ' '; }
versions_are() { [ "$(versions)" = "$1" ]; }

hold_of() { job_field "$1" AdminComment; }
is_held() { [[ $(hold_of "$1") =~ pm_hold=60,[0-9]+ && $(job_field "$1" Reason) = Reason=Licenses ]]; }
# pm-controller renews its reservation.
has_looked() {
	local end
	end=$(end_of_lease)
	wait_for 120 eval '[ "$(end_of_lease)" != "'"$end"'" ]'
}
end_of_lease() { admin scontrol show reservation pm_wait | grep -o 'EndTime=[^ ]*'; }
queue() { bench squeue -hr -o '%i %T' | sort; }

@test "Slurm 24.11 becomes 26.05 with 100 queued, 20 running and 5 configuring jobs: slurmctld, each slurmd, the login node" {
	local submitted=0 first queued configuring late still before node
	local a=(n{1..10}) b=(n{11..15})
	bench_with 15 Exclusive=no
	is_slurm 24.11
	submit 10 -n1 -J waiting --pm-mode=appdirect -x 'n[11-15]' "$(script_until go.1)"
	first=$job
	submit 10 -n1 -J waiting --pm-mode=appdirect -x 'n[11-15]' "$(script_until go.2)"
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

	# slurmctld first; pm-controller goes on with the libraries of 24.11 for a moment.
	before=$(queue)
	upgrade_slurmctld
	assert_equal "$(queue)" "$before"
	wait_for 60 versions_are ' 10 24.11' # of nodes that do not reboot
	bench service start
	no_node_has_left
	# A job of a login node that has 24.11 is taken.
	submit 1 -n1 --pm-mode=appdirect 'pmctl mode; srun pmctl mode'
	queued+=("$job")

	# A class of nodes with jobs of 24.11's slurmd, half of which end now; the other nodes reboot meanwhile.
	for node in "${a[@]}"; do
		upgrade_node "$node"
	done
	count_is running 20
	touch "$(bench_dir)/home/go.1"
	wait_for 180 has_ended "$first"
	wait_for 180 completed_are 20
	boots_end
	wait_for 180 has_ended "$configuring"
	versions_are $' 5 24.11\n 10 26.05'

	# The other class, with jobs that run there.
	submit 5 -n1 -J waiting --pm-mode=memory -x 'n[1-10]' "$(script_until go.3)"
	late=$job
	admin scontrol update jobid="$late" nice=-1000
	wait_for 300 running_are "$late" 5
	for node in "${b[@]}"; do
		upgrade_node "$node"
	done
	running_are "$late" 5
	touch "$(bench_dir)/home/go.3"
	versions_are ' 15 26.05'

	# The login node last: the plugin goes with its Slurm.
	run on_new_login "$OLD" sbatch --pm-mode=memory --wrap=true
	assert_failure
	assert_output --partial 'Incompatible plugin version'
	run on_new_login "$NEXT" sbatch --parsable --array=1-2 --output="$(bench_dir)/home/out.%A_%a" --pm-mode=memory \
		--wrap='pmctl mode; srun pmctl mode'
	assert_success
	queued+=("$output")
	submitted=$((submitted + 2))

	touch "$(bench_dir)/home/go.2"
	wait_for 600 no_jobs
	assert_equal "$(completed)" "$submitted"
	assert_equal "$submitted" 133
	ran_in "$first" appdirect 10
	ran_in "$still" appdirect 10
	ran_in "$configuring" memory 5
	ran_in "${queued[0]}" appdirect 40
	ran_in "${queued[1]}" memory 30
	ran_in "${queued[2]}" any 30
	ran_in "${queued[3]}" appdirect 1
	ran_in "$late" memory 5
	ran_in "${queued[4]}" memory 2
	no_node_has_left
	assert_equal "$(aside)" ''
}

@test "a job that waits for a node of its mode waits on over the upgrade of slurmctld and pm-controller, and runs there" {
	local occupant hold boot
	bench_with 2 HoldTime=60
	put_in memory n1
	put_in appdirect n2
	bench service kill
	rm -f "$(bench_dir)"/kept/reboots* # these took a second: no wait were cheaper
	bench service start
	wait_for 60 lease_is_in_force
	run_client sbatch --parsable --output=/dev/null -J waiting -w n1 --pm-mode=memory --time=10 --wrap='sleep 500'
	occupant=$output
	wait_for 60 job_is "$occupant" RUNNING
	boot=$(boot_id n2)
	run_client sbatch --parsable --output="$(bench_dir)/home/out" --pm-mode=memory --time=5 --wrap='pmctl mode'
	job=$(grep -oE '^[0-9]+' <<<"$output")
	wait_for 60 is_held "$job"
	hold=$(hold_of "$job")

	upgrade_slurmctld
	has_looked # with the libslurm of 24.11
	is_held "$job"
	bench service start
	has_looked
	wait_for 60 lease_is_in_force
	assert_equal "$(hold_of "$job")" "$hold"
	is_held "$job"
	upgrade_node n1
	upgrade_node n2
	job_is "$occupant" RUNNING

	# A slurmd with the plugin of another series does not start: its node gets no job.
	replace "$OLD/spank_pmem.so" "$(bench_dir)/n2/lib/spank_pmem.so"
	run bench restart-slurmd --gently n2
	assert_failure
	run tail -n 4 "$(bench_dir)/log/slurmd.n2.log"
	assert_output --partial 'Incompatible plugin version'
	wait_for 60 state_is n2 'idle*'
	replace "$NEXT/spank_pmem.so" "$(bench_dir)/n2/lib/spank_pmem.so"
	bench restart-slurmd n2
	wait_for 60 state_is n2 idle

	is_held "$job"
	admin scancel "$occupant"
	wait_for 60 job_is "$job" COMPLETED
	assert_equal "$(cat "$(bench_dir)/home/out")" memory
	assert_equal "$(admin scontrol show job "$job" | sed -n 's/^ *NodeList=//p')" n1
	assert_equal "$(boot_id n2)" "$boot"
	assert_equal "$(aside)" ''
}

not_read='fatal: Can not recover assoc_usage state, incompatible version, got 11520'

has_no() { [ -z "$(bench_pids "$1")" ]; }
has_job() { [ "$(admin squeue -h -j "$1" -o %T 2>/dev/null)" = PENDING ]; }
# known_to_sacct JOB: as slurmdbd has it.
known_to_sacct() { [ "$(admin sacct -Xn -j "$1" -o State%9 | tr -d ' ')" = "$2" ]; }
copy_database() {
	bench daemon end mariadbd primary
	wait_for 60 has_no mariadbd
	cp -a "$(bench_dir)/mariadb" "$(bench_dir)/mariadb.before"
	bench daemon start mariadbd primary
	wait_for 60 test -S "$(bench_dir)/run/mariadb.socket"
}

@test "slurmdbd is upgraded first, with its database; back to 24.11 the copies lead alone, of state and of database" {
	local dir ended waiting later
	more=(--accounting)
	bench_with 2
	dir=$(bench_dir)
	put_in memory n1
	run_client sbatch --parsable --wait --output=/dev/null --pm-mode=memory --wrap=true
	ended=$output
	run_client sbatch --parsable --begin=now+1hour --output="$dir/home/out" --pm-mode=memory --wrap='pmctl mode'
	waiting=$output
	wait_for 60 known_to_sacct "$ended" COMPLETED

	# slurmdbd: a copy of its database first.
	bench daemon end slurmdbd primary
	wait_for 60 has_no slurmdbd
	copy_database
	mkdir "$dir/database"
	echo $USR >"$dir/database/usr"
	bench daemon start slurmdbd primary
	wait_for 120 grep -q 'slurmdbd version 26.05.* started' "$dir/log/slurmdbd.log"
	wait_for 60 known_to_sacct "$ended" COMPLETED
	run_client sbatch --parsable --wait --output=/dev/null --pm-mode=memory --wrap=true # under slurmctld 24.11
	wait_for 60 known_to_sacct "$output" COMPLETED

	# slurmctld: a copy of its state, with slurmctld ended.
	bench daemon end slurmctld primary
	wait_for 60 has_no slurmctld
	cp -a "$dir/state" "$dir/state.before"
	upgrade_slurmctld
	bench service start
	has_job "$waiting"
	wait_for 60 state_is n1 idle
	run_client sbatch --parsable --wait --output=/dev/null --pm-mode=memory --wrap=true
	later=$output
	wait_for 60 known_to_sacct "$later" COMPLETED

	# Back: slurmctld of 24.11 does not read what 26.05 has saved.
	bench daemon end slurmctld primary
	wait_for 60 has_no slurmctld
	rm -r "$dir/controller"
	sed -i 's/^pm.slurm_version = .*/pm.slurm_version = 24.11/' "$dir/etc/job_submit.lua"
	: >"$dir/log/slurmctld.log"
	bench daemon start slurmctld primary
	wait_for 60 grep -q "$not_read" "$dir/log/slurmctld.log"
	wait_for 60 has_no slurmctld

	# slurmdbd of 24.11 refuses nothing: it takes out of the database what it does not know.
	bench daemon end slurmdbd primary
	wait_for 60 has_no slurmdbd
	rm -r "$dir/database"
	: >"$dir/log/slurmdbd.log"
	bench daemon start slurmdbd primary
	wait_for 60 grep -q 'slurmdbd version 24.11.* started' "$dir/log/slurmdbd.log"
	grep -q 'dropping column std_out from table "bench_step_table"' "$dir/log/slurmdbd.log"

	# With both copies.
	bench daemon end slurmdbd primary
	wait_for 60 has_no slurmdbd
	bench daemon end mariadbd primary
	wait_for 60 has_no mariadbd
	rm -rf "$dir/mariadb" "$dir/state"
	cp -a "$dir/mariadb.before" "$dir/mariadb"
	cp -a "$dir/state.before" "$dir/state"
	bench daemon start mariadbd primary
	wait_for 60 test -S "$dir/run/mariadb.socket"
	bench daemon start slurmdbd primary
	wait_for 60 known_to_sacct "$ended" COMPLETED
	bench daemon start slurmctld primary
	bench service start
	bench restart-slurmd n1
	bench restart-slurmd n2
	wait_for 60 all_have_modes 2
	has_job "$waiting"
	known_to_sacct "$later" ''
	admin scontrol update jobid="$waiting" starttime=now
	wait_for 120 job_is "$waiting" COMPLETED
	assert_equal "$(cat "$dir/home/out")" memory
	wait_for 60 known_to_sacct "$waiting" COMPLETED
	no_node_has_left
}
