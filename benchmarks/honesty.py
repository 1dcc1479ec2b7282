"""Measure how often the interval of a ceiling contains what the machine then reaches.

A recording probes each kernel for 15 ms, one round every few seconds, for hours, and records how
busy other programs were. It appends one line per probe to a file, so you can stop and continue it:

    python benchmarks/honesty.py record FILE [--hours 3] [--every 15]

`judge` replays it in sessions of ten minutes. The best of a session is the best sample of all its
probes. Each round gives three intervals:

- of the probe alone, as fasterroof gave it before ceilings were kept: does it contain the best?
- learned from the first check of this session and all earlier ones, by the code of
  `measure_peaks`: does it contain the best?
- of the state of the last probe: does it contain the next probe, a few seconds later?

    python benchmarks/honesty.py judge FILE
"""

import argparse
import json
import time
from collections import defaultdict
from itertools import pairwise

import numpy as np
import torch
from rich.console import Console
from rich.table import Table

from fasterroof.core.units import si
from fasterroof.machine.host import ForeignLoad, cpu_name, crowded
from fasterroof.machine.probes.cpu import CPUProbe, compute_readings, measure_clock
from fasterroof.machine.probes.cpu_kernels import arithmetic
from fasterroof.machine.probes.cpu_process import Prober
from fasterroof.machine.probes.cpu_streams import mixes
from fasterroof.machine.probes.readings import best_of
from fasterroof.machine.probes.torch_kernels import cache_sizes, memory_size
from fasterroof.machine.roof import Level, Mix, Roof
from fasterroof.machine.states.learning import in_state, learned

SESSION_S = 600


def kernels_of(probe: CPUProbe) -> list[tuple[str, object, int]]:
    "Return the probes of a round: (name, kernel, bytes)."
    device, mixed = torch.device("cpu"), {k.mix: k for k in mixes(probe.machine)}
    probes = [
        (f"{mode} {k.name}", k, 0)
        for mode in ("fp32", "bf16", "int8")
        for k in [next(arithmetic(probe.machine, mode), None)]
        if k
    ]
    probes += [
        (f"{name} {mix}", mixed[mix], size // 2)
        for name, size in cache_sizes(device)
        for mix in ("read", "update")
    ]
    return probes + [
        (f"DRAM {mix}", mixed[mix], memory_size(device))
        for mix in ("read", "update", "streaming write", "copy")
        if mix in mixed
    ]


def record(path: str, hours: float, every: float) -> None:
    "Append complete rounds to the file."
    end = time.time() + 3600 * hours
    with Prober() as prober:
        probe = CPUProbe(prober, torch.get_num_threads())
        measure_clock(probe)
        list(compute_readings(probe, ["fp32"], 0.01))  # warm up
        kernels = kernels_of(probe)
        while time.time() < end:
            began, rows = time.time(), []
            load, used = ForeignLoad(), prober.used_s
            for name, kernel, nbytes in kernels:
                at = time.time()
                r = probe.reading(kernel, name.split()[0], probe.cpus, nbytes, seconds=0.015)
                if r:
                    samples = [float(f"{x:.4g}") for x in r.samples]
                    rows.append({"t": at, "name": name, "samples": samples, "limit": r.limit})
            foreign = load.share(prober.used_s - used)
            with open(path, "a") as f:
                f.write("".join(json.dumps(r | {"foreign": foreign}) + "\n" for r in rows))
            time.sleep(max(0.0, every - (time.time() - began)))


def roof_of(rate: float, interval: tuple[float, float]) -> Roof:
    "Return a roof of one level from a single probe."
    mix = Mix("update", rate, 0.5, interval=interval)
    level = Level("DRAM", 1e12, rate, mixes=(mix,), interval=interval)
    return Roof(1e12, rate, levels=(level,))


def judged(rows: list[dict]) -> dict[str, object]:
    "Return how often each interval of one kernel contains its target."
    sessions = defaultdict(list)
    for r in rows:
        sessions[int((r["t"] - rows[0]["t"]) // SESSION_S)].append(r)
    first = best_of(rows[0]["samples"], rows[0]["limit"])
    roof, looks, held = roof_of(first.value, first.interval), [], defaultdict(list)
    bests = {k: max(max(r["samples"]) for r in session) for k, session in sessions.items()}
    for k, session in sessions.items():
        for now, after in pairwise([*session, None]):
            alone = best_of(now["samples"], now["limit"])
            look = {"updating DRAM": alone.value}
            if not crowded(now["foreign"], 0.2):
                looks.append(look)
            knows = learned(roof, looks[-500:])
            if k:
                held["alone"].append(alone.low <= bests[k] <= alone.high)
                low, high = knows.main.interval
                held["learned"].append(low <= bests[k] <= high)
                held["over"].append(high / bests[k])
                if after and not crowded(after["foreign"], 0.2):
                    low, high = in_state(knows, look).main.interval
                    held["next"].append(low <= max(after["samples"]) <= high)
    ratios = {name: float(np.mean(x)) for name, x in held.items() if name != "over"}
    spread = max(bests.values()) / min(bests.values())
    return ratios | {
        "sessions": len(sessions),
        "probes": len(rows),
        "over": float(np.median(held["over"])) if held["over"] else np.nan,
        "best": max(bests.values()),
        "worst": min(max(r["samples"]) for r in rows),
        "spread": spread,
        "states": len(learned(roof, looks[-500:]).main.states),
    }


def judge(path: str) -> None:
    "Print the table of all kernels."
    rows = defaultdict(list)
    with open(path) as f:
        for line in f:
            r = json.loads(line)
            rows[r["name"]].append({"foreign": None} | r)
    every = [r["t"] for of_kernel in rows.values() for r in of_kernel]
    table = Table(
        "kernel",
        "probes (sessions)",
        "range of probes",
        "states",
        "alone",
        "learned",
        "upper end / best",
        "next",
    )
    for name, of_kernel in rows.items():
        j = judged(of_kernel)
        unit = "FLOP/s" if name[:2] in ("fp", "bf", "in") else "B/s"
        table.add_row(
            name,
            f"{j['probes']} ({j['sessions']})",
            f"{si(j['worst'])}–{si(j['best'], unit)}",
            str(j["states"]),
            *(f"{j.get(x, np.nan):.2f}" for x in ("alone", "learned", "over", "next")),
        )
    console = Console(width=120)
    console.print(f"{cpu_name()}, {(max(every) - min(every)) / 3600:.1f} hours")
    console.print(table)


parser = argparse.ArgumentParser(
    description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
)
commands = parser.add_subparsers(required=True, dest="command")
recording = commands.add_parser("record")
recording.add_argument("--hours", type=float, default=3.0)
recording.add_argument("--every", type=float, default=15.0, metavar="S")
for command in (recording, commands.add_parser("judge")):
    command.add_argument("file")
args = parser.parse_args()
if args.command == "record":
    record(args.file, args.hours, args.every)
else:
    judge(args.file)
