#!/bin/bash
# What pmctl takes and what its manual pages say are the same: verbs, options, keys, defaults.
set -uo pipefail

pmctl=${PM_BUILD:-build}/pmctl
page=docs/man/pmctl.8.rst
conf_page=docs/man/pmem.conf.5.rst
. tests/unit/check.bash
base=${TMPDIR:-/tmp}
[ "$(id -u)" -ne 0 ] || base=/run
config=$(mktemp -d "$base/pm-docs.XXXXXX") || exit
trap 'rm -rf "$config"' EXIT

# The options in a help text, the page's section of a verb, the keys that the page explains.
options_of() { grep -oE '^  --[a-z-]+' <<<"$1" | tr -d ' '; }
section_of() { awk -v head="$1" 'index($0, head) == 1 && (length == length(head) || substr($0, length(head) + 1, 1) == " ") { on = 1; print; next } /^[^ ]/ { on = 0 } on' "$page"; }
keys_of_page() { sed -n '/^KEYS/,/^EXAMPLE/p' "$conf_page" | grep -E '^[A-Za-z]+$' | grep -vE '^(KEYS|EXAMPLE)$'; }

help=$("$pmctl" --help)
check "the help exits 0" test -n "$help"
for option in $(options_of "$help"); do
	check "$option is in the page" grep -qE "^$option" "$page"
done
verbs=$("$pmctl" --list-verbs)
while read -r verb; do
	verb_help=$("$pmctl" $verb --help </dev/null)
	section=$(section_of "$verb")
	check "'$verb' is in the help" grep -qE "^  $verb( |$)" <<<"$help"
	check "'$verb' is in the page" test -n "$section"
	check "'$verb' has a usage line" grep -q "^usage: pmctl $verb " <<<"$verb_help"
	for option in $(options_of "$verb_help"); do
		grep -qE "^$option" "$page" || check "'$verb $option' is in the page" grep -q -- "$option" <<<"$section"
	done
done <<<"$verbs"
while read -r head; do
	name=${head%% [\[A-Z-]*}
	check "the page's verb '$name' exists" grep -qxF "$name" <<<"$verbs"
done < <(sed -n '/^VERBS/,/^EXIT STATUS/p' "$page" | grep -E '^[a-z]')

install -m 644 /dev/null "$config/pmem.conf"
shown=$("$pmctl" --config "$config/pmem.conf" show-config | sed -n 's/ # default$//p')
check "there are keys" test -n "$shown"
keys=$(cut -d= -f1 <<<"$shown")
while IFS='=' read -r key value; do
	check "$key is in the page" grep -qx "$key" "$conf_page"
	text=$(sed -n "/^$key\$/,/^\$/p" "$conf_page" | tr -s ' \n' ' ' | tr -d '\\')
	check "$key has its default there" grep -qF "Default: $value. Example: $key=" <<<"$text"
done <<<"$shown"
for key in $(keys_of_page); do
	check "the page's $key exists" grep -qx "$key" <<<"$keys"
done

# Slurm's reasons and their meanings, as 'pmctl explain' has them: users read the same in docs/user/modes.md.
reasons=$(sed -n '/^} reasons\[\] = {$/,/^};$/p' controller/explain.c | tr -d '\n\t' | sed 's/""//g' | grep -oE '\{[A-Z_]+, *"[^"]+", *"[^"]+"\}')
check "there are reasons" test -n "$reasons"
while IFS='"' read -r _ name _ meaning _; do
	check "modes.md has $name and its meaning" grep -qE "^\| \`\($name.*\| \`${meaning//./\\.}" docs/user/modes.md
done <<<"$reasons"

conclude
