"""Compare the ceilings of `measure_peaks` with what plain C reaches, measured in turn.

In each round `ceilings.c` and `measure_peaks` run one after the other on the same CPUs, in
alternating order. The working set is half of a cache's capacity, and for main memory the size
that `measure_peaks` uses. Main memory may change its state within a second, so C measures it right
before and right after; the better of the two counts. Because `measure_peaks` takes seconds, its
kernels for main memory then run alone between two measurements in C. Pairs in which these two agree
within a tenth were in one state, and the median of those pairs counts. The output is what both
reached, their ratios, and the smallest ratio of each quantity beside its target. `--mixes` adds the
ratios of each mix of reads and writes; one far above the others of its level deserves a look.

    python benchmarks/ceilings.py [--rounds 3] [--modes fp32 bf16] [--mixes] [--width 100]
    [--json FILE]
"""

import argparse
import json
import platform
import shlex
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import torch
from rich.console import Console
from rich.table import Table

from fasterroof import measure_peaks
from fasterroof.core.units import si
from fasterroof.machine.host import cpu_name, cpu_quota, cpu_set, placements
from fasterroof.machine.probes.cpu import CPUProbe, memory_readings
from fasterroof.machine.probes.cpu_process import Prober
from fasterroof.machine.probes.readings import level
from fasterroof.machine.probes.torch_kernels import memory_size

REACH = {"fp32": 0.97, "bf16": 0.97, "fp64": 0.97, "DRAM": 0.97, "L1": 0.90, "L2": 0.90, "L3": 0.90}
SOURCE = Path(__file__).with_suffix(".c")


