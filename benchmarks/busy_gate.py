"""Measure how often `fasterroof bench compare` is wrong beside a busy neighbour.

    python benchmarks/busy_gate.py run busy0.jsonl --trials 50 50 --lane 0/2
    python benchmarks/busy_gate.py run busy1.jsonl --trials 50 50 --lane 1/2
    python benchmarks/busy_gate.py rates busy0.jsonl busy1.jsonl

A trial compares a function of 10 to 20 ms with itself, or with 5 % more work, until there is a
verdict or the time limit is over. Meanwhile another process streams memory and computes, on and off
at random. Both kinds of trials are shuffled. Each trial is written when it ends, and a restarted
run continues where it stopped. Several lanes may run at once on the same CPUs: they disturb each
other as other programs do, and only the first one starts the neighbour.
"""

import argparse
import collections
import json
import multiprocessing
import os
import random
import tempfile
import time
from pathlib import Path

from fasterroof.bench.case import cases_from
from fasterroof.bench.judge.pair_rows import broken, log_ratio, loops_of
from fasterroof.bench.judge.pairs import PairOptions, Pairs, pairings
from fasterroof.bench.judge.ratio_test import is_look, paired, spent_at, verdicts
from fasterroof.bench.judge.sides import Side
from fasterroof.bench.views.pairs_report import compared
from fasterroof.cli.bench.options import verdict_code

KINDS = ("again", "slower5")
CASES = str(Path(__file__).with_name("busy.py"))


def neighbour(seed):
    "Stream memory and compute for 0.1 to 3 s, then sleep for 0.1 to 3 s, until killed."
    import numpy as np

    rng, x = random.Random(seed), np.ones(2**24, "f4")  # 64 MiB, more than the caches of a core
    y, small = np.empty_like(x), np.ones((256, 256), "f4")
    while True:
        until, streams = time.monotonic() + rng.uniform(0.1, 3), rng.random() < 0.5
        while time.monotonic() < until:
            if streams:
                np.multiply(x, 1.5, out=y)
            else:
                small @ small
        time.sleep(rng.uniform(0.1, 3))


def trial(kind, options):
    "Run one comparison; return its time, verdict, exit code, interval and conditions."
    cases, sides = cases_from({"path": CASES}), (Side("baseline", "a"), Side("baseline", kind))
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        run = Pairs(sides, pairings(cases, sides, "torch-cpu"), folder, options)
        rows = run.run()
        run.keep()
    if run.interrupted:
        raise KeyboardInterrupt
    result = compared(rows)
    (c,) = result.comparisons
    return {
        "kind": kind,
        "verdict": c.verdict,
        "code": verdict_code(result.failed, result.undecided, None),
        "why": c.why,
        "paired": c.paired.as_dict(),
        "times_s": c.times,
        "ending": run.ending(run.pairings[0]),
        "logs": [log_ratio(*two, loops_of(rows)) for two in run.pairs["1"] if not broken(*two)],
        "loads": [a["side"]["foreign_load"] for a, _ in run.pairs["1"]],
        "load_average": os.getloadavg()[0],
        "took_s": time.monotonic() - began,
    }


