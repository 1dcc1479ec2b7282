#!/usr/bin/env python3
"""Check that type checkers see precise types for all public names.

`python tools/public_types.py` (10 s) fails if a public name, a member of a public class or a type
of the package that one of them uses has no type or a vague one. It also fails if pyright reports
an error in the program below, or misses the one mistake in it.
"""

# pyright: reportUnnecessaryTypeIgnoreComment=error
import ast
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, assert_type

ROOT = Path(__file__).resolve().parent.parent

if TYPE_CHECKING:  # a program that is only type-checked
    import pandas as pd
    import torch

    import fasterroof as fr

    def measured(model: torch.nn.Module, x: torch.Tensor) -> None:
        peaks = assert_type(fr.measure_peaks(), fr.HardwarePeaks)
        analyzer = fr.RooflineAnalyzer(model, x, peaks)
        assert_type(analyzer.profile(steps=3), fr.Run)
        run = assert_type(analyzer.run, fr.Run)
        assert_type(run.total.utilization_pct, float | None)
        assert_type(run.by_module(2), dict[str, fr.roofline.Total])
        assert_type(run.environment, dict[str, Any])
        assert_type(analyzer.summary(top=None), pd.DataFrame)
        run.save("run.json")
        assert_type(fr.Run.load(Path("run.json")), fr.Run)
        assert_type(fr.diff(run, run), fr.roofline.Diff)
        assert_type(fr.merge_runs([run]), fr.Run)
        assert_type(fr.time_call(lambda: model(x)).interval, tuple[float, float] | None)
        assert_type(fr.profile_step(model, x, steps=3), fr.Run)
        with fr.watch(model) as watched:
            assert_type(watched, fr.Run)
        with fr.core.preserved(model):
            pass
        assert_type(fr.machine.environment()["torch"], Any)
        print(run.no_such_field)  # pyright: ignore[reportAttributeAccessIssue]

    def counted(model: torch.nn.Module, x: torch.Tensor) -> None:
        t = assert_type(fr.trace(model, x, backward=True), fr.work.Trace)
        assert_type(t.flops, int)
        assert_type(t.ops[0].executed_flops, int | None)
        assert_type(t.by_kind(), dict[str, dict[str, Any]])

    def under_a_roof() -> None:
        roof = fr.Roof(
            1e12,
            1e11,
            levels=(fr.machine.Level("L2", 1e6, 1e12),),
            links=(fr.machine.Link("x", 1e10, 2),),
        )
        assert_type(roof.attainable(3.0), float)
        assert_type(roof.find("bf16"), fr.machine.Ceiling | None)
        assert_type(roof.floor_time(1e9, 1e6), float)
        assert_type(fr.chip_roof("H100 SXM", "bf16").peak_flops, float)
        assert_type(fr.machine.chip("H100 SXM"), fr.machine.Chip)
        assert_type(fr.machine.chip_names(), list[str])
        assert_type(fr.HardwareDetector().detect_hardware(), fr.HardwareSpecs)

    def predicted() -> None:
        llama = fr.ModelSpec.from_name("Llama-3.1-8B")
        p = assert_type(fr.Engine.solve(llama, "H100 SXM", batch_size=8), fr.PerformanceProfile)
        assert_type(p.feasible, bool | None)
        seconds: float = p.latency.m_as("s")
        print(seconds, (p.latency * 2).to("ms"), fr.BYTES_FP16 * 3)
        g = assert_type(fr.Engine.generate(llama, "H100 SXM", 2048, 256), fr.prediction.Generation)
        assert_type(g.largest_batch, int | None)
        assert_type(fr.Engine.sweep(llama, ["H100 SXM"], batch_size=[1, 2]), fr.Sweep)
        assert_type(
            fr.calc_bottleneck(fr.Q_(8, "GFLOP"), fr.Q_(5, "MB"), 1e12, 1e11), dict[str, Any]
        )
        fr.ModelSpec("mine", fr.Q_(8e9, "count"), layers=32)
        fr.Hardware("mine", fr.Q_(300, "TFLOP/s"), fr.Q_(2, "TB/s"))
        assert_type(fr.SystemArchetype.from_chip("H100 SXM", 8), fr.SystemArchetype)

    def promised() -> None:
        hw = fr.HardwareProfile.from_chip("H100 SXM")
        ceiling = assert_type(fr.compute_roofline(8e9, 16, hw), fr.RooflineCeiling)
        assert_type(ceiling.bottleneck, fr.Bottleneck)
        assert_type(fr.check_contract("mine-v1.yaml").ok, bool)
        try:
            fr.contract.read_contract("mine-v1.yaml")
        except fr.core.ContractError as e:
            print(e)


def names() -> set[str]:
    "Return the full names of all public names, from the stubs of the packages."
    results: set[str] = set()
    for stub in (ROOT / "fasterroof").rglob("__init__.pyi"):
        package = stub.parent.relative_to(ROOT).parts
        for node in ast.parse(stub.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.ImportFrom) and node.module:
                base = [*package[: len(package) - node.level + 1], node.module]
                results |= {".".join([*base, name.name]) for name in node.names}
    return results


def pyright(*arguments: str) -> Any:
    "Run basedpyright and return its JSON output."
    places = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
    # --verifytypes asks the first python on PATH where packages are and ignores --pythonpath.
    checker = shutil.which("basedpyright", path=places) or sys.exit(
        "basedpyright is not installed: run pip install basedpyright."
    )
    done = subprocess.run(
        [checker, "--pythonpath", sys.executable, "--outputjson", *arguments],
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": str(ROOT), "PATH": places},
        capture_output=True,
        text=True,
    )
    try:
        return json.loads(done.stdout)
    except ValueError:
        sys.exit(f"basedpyright failed: {done.stdout}{done.stderr}")


def main() -> int:
    public = names()
    symbols = pyright("--verifytypes", "fasterroof", "--ignoreexternal")["typeCompleteness"][
        "symbols"
    ]
    wrong: list[str] = []
    for s in symbols:
        of = s["name"].split(".")
        if not any(".".join(of[:i]) in public for i in range(3, len(of) + 1)):
            continue
        if s["isTypeKnown"] and not s["isTypeAmbiguous"]:
            continue
        wrong += [f"{s['name']}: {' '.join(d['message'].split())}" for d in s["diagnostics"]] or [
            s["name"]
        ]
    checked = sum(
        any(s["name"] == n or s["name"].startswith(n + ".") for n in public) for s in symbols
    )
    missing = public - {s["name"] for s in symbols}
    wrong += [f"{name} was not checked" for name in sorted(missing)]
    for d in pyright(__file__)["generalDiagnostics"]:
        if d["severity"] == "error":
            wrong.append(f"line {d['range']['start']['line'] + 1}: {d['message']}")
    print(*wrong, f"{checked} public types, {len(wrong)} wrong", sep="\n")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
