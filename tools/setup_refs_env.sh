#!/usr/bin/env bash
# Builds the environment of the reference baselines; `--help` says how.
set -euo pipefail

usage() {
    cat <<'TEXT'
Usage: tools/setup_refs_env.sh [--help]

Builds a Python environment with torch, torch_geometric and numpy, in which the workers of `fasterroof bench` run the
torch and PyG baselines. fasterroof itself is not installed there: workers read it from where the suite is started.
What there is already is kept, so it can be run again. The last line, alone on standard output, is what a shell needs:

    eval "$(tools/setup_refs_env.sh)"
    fasterroof bench --quick --platforms torch-cpu

Variables:
    FASTERROOF_REFS_ENV_DIR   where it is built (default: .refs-env in the current folder)
    FASTERROOF_REFS_VARIANT   cpu (default): torch's CPU wheels, or PyPI's where their index cannot be reached
                              cuda: PyPI's wheels, which bring CUDA on Linux
    FASTERROOF_REFS_PYTHON    the Python it is built with, 3.11 or newer (default: python3, or one that uv finds)

It is built by uv where that is installed, otherwise by `python3 -m venv` and pip.
TEXT
}

say() { printf '%s\n' "$*" >&2; }
fail() { say "setup_refs_env: $*"; exit 1; }

case "${1-}" in
    -h | --help) usage; exit 0 ;;
    "") ;;
    *) usage >&2; fail "it takes no argument '$1'." ;;
esac

variant=${FASTERROOF_REFS_VARIANT:-cpu}
dir=${FASTERROOF_REFS_ENV_DIR:-.refs-env}
cpu_index=https://download.pytorch.org/whl/cpu
unset PYTHONPATH PYTHONHOME  # of another environment

case "$variant" in
    cpu | cuda) ;;
    *) fail "FASTERROOF_REFS_VARIANT is cpu or cuda, not '$variant'." ;;
esac
if [ -e "$dir" ] && [ ! -d "$dir" ]; then fail "$dir is a file: name another FASTERROOF_REFS_ENV_DIR."; fi
if [ -d "$dir" ] && [ ! -e "$dir/pyvenv.cfg" ] && [ -n "$(ls -A -- "$dir")" ]; then
    fail "$dir holds something else than an environment: name another FASTERROOF_REFS_ENV_DIR."
fi
mkdir -p -- "$dir" || fail "$dir cannot be made: name another FASTERROOF_REFS_ENV_DIR."
dir=$(cd -- "$dir" && pwd)
python=$dir/bin/python
uv=$(command -v uv || true)

runs() { "$1" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; }

if ! runs "$python"; then
    say "Making an environment in $dir"
    if [ -n "$uv" ]; then
        "$uv" venv --quiet --allow-existing --python "${FASTERROOF_REFS_PYTHON:->=3.11}" -- "$dir" >&2 ||
            fail "uv could not make an environment in $dir; what it said is above."
    else
        base=${FASTERROOF_REFS_PYTHON:-python3}
        runs "$base" || fail "'$base' is no Python 3.11 or newer: name one in FASTERROOF_REFS_PYTHON."
        "$base" -m venv -- "$dir" >&2 ||
            fail "'$base' could not make an environment in $dir (Debian and Ubuntu have venv in the package python3-venv)."
    fi
    runs "$python" || fail "$python does not run: remove $dir and start again."
fi

install() {
    if [ -n "$uv" ]; then
        "$uv" pip install --quiet --python "$python" "$@" >&2
    else
        "$python" -m pip --version >/dev/null 2>&1 || "$python" -m ensurepip --upgrade >&2  # uv leaves pip out
        "$python" -m pip install --quiet "$@" >&2
    fi
}

reached() { "$python" -c 'import sys, urllib.request; urllib.request.urlopen(sys.argv[1], timeout=15)' "$1" 2>/dev/null; }

if ! "$python" -c 'import torch' 2>/dev/null; then
    from=()
    if [ "$variant" = cpu ]; then
        if reached "$cpu_index/torch/"; then from=(--index-url "$cpu_index")
        else say "$cpu_index cannot be reached: torch comes from PyPI, on Linux with CUDA, some gigabytes larger."; fi
    fi
    say "Installing torch ($variant)"
    # (an empty array is an unset one to the bash of macOS)
    install ${from[@]+"${from[@]}"} 'torch>=2.4' || fail "torch could not be installed; what the installer said is above."
fi
say "Installing torch_geometric and numpy"
install 'torch_geometric>=2.5' 'numpy>=1.26' ||
    fail "torch_geometric could not be installed; what the installer said is above."

say "Running one layer of message passing"
"$python" - "$variant" >&2 <<'PYTHON' || fail "the environment in $dir does not work: remove it and start again."
import sys

import numpy as np
import torch
import torch_geometric
from torch_geometric.nn import SimpleConv  # the plainest MessagePassing

ring = torch.tensor([[0, 1, 2], [1, 2, 0]])  # what node i has arrives at node i + 1
got = SimpleConv(aggr="sum")(torch.tensor([[1.0], [2.0], [3.0]]), ring).numpy()
if got.tolist() != [[3.0], [1.0], [2.0]]: sys.exit(f"message passing gave {got.tolist()}")
if sys.argv[1] == "cuda" and torch.version.cuda is None: sys.exit("this torch is one without CUDA")
print(f"torch {torch.__version__}, torch_geometric {torch_geometric.__version__}, numpy {np.__version__}")
PYTHON

printf 'export FASTERROOF_PYTHON_TORCH=%q\n' "$python"
