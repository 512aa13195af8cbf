# pmctl calibrate and pmctl model on this host: a directory on any file system stands for persistent memory.
setup() {
	bats_load_library bats-support
	bats_load_library bats-assert
	TOP=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)
	pmctl=${PM_BUILD:-$TOP/build}/pmctl
	round=$TOP/tests/fixtures/site-profiles/round.json
	export PM_DIR0=$BATS_TEST_TMPDIR/pmem PM_DIR0_SOCKET=0
	mkdir "$PM_DIR0"
	unset SLURM_JOB_ID site
}

teardown() {
	[ -z "${site-}" ] || rm -r "$site"
}

# calibrate OPTION...: where no other process is, and so no slurmstepd of a test that runs beside this one.
calibrate() {
	local alone=()
	((EUID)) || alone=(unshare --pid --fork --kill-child --mount-proc)
	exec "${alone[@]}" "$pmctl" calibrate "$@"
}

model() {
	run "$pmctl" model "$@"
}

@test "the answers of both models, one a line" {
	model --site-profile="$round" in=300M out=200M compute=9 traffic=0 ranks=24 threads=1 cpus=3
	assert_success
	assert_output $'literal: 0 helpers, the data is used in place\npaced: 1 helper'
}

@test "--explain says why a number of helpers is not feasible" {
	model --site-profile="$round" --explain in=300M out=200M compute=9 traffic=0 ranks=24 threads=1 cpus=3
	assert_success
	assert_line --partial 'BW_comp 0 B/s; ranks on the socket: 24, Thrd_comp 1, Thrd_max 3'
	assert_line --partial "equation 4: more than the rank's share of the bandwidth"
	model --site-profile="$round" --explain in=300M compute=9 threads=1 cpus=3
	assert_line --partial "equation 4: the program's own traffic to PMem is unknown"
}

@test "--json has the numbers of each equation" {
	model --site-profile="$round" --json in=300M out=200M compute=9 traffic=0 threads=1 cpus=3
	assert_success
	run /usr/bin/python3 -c '
import json, sys
answer = json.loads(sys.argv[1])
one, two = answer["literal"]["trials"]
assert answer["literal"]["helpers"] == 1 and answer["literal"]["share_bytes_per_s"] == 39000000000
assert abs(one["in_s"] - 300 * 2**20 / 3e9) < 1e-9 and one["copy_s"] == one["in_s"] + one["out_s"]
assert two["copy_s"] == max(two["in_s"], two["out_s"]) and two["copy_bytes_per_s"] == 5000000000
' "$output"
	assert_success
}

@test "with an interval in place the compared model answers, too" {
	local word="--site-profile=$round in=300M out=200M compute=0.15 traffic=0 threads=1 cpus=3"
	# shellcheck disable=SC2086
	model $word placed=0.6 --explain
	assert_success
	assert_line --regexp '^interval: .*; in place 0.6 s$'
	# One helper copies 0.21 s, so that 0.06 s are left, of which it takes the half.
	assert_line --regexp '^ +1 .* 0\.18 s +feasible$'
	assert_line 'compared: 2 helpers'
	# shellcheck disable=SC2086
	model $word placed=0.15 --explain
	assert_line --regexp 'no faster than in place$'
	assert_line 'compared: 0 helpers, the data is used in place'
	# shellcheck disable=SC2086
	model $word placed=0.6 other-in=30G --json
	run /usr/bin/python3 -c '
import json, sys
answer = json.loads(sys.argv[1])["compared"]
assert answer["helpers"] == 0 and answer["trials"][0]["interval_s"] > 5, answer
' "$output"
	assert_success
	# shellcheck disable=SC2086
	model $word
	refute_output --partial compared
}

@test "each wrong word is refused with what to write" {
	local word
	for word in in=3 out=3X compute=0 compute=-1 compute=1s compute=nan placed=0 other-in=1Q other-out=no traffic=fast ranks=-1 ranks=1.5 cpus=; do
		model --site-profile="$round" in=300M compute=9 "$word"
		assert_failure 1
		assert_output --partial "'$word': write ${word%%=*}="
	done
	model --site-profile="$round" in=300M compute=9 frogs=3
	assert_output --partial "'frogs=3': the words are in=, out="
	model --site-profile="$round" in=300M
	assert_output --partial 'compute= is missing'
	model --site-profile="$round" compute=3
	assert_output --partial 'in= and out= are missing'
	model in=300M compute=3
	assert_output --partial '--site-profile=FILE is missing'
	model --site-profile=/nonexistent in=300M compute=3
	assert_output --partial "open '/nonexistent': No such file or directory"
	model --site-profile="$round" in=300M compute=3 socket=1
	assert_output --partial "site profile 'round-numbers' has no socket 1"
}

