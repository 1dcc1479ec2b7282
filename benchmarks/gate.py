"""Measure how often a gate is wrong: code compared with itself, with and without added work.

    python benchmarks/gate.py run gate0.jsonl --trials 300 100 100 100 --lane 0/2
    python benchmarks/gate.py run gate1.jsonl --trials 300 100 100 100 --lane 1/2
    python benchmarks/gate.py rates gate0.jsonl gate1.jsonl

A trial is a separate comparison with the functions of `fasterroof bench compare`: a fresh process
for each side of each pair, on the whole machine or on one of several equal shares of it that work
in parallel. The kinds of trials are shuffled, so that drift affects all equally. Each trial is
written when it ends, and a restarted run continues where it stopped. All rules see the same
processes.
"""

import argparse
import collections
import json
import os
import random
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from fasterroof.bench.case import cases_from
from fasterroof.bench.judge.pair_rows import figure_of, loops_of
from fasterroof.bench.judge.pairs import PairOptions, Pairs, pairings
from fasterroof.bench.judge.ratio_test import LEAST, log_ratios, paired, pairs_needed, verdicts
from fasterroof.bench.judge.sides import Side
from fasterroof.bench.row import samples_of
from fasterroof.bench.run.devices import cpu_slots
from fasterroof.bench.views.pairs_report import compared

KINDS = ("again", "slower3", "slower5", "slower10")
LIGHT = str(Path(__file__).with_name("light.py"))


def trial(kind, pairs, budget_s, slot):
    "Run one comparison; return its time, its verdict, and all samples of its valid pairs in ns."
    cases, sides = cases_from({"path": LIGHT}), (Side("baseline", "a"), Side("baseline", kind))
    began = time.monotonic()
    limit = {"most_foreign": 0.05, "repeats": pairs}  # as in the published trials
    options = PairOptions(pairs=pairs, budget_s=budget_s, slot=slot, **limit)
    with tempfile.TemporaryDirectory() as folder:
        run = Pairs(sides, pairings(cases, sides, "torch-cpu"), folder, options)
        rows = run.run()
        run.keep()
    if run.interrupted:
        raise KeyboardInterrupt
    comparison = compared(rows).comparisons[0]
    loops, pairs = loops_of(rows), run.pairs["1"]
    good = [two for two in pairs if not two[0]["side"]["disturbed"]]
    return {
        "kind": kind,
        "verdict": comparison.verdict,
        "why": comparison.why,
        "paired": comparison.paired.as_dict(),
        "run": len(pairs),
        "hits": [a["side"]["disturbed"] for a, _ in pairs],
        "took_s": time.monotonic() - began,
        "figures_s": [[figure_of(r, loops) for r in two] for two in good],
        "medians_s": [[figure_of(r, loops, 0.5) for r in two] for two in good],
        "samples_ns": [[[round(1e9 * t) for t in samples_of(r)] for r in two] for two in good],
    }


