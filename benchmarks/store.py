"""Measure seconds and memory for the newest row of each identity and for the site, from stores of
10,000 to 1,000,000 rows, before and after compaction."""

import argparse
import json
import random
import re
import resource
import subprocess
import sys
import tempfile
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

CASES = ("attention", "dense_matmul", "ell_edge_aggregate", "semiring_matmul", "trace_cost")
MARK = 987654321.5  # replaced by the figures of each row


def template() -> dict:
    "Return a row with all fields that this package writes, about 2.6 kB of JSON."

    def value(v, unit):
        return {"value": v, "unit": unit}

    return {
        "schema_version": 1,
        "run_id": "RUN",
        "attempt": "ATTEMPT",
        "case": "CASE",
        "param_point": {"n": "POINT", "batch": 4, "algebra": "log"},
        "baseline": "BASELINE",
        "platform": "jax-cpu",
        "framework": "jax",
        "device": "AMD EPYC 9R14, 2 CPUs",
        "status": "ok",
        "metrics": {
            "steady_time": {
                "min": MARK,
                "median": MARK,
                "p95": MARK,
                "iqr": MARK,
                "n": 20,
                "unit": "s",
                "interval": [MARK, MARK],
                "samples": [MARK] * 20,
            },
            "compile_time": {"value": MARK, "unit": "s", "cache": "cold"},
            "host_rss": value(3.1e8, "B"),
            "est_flops": value(268435456.0, "FLOP"),
            "bytes_moved": value(3145728.0, "B"),
            "arithmetic_intensity": value(85.33333333333333, "FLOP/B"),
            "attainable": value(1.1e11, "FLOP/s"),
            "utilization": value(MARK, "1"),
            "bound": {"value": "compute"},
        },
        "fidelity": {
            "status": "pass",
            "rel_to_tol": 0.0625,
            "max_abs": 1e-5,
            "max_rel": 1e-4,
            "n_mismatched": 0,
            "layout_normalised": False,
            "oracle": {"kind": "fp64_full", "baseline": None, "subsample": None},
            "threshold": {"rtol": 1e-3, "atol": 1e-4, "scope": "per_case"},
        },
        "ratio": {"vs": "b0", "metric": "min", "value": MARK},
        "failure_detail": None,
        "provenance": {
            "timestamp": "STAMP",
            "isolation": "process",
            "os": "Linux 6.1",
            "versions_hash": "5" * 64,
            "git": {
                "sha": "f9c9260" * 5 + "f9c92",
                "dirty": False,
                "root": "/home/somebody/project",
            },
            "python": {"version": "3.11.9", "executable_variable": ""},
            "versions": {
                "fasterroof": "0.1",
                "jax": "0.10.0",
                "jaxlib": "0.10.0",
                "numpy": "2.3.1",
            },
            "cpu": {
                "model": "AMD EPYC 9R14",
                "governor": None,
                "numa_nodes": 1,
                "affinity": [0, 1],
                "allowed": 2,
                "quota": None,
                "memory_bytes": 24 * 2**30,
            },
            "gpu": None,
            "jax": {
                "x64": False,
                "precision": "highest",
                "preallocation": "false",
                "compile_cache": "disabled",
                "xla_flags": None,
            },
            "scheduler": {
                "platforms": ["jax-cpu", "torch-cpu"],
                "cpu_slots": 1,
                "gpus": 0,
                "gpu_settle_s": 0.0,
                "slot": 0,
                "concurrent": 1,
            },
            "foreign_load": 0.01,
            "roof": {
                "source": "measured",
                "device": "cpu",
                "mode": "fp32",
                "time": "2026-01-01T00:00:00+00:00",
                "peak_flops": 2.3e11,
                "bandwidth": 7e10,
                "memory": "DRAM",
            },
        },
    }