@test "a node is measured, its profile is read back, and nothing stays in the directory" {
	local file=$BATS_TEST_TMPDIR/profile.json
	run calibrate --quick --class=tried --output="$file"
	assert_success
	assert_line --partial 'socket 0, copy-in with 1 threads'
	run ls -A "$PM_DIR0"
	assert_output ''
	run /usr/bin/python3 -c '
import json, sys
profile = json.load(open(sys.argv[1]))
socket, = profile["sockets"]
curves = {curve["name"]: curve["points"] for curve in socket["curves"]}
values = {value["name"]: value["value"] for value in socket["values"]}
assert profile["class"] == "tried" and profile["kernel"] and profile["cpu"], profile
for name in ("copy-in", "copy-out"):
    first = curves[name][0]
    assert first["threads"] == 1 and first["samples"] >= 10 and first["low"] <= first["bytes_per_s"] <= first["high"], first
    assert values["peak" + name[4:]] == curves[name][-1]["bytes_per_s"]
loops = {(loop["loop"], loop["place"]): loop["points"] for loop in socket["loops"]}
assert len(loops) == 2 * 15 + 2 * 4, sorted(loops)
assert values["pmem-read"] == loops["read", "pmem"][0]["bytes_per_s"] and values["dram-random"] > 0, values
' "$file"
	assert_success
	model --allow-virtual --site-profile="$file" --explain in=10M compute=1 traffic=0 threads=1 cpus=3
	assert_success
	assert_line 'paced: 1 helper'
}

@test "--install writes the class's profile, and keeps what another mode has measured" {
	((EUID == 0)) || skip 'only root may'
	site=$(mktemp -d /run/pm-calibrate.XXXXXX)
	printf 'SiteProfileDir=%s/profiles\n' "$site" >"$site/pmem.conf"
	local command=(calibrate --config="$site/pmem.conf" --quick --class=tried --install)
	local machine=real
	if grep -q '^flags.* hypervisor' /proc/cpuinfo; then
		machine=virtual
		run "${command[@]}"
		assert_failure
		assert_output --partial 'this is a virtual machine, so that its numbers say nothing about the class; --allow-virtual installs them all the same'
	fi
	run "${command[@]}" --allow-virtual --output=x
	assert_output --partial -- '--install and --output exclude each other'
	run calibrate --config="$site/pmem.conf" --install
	assert_output --partial -- '--install needs --class=NAME'
	refute [ -e "$site/profiles" ]
	mkdir "$site/profiles"
	# As a run in Memory Mode has left it, and a copy that is measured again.
	/usr/bin/python3 -c '
import json, sys
point = {"threads": 4, "bytes_per_s": 123456789000}
loops = [{"loop": "triad", "place": "memory", "points": [point]}, {"loop": "read", "place": "pmem", "points": [point]}]
json.dump({"format": "slurm-pmem site profile", "version": 1, "class": "tried", "machine": sys.argv[1],
           "sockets": [{"socket": 0, "curves": [{"name": "copy-in", "points": [point]}], "values": [], "loops": loops}]}, sys.stdout)
' "$machine" >"$site/profiles/tried.json"
	run "${command[@]}" --allow-virtual
	assert_success
	run /usr/bin/python3 -c '
import json, sys
socket, = json.load(open(sys.argv[1]))["sockets"]
loops = {(loop["loop"], loop["place"]): loop["points"] for loop in socket["loops"]}
assert [point["bytes_per_s"] for point in loops["triad", "memory"]] == [123456789000], loops
assert 123456789000 not in [point["bytes_per_s"] for point in loops["read", "pmem"]], loops
curves = {curve["name"]: curve["points"] for curve in socket["curves"]}
assert curves["copy-in"][0]["threads"] == 1, curves
' "$site/profiles/tried.json"
	assert_success
	run ls -A "$site/profiles"
	assert_output tried.json
	run "$pmctl" model --allow-virtual --site-profile="$site/profiles/tried.json" in=10M compute=1 traffic=0 threads=1 cpus=3
	assert_success
}

