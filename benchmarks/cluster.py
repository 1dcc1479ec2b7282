"""Test a Ray cluster of two emulated nodes on this machine while nodes and processes are killed."""

import argparse
import collections
import contextlib
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from pathlib import Path

CASE = """
import os, time
import numpy as np
from fasterroof.bench.case import Baseline, Built, Case, Tolerance

def note(what):
    f = os.open(os.environ["CLUSTER_LOG"], os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    os.write(f, f"{time.monotonic()} {what} {os.getpid()}\\n".encode())
    os.close(f)

def build(p):
    note(os.environ["CLUSTER_NODE"])
    x = np.random.default_rng(p["seed"]).standard_normal(20_000)
    def fn(x):
        note("at")
        time.sleep(0.02)
        return x * 2
    return Built({"x": x}, {"good": lambda: fn, "also": lambda: fn})

CASE = Case("cluster", build, {"seed": list(range(SEEDS))}, {"seed": 0},
            tuple(Baseline(n, "numpy") for n in ("good", "also")), "good", Tolerance(1e-12, 1e-12),
            oracle=lambda p, x: x * 2, metrics=("steady_time", "host_rss"))
"""
SMALL = {"object_store_memory": 80 * 2**20, "include_dashboard": False}
CALLS = 6


class Nodes:
    "A cluster whose driver runs on a node without devices."

    def __init__(self, folder: Path):
        from ray.cluster_utils import Cluster

        self.folder, self.names = folder, {}
        self.cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 0, **SMALL})

    def add(self, locks: str):
        name = f"node-{len(self.names)}"
        env = {
            "FASTERROOF_LOCK_DIR": str(self.folder / locks),
            "CLUSTER_LOG": str(self.folder / "log"),
            "CLUSTER_NODE": name,
            "TMPDIR": str(self.folder),
        }
        node = self.cluster.add_node(
            num_cpus=1, resources={"fasterroof_cpu": 1}, env_vars=env, **SMALL
        )
        self.names[node] = name
        return node

    def remove(self, nodes: list) -> None:
        "Remove the nodes that still run, and the scratch folders of killed processes."
        for node in nodes:
            if node in self.cluster.worker_nodes:
                self.cluster.remove_node(node)
        for x in self.folder.glob("fasterroof-*"):
            shutil.rmtree(x, ignore_errors=True)


def workers(folder: Path) -> list[int]:
    "Return the processes whose command line names a scratch folder of the nodes."
    counts = []
    for p in Path("/proc").iterdir():
        if not p.name.isdigit():
            continue
        try:
            line, state = (
                (p / "cmdline").read_bytes(),
                (p / "stat").read_text().rpartition(")")[2].split()[0],
            )
        except OSError:
            continue
        if f"{folder}/fasterroof-".encode() in line and state != "Z":
            counts.append(int(p.name))
    return counts


def none_left(folder: Path) -> float:
    "Return the seconds until no worker is left; raise if one stays."
    began = time.monotonic()
    while left := workers(folder):
        if time.monotonic() > began + 10:
            raise SystemExit(f"processes are left: {left}")
        time.sleep(0.02)
    return time.monotonic() - began


def spans(folder: Path) -> dict[str, tuple[float, float, str]]:
    "Return for each worker when it was first and last inside an attempt or oracle, and its node."
    log, counts = folder / "log", {}
    for line in log.read_text().splitlines():
        t, what, pid = line.split()
        first, _, node = counts.get(pid, (float(t), 0, what))
        counts[pid] = first, float(t), node
    log.unlink()
    return counts


def overlaps(seen: dict) -> int:
    ordered = sorted(seen.values())
    return sum(b[0] < a[1] for i, a in enumerate(ordered) for b in ordered[i + 1 :])


def stored(store: Path, planned: int | None) -> list[dict]:
    "Return all rows of a store; check that each attempt has one (planned=None: at most one)."
    from fasterroof.bench.row import read_rows

    rows = [row for path in store.glob("*/*.jsonl") for row in read_rows(path)]
    keys = collections.Counter((r["run_id"], r["attempt"]) for r in rows)
    if twice := [k for k, n in keys.items() if n > 1]:
        raise SystemExit(f"duplicated: {twice}")
    if planned not in (None, len(keys)):
        raise SystemExit(f"{len(keys)} rows of {planned} attempts")
    if left := list(store.glob(".attempts/*")):
        raise SystemExit(f"left in the store: {left}")
    return rows


