#!/usr/bin/env bats
# examples/umf: a pool of the Unified Memory Framework in each tier, by providers that call pm_alloc().
# shellcheck disable=SC2154 # output is set by run, the others by helpers.bash
bats_require_minimum_version 1.5.0

load helpers

SUM=124506 # of 1,000 records: twice the cells 0 to 250, and 0 to 247

@test "umf: without the runtime the pools have malloc's memory" {
	run -0 "$own/umf"
	assert_output "sum $SUM, table on node 0, records on node 0"
}

@test "umf: records go to persistent memory, the table does not" {
	PM_REPORT=$report run -0 place 64 "$own/umf"
	assert_output --partial "sum $SUM,"
	[ "$(told spaces pmem peak_bytes)" -ge 40000000 ]
	[ "$(told spaces pmem peak_bytes)" -le 60000000 ]
	[ "$(told spaces pmem used_bytes)" -eq 0 ]
	[ "$(told dram_bytes)" -le $((16 * MIB)) ]
}