def run(args):
    path = Path(args.file)
    lines = path.read_text().splitlines() if path.exists() else []
    done = collections.Counter(json.loads(x)["kind"] for x in lines)
    lane, lanes = map(int, args.lane.split("/"))
    each = zip(KINDS, args.trials, strict=True)
    todo = [k for k, n in each for _ in range((n + lane) // lanes - done[k])]
    random.Random(args.seed + lane).shuffle(todo)
    busy = multiprocessing.get_context("spawn").Process(
        target=neighbour, args=(args.seed,), daemon=True
    )
    if lane == 0:
        busy.start()
    # a lane must not wait for the device that another one holds
    os.environ["FASTERROOF_LOCK_DIR"] = f"{tempfile.gettempdir()}/busy-gate-{lane}"
    options = {"pairs": args.pairs, "budget_s": args.budget, "time_limit_s": args.time_limit}
    try:
        with path.open("a") as out:
            for i, kind in enumerate(todo, 1):
                t = trial(kind, PairOptions(**options))
                out.write(json.dumps(t) + "\n")
                out.flush()
                print(f"{i} of {len(todo)}: {kind} {t['verdict']}, {t['took_s']:.0f} s", flush=True)
    finally:
        if lane == 0:
            busy.kill()


def replayed(logs, level, first, effect=0.01):
    """Return the verdict of a comparison at another level or effect, and its number of pairs.

    It is exact where the comparison would have stopped at the same looks as the trial or at earlier
    ones: for lower levels, and for the same code with larger effects."""
    looks = [n for n in range(first, len(logs)) if is_look(n, first)]
    for n in (*looks, len(logs)):
        (verdict,) = verdicts([paired(logs[:n], effect, level, spent_at(n, first))])
        if verdict != "AMBIGUOUS":
            break
    return verdict, n


def rates(args):
    import numpy as np
    from scipy.stats import binomtest

    trials = [json.loads(x) for file in args.files for x in Path(file).read_text().splitlines()]
    loads = [x for t in trials for x in t["loads"] if x is not None]
    averages = [t["load_average"] for t in trials]
    low, middle, high = (100 * x for x in np.quantile(loads, [0.05, 0.5, 0.95]))
    print(
        f"{len(trials)} trials. Other programs used {low:.0f} to {high:.0f} % of the CPUs (90 % of"
        f" the pairs), median {middle:.0f} %; load average {min(averages):.1f} to"
        f" {max(averages):.1f}, median {np.median(averages):.1f}; {os.cpu_count()} CPUs.\n"
    )
    print("| trials | level | SLOWER | other verdicts | exit code 0, 1, 3 | pairs |")
    print("|:--|--:|--:|:--|--:|--:|")
    for level in args.levels:
        for kind, name in zip(KINDS, ("the same code", "5 % slower"), strict=True):
            mine = [replayed(t["logs"], level, args.pairs) for t in trials if t["kind"] == kind]
            if not mine:
                continue
            verdicts_ = collections.Counter(v for v, _ in mine)
            codes = collections.Counter(
                verdict_code(v == "SLOWER", v == "AMBIGUOUS", None) for v, _ in mine
            )
            found = binomtest(verdicts_.pop("SLOWER", 0), len(mine))
            i = found.proportion_ci(0.95, method="exact")
            low, middle, high = np.quantile([n for _, n in mine], [0.0, 0.5, 1.0])
            print(
                f"| {name} (of {len(mine)}) | {level:g} | {100 * found.statistic:.0f} %"
                f" [{100 * i.low:.0f}, {100 * i.high:.0f}] |"
                f" {', '.join(f'{n} {v}' for v, n in verdicts_.items())} |"
                f" {', '.join(str(codes[c]) for c in (0, 1, 3))} |"
                f" {middle:.0f} ({low:.0f} to {high:.0f}) |"
            )
    print("\n| the same code, effect | verdicts | pairs |")
    print("|--:|:--|--:|")
    for effect in args.effects:
        mine = [
            replayed(t["logs"], 0.99, args.pairs, effect) for t in trials if t["kind"] == "again"
        ]
        counts = collections.Counter(v for v, _ in mine).most_common()
        low, middle, high = np.quantile([n for _, n in mine], [0.0, 0.5, 1.0])
        shown = ", ".join(f"{n} {v}" for v, n in counts)
        print(f"| {100 * effect:g} % | {shown} | {middle:.0f} ({low:.0f} to {high:.0f}) |")
    silent = [t for t in trials if t["code"] == 0 and t["verdict"] in ("AMBIGUOUS", "FAILED")]
    print(f"\nExit code 0 without a verdict: {len(silent)} of {len(trials)}.")
    print(
        f"A trial took {np.median([t['took_s'] for t in trials]):.0f} s (median)."
        f" Pairs scatter by {100 * np.median([t['paired']['spread'] for t in trials]):.1f} %"
        " (median of the trials)."
    )


if __name__ == "__main__":
    p = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = p.add_subparsers(dest="command", required=True)
    s = commands.add_parser("run", help="run trials")
    s.add_argument("file", help="file with one line for each trial")
    s.add_argument(
        "--trials", type=int, nargs=2, default=[50, 50], metavar="N", help=f"of {', '.join(KINDS)}"
    )
    s.add_argument("--pairs", type=int, default=12, help="pairs before the first look")
    s.add_argument("--budget", type=float, default=0.2, help="seconds of samples in each process")
    s.add_argument("--time-limit", type=float, default=150, help="seconds of a trial")
    s.add_argument("--seed", type=int, default=0, help="seed of the order and of the neighbour")
    s.add_argument(
        "--lane", default="0/1", metavar="I/N", help="run the I-th of N shares of the trials"
    )
    s = commands.add_parser("rates", help="print the rates")
    s.add_argument("files", nargs="+")
    s.add_argument("--pairs", type=int, default=12, help="pairs before the first look")
    s.add_argument("--levels", type=float, nargs="+", default=[0.99, 0.95], help="levels to judge")
    s.add_argument(
        "--effects",
        type=float,
        nargs="+",
        default=[0.01, 0.02, 0.03, 0.05],
        help="effects to judge",
    )
    args = p.parse_args()
    {"run": run, "rates": rates}[args.command](args)
