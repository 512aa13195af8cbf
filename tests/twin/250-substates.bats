#!/usr/bin/env bats
# What is made of App Direct regions, on one node, by root: each state is read back by the tools themselves.
# bats file_tags=long
# shellcheck disable=SC2154 # output and status are set by run
# shellcheck disable=SC2016 # what is in single quotes is run on the node

setup() {
	load helpers
}

teardown() {
	sh_node 'for pid in $(cat /run/pm-test.pids 2>/dev/null); do kill -9 -- "-$pid"; done; rm -f /run/pm-test.pids'
}

setup_file() {
	load helpers
	node tee /root/state >/dev/null <<-'END'
		#!/bin/bash
		# In which state are the regions? Told by ndctl, daxctl, findmnt and numactl.
		names=$(ndctl list -N | sed -n 's/.*"name":"\([^"]*\)".*/\1/p' | sort | uniq -c | tr -s ' \n' ' ')
		nodes=$(numactl -H | grep -c '^node [0-9] size: [1-9]')
		mounts=$(findmnt -rno TARGET,FSTYPE,OPTIONS | grep -c '^/mnt/slurm-pmem/socket[01] \(ext4\|xfs\) rw,nosuid,nodev,.*\(prjquota.*dax=always\|dax=always.*prjquota\)')
		devices=$(find /dev -maxdepth 1 -name 'dax?.?' -type c -user root -perm 600 | wc -l)
		online=$(daxctl list -D | grep -c '"movable":true')
		blocks=$(daxctl list -D | sed -n 's/.*"\(online\|total\)_memblocks":\([0-9]*\).*/\2/p' | sort -u | wc -l)
		echo "names '$names' nodes $nodes mounts $mounts devices $devices movable $online, $blocks"
	END
	node chmod 755 /root/state
	node sh -c 'sed "s/^OfflineTimeout.*//" /etc/slurm/pmem.conf >/root/hasty.conf; echo OfflineTimeout=4 >>/root/hasty.conf'
}

teardown_file() {
	load helpers
	node sh -c 'umount /srv; for pin in $(pmctl pin --list | cut -d" " -f1); do pmctl unpin $pin; done;
		pmctl provision empty; ndctl destroy-namespace -f all' >/dev/null 2>&1 || true
}

node() { pmtwin exec n1 -- "$@"; }
pmctl() { node pmctl "$@"; }
sh_node() { node bash -c "$1"; }

declare -gA seen=(
	[empty]="names '' nodes 2 mounts 0 devices 0 movable 0, 0"
	[fsdax]="names ' 2 slurm-fsdax ' nodes 2 mounts 2 devices 0 movable 0, 0"
	[devdax]="names ' 2 slurm-devdax ' nodes 2 mounts 0 devices 2 movable 0, 0"
	[flat]="names ' 2 slurm-flat ' nodes 4 mounts 0 devices 2 movable 2, 1"
)

# assert_state NAME: what the tools show
assert_state() {
	run node /root/state
	assert_output "${seen[$1]}"
}

# provision [RC] STATE
provision() {
	local rc=0
	[[ $1 != [0-9]* ]] || { rc=$1; shift; }
	run "-$rc" pmctl provision "$@"
}

# background COMMAND: on the node, until teardown
background() {
	sh_node "setsid $1 </dev/null >/run/pm-test.out 2>&1 & echo \$! >>/run/pm-test.pids"
}

policy() { node cat /sys/devices/system/memory/auto_online_blocks; }

@test "all twelve transitions, and nothing to do where it is so already" {
	local before state
	before=$(policy)
	provision empty
	assert_state empty
	for state in fsdax empty devdax empty flat fsdax devdax fsdax flat devdax flat empty; do
		provision $state
		assert_state $state
	done
	provision fsdax
	run -0 pmctl provision fsdax --dry-run
	refute_output
	assert_equal "$(policy)" "$before"
}

