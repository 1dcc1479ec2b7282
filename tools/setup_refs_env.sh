#!/usr/bin/env bash
# Build the environment of the reference baselines; see --help.
set -euo pipefail

usage() {
    cat <<'TEXT'
Usage: tools/setup_refs_env.sh [--help]

Build a Python environment with torch, torch_geometric and numpy, in which the workers of `fasterroof bench` run the
torch and PyG baselines. fasterroof itself is not installed there: workers import it from the installation that runs
the suite. The script can be run again: it keeps an existing environment. Its only output on stdout is a line for the
shell to evaluate:

    eval "$(tools/setup_refs_env.sh)"
    fasterroof bench --quick --platforms torch-cpu

Variables:
    FASTERROOF_REFS_ENV_DIR   folder of the environment (default: .refs-env in the current folder)
    FASTERROOF_REFS_VARIANT   cpu (default): torch's CPU wheels, or those of PyPI if the CPU index cannot be reached
                              cuda: the wheels of PyPI, which include CUDA on Linux
    FASTERROOF_REFS_PYTHON    Python interpreter, 3.11 or newer (default: python3, or one that uv finds)

The script uses uv if it is installed, or else `python3 -m venv` and pip.
TEXT
}

say() { printf '%s\n' "$*" >&2; }
fail() { say "setup_refs_env: $*"; exit 1; }

case "${1-}" in
    -h | --help) usage; exit 0 ;;
    "") ;;
    *) usage >&2; fail "unknown argument '$1': the script takes only --help." ;;
esac

variant=${FASTERROOF_REFS_VARIANT:-cpu}
dir=${FASTERROOF_REFS_ENV_DIR:-.refs-env}
cpu_index=https://download.pytorch.org/whl/cpu
unset PYTHONPATH PYTHONHOME  # they would add packages of another environment

case "$variant" in
    cpu | cuda) ;;
    *) fail "FASTERROOF_REFS_VARIANT must be cpu or cuda, not '$variant'." ;;
esac
if [ -e "$dir" ] && [ ! -d "$dir" ]; then fail "$dir is a file: set FASTERROOF_REFS_ENV_DIR to a folder."; fi
if [ -d "$dir" ] && [ ! -e "$dir/pyvenv.cfg" ] && [ -n "$(ls -A -- "$dir")" ]; then
    fail "$dir is not empty and not an environment: set FASTERROOF_REFS_ENV_DIR to another folder."
fi
mkdir -p -- "$dir" || fail "cannot create $dir: set FASTERROOF_REFS_ENV_DIR to another folder."
dir=$(cd -- "$dir" && pwd)
python=$dir/bin/python
uv=$(command -v uv || true)

runs() { "$1" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; }

if ! runs "$python"; then
    say "Creating an environment in $dir"
    if [ -n "$uv" ]; then
        "$uv" venv --quiet --allow-existing --python "${FASTERROOF_REFS_PYTHON:->=3.11}" -- "$dir" >&2 ||
            fail "uv could not create an environment in $dir; its message is above."
    else
        base=${FASTERROOF_REFS_PYTHON:-python3}
        runs "$base" || fail "'$base' is not Python 3.11 or newer: set FASTERROOF_REFS_PYTHON to one that is."
        "$base" -m venv -- "$dir" >&2 ||
            fail "'$base' could not create an environment in $dir; its message is above (on Debian and Ubuntu, install python3-venv)."
    fi
    runs "$python" || fail "$python does not run: remove $dir and run this script again."
fi

install() {
    if [ -n "$uv" ]; then
        "$uv" pip install --quiet --python "$python" "$@" >&2
    else
        "$python" -m pip --version >/dev/null 2>&1 || "$python" -m ensurepip --upgrade >&2  # environments made by uv have no pip
        "$python" -m pip install --quiet "$@" >&2
    fi
}

reached() { "$python" -c 'import sys, urllib.request; urllib.request.urlopen(sys.argv[1], timeout=15)' "$1" 2>/dev/null; }

if ! "$python" -c 'import torch' 2>/dev/null; then
    from=()
    if [ "$variant" = cpu ]; then
        if reached "$cpu_index/torch/"; then from=(--index-url "$cpu_index")
        else say "$cpu_index cannot be reached: installing torch from PyPI, on Linux with CUDA, some gigabytes more."; fi
    fi
    say "Installing torch ($variant)"
    # the bash of macOS treats an empty array as unset
    install ${from[@]+"${from[@]}"} 'torch>=2.4' || fail "torch could not be installed; the message of the installer is above."
fi
say "Installing torch_geometric and numpy"
install 'torch_geometric>=2.5' 'numpy>=1.26' ||
    fail "torch_geometric could not be installed; the message of the installer is above."

say "Running one layer of message passing"
"$python" - "$variant" >&2 <<'PYTHON' || fail "the environment in $dir does not work: remove it and run this script again."
import sys

import numpy as np
import torch
import torch_geometric
from torch_geometric.nn import SimpleConv  # the simplest MessagePassing

ring = torch.tensor([[0, 1, 2], [1, 2, 0]])  # the value of node i arrives at node i + 1
got = SimpleConv(aggr="sum")(torch.tensor([[1.0], [2.0], [3.0]]), ring).numpy()
if got.tolist() != [[3.0], [1.0], [2.0]]: sys.exit(f"message passing gave {got.tolist()}")
if sys.argv[1] == "cuda" and torch.version.cuda is None: sys.exit("this torch has no CUDA")
print(f"torch {torch.__version__}, torch_geometric {torch_geometric.__version__}, numpy {np.__version__}")
PYTHON

printf 'export FASTERROOF_PYTHON_TORCH=%q\n' "$python"
