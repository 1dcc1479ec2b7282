"""Compare predictions with measured times, and measure building models without weights and reading
hostile contracts."""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path

MODELS = (
    "resnet18",
    "resnet50",
    "vit_b_16",
    "convnext_tiny",
    "swin_t",
    "densenet121",
    "mobilenet_v3_large",
)
HOSTILE = {
    "aliases that double 40 times": (
        "a0: &a0 [x, x]\n" + "".join(f"a{i}: &a{i} [*a{i - 1}, *a{i - 1}]\n" for i in range(1, 40))
    ),
    "merges that double 40 times": (
        "a0: &a0 {x: 1}\n"
        + "".join(f"a{i}: &a{i} {{<<: [*a{i - 1}, *a{i - 1}]}}\n" for i in range(1, 40))
    ),
    "a million brackets": "metadata: " + "[" * 1_000_000,
    "a megabyte of entries": "metadata:\n" + "  - x\n" * 170_000,
    "powers of powers": (
        "metadata: {version: 1}\nequations:\n  e: {formula: 'y = 9**9**9**9**9', domain: 'y > 0', "
        "units: {y: count}}\n"
    ),
    "an import": (
        'metadata: {version: 1}\nequations:\n  e: {formula: "y ='
        " __import__('os').system('true')\", units: {y: count}}\n"
    ),
    "a thousand parentheses": (
        "metadata: {version: 1}\nequations:\n  e: {formula: 'y = "
        + "(" * 490
        + "1"
        + ")" * 490
        + "', units: {y: count}}\n"
    ),
    "a tag of Python": "metadata: !!python/object/apply:os.system ['true']\n",
}


def predicted(rounds: int) -> None:
    "Print predicted over measured times, with plain runs of all models in turn."
    import torch
    from torchvision import models

    import fasterroof as fr

    warnings.simplefilter("ignore")
    cases = [(name, batch) for name in MODELS for batch in (1, 8)]
    prepared, times = {}, {case: [] for case in cases}
    peaks = fr.measure_peaks(modes=["fp32"])
    system = fr.SystemArchetype.of(peaks)
    print(f"{peaks}\n", file=sys.stderr)
    with torch.no_grad():
        for name, batch in cases:
            net, x = models.get_model(name, weights=None).eval(), torch.randn(batch, 3, 224, 224)
            prepared[name, batch] = net, x, fr.trace(net, x)
        for i in range(rounds + 1):
            for case in cases:
                net, x, _ = prepared[case]
                start = time.perf_counter()
                net(x)
                if i:
                    times[case].append(
                        time.perf_counter() - start
                    )  # the first run of each warms up
    print("| model | batch | measured (ms) | sizes, 0.5 | operations, 0.5 | operations, 1.0 |")
    print("|---|---|---|---|---|---|")
    for case in cases:
        t = prepared[case][2]
        predictions = (
            fr.Engine.solve(fr.ModelSpec.from_trace(t), system, 1, "fp32", 0.5),
            fr.Engine.solve(t, system, efficiency=0.5),
            fr.Engine.solve(t, system, efficiency=1.0),
        )
        took = statistics.median(times[case])
        ratios = " | ".join(f"{p.latency.to('s').magnitude / took:.2f}" for p in predictions)
        print(f"| {case[0]} | {case[1]} | {1e3 * took:.1f} | {ratios} |")


def child(code: str, *argv: str) -> dict:
    "Run code in a new process; return the JSON of its last line, with its peak memory."
    done = subprocess.run(
        [sys.executable, "-c", f"{FIRST}{code}{LAST}", *argv],
        capture_output=True,
        text=True,
        check=True,
    )
    return json.loads(done.stdout.splitlines()[-1])


FIRST = """
import json, sys, time
def most():  # (Linux)
    return int(open("/proc/self/status").read().split("VmHWM:")[1].split()[0]) / 1024
"""
LAST = """
result["MB"] = most()
print(json.dumps(result))
"""
BUILD = """
import contextlib
import torch, torchvision.models, fasterroof.work.hubs.targets as load_model
without = sys.argv[2] == "without"
context = load_model.weightless(buffers=True) if without else contextlib.nullcontext()
before = most()
start = time.perf_counter()
with context: load_model.torchvision_model(sys.argv[1])
result = {"s": time.perf_counter() - start, "before MB": before}
"""
READ = """
import fasterroof.contract.check as c, fasterroof.contract.contract, yaml
from fasterroof.core.errors import FasterroofError
before, start = most(), time.perf_counter()
try: message = c.check_contract(sys.argv[1]).sentence
except FasterroofError as e: message = str(e)
result = {"s": time.perf_counter() - start, "before MB": before, "message": message}
"""


def built() -> None:
    "Print the cost of building a model with and without its weights."
    print("\n| model | with weights (s, MB) | without weights (s, MB) |\n|---|---|---|")
    for name in ("resnet50", "vit_h_14", "regnet_y_128gf"):
        both = [child(BUILD, name, how) for how in ("with", "without")]
        cells = " | ".join(f"{x['s']:.2f}, {x['MB'] - x['before MB']:,.0f}" for x in both)
        print(f"| {name} | {cells} |", flush=True)


def hostile() -> None:
    "Print the cost of reading and checking hostile files."
    print("\n| file | s | additional MB | message |\n|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        for name, text in HOSTILE.items():
            path = Path(folder) / "hostile-v1.yaml"
            path.write_text(text)
            x = child(READ, str(path))
            message = x["message"].replace(str(path), "…").partition(": ")[2] or x["message"]
            print(
                f"| {name} | {x['s']:.3f} | {x['MB'] - x['before MB']:.0f} | {message[:100]} |",
                flush=True,
            )


if __name__ == "__main__":
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument(
        "--rounds",
        type=int,
        default=10,
        metavar="N",
        help="number of runs of each model (default: 10)",
    )
    args = p.parse_args()
    os.environ.setdefault("KINETO_LOG_LEVEL", "99")
    hostile()
    built()
    predicted(args.rounds)
