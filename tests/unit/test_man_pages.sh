#!/bin/bash
# Each manual page is formatted without a warning, for a terminal of 80 columns: no word is wider than its place.
set -uo pipefail

pages=${PM_BUILD:-build}/man
. tests/unit/check.bash

warnings_of() { { MANWIDTH=80 man --warnings -E UTF-8 -l -Tutf8 -Z "$1" >/dev/null; } 2>&1; }

is_silent() {
	local said
	said=$(warnings_of "$1")
	[ -z "$said" ] || sed 's/^/# /' <<<"$said" >&2
	[ -z "$said" ]
}

for source in docs/man/*.rst; do
	page=$pages/$(basename "$source" .rst)
	check "$(basename "$page") is there" test -s "$page"
	check "troff warns of nothing in it" is_silent "$page"
done

# A word that has no room is noticed, so silence means something.
wide=$(mktemp) || exit
trap 'rm -f "$wide"' EXIT
printf '.TH WIDE 1\n.SH NAME\nwide %s\n' "$(printf 'x%.0s' {1..200})" >"$wide"
check "a word that is too wide is warned of" test -n "$(warnings_of "$wide")"

conclude
