"""The case that `busy_gate.py` compares: additions in numpy of 10 to 20 ms, and 5 % more."""

import numpy as np

from fasterroof.bench.case import Baseline, Built, Case, Tolerance

TIMES = {"a": 4000, "again": 4000, "slower5": 4200}  # added work, not sleep


def build(point):
    x = np.random.default_rng(0).random(point["n"], "f4")

    def repeated(times):
        def run(x):
            for _ in range(times):
                y = np.sqrt(x) + x
            return y

        return run

    return Built(
        {"x": x}, {name: lambda times=times: repeated(times) for name, times in TIMES.items()}
    )


case = Case(
    "busy",
    build,
    {"n": [4096]},
    {"n": 4096},
    tuple(Baseline(name, "numpy") for name in TIMES),
    "a",
    Tolerance(1e-5, 1e-6),
    oracle=lambda point, x: np.sqrt(x) + x,
    metrics=("steady_time",),
)