@test "--install is root's, and of one kind of machine" {
	((EUID == 0)) || skip 'only root can be another user'
	site=$(mktemp -d /run/pm-calibrate.XXXXXX)
	printf 'SiteProfileDir=%s/profiles\n' "$site" >"$site/pmem.conf"
	chmod 755 "$site"
	run setpriv --reuid=65534 --regid=65534 --clear-groups "$pmctl" calibrate --config="$site/pmem.conf" --quick --class=tried --install
	assert_failure
	assert_output "pmctl: calibrate: --install writes '$site/profiles/tried.json': run it as root, or write --output=FILE"
	mkdir "$site/profiles"
	local other='"machine": "virtual"' kinds='a virtual machine and this is a real one'
	if grep -q '^flags.* hypervisor' /proc/cpuinfo; then
		other='"machine": "real"' kinds='a real one and this is a virtual machine'
	fi
	sed "s/\"class\": \"[^\"]*\"/\"class\": \"tried\", $other/" "$round" >"$site/profiles/tried.json"
	cp "$site/profiles/tried.json" "$site/before"
	run calibrate --config="$site/pmem.conf" --quick --class=tried --install --allow-virtual
	assert_failure
	assert_line "pmctl: calibrate: '$site/profiles/tried.json' is of $kinds: remove it, or write --output=FILE"
	cmp "$site/before" "$site/profiles/tried.json"
}

@test "a profile that was measured under a hypervisor is used where it is allowed" {
	local file=$BATS_TEST_TMPDIR/virtual.json
	sed 's/"version": 1,/"version": 1, "machine": "virtual",/' "$round" >"$file"
	model --site-profile="$file" in=300M compute=9
	assert_failure
	assert_output --partial "site profile 'round-numbers' was measured under a hypervisor"
	model --allow-virtual --site-profile="$file" in=300M compute=9
	assert_success
}

@test "a node on which another job has a step is not measured" {
	run unshare --pid --fork --kill-child --mount-proc bash -c 'bash -c "exec -a \"slurmstepd: [4711.0]\" sleep 60" &
		until grep -q slurmstepd /proc/$!/cmdline; do :; done
		"$@"; SLURM_JOB_ID=4711 exec "$@" --class="two words"' bash "$pmctl" calibrate --quick
	assert_failure
	assert_line --index 0 'pmctl: calibrate: job 4711 runs on this node, too, and would be measured; use --exclusive'
	refute_line --partial 'copy-in'
}

# interrupted FILE: a calibration of all points that is killed once FILE.part is there.
interrupted() {
	calibrate --class=tried --output="$1" 2>"$BATS_TEST_TMPDIR/progress" 3>&- &
	local pid=$! end=$((SECONDS + 300))
	until [ -e "$1.part" ]; do
		[ $SECONDS -lt $end ]
		sleep 0.1
	done
	kill -KILL "$pid"
	wait "$pid" || true
}

@test "a calibration that was interrupted is continued, on the same machine" {
	local file=$BATS_TEST_TMPDIR/profile.json
	interrupted "$file"
	refute [ -e "$file" ]
	run "$pmctl" report calibration "$file.part"
	assert_success
	sed 's/"class": "tried"/"class": "other"/' "$file.part" >"$BATS_TEST_TMPDIR/b.json.part"
	run calibrate --class=tried --output="$BATS_TEST_TMPDIR/b.json"
	assert_failure
	assert_output "pmctl: calibrate: '$BATS_TEST_TMPDIR/b.json.part' is from a calibration with another class, and cannot be continued; remove it, or choose another --output"
	calibrate --class=tried --output="$file" 2>"$BATS_TEST_TMPDIR/progress" 3>&- &
	local pid=$! end=$((SECONDS + 300))
	until grep -q ' left$' "$BATS_TEST_TMPDIR/progress"; do
		[ $SECONDS -lt $end ]
		sleep 0.1
	done
	kill -KILL "$pid"
	run cat "$BATS_TEST_TMPDIR/progress"
	assert_line --index 0 --regexp "goes on with '$file.part', which has [1-9][0-9]* of [0-9]+ points\$"
	refute_line --partial 'copy-in with 1 threads'
}

@test "a calibration that is killed leaves nothing, and writes no profile" {
	calibrate --quick --output="$BATS_TEST_TMPDIR/profile.json" 2>"$BATS_TEST_TMPDIR/progress" 3>&- &
	local pid=$! end=$((SECONDS + 60))
	until grep -q copy-in "$BATS_TEST_TMPDIR/progress"; do # its threads copy
		[ $SECONDS -lt $end ]
		sleep 0.1
	done
	kill -KILL "$pid"
	run wait "$pid"
	run ls -A "$PM_DIR0" "$BATS_TEST_TMPDIR"
	refute_output --partial profile.json
	run ls -A "$PM_DIR0"
	assert_output ''
}

@test "what cannot be measured is said before anything is" {
	run calibrate --class='two words'
	assert_failure
	assert_output "pmctl: calibrate: --class='two words': use letters, digits, '.', '_' and '-', at most 63"
	PM_DIR0=/nonexistent run calibrate --quick
	assert_failure
	assert_output --partial "socket 0: directory '/nonexistent': make a file: No such file or directory"
	PM_DIR0_SOCKET=7 run calibrate --quick
	assert_failure
	assert_output --partial 'run it in a job with --pm-mode=flat, --pm-mode=appdirect or --pm-mode=memory'
	PM_DIR0_SOCKET=x run calibrate --quick
	assert_output --partial "PM_DIR0_SOCKET='x' is not the number of a socket"
}

