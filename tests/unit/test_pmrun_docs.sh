#!/bin/bash
# What pmrun takes, what its manual page says and what bash completes are the same.
set -uo pipefail

pmrun=${PM_BUILD:-build}/pmrun
page=docs/man/pmrun.1.rst
. tests/unit/check.bash

base=${TMPDIR:-/tmp}
[ "$(id -u)" -ne 0 ] || base=/run
config=$(mktemp "$base/pmrun-docs.XXXXXX") || exit
trap 'rm -f "$config"' EXIT
machine=tests/fixtures/topology/synthetic-cascade-lake-flat.xml

# "--pm-dram=SIZE|auto", as the help and the page write it; the page's section of one.
of_help() { "$pmrun" --help | grep -oE '^  (-[a-z], )?--[^ ]+' | grep -oE -- '--.*'; }
of_page() { sed -n '/^OPTIONS/,/^JSON/p' "$page" | grep -E '^-' | grep -oE -- '--.*'; }
section_of() { awk -v head="$1" '/^[^ ]/ { on = index($0, head) } on' "$page" | tr -s ' \n' ' '; }

check "there are options" test -n "$(of_help)"
check "the page has the help's options, in its order" diff <(of_help) <(of_page)
while read -r option twin; do
	section=$(section_of "$option")
	if [ -n "$twin" ]; then
		check "$option has its variable $twin in the page" grep -qF "Variable: **$twin**" <<<"$section"
	else
		check "$option has no variable in the page" test "${section#*Variable:}" = "$section"
	fi
done < <("$pmrun" --help | sed -nE '/^  (-|--)/ { s/^  (-[a-z], )?(--[^ ]+) .*\((PM_[A-Z_]+)\)$/\2 \3/; t show; s/^  (-[a-z], )?(--[^ ]+) .*/\2/; :show p }')
section_of_json() { sed -n '/^JSON$/,/^WHICH RANK/p' "$page"; }
keys=$("$pmrun" --config="$config" --json -n 4 --pm-threads=10 --topology="$machine" | grep -oE '"[a-z_]+":' | tr -d '":' | sort -u)
check "there is JSON" test -n "$keys"
for key in $keys; do
	check "its $key is in the page" grep -qE "(\*|^|, )$key(\*|,|\$)" <<<"$(section_of_json)"
done

not_in_page() {
	grep -oE '"[A-Z0-9_]+_[A-Z_]*(RANK|SIZE|ID|RANKS|NODE)[A-Z]*"' launcher/ranks.c | tr -d '"' | sort -u | while read -r name; do
		case $name in SLURM_NODEID | PALS_RANKID | PMI_RANK) ;; *) grep -qF "$name" "$page" || echo "$name" ;; esac
	done
}
check "the page has the launchers' variables" test -z "$(not_in_page)"

# The picture in docs/user is what pmrun draws, by the command that stands below it.
words=$(sed -nE 's/^ +pmrun --svg=placement.svg (.*)/\1/p' docs/user/placement.md)
check "the page tells how its picture was drawn" test -n "$words"
# shellcheck disable=SC2086 # words of a command
check "and it is that" diff <("$pmrun" --config="$config" --svg=- $words) docs/user/placement.svg
rows=$(grep -oE '^\| `--pm-[a-z-]+[^`]*` \| `PM_[A-Z_]+' docs/user/placement.md | sed -nE 's/^\| `(--pm-[a-z-]+).*`(PM_[A-Z_]+)$/\1 \2/p' | sort)
check "its options are the help's" diff <("$pmrun" --help | sed -nE 's/^  (--pm-[a-z-]+).*\((PM_[A-Z_]+)\)$/\1 \2/p' | sort) - <<<"$rows"
# The plugin has more, about the job's nodes: README.md lists all of its options.
of_jobs=$(sed -nE 's/^ {6}(--pm-[a-z-]+).*/\1/p' README.md | grep -vxF -e "$("$pmrun" --help | grep -oE -- '--pm-[a-z-]+')" | sort)
rows=$(sed -nE 's/^\| `(--pm-[a-z-]+)[^`]*` \| `PM_[A-Z_]+(=1)?` .*/\1/p' docs/user/modes.md | sort)
check "docs/user/modes.md has the options about the job's nodes" test -n "$of_jobs" -a "$rows" = "$of_jobs"

# shellcheck source=launcher/pmrun.bash
. launcher/pmrun.bash
compopt() { :; }

# complete WORD... : what bash offers for the last word, as it splits words at '='
completions() {
	COMP_WORDS=(pmrun "$@") COMP_CWORD=$# COMPREPLY=()
	_pmrun
	printf '%s\n' "${COMPREPLY[@]}" | sort
}

names=$(of_help | cut -d= -f1 | sort)
check "bash completes all options" diff <(completions -- | tr -d =) - <<<"$names"
check "those with an argument end with =" diff <(completions -- | grep '=') <(of_help | grep '=' | sed 's/=.*/=/' | sort)
check "a part of a name" test "$(completions --pm-dr)" = --pm-dram=
while IFS='=' read -r name values; do
	words=$(tr '|' '\n' <<<"$values" | grep -vE '^[A-Z]' | sort)
	[ "$name" != --pm-policy ] ||
		words=$("$pmrun" --help | sed -nE 's/.*where pages go: (.*) \(PM_POLICY\)/\1/p' | sed 's/ or /, /; s/, /\n/g' | sort)
	[ -n "$words" ] || continue
	check "bash completes $name=" diff <(completions "$name" =) - <<<"$words"
	check "and behind a blank" diff <(completions "$name" '') - <<<"$words"
	check "and a part" test "$(completions "$name" = "${words%%$'\n'*}")" = "${words%%$'\n'*}"
done < <(of_help | grep '=')
check "files where files go" grep -qx Makefile <(completions --svg = Make)
check "programs" grep -qx pmrun_probe <(pmrun_probe() { :; }; completions -n 4 --pm-verbose pmrun_pro)
check "nothing of ours behind the program" test -z "$(completions -n 4 --pm-dram = 4G ./app --p)"

conclude
