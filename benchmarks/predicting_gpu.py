"""Hold predictions of a GPU against measured times of networks.

    fasterroof calibrate --device cuda --mode fp32 --mode tf32 --mode bf16 --out gpu.json
    python benchmarks/predicting_gpu.py measure times.jsonl [--models FOLDER]    # on the GPU
    python benchmarks/predicting_gpu.py compare times.jsonl gpu.json             # on any machine
    python benchmarks/predicting_gpu.py compare times.jsonl "H200 SXM"           # without its rows

`measure` writes a line for each run as it ends: the median of calls that wait for the device before
and after. It runs the twelve networks of `cpu_networks.py` in fp32, TF32 and bf16, batch 1 and 32,
and, with a folder of their configurations (see `predict_labels.py`), transformers in fp32, forward
and training. `compare` prints the error of each run and of each group, and how many 90 % intervals
hold. The name of a chip asks for its shipped calibration, or for one expected from other
devices where there is none; with `--unseen` always for the latter.
"""

import argparse
import json
import statistics
import time
import warnings
from collections.abc import Callable
from pathlib import Path

import torch

from cpu_networks import NETWORKS
from predict_labels import build, quiet, works_of

BATCHES = (1, 32)
DTYPES = {"fp32": torch.float32, "bf16": torch.bfloat16, "tf32": torch.float32}
TRANSFORMERS = (  # model, batch, sequence, mode: each fits into 40 GB
    ("bert_large", 16, 512, "inf"),
    ("bert_large", 8, 512, "train"),
    ("bert_large", 2, 512, "inf"),
    ("bert_large", 4, 256, "train"),
    ("gpt2_large", 4, 1024, "inf"),
    ("gpt2_large", 2, 1024, "train"),
    ("gpt2_large", 8, 512, "inf"),
    ("gpt3_xl", 4, 1024, "inf"),
    ("gpt3_xl", 1, 1024, "train"),
    ("gpt3_27", 2, 1024, "inf"),
)
SECONDS, LEAST, MOST = 0.4, 5, 50  # s and calls of each measurement


def median_time(call: Callable[[], object]) -> tuple[float, int]:
    "Return the median time of a call in s, the device idle before it, and the number of calls."
    for _ in range(3):
        call()
    torch.cuda.synchronize()
    times, start = [], time.perf_counter()
    while len(times) < LEAST or (time.perf_counter() - start < SECONDS and len(times) < MOST):
        before = time.perf_counter()
        call()
        torch.cuda.synchronize()
        times.append(time.perf_counter() - before)
    return statistics.median(times), len(times)


def network(name: str, batch: int, precision: str, device: str) -> tuple[Callable, tuple, dict]:
    "Return a network in evaluation mode with its arguments."
    torch.manual_seed(0)
    model, args, kwargs = NETWORKS[name](batch)
    model = model.eval().to(device, DTYPES[precision])
    placed = [x.to(device, DTYPES[precision] if x.is_floating_point() else None) for x in args]
    return model, tuple(placed), {k: _placed(v, device) for k, v in kwargs.items()}


def _placed(value: object, device: str) -> object:
    return value.to(device) if isinstance(value, torch.Tensor) else value


def forward_time(name: str, batch: int, precision: str) -> tuple[float, int]:
    "Time the forward of one of the twelve networks."
    model, args, kwargs = network(name, batch, precision, "cuda")
    with torch.no_grad():
        return median_time(lambda: model(*args, **kwargs))


def transformer_time(folder: Path, name: str, batch: int, seq: int, mode: str):
    "Time a forward, or a forward and a backward, of a transformer."
    with quiet(), torch.device("cuda"):
        model = build(folder, name, mode == "train").cuda()
    ids = torch.randint(0, 2, (batch, seq), device="cuda")  # labels of two classes, too
    inputs = {"input_ids": ids, "attention_mask": torch.ones_like(ids)}

    def train():
        model(**inputs).backward()
        model.zero_grad(set_to_none=True)

    with torch.set_grad_enabled(mode == "train"):
        return median_time(train if mode == "train" else lambda: model(**inputs))