# node HOST: the profile of another node, whose copies in are a fifth slower than n1's.
node() {
	sed -e "s/\"host\": \"n1\"/\"host\": \"$1\"/" -e 's/20000000000/16000000000/' "$round" >"$BATS_TEST_TMPDIR/$1.json"
}

@test "a report has each measure, beside those of other nodes and those in print" {
	node n2
	run "$pmctl" report calibration "$round" "$BATS_TEST_TMPDIR/n2.json"
	assert_success
	assert_line --index 0 'round-numbers, n1'
	assert_line --regexp ' copy from PMem to DRAM +8 +20\.00 GB/s +16\.00 GB/s, 125% of it$'
	assert_line --regexp 'latency of random reads of PMem +304 ns +304 ns, 100% of it +304 ns, warpx-pm$'
	run "$pmctl" report calibration --csv "$round"
	assert_line 'round-numbers,n1,2026-11-25T12:00:00.000Z,0,copy-in,1,B/s,3000000000,2990000000,3010000000,12,False,,,,'
	run "$pmctl" report calibration --json "$round"
	run /usr/bin/python3 -c 'import json, sys; print([(m["value"], m["printed"]) for m in json.load(sys.stdin) if m["unit"] == "ps"])' <<<"$output"
	assert_output '[(304000, 304000)]'
}

@test "a report is a page, of a class or of files with any name" {
	site=$(mktemp -d /run/pm-bats.XXXXXX)
	mkdir "$site/classes"
	cp "$round" "$site/classes/round-numbers.json"
	cp "$round" "$site/--json.json"
	echo "SiteProfileDir=$site/classes" >"$site/pmem.conf"
	cd "$site"
	run "$pmctl" report calibration --output=page.html -- --json.json
	assert_success
	assert_output ''
	grep -q '^<!doctype html>' page.html
	run "$pmctl" --config="$site/pmem.conf" report calibration round-numbers
	assert_success
	assert_line 'round-numbers, n1'
	run "$pmctl" --config="$site/pmem.conf" report calibration no-such-class
	assert_failure
	assert_output --partial "/classes/no-such-class.json'"
}

# attributes FILE: name and value of each memory attribute that hwloc knows.
attributes() {
	/usr/bin/python3 -c '
import sys, xml.etree.ElementTree as tree
for attribute in tree.parse(sys.argv[1]).getroot().iter("memattr"):
    print(attribute.get("name"), {value.get("value") for value in attribute.iter("memattr_value")})' "$1"
}

@test "hwloc is told the bandwidths and latencies of a profile" {
	local file=$BATS_TEST_TMPDIR/topology.xml
	run "$pmctl" topology --site-profile="$TOP/site/references/warpx-pm.json" --output="$file"
	assert_success
	assert_output ''
	run attributes "$file"
	assert_line "ReadBandwidth {'$((104000000000 >> 20))'}"
	assert_line "WriteBandwidth {'$((80000000000 >> 20))'}"
	assert_line "ReadLatency {'87'}"
	run "$pmctl" topology
	assert_failure
	assert_output --partial 'no site profile: this node has no SiteProfile= in pmem.conf; name one by --site-profile=FILE'
	sed 's/"socket": 0/"socket": 7/' "$round" >"$BATS_TEST_TMPDIR/seven.json"
	run "$pmctl" topology --site-profile="$BATS_TEST_TMPDIR/seven.json"
	assert_failure
	assert_output --partial "site profile 'round-numbers' has no socket of this machine"
	sed 's/"version": 1,/"version": 1, "machine": "virtual",/' "$round" >"$BATS_TEST_TMPDIR/virtual.json"
	run "$pmctl" topology --site-profile="$BATS_TEST_TMPDIR/virtual.json"
	assert_failure
	assert_output --partial 'was measured under a hypervisor'
}

@test "a report refuses other files, and nodes of several classes" {
	echo '{}' >"$BATS_TEST_TMPDIR/other.json"
	run "$pmctl" report calibration "$BATS_TEST_TMPDIR/other.json"
	assert_failure
	assert_output --partial 'not JSON with "format": "slurm-pmem site profile"'
	sed 's/round-numbers/another/' "$round" >"$BATS_TEST_TMPDIR/another.json"
	run "$pmctl" report calibration "$round" "$BATS_TEST_TMPDIR/another.json"
	assert_failure
	assert_output --partial "report on one class at a time"
	run "$pmctl" report calibration --output=/nonexistent/page.html "$round"
	assert_failure
	assert_output "pmreport: write '/nonexistent/page.html': No such file or directory"
}
