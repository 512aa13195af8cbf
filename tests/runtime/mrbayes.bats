#!/usr/bin/env bats
# examples/mrbayes: MrBayes, a program of other people's, with its likelihoods in streams: the same samples of the chain with
# and without the runtime and with any number of helpers. On an alignment that a generator of random numbers made.
# shellcheck disable=SC2154 # output is set by run, the others by helpers.bash
bats_require_minimum_version 1.5.0
# bats file_tags=long

load helpers

SITES=20000 TAXA=12 GENERATIONS=30

setup_file() {
	perl "$BATS_TEST_DIRNAME/inputs/alignment.pl" $SITES $TAXA $GENERATIONS >"$BATS_FILE_TMPDIR/in.nex"
}

# chain NAME COMMAND...: runs the program on the alignment; $samples is the sum of those that it has written, parameters and
# trees, without the number of the run.
chain() {
	local folder=$BATS_TEST_TMPDIR/$1
	shift
	mkdir "$folder"
	cp "$BATS_FILE_TMPDIR/in.nex" "$folder"
	cd "$folder" || return
	PM_REPORT=$report run -0 "$@" in.nex
	cd "$top" || return
	samples=$(grep -hv '^\[ID: ' "$folder"/in.nex.{p,t} | tee "$folder/samples" | md5sum)
}

# The likelihoods of a node take 6 MB, those of all are beyond the free DRAM.
staged() {
	local bytes=$((32 * MIB))
	PM_RANK_DRAM=$bytes PM_NODE_DRAM=0 PM_NODE_PMEM=0 PM_LOCAL_RANK=0 \
		PM_SPACES=metadata=$((bytes / 8)),temporary=$((bytes / 8)),migration=$((bytes / 2)) LD_PRELOAD=$runtime "$@"
}

@test "mrbayes: the same samples with and without streams, runtime and helpers" {
	local expected
	chain plain "$build/mrbayes/plain/src/mb"
	expected=$samples
	[ "$(grep -c . "$BATS_TEST_TMPDIR/plain/samples")" -gt 30 ]
	chain without "$build/mrbayes/streams/src/mb"
	assert_equal "$samples" "$expected"
	for helpers in 0 1 2; do
		PM_STREAMS=$helpers chain "helpers$helpers" staged "$build/mrbayes/streams/src/mb"
		assert_equal "$samples" "$expected"
	done
	[ "$(told streams batches)" -gt 500 ]
	# Of a node two children are read and it is written.
	[ "$(told streams in_bytes)" -gt "$(told streams out_bytes)" ]
	[ "$(told streams out_bytes)" -gt $((200 * MIB)) ]
}

@test "mrbayes: the model gives a helper to loops that compute for long" {
	PM_STREAMS=paced PM_HELPER_CPUS=0 PM_MODEL='1 in=1:10000000000,2:20000000000 out=1:10000000000,2:20000000000 peak=1000000000000,1' chain helped staged "$build/mrbayes/streams/src/mb"
	run -0 perl -MJSON::PP -ne 'print scalar grep { $_->{helpers} } @{decode_json($_)->{streams}{phases}}' <(tail -n1 "$report")
	[ "$output" -ge 4 ]
	[ "$(told streams staged)" -gt 100 ]
}

@test "mrbayes: its streams are a patch of at most 100 lines" {
	[ "$(wc -l <examples/mrbayes/streams.patch)" -le 100 ]
}
