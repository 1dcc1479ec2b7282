#!/usr/bin/env bash
# Install fasterroof for the comparison: INPUT_INSTALL, or the version of this action.
set -euo pipefail
case "${INPUT_INSTALL:-}" in
  none) python -m fasterroof --version ;;
  "") python -m pip install "$GITHUB_ACTION_PATH[bench,probes]" ;;
  -*) echo "::error::install must be a requirement of pip, not an option."; exit 2 ;;
  *) python -m pip install "$INPUT_INSTALL" ;;
esac
