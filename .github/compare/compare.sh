#!/usr/bin/env bash
# Compare two revisions, and write the job's summary, the text of a comment, a page and the outputs of the step.
# Ends with 0 after any verdict (verdict.sh decides about the job), else with the exit code of the command.
set -euo pipefail

# On stderr: `revision` below runs in a subshell whose stdout is its result.
fail() { printf '::error::%s\n' "$1" >&2; exit 2; }
# A value that begins with a dash would be an option of git or of fasterroof.
value() { case "$2" in -*) fail "$1 must not begin with a dash." ;; esac; }

folder=${INPUT_FOLDER:-fasterroof-compare} base=${INPUT_BASE:-HEAD~1} head=${INPUT_HEAD:-HEAD}
value folder "$folder"; value base "$base"; value head "$head"
mkdir -p -- "$folder"

# A checkout of one commit has no baseline: fetch it.
revision() {
  [[ $1 =~ ^[A-Za-z0-9._/~^@{}+-]+$ ]] || fail "base and head must be git revisions."
  git rev-parse --verify --quiet "$1^{commit}" && return
  git fetch --quiet --depth=1 origin "$1" >&2 ||
    fail "The checkout lacks a revision that cannot be fetched: use actions/checkout with fetch-depth: 0."
  git rev-parse --verify FETCH_HEAD
}
base=$(revision "$base"); head=$(revision "$head")

if [ -n "${INPUT_FUNCTION:-}" ]; then
  [ -z "${INPUT_CASES:-}" ] || fail "cases and function are both given: use one of them."
  value function "$INPUT_FUNCTION"
  arguments=("$base..$head" "$INPUT_FUNCTION")
else
  arguments=("$base" "$head" --platform "${INPUT_PLATFORM:-torch-cpu}")
fi
arguments+=(--time-limit "${INPUT_TIME_LIMIT:-900}")
cases=0
while IFS= read -r case; do
  [ -n "$case" ] || continue
  value cases "$case"
  arguments+=(--case "$case")
  cases=$((cases + 1))
done <<<"${INPUT_CASES:-}"
[ "$cases" -gt 0 ] || [ -n "${INPUT_FUNCTION:-}" ] ||
  fail "cases names no case: give files of benchmark cases, one a line, or a function."
[ -z "${INPUT_PAIRS:-}" ] || arguments+=("--pairs=$INPUT_PAIRS")
[ -z "${INPUT_EFFECT:-}" ] || arguments+=("--effect=$INPUT_EFFECT")
[ -z "${INPUT_PREPARE:-}" ] || arguments+=("--prepare=$INPUT_PREPARE")

code=0
python -m fasterroof bench compare "${arguments[@]}" --store "$folder/rows" \
  --out "$folder/compare.json" --report "$folder/report.md" || code=$?
case $code in
  0) verdict=held ;;
  1) verdict=slower ;;
  3) verdict="cannot tell" ;;
  *) exit "$code" ;;
esac
python "$(dirname -- "${BASH_SOURCE[0]}")/outputs.py" "$folder" "$verdict"
