#!/usr/bin/env bats
# The placement runtime in programs of ours and of others, each beside the same program without it. Here both of its
# tiers are on node 0, as PM_NODE_DRAM and PM_NODE_PMEM may say.
# shellcheck disable=SC2154 # output, stderr and status are set by run, the others by helpers.bash
bats_require_minimum_version 1.5.0

load helpers

# --- the matrix ---

@test "all allocation functions of C, in threads, children, constructors and at exit" {
	for configuration in $CONFIGURATIONS; do
		run -0 in_configuration "$configuration" "$own/family"
		refute_line --regexp '^not ok'
		assert_line '# at exit there is memory'
	done
}

@test "all operators of C++, and out of memory" {
	for configuration in $CONFIGURATIONS; do
		run -0 in_configuration "$configuration" "$own/operators"
		refute_line --regexp '^not ok'
	done
}

@test "bash: pipelines, subshells, here documents" {
	same bash -c 'for i in {1..200}; do echo "$i $(seq "$i" | tail -1)"; done | sort -rn | head -50; cat <<<"${BASH_VERSION//[0-9]/x}"'
}

@test "grep, sort, sed and awk" {
	seq 300000 | sed 's/.*/& & line/' >"$BATS_TEST_TMPDIR/lines"
	same bash -c "grep -E '7(1|2)+.*8' '$BATS_TEST_TMPDIR/lines' | sort -k2,2r -S 4M --parallel=2 | awk '{ s[\$1 % 97] += \$2 } END { for (i in s) print i, s[i] }' | sort -n | md5sum"
}

@test "python3: objects, threads, children, extension modules" {
	same /usr/bin/python3 -c '
import ctypes, hashlib, json, re, sqlite3, subprocess, sys, threading, zlib
def work(n):
    for i in range(n):
        data = json.dumps({str(k): list(range(k)) for k in range(200)}).encode()
    found.append(hashlib.sha1(zlib.compress(data)).hexdigest())
found = []
threads = [threading.Thread(target=work, args=(5,)) for _ in range(8)]
[t.start() for t in threads], [t.join() for t in threads]
db = sqlite3.connect(":memory:")
db.execute("create table t (a, b)")
db.executemany("insert into t values (?, ?)", ((i, str(i) * 9) for i in range(20000)))
print(set(found), db.execute("select count(*), max(b) from t").fetchone())
print(subprocess.check_output(["echo", "child"]), len(bytearray(50_000_000)))'
}

@test "perl" {
	same perl -e 'my %h; $h{$_ % 1000} .= "x" x ($_ % 50) for 1 .. 100000; my @s = sort { length $h{$a} <=> length $h{$b} || $a <=> $b } keys %h; print "@s[0 .. 9]\n", `echo child`'
}

@test "git" {
	mkdir "$BATS_TEST_TMPDIR/repository"
	cd "$BATS_TEST_TMPDIR/repository" || return
	export GIT_AUTHOR_DATE='2026-01-01T00:00Z' GIT_COMMITTER_DATE='2026-01-01T00:00Z' GIT_CONFIG_GLOBAL=/dev/null \
		GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b
	same bash -c 'rm -rf .git && git init -q -b main && seq 20000 >f && git add f && git commit -qm one && seq 5 30000 >f &&
		git commit -qam two && git diff HEAD^ --stat && git log --format=%H && git gc -q && git fsck'
}

@test "MPI programs of two kinds" {
	export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
	for mpi in openmpi mpich; do
		[ -x "/usr/bin/mpicc.$mpi" ] || continue
		"mpicc.$mpi" -o "$BATS_TEST_TMPDIR/ranks" tests/unit/mpi_ranks.c
		options=$([ $mpi = mpich ] || echo --oversubscribe)
		# shellcheck disable=SC2086
		PM_REPORT=$report run -0 mpirun.$mpi $options -n 2 "$build/pmrun" --pm-bind=none --pm-dram=64M \
			--pm-runtime="$runtime" "$BATS_TEST_TMPDIR/ranks"
		assert_line --regexp '^rank 1: sum 1, '
		assert_equal "$(grep -o '"rank":"[01]".*"attached":true' "$report" | cut -c1-10 | sort -u | wc -l)" 2
		rm "$report"
	done
}

@test "LAMMPS: positions and velocities to the last bit" {
	command -v lmp >/dev/null || skip "no lmp: apt install lammps"
	export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMP_NUM_THREADS=1
	# shellcheck disable=SC2016
	same bash -c 'lmp -in "$1/in.lj" -var size 8 -var steps 100 -var out "$2" -log none -screen none && md5sum <"$2"' - \
		tests/runtime/inputs "$BATS_TEST_TMPDIR/out"
	assert_output --regexp '^[0-9a-f]{32}  -$'
}

@test "GROMACS: the same of water" {
	command -v gmx >/dev/null || skip "no gmx: apt install gromacs"
	cp tests/runtime/inputs/water.* "$BATS_TEST_TMPDIR"
	cd "$BATS_TEST_TMPDIR" || return
	gmx -quiet solvate -cs spc216.gro -box 2.2 2.2 2.2 -o water.gro -p water.top
	gmx -quiet grompp -f water.mdp -c water.gro -p water.top -o run.tpr -maxwarn 1
	same bash -c 'gmx -quiet mdrun -s run.tpr -reprod -nt 1 -deffnm run -c out.gro 2>log && md5sum <out.gro; rm -f out.gro'
	assert_output --regexp '^[0-9a-f]{32}  -$'
}

@test "output to a pipe is complete: it is written at the very end" {
	same bash -c "perl -e 'printf \"line %d\n\", \$_ for 1 .. 200; exit 3' | md5sum"
}

@test "a program of another allocator" {
	jemalloc=$(ldconfig -p | sed -n 's/.*libjemalloc\.so\.2.*=> //p;T;q')
	[ -n "$jemalloc" ] || skip "no libjemalloc.so.2"
	LD_PRELOAD="$runtime $jemalloc" run -0 "$own/operators"
	LD_PRELOAD="$runtime $jemalloc" PM_RANK_DRAM=$((64 * MIB)) run -0 "$own/operators"
	refute_output --partial 'nothing is placed'
	LD_PRELOAD="$runtime $jemalloc" PM_RANK_DRAM=$((64 * MIB)) run -0 bash -c 'seq 1000 | sort -n | tail -1'
	assert_output 1000
}

# It has neither reallocarray nor pvalloc: what these give must be its own, for it is the one that frees.
@test "an allocator that comes first is the only one" {
	jemalloc=$(ldconfig -p | sed -n 's/.*libjemalloc\.so\.2.*=> //p;T;q')
	[ -n "$jemalloc" ] || skip "no libjemalloc.so.2"
	LD_PRELOAD="$jemalloc $runtime" run -0 "$own/threads" -n 5000
	assert_line --index 0 --partial '# seed'
	LD_PRELOAD="$jemalloc $runtime" PM_RANK_DRAM=$((64 * MIB)) run -0 "$own/threads" -n 5000
	assert_line --index 0 "pm: another allocator comes first, a preloaded library's or a checker's: nothing is placed"
	LD_PRELOAD="$jemalloc $runtime" PM_RANK_DRAM=$((64 * MIB)) run -0 "$own/operators"
}

