"""What watching does to a run, and whether any point stands above the roof.

For each model, plain and watched runs alternate in one process. Prints, as ratios of the plain median: the sum of
the points, and the cost of watching; then the points that are undefined, those above 100 % of the roof, and the
largest.

    python benchmarks/watching.py [--steps 20] [--rounds 3] [MODEL ...]
"""
import argparse
import warnings

import torch
from rich.console import Console
from rich.table import Table

from fasterroof import RooflineAnalyzer, clear_peaks_cache
from fasterroof.cli.load_model import load_target
from fasterroof.machine import environment

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("models", nargs="*", default=["resnet18", "mobilenet_v3_small", "vit_b_16"], metavar="MODEL")
parser.add_argument("--steps", type=int, default=20)
parser.add_argument("--rounds", type=int, default=3)
args = parser.parse_args()
warnings.simplefilter("ignore")

table = Table("model", "round", "plain, ms", "95 %", "points / plain", "watched / plain", "points", "undefined",
              "above 100 %", "largest, %", "GFLOP")
for name in args.models:
    model, sample = load_target(name)
    for i in range(args.rounds):
        clear_peaks_cache()  # a roof belongs to its session: probed anew each time
        analyzer = RooflineAnalyzer(model, sample, name=name)
        points = analyzer.profile("cpu", steps=args.steps)
        run = analyzer.run
        low, high = run.plain.interval or (float("nan"),) * 2
        largest = max((p for p in points if p.utilization_pct is not None), key=lambda p: p.utilization_pct)
        above = sum(1 for p in points if p.utilization_pct is not None and p.utilization_pct > 100)
        table.add_row(name, str(i), f"{run.plain.median * 1e3:.2f}", f"{low * 1e3:.2f}–{high * 1e3:.2f}",
                      f"{run.covered:.3f}", f"{1 + run.watching_cost:.3f}", str(len(points)),
                      str(len(run.undefined)), str(above), f"{largest.utilization_pct:.1f} {largest.name}",
                      f"{run.flops / 1e9:.3f}")
env = environment()
console = Console(width=160)
cpu = env["cpu"]
console.print(f"{cpu['name']}, {cpu['threads']} threads, torch {torch.__version__}, {args.steps} steps")
console.print(table)