def run(folder: Path, executor, seeds: int):
    "Run the case with a new store; return the suite and the rows."
    from fasterroof.bench.case import named_cases
    from fasterroof.bench.run.plan import Options, plan_attempts
    from fasterroof.bench.run.suite import Suite

    (folder / "cluster.py").write_text(CASE.replace("SEEDS", str(seeds)))
    store = Path(tempfile.mkdtemp(prefix="store-", dir=folder))
    suite = Suite(
        plan_attempts(named_cases([f"{folder}/cluster.py"]), ["numpy-cpu"]),
        store,
        Options(samples=CALLS, roof=False, timeout_s=60),
        executor=executor,
    )
    suite.run()
    suite.keep(True)
    return suite, stored(store, len(suite.ended))


def inside(log: Path, node: str | None, timeout_s: float = 20) -> int | None:
    """Return the next worker on a node (None: any node) that enters an attempt or an oracle, or
    None."""
    end, at = time.monotonic() + timeout_s, log.stat().st_size if log.exists() else 0
    while time.monotonic() < end:
        if log.exists():
            for line in log.read_bytes()[at:].decode().splitlines():
                _, what, pid = line.split()
                if what == node or node is None and what.startswith("node"):
                    return int(pid)
        time.sleep(0.005)
    return None


def parent(pid: int) -> int:
    "Return the parent of a process; raise `OSError` if the process has ended."
    return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])


def struck(rng: random.Random, nodes: Nodes, node, how: str) -> float | None:
    "Cause the event of a round at a random moment, and return the time of it."
    log, name = nodes.folder / "log", nodes.names[node]
    if how == "node killed at any moment":
        time.sleep(rng.uniform(0, 5))
    else:
        pid = inside(log, name if how == "node killed at work" else None)
        if pid is None:
            return None
        time.sleep(rng.uniform(0, 0.2))
    at = time.monotonic()
    if how == "task killed":
        try:
            task = parent(parent(pid))  # (the supervisor of the worker is in between)
        except OSError:
            return None  # the attempt is over
        os.kill(task, signal.SIGKILL)
    else:
        nodes.cluster.remove_node(node, allow_graceful=False)
    return at


def checked(how: str, suite, rows: list[dict], seen: dict) -> collections.Counter:
    "Return the outcome of a run; raise if a rule was violated."
    status = collections.Counter(r["status"] for r in rows)
    ran = {str(r["provenance"].get("pid")) for r in rows}
    oracles = len(suite.brief.places)
    counts = collections.Counter(
        attempts=len(suite.attempts),
        rows=len(rows),
        ok=status["ok"],
        again=max(0, len(seen) - oracles - len(rows)),
        overlaps=overlaps(seen),
        lost=len(suite.attempts) - len(rows),
    )
    worked = {node for _, _, node in seen.values()}
    if how != "locks apart" and counts["overlaps"]:
        raise SystemExit(f"{how}: simultaneous on one device: {seen}")
    if counts["lost"] or status["ok"] != len(rows):
        raise SystemExit(f"{how}: {len(rows)} rows of {len(suite.attempts)} attempts: {status}")
    if how in ("nothing", "locks apart") and (counts["again"] or len(worked) != 2):
        raise SystemExit(f"{how}: {counts}, {worked}")
    if strange := ran - seen.keys():
        raise SystemExit(f"{how}: rows without a worker that was seen: {strange}")
    if any((r["ratio"] or {}).get("other_device") for r in rows):
        raise SystemExit(f"{how}: a ratio combines two nodes")
    return counts


def trial(rng: random.Random, nodes: Nodes, how: str, seeds: int) -> collections.Counter:
    "Run once on two nodes."
    from fasterroof.bench.run.cluster import on_ray

    folder = nodes.folder
    here = [nodes.add(f"locks-{i}" if how == "locks apart" else "locks") for i in range(2)]
    threads, times = [], []
    with on_ray(nodes.cluster.address) as executor:
        if "killed" in how:
            threads = [
                threading.Thread(target=lambda: times.append(struck(rng, nodes, here[1], how)))
            ]
        for thread in threads:
            thread.start()
        began = time.monotonic()
        suite, rows = run(folder, executor, seeds)
        took = time.monotonic() - began
        for thread in threads:
            thread.join()
    counts = collections.Counter(rounds=1, s=took, left_ms=1000 * none_left(folder))
    counts += checked(how, suite, rows, spans(folder))
    counts["struck"] = sum(x is not None for x in times)
    print(*suite.remarks(), file=sys.stderr)
    nodes.remove(here)
    return counts