def make(root: Path, runs: int, per: int, identities: int) -> int:
    "Create a store with this many runs and rows per run; return its bytes."
    rng, began = random.Random(0), datetime(2026, 1, 1, tzinfo=UTC)
    text = (
        json.dumps(template(), separators=(",", ":")).replace("%", "%%").replace(repr(MARK), "%r")
    )
    pieces = re.split('(RUN|ATTEMPT|CASE|"POINT"|BASELINE|STAMP)', text)
    figures, total = text.count("%r"), 0
    for r in range(runs):
        at = began + timedelta(minutes=7 * r)
        run, case = f"{at:%Y%m%dT%H%M%S.%fZ}-{r % 65536:04x}", CASES[r % len(CASES)]
        lines = []
        for i in range(per):
            k = (r // len(CASES) * per + i) % (identities // len(CASES))
            values = {
                "RUN": run,
                "ATTEMPT": f"{i:04d}",
                "CASE": case,
                '"POINT"': str(k // 4),
                "BASELINE": f"b{k % 4}",
                "STAMP": (at + timedelta(seconds=i / 4)).isoformat(),
            }
            lines.append(
                "".join(values.get(p, p) for p in pieces)
                % tuple(rng.random() for _ in range(figures))
            )
        file = root / case / f"{run}.jsonl"
        file.parent.mkdir(parents=True, exist_ok=True)
        total += file.write_text("\n".join(lines) + "\n")
    return total


def latest(root: str) -> int:
    from fasterroof.bench.store.store import Store

    return len(Store(root).latest())


def plain(root: str) -> int:
    "Read every row in one loop and keep the newest."
    from fasterroof.bench.row import identity
    from fasterroof.bench.store.query import moment
    from fasterroof.bench.store.store import Store

    best = {}
    for row in Store(root).rows():
        key, age = identity(row), (moment(row), row["run_id"])
        if key not in best or age >= best[key][0]:
            best[key] = age, row
    return len(best)


def unchecked(root: str) -> int:
    "Read with DuckDB's own JSON reader, which parses only the requested fields."
    import duckdb

    names = ("case", "param_point", "baseline", "platform", "framework", "device")
    keys = ", ".join(f"json ->> '$.{k}'" for k in names)
    return len(
        duckdb.execute(
            "SELECT arg_max(json::VARCHAR, json ->> '$.provenance.timestamp') FROM"
            f" read_json_objects('{root}/*/*.jsonl', format = 'newline_delimited') GROUP BY {keys}"
        ).fetchall()
    )


def site(root: str) -> int:
    from fasterroof.bench.views.site.document import site_page

    return len(site_page([root]))


def history(root: str) -> int:
    from fasterroof.bench.judge.history import histories
    from fasterroof.bench.store.query import row_files

    return len(histories(row_files([root])))


def query(root: str) -> int:
    from fasterroof.bench.store.store import Store

    return len(
        Store(root).query('SELECT "case", baseline, median(median_s) FROM rows GROUP BY ALL')
    )


def compact(root: str) -> int:
    from fasterroof.bench.store.store import Store

    return Store(root).compact().bytes


ANSWERS = (latest, site, history, query)
WAYS = {f.__name__: f for f in (*ANSWERS, plain, unchecked, compact)}


def child(way: str, root: str) -> dict:
    """Run one way in its own process; return seconds, CPU seconds, and the peak memory in MB of it
    and of its largest child."""
    done = subprocess.run(
        [sys.executable, __file__, "--way", way, "--store", root],
        capture_output=True,
        text=True,
        check=True,
    )
    return json.loads(done.stdout)


def measured(way: str, root: str) -> dict:
    start = time.perf_counter()
    result, took = WAYS[way](root), time.perf_counter() - start
    own, children = (
        resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    )
    # (Linux)
    most = int(Path("/proc/self/status").read_text().split("VmHWM:")[1].split()[0]) / 1024
    return {
        "result": result,
        "s": took,
        "MB": most,
        "child MB": children.ru_maxrss / 1024,
        "cpu s": sum(x.ru_utime + x.ru_stime for x in (own, children)),
    }


if __name__ == "__main__":
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument("--rows", type=int, nargs="+", default=[10_000, 100_000, 1_000_000], metavar="N")
    p.add_argument(
        "--folder",
        default=None,
        help="folder for temporary stores: 2.6 GB for a million rows",
    )
    p.add_argument("--way", choices=WAYS, help=argparse.SUPPRESS)
    p.add_argument("--store", help=argparse.SUPPRESS)
    args = p.parse_args()
    if args.way:
        print(json.dumps(measured(args.way, args.store)))
        sys.exit()
    beside = (
        "| rows | MB | identities | latest, s | CPU s | peak memory, MB | child process, MB |"
        " plain / latest, s | plain, MB | unchecked / latest, s"
        " |\n|---|---|---|---|---|---|---|---|---|---|"
    )
    lines = []
    for rows in args.rows:
        with tempfile.TemporaryDirectory(dir=args.folder) as folder:
            size = make(Path(folder), max(5, rows // 1000), min(1000, rows // 5), rows // 20)
            before = {f.__name__: child(f.__name__, folder) for f in ANSWERS}
            a, b, c = before["latest"], child("plain", folder), child("unchecked", folder)
            assert a["result"] == b["result"] == c["result"]
            beside += (
                f"\n| {rows:,} | {size / 1e6:,.0f} | {a['result']:,} | {a['s']:.2f} |"
                f" {a['cpu s']:.1f} | {a['MB']:,.0f} | {a['child MB']:,.0f} |"
                f" {b['s'] / a['s']:.2f} | {b['MB']:,.0f} | {c['s'] / a['s']:.2f} |"
            )
            done = child("compact", folder)
            after = {f.__name__: child(f.__name__, folder) for f in ANSWERS}
            assert {k: x["result"] for k, x in after.items()} == {
                k: x["result"] for k, x in before.items()
            }
            shown = " | ".join(
                f"{before[k]['s']:.2f} → {after[k]['s']:.2f} |"
                f" {before[k]['MB']:,.0f} → {after[k]['MB']:,.0f}"
                for k in before
            )
            lines.append(
                f"| {rows:,} | {done['s']:.1f} | {done['cpu s']:.1f} | {done['child MB']:,.0f} |"
                f" {done['result'] / 1e6:,.0f} | {shown} |"
            )
            print(f"{beside}\n\n{lines[-1]}", file=sys.stderr, flush=True)
    print(beside)
    names = " | ".join(f"{f.__name__}, s | MB" for f in ANSWERS)
    print(f"\n| rows | compacting, s | CPU s | child process, MB | columns, MB | {names} |")
    print("|---" * (5 + 2 * len(ANSWERS)) + "|")
    print("\n".join(lines))