def measure(path: str, models: Path | None) -> None:
    "Append the time of each run to a file."
    from fasterroof.core.settings import pin_fp32, preserved

    def write(timed: Callable, **about) -> None:
        try:
            seconds, calls = timed()
        except (RuntimeError, torch.cuda.OutOfMemoryError) as e:
            print(about, f"left out: {str(e).splitlines()[0][:100]}", flush=True)
            return
        row = about | {"seconds": seconds, "calls": calls, "device": torch.cuda.get_device_name()}
        with open(path, "a", encoding="utf-8") as file:
            file.write(json.dumps(row) + "\n")
        print(*about.values(), f"{1e3 * seconds:.2f} ms", flush=True)
        torch.cuda.empty_cache()

    with preserved():
        pin_fp32("fp32")
        for name, batch, seq, mode in TRANSFORMERS if models else ():
            about = {"network": name, "batch": batch, "seq": seq, "mode": mode, "precision": "fp32"}
            write(lambda a=(models, name, batch, seq, mode): transformer_time(*a), **about)
        for precision in DTYPES:
            pin_fp32("tf32" if precision == "tf32" else "fp32")
            for name in NETWORKS:
                for batch in BATCHES:
                    about = {"network": name, "batch": batch, "precision": precision}
                    write(
                        lambda a=about: forward_time(a["network"], a["batch"], a["precision"]),
                        **about,
                    )


def of_chip(chip: str, mode: str, unseen: bool):
    "Return the shipped calibration of a chip, or the one that is expected from other chips."
    from fasterroof.prediction.calibrated.calibration import shipped_calibrations, shipped_prior
    from fasterroof.prediction.trace_times import expected_calibration, shipped_calibration

    shipped, expected = shipped_calibration(chip, mode), expected_calibration(chip, mode)
    if not unseen:
        return shipped or expected
    own = shipped_calibration(chip, "fp32")
    others = [c for c in shipped_calibrations().values() if c is not own]
    return shipped_prior().calibration(expected.figures, others, mode)


def compare(path: str, chip: str, models: Path | None, unseen: bool) -> None:
    "Print the errors of predictions."
    import fasterroof as fr
    from fasterroof.prediction.calibrated.machine_calibration import load_calibrations
    from fasterroof.prediction.calibrated.operation_classes import operation_works

    machine = load_calibrations(chip) if Path(chip).exists() else None
    groups: dict[str, list[tuple[float, bool, float]]] = {}
    for line in open(path, encoding="utf-8"):
        row = json.loads(line)
        name, batch, precision = row["network"], row["batch"], row["precision"]
        if "seq" in row and models is None:
            continue
        with quiet():
            if "seq" in row:
                works = works_of(models, name, batch, row["seq"], row["mode"] == "train")
            else:
                model, args, kwargs = network(name, batch, precision, "cpu")
                with torch.no_grad():
                    works = operation_works(fr.trace(model, *args, **kwargs).ops)
        one = machine.for_mode(precision) if machine else of_chip(chip, precision, unseen)
        p, measured = one.predict(works, queued=True), row["seconds"]
        error, holds = p.seconds / measured - 1, p.low <= measured <= p.high
        group = (
            f"transformers, {row['mode']}"
            if "seq" in row
            else f"networks, {precision}, batch {batch}"
        )
        groups.setdefault(group, []).append((abs(error), holds, p.high / p.low))
        shares = ", ".join(f"{k} {v:.0%}" for k, v in p.shares.items())
        print(
            f"{name} {batch} {precision} {row.get('mode', '')}: {1e3 * measured:.2f} ms, predicted"
            f" {1e3 * p.seconds:.2f} ({1e3 * p.low:.2f}–{1e3 * p.high:.2f}), {100 * error:+.0f} %;"
            f" {shares}",
            flush=True,
        )
    print("| runs | number | mean error | within 90 % | median width |\n|---|--:|--:|--:|--:|")
    for name, rows in groups.items():
        errors, holds, widths = zip(*rows, strict=True)
        print(
            f"| {name} | {len(rows)} | {100 * statistics.mean(errors):.0f} % | {sum(holds)} of"
            f" {len(rows)} | {statistics.median(widths):.2f} |"
        )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=("measure", "compare"))
    parser.add_argument("times", help="file with a line for each run")
    parser.add_argument("chip", nargs="?", help="calibration file, or name of a chip (compare)")
    parser.add_argument("--models", type=Path, help="folder with configurations of transformers")
    parser.add_argument("--unseen", action="store_true", help="leave out the chip's own rows")
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    if asked.what == "measure":
        measure(asked.times, asked.models)
    else:
        compare(asked.times, asked.chip, asked.models, asked.unseen)