def driver_ended(rng: random.Random, nodes: Nodes, how: str, seeds: int) -> collections.Counter:
    """End the process that holds the plan and the store: its workers must end, and finished rows
    must be kept."""
    from fasterroof.bench.store.store import Store

    folder, here = nodes.folder, [nodes.add("locks") for _ in range(2)]
    before, began = {*folder.glob("store-*")}, time.monotonic()
    args = [
        sys.executable,
        __file__,
        "--drive",
        nodes.cluster.address,
        str(folder),
        "--seeds",
        str(seeds),
    ]
    driver = subprocess.Popen(args, stdout=sys.stderr, start_new_session=True)
    if inside(folder / "log", None, 60) is None:
        raise SystemExit("the driver did not start")
    time.sleep(rng.uniform(0, seeds))
    over = driver.poll() is not None
    driver.send_signal(signal.SIGKILL if how == "driver killed" else signal.SIGINT)
    code, took, left = driver.wait(60), time.monotonic() - began, none_left(folder)
    (store,) = {*folder.glob("store-*")} - before
    if how == "driver killed":
        journal = [*store.glob(".attempts/*/[0-9][0-9][0-9][0-9].json")]
        finished = 2 * seeds if over else len(journal)
        Store(store).recover()
        rows = stored(store, finished)
    else:
        rows = stored(store, None)
        if code:
            raise SystemExit(f"an interrupted driver ended with {code}")
        if left > 1:
            raise SystemExit(f"a worker was left for {left:.1f} s")
    counts = collections.Counter(
        rounds=1,
        s=took,
        left_ms=1000 * left,
        attempts=2 * seeds,
        rows=len(rows),
        ok=sum(r["status"] == "ok" for r in rows),
        overlaps=overlaps(spans(folder)),
    )
    if counts["overlaps"] or counts["ok"] != len(rows):
        raise SystemExit(f"{how}: {counts}")
    nodes.remove(here)
    return counts


HOWS = (
    "nothing",
    "node killed at work",
    "node killed at any moment",
    "task killed",
    "interrupted",
    "driver killed",
    "locks apart",
)


def main(rounds: int, seed: int, seeds: int, hows: Sequence[str]) -> None:
    rng = random.Random(seed)
    counts, longest = {how: collections.Counter() for how in hows}, collections.Counter()
    with tempfile.TemporaryDirectory(
        dir="/tmp", prefix="c"
    ) as d:  # (the path of a socket must be short)
        with contextlib.redirect_stdout(sys.stderr):
            nodes = Nodes(Path(d))
            try:
                for i in range(rounds):
                    for how in hows:
                        test = driver_ended if how in ("interrupted", "driver killed") else trial
                        new = test(rng, nodes, how, seeds)
                        print(f"round {i + 1}, {how}: {json.dumps(new)}", file=sys.stderr)
                        longest[how] = max(longest[how], new["left_ms"])
                        counts[how] += new
            finally:
                nodes.cluster.shutdown()
        if left := workers(Path(d)):
            raise SystemExit(f"processes are left: {left}")
    columns = [
        "rounds",
        "attempts",
        "rows",
        "ok",
        "overlaps",
        "struck",
        "again",
        "lost",
    ]
    print(
        f"| event | {' | '.join(columns)} | duplicated or truncated | mean run time | workers gone"
        " after |"
    )
    print("|---" * (len(columns) + 4) + "|")
    for how, c in counts.items():
        cells = " | ".join(str(c[x]) for x in columns)
        mean = f"{c['s'] / max(c['rounds'], 1):.1f} s"
        print(f"| {how} | {cells} | 0 | {mean} | {longest[how]:.0f} ms |")
    print(
        "\nStruck: rounds in which a process was killed. Again: processes of attempts and oracles"
        " that ran once more. Overlaps: pairs of attempts or oracles on a device at the same time;"
        " with locks apart, which represents two machines, they are correct."
    )


if __name__ == "__main__":
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument("--rounds", type=int, default=5)
    p.add_argument("--seed", type=int, default=0)
    p.add_argument(
        "--seeds", type=int, default=4, help="number of points of the case; each has two attempts"
    )
    p.add_argument(
        "--only", choices=HOWS, action="append", help="event to test; repeat for several"
    )
    p.add_argument("--drive", nargs=2, metavar=("ADDRESS", "FOLDER"), help=argparse.SUPPRESS)
    args = p.parse_args()
    if args.drive:
        from fasterroof.bench.run.cluster import on_ray

        with on_ray(args.drive[0]) as executor:
            run(Path(args.drive[1]), executor, args.seeds)
        sys.exit()
    main(args.rounds, args.seed, args.seeds, args.only or HOWS)