@test "what others want of jemalloc is not for ours" {
	MALLOC_CONF=stats_print:true run -0 place 64 /bin/true
	assert_output ''
}

@test "little address space is enough" {
	run -0 bash -c "ulimit -v 1500000; PM_RANK_DRAM=$((32 * MIB)) LD_PRELOAD=$runtime '$own/hoard' $MIB 100"
	assert_output ''
	run -0 bash -c "ulimit -v 100000; PM_RANK_DRAM=$((32 * MIB)) LD_PRELOAD=$runtime '$own/hoard' $MIB 2"
	assert_output --partial 'nothing is placed'
}

@test "what is reserved is not counted as the program's, and what is not there is not given" {
	run -0 bash -c "ulimit -d 300000; PM_RANK_DRAM=$((32 * MIB)) LD_PRELOAD=$runtime '$own/hoard' $MIB 200"
	assert_output ''
	run -2 bash -c "ulimit -d 300000; PM_RANK_DRAM=$((32 * MIB)) LD_PRELOAD=$runtime '$own/hoard' $MIB 400"
	assert_output ''
}

@test "both tiers are bound to their nodes" {
	run -0 place 64 cat /proc/self/numa_maps
	assert_line --regexp ' bind:0 .*anon=.*N0='
}

# --- without parameters ---

@test "without a budget the runtime maps nothing, and programs see nothing of its inside" {
	# Anonymous pages only: how many pages of files are resident is the page cache's affair.
	anonymous() {
		perl -ne 'print $1 if /^Anonymous:\s+(\d+)/' /proc/self/smaps_rollup
	}
	plain=$(anonymous)
	idle=$(LD_PRELOAD=$runtime anonymous)
	[ $((idle - plain)) -lt 100 ]
	run -1 bash -c "nm -D --defined-only '$runtime' | grep -vE ' (_Z(n|d)[wla].*|pmplace_(iteration|phase|alloc|move|advise|stream_(open|next|close))|MPI_Pcontrol|mpi_pcontrol_|[a-z_]*alloc(array|_usable_size)?|posix_memalign|memalign|c?free|free_(aligned_)?sized)$'"
	assert_output ''
}

# --- the budget ---

@test "the budget is used and never exceeded; what does not fit is spilled, and counted" {
	PM_REPORT=$report run -0 place 64 "$own/hoard" $((3 * MIB)) 100
	[ "$(told resident_bytes dram)" -le $((64 * MIB)) ]
	[ "$(told spaces free peak_bytes)" -ge $((30 * MIB)) ]
	[ "$(told spaces free peak_bytes)" -le $((32 * MIB)) ]
	spilled=$(told spilled_objects)
	[ "$spilled" -eq $((100 - 10)) ]
	[ "$(told spilled_bytes)" -eq $((90 * 3 * MIB)) ]
	[ "$(told resident_bytes pmem)" -ge $((90 * 3 * MIB)) ]
	[ "$(told refused_bytes)" -eq 0 ]
}

# watched BYTES PROGRAM...: its exit status, and the most DRAM that the kernel has seen it have with such a budget. What is
# bound is DRAM where PM_NODE_PMEM is not said. The runtime's own words are not asked.
watched() {
	# shellcheck disable=SC2016
	run -0 perl -e '
		my ($budget, $most, $pid) = (shift, 0, fork);
		if (!$pid) {
			open STDOUT, ">", "/dev/null";
			@ENV{qw(LD_PRELOAD PM_RANK_DRAM PM_NODE_DRAM)} = (shift, $budget, 0);
			exec @ARGV;
		}
		while (!waitpid $pid, 1) {
			open my $maps, "<", "/proc/$pid/numa_maps" or next;
			my $bytes = 0;
			while (<$maps>) {
				$bytes += $1 * $2 * 1024 if / bind:0 .* N0=(\d+) kernelpagesize_kB=(\d+)/;
			}
			$most = $bytes if $most < $bytes;
			select undef, undef, undef, 0.01;
		}
		print "$? $most\n"' "$1" "$runtime" "${@:2}"
	read -r status most <<<"$output"
}

@test "at no time of a run does the kernel see more than the budget in DRAM" {
	watched $((16 * MIB)) "$own/family"
	assert_equal "$status" 0
	[ "$most" -gt 0 ]
	[ "$most" -le $((16 * MIB)) ]
}

@test "nor when what temporary does not need is lent, and objects are moved there" {
	export PM_REPORT=$report PM_SPACES=metadata=$((8 * MIB)),temporary=$((32 * MIB))
	watched $((64 * MIB)) "$own/pic" 8
	assert_equal "$status" 0
	[ "$(told sizing promoted_bytes)" -ge $((20 * MIB)) ]
	[ "$most" -gt $((52 * MIB)) ]
	[ "$most" -le $((64 * MIB)) ]
}

@test "small objects fill metadata, then free, then PMem" {
	PM_REPORT=$report run -0 place 64 "$own/hoard" 20000 10000
	[ "$(told resident_bytes dram)" -le $((64 * MIB)) ]
	[ "$(told spaces metadata peak_bytes)" -ge $((14 * MIB)) ]
	[ "$(told spaces free peak_bytes)" -ge $((24 * MIB)) ]
	[ "$(told spaces temporary peak_bytes)" -eq 0 ]
	[ "$(told resident_bytes pmem)" -ge $((130 * MIB)) ]
}

# Sixty-four objects of 512 KiB. jemalloc's start and the program's few small objects leave the rest to them.
@test "few small objects leave a small budget to large ones" {
	for mib in 6 12 24; do
		rm -f "$report"
		PM_REPORT=$report PM_RANK_DRAM=$((mib * MIB)) PM_SPACES='' LD_PRELOAD=$runtime run -0 "$own/hoard" $((MIB / 2)) 64
		[ "$(told resident_bytes dram)" -le $((mib * MIB)) ]
		[ "$(told spilled_objects)" -le $((64 - 2 * (mib - 1))) ]
	done
}

# A third is kept, 2 MiB: the second object is denied it, the third too, then it is given up.
@test "the first large objects leave a part of a small budget to small ones" {
	for n in 2 5; do
		rm -f "$report"
		PM_REPORT=$report PM_RANK_DRAM=$((6 * MIB)) PM_SPACES='' LD_PRELOAD=$runtime run -0 "$own/hoard" $((5 * MIB / 2)) "$n"
		assert_equal "$(told spilled_objects)" $((n == 2 ? 1 : 3))
	done
	PM_REPORT=$report PM_RANK_DRAM=$((6 * MIB)) PM_SPACES=metadata=$((2 * MIB)) LD_PRELOAD=$runtime run -0 "$own/hoard" $((5 * MIB / 2)) 1
	assert_equal "$(told spaces free used_bytes)" $((5 * MIB / 2))
}

