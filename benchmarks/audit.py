"""Check whether any layer or operation is faster than the measured ceilings allow.

Profile torchvision classifiers of different families, then time single operations of several sizes
and layouts in fp32 and bf16. Count the points above 100 % of the measured ceilings: of the
estimate, and of the upper end of its interval. For contrast, do the same with the rates of
`torch.mm` and `copy_` as ceilings, as other tools do.

    python benchmarks/audit.py [--steps 15] [--json FILE] [--only models|operations]
"""

import argparse
import json
import math
import time
import warnings
from itertools import product

import torch
import torch.nn.functional as F
from rich.console import Console
from rich.table import Table

from fasterroof import Roof, RooflineAnalyzer, clear_peaks_cache, time_call, trace
from fasterroof.work.hubs.targets import load_target
from fasterroof.core.units import si
from fasterroof.machine import environment
from fasterroof.machine.states.drift import DriftGuard
from fasterroof.machine.states.learning import widened
from fasterroof.machine.measuring import peaks_for
from fasterroof.machine.peaks import better
from fasterroof.roofline.join import estimate

MODELS = [
    "alexnet",
    "vgg11",
    "resnet18",
    "resnext50_32x4d",
    "densenet121",
    "googlenet",
    "inception_v3",
    "squeezenet1_1",
    "mobilenet_v3_small",
    "shufflenet_v2_x1_0",
    "mnasnet0_5",
    "efficientnet_b0",
    "regnet_y_400mf",
    "vit_b_16",
    "swin_t",
]
BATCHED = ["resnet18", "mobilenet_v3_small", "vit_b_16", "densenet121"]


