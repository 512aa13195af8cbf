#!/bin/bash
# tests/run-all: what it runs, what it makes of it, and that check-all leaves nothing out.
set -uo pipefail

. tests/unit/check.bash

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
mkdir "$scratch/tests"
cp tests/run-all "$scratch/tests"

# with TARGETS: run-all in a project in which each suite passes one test, but for what these rules say; its status in $status.
with() {
	local suite
	for suite in all build-bench run-{lint,fuzz,unit,image-trixie,ansible,bench-1,bench-2,bench-3,sequences-short,twin,rare,last}; do
		grep -q "^$suite:" <<<"$1" || printf '%s:\n\t@echo "ok 1 - %s"\n' "$suite" "$suite"
	done >"$scratch/Makefile"
	printf '%s\n' "$1" >>"$scratch/Makefile"
	shift
	(unset MAKEFLAGS MFLAGS MAKELEVEL; exec "$scratch/tests/run-all" "$@") >"$scratch/out" 2>&1
	status=$?
}

# says SUITE WORD PASSED FAILED SKIPPED: its line of the summary.
says() { grep -qE "^$1 +$2 +$3 passed +$4 failed +$5 skipped +[0-9]+ s$" "$scratch/out"; }
said() { grep -qE "$1" "$scratch/out"; }

with ''
check "all pass" test $status -eq 0
check "each has its line" says twin passed 1 0 0
check "what is not named does not run" test -z "$(grep rare "$scratch/out")"
check "they are added up" said '^10 passed, 0 failed in'

with '' rare last
check "what is named runs as well" says last passed 1 0 0
check "and is added" said '^12 passed, 0 failed in'

with $'run-fuzz:\n\t@echo "not ok 1 - reader"; echo "# for a reason"; echo "ok 2 - writer"; echo "# went well"\n\t@false\nrun-rare:\n\t@echo "== 3 passed, 1 failed, 2 skipped in 4.00s =="\n\t@false' rare last
check "a failure fails the whole" test $status -ne 0
check "a failure early on leaves out none" says last passed 1 0 0
check "a failure has its line" says fuzz FAILED 1 1 0
check "a failure is shown again" said '^fuzz +\| not ok 1 - reader'
check "with its cause" test "$(sed -n '/^=== failures/,$p' "$scratch/out" | grep -m1 -A1 reader | tail -n 1)" = 'fuzz           | # for a reason'
check "and nothing else" test "$(sed -n '/^=== failures/,$p' "$scratch/out" | grep -c 'went well')" = 0
check "pytest's are counted" says rare FAILED 3 1 2
check "what has failed is named at the end" test "$(sed -n '/ passed, .* failed in /,$p' "$scratch/out" | grep ' | ')" = 'fuzz           | not ok 1 - reader'

with $'run-rare:\n\t@false' rare
check "a suite that ends without a test's failure fails the whole" test $status -ne 0
check "and counts as one" says rare FAILED 0 1 0

with $'run-rare:\n\t@echo "ok 1 - a # skip no root"; echo "   2 (1 left) ok      2.0 s  x"; echo "   3 (0 left) not met 2.0 s  y"' rare
check "what is skipped is not counted as passed" says rare passed 1 0 2

# Each of the two waits for the other.
with $'run-sequences:\n\t@touch sequences; timeout 60 sh -c "until [ -e rare ]; do sleep 0.1; done"
run-rare:\n\t@touch rare; timeout 60 sh -c "until [ -e sequences ]; do sleep 0.1; done"' rare last sequences
check "what mostly waits runs beside the others" test $status -eq 0
check "which go on after it" says last passed 1 0 0

# What a person can ask for by check-NAME runs run-NAME: in check, in check-all, in parts of it, or it is no test.
listed=" $(sed -n "s/^LANES=(\(.*\))$/\1/p; s/^LAST=//p" tests/run-all | tr -d "'" | xargs) $(sed -n 's/^CHECK_ALL := //p' Makefile) "
declare -A PARTS=([bench]='bench-1 bench-2 bench-3' [ansible-all]='ansible ansible-tests') # with lint and sanity, which are in ansible
asked=$(grep -hA3 '^check-[a-z-]*:' Makefile tests/*/rules.mk | sed -n 's/.*no-print-directory run-\([a-z-]*\)$/\1/p')
check "there are such targets" test "$(wc -w <<<"$asked")" -ge 12
for suite in $asked; do
	for part in ${PARTS[$suite]:-$suite}; do
		check "check-all runs $part" grep -qF " $part " <<<"$listed"
	done
done
conclude
