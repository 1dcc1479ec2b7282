#!/usr/bin/env bash
# End the job as the verdict says: held passes, slower fails, and INPUT_ON_AMBIGUOUS decides about the rest.
set -euo pipefail
printf '%s\n' "${ANSWER:-}"
case "${VERDICT:-}" in
  held) exit 0 ;;
  slower) echo "::error title=fasterroof::A version became slower."; exit 1 ;;
  "cannot tell")
    if [ "${INPUT_ON_AMBIGUOUS:-fail}" = pass ]; then
      echo "::warning title=fasterroof::The comparison cannot tell whether it became slower."
      exit 0
    fi
    echo "::error title=fasterroof::The comparison cannot tell whether it became slower."
    exit 3 ;;
  *) echo "::error title=fasterroof::There is no verdict."; exit 2 ;;
esac