def run(args):
    lane, lanes = map(int, args.lane.split("/"))
    path, slot = Path(args.file), cpu_slots(lanes)[lane]
    # otherwise this process would count as foreign load in the other lane
    os.sched_setaffinity(0, slot.cores)
    done = (
        collections.Counter(json.loads(x)["kind"] for x in path.read_text().splitlines())
        if path.exists()
        else {}
    )
    todo = [
        k
        for k, n in zip(KINDS, args.trials, strict=True)
        for _ in range((n + lane) // lanes - done.get(k, 0))
    ]
    random.Random(args.seed).shuffle(todo)
    with path.open("a") as out:
        for i, kind in enumerate(todo, 1):
            out.write(json.dumps(trial(kind, args.pairs, args.budget, slot)) + "\n")
            out.flush()
            if sys.stderr.isatty():
                print(f"\r{i} of {len(todo)} trials", end="", file=sys.stderr)


def judged(t):
    "Return the verdict on the pairs of a trial, by the current rule of `compare`."
    return verdicts([paired(logs(t))])[0] if t["figures_s"] else "AMBIGUOUS"


def rules(t):
    "Return for each rule whether it calls B slower."
    from scipy.stats import mannwhitneyu

    def dual(a, b):
        return b.min() > 1.10 * a.min() or np.quantile(b, 0.95) > 1.25 * np.quantile(a, 0.95)

    def ranks(a, b):
        return mannwhitneyu(b, a, alternative="greater").pvalue < 0.01

    ours = {"pairs of processes (`compare`)": judged(t) == "SLOWER"}
    if not t["samples_ns"]:
        return ours  # every pair was disturbed: the other rules have no data
    one = [np.array(x) for x in t["samples_ns"][0]]
    pooled = [np.concatenate([two[side] for two in t["samples_ns"]]) for side in (0, 1)]
    return ours | {
        "the same, by medians (`--quantile 0.5`)": (
            verdicts([paired(logs(t, what="medians_s"))]) == ["SLOWER"]
        ),
        "min > 1.10 × or p95 > 1.25 ×, one process each": dual(*one),
        "the same, all processes pooled": dual(*pooled),
        "Mann-Whitney p < 0.01, one process each": ranks(*one),
        "Mann-Whitney, all processes pooled": ranks(*pooled),
    }


def logs(t, most=None, what="figures_s"):
    "Return the log ratios of the pairs of a trial."
    return log_ratios(*zip(*t[what][:most], strict=True))


def rates(args):
    trials = [
        json.loads(line) for file in args.files for line in Path(file).read_text().splitlines()
    ]
    took, again = (
        [t["took_s"] for t in trials],
        sum(t["run"] - len(t["samples_ns"]) for t in trials),
    )
    print(
        f"{len(trials)} trials, {np.median(took):.1f} s each (median), {sum(took) / 60:.0f} min"
        f" together; {again} of {sum(t['run'] for t in trials)} pairs were disturbed and repeated;"
        f" {os.cpu_count()} CPUs.\n"
    )
    by_kind = {kind: [t for t in trials if t["kind"] == kind] for kind in KINDS}
    _table(by_kind)
    for kind, mine in by_kind.items():
        few = sum(len(t["figures_s"]) < LEAST for t in mine)
        print(
            f"- {kind}: "
            + ", ".join(f"{n} {v}" for v, n in collections.Counter(map(judged, mine)).items())
            + f"; {few} had fewer than {LEAST} undisturbed pairs, which is AMBIGUOUS whatever"
            " they show"
        )
    _spread(by_kind)
    _fewer(by_kind)


def _table(by_kind):
    "Print false alarms and power of each rule, with 95 % intervals (Clopper and Pearson)."
    from scipy.stats import binomtest

    def cell(hits):
        i = binomtest(sum(hits), len(hits)).proportion_ci(0.95, method="exact")
        return f"{100 * np.mean(hits):.1f} % [{100 * i.low:.1f}, {100 * i.high:.1f}]"

    calls = {kind: [rules(t) for t in mine] for kind, mine in by_kind.items() if mine}
    names = {
        "again": "false alarms",
        "slower3": "+3 % found",
        "slower5": "+5 % found",
        "slower10": "+10 % found",
    }
    print(f"| rule | {' | '.join(f'{names[k]} (of {len(x)})' for k, x in calls.items())} |")
    print("|:--|" + "--:|" * len(calls))
    for rule in max((r for x in calls.values() for r in x), key=len):
        print(
            f"| {rule} |"
            f" {' | '.join(cell([bool(r[rule]) for r in x if rule in r]) for x in calls.values())}"
            " |"
        )
    print()


def _spread(by_kind):
    "Print the scatter of processes, and the number of pairs that it requires."
    print(
        "\n| kind | B / A (median of trials) | spread of a pair (median; 90 % of trials below) |"
        " pairs for +5 % | spread within a process |\n|:--|--:|--:|--:|--:|"
    )
    for kind, mine in by_kind.items():
        results = [paired(logs(t)) for t in mine if len(t["figures_s"]) > 1]
        if not results:
            continue
        spread = 100 * np.array([p.spread for p in results])
        inner = [
            np.subtract(*np.quantile(a, [0.75, 0.25])) / np.median(a) / 1.35
            for t in mine
            for a, _ in t["samples_ns"]
        ]
        print(
            f"| {kind} | {np.median([p.ratio for p in results]):.4f} | {np.median(spread):.2f} %;"
            f" {np.quantile(spread, 0.9):.2f} % |"
            f" {np.median([pairs_needed(p) or 0 for p in results]):.0f} |"
            f" {100 * np.median(inner):.2f} % |"
        )
    print()


def _fewer(by_kind):
    "Print the verdicts on the same trials from their first pairs alone."
    most = max(len(t["samples_ns"]) for mine in by_kind.values() for t in mine)
    for n in range(8, most):
        shares = []
        for kind, mine in by_kind.items():
            results = [verdicts([paired(logs(t, n))])[0] for t in mine if len(t["samples_ns"]) >= n]
            if results:
                shares.append(
                    f"{kind} {100 * results.count('SLOWER') / len(results):.1f} % of {len(results)}"
                )
        print(f"- SLOWER by the first {n} pairs: {', '.join(shares)}")


if __name__ == "__main__":
    p = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = p.add_subparsers(dest="command", required=True)
    s = commands.add_parser("run", help="run trials")
    s.add_argument("file", help="file with one line for each trial")
    s.add_argument(
        "--trials",
        type=int,
        nargs=4,
        default=[300, 100, 100, 100],
        metavar="N",
        help=f"numbers of trials: {', '.join(KINDS)}",
    )
    s.add_argument("--pairs", type=int, default=12, help="number of pairs in each trial")
    s.add_argument("--budget", type=float, default=0.03, help="seconds of samples in each process")
    s.add_argument("--seed", type=int, default=0, help="seed for the order of trials")
    s.add_argument(
        "--lane",
        default="0/1",
        metavar="I/N",
        help="run the I-th of N shares of the trials on the I-th share of the CPUs",
    )
    commands.add_parser("rates", help="print the rates of the trials").add_argument(
        "files", nargs="+"
    )
    args = p.parse_args()
    {"run": run, "rates": rates}[args.command](args)
