#!/usr/bin/env bats
# X11 forwarding (PrologFlags=X11) beside modes: docs/admin/compatibility.md has a row for each.
# shellcheck disable=SC2016 # the single quotes are for the shell in the job

setup() {
	load helper
	clean_nodes
	conf=$(bench_dir)/etc/slurm-pmem.conf
	cp "$conf" "$BATS_TEST_TMPDIR/pmem.conf"
	cp "$(bench_dir)/etc/slurm.conf" "$BATS_TEST_TMPDIR/slurm.conf"
	sed -i 's/^PrologFlags=.*/&,X11/' "$conf"
	sed -i 's|^ProctrackType=.*|ProctrackType=proctrack/pgid|' "$(bench_dir)/etc/slurm.conf" # Slurm refuses linuxproc
	restart_all
	resume n1 n2
}

teardown() {
	kill "$(cat "$BATS_TEST_TMPDIR/pid" 2>/dev/null)" 2>/dev/null || true
	cancel_jobs -f
	wait_for 30 no_jobs
	cp "$BATS_TEST_TMPDIR/pmem.conf" "$conf"
	cp "$BATS_TEST_TMPDIR/slurm.conf" "$(bench_dir)/etc/slurm.conf"
	restart_all
}

# An X server in name: it says what its first client sends, and answers with a word.
start_display() {
	python3 -c 'import socket, sys
server = socket.socket()
for number in range(20, 60):
	try:
		server.bind(("127.0.0.1", 6000 + number))
		break
	except OSError:
		pass
server.listen()
open(sys.argv[1], "w").write(str(number))
while True:
	client = server.accept()[0]
	open(sys.argv[2], "ab").write(client.recv(64))
	client.sendall(b"drawn")
	client.close()' "$BATS_TEST_TMPDIR/display" "$BATS_TEST_TMPDIR/sent" 3>&- &
	echo $! >"$BATS_TEST_TMPDIR/pid"
	wait_for 10 test -s "$BATS_TEST_TMPDIR/display"
	display=localhost:$(cat "$BATS_TEST_TMPDIR/display")
	bench user env HOME="$(bench_dir)/home" xauth -q add "$display" . 0123456789abcdef0123456789abcdef
}

# What a client of the display would do.
client='import os, socket
host, _, number = os.environ["DISPLAY"].rpartition(":")
display = socket.create_connection((host or "localhost", 6000 + int(number.split(".")[0])))
display.sendall(os.environ["PM_MODE"].encode())
print(display.recv(64).decode())'

@test "srun --x11: a window of a job with a mode comes to the display, also after a reboot for it" {
	local display
	start_display
	put_in appdirect n1
	run bench user env HOME="$(bench_dir)/home" DISPLAY="$display" timeout 60 srun --x11 -w n1 --pm-mode=memory python3 -c "$client"
	drop_remarks
	assert_output drawn
	assert_equal "$(cat "$BATS_TEST_TMPDIR/sent")" memory
	nodes_are_in_service
}

@test "srun --x11 without a display is refused by Slurm, and no node is rebooted for it" {
	local before
	put_in appdirect n1
	before=$(boot_id n1)
	run bench user env -u DISPLAY srun --x11 -w n1 --pm-mode=memory true
	assert_failure
	assert_output --partial 'No DISPLAY variable set'
	assert_equal "$(boot_id n1)" "$before"
	nodes_are_in_service
}
