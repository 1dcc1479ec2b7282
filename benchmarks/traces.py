"""Measure time and memory for reading a large trace and turning it into operations.

python benchmarks/traces.py [--megabytes N] [--rounds N]

torch writes a trace here (training steps of resnet18 with shapes, and again with stacks), which is
repeated until the file is large enough. Each round reads it in its own process, whose peak memory
is stated.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

CHILD = """
import resource, sys, time
start = time.perf_counter()
from fasterroof.timing.profiler_file import read_trace
from fasterroof.timing.profiler_ops import profiled
imported, before = time.perf_counter(), time.process_time()
trace = read_trace(sys.argv[1])
read = time.perf_counter()
program = profiled(trace)
done, used = time.perf_counter(), time.process_time() - before
most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
print(imported - start, read - imported, done - read, used, most,
      len(trace.events), len(program.steps), len(program.ops))
"""


def real(path: Path, with_stack: bool) -> None:
    "Record a trace of three training steps."
    import torch
    from torchvision.models import resnet18

    model, x, target = resnet18(), torch.rand(2, 3, 64, 64), torch.tensor([1, 2])
    optimizer = torch.optim.AdamW(model.parameters())

    def step():
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(model(x), target).backward()
        optimizer.step()

    plan = torch.profiler.schedule(wait=1, warmup=1, active=3, repeat=1)
    with torch.profiler.profile(
        activities=[torch.profiler.ProfilerActivity.CPU],
        record_shapes=True,
        with_stack=with_stack,
        schedule=plan,
    ) as prof:
        for _ in range(5):
            step()
            prof.step()
    prof.export_chrome_trace(str(path))


def large(path: Path, megabytes: float) -> None:
    "Repeat a trace: each copy starts later and has new numbers for steps and launches."
    whole = json.loads(path.read_text())
    events = whole.pop("traceEvents")
    timed = [e for e in events if e.get("ph") == "X" and e.get("cat") != "Trace"]
    first = min(e["ts"] for e in timed)
    period = max(e["ts"] + e["dur"] for e in timed) - first + 1
    sequences = 1 + max(e["args"].get("Sequence number", 0) for e in timed)
    with open(path, "w", encoding="utf-8") as file:
        file.write(
            json.dumps(whole)[:-1] + ', "traceEvents": [\n' + ",\n".join(map(json.dumps, events))
        )
        i = 0
        while file.tell() < megabytes * 1e6:
            i += 1
            for e in timed:
                args = dict(e["args"])
                if "Sequence number" in args:
                    args["Sequence number"] += i * sequences
                name = e["name"]
                if name.startswith("ProfilerStep#"):
                    name = f"ProfilerStep#{int(name.split('#')[1]) + 3 * i}"
                again = e | {"name": name, "ts": round(e["ts"] + i * period, 3), "args": args}
                file.write(",\n" + json.dumps(again))
        file.write("\n]}\n")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument(
        "--megabytes", type=float, default=200, help="size of the trace in MB (default: 200)"
    )
    parser.add_argument(
        "--rounds", type=int, default=3, help="number of processes that read it (default: 3)"
    )
    args = parser.parse_args()
    print(
        "| trace | MB | events | steps | operations per step | importing, s | reading, s |"
        " operations, s | both, s | both, CPU s | peak memory, GiB"
        " |\n|---|---|---|---|---|---|---|---|---|---|---|"
    )
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "trace.json"
        for what in ("shapes", "shapes and stacks"):
            real(path, what != "shapes")
            large(path, args.megabytes)
            rounds = []
            for _ in range(args.rounds):
                done = subprocess.run(
                    [sys.executable, "-c", CHILD, path], check=True, capture_output=True, text=True
                )
                rounds.append(list(map(float, done.stdout.split())))
            importing, reading, joining, used, most = (max(r[i] for r in rounds) for i in range(5))
            events, steps, ops = map(int, rounds[0][5:])
            both = max(r[1] + r[2] for r in rounds)
            print(
                f"| {what} | {path.stat().st_size / 1e6:.0f} | {events:,} | {steps} | {ops} |"
                f" {importing:.1f} | {reading:.1f} | {joining:.1f} | {both:.1f} | {used:.1f} |"
                f" {most:.2f} |"
            )
    print(f"\nThe slowest of {args.rounds} rounds, and the largest peak memory.")


if __name__ == "__main__":
    main()
