#!/bin/bash
# What pmtwin takes and what its manual page says are the same: commands, options, faults, variables.
set -uo pipefail

page=docs/man/pmtwin.1.rst
. tests/unit/check.bash

export COLUMNS=200 PYTHONDONTWRITEBYTECODE=1
pmtwin() { /usr/bin/python3 twin/pmtwin "$@"; }

# The long options in a help text; the commands; the page's section of one; the heads in a part of the page.
options_of() { grep -oE '^ +(-h, )?--[a-z-]+' | grep -oE -- '--[a-z-]+' | grep -vx -- --help; }
commands() { pmtwin --help | sed -nE 's/^    ([a-z-]+) .*/\1/p'; }
section_of() { awk -v head="$1" '/^[^ ]/ { on = $1 == head } on' "$page"; }
heads() { sed -n "/^$1\$/,/^$2\$/p" "$page" | grep -oE '^[a-z0-9-]+'; }

check "there are commands" test "$(commands | wc -l)" -gt 9
check "the page has the help's commands, in its order" diff <(commands) <(heads COMMANDS FAULTS)
for option in $(pmtwin --help | options_of); do
	check "$option is in the page" grep -qE "^${option}[= ]" "$page"
done
for command in $(commands); do
	section=$(section_of "$command")
	for option in $(pmtwin "$command" --help | options_of); do
		check "'$command $option' is in its line" grep -qE -- "[[]${option}[] ]" <<<"${section%%$'\n'*}"
	done
	for option in $(head -n 1 <<<"$section" | grep -oE -- '--[a-z-]+'); do
		check "the page's '$command $option' exists" grep -qx -- "$option" <(pmtwin "$command" --help | options_of)
	done
	check "'$command' is in docs/dev/twin.md" grep -qE "^\|.*(\`|pmtwin )${command}[ \`]" docs/dev/twin.md
done

faults() { (cd twin && /usr/bin/python3 -c 'from cluster import hardware; print(*hardware.faults(), sep="\n")'); }
check "the page has the faults that there are" diff <(faults | sort) <(heads FAULTS 'EXIT STATUS' | sort)
variables() { grep -rhoE "(PMTWIN|XDG)_[A-Z_]+" --include='*.py' twin/cluster twin/image | sort -u; }
check "there are variables" test -n "$(variables)"
for name in $(variables); do
	check "$name is in the page" grep -qw "$name" "$page"
done

conclude
