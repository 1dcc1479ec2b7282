"""Measure training steps, eager and compiled: the shares of the phases, the sum of the operations
over the plain run, and the traffic that fusion saves."""

import argparse
import json
import logging
import os
import sys

os.environ.setdefault("KINETO_LOG_LEVEL", "99")

import torch
import torch.nn.functional as F
from torch import nn

import fasterroof
from fasterroof import RooflineAnalyzer


class Block(nn.Module):
    "A decoder block: causal attention and an MLP, each after a norm."

    def __init__(self, width: int, heads: int):
        super().__init__()
        self.norm1, self.norm2, self.heads = nn.LayerNorm(width), nn.LayerNorm(width), heads
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x):
        q, k, v = (
            t.unflatten(-1, (self.heads, -1)).transpose(1, 2)
            for t in self.qkv(self.norm1(x)).chunk(3, -1)
        )
        x = x + self.out(
            F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).flatten(-2)
        )
        return x + self.down(F.gelu(self.up(self.norm2(x))))


def transformer():
    width, words = 256, torch.randint(0, 1000, (4, 128))
    model = nn.Sequential(
        nn.Embedding(1000, width), Block(width, 4), Block(width, 4), nn.Linear(width, 1000)
    )
    return (
        model,
        words,
        lambda out: F.cross_entropy(out[:, :-1].flatten(0, 1), words[:, 1:].flatten()),
    )


def resnet18():
    from torchvision.models import resnet18

    labels = torch.randint(0, 1000, (4,))
    return resnet18(), torch.rand(4, 3, 224, 224), lambda out: F.cross_entropy(out, labels)


def share(part: float, whole: float) -> str:
    return f"{100 * part / whole:.0f} %"


def main() -> None:
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument(
        "--steps", type=int, default=12, help="number of plain and profiled steps (default: 12)"
    )
    p.add_argument("--json", metavar="FILE", help="write the figures")
    args = p.parse_args()
    logging.getLogger("torch.utils.cpp_extension").setLevel(logging.ERROR)
    torch.manual_seed(0)
    peaks, rows = fasterroof.measure_peaks(), []
    print(
        "| step | plain | operations / plain | forward, backward, optimizer | peak memory"
        " | roofline efficiency | MFU | GFLOP | MB | MB unfused |\n"
        "|---|---|---|---|---|---|---|---|---|---|"
    )
    for make in (transformer, resnet18):
        for compiled in (False, True):
            model, sample, loss = make()
            name = f"{make.__name__}, {'compiled' if compiled else 'eager'}"
            program = torch.compile(model) if compiled else model
            analyzer = RooflineAnalyzer(
                program, sample, peaks, loss=loss, optimizer=torch.optim.AdamW, name=name
            )
            analyzer.profile(warmup=3, steps=args.steps)
            run = analyzer.run
            phases = {k: t.time_s for k, t in run.by_phase().items()}
            row = dict(
                step=name,
                plain_s=run.plain.median,
                interval=run.plain.interval,
                points_s=run.time_s,
                phases=phases,
                memory=run.memory,
                utilization_pct=run.utilization_pct,
                mfu_pct=run.mfu_pct,
                flops=run.flops,
                bytes=run.bytes_moved,
                unfused=run.unfused_bytes,
                notes=run.remarks,
                compile_s=run.compile_s,
            )
            rows.append(row)
            shares = ", ".join(share(t, run.time_s) for t in phases.values())
            unfused = "" if run.unfused_bytes is None else f"{run.unfused_bytes / 1e6:.0f}"
            print(
                f"| {name} | {1e3 * run.plain.median:.1f} ms | {run.covered:.3f} | {shares} |"
                f" {max(run.memory.values()) / 1e6:.0f} MB | {run.utilization_pct:.0f} % |"
                f" {run.mfu_pct:.0f} % | {run.flops / 1e9:.2f} | {run.bytes_moved / 1e6:.0f} |"
                f" {unfused} |",
                flush=True,
            )
            for note in run.remarks:
                print(f"  {note}", file=sys.stderr)
    if args.json:
        with open(args.json, "w") as f:
            json.dump(rows, f, indent=1)


if __name__ == "__main__":
    main()
