"""Hold predictions of a calibrated CPU against measured times of twelve networks.

    fasterroof calibrate --mode fp32 --mode bf16 --out machine.json    # repeat for more sessions
    python benchmarks/predicting_cpu.py measure times.jsonl            # repeat for more passes
    python benchmarks/predicting_cpu.py compare machine.json times.jsonl

`measure` appends one pass: the median time of each network, batch and precision, in a process that
keeps freed memory, as `fasterroof calibrate` does; `--default-memory` leaves the allocator alone.
`compare` takes the median over the passes. It prints the error of each network, its 90 % interval,
how many intervals hold, and how wide they are.
"""

import argparse
import json
import os
import statistics
import sys
import time
import warnings

from cpu_networks import BATCHES, NETWORKS, PRECISIONS

SECONDS, LEAST, MOST = 1.6, 5, 200  # s and calls of each measurement


def built(name: str, precision: str, batch: int):
    "Return a network in evaluation mode with its arguments, in one precision."
    import torch

    torch.manual_seed(0)
    model, args, kwargs = NETWORKS[name](batch)
    model.eval()
    if precision == "bf16":
        model = model.bfloat16()
        args = tuple(x.bfloat16() if x.is_floating_point() else x for x in args)
    return model, args, kwargs


def median_time(model, args, kwargs) -> tuple[float, int]:
    "Return the median time of a call in s, and the number of calls."
    import torch

    times, start = [], None
    with torch.no_grad():
        for _ in range(3):
            model(*args, **kwargs)
        start = time.perf_counter()
        while len(times) < LEAST or (time.perf_counter() - start < SECONDS and len(times) < MOST):
            before = time.perf_counter()
            model(*args, **kwargs)
            times.append(time.perf_counter() - before)
    return statistics.median(times), len(times)


def measure(path: str) -> None:
    "Append one pass over all networks to a file."
    from fasterroof.machine.host import ForeignLoad
    from fasterroof.prediction.calibrated.measured.measured_operations import memory_state

    for precision in PRECISIONS:
        for name in NETWORKS:
            for batch in BATCHES:
                load = ForeignLoad()
                seconds, calls = median_time(*built(name, precision, batch))
                row = {"network": name, "precision": precision, "batch": batch}
                row |= {"seconds": seconds, "calls": calls, "memory": memory_state()}
                row |= {"foreign_load": load.share(), "time": time.strftime("%Y-%m-%dT%H:%M")}
                with open(path, "a", encoding="utf-8") as file:
                    file.write(json.dumps(row) + "\n")
                print(f"{name} {precision} {batch}: {1e3 * seconds:.2f} ms", flush=True)


def compare(machine_path: str, times_path: str) -> None:
    "Print the errors of predictions."
    import fasterroof as fr
    from fasterroof.prediction.calibrated.machine_calibration import load_calibrations

    warnings.simplefilter("ignore")
    machine = load_calibrations(machine_path)
    passes: dict[tuple, list[float]] = {}
    for line in open(times_path, encoding="utf-8"):
        row = json.loads(line)
        passes.setdefault((row["network"], row["precision"], row["batch"]), []).append(
            row["seconds"]
        )
    print(machine.sentence)
    print("| network | precision | batch | measured, ms | predicted, ms | 90 % | error | holds |")
    print("|---|---|--:|--:|--:|--:|--:|---|")
    errors, held, widths = {}, {}, []
    for (name, precision, batch), times in passes.items():
        measured = statistics.median(times)
        model, args, kwargs = built(name, precision, batch)
        p = fr.predict(model, *args, on=machine, **kwargs)
        low, high = p.interval_s
        predicted = p.latency.m_as("s")
        error = predicted / measured - 1
        errors.setdefault(name, []).append(abs(error))
        held.setdefault(name, []).append(low <= measured <= high)
        widths.append(high / low)
        print(
            f"| {name} | {precision} | {batch} | {1e3 * measured:.1f} | {1e3 * predicted:.1f}"
            f" | {1e3 * low:.1f}–{1e3 * high:.1f} | {100 * error:+.0f} %"
            f" | {'yes' if held[name][-1] else 'no'} |",
            flush=True,
        )
    every = [x for xs in errors.values() for x in xs]
    shares = [statistics.mean(x) for x in held.values()]
    print(
        f"Mean error {100 * statistics.mean(every):.1f} %, median"
        f" {100 * statistics.median(every):.1f} %; the 90 % interval holds"
        f" {100 * statistics.mean(shares):.0f} %; its median width, high over low, is"
        f" {statistics.median(widths):.2f}."
    )
    by_network = {
        name: f"{100 * statistics.mean(e):.0f} % ({sum(held[name])} of {len(e)} hold)"
        for name, e in errors.items()
    }
    print("By network: " + ", ".join(f"{name} {text}" for name, text in by_network.items()) + ".")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=("measure", "compare"))
    parser.add_argument("files", nargs="+")
    parser.add_argument("--default-memory", action="store_true")
    asked = parser.parse_args()
    if asked.what == "compare":
        compare(*asked.files)
    else:
        from fasterroof.prediction.calibrated.measured.measured_operations import KEPT_MEMORY

        if not asked.default_memory and os.environ.get("MALLOC_MMAP_MAX_") != "0":
            os.execve(sys.executable, [sys.executable, *sys.argv], os.environ | KEPT_MEMORY)
        measure(*asked.files)
