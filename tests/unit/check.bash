# Sourced by the tests of documents, which print TAP: `check NAME COMMAND…` is a line of it, and `conclude` ends it.
# shellcheck shell=bash
passed=0 failed=0

check() {
	local name=$1
	shift
	if "$@" >/dev/null; then
		passed=$((passed + 1))
		echo "ok $((passed + failed)) - $name"
	else
		failed=$((failed + 1))
		echo "not ok $((passed + failed)) - $name"
	fi
}

# The plan and the sum; fails if anything has.
conclude() {
	echo "1..$((passed + failed))"
	echo "# $passed passed, $failed failed"
	[ "$failed" -eq 0 ]
}
