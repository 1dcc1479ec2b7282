"""Measure the errors of calibrated rooflines by class and device.

.venv/bin/python benchmarks/predicting_operators.py DATA_DIR

DATA_DIR has NeuSight's rows (gemm.parquet, vector.parquet, devices.csv). The times of transformers'
shapes are predicted under four protocols: half of them are left out of a fit to all other rows; all
of them are left out, so that the fit has only random shapes of another session; the whole device is
left out; and 10 or 40 of its rows are used together with the other devices. For each protocol the
program prints the median error, the share of rows within the 90 % interval, and the width of the
interval, its upper end over its lower end.
"""

import argparse
import math
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from calibrate_gpus import session_biases
from neusight import (
    CLASSES,
    PRIORS,
    TRAIN,
    TRANSFORMER,
    fit_rows,
    device_figures,
    misses,
    parameters_unseen,
    read_rows,
)

from fasterroof.prediction.calibrated.fit import centred_priors, residual_scale, session_term

SAMPLE = 2000  # rows of a split that a fit uses
NEWEST = ("NVIDIA_H100_80GB_HBM3", "NVIDIA_L4", "NVIDIA_A100_80GB_PCIe")  # NeuSight's split


@dataclass
class Score:
    "Errors of the predictions of some rows."

    off: np.ndarray  # logarithms of predicted over measured time
    spread: float  # standard deviation of such a logarithm, from which the interval is computed

    def cells(self) -> list[str]:
        """Return the number of rows, the median absolute and signed error, and the coverage and
        width of the 90 % interval."""
        half = 1.6449 * self.spread
        error = np.abs(np.expm1(self.off))
        return [
            str(len(self.off)),
            f"{100 * np.median(error):.1f}",
            f"{100 * np.expm1(np.median(self.off)):+.1f}",
            f"{100 * np.mean(np.abs(self.off) <= half):.0f}",
            f"{math.exp(2 * half):.2f}",
        ]


def halves(rows) -> tuple:
    "Return the rows without half of the transformers' shapes, and that half."
    chosen = np.random.default_rng(0).permutation(np.flatnonzero(rows.split == TRANSFORMER))
    test = np.zeros(len(rows), bool)
    test[chosen[: len(chosen) // 2]] = True
    return rows.where(~test), rows.where(test)


def shapes_left_out(rows, figures) -> dict:
    "Protocol 1: predict half of the transformers' shapes by a fit to all other rows."
    scores = {}
    for (kind, device), of in rows.items():
        train, test = halves(of)
        fit = fit_rows(kind, train.sampled(SAMPLE), figures[device])
        scores[kind, device] = Score(
            misses(kind, test, figures[device], fit.parameters), fit.residual
        )
    return scores


def few_rows(rows, figures, count: int) -> dict:
    """Protocol 4: fit `count` rows of transformers' shapes, with the parameters expected from the
    other devices as priors, and predict the remaining rows. The interval contains the fit's
    residual but no term between sessions, because all rows come from one session."""
    fits = {key: fit_rows(key[0], of.sampled(SAMPLE), figures[key[1]]) for key, of in rows.items()}
    scores = {}
    for kind, device in fits:
        of = rows[kind, device]
        of = of.where(of.split == TRANSFORMER)
        order = np.random.default_rng(0).permutation(len(of))
        expected = parameters_unseen(kind, device, fits, figures)
        priors = centred_priors(expected, PRIORS[CLASSES[kind]])
        if len(of) > 2 * count:
            fit = fit_rows(kind, of.where(order[:count]), figures[device], priors)
            off = misses(kind, of.where(order[count:]), figures[device], fit.parameters)
            scores[kind, device] = Score(off, fit.residual)
    return scores


def session_left_out(rows, figures) -> dict:
    """Protocol 2: predict transformers' rows by a fit to random shapes; the term between sessions
    comes from the other devices."""
    scores, biases = {}, session_biases(rows, figures)
    for kind, device in biases:
        of = rows[kind, device]
        fit = fit_rows(kind, of.where(of.split == TRAIN).sampled(SAMPLE), figures[device])
        others = [b for (k, d), b in biases.items() if k == kind and d != device]
        off = misses(kind, of.where(of.split == TRANSFORMER), figures[device], fit.parameters)
        scores[kind, device] = Score(off, math.hypot(fit.residual, session_term(others)))
    return scores


def device_left_out(rows, figures, unseen=None) -> dict:
    """Protocol 3: predict a device from the others, or from all except `unseen`. The term between
    devices comes from the errors of these others, each left out in turn."""
    fits = {key: fit_rows(key[0], of.sampled(SAMPLE), figures[key[1]]) for key, of in rows.items()}

    def off(kind, device, without):
        of = rows[kind, device]
        parameters = parameters_unseen(kind, device, fits, figures, without)
        return misses(kind, of.where(of.split == TRANSFORMER), figures[device], parameters)

    scores = {}
    for kind, device in rows:
        if unseen and device not in unseen:
            continue
        without = set(unseen or ()) | {device}
        others = [d for k, d in rows if k == kind and d not in without]
        others = [off(kind, d, without) for d in others]
        middles = [float(np.median(x)) for x in others]
        scale = float(
            np.median([residual_scale(x - m) for x, m in zip(others, middles, strict=True)])
        )
        scores[kind, device] = Score(
            off(kind, device, without), math.hypot(scale, session_term(middles))
        )
    return scores


def show(title: str, scores: dict) -> None:
    "Print one protocol as Markdown."
    print(f"\n## {title}\n")
    print("| class | device | rows | median error (%) | median (%) | within 90 % (%) | width |")
    print("|---|---|---|---|---|---|---|")
    for kind in CLASSES:
        mine = {device: score for (k, device), score in scores.items() if k == kind}
        for device, score in sorted(mine.items()):
            print(f"| {kind} | {device} | {' | '.join(score.cells())} |")
        if mine:
            medians = [np.median(np.abs(np.expm1(s.off))) for s in mine.values()]
            within = [np.mean(np.abs(s.off) <= 1.6449 * s.spread) for s in mine.values()]
            widths = [math.exp(2 * 1.6449 * s.spread) for s in mine.values()]
            print(
                f"| **{kind}** | median of devices | | {100 * np.median(medians):.1f} | |"
                f" {100 * np.median(within):.0f} | {np.median(widths):.2f} |"
            )


if __name__ == "__main__":
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("folder", type=Path, help="folder with NeuSight's rows")
    args = p.parse_args()
    figures, rows = device_figures(args.folder), read_rows(args.folder)
    show("Half of the transformers' shapes left out", shapes_left_out(rows, figures))
    show("All transformers' shapes left out: another session", session_left_out(rows, figures))
    for count in (10, 40):
        show(f"{count} rows of the device, and the other devices", few_rows(rows, figures, count))
    show("The device left out", device_left_out(rows, figures))
    show("H100, L4 and A100 80 GB left out", device_left_out(rows, figures, NEWEST))
