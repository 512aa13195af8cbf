#!/usr/bin/env bats
# What pmtwin itself does, on a cluster that is up.
# shellcheck disable=SC2154 # output, stderr and status are set by run

setup() { load helpers; }

# run_page HEAD COMMAND…: COMMAND prints a manual page that begins with the word HEAD.
run_page() {
	local head=$1
	shift
	run -0 --separate-stderr "$@"
	assert_equal "${lines[0]%% *}" "$head"
	assert_output --partial SYNOPSIS
}

@test "status: all guests on, nodes idle in App Direct" {
	run -0 pmtwin status
	assert_line --regexp '^head +on '
	assert_line --regexp '^n1 +on .* idle +pm_appdirect '
	assert_line --regexp '^n2 +on .* idle +pm_appdirect '
}

@test "status --json: one object" {
	run -0 bash -c '"$PMTWIN" status --json | python3 -c "
import json, sys
status = json.load(sys.stdin)
assert status[\"up\"] and [n[\"name\"] for n in status[\"nodes\"]] == [\"head\", \"n1\", \"n2\"], status
assert status[\"nodes\"][1][\"slurm\"][\"state\"] == \"idle\", status"'
}

@test "up: a twin that is up stays as it is" {
	before=$(boot_id n1)
	run -0 pmtwin up
	assert_equal "$(boot_id n1)" "$before"
	run -2 pmtwin up --nodes 5
	assert_output --partial 'the twin is up'
}

# `up` does that by itself only for sources that have changed since the image was made.
@test "our programs build with the headers and libraries that the image brings" {
	local image
	image=$(pmtwin --suite "$TWIN_SUITE" build 2>/dev/null)
	run -0 env PYTHONDONTWRITEBYTECODE=1 PYTHONPATH="$ROOT/twin" /usr/bin/python3 -c '
import sys
from pathlib import Path
from cluster import payload
from image.build import Image
payload.install(Image(Path(sys.argv[1])), sys.argv[2], Path(sys.argv[3]))' "$image" "$TWIN_SUITE" "$BATS_TEST_TMPDIR"
	assert [ -x "$BATS_TEST_TMPDIR/usr/bin/pmctl" ]
	assert [ -e "$BATS_TEST_TMPDIR/usr/lib/slurm-pmem/libpmplace.so" ]
}

@test "exec: runs as root, streams apart, exit status passed on" {
	run -0 --separate-stderr pmtwin exec n1 -- sh -c 'id -un; hostname; echo wrong >&2'
	assert_output $'root\nn1'
	assert_equal "$stderr" wrong
	run -7 pmtwin exec n1 -- sh -c 'exit 7'
	run -143 pmtwin exec n1 -- sh -c 'kill -TERM $$'
}

@test "exec: arguments arrive as they are" {
	run -0 pmtwin exec n1 -- printf '<%s>' 'a b' '' '$HOME' $'x\ny' "it's"
	assert_output "<a b><><\$HOME><x"$'\n'"y><it's>"
}

@test "exec: a program that is not there" {
	run -127 pmtwin exec n1 -- /no/such/program
	assert_output --partial 'No such file or directory'
	run -126 pmtwin exec n1 -- /etc/passwd
}

@test "exec: stdin reaches the command, and its end too" {
	run -0 bash -c 'printf "one\ntwo\n" | "$PMTWIN" exec n1 -- wc -l'
	assert_output 2
	run -0 bash -c 'head -c 3000000 /dev/zero | "$PMTWIN" exec n1 -- wc -c'
	assert_output 3000000
}

@test "exec: megabytes of output arrive intact" {
	run -0 bash -c '"$PMTWIN" exec n1 -- sh -c "seq 1 300000" | md5sum'
	assert_output "$(seq 1 300000 | md5sum)"
}

@test "exec: a reader that leaves ends the command" {
	run -0 bash -c '"$PMTWIN" exec n1 -- sh -c "echo \$\$; exec yes" | head -n 1'
	wait_for 10 run ! pmtwin exec n1 -- test -e "/proc/$output/status"
}

@test "exec: several commands at once" {
	for i in 1 2 3 4 5 6; do
		pmtwin exec n1 -- sh -c "sleep 1; echo $i" >"$BATS_TEST_TMPDIR/$i" 3>&- &
	done
	wait
	assert_equal "$(cat "$BATS_TEST_TMPDIR"/[1-6])" $'1\n2\n3\n4\n5\n6'
}

@test "exec: an interrupt reaches the command" {
	timeout -s INT 1 "$PMTWIN" exec n1 -- sh -c 'trap "echo caught; exit 3" INT; while :; do sleep 0.1; done' \
		>"$BATS_TEST_TMPDIR/out" 3>&- || true
	assert_equal "$(cat "$BATS_TEST_TMPDIR/out")" caught
}

@test "run: user1's and user2's login on the head node" {
	run -0 pmtwin run -- sh -c 'id -un; id -u; pwd; echo $HOME $USER; hostname'
	assert_output $'user1\n1001\n/home/user1\n/home/user1 user1\nhead'
	run -0 pmtwin run --user user2 -- id -un
	assert_output user2
	run -2 pmtwin run --user nobody -- true
	assert_output --partial "no user 'nobody', there are: user1, user2"
}

@test "man: the pages of slurm-pmem, Slurm and the tools, on the head node and on compute nodes" {
	run_page 'PMCTL(8)' on_head man -P cat pmctl
	run_page 'PMRUN(1)' on_head man -P cat pmrun
	run_page 'PMEM.CONF(5)' pmtwin exec n1 -- runuser -u user1 -- man -P cat pmem.conf
	run -0 on_head man --where sbatch ipmctl
	assert_line --partial /man1/sbatch.1
	assert_line --partial /man1/ipmctl.1
}

@test "run: /home is the same everywhere" {
	token=$RANDOM
	pmtwin run -- sh -c "echo $token > shared"
	run -0 pmtwin exec n2 -- sh -c 'cat /home/user1/shared; stat -c %U /home/user1/shared'
	assert_output "$token"$'\nuser1'
}

@test "run: a job runs, and sbatch's output lands in the home" {
	run -0 pmtwin run -- srun hostname
	assert_output --regexp '^n[12]$'
	run -0 bash -c 'printf "#!/bin/sh\nhostname; id -un\n" | "$PMTWIN" run -- sbatch --wait -o out.txt'
	run -0 pmtwin run -- cat out.txt
	assert_output --regexp $'^n[12]\nuser1$'
}

@test "copy: there and back, files and directories" {
	cd "$BATS_TEST_TMPDIR"
	mkdir -p tree/sub
	printf 'x\0y' >tree/sub/file
	chmod 755 tree/sub/file
	pmtwin copy tree n1:/tmp/
	run -0 pmtwin exec n1 -- stat -c '%U %a %s' /tmp/tree/sub/file
	assert_output 'root 755 3'
	pmtwin copy n1:/tmp/tree back
	cmp tree/sub/file back/sub/file
	pmtwin copy tree/sub/file head:/home/user1/renamed
	run -0 pmtwin run -- stat -c '%U' renamed
	assert_output user1
	pmtwin copy head:/home/user1/renamed n2:/tmp/other
	run -0 pmtwin exec n2 -- wc -c /tmp/other
	assert_output '3 /tmp/other'
}

@test "copy: what cannot be is said" {
	run -1 pmtwin copy n1:/no/such /tmp/x
	assert_output --partial 'No such file'
	run -1 pmtwin copy /no/such n1:/tmp/
	run -2 pmtwin copy /etc/passwd /tmp/x
	run -2 pmtwin copy n1:relative /tmp/x
}

@test "logs: a node's console with the journal of its services" {
	run -0 pmtwin logs n1
	assert_output --partial 'slurmd version'
	assert_output --partial 'pmctl'
}

@test "events: POST, boot, agent, ready, with times" {
	run -0 pmtwin events
	assert_line --regexp '^[0-9:.]{12} n1 +firmware +platform mode: app direct'
	assert_line --regexp '^[0-9:.]{12} n1 +ready '
	run -0 bash -c '"$PMTWIN" events --json | python3 -c "
import json, sys
events = [json.loads(line) for line in sys.stdin]
assert {\"up\", \"post\", \"firmware\", \"boot\", \"agent\", \"ready\"} <= {e[\"event\"] for e in events}
assert all(set(e) == {\"time\", \"node\", \"event\", \"text\"} for e in events)"'
}

@test "real tools see real PMem: two regions, each on its socket" {
	run -0 pmtwin exec n1 -- ipmctl show -region
	assert_output --partial AppDirect
	run -0 pmtwin exec n1 -- ndctl list -Rv
	assert_equal "$(grep -c '"type":"pmem"' <<<"$output")" 2
	assert_output --partial '"numa_node":1'
	run -0 pmtwin exec n1 -- ndctl list -N
	refute_output --partial namespace
}

@test "names that do not exist: one sentence and exit code 2" {
	run -2 pmtwin exec n9 -- true
	assert_output "pmtwin: no node 'n9', there are: head, n1, n2"
	run -2 pmtwin logs n9
	run -2 pmtwin power-cycle n9
	run -2 pmtwin inject n1 goal-lost
	assert_output --partial "no fault 'goal-lost', there are: none, goal-rejected, goal-ignored"
	run -2 pmtwin inject head goal-rejected
	run -2 pmtwin --suite sarge status
	assert_output "pmtwin: no suite 'sarge', there are: trixie, bookworm"
	run -2 pmtwin frobnicate
	run -2 pmtwin exec n1
	run -2 pmtwin
}
