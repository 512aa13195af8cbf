# Sourced by the placement runtime's tests: where things are, and its configurations. Here both of its tiers are on node
# 0, as PM_NODE_DRAM and PM_NODE_PMEM may say.
# shellcheck shell=bash disable=SC2034,SC2154

setup() {
	bats_load_library bats-support
	bats_load_library bats-assert
	cd "$BATS_TEST_DIRNAME/../.." || return
	top=$PWD
	build=${PM_BUILD:-$PWD/build}
	runtime=$build/libpmplace.so
	own=$build/tests/runtime
	report=$BATS_TEST_TMPDIR/report
	profiles=$BATS_TEST_TMPDIR/profiles
	advice=$BATS_TEST_TMPDIR/advice.profiled
	export XDG_RUNTIME_DIR=$BATS_TEST_TMPDIR
	unset "${!PM_@}" "${!OMP_@}" "${!SLURM_@}" "${!PMI_@}" "${!PMIX_@}" "${!OMPI_@}" LD_PRELOAD MALLOC_CONF
}

MIB=1048576

# place MEBIBYTES COMMAND...: with such a budget, a quarter of it metadata and a quarter temporary.
place() {
	local bytes=$(($1 * MIB))
	shift
	PM_RANK_DRAM=$bytes PM_NODE_DRAM=0 PM_NODE_PMEM=0 PM_LOCAL_RANK=0 \
		PM_SPACES=metadata=$((bytes / 4)),temporary=$((bytes / 4)),migration=0,free=$((bytes / 2)) \
		LD_PRELOAD=$runtime "$@"
}

# advised COMMAND...: as the last profile advises; programs of which it knows nothing need not say so.
advised() {
	[ -e "$advice" ] || "$top/pmreport/pmreport" --no-names "$profiles" --advice "$advice" &>/dev/null || echo 'pmadvice 2' >"$advice"
	PM_ADVICE=$advice place 32 "$@" 2> >(grep -v "PM_ADVICE='.*it has nothing for this program" >&2)
}

# Each configuration of the matrix; without is plain glibc, idle is the runtime with nothing to do, profiled is watched,
# and advised heeds what that has found.
CONFIGURATIONS='without idle roomy tight empty profiled advised'
in_configuration() {
	local configuration=$1
	shift
	case $configuration in
	without) "$@" ;;
	idle) LD_PRELOAD=$runtime "$@" ;;
	roomy) place 256 "$@" ;;
	tight) place 16 "$@" ;;
	empty) place 0 "$@" ;;
	profiled) PM_PROFILE=$profiles:bursts place 32 "$@" ;;
	advised) advised "$@" ;;
	esac
}

# same COMMAND...: prints and returns the same in all configurations.
same() {
	local configuration expected
	for configuration in $CONFIGURATIONS; do
		run in_configuration "$configuration" "$@"
		[ "$configuration" != without ] || expected=$status:$output
		assert_equal "$configuration $status:$output" "$configuration $expected"
	done
}

# told KEY...: a number of the last report, or the sum of those in an object.
told() {
	tail -n1 "$report" | perl -MJSON::PP -MList::Util=sum0 -e '
		my $value = decode_json(<STDIN>);
		$value = $value->{$_} // 0 for @ARGV;
		print ref $value eq "HASH" ? sum0(values %$value) : $value' "$@"
}

# dram PATTERN: the DRAM of each process that has reported a line with such words.
dram() {
	grep "$1" "$report" | perl -MJSON::PP -MList::Util=sum0 -ne '
		print sum0(values %{decode_json($_)->{resident_bytes}{dram}}), "\n"'
}
