#!/bin/bash
# Job templates: what Open OnDemand reads of them, and that their READMEs explain what their scripts say.
set -uo pipefail

. tests/unit/check.bash

# Keys of the Job Composer's manifests (apps/myjobs/app/models/manifest.rb in OSC/ondemand): it takes no others.
# `host` is a cluster's name, which only a site knows; without it the first one is taken.
manifest() {
	/usr/bin/python3 - "$1" <<-'END'
		import pathlib, sys, yaml
		path = pathlib.Path(sys.argv[1])
		manifest = yaml.safe_load(path.read_text())
		assert set(manifest) == {"name", "notes", "script"}, f"keys {set(manifest)}"
		assert all(isinstance(value, str) for value in manifest.values())
		assert (path.parent / manifest["script"]).is_file(), manifest["script"]
		print(manifest["name"])
	END
}

directives() { sed -n 's/^#SBATCH //p' "$1"; }
explained() { grep -oE '^\| `[^|]*' "$1"; }
in_table() { explained "$1" | grep -qF -- "\`$2\`"; }

# The options that ours have, as the README of the project prints them.
known=$(grep -oE '^ +--pm-[a-z]+' README.md | tr -d ' ' | sort -u)
check "there are options" test -n "$known"

names=
for dir in job_templates/*/; do
	template=$(basename "$dir")
	check "$template: bash reads its script" bash -n "$dir/job.sh"
	check "$template: Open OnDemand can read its manifest" manifest "$dir/manifest.yml"
	names+="$(manifest "$dir/manifest.yml")"$'\n'
	check "$template: the script has a mode" grep -q '^#SBATCH --pm-mode=' "$dir/job.sh"
	check "$template: squeue shows its name" grep -qx "#SBATCH --job-name=$template" "$dir/job.sh"
	while read -r option; do
		check "$template: README.md has the reason for $option" in_table "$dir/README.md" "$option"
	done < <(directives "$dir/job.sh")
	while read -r option; do
		check "$template: $option exists" grep -qxF -- "$option" <<<"$known"
	done < <(grep -ohE -- '--pm-[a-z]+' "$dir/job.sh" "$dir/README.md" | sort -u)
	while read -r option; do
		check "$template: the script has the $option that README.md explains" grep -qF -- "$option" "$dir/job.sh"
	done < <(explained "$dir/README.md" | grep -oE '`--[^`]*`' | tr -d '`')
	check "$template: it begins with what to type" grep -q '^    .* sbatch .*job.sh' <(sed -n 3,6p "$dir/README.md")
	check "$template: docs/user/templates.md leads to it" grep -qF "job_templates/$template/README.md" docs/user/templates.md
done
check "no two have the same name" test -z "$(sort <<<"$names" | uniq -d)"

conclude