def operations() -> list[tuple[str, object]]:
    "Return single operations: (name, a function without arguments)."
    rng = torch.Generator().manual_seed(0)
    cases = []

    def rand(*shape, dtype):
        return torch.randn(shape, generator=rng).to(dtype)

    def case(name, fn, *args, **kwargs):
        cases.append((name, lambda: fn(*args, **kwargs)))

    layouts = {"nchw": torch.contiguous_format, "nhwc": torch.channels_last}
    convolutions = (
        (3, 64, 7, 224, 1),
        (64, 64, 3, 56, 1),
        (128, 128, 3, 28, 1),
        (256, 256, 3, 14, 1),
        (512, 512, 3, 7, 1),
        (64, 256, 1, 56, 1),
        (256, 64, 1, 56, 1),
        (512, 2048, 1, 7, 1),
        (96, 96, 3, 56, 96),
        (256, 256, 5, 28, 256),
    )  # channels in, out, kernel, side, groups

    for dtype in (torch.float32, torch.bfloat16):
        short = "fp32" if dtype is torch.float32 else "bf16"
        # numbers: 16 KiB to 128 MiB of fp32
        sizes = [2**k for k in (12, 14, 16, 18, 20, 21, 22, 23, 24, 25)]
        for n in sizes:
            x, y = rand(n, dtype=dtype), rand(n, dtype=dtype)
            out = torch.empty_like(x)
            case(f"relu_ {n} {short}", x.relu_)
            case(f"mul_ {n} {short}", x.mul_, 1.0)
            case(f"add out {n} {short}", torch.add, x, y, out=out)
            case(f"copy_ {n} {short}", out.copy_, x)
            case(f"fill_ {n} {short}", out.fill_, 1.0)
            case(f"sum {n} {short}", torch.sum, x)
        for n in sizes[2:8]:
            rows = rand(n // 512, 512, dtype=dtype)
            case(f"softmax {n // 512}x512 {short}", torch.softmax, rows, -1)
            case(f"layer_norm {n // 512}x512 {short}", F.layer_norm, rows, (512,))
            case(f"gelu {n} {short}", F.gelu, rows)
            case(f"transpose copy {n // 512}x512 {short}", rows.t().contiguous)
        for n in (128, 256, 512, 1024, 1536):
            a, b = rand(n, n, dtype=dtype), rand(n, n, dtype=dtype)
            case(f"mm {n} nn {short}", torch.mm, a, b)
            case(f"mm {n} nt {short}", torch.mm, a, b.t())
            case(f"linear 1x{n} {short}", F.linear, a[:1], b)
            case(f"linear 64x{n} {short}", F.linear, a[:64], b)
        for batch, n in ((16, 64), (64, 128), (8, 512)):
            a, b = rand(batch, n, n, dtype=dtype), rand(batch, n, n, dtype=dtype)
            case(f"bmm {batch}x{n} {short}", torch.bmm, a, b)
            case(
                f"attention {batch} heads {n} {short}",
                F.scaled_dot_product_attention,
                a[None],
                a[None],
                b[None],
            )
        for (layout, memory), (cin, cout, k, side, groups) in product(
            layouts.items(), convolutions
        ):
            for batch in (1, 8) if side <= 56 and groups == 1 else (1,):
                x = rand(batch, cin, side, side, dtype=dtype).to(memory_format=memory)
                w = rand(cout, cin // groups, k, k, dtype=dtype).to(memory_format=memory)
                name = (
                    f"conv {batch}x{cin}-{cout} {k}x{k} at {side} groups {groups} {layout} {short}"
                )
                case(name, F.conv2d, x, w, None, 1, k // 2, 1, groups)
        image = rand(4, 64, 56, 56, dtype=dtype)
        case(f"max_pool {short}", F.max_pool2d, image, 2)
        case(f"avg_pool {short}", F.avg_pool2d, image, 2)
        case(f"cat {short}", torch.cat, [image, image], 1)
        words = torch.randint(0, 8192, (4096,), generator=rng)
        case(f"embedding {short}", F.embedding, words, rand(8192, 256, dtype=dtype))
        for n in (14, 18, 22):
            case(f"exp_ {1 << n} {short}", rand(1 << n, dtype=dtype).neg_().exp_)
    return cases


def poor_roof() -> Roof:
    "Return the roof that many tools use: the rates of a matrix product and a copy."
    a = torch.rand(1024, 1024)
    x, y = torch.rand(1 << 25), torch.rand(1 << 25)
    mm = min(time_call(lambda: torch.mm(a, a), samples=10).samples)
    copy = min(time_call(lambda: y.copy_(x), samples=10).samples)
    return Roof(2 * 1024**3 / mm, 8 * (1 << 25) / copy, name="torch.mm and copy_")


def tally(rows: list[tuple[str, float, float, float, float]]) -> dict:
    """Count the rows above each roof, and find the largest.

    A row is (name, time, floor, floor of the upper ends, floor of the roof of mm and copy).
    """
    known = [r for r in rows if r[2] == r[2]]

    def share(i):
        return max(((r[i] / r[1], r[0]) for r in known if r[i] == r[i]), default=(math.nan, ""))

    return {
        "points": len(rows),
        "undefined": len(rows) - len(known),
        "above the estimate": sum(r[2] > r[1] for r in known),
        "largest of the estimate": share(2),
        "above the upper end": sum(r[3] > r[1] for r in known),
        "largest of the upper end": share(3),
        "above mm and copy_": sum(r[4] > r[1] for r in known),
        "largest of mm and copy_": share(4),
    }


parser = argparse.ArgumentParser(
    description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
)
parser.add_argument("--steps", type=int, default=15)
parser.add_argument("--json", metavar="FILE")
parser.add_argument("--only", choices=("models", "operations"))
args = parser.parse_args()
warnings.simplefilter("ignore")
torch.set_grad_enabled(False)
results, started = {}, time.time()
poor = poor_roof()

if args.only != "operations":
    for name, batch in [(m, 1) for m in MODELS] + [(m, 8) for m in BATCHED]:
        clear_peaks_cache()  # ceilings are valid for one session: probe them for each model
        model, sample = load_target(name, batch=batch)
        analyzer = RooflineAnalyzer(model, sample, name=name)
        points = analyzer.profile("cpu", steps=args.steps)
        beside = {(p.name, p.phase): p.floor_s for p in analyzer.estimate(poor)}

        def known(x):
            return math.nan if x is None else x

        rows = [
            (
                p.name,
                p.time_s,
                known(p.floor_s),
                known(p.limit_s),
                known(beside.get((p.name, p.phase))),
            )
            for p in points
            if p.time_s and p.bytes_moved
        ]
        run = analyzer.run
        counted = tally(rows) | {
            "rows": rows,
            "unstable": list(run.unstable),
            "notes": list(run.notes),
        }
        results[f"{name} ×{batch}"] = counted
        print(
            f"{name} ×{batch}: {counted['above the estimate']}, {counted['above the upper end']}"
            f" above of {len(rows)}; largest {counted['largest of the estimate']}; unstable"
            f" {counted['unstable']}",
            flush=True,
        )

if args.only != "models":
    device, modes = torch.device("cpu"), ["fp32", "bf16"]
    roof = peaks_for(modes, device, cache=False)
    timed = []
    with DriftGuard(device, roof=roof) as guard:
        looks = [guard.look()]
        for i, (name, fn) in enumerate(operations()):
            ops = trace(fn).ops
            # The fastest of many calls is the best that a single operation can do.
            timed.append(
                (name, ops, min(time_call(fn, device="cpu", budget_s=0.1, most=60).samples))
            )
            if i % 50 == 49:
                looks.append(guard.look())
        looks.append(guard.look())

    def floors(under):
        return [
            sum(p.floor_s if p.floor_s is not None else math.nan for p in estimate(ops, under))
            for _, ops, _ in timed
        ]

    wide = widened(roof, *looks)

    def judged(wide):
        every = zip(timed, floors(wide), floors(wide.upper), floors(poor), strict=True)
        return [(name, t, *fs) for (name, _, t), *fs in every]

    rows = judged(widened(roof, *looks))
    if any(r[3] > r[1] for r in rows):  # probe again, as a profile does
        rows = judged(widened(better(roof, peaks_for(modes, device, cache=False)), *looks))
        print("probed again")
    results["operations, the fastest of many calls"] = tally(rows) | {"rows": rows, "looks": looks}

table = Table(
    "",
    "points",
    "above 100 %",
    "largest",
    "above the upper end",
    "largest",
    "above mm and copy_",
    "largest",
)
for name, t in results.items():

    def largest(key, t=t):
        return f"{100 * t[key][0]:.0f} % {t[key][1]}"

    table.add_row(
        name,
        str(t["points"]) + (f" ({t['undefined']} undefined)" if t["undefined"] else ""),
        str(t["above the estimate"]),
        largest("largest of the estimate"),
        str(t["above the upper end"]),
        largest("largest of the upper end"),
        str(t["above mm and copy_"]),
        f"{100 * t['largest of mm and copy_'][0]:.0f} %",
    )
console = Console(width=200)
cpu = environment()["cpu"]
console.print(
    f"{cpu['name']}, {cpu['threads']} threads, torch {torch.__version__},"
    f" {time.time() - started:.0f} s; beside: mm {si(poor.peak_flops, 'FLOP/s')}, copy_"
    f" {si(poor.peak_bandwidth, 'B/s')}"
)
console.print(table)
for key in ("points", "above the estimate", "above the upper end", "above mm and copy_"):
    console.print(f"{key}: {sum(t[key] for t in results.values())}")
if args.json:
    with open(args.json, "w") as f:
        json.dump(results, f, indent=1)
