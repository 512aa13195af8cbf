#!/usr/bin/env bats
# pmrun alone and under real mpirun, on this host as it is.
# shellcheck disable=SC2154 # output, stderr and status are set by run
bats_require_minimum_version 1.5.0

setup() {
	bats_load_library bats-support
	bats_load_library bats-assert
	cd "$BATS_TEST_DIRNAME/../.." || return
	build=${PM_BUILD:-$PWD/build}
	export XDG_RUNTIME_DIR=$BATS_TEST_TMPDIR
	unset "${!PM_@}" "${!OMP_@}" "${!SLURM_@}" "${!PMI_@}" "${!PMIX_@}" "${!OMPI_@}" LD_PRELOAD
	preloaded=$(realpath "$(gcc -print-file-name=libm.so.6)")
}

pmrun() {
	"$build/pmrun" "$@"
}

# Ranks beyond the processors of a small host would be refused, so what is not about binding does without.
unbound() {
	pmrun --pm-bind=none "$@"
}

run_mpi() {
	local mpi=$1 n=$2
	shift 2
	[ -x "/usr/bin/mpirun.$mpi" ] || skip "there is no mpirun.$mpi"
	case $mpi in
	openmpi) OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 mpirun.openmpi --oversubscribe -n "$n" "$@" ;;
	mpich) mpirun.mpich -n "$n" "$@" ;;
	esac
}

mpi_program() {
	[ -e "/usr/bin/mpicc.$1" ] || skip "there is no mpicc.$1"
	"mpicc.$1" -o "$BATS_TEST_TMPDIR/ranks" tests/unit/mpi_ranks.c
}

two_cpus() {
	[ "$(nproc)" -ge 2 ] || skip "one processor only"
}

# --- words ---