@test "what is kept for prefetching is used before PMem" {
	PM_REPORT=$report PM_RANK_DRAM=$((20 * MIB)) PM_SPACES=metadata=$((8 * MIB)),migration=$((12 * MIB)) \
		LD_PRELOAD=$runtime run -0 "$own/hoard" $((3 * MIB)) 6
	assert_equal "$(told spaces migration peak_bytes)" $((12 * MIB))
	assert_equal "$(told spilled_objects)" 2
}

@test "with no budget all is in PMem" {
	PM_REPORT=$report run -0 place 0 "$own/hoard" $((3 * MIB)) 10
	assert_equal "$(told resident_bytes dram)" 0
	[ "$(told resident_bytes pmem)" -ge $((30 * MIB)) ]
}

@test "objects of a size that keeps coming back are temporary" {
	PM_REPORT=$report run -0 place 64 "$own/family"
	[ "$(told spaces temporary peak_bytes)" -gt 0 ]
}

@test "in a program that tells its iterations, call sites are temporary, not sizes" {
	PM_REPORT=$report run -0 place 64 "$own/alike" mark
	assert_equal "$(told spaces temporary peak_bytes)" $((2 * MIB))
	assert_equal "$(told spaces temporary used_bytes)" 0
	assert_equal "$(told iterations known) $(told iterations number)" 'marked 10'
}

# Ten objects stay. Until the fifth iteration is seen to be one, they are like those that go.
@test "in one that does not, its iterations are inferred from the large objects it asks for" {
	PM_REPORT=$report run -0 place 64 "$own/alike"
	assert_equal "$(told iterations known) $(told iterations number)" 'inferred 6'
	[ "$(told spaces temporary used_bytes)" -le $((5 * MIB)) ]
	PM_REPORT=stderr run -0 --separate-stderr place 64 "$own/alike"
	[[ $stderr == *'iterations: 6, inferred'* ]]
	PM_REPORT=$report run -0 place 64 "$own/hoard" $MIB 50
	assert_equal "$(told iterations known) $(told iterations number)" 'none 0'
}

@test "iterations need no memory that a limit of data forbids" {
	PM_REPORT=$report PM_SPACES=temporary=$((16 * MIB)) run -0 \
		bash -c "ulimit -d 300000; PM_RANK_DRAM=$((32 * MIB)) LD_PRELOAD=$runtime '$own/alike' mark"
	assert_equal "$(told spaces temporary peak_bytes)" $((2 * MIB))
}

# Work arrays alone are large and come again, so that a part of an iteration is taken for one.
@test "the same where iterations are inferred, a little later" {
	PM_REPORT=$report PM_RANK_DRAM=$((64 * MIB)) PM_NODE_DRAM=0 PM_SPACES=metadata=$((16 * MIB)),temporary=$((16 * MIB)) \
		LD_PRELOAD=$runtime run -0 "$own/pic" 8 0 1 unmarked
	assert_equal "$(told iterations known)" inferred
	assert_equal "$(told sizing needed_bytes)" $((2 * 1664 * 1024))
	assert_equal "$(told sizing promoted_bytes)" $((8 * MIB))
	fields=$(perl -ane 'print $F[2] if $F[0] eq "fields"' <<<"$output")
	[ "$fields" -ge $((8 * 8 * 300 * 1024 + 6 * 8 * 15 * 300 * 1024)) ]
}

# Bound memory is DRAM here. Of 16 fields one is in DRAM from the first iteration on, and 15 are moved at its end; each is
# passed 8 times in each of 8 iterations. Two work arrays of 1664 KiB are the most that is there at a time.
@test "temporary is sized by the first iteration, and what it does not need is for what is long-lived, small before large" {
	sized() {
		PM_REPORT=$report PM_RANK_DRAM=$((64 * MIB)) PM_NODE_DRAM=0 LD_PRELOAD=$runtime \
			PM_SPACES=metadata=$((16 * MIB)),temporary=$((16 * MIB)) "$own/pic" 8
	}
	PM_SIZING=fixed run -0 sized
	assert_line "fields 314572800 $((8 * 8 * 300 * 1024))"
	assert_equal "$(told sizing)" 0
	assert_equal "$(told spaces lent size_bytes)" 0
	sum=$(grep ^sum <<<"$output")
	run -0 sized
	assert_line "$sum"
	assert_line "fields 314572800 $((8 * 8 * 300 * 1024 + 7 * 8 * 15 * 300 * 1024))"
	assert_equal "$(told sizing needed_bytes)" $((2 * 1664 * 1024))
	assert_equal "$(told sizing spare_bytes)" $((4 * MIB))
	assert_equal "$(told sizing lent_bytes)" $((8 * MIB))
	assert_equal "$(told sizing promoted_bytes)" $((8 * MIB))
	assert_equal "$(told spaces temporary size_bytes)" $((8 * MIB))
	assert_equal "$(told spaces lent used_bytes)" $((8 * MIB))
	PM_REPORT=stderr run -0 --separate-stderr place 64 "$own/pic" 8
	[[ $stderr == *'temporary, by the first iteration: 4M needed and 4M spare; 8M lent to long-lived objects'* ]]
	[[ $stderr == *'8M of spilled objects are in DRAM since then'* ]]
}

# Each process of a rank has the whole budget in view, and what is one's is no other's.
@test "processes of a rank share its budget" {
	export PM_REPORT=$report
	for ranks in '' '-n 1'; do
		rm -f "$report"
		# shellcheck disable=SC2086
		run -0 "$build/pmrun" $ranks --pm-bind=none --pm-dram=64M --pm-runtime="$runtime" "$own/hoard" \
			$((5 * MIB)) 4 "$own/hoard" $((5 * MIB)) 3 bash -c "exec '$own/hoard' $((5 * MIB)) 30; true"
		assert_output ''
		assert_equal "$(dram hoard | wc -l)" 3
		total=$(($(dram hoard | paste -sd+)))
		[ "$total" -le $((64 * MIB)) ]
		[ "$total" -ge $((25 * MIB)) ]
	done
}

@test "what a process had is another's when it has ended" {
	export PM_REPORT=$report
	run -0 "$build/pmrun" -n 1 --pm-bind=none --pm-dram=64M --pm-runtime="$runtime" \
		bash -c "for i in 1 2 3; do '$own/hoard' $((5 * MIB)) 4; done"
	assert_equal "$(dram hoard | wc -l)" 3
	for bytes in $(dram hoard); do
		[ "$bytes" -ge $((20 * MIB)) ]
	done
}