def built(folder: str) -> tuple[str, list[Path]]:
    "Return the version of the compiler and a program for each vector width of this machine."
    native = "-mcpu=native" if platform.machine() in ("aarch64", "arm64") else "-march=native"
    try:
        version = subprocess.run(
            ["cc", "--version"], capture_output=True, text=True, check=True
        ).stdout.splitlines()[0]
        asked = subprocess.run(
            ["cc", native, "-dM", "-E", "-x", "c", "/dev/null"],
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        widths = [64, 32] if "__AVX512F__" in asked else [32] if "__AVX__" in asked else [16]
        programs = [Path(folder, f"ceilings{8 * width}") for width in widths]
        for width, program in zip(widths, programs, strict=True):
            subprocess.run(
                [
                    "cc",
                    "-O3",
                    native,
                    "-pthread",
                    f"-DBYTES={width}",
                    str(SOURCE),
                    "-o",
                    str(program),
                ],
                capture_output=True,
                text=True,
                check=True,
            )
    except FileNotFoundError:
        sys.exit("This benchmark requires a C compiler named cc.")
    except subprocess.CalledProcessError as e:
        sys.exit(f"The C compiler could not build {SOURCE.name} ({shlex.join(e.cmd)}):\n{e.stderr}")
    return version, programs


def in_c(programs: list[Path], cpus: list[int], ms: int, what: list[str]) -> list[dict]:
    "Return the rate of every kernel at every width: dicts of `what`, `mix`, `name` and `rate`."
    results = []
    for program in programs:
        done = subprocess.run(
            [str(program), str(ms), ",".join(map(str, cpus)), *what], capture_output=True, text=True
        )
        if done.returncode:
            sys.exit(f"The C program failed: {done.stderr.strip() or done.returncode}")
        results += json.loads(done.stdout)["kernels"]
    return results


def best(kernels: list[dict], what: str) -> dict | None:
    "Return the fastest kernel of a mode or level."
    return max((k for k in kernels if k["what"] == what), key=lambda k: k["rate"], default=None)


def by_mix(kernels: list[dict], what: str) -> dict[str, float]:
    "Return the best rate of each mix in a level, over all widths."
    results: dict[str, float] = {}
    for k in kernels:
        if k["what"] == what:
            results[k["mix"]] = max(k["rate"], results.get(k["mix"], 0))
    return results


def in_one_state(dram, probe, nbytes: int, pairs: int) -> list[float]:
    "Return the ratio to C's best mix in main memory, if C was the same before and after."
    results, before = [], best(dram(), "DRAM")["rate"]
    for _ in range(pairs):
        readings = memory_readings(probe, {"DRAM": nbytes}, {"DRAM": 0.02}, rounds=1)
        ours = level("DRAM", nbytes, readings).bandwidth
        after = best(dram(), "DRAM")["rate"]
        if max(before, after) < 1.1 * min(before, after):
            results.append(ours / max(before, after))
        before = after
    return results


def in_python(peaks) -> dict[str, dict]:
    """Return the best of each mode and level that `measure_peaks` found, with the upper end of its
    interval."""
    results: dict[str, dict] = {}
    for c in peaks.ceilings:
        if c.unit == "vector":
            continue  # C's loops use fused multiply-adds, like contractions
        if c.flops_per_s > results.get(c.mode, {"rate": 0})["rate"]:
            results[c.mode] = {"rate": c.flops_per_s, "name": c.by, "high": c.interval[1]}
    for x in (*peaks.caches, peaks.main):
        results[x.name] = {
            "rate": x.bandwidth,
            "name": x.by,
            "high": x.interval[1],
            "capacity": x.capacity,
            "mixes": {m.name: m.bandwidth for m in x.mixes},
        }
    return results


parser = argparse.ArgumentParser(
    description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
)
parser.add_argument("--rounds", type=int, default=3)
parser.add_argument(
    "--pairs",
    type=int,
    default=12,
    help="pairs for main memory alone, between two measurements in C",
)
parser.add_argument(
    "--modes", nargs="+", default=["fp32", "bf16"], choices=["fp32", "bf16", "fp64"]
)
parser.add_argument("--ms", type=int, default=20, help="milliseconds for each kernel in C")
parser.add_argument("--mixes", action="store_true", help="also print the ratios of each mix")
parser.add_argument("--width", type=int, default=100)
parser.add_argument("--json", metavar="FILE")
args = parser.parse_args()
if platform.system() != "Linux":
    sys.exit("This benchmark requires Linux, because it pins threads.")

cpus = placements(torch.get_num_threads(), cpu_set(), cpu_quota())[0]
nbytes = memory_size(torch.device("cpu"))
quantities, caches, rounds, notes = [*args.modes], {}, [], []
with tempfile.TemporaryDirectory() as folder:
    compiler, programs = built(folder)

    def dram() -> list[dict]:
        return in_c(programs, cpus, args.ms, [f"DRAM={nbytes}"])

    def others() -> list[dict]:
        halves = [f"{name}={int(size) // 2}" for name, size in caches.items()]
        return in_c(programs, cpus, args.ms, ["arithmetic", *halves])

    for i in range(args.rounds):
        # C needs the capacities that measure_peaks found, so measure_peaks begins the first round.
        first = others() if i % 2 else []
        before = dram()
        began = time.perf_counter()
        peaks = measure_peaks("cpu", modes=args.modes, cache=False)
        seconds = time.perf_counter() - began
        after = dram()
        if peaks.conditions.get("cpus", cpus) != cpus:
            sys.exit("measure_peaks ran on other CPUs than C.")
        caches = {x.name: x.capacity for x in peaks.caches} or caches
        python, c = in_python(peaks), first or others()
        sides = [best(side, "DRAM")["rate"] for side in (before, after)]
        if max(sides) > 1.1 * min(sides):
            notes.append(
                f"Round {i}: C's main memory went from {si(sides[0], 'B/s')} before to"
                f" {si(sides[1], 'B/s')} after: its state changed."
            )
        notes += [f"Round {i}, measure_peaks: {n}" for n in peaks.notes]
        rounds.append(
            {
                "seconds": seconds,
                "order": "C, fasterroof" if i % 2 else "fasterroof, C",
                "sides": sides,
                "c": c,
                "before": before,
                "after": after,
                "fasterroof": python,
                "conditions": peaks.conditions,
                "notes": list(peaks.notes),
            }
        )
    with Prober() as prober:
        same = in_one_state(dram, CPUProbe(prober, torch.get_num_threads()), nbytes, args.pairs)

table = Table("round", "", "C", "by", "fasterroof", "by", "up to", "ratio")
mixes = Table("", "mix", "fasterroof / C, by round")
ratios: dict[str, list[float]] = {}
of_mixes: dict[tuple[str, str], list[float]] = {}
for i, r in enumerate(rounds):
    kernels = [*r["c"], *r["before"], *r["after"]]
    quantities = list(
        dict.fromkeys([*quantities, *(k["what"] for k in r["c"] if k["mix"]), "DRAM"])
    )
    for what in quantities:
        a, b = best(kernels, what), r["fasterroof"].get(what)
        unit = "FLOP/s" if what in args.modes else "B/s"
        if a and b:
            ratios.setdefault(what, []).append(b["rate"] / a["rate"])
        for mix, rate in by_mix(kernels, what).items():
            reached = b["mixes"].get(mix) if b and "mixes" in b else None
            if reached:
                of_mixes.setdefault((what, mix), []).append(reached / rate)
        table.add_row(
            str(i) if what == quantities[0] else "",
            what,
            si(a and a["rate"], unit),
            a["name"] if a else "",
            si(b and b["rate"], unit),
            b["name"] if b else "",
            si(b and b["high"], unit),
            f"{ratios[what][-1]:.3f}" if a and b else "–",
            end_section=what == quantities[-1],
        )
for what in quantities:
    # Only main memory has states. C below its best elsewhere was slowed by other programs, and its
    # ratio means little.
    reached = [a["rate"] if (a := best(r["c"], what)) else None for r in rounds]
    held = [
        i
        for i, x in enumerate(reached)
        if x and what != "DRAM" and x < 0.9 * max(filter(None, reached))
    ]
    notes += [
        f"Round {i}: {what} in C was {reached[i] / max(filter(None, reached)):.2f} of its best."
        for i in held
    ]
for (what, mix), each in of_mixes.items():
    mixes.add_row(what, mix, "  ".join(f"{x:.2f}" for x in each))
verdicts = Table("", "smallest ratio", "target", "")
if same:
    low, half, high = min(same), statistics.median(same), max(same)
    notes.append(
        f"DRAM in one state: {len(same)} of {args.pairs} pairs, {low:.3f} to {high:.3f}, median"
        f" {half:.3f}; by rounds, across states: " + ", ".join(f"{x:.3f}" for x in ratios["DRAM"])
    )
    ratios["DRAM"] = [half]
for what in sorted(ratios, key=lambda w: ["fp32", "bf16", "fp64", *caches, "DRAM"].index(w)):
    low, reach = min(ratios[what]), REACH.get(what, 0.90)
    verdicts.add_row(
        what, f"{low:.3f}", f"{reach:.2f}", "reached" if low >= reach else "not reached"
    )

console = Console(width=args.width, highlight=False)
console.print(f"{cpu_name()}, {len(cpus)} threads, {compiler}, torch {torch.__version__}")
console.print(table)
console.print(verdicts)
if args.mixes:
    console.print(mixes)
console.print("measure_peaks took " + ", ".join(f"{r['seconds']:.1f}" for r in rounds) + " s")
for note in notes:
    console.print(note)
if args.json:
    machine = {
        "cpu": cpu_name(),
        "threads": len(cpus),
        "cpus": cpus,
        "compiler": compiler,
        "torch": torch.__version__,
        "main_memory_bytes": nbytes,
    }
    Path(args.json).write_text(
        json.dumps({"machine": machine, "rounds": rounds, "ratios": ratios}, indent=1) + "\n"
    )
