#!/usr/bin/env python3
"""Execute tutorials, and keep the outputs if other programs hardly used the CPUs meanwhile.

    .venv/bin/python .ci/publish.py nbs/tutorials/roofline.ipynb …
    .venv/bin/python .ci/publish.py --anyway …    keep the outputs of the quietest attempt
    .venv/bin/python .ci/publish.py --long …      execute cells marked long as well

Figures disturbed by other programs would mislead the reader. An attempt counts if those programs
used at most a tenth of the CPU time; there are three attempts. The end of each page states the
rule, the measured share and the machine. Cells marked long, and those that need a GPU, keep their
stored outputs.
"""

import argparse
import os
import re
import sys
from dataclasses import dataclass
from datetime import date
from pathlib import Path

import nbformat
from nbclient import NotebookClient

from fasterroof.machine import environment
from fasterroof.machine.host import ForeignLoad

LIMIT, ATTEMPTS = 0.1, 3
MARK = "<!-- outputs -->"
KEPT = re.compile(r"^#\| ?eval: false\b|^#\| ?notest\b(?s:.*)\bcuda\b", re.M)
LONG = re.compile(r"^#\| ?long\b", re.M)


@dataclass
class Attempt:
    "An executed notebook, and the share of CPU time that other programs used meanwhile."

    notebook: nbformat.NotebookNode
    foreign: float
    number: int
    kept: int  # cells with outputs of an earlier execution


def cpu_seconds(pid: int) -> float:
    "Return the CPU time of a process and of the children that it waited for, in seconds."
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")


def executed(path: Path, number: int, long: bool) -> Attempt:
    "Execute a notebook in a fresh kernel."
    nb = nbformat.read(path, 4)
    client = NotebookClient(
        nb, timeout=900, kernel_name="python3", resources={"metadata": {"path": str(path.parent)}}
    )
    load, older = ForeignLoad(), 0
    with client.setup_kernel():
        for i, cell in enumerate(nb.cells):
            kept = KEPT.search(cell.source) or (not long and LONG.search(cell.source))
            if cell.cell_type != "code":
                continue
            if kept:
                older += bool(cell.outputs)
            else:
                client.execute_cell(cell, i)
        foreign = load.share(cpu_seconds(client.km.provisioner.pid))
    if foreign is None:
        sys.exit("This system does not report the CPU time of other programs: publish on Linux.")
    return Attempt(nb, foreign, number, older)


def statement(attempt: Attempt) -> str:
    "State the conditions under which the outputs were measured."
    cpu = environment("cpu")["cpu"]
    machine = f"{cpu['cpus_allowed']} CPUs of {cpu['name']}"
    share, limit = (f"{100 * x:.0f} %" for x in (attempt.foreign, LIMIT))
    passed = "" if attempt.foreign <= LIMIT else f" None of {ATTEMPTS} attempts passed the check."
    older = " Cells that were not executed then keep earlier outputs." if attempt.kept else ""
    return (
        f"{MARK}\n*Outputs of {date.today():%d %B %Y} on {machine}. Load check: other programs used"
        f" {share} of the CPU time (limit {limit}, attempt {attempt.number} of at most"
        f" {ATTEMPTS}).{passed}{older}*"
    )


def publish(path: Path, anyway: bool, long: bool) -> bool:
    "Execute a notebook until an attempt passes the check, and write it."
    attempts: list[Attempt] = []
    while len(attempts) < ATTEMPTS and not (attempts and attempts[-1].foreign <= LIMIT):
        attempts.append(executed(path, len(attempts) + 1, long))
        print(f"{path}: other programs used {100 * attempts[-1].foreign:.0f} %", flush=True)
    best = min(attempts, key=lambda a: a.foreign)
    if best.foreign > LIMIT and not anyway:
        return False
    nb = best.notebook
    nb.cells = [c for c in nb.cells if not c.source.startswith(MARK)]
    nb.cells.append(nbformat.v4.new_markdown_cell(statement(best), id="outputs"))
    nbformat.write(nb, path)
    return True


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("notebooks", nargs="+", type=Path)
    parser.add_argument("--anyway", action="store_true", help="keep the quietest attempt")
    parser.add_argument("--long", action="store_true", help="execute cells marked long as well")
    args = parser.parse_args()
    os.environ.setdefault("PLOTLY_RENDERER", "plotly_mimetype+notebook_connected")
    left = [str(path) for path in args.notebooks if not publish(path, args.anyway, args.long)]
    sys.exit(f"The load check failed, outputs are unchanged: {', '.join(left)}" if left else 0)


if __name__ == "__main__":
    main()