@test "a child that inherited no roll asks its parent's, and has nothing where there is none" {
	export PM_REPORT=$report
	start() {
		run -0 "$build/pmrun" -n 1 --pm-bind=none --pm-dram=64M --pm-runtime="$runtime" "$@"
	}
	start /usr/bin/python3 -c 'import subprocess, sys; subprocess.run(sys.argv[1:])' "$own/hoard" $((5 * MIB)) 4
	[ "$(dram '"program":"[^"]*hoard"')" -ge $((8 * MIB)) ]
	rm "$report"
	# shellcheck disable=SC2016
	start bash -c 'eval "exec $PM_ATTACH_FD>&-"; "$0" "$@"; true' "$own/hoard" $((5 * MIB)) 4
	assert_equal "$(dram '"program":"[^"]*hoard"')" 0
}

@test "a child that is forked has its part, too, where there is a roll" {
	work='my $child = fork; my $x = "x" x 20_000_000; $child ? wait : exit 0'
	PM_REPORT=$report run -0 "$build/pmrun" --pm-bind=none --pm-dram=128M --pm-runtime="$runtime" perl -e "$work"
	assert_equal "$(told attached)" 1
	assert_equal "$(grep -c '"attached":false' "$report")" 1
	both=$(($(grep -o '"dram_bytes":[0-9]*' "$report" | cut -d: -f2 | paste -sd+)))
	[ "$both" -ge $((2 * 20 * MIB)) ]
	[ "$both" -le $((128 * MIB)) ]
	rm "$report"
	PM_REPORT=$report run -0 place 128 perl -e "$work"
	assert_equal "$(grep -o '"spilled_objects":[0-9]*' "$report" | grep -vc ':0$')" 1
}

@test "scripts may use the small numbers of files" {
	export PM_REPORT=$report
	run -0 "$build/pmrun" --pm-bind=none --pm-dram=64M --pm-runtime="$runtime" \
		bash -c "exec 3>&1 4<&0 5>/dev/null 6>&1; '$own/hoard' $((5 * MIB)) 4; true"
	[ "$(dram hoard)" -ge $((20 * MIB)) ]
}

# --- static data ---

# The line of numa_maps that has 64 MiB, less a page that it may share with other data, and its policy.
assert_bss() {
	assert_line --regexp "^[0-9a-f]+ $1 .*anon=1638[34] "
}

@test "large static data are in DRAM, within the budget, or in PMem" {
	export PM_REPORT=$report
	run -0 place 256 "$own/bss"
	assert_bss bind:0
	[ "$(told static_bytes dram)" -ge $((63 * MIB)) ]
	assert_equal "$(told static_bytes pmem)" 0
	[ "$(told spaces free used_bytes)" -ge $((63 * MIB)) ]
	[ "$(told resident_bytes dram)" -le $((12 * MIB)) ]
	run -0 place 64 "$own/bss"
	assert_bss bind:0
	assert_equal "$(told static_bytes dram)" 0
	[ "$(told static_bytes pmem)" -ge $((63 * MIB)) ]
	PM_STATIC=pmem run -0 place 256 "$own/bss"
	assert_equal "$(told static_bytes dram)" 0
	[ "$(told static_bytes pmem)" -ge $((63 * MIB)) ]
}

@test "static data of programs without a budget, and of those without much, stay as they are" {
	LD_PRELOAD=$runtime run -0 "$own/bss"
	assert_bss default
	PM_REPORT=$report run -0 place 64 "$own/hoard" 1 1
	assert_equal "$(told static_bytes)" 0
}

# --- the report ---

@test "the report is for people, or a line of JSON that is appended" {
	PM_REPORT=stderr run -0 --separate-stderr place 64 "$own/hoard" $((3 * MIB)) 20
	assert_output ''
	[[ $stderr == *'pm: rank 0: budget 64M of DRAM, '* ]]
	[[ $stderr == *'spilled to PMem: 10 objects of 30M'* ]]
	[[ $stderr == *'pm: rank 0: pages of pmem: '*' on node 0'* ]]
	PM_REPORT=$report place 64 "$own/hoard" 1 1
	PM_REPORT=$report place 64 "$own/hoard" 1 1
	assert_equal "$(wc -l <"$report")" 2
	assert_equal "$(told budget_bytes)" $((64 * MIB))
	assert_equal "$(told rank)" 0
}

@test "a rank's own process tells in any case, its children if they need more than the least" {
	PM_REPORT=stderr run -0 --separate-stderr "$build/pmrun" --pm-bind=none --pm-dram=64M --pm-runtime="$runtime" \
		bash -c "for i in 1 2 3; do cat </dev/null; done; '$own/hoard' $((5 * MIB)) 2; true"
	assert_equal "$(grep -c budget <<<"$stderr")" 2
	PM_REPORT=$report run -0 "$build/pmrun" --pm-bind=none --pm-dram=64M --pm-runtime="$runtime" "$own/hoard" 1 1
	assert_equal "$(told attached)" 1
	PM_REPORT=stderr run -0 --separate-stderr "$build/pmrun" --pm-bind=none --pm-dram=6M --pm-runtime="$runtime" \
		bash -c "'$own/hoard' 1000 1000; '$own/hoard' $((MIB / 2)) 1; '$own/hoard' 1000 3000; true"
	assert_equal "$(grep -c budget <<<"$stderr")" 3
}

@test "a report that cannot be written is told of, and the program is as it was" {
	PM_REPORT=/nonexistent/report run -0 place 64 perl -e 'print "runs\n"'
	assert_line runs
	assert_line --partial "pm: rank 0: report to '/nonexistent/report' failed: No such file"
}

@test "the report goes where it was asked from, wherever the program goes" {
	cd "$BATS_TEST_TMPDIR" || return
	PM_REPORT=report run -0 place 64 perl -e 'chdir "/"'
	[ -s "$report" ]
}

# --- profiles and advice ---

# pic [GRAINS]: particle-in-cell data of 102 MiB, and grains of 1 KiB, with 28 MiB of DRAM in one space, where bound memory is DRAM.
pic() {
	PM_RANK_DRAM=$((28 * MIB)) PM_NODE_DRAM=0 PM_LOCAL_RANK=${PM_LOCAL_RANK:-0} LD_PRELOAD=$runtime "$own/pic" 8 "$@"
}

# found EXPRESSION: of the first program that pmreport tells of in JSON, in Perl.
found() {
	pmreport/pmreport --json --no-names "$profiles" | perl -MJSON::PP -MList::Util=sum0,max -e '
		local $/;
		$_ = decode_json(<STDIN>)->[0];
		print eval $ARGV[0]' "$1"
}

@test "a profile has each large object of a program, and its small ones about" {
	PM_PROFILE=$profiles run -0 pic
	assert_equal "$(found '$_->{iterations}')" marked
	assert_equal "$(found '"@{[map { $_->{objects} } grep { $_->{large} && $_->{short_objects} } @{$_->{sites}}]}"')" '192 192'
	assert_equal "$(found '"@{[sort { $a <=> $b } map { $_->{objects} } grep { $_->{large} && !$_->{short_objects} } @{$_->{sites}}]}"')" \
		'4 16 60'
	assert_equal "$(found 'max map { $_->{peak_bytes} } @{$_->{sites}}')" $((48 * MIB))
	small=$(found 'sum0 map { $_->{allocated_bytes} } grep { !$_->{large} } @{$_->{sites}}')
	[ "$small" -ge $((6 * MIB)) ] # 24000 objects of 413 bytes
	[ "$small" -le $((20 * MIB)) ]
	assert_equal "$(found 'scalar @{$_->{by_iteration}}')" 9
	assert_equal "$(found 'join " ", map { $_->{name}, $_->{times} } @{$_->{phases}}')" '(before the first) 1 stream 8 push 8 solve 8'
	[ "$(found 'sum0 map { $_->{page_faults} } @{$_->{phases}}')" -gt 0 ]
	[ "$(found 'sum0 map { $_->{cpu_ns} } @{$_->{phases}}')" -gt 1000000 ]
	run -0 pmreport/pmreport "$profiles"
	assert_line --regexp '^\[8,16\) +0 +0B +0B +4 +48.0M +48.0M$'
	assert_line --regexp ' 60 +35\.2M .* main pic\.c:[0-9]+$'
}

# accessed MIB: bytes of pages that were accessed of the object of that size, and of those that were written.
accessed() {
	found "join ' ', map { (\$_->{accessed_bytes}, \$_->{written_bytes}) } grep { \$_->{largest_bytes} == $1 << 20 } @{\$_->{sites}}"
}

# With PAGEMAP_SCAN (Linux 6.7) the kernel tells of written pages, too.
@test "a profile tells how often pages are accessed and written, in epochs, also of a program that forks" {
	for how in '' fork; do
		rm -rf "$profiles"
		PM_RANK_DRAM=$((64 * MIB)) PM_PROFILE=$profiles:bursts LD_PRELOAD=$runtime run -0 "$own/touch" 4 $how
		assert_output 'cold 1'
		read -r cold _ <<<"$(accessed 4)"
		read -r often never <<<"$(accessed 5)"
		read -r written writes <<<"$(accessed 6)"
		read -r once _ <<<"$(accessed 7)"
		[ "$((20 * cold))" -le "$once" ]
		[ "$((5 * often))" -ge "$((2 * 7 * once))" ] || [ -n "$how" ] # each page twice as often: 5 MiB against 7
		[ "$((5 * written))" -ge "$((4 * often))" ]
		[ "$((10 * never))" -le "$often" ]
		[ "$writes" -eq 0 ] || [ "$((2 * writes))" -ge "$written" ]
	done
	[ "$writes" -gt 0 ] || [ "$(printf '%s\n' 6.7 "$(uname -r)" | sort -V | head -n1)" != 6.7 ]
	[ "$(found '$_->{accesses}{count}')" -ge 10 ]
	run -0 pmreport/pmreport --no-names "$profiles"
	assert_line --regexp '^the counted traffic that DRAM serves as advised: at 64\.0M a rank 100%, of what comes first 100%$'
}

# counts: samples of the objects of 5, 6, 7 and 8 MiB.
counts() {
	found 'my %n = map { ($_->{largest_bytes} >> 20, $_->{accesses_count}) } @{$_->{sites}}; "@n{5 .. 8}"'
}

# The ring of samples under the one event with addresses that each kernel has. In PMem nothing is prefaulted.
@test "samples: an ordinary user's page faults are counted one by one, also of threads that end" {
	install -d -m 777 "$profiles"
	chmod o+x "$BATS_TEST_TMPDIR" "$BATS_RUN_TMPDIR"/{,test}
	PM_RANK_DRAM=$((4 * MIB)) PM_NODE_DRAM=0 PM_PROFILE=$profiles:faults LD_PRELOAD=$runtime \
		run -0 setpriv --reuid=65534 --regid=65534 --clear-groups "$own/touch" 1 threads
	assert_output 'cold 1'
	assert_equal "$(counts)" '1280 1536 1792 4096'
	assert_equal "$(found '"$_->{accesses}{source} $_->{accesses}{lost}"')" 'faults 0'
	run -0 pmreport/pmreport --no-names "$profiles"
	assert_output --partial 'page faults, which are first touches alone'
}

@test "samples: a program that forks, with none of the events of its child" {
	PM_RANK_DRAM=$((4 * MIB)) PM_NODE_DRAM=0 PM_PROFILE=$profiles:faults LD_PRELOAD=$runtime run -0 "$own/touch" 3 fork
	assert_output 'cold 1'
	read -r five six seven _ <<<"$(counts)"
	[ "$six" -gt $((2 * 1536)) ] # after each fork it copies what it writes
	[ "$five" -le 1280 ]
	[ "$seven" -le 1792 ]
}

@test "a profile says how accesses were not measured, and none measures none" {
	PM_RANK_DRAM=$((64 * MIB)) PM_PROFILE=$profiles:none LD_PRELOAD=$runtime run -0 "$own/touch" 1
	assert_output 'cold 1'
	run -0 pmreport/pmreport --no-names "$profiles"
	assert_output --partial 'accesses were not measured'
	PM_RANK_DRAM=$((64 * MIB)) PM_PROFILE=$profiles.samples:samples LD_PRELOAD=$runtime run -0 "$own/touch" 1
	assert_line 'cold 1'
	said=$(grep -c '^pm: .*PM_PROFILE: accesses are not measured by samples: .' <<<"$output") || true
	had=$(profiles=$profiles.samples found '$_->{accesses}{source} // "none"')
	assert_equal "$had $said" "$([ "$had" = none ] && echo 'none 1' || echo 'samples 0')"
	run -1 "$build/pmrun" --pm-bind=none --pm-runtime="$runtime" --pm-profile="$profiles:sampels" "$own/touch" 1
	assert_output --partial ":sampels': the word behind the colon is not auto, samples, bursts, faults or none, and there is no such directory"
	[ ! -e "$profiles:sampels" ]
}

@test "call sites that are inlined into one function are told apart, by the program's own functions" {
	PM_RANK_DRAM=$((64 * MIB)) PM_PROFILE=$profiles LD_PRELOAD=$runtime run -0 "$own/wrappers"
	run -0 pmreport/pmreport "$profiles"
	assert_line --regexp ' 5 +10\.0M .* Allocate wrappers\.cc:[0-9]+ < forces:[0-9]+ < main:[0-9]+$'
	assert_line --regexp ' 5 +5\.0M .* Allocate wrappers\.cc:[0-9]+ < velocities:[0-9]+ < main:[0-9]+$'
	assert_line --regexp ' 5 +2\.5M .* Allocate wrappers\.cc:[0-9]+ < main:[0-9]+$'
	assert_line --regexp ' 5 +10\.0M .* Field wrappers\.cc:[0-9]+ < main:[0-9]+$'
	refute_output --partial 'std::'
	refute_output --partial 'without -g'
	run -0 pmreport/pmreport --group-by=function "$profiles" "$profiles"
	assert_line --regexp ' 5 +10\.0M .* Allocate < forces < main$'
	strip -g -o "$BATS_TEST_TMPDIR/stripped" "$own/wrappers"
	PM_RANK_DRAM=$((64 * MIB)) PM_PROFILE=$profiles.stripped LD_PRELOAD=$runtime run -0 "$BATS_TEST_TMPDIR/stripped"
	run -0 pmreport/pmreport "$profiles.stripped"
	assert_line 'stripped was built without -g: no line numbers'
	assert_equal "$(grep -c ' main +0x[0-9a-f]*$' <<<"$output")" 4
	run -0 pmreport/pmreport --group-by=function "$profiles.stripped"
	assert_line --regexp ' 20 +27\.5M .* main$'
	run -1 pmreport/pmreport --group-by=function --advice=- "$profiles"
	assert_output --partial '--group-by=function and --advice exclude each other'
}

@test "wrappers of wrappers are told apart by their callers, and advice reaches each" {
	PM_RANK_DRAM=$((8 * MIB)) PM_PROFILE=$profiles LD_PRELOAD=$runtime run -0 "$own/deep"
	assert_line 'sum 330'
	run -0 pmreport/pmreport "$profiles"
	assert_line --regexp ' 20 +40\.0M .* layer deep\.cc:[0-9]+( < layer:[0-9]+){4} < scratch:[0-9]+ < main:[0-9]+$'
	assert_line --regexp ' 1 +2\.0M .* layer deep\.cc:[0-9]+( < layer:[0-9]+){4} < field:[0-9]+ < main:[0-9]+$'
	run -0 pmreport/pmreport "$profiles" --budget 4M --advice "$BATS_TEST_TMPDIR/advice"
	assert_equal "$(grep -cE '^site [0-9a-f]{16} ' "$BATS_TEST_TMPDIR/advice")" 2
	# The run is too short for a burst: the first site comes first.
	PM_RANK_DRAM=$((4 * MIB)) PM_NODE_DRAM=0 PM_ADVICE=$BATS_TEST_TMPDIR/advice PM_REPORT=$report LD_PRELOAD=$runtime run -0 "$own/deep"
	assert_equal "$(told advised_objects dram) $(told advised_objects pmem) $(told advised_objects unknown)" '1 20 0'
}

@test "advice of three frames is good for all callers of a wrapper" {
	PM_RANK_DRAM=$((8 * MIB)) PM_PROFILE=$profiles LD_PRELOAD=$runtime run -0 "$own/deep"
	/usr/bin/python3 - "$profiles"/*.pmprof >"$BATS_TEST_TMPDIR/advice" <<-'END'
		import sys
		from pathlib import Path
		sys.path.insert(0, "pmreport")
		from pmprofile import advice, records
		profile = records.read(Path(sys.argv[1]))
		keys = {records.site_key(frames[:3]) for frames in profile.sites.values() if len(frames) > 3}
		print(f"pmadvice 2\nprogram {profile.build:016x}\nbudgets {1 << 40}\nrest 0", *(f"site {key:016x} 0" for key in keys), sep="\n")
	END
	PM_RANK_DRAM=$((8 * MIB)) PM_NODE_DRAM=0 PM_ADVICE=$BATS_TEST_TMPDIR/advice PM_REPORT=$report LD_PRELOAD=$runtime run -0 "$own/deep"
	assert_equal "$(told advised_objects dram) $(told advised_objects pmem) $(told advised_objects unknown)" '0 21 0'
}

@test "call sites are the same in each rank and run" {
	for rank in 0 1; do
		PM_LOCAL_RANK=$rank PM_PROFILE=$profiles run -0 pic
	done
	assert_equal "$(found '$_->{processes} . " " . grep { $_->{large} } @{$_->{sites}}')" '2 5'
	assert_equal "$(found '"@{[sort { $a <=> $b } map { $_->{objects} } grep { $_->{large} } @{$_->{sites}}]}"')" '8 32 120 384 384'
}

@test "with an earlier run's advice what is used most is in DRAM, and results are the same" {
	share() {
		perl -ane '$F[2] or next; $all += $F[1]; $dram += $F[2]; END { printf "%d", 100 * $dram / 1867776000 }' <<<"$output"
	}
	PM_PROFILE=$profiles:bursts run -0 pic
	first=$(share) sum=$(grep ^sum <<<"$output")
	[ "$first" -le 20 ]
	run -0 pmreport/pmreport "$profiles" --advice "$BATS_TEST_TMPDIR/advice"
	PM_ADVICE=$BATS_TEST_TMPDIR/advice PM_REPORT=$report run -0 pic
	[ "$(share)" -ge 60 ]
	assert_line "$sum"
	assert_line 'work 855638016 855638016'
	assert_line 'fields 314572800 314572800'
	assert_line 'arrays 402653184 0'
	assert_equal "$(told spilled_objects)" 0
	[ "$(told resident_bytes dram)" -le $((28 * MIB)) ]
	assert_equal "$(told advised_objects unknown)" 0
	assert_equal "$(told advised_objects)" $((4 + 60 + 16 + 384))
}

# kinds NAME...: bytes in DRAM of pic's kinds.
kinds() {
	for kind in "$@"; do
		awk -v kind="$kind" '$1 == kind { print $3 }' <<<"$output"
	done | xargs
}

# Without accesses the order of sites is known: arrays, particles, fields, work.
@test "advice is for any budget and any size of the data, and objects are split" {
	PM_PROFILE=$profiles:none run -0 pic
	run -0 pmreport/pmreport "$profiles" --advice "$BATS_TEST_TMPDIR/advice"
	assert_line 'pmreport: pic: accesses were not measured: this advice is in the order of the first allocations'
	for budget in 20 32 80 110; do
		PM_RANK_DRAM=$((budget * MIB)) PM_NODE_DRAM=0 PM_LOCAL_RANK=0 PM_ADVICE=$BATS_TEST_TMPDIR/advice PM_REPORT=$report \
			LD_PRELOAD=$runtime run -0 "$own/pic" 8
		read -r "arrays$budget" "particles$budget" "fields$budget" "work$budget" <<<"$(kinds arrays particles fields work)"
		[ "$(told resident_bytes dram)" -le $((budget * MIB)) ]
	done
	assert_equal "$arrays20 $arrays32 $arrays80 $arrays110" '100663296 201326592 402653184 402653184'
	assert_equal "$particles20 $particles32 $particles110 $fields110 $work110" '0 0 294912000 314572800 855638016'
	[ "$particles80" -gt 50000000 ]
	[ "$particles80" -lt 294912000 ]

	# A part of an object of 12 MiB: its chunks are bound one by one, where there is a node of PMem.
	PM_RANK_DRAM=$((44 * MIB)) PM_NODE_DRAM=0 PM_NODE_PMEM=0 PM_LOCAL_RANK=0 PM_ADVICE=$BATS_TEST_TMPDIR/advice PM_REPORT=$report \
		LD_PRELOAD=$runtime run -0 "$own/pic" 8
	assert_equal "$(told advised_objects split)" 1
	[ "$(told dram_bytes)" -ge $((38 * MIB)) ]
	[ "$(told dram_bytes)" -le $((44 * MIB)) ]

	# Twice the data, half of it in DRAM.
	run -0 pmreport/pmreport "$profiles" --budget 100M --data 188M --advice "$BATS_TEST_TMPDIR/advice"
	PM_RANK_DRAM=$((100 * MIB)) PM_NODE_DRAM=0 PM_LOCAL_RANK=0 PM_ADVICE=$BATS_TEST_TMPDIR/advice LD_PRELOAD=$runtime run -0 "$own/pic" 4 0 2
	assert_equal "$(kinds fields work)" '0 0'
	[ "$(kinds arrays)" -ge 301989888 ] # of 402653184
	run -0 pmreport/pmreport "$profiles" --data 500M --advice "$BATS_TEST_TMPDIR/advice"
	run -0 "$build/pmrun" -n 2 --pm-bind=none --pm-dram=28M --pm-runtime="$runtime" --pm-advice="$BATS_TEST_TMPDIR/advice" "$own/pic" 4
	assert_equal "$(grep -c 'PM_ADVICE is for 500M of objects, and this run had 93M at most: profile it again, or write the advice by pmreport --data=93M' <<<"$output")" 1
}

@test "small objects of some sites are in PMem when that is advised, and leave their DRAM to others" {
	PM_PROFILE=$profiles:bursts run -0 pic 40000
	sum=$(grep ^sum <<<"$output")
	run -0 pmreport/pmreport "$profiles" --advice "$BATS_TEST_TMPDIR/advice"
	assert_equal "$(grep -c '^small [0-9a-f]* [0-9a-f]* 0 .*  # ' "$BATS_TEST_TMPDIR/advice")" 2
	PM_ADVICE=$BATS_TEST_TMPDIR/advice PM_REPORT=$report run -0 pic 40000
	assert_line "$sum"
	assert_line 'grains 327680000 0'
	assert_line 'work 855638016 855638016'
	assert_line 'fields 314572800 314572800'
	[ "$(told resident_bytes dram)" -le $((28 * MIB)) ]
}

@test "with all that is known advised to PMem, allocation functions are as ever" {
	for program in family operators; do
		PM_PROFILE=$profiles.$program run -0 place 32 "$own/$program"
		run -0 pmreport/pmreport "$profiles.$program" --budget 0 --no-names --advice "$BATS_TEST_TMPDIR/advice"
		PM_ADVICE=$BATS_TEST_TMPDIR/advice PM_REPORT=$report run -0 place 32 "$own/$program"
		refute_line --regexp '^not ok'
	done
	[ "$(told advised_objects dram)" -eq 0 ]
}

# Perl's strings fill the profile's buffer a few times, before and after it has closed all files.
@test "a profile's file is no number that a program may use" {
	PM_PROFILE=$profiles run -0 place 64 perl -e '
		require POSIX;
		sub work { for (1 .. 3000) { my $x = "x" x 300_000; undef $x } }
		work();
		POSIX::close($_) for 3 .. 255;
		open my $own, "+>", $ARGV[0] or die;
		work();
		print {$own} "mine\n"' "$BATS_TEST_TMPDIR/own"
	assert_equal "$(cat "$BATS_TEST_TMPDIR/own")" mine
	assert_equal "$(found '$_->{whole}')" 1
	[ "$(stat -c %s "$profiles"/*)" -gt $((3 << 16)) ]
}

@test "profiles of many threads and of children are whole" {
	PM_PROFILE=$profiles:bursts run -0 place 32 "$own/family"
	assert_equal "$(found '"$_->{processes} $_->{whole} " . sum0 map { $_->{objects} } grep { $_->{from_mib} == 64 } @{$_->{sizes}}')" \
		'1 1 1'
}

@test "MPI_Pcontrol is an iteration, in C and in Fortran" {
	PM_PROFILE=$profiles run -0 place 32 /usr/bin/python3 -c '
import ctypes
me = ctypes.CDLL(None)
for i in range(3):
    me.MPI_Pcontrol(1)
    me.MPI_Pcontrol(0)
me.mpi_pcontrol_(ctypes.byref(ctypes.c_int(1)))
data = bytearray(1000000)'
	assert_equal "$(found 'max map { $_->{iteration} } @{$_->{by_iteration}}')" 4
}

# MPI may make a call of C's of one of Fortran's: it counts once.
@test "a Fortran program under MPI of two kinds tells its iterations" {
	export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
	for mpi in openmpi mpich; do
		[ -x "/usr/bin/mpif90.$mpi" ] || continue
		"mpif90.$mpi" -o "$BATS_TEST_TMPDIR/loop" tests/runtime/loop.f90
		profiles=$BATS_TEST_TMPDIR/$mpi
		run -0 "mpirun.$mpi" -n 1 "$build/pmrun" --pm-bind=none --pm-dram=32M --pm-runtime="$runtime" --pm-profile="$profiles" \
			"$BATS_TEST_TMPDIR/loop"
		assert_equal "$(found 'join " ", map { $_->{iteration} } grep { $_->{iteration} } @{$_->{by_iteration}}')" '1 2 3'
	done
}

@test "a page with pictures stands for itself" {
	PM_PROFILE=$profiles run -0 pic
	run -0 pmreport/pmreport "$profiles" --html "$BATS_TEST_TMPDIR/page.html"
	run -0 cat "$BATS_TEST_TMPDIR/page.html"
	assert_output --regexp '<svg .*<path class="c0" .*</html>'
	for words in 'DRAM, MiB' 'PMem, MiB' 'budget 28 MiB' 'time since the process began, s' stream iterations; do
		assert_output --partial ">$words</text>"
	done
	refute_output --regexp 'https?://|<script|src='
}

@test "profiles and advice that cannot be are told of in one line" {
	says "PM_PROFILE='/proc/none': No such file or directory; there is no profile" \
		PM_RANK_DRAM=$((64 * MIB)) PM_PROFILE=/proc/none
	says "PM_ADVICE='/none': No such file or directory; it is not used" PM_RANK_DRAM=$((64 * MIB)) PM_ADVICE=/none
	says "PM_ADVICE='/etc/hosts': it does not begin with 'pmadvice 2', as files of pmreport do; it is not used" \
		PM_RANK_DRAM=$((64 * MIB)) PM_ADVICE=/etc/hosts
	printf 'pmadvice 2\nprogram 0123456789abcdef other\nbudgets 1\nsite 0123456789abcdef 1 # why\n' >"$BATS_TEST_TMPDIR/advice"
	says "PM_ADVICE='$BATS_TEST_TMPDIR/advice': it has nothing for this program as it is built now; it is not used" \
		PM_RANK_DRAM=$((64 * MIB)) PM_ADVICE="$BATS_TEST_TMPDIR/advice"
	printf 'pmadvice 1\nprogram 0123456789abcdef other\n' >"$BATS_TEST_TMPDIR/advice"
	says "PM_ADVICE='$BATS_TEST_TMPDIR/advice': it is an earlier pmreport's, in the order of allocations: write it anew, from a new profile" \
		PM_RANK_DRAM=$((64 * MIB)) PM_ADVICE="$BATS_TEST_TMPDIR/advice"
	for line in 'site 123' 'site 0123456789abcdef much' 'site 0123456789abcdef' 'keep 0123456789abcdef' 'site 0123456789abcdefg 1 2' \
		'site 0123456789abcdef 1' 'site 0123456789abcdef 1 2 3' 'small 0123456789abcdef 1 2' 'small 0123456789abcdef 0123456789abcdef 1' \
		'rest 1' 'rest' 'data 1 2' 'budgets 2 1' 'budgets 0 1' 'budgets'; do
		printf 'pmadvice 2\n# words\nbudgets 1 2\n%s\n' "$line" >"$BATS_TEST_TMPDIR/advice"
		says "PM_ADVICE='$BATS_TEST_TMPDIR/advice': line 4, '${line:0:40}', is not advice; it is not used" \
			PM_RANK_DRAM=$((64 * MIB)) PM_ADVICE="$BATS_TEST_TMPDIR/advice"
	done
	run -1 pmreport/pmreport "$BATS_TEST_TMPDIR/advice"
	assert_output --partial 'is not a profile of the placement runtime'
	mkdir "$BATS_TEST_TMPDIR/empty"
	run -1 pmreport/pmreport "$BATS_TEST_TMPDIR/empty"
	assert_output --partial "'$BATS_TEST_TMPDIR/empty' holds no profile"
}

# --- bad input: one line, and the program runs ---

# says WORDS VARIABLE=VALUE...
says() {
	local words=$1
	shift
	run -0 env PM_LOCAL_RANK=3 LD_PRELOAD="$runtime" "$@" sh -c 'echo runs'
	assert_line runs
	assert_line --partial "pm: rank 3: $words"
}

@test "parameters that cannot be are told of in one line, with what is done" {
	says "PM_RANK_DRAM='4G' is not a number of bytes: nothing is placed" PM_RANK_DRAM=4G
	says "PM_RANK_DRAM='-1' is not a number of bytes: nothing is placed" PM_RANK_DRAM=-1
	says "PM_RANK_DRAM='99999999999999999999' is not a number" PM_RANK_DRAM=99999999999999999999
	says "PM_SPACES='free=1,hot=2' is not a list like metadata=BYTES,...: all DRAM is one space" \
		PM_RANK_DRAM=$((64 * MIB)) PM_SPACES=free=1,hot=2
	says "PM_SPACES='temporary=99999999' is more than PM_RANK_DRAM=67108864: all DRAM is one space" \
		PM_RANK_DRAM=$((64 * MIB)) PM_SPACES=temporary=99999999
	says "PM_NODE_DRAM='one' is not a list of NUMA nodes like 0 or 0-1: this memory is not bound" \
		PM_RANK_DRAM=$((64 * MIB)) PM_NODE_DRAM=one
	says "PM_STATIC='cold' is neither dram nor pmem: it is dram" PM_RANK_DRAM=$((64 * MIB)) PM_STATIC=cold
	says "PM_SIZING='off' is neither measured nor fixed: it is measured" PM_RANK_DRAM=$((64 * MIB)) PM_SIZING=off
	says "cannot bind memory to PM_NODE_PMEM: Invalid argument; nothing is placed" \
		PM_RANK_DRAM=$((64 * MIB)) PM_NODE_PMEM=777
	says "PM_RANK_DRAM=1099511627776 is more than PM_NODE_DRAM=0 has: the budget is " \
		PM_RANK_DRAM=$((1 << 40)) PM_NODE_DRAM=0
}

# --- attaching ---

@test "its name leads to the file that is installed" {
	run "$build/pmrun" --pm-bind=none --pm-runtime=place true
	[ "$status" -eq 0 ] || assert_output --partial "/$(basename "$runtime")': No such file"
}

@test "a profile or an advice is asked for as pmrun's option, or by its variable" {
	printf 'pmadvice 2\n' >"$BATS_TEST_TMPDIR/advice"
	start() {
		run -0 "$build/pmrun" --pm-bind=none --pm-dram=64M --pm-runtime="$runtime" "$@"
	}
	start --pm-profile="$profiles" --pm-advice="$BATS_TEST_TMPDIR/advice" "$own/hoard" $MIB 3
	assert_output --partial "PM_ADVICE='$BATS_TEST_TMPDIR/advice': it has nothing for this program"
	assert_equal "$(found 'sum0 map { $_->{objects} } grep { $_->{large} } @{$_->{sites}}')" 3
	run "$build/pmrun" --pm-bind=none --pm-profile="$profiles" true
	[ "$status" -eq 0 ] || assert_output --partial "--pm-profile: runtime 'place': '"
	PM_ADVICE=/none run -0 "$build/pmrun" --pm-bind=none --pm-runtime=none sh -c 'echo "<$LD_PRELOAD>"'
	assert_output '<>'
}

@test "pmrun starts nothing for a profile or an advice that cannot be" {
	start() {
		run -1 "$build/pmrun" --pm-bind=none --pm-dram=64M --pm-runtime="$runtime" "$@" echo ran
	}
	start --pm-advice=/nonexistent
	assert_output "pmrun: read the advice '/nonexistent': No such file or directory"
	PM_ADVICE=/etc start
	assert_output "pmrun: the advice '/etc' is not a file"
	start --pm-profile=/etc/hosts
	assert_output "pmrun: the profiles' directory '/etc/hosts': Not a directory"
	start --pm-profile=/nonexistent/profiles
	assert_output "pmrun: make the profiles' directory '/nonexistent/profiles': No such file or directory"
}

@test "it attaches in ranks that pmrun starts, and in none of a static program" {
	run -0 --separate-stderr "$build/pmrun" -n 3 --pm-bind=none --pm-runtime="$runtime" bash -c 'true; true'
	[ -z "$stderr" ]
	[ -x /bin/busybox ] && ! ldd /bin/busybox >/dev/null 2>&1 || skip "no static busybox"
	run -0 --separate-stderr "$build/pmrun" -n 3 --pm-bind=none --pm-runtime="$runtime" /bin/busybox true
	[[ $stderr == *"did not attach in rank 0-2 of 3"* ]]
}