@test "fsdax: MAP_SYNC works, the root is closed to users, what is there stays" {
	provision fsdax
	sh_node 'mkdir -m 700 /mnt/slurm-pmem/socket1/job_7 && echo kept >/mnt/slurm-pmem/socket1/job_7/file'
	run -0 sh_node 'python3 -c "
import mmap, os
fd = os.open(\"/mnt/slurm-pmem/socket0/job_1\", os.O_RDWR | os.O_CREAT)
os.ftruncate(fd, 1 << 21)
mmap.mmap(fd, 1 << 21, 0x3 | 0x80000).write(b\"synced\")"; rm /mnt/slurm-pmem/socket0/job_1'
	run -0 node stat -c '%a %U' /mnt/slurm-pmem/socket0 /mnt/slurm-pmem/socket1
	assert_output $'711 root\n711 root'
	node umount /mnt/slurm-pmem/socket1
	provision fsdax
	assert_state fsdax
	run -0 node cat /mnt/slurm-pmem/socket1/job_7/file
	assert_output kept
}

@test "fsdax: what is not a job's in the file system is named, not mounted over" {
	provision fsdax
	sh_node 'echo mine >/mnt/slurm-pmem/socket1/thesis; umount /mnt/slurm-pmem/socket1'
	provision 1 fsdax
	assert_output --partial "has the entry 'thesis', which no job made"
	run ! node findmnt /mnt/slurm-pmem/socket1
	sh_node 'mount /dev/pmem1 /srv; rm /srv/thesis; umount /srv'
	provision fsdax
	assert_state fsdax
}

@test "a file system that is in use, or mounted elsewhere, is not taken away" {
	provision fsdax
	background 'sh -c "cd /mnt/slurm-pmem/socket0 && exec sleep 600"'
	wait_for 10 sh_node "ls -l /proc/*/cwd 2>/dev/null | grep -q socket0"
	provision 1 empty
	assert_output --partial "unmount '/mnt/slurm-pmem/socket0': a process still uses it"
	teardown
	node mount --bind /mnt/slurm-pmem/socket1 /srv
	provision 1 empty
	assert_output --partial "is mounted on '/srv'; 'umount /srv'"
	node umount /srv
}

@test "a dry run prints every command and what it destroys, and changes nothing" {
	provision fsdax
	provision flat --dry-run
	assert_line "would run 'umount /mnt/slurm-pmem/socket0'"
	assert_line --regexp "would run '.*ndctl destroy-namespace -f namespace0.0', which destroys the namespace namespace0.0 named 'slurm-fsdax' \([0-9]+ bytes\)"
	assert_line --regexp "would run '.*ndctl create-namespace -m devdax -M dev -n slurm-flat -r region1'"
	assert_line --regexp "would run '.*daxctl reconfigure-device -m system-ram <device of region0>'"
	assert_state fsdax
}

@test "a device is zero when it is handed out, and again the next time" {
	provision devdax
	sh_node 'python3 -c "
import mmap
with open(\"/dev/dax1.0\", \"r+b\") as dax:
    mmap.mmap(dax.fileno(), 1 << 21, offset=1 << 30).write(b\"pattern\" * 1000)"'
	provision devdax
	run -0 sh_node 'python3 -c "
import mmap
with open(\"/dev/dax1.0\", \"r+b\") as dax:
    print(any(mmap.mmap(dax.fileno(), 1 << 21, offset=1 << 30)[:]))"'
	assert_output False
}

@test "foreign namespaces veto by name, and keep every byte" {
	local before
	provision empty
	sh_node 'ndctl create-namespace -m fsdax -M dev -n data -r region1 -s 256M >/dev/null 2>&1; head -c 8M /dev/urandom >/dev/pmem1'
	before=$(sh_node 'head -c 8M /dev/pmem1 | md5sum')
	for state in empty fsdax devdax flat; do
		provision 1 $state
		assert_output --regexp "namespace1.0 named 'data' of region1 \([0-9]+ bytes\) is not slurm-pmem's; save what is in it, then remove it with 'ndctl destroy-namespace -f namespace1.0'"
	done
	run -0 pmctl recover
	assert_equal "$(sh_node 'head -c 8M /dev/pmem1 | md5sum')" "$before"
	node sh -c 'ndctl destroy-namespace -f namespace1.0' 2>/dev/null
	assert_state empty
}

@test "a pin protects, also when its namespace is gone" {
	local uuid
	provision devdax
	run -0 pmctl pin namespace1.0
	uuid=$(pmctl pin --list | cut -d' ' -f1)
	for state in empty fsdax devdax flat; do
		provision 1 $state
		assert_output --partial "namespace1.0 named 'slurm-devdax' of region1"
		assert_output --partial "is pinned; if its data may be destroyed, run 'pmctl unpin namespace1.0'"
	done
	run -0 pmctl recover
	run -0 node ndctl list -N -n namespace1.0
	assert_output --partial slurm-devdax
	node sh -c 'ndctl destroy-namespace -f namespace1.0' 2>/dev/null
	provision 1 empty
	assert_output --partial "pinned namespace $uuid is missing; find out why"
	run -0 pmctl unpin "$uuid"
	run -1 pmctl unpin "$uuid"
	assert_output --partial "nothing called '$uuid' is pinned"
	run -1 pmctl pin namespace9.9
	provision empty
}

@test "what was left half done is finished or taken away" {
	provision empty
	# Killed while it was made; disabled; a device without driver.
	sh_node 'ndctl create-namespace -m raw -n slurm-fsdax -r region0; ndctl create-namespace -m devdax -n slurm-flat -r region1
		ndctl disable-namespace namespace1.0' >/dev/null 2>&1
	provision flat
	assert_state flat
	sh_node 'daxctl offline-memory dax0.0; daxctl reconfigure-device -m devdax -f dax1.0; daxctl disable-device dax1.0' >/dev/null 2>&1
	provision flat
	assert_state flat
}

@test "memory that does not go offline is put online again, and it is a reboot" {
	provision flat
	# Pages that a pipe holds cannot be migrated.
	node tee /root/hold.py >/dev/null <<-'END'
		import ctypes, mmap, os, time
		memory = mmap.mmap(-1, 64 << 20)
		memory.write(b"x" * (64 << 20))
		address = ctypes.addressof(ctypes.c_char.from_buffer(memory))
		class Iovec(ctypes.Structure):
		    _fields_ = [("base", ctypes.c_void_p), ("length", ctypes.c_size_t)]
		end = os.pipe()[1]
		if ctypes.CDLL(None).vmsplice(end, ctypes.byref(Iovec(address, 16 * 4096)), ctypes.c_ulong(1), 0) < 0:
		    raise SystemExit("vmsplice")
		print("held", flush=True)
		time.sleep(600)
	END
	background 'numactl --membind=3 python3 /root/hold.py'
	wait_for 30 node grep -q held /run/pm-test.out
	provision 5 empty --config /root/hasty.conf
	assert_output --partial 'the kernel cannot offline the memory of region1 (node 3): '
	run -0 sh_node 'daxctl list -D -d dax1.0'
	assert_output --regexp '"online_memblocks":31,.*"total_memblocks":31,.*"movable":true'
	teardown
	provision empty
	assert_state empty
}

@test "memory that fits nowhere else is not even tried" {
	provision flat
	background 'numactl --membind=2 python3 -c "b = bytearray(2200 << 20); print(len(b), flush=True); import time; time.sleep(600)"'
	wait_for 60 node grep -q 2306867200 /run/pm-test.out
	provision 5 empty
	assert_output --partial 'MiB are in use on the NUMA nodes of persistent memory'
	run -0 sh_node 'kill -0 $(cat /run/pm-test.pids)'
	assert_state flat
	teardown
	provision fsdax
	assert_state fsdax
}

# killed_at STATE 'COMMAND': kill -9 when this command is in the journal, and recover
killed_at() {
	sh_node "rm -f /var/lib/slurm-pmem/substate.json; pmctl provision $1 >/dev/null 2>&1 & pid=\$!
		until grep -q '\"text\":.*$2' /var/lib/slurm-pmem/substate.json 2>/dev/null; do kill -0 \$pid || exit 1; done
		kill -9 \$pid; while pgrep -x 'ndctl|daxctl|mkfs.ext4|mke2fs' >/dev/null; do sleep 0.1; done"
}

@test "pmctl killed at any step: recover cleans up, and puts the kernel's policy back" {
	local before at
	before=$(policy)
	provision empty
	for at in 'flat create-namespace' 'flat system-ram' 'devdax wipe' 'fsdax mkfs.ext4'; do
		killed_at $at
		run -0 pmctl recover
		assert_equal "$(policy)" "$before"
		[[ $at == fsdax* ]] || assert_state empty
	done
}

@test "pmctl killed while a file system is taken away: no byte of it is forgotten" {
	local at
	for at in 'empty create-namespace' 'empty wipe'; do
		provision fsdax
		killed_at $at
		run -0 pmctl recover
		run node ndctl list -N
		refute_output --partial devdax
		provision empty
		assert_state empty
		run -0 node python3 -c 'import json; print(json.load(open("/var/lib/slurm-pmem/substate.json"))["dirty"])'
		assert_output '[]'
	done
}

@test "xfs instead of ext4" {
	provision empty
	sh_node 'cp /etc/slurm/pmem.conf /root/xfs.conf; echo FileSystem=xfs >>/root/xfs.conf'
	provision fsdax --config /root/xfs.conf
	assert_state fsdax
	run -0 node findmnt -no FSTYPE /mnt/slurm-pmem/socket0
	assert_output xfs
	node umount /mnt/slurm-pmem/socket0
	provision fsdax
	assert_state fsdax
	provision empty
}

@test "Provision=no: nothing is made, every namespace is in the way" {
	provision devdax
	sh_node 'cp /etc/slurm/pmem.conf /root/no.conf; echo Provision=no >>/root/no.conf'
	provision 1 empty --config /root/no.conf
	assert_output --partial "is not slurm-pmem's"
	provision 1 flat --config /root/no.conf
	assert_output --partial 'Provision=no in pmem.conf'
	provision fsdax --config /root/no.conf
	assert_state devdax
}
