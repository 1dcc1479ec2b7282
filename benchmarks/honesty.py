"""How often does the interval that a short probe states hold the session's best?

Runs short probes of each kernel again and again, in turn. The session's best is the best sample of
all of them. Prints, for each kernel: how many of the intervals hold it, how far the estimates fall
short of it, and how far the upper ends lie from it. A memory that changes its state within the
session is outside any interval by nature: so the same is said for pieces of ten probes in a row,
each against the best of its own piece.

    python benchmarks/honesty.py [--probes 200] [--json FILE]
"""

import argparse
import json
import time

import numpy as np
import torch
from rich.console import Console
from rich.table import Table

from fasterroof.core.units import si
from fasterroof.machine import environment
from fasterroof.machine.probes.cpu import CPUProbe, compute_readings, measure_clock
from fasterroof.machine.probes.cpu_kernels import arithmetic
from fasterroof.machine.probes.cpu_process import Prober
from fasterroof.machine.probes.cpu_streams import mixes
from fasterroof.machine.probes.readings import best_of
from fasterroof.machine.probes.torch_kernels import cache_sizes, memory_size

parser = argparse.ArgumentParser(
    description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
)
parser.add_argument("--probes", type=int, default=200)
parser.add_argument("--json", metavar="FILE")
args = parser.parse_args()

device, found, started = torch.device("cpu"), {}, time.time()
with Prober() as prober:
    probe = CPUProbe(prober, torch.get_num_threads())
    measure_clock(probe)
    list(compute_readings(probe, ["fp32"], 0.01))  # warm
    mixed = {k.mix: k for k in mixes(probe.machine)}
    kernels = [
        (f"{mode} {k.name}", k, 0)
        for mode in ("fp32", "bf16", "int8")
        for k in [next(arithmetic(probe.machine, mode), None)]
        if k
    ]
    kernels += [
        (f"{name} update", mixed["update"], size // 2) for name, size in cache_sizes(device)
    ]
    kernels += [
        (f"DRAM {mix}", mixed[mix], memory_size(device))
        for mix in ("read", "update", "streaming write")
    ]
    for _ in range(args.probes):
        for name, kernel, nbytes in kernels:
            reading = probe.reading(kernel, name.split()[0], probe.cpus, nbytes, seconds=0.015)
            if reading:
                found.setdefault(name, []).append(reading)


def covered(readings: list) -> tuple[float, float, float]:
    """Share of the intervals that hold the best of all; the estimates' and the upper ends' median
    ratio to it."""
    top = max(max(r.samples) for r in readings)
    bests = [best_of(r.samples, r.limit) for r in readings]
    held = np.mean([b.low <= top <= b.high * (1 + 1e-9) for b in bests])
    return (
        held,
        float(np.median([b.value for b in bests])) / top,
        float(np.median([b.high for b in bests])) / top,
    )


table = Table(
    "kernel",
    "probes",
    "session's best",
    "intervals that hold it",
    "estimate / best",
    "upper end / best",
    "in pieces of ten",
)
for name, readings in found.items():
    held, estimate, upper = covered(readings)
    pieces = [covered(readings[i : i + 10])[0] for i in range(0, len(readings) - 9, 10)]
    unit = "B/s" if readings[0].unit == "memory" else "FLOP/s"
    table.add_row(
        name,
        str(len(readings)),
        si(max(max(r.samples) for r in readings), unit),
        f"{held:.2f}",
        f"{estimate:.3f}",
        f"{upper:.3f}",
        f"{np.mean(pieces):.2f}" if pieces else "–",
    )
cpu = environment()["cpu"]
console = Console(width=130)
console.print(f"{cpu['name']}, {cpu['threads']} threads, {time.time() - started:.0f} s")
console.print(table)
if args.json:
    with open(args.json, "w") as f:
        json.dump({k: [r.samples for r in v] for k, v in found.items()}, f)