@test "a value that cannot be is refused with its source and what to write" {
	local -A bad=(
		[pm-dram]="4GB|write a size like 4G, 2M at least, or auto"
		[pm-bind]="core|write socket or none"
		[pm-policy]="first-touch|write dram-first, pm-only, interleave, weighted or none"
		[pm-distribution]="random|write block or cyclic"
		[pm-threads]="0|write a number from 1 to 65536"
		[pm-smt]="yes|write no, threads or helpers"
	)
	for name in "${!bad[@]}"; do
		value=${bad[$name]%%|*} cure=${bad[$name]#*|}
		run -2 pmrun "--$name=$value" true
		assert_output "pmrun: --$name='$value': $cure"
		twin=${name^^}
		run -2 env "${twin//-/_}=$value" "$build/pmrun" true
		assert_output "pmrun: ${twin//-/_}='$value': $cure"
	done
}

@test "a size of less than the least is refused, the least is not" {
	run -2 pmrun --pm-dram=1M true
	run -0 pmrun --pm-dram=2M true
}

@test "unknown options, missing arguments and missing programs are wrong usage" {
	run -2 pmrun --pm-what true
	assert_output "pmrun: unknown option '--pm-what', try 'pmrun --help'"
	run -2 pmrun --pm-dram
	assert_output --partial "missing argument after '--pm-dram'"
	run -2 pmrun
	assert_output --partial "a program is missing"
	run -2 pmrun -n x true
	assert_output --partial "-n='x'"
	run -2 pmrun --topology=/nonexistent.xml true
	assert_output --partial "add --plan"
}

@test "an option wins over its variable, an empty variable is none" {
	PM_DRAM=nonsense run -0 pmrun --pm-dram=auto true
	PM_DRAM='' run -0 pmrun true
	PM_DRAM=4M run -0 pmrun sh -c 'echo $PM_RANK_DRAM'
	assert_output 4194304
	PM_DRAM=4M run -0 pmrun --pm-dram=8M sh -c 'echo $PM_RANK_DRAM'
	assert_output 8388608
}

@test "what stands behind the program is the program's" {
	run -0 pmrun echo --help -n 3 --pm-dram=nonsense
	assert_output -- "--help -n 3 --pm-dram=nonsense"
	run -0 pmrun -- echo -n
	assert_output ""
}

# --- becoming the program ---

@test "pmrun becomes the program: its number, its stdin, its exit status, its signals" {
	run -0 sh -c "echo \$\$; exec '$build/pmrun' sh -c 'echo \$\$'"
	assert_equal "${lines[0]}" "${lines[1]}"
	run -0 sh -c "echo words | '$build/pmrun' cat"
	assert_output words
	run -7 pmrun sh -c 'exit 7'
	run -143 pmrun sh -c 'kill -TERM $$'
}

@test "a program that cannot be run is told of as a shell would" {
	run -127 pmrun nonexistent-program
	assert_output "pmrun: program 'nonexistent-program': not found in PATH"
	run -127 pmrun ./nonexistent
	assert_output "pmrun: program './nonexistent': there is no such file"
	run -126 pmrun /
	assert_output --partial "it may not be executed"
	touch "$BATS_TEST_TMPDIR/plain"
	PATH=$BATS_TEST_TMPDIR:$PATH run -126 pmrun plain
	assert_output --partial "chmod +x"
}

@test "the rank is told its share, and what the user has set for OpenMP stays" {
	run -0 pmrun env
	assert_line --regexp '^PM_RANK_DRAM=[1-9][0-9]*$'
	assert_line --regexp '^PM_SPACES=metadata=[0-9]+,temporary=[0-9]+,migration=[0-9]+,free=[0-9]+$'
	assert_line --regexp '^PM_NODE_DRAM=[0-9]'
	assert_line --regexp '^OMP_NUM_THREADS=[1-9]'
	assert_line --regexp '^OMP_PLACES=(threads|cores)$'
	assert_line PM_LOCAL_RANK=0
	assert_line PM_LOCAL_SIZE=1
	refute_line --regexp '^LD_PRELOAD='
	OMP_NUM_THREADS=77 OMP_PLACES=sockets run -0 pmrun env
	assert_line OMP_NUM_THREADS=77
	assert_line OMP_PLACES=sockets
}

@test "what an outer plan has left behind is not handed on" {
	PM_HELPER_CPUS=900 PM_NODE_PMEM=900 run -0 pmrun env
	refute_line --partial '900'
}

@test "the spaces add up to the budget" {
	run -0 pmrun --pm-dram=40M sh -c 'echo "$PM_RANK_DRAM $PM_SPACES"'
	[[ $output =~ ^41943040\ metadata=([0-9]+),temporary=([0-9]+),migration=([0-9]+),free=([0-9]+)$ ]]
	[ $((BASH_REMATCH[1] + BASH_REMATCH[2] + BASH_REMATCH[3] + BASH_REMATCH[4])) -eq 41943040 ]
}

@test "pmrun binds to what it plans, and none leaves all alone" {
	two_cpus
	run -0 taskset -c 1 "$build/pmrun" sh -c 'taskset -cp $$; cat /proc/self/numa_maps'
	assert_line --index 0 --regexp 'list: 1$'
	assert_line --regexp ' (bind|prefer \(many\)|prefer)'
	run -0 taskset -c 1 "$build/pmrun" --pm-bind=none sh -c 'taskset -cp $$; cat /proc/self/numa_maps'
	assert_line --index 0 --regexp 'list: 1$'
	refute_line --regexp ' bind'
	assert_line --regexp '^[0-9a-f]+ default'
}

@test "more DRAM than there is is refused with the sum" {
	run -1 pmrun --pm-dram=8000T true
	assert_output --regexp '^pmrun: .* needs 8388608000M .*; at most --pm-dram=[0-9]+M fits$'
}

@test "directories of the job's sockets become PM_DIR" {
	PM_DIR0=/mnt/a PM_DIR0_SOCKET=0 run -0 pmrun sh -c 'echo $PM_DIR'
	assert_output /mnt/a
	PM_DIR0=/mnt/a PM_DIR0_SOCKET=first run -1 pmrun true
	assert_output --partial "PM_DIR0_SOCKET='first'"
}

# --- runtimes ---

@test "a runtime is put in front of what is preloaded" {
	run -0 pmrun "--pm-runtime=$preloaded" env
	assert_line --regexp "^LD_PRELOAD=/[^:]*/libm\.so\.6$"
	LD_PRELOAD=$preloaded PM_RUNTIME=$preloaded run -0 pmrun env
	assert_line --regexp "^LD_PRELOAD=/[^:]*/libm\.so\.6:$preloaded$"
	PM_RUNTIME=$preloaded run -0 pmrun --pm-runtime=none env
	refute_line --regexp '^LD_PRELOAD='
}

@test "a runtime that is not there is refused" {
	run -1 pmrun --pm-runtime=nonexistent true
	assert_output --regexp "^pmrun: --pm-runtime: runtime 'nonexistent': '/.*/libpmnonexistent.so': No such file"
}

@test "a runtime that will not attach is told of, and the program runs" {
	[ -x /bin/busybox ] && ! ldd /bin/busybox >/dev/null 2>&1 || skip "no static busybox"
	run -0 --separate-stderr pmrun "--pm-runtime=$preloaded" /bin/busybox echo runs
	assert_output runs
	[[ $stderr == *"will not attach to '/bin/busybox': it is statically linked"* ]]
	run -0 --separate-stderr pmrun "--pm-runtime=$preloaded" echo runs
	[ -z "$stderr" ]
	run -0 --separate-stderr pmrun /bin/busybox echo runs
	[ -z "$stderr" ]
}

stand_in() {
	gcc -shared -fPIC -o "$BATS_TEST_TMPDIR/runtime.so" tests/unit/stand_in_runtime.c
	run -0 --separate-stderr unbound -n 3 "--pm-runtime=$BATS_TEST_TMPDIR/runtime.so" "$@"
}

assert_missing() {
	[[ $stderr == *"pmrun: runtime '$BATS_TEST_TMPDIR/runtime.so' did not attach in rank $1 of 3: only the memory policy placed memory there" ]]
}

@test "-n: at the end the ranks are told in which the runtime did not attach" {
	[ -x /bin/busybox ] && ! ldd /bin/busybox >/dev/null 2>&1 || skip "no static busybox"
	stand_in true
	[ -z "$stderr" ]
	stand_in /bin/busybox true
	assert_missing 0-2
	stand_in sh -c 'exit 0'
	[ -z "$stderr" ]
	run -0 --separate-stderr unbound -n 3 "--pm-runtime=$preloaded" /bin/busybox true
	[[ $stderr != *"did not attach"* ]]
}

@test "-n: a program with other rights has no runtime, and one that cannot be executed is none" {
	[ "$(id -u)" -eq 0 ] || skip "makes a file of another user's"
	install -o nobody -m 4755 /bin/true "$BATS_TEST_TMPDIR/setuid"
	stand_in "$BATS_TEST_TMPDIR/setuid"
	assert_missing 0-2
	printf '#!/nonexistent\n' >"$BATS_TEST_TMPDIR/bad"
	chmod 755 "$BATS_TEST_TMPDIR/bad"
	run -127 --separate-stderr unbound -n 2 "--pm-runtime=$BATS_TEST_TMPDIR/runtime.so" "$BATS_TEST_TMPDIR/bad"
	[[ $stderr != *"did not attach"* ]]
}

@test "a pmrun that becomes the program hands on a roll of its own, and no other's expectation" {
	gcc -shared -fPIC -o "$BATS_TEST_TMPDIR/runtime.so" tests/unit/stand_in_runtime.c
	# shellcheck disable=SC2016
	PM_ATTACH_FD=2 run -0 --separate-stderr pmrun "--pm-runtime=$BATS_TEST_TMPDIR/runtime.so" \
		sh -c 'readlink "/proc/self/fd/$PM_ATTACH_FD"'
	[ -z "$stderr" ]
	assert_output --partial slurm-pmem-ranks
	PM_ATTACH_FD=2 run -0 --separate-stderr pmrun env
	refute_line --partial PM_ATTACH_FD
}

# --- ranks of its own ---

@test "-n starts ranks that know who they are" {
	run -0 unbound -n 4 sh -c 'echo $PM_LOCAL_RANK of $PM_LOCAL_SIZE'
	for rank in 0 1 2 3; do
		assert_line "$rank of 4"
	done
	assert_equal "${#lines[@]}" 4
}

@test "-n: only rank 0 has the standard input" {
	run -0 sh -c "echo words | '$build/pmrun' --pm-bind=none -n 2 sh -c 'echo \$PM_LOCAL_RANK: \$(cat)'"
	assert_line "0: words"
	assert_line "1:"
	run -0 sh -c "echo words | '$build/pmrun' --pm-bind=none -n 2 sh -c 'echo \$PM_LOCAL_RANK: \$(readlink /proc/\$\$/fd/0)'"
	assert_line --partial "0: pipe:"
	assert_line "1: /dev/null"
}

@test "-n: the exit status is that of the first that fails" {
	run -0 unbound -n 3 true
	run -5 unbound -n 3 sh -c '[ $PM_LOCAL_RANK -ne 1 ] || exit 5'
	run -137 unbound -n 2 sh -c '[ $PM_LOCAL_RANK -ne 1 ] || kill -KILL $$'
	mkfifo "$BATS_TEST_TMPDIR/go"
	run -6 unbound -n 2 sh -c "if [ \$PM_LOCAL_RANK = 0 ]; then read -r x <'$BATS_TEST_TMPDIR/go'; exit 9
		else (while kill -0 \$\$ 2>&-; do sleep 0.1; done; echo go >'$BATS_TEST_TMPDIR/go') & exit 6; fi"
}

@test "-n: it also ends when its parent does not care for children" {
	run -0 timeout -k 1 20 sh -c "trap '' CHLD; exec '$build/pmrun' --pm-bind=none -n 2 true"
	run -0 timeout -k 1 20 /usr/bin/python3 -c "
import os, signal
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
os.execv('$build/pmrun', ['pmrun', '--pm-bind=none', '-n', '2', 'true'])"
}

# start_pair LINE : a pair of ranks in the background that run LINE once both have said that they are ready
start_pair() {
	"$build/pmrun" --pm-bind=none -n 2 sh -c "$1; echo \$\$ >'$BATS_TEST_TMPDIR/ready'\$PM_LOCAL_RANK
		i=0; while [ \$i -lt 200 ]; do sleep 0.1; i=\$((i+1)); done" 3>&- &
	pair=$!
	for _ in $(seq 200); do
		[ ! -s "$BATS_TEST_TMPDIR/ready0" ] || [ ! -s "$BATS_TEST_TMPDIR/ready1" ] || return 0
		sleep 0.05
	done
	return 1
}

@test "-n: a signal to pmrun reaches all ranks" {
	start_pair "trap 'echo got >$BATS_TEST_TMPDIR/got\$PM_LOCAL_RANK; exit 3' USR1"
	kill -USR1 "$pair"
	status=0
	wait "$pair" || status=$?
	assert_equal "$status" 3
	assert [ -s "$BATS_TEST_TMPDIR/got0" ]
	assert [ -s "$BATS_TEST_TMPDIR/got1" ]
}

@test "-n: ranks do not outlive pmrun" {
	start_pair ":"
	kill -KILL "$pair"
	wait "$pair" || true
	for _ in $(seq 100); do
		kill -0 "$(cat "$BATS_TEST_TMPDIR/ready0")" 2>/dev/null ||
			kill -0 "$(cat "$BATS_TEST_TMPDIR/ready1")" 2>/dev/null || return 0
		sleep 0.1
	done
	return 1
}

@test "-n: a terminal's Ctrl-C reaches each rank once" {
	run -0 timeout -k 1 60 tests/unit/terminal_keys.py "$build/pmrun"
	# A terminal ends both lines by itself, perhaps behind both.
	assert_equal "$(grep -oE 'times [0-9]+' <<<"$output")" $'times 1\ntimes 1'
	assert_line "ended with 0"
}

# --- plans ---

@test "anybody may plan, without configuration" {
	[ "$(id -u)" -ne 0 ] || drop="setpriv --reuid 65534 --regid 65534 --clear-groups"
	run -0 ${drop-} "$build/pmrun" --plan -n 1
	assert_line --index 0 --regexp '^1 rank on [0-9]+ socket'
	assert_line --regexp '^NODE  KIND'
	assert_line --regexp '^RANK  SOCKET'
}

@test "a plan as JSON and as a picture is well formed" {
	run -0 sh -c "'$build/pmrun' --json -n 1 | /usr/bin/python3 -c 'import json, sys; print(len(json.load(sys.stdin)[\"ranks\"]))'"
	assert_output 1
	run -0 pmrun --svg="$BATS_TEST_TMPDIR/plan.svg" -n 1
	assert_output ""
	run -0 /usr/bin/python3 -c "import xml.dom.minidom as m; print(m.parse('$BATS_TEST_TMPDIR/plan.svg').documentElement.tagName)"
	assert_output svg
	run -0 pmrun --plan --svg=/dev/null -n 1
	assert_line --regexp '^RANK'
	run -1 pmrun --svg=/nonexistent/plan.svg -n 1
	assert_output "pmrun: --svg: open '/nonexistent/plan.svg': No such file or directory"
	run -1 pmrun --svg=/dev/full -n 1
	assert_output --partial "--svg: write '/dev/full'"
}

@test "every recorded machine has a plan, as JSON and as a picture" {
	for machine in tests/fixtures/topology/*.xml; do
		run -0 pmrun --json --svg="$BATS_TEST_TMPDIR/plan.svg" --pm-bind=none -n 3 --topology="$machine"
		/usr/bin/python3 - "$BATS_TEST_TMPDIR/plan.svg" 3<<<"$output" <<-'END'
			import json, sys, xml.dom.minidom
			assert len(json.load(open(3))["ranks"]) == 3
			picture = xml.dom.minidom.parse(sys.argv[1]).documentElement
			assert any("rank 2" in t.firstChild.data for t in picture.getElementsByTagName("title"))
		END
	done
}

# planned EXPRESSION: of the plan as JSON, in Python.
planned() {
	/usr/bin/python3 -c 'import json, sys; plan = json.load(sys.stdin); print(eval(sys.argv[1]))' "$1" <<<"$output"
}

@test "a plan for a machine in a few words" {
	run -0 pmrun --json -n 4 --machine=2x24,96G+768G
	assert_equal "$(planned '[(node["node"], node["kind"], node["bytes"] >> 30) for node in plan["machine"]["memory"]]')" \
		"[(0, 'dram', 96), (1, 'dram', 96), (2, 'pmem', 768), (3, 'pmem', 768)]"
	assert_equal "$(planned '[(rank["cpus"], rank["pmem_nodes"]) for rank in plan["ranks"]]')" \
		"[('0-11', '2'), ('12-23', '2'), ('24-35', '3'), ('36-47', '3')]"
	run -0 pmrun --json -n 1 --machine=1x4x2,64G --pm-smt=threads
	assert_equal "$(planned 'len(plan["machine"]["memory"]), plan["ranks"][0]["cpus"], plan["ranks"][0]["threads"]')" "(1, '0-7', 8)"
	run -0 pmrun --plan --machine=1x1,2G --svg="$BATS_TEST_TMPDIR/plan.svg"
	run -2 pmrun --machine=2x24,96G true
	assert_output 'pmrun: --machine describes another machine, so no program can be started: add --plan'
	run -2 pmrun --plan --machine=1x1,2G --topology=x.xml
	assert_output 'pmrun: --topology and --machine exclude each other'
	for words in 2x24 0x4,1G 2x2x2x2,1G 64x64,1G 65x1,1G 1x1x9,1G 'x,' ''; do
		run -1 pmrun --plan --machine="$words"
		assert_output "pmrun: --machine: '$words': write SOCKETSxCORES,DRAM+PMEM of each socket, as 2x24,96G+768G"
	done
	run -1 pmrun --plan --machine=2x24,96GB+768G
	assert_output "pmrun: --machine: '96GB' is not a size; write a whole number and K, M, G or T, as 96G"
	run -1 pmrun --plan --machine=2x24,96G+
	assert_output "pmrun: --machine: '' is not a size; write a whole number and K, M, G or T, as 96G"
}

# scontrol prints what it does for two nodes of Slurm 24.11, shortened; n3 has fewer cores, n4 is not known.
slurm_site() {
	conf=$BATS_TEST_TMPDIR/site
	[ "$(id -u)" -ne 0 ] || conf=/run/pmrun-bats.$$
	mkdir -p "$conf"
	chmod 755 "$conf"
	cat >"$conf/scontrol" <<-'END'
		#!/bin/sh
		node() { echo "NodeName=$1 Arch=x86_64 CoresPerSocket=$2  CPUAlloc=0 CPUTot=96 RealMemory=900000 Sockets=2 Boards=1 State=IDLE ThreadsPerCore=2 TmpDisk=0 "; }
		case "$*" in
		"--local --oneliner show node n1") node n1 24 ;;
		"--local --oneliner show node n[1-2]") node n1 24; node n2 24 ;;
		"--local --oneliner show node n[1-3]") node n1 24; node n2 24; node n3 16 ;;
		"--local --oneliner show node n3") node n3 16 ;;
		"--local --oneliner show partition main") echo "PartitionName=main AllowGroups=ALL ExclusiveUser=NO Nodes=n[1-2] State=UP" ;;
		"--local --oneliner show partition all") echo "PartitionName=all AllocNodes=ALL Nodes=n[1-3] State=UP" ;;
		"--local --oneliner show partition none") echo "PartitionName=none Nodes=(null) State=UP" ;;
		*) echo "Node n4 not found"; exit 1 ;;
		esac
	END
	chmod 755 "$conf/scontrol"
	printf '%s\n' "ScontrolPath=$conf/scontrol" "$@" >"$conf/pmem.conf"
	chmod 644 "$conf/pmem.conf"
}

@test "a plan for a node of Slurm, or for those of a partition" {
	slurm_site UsableMemory=memory:1500G,appdirect:180G,flat:1700G
	run -0 --separate-stderr pmrun --config="$conf/pmem.conf" --json -n 4 --node=n1
	assert_equal "$stderr" "pmrun: --node=n1 is planned as --machine=2x24x2,92160M+778240M: cores as in Slurm, memory as jobs get it by pmem.conf"
	assert_equal "$(planned '[(node["node"], node["kind"], node["bytes"] >> 30) for node in plan["machine"]["memory"]]')" \
		"[(0, 'dram', 90), (1, 'dram', 90), (2, 'pmem', 760), (3, 'pmem', 760)]"
	assert_equal "$(planned 'plan["ranks"][3]["pmem_nodes"], len(plan["ranks"])')" "('3', 4)"
	run -0 pmrun --config="$conf/pmem.conf" --plan -n 4 --partition=main
	assert_line --partial "pmrun: --partition=main is planned as --machine=2x24x2,92160M+778240M"
	run -1 pmrun --config="$conf/pmem.conf" --plan --partition=all
	assert_output "pmrun: --partition: 'n1' is 2x24x2,92160M+778240M and 'n3' is 2x16x2,92160M+778240M; name one of them by --node"
	run -1 pmrun --config="$conf/pmem.conf" --plan --partition=none
	assert_output "pmrun: --partition: partition 'none' has no nodes"
	run -1 pmrun --config="$conf/pmem.conf" --plan --node=n4
	assert_output --partial "ended with status 1, printed: 'Node n4 not found'"
	run -2 pmrun --config="$conf/pmem.conf" --node=n1 true
	assert_output 'pmrun: --node describes another machine, so no program can be started: add --plan'
	run -2 pmrun --plan --node=n1 --partition=main
	assert_output 'pmrun: --node and --partition exclude each other'
	rm -rf "$conf"
}

@test "the memory of a node of Slurm is that of its lines of pmem.conf; a key that is missing is named" {
	slurm_site UsableMemory=appdirect:100G UsablePmem=500G 'NodeName=n3 UsableMemory=appdirect:60G'
	run -0 pmrun --config="$conf/pmem.conf" --plan --node=n1
	assert_line --partial ' is planned as --machine=2x24x2,51200M+512000M: '
	run -0 pmrun --config="$conf/pmem.conf" --plan --node=n3
	assert_line --partial ' is planned as --machine=2x16x2,30720M+512000M: '
	slurm_site
	run -1 pmrun --config="$conf/pmem.conf" --plan --node=n1
	assert_output "pmrun: --node: pmem.conf has no UsableMemory=appdirect:SIZE for 'n1', the size of its DRAM; write --machine=2x24x2,DRAM+PMEM"
	slurm_site UsableMemory=appdirect:180G
	run -1 pmrun --config="$conf/pmem.conf" --plan --node=n1
	assert_output "pmrun: --node: pmem.conf has neither UsableMemory=flat:SIZE nor UsablePmem for 'n1', the size of its persistent memory; write --machine=2x24x2,DRAM+PMEM"
	rm -rf "$conf"
}

@test "a topology that cannot be read is told of" {
	run -1 pmrun --plan --topology=/nonexistent.xml
	assert_output --regexp "^pmrun: --topology.*'/nonexistent.xml': No such file"
	run -1 pmrun --plan --topology=Makefile
	assert_output --regexp "^pmrun: --topology.*'Makefile': it is not a topology of hwloc; 'lstopo FILE.xml' writes one$"
}

@test "a plan is for the processors that we may use" {
	two_cpus
	run -0 taskset -c 1 "$build/pmrun" --json -n 1
	assert_line --regexp '"cpus": ?"1"'
}

@test "--pm-verbose prints the plan on stderr and starts the program" {
	run -0 --separate-stderr pmrun --pm-verbose echo runs
	assert_output runs
	[[ $stderr == *"RANK  SOCKET"* ]]
	PM_VERBOSE=1 run -0 --separate-stderr pmrun echo runs
	[[ $stderr == *"RANK  SOCKET"* ]]
	PM_VERBOSE=0 run -0 --separate-stderr pmrun echo runs
	[ -z "$stderr" ]
}

# configure LINE: a pmem.conf as root and others may have it, $conf.
configure() {
	[ "$(id -u)" -ne 0 ] || conf=$(mktemp /run/pmrun-bats.XXXXXX)
	echo "$1" >"${conf:=$BATS_TEST_TMPDIR/pmem.conf}"
}

@test "where the site says how much is temporary, a runtime is told to leave it so, unless the user says otherwise" {
	configure TemporarySpace=8M
	PM_SIZING=measured run -0 pmrun --config="$conf" sh -c 'echo "<$PM_SIZING>"'
	user=$output
	run -0 pmrun --config="$conf" sh -c 'echo "<$PM_SIZING>"'
	rm "$conf"
	assert_output '<fixed>'
	assert_equal "$user" '<measured>'
	configure TemporarySpace=none
	run -0 pmrun --config="$conf" sh -c 'echo "<$PM_SIZING>"'
	rm "$conf"
	assert_output '<>'
}

@test "a configuration with a slip is refused with its line" {
	configure NoSuchKey=1
	run -2 pmrun --config="$conf" true
	rm "$conf"
	assert_output --partial "pmrun: $conf:1: unknown key 'NoSuchKey'"
}

# --- the site profile ---

# site_profile CLASS: of the fixture, in a folder as root and others may have it, $profiles, with a configuration for it.
site_profile() {
	[ "$(id -u)" -ne 0 ] || profiles=$(mktemp -d /run/pmrun-bats.XXXXXX)
	: "${profiles:=$BATS_TEST_TMPDIR}"
	chmod 755 "$profiles"
	cp tests/fixtures/site-profiles/round.json "$profiles/$1.json"
	printf '%s\n' "SiteProfile=$1" "SiteProfileDir=$profiles" >"${conf:=$profiles/pmem.conf}"
}

BANDWIDTHS='1 class=round-numbers ranks=1 in=1:3000000000,2:6000000000,8:20000000000 out=1:2000000000,2:4000000000,4:6000000000 peak=39000000000,13000000000'

@test "ranks get the bandwidths of the site profile of their node's class, or of one that is asked for" {
	site_profile round-numbers
	run -0 pmrun --config="$conf" printenv PM_MODEL
	assert_output "$BANDWIDTHS"
	run -0 pmrun --config="$conf" --plan
	assert_line --regexp ', bandwidths of site profile round-numbers$'
	run -0 pmrun --config="$conf" --json
	assert_output --regexp '"site_profile": ?"round-numbers"'
	run -1 pmrun --config="$conf" --pm-site-profile=none printenv PM_MODEL
	assert_output ''
	run -1 pmrun --config="$conf" --pm-bind=none printenv PM_MODEL
	assert_output ''
	rm -r "$profiles"
	run -0 pmrun --pm-site-profile=tests/fixtures/site-profiles/round.json printenv PM_MODEL
	assert_output "$BANDWIDTHS"
	PM_MODEL=stale run -1 pmrun printenv PM_MODEL
	assert_output ''
}

@test "a site profile that cannot be used costs the ranks their bandwidths, or the start where it is asked for" {
	site_profile another
	run -0 pmrun --config="$conf" sh -c 'echo "<$PM_MODEL>"'
	assert_line "pmrun: SiteProfile=another: site profile '$profiles/another.json': it is of class 'round-numbers'; the ranks get no PM_MODEL"
	assert_line '<>'
	run -1 pmrun --config="$conf" --pm-site-profile=another true
	assert_output "pmrun: --pm-site-profile: site profile '$profiles/another.json': it is of class 'round-numbers'"
	PM_SITE_PROFILE=absent run -1 pmrun --config="$conf" true
	assert_output --partial "pmrun: PM_SITE_PROFILE: "
	rm -r "$profiles"
}

# --- under srun, without the plugin ---

as_task() {
	env SLURM_LOCALID=0 SLURM_NODEID=0 SLURM_STEP_TASKS_PER_NODE=1 "$@"
}

@test "srun: a step has the processors that Slurm has bound its ranks to" {
	two_cpus
	run -0 as_task SLURM_CPU_BIND_TYPE=mask_cpu: SLURM_CPU_BIND_LIST=0x2 "$build/pmrun" sh -c 'taskset -cp $$'
	assert_output --regexp 'list: 1$'
}

@test "srun: what the user has said of binding wins, unless he says otherwise to pmrun" {
	two_cpus
	run -0 as_task SLURM_CPU_BIND_TYPE=map_cpu: SLURM_CPU_BIND_LIST=1 taskset -c 1 "$build/pmrun" sh -c 'taskset -cp $$'
	assert_line --partial "srun --cpu-bind=map_cpu"
	assert_line --regexp 'list: 1$'
	run -0 as_task SLURM_CPU_BIND_TYPE=map_cpu: SLURM_CPU_BIND_LIST=1 PM_BIND=socket taskset -c 1 "$build/pmrun" sh -c 'taskset -cp $$'
	refute_line --regexp 'list: 1$'
	refute_line --partial "srun"
}

# --- under srun, with the plugin ---

@test "srun: what the plugin has planned for this step is not planned again" {
	export SLURM_JOB_ID=12 SLURM_STEP_ID=0 PM_PLANNED=12.0 PM_RANK_DRAM=7 PM_BIND=socket
	run -0 as_task "$build/pmrun" sh -c 'echo $PM_RANK_DRAM; exit 0'
	assert_output 7
	run -3 as_task "$build/pmrun" sh -c 'exit 3'
	run -127 as_task "$build/pmrun" no-such-program
	run -0 as_task "$build/pmrun" --pm-bind=none sh -c 'echo $PM_RANK_DRAM'
	refute_output 7
	PM_PLANNED=12.1 run -0 as_task PM_BIND=none "$build/pmrun" sh -c 'echo $PM_RANK_DRAM'
	refute_output 7
	PM_PLANNED=1.0 run -0 as_task PM_BIND=none "$build/pmrun" sh -c 'echo $PM_RANK_DRAM'
	refute_output 7
}

# --- under mpirun ---

# each_rank MPI : two ranks of a real MPI program get half of the machine each
each_rank() {
	two_cpus
	mpi_program "$1"
	run -0 run_mpi "$1" 2 "$build/pmrun" "$BATS_TEST_TMPDIR/ranks"
	assert_line --regexp '^rank 0: sum 1, [0-9]+ processors from [0-9]+, local 0 of 2, dram [1-9][0-9]+, threads [1-9]'
	assert_line --regexp '^rank 1: sum 1, [0-9]+ processors from [0-9]+, local 1 of 2, dram [1-9][0-9]+, threads [1-9]'
	assert_equal "$(grep -o 'from [0-9]*' <<<"$output" | sort -u | wc -l)" 2
}

@test "Open MPI: each rank has its own processors and share" {
	each_rank openmpi
}

@test "MPICH: each rank has its own processors and share" {
	each_rank mpich
}

@test "Open MPI: what mpirun has bound is bound anew, none leaves it" {
	two_cpus
	run -0 run_mpi openmpi 1 --bind-to core "$build/pmrun" sh -c 'taskset -cp $$'
	refute_output --regexp 'list: [0-9]+$'
	run -0 run_mpi openmpi 1 --bind-to core "$build/pmrun" --pm-bind=none sh -c 'taskset -cp $$'
	assert_output --regexp 'list: [0-9]+$'
}

@test "what taskset leaves to mpirun bounds all ranks" {
	two_cpus
	run -0 taskset -c 1 mpirun.mpich -n 1 "$build/pmrun" sh -c 'taskset -cp $$'
	assert_output --regexp 'list: 1$'
}

@test "four ranks of each MPI share the budget, the first tells what all would" {
	for mpi in openmpi mpich; do
		run -0 run_mpi "$mpi" 4 "$build/pmrun" --pm-bind=none sh -c 'echo $PM_LOCAL_RANK of $PM_LOCAL_SIZE'
		for rank in 0 1 2 3; do
			assert_line "$rank of 4"
		done
		run run_mpi "$mpi" 4 "$build/pmrun" --pm-dram=8000T true
		assert [ "$status" -ne 0 ]
		assert_equal "$(grep -c '^pmrun: ' <<<"$output")" 1
	done
}

@test "exit status and signals of a rank are mpirun's to see" {
	run -9 run_mpi openmpi 1 "$build/pmrun" sh -c 'exit 9'
	run -9 run_mpi mpich 1 "$build/pmrun" sh -c 'exit 9'
}

@test "-n inside of several ranks is refused" {
	run run_mpi mpich 2 "$build/pmrun" -n 2 true
	assert_output --partial "-n 2 would be started by each of the 2 ranks that MPICH or Intel MPI has started"
	run -0 run_mpi mpich 1 "$build/pmrun" --pm-bind=none -n 2 true
}

@test "the machine is discovered once for all 32 ranks of a launcher" {
	export DISCOVERIES=$BATS_TEST_TMPDIR/discoveries
	gcc -shared -fPIC -o "$BATS_TEST_TMPDIR/count.so" tests/unit/count_discoveries.c -ldl
	run -0 run_mpi mpich 32 env LD_PRELOAD="$BATS_TEST_TMPDIR/count.so" "$build/pmrun" --pm-bind=none true
	run -0 sh -c "sort '$DISCOVERIES' | uniq -c | tr -s ' '"
	assert_output " 31 file
 1 machine"
	: >"$DISCOVERIES"
	LD_PRELOAD="$BATS_TEST_TMPDIR/count.so" run -0 pmrun --pm-bind=none -n 32 true
	assert_equal "$(cat "$DISCOVERIES")" machine
}

@test "no display's or accelerator's library is loaded to look at processors" {
	LD_DEBUG=files run -0 pmrun true
	assert_output --partial libhwloc
	refute_output --regexp 'lib(X11|OpenCL|xml2)'
	HWLOC_PLUGINS_PATH=/own run -0 pmrun env
	assert_line HWLOC_PLUGINS_PATH=/own
	run -0 pmrun env
	refute_line --regexp '^HWLOC_PLUGINS_PATH'
}

@test "what is known of the machine goes with its launcher" {
	run -0 run_mpi mpich 2 "$build/pmrun" --pm-bind=none true
	first=$(find "$BATS_TEST_TMPDIR" -name '*.xml')
	assert [ -s "$first" ]
	run -0 run_mpi mpich 2 "$build/pmrun" --pm-bind=none true
	assert_equal "$(find "$BATS_TEST_TMPDIR" -name '*.xml' | wc -l)" 1
	assert [ ! -e "$first" ]
}

@test "a directory that others may write in is not trusted with the machine" {
	mkdir -m 777 "$BATS_TEST_TMPDIR/pmrun-$(id -u)"
	run -0 run_mpi mpich 2 "$build/pmrun" --pm-bind=none true
	assert_equal "$(find "$BATS_TEST_TMPDIR" -name '*.xml' | wc -l)" 0
}
