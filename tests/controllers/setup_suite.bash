# One bench with two controllers for all files; PM_BENCH names it.
setup_suite() {
	bats_require_minimum_version 1.8.0
	export PM_BENCH=${PM_BENCH:-$BATS_SUITE_TMPDIR/bench.dir}
	export PM_BUILD=${PM_BUILD:-$BATS_TEST_DIRNAME/../../build}
	"$BATS_TEST_DIRNAME/../cluster/bench" up --controllers 2 --nodes 4 --owner $$ --build "$PM_BUILD" 3>&-
}

teardown_suite() {
	"$BATS_TEST_DIRNAME/../cluster/bench" down
}
