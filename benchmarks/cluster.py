"Two emulated nodes of a Ray cluster on this machine: one attempt at a time on a device, and a node that is killed."

import argparse
import collections
import contextlib
import json
import os
import random
import sys
import tempfile
import threading
import time
from pathlib import Path

CASE = '''
import os, time
import numpy as np
from fasterroof.bench.case import Baseline, Built, Case, Tolerance

def note(what):
    f = os.open(os.environ["CLUSTER_LOG"], os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    os.write(f, f"{time.monotonic()} {what} {os.getpid()}\\n".encode())
    os.close(f)

def build(p):
    note(os.environ["CLUSTER_NODE"])
    x = np.random.default_rng(p["seed"]).standard_normal(1000)
    def fn(x):
        note("at")
        time.sleep(0.02)
        return x * 2
    return Built({"x": x}, {"good": lambda: fn, "also": lambda: fn})

CASE = Case("cluster", build, {"seed": list(range(SEEDS))}, {"seed": 0},
            tuple(Baseline(n, "numpy") for n in ("good", "also")), "good", Tolerance(1e-12, 1e-12),
            oracle=lambda p, x: x * 2, metrics=("steady_time", "host_rss"))
'''
SMALL = {"object_store_memory": 80 * 2**20, "include_dashboard": False}
CALLS = 6


class Nodes:
    "A cluster whose driver is on a node that lends nothing."

    def __init__(self, folder: Path):
        from ray.cluster_utils import Cluster

        self.folder, self.made = folder, 0
        self.cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 0, **SMALL})

    def add(self, locks: str):
        self.made += 1
        env = {"FASTERROOF_LOCK_DIR": str(self.folder / locks), "CLUSTER_LOG": str(self.folder / "log"),
               "CLUSTER_NODE": f"node-{self.made}", "TMPDIR": str(self.folder)}
        return self.cluster.add_node(num_cpus=1, resources={"fasterroof_cpu": 1}, env_vars=env, **SMALL)


def workers(folder: Path) -> list[int]:
    "Processes whose command line names a scratch folder of the nodes."
    found = []
    for p in Path("/proc").iterdir():
        if not p.name.isdigit(): continue
        try: line, state = (p / "cmdline").read_bytes(), (p / "stat").read_text().rpartition(")")[2].split()[0]
        except OSError: continue
        if f"{folder}/fasterroof-".encode() in line and state != "Z": found.append(int(p.name))
    return found


def none_left(folder: Path) -> float:
    "Seconds until no worker is left; raises where one stays."
    began = time.monotonic()
    while left := workers(folder):
        if time.monotonic() > began + 10: raise SystemExit(f"processes are left: {left}")
        time.sleep(0.02)
    return time.monotonic() - began


def spans(folder: Path) -> dict[str, tuple[float, float, str]]:
    "Worker → when it was first and last seen inside an attempt or an oracle, and its node."
    log, found = folder / "log", {}
    for line in log.read_text().splitlines():
        t, what, pid = line.split()
        first, _, node = found.get(pid, (float(t), 0, what))
        found[pid] = first, float(t), node
    log.unlink()
    return found


def overlaps(seen: dict) -> int:
    ordered = sorted(seen.values())
    return sum(b[0] < a[1] for i, a in enumerate(ordered) for b in ordered[i + 1:])


def stored(store: Path, planned: int) -> list[dict]:
    "All rows of a store, having checked that each attempt has one."
    from fasterroof.bench.row import read_rows

    rows = [row for path in store.glob("*/*.jsonl") for row in read_rows(path)]
    keys = collections.Counter((r["run_id"], r["attempt"]) for r in rows)
    if twice := [k for k, n in keys.items() if n > 1]: raise SystemExit(f"doubled: {twice}")
    if len(keys) != planned: raise SystemExit(f"{len(keys)} rows of {planned} attempts")
    if left := list(store.glob(".attempts/*")): raise SystemExit(f"left in the store: {left}")
    return rows


def run(folder: Path, executor, seeds: int, on_change=lambda suite: None):
    "A run of the case, kept in a store of its own; the suite and the rows."
    from fasterroof.bench.briefing import Options
    from fasterroof.bench.case import named_cases
    from fasterroof.bench.plan import plan
    from fasterroof.bench.suite import Suite

    (folder / "cluster.py").write_text(CASE.replace("SEEDS", str(seeds)))
    store = Path(tempfile.mkdtemp(prefix="store-", dir=folder))
    made = Suite(plan(named_cases([f"{folder}/cluster.py"]), ["numpy-cpu"]), store,
                 Options(samples=CALLS, roof=False, timeout_s=60), on_change, executor)
    made.run()
    made.keep(True)
    return made, stored(store, len(made.ended))


def trial(rng: random.Random, nodes: Nodes, how: str, seeds: int) -> collections.Counter:
    "One run on two nodes; what became of it, having checked all that can be checked."
    from fasterroof.bench.onray import on_ray

    folder = nodes.folder
    apart = how == "locks apart"
    here = [nodes.add(f"locks-{i}" if apart else "locks") for i in range(2)]
    found, killed, clock = collections.Counter(rounds=1), [], None
    with on_ray(nodes.cluster.address) as executor:
        after = rng.randint(0, seeds)

        def change(suite):
            nonlocal clock
            if how == "interrupted" and len(suite.ended) > after: raise KeyboardInterrupt
            if how != "node killed" or clock or not suite.began or len(suite.ended) < after: return
            def strike():
                killed.append(time.monotonic())
                nodes.cluster.remove_node(here[1], allow_graceful=False)
            clock = threading.Timer(rng.uniform(0, 1.5), strike)
            clock.start()
        began = time.monotonic()
        suite, rows = run(folder, executor, seeds, change)
        found["s"] = time.monotonic() - began
        if clock: clock.join()
    found["ms until no worker is left"] = 1000 * none_left(folder)
    seen, again = spans(folder), sum(suite.schedule.again.values())
    status = collections.Counter(r["status"] for r in rows)
    found += collections.Counter(attempts=len(suite.attempts), rows=len(rows), ok=status["ok"], rescheduled=again,
                                 workers=len(seen), overlaps=overlaps(seen))
    found["node_lost"] = sum((r["failure_detail"] or {}).get("reason") == "node_lost" for r in rows)
    worked = {r["provenance"]["scheduler"]["node"] for r in rows}
    found["both nodes worked"] = len({node for _, _, node in seen.values()}) == 2
    if not apart and found["overlaps"]: raise SystemExit(f"{how}: at once on one device: {seen}")
    if how != "interrupted" and len(rows) != len(suite.attempts): raise SystemExit(f"{how}: {len(rows)} rows")
    if status["ok"] + found["node_lost"] != len(rows): raise SystemExit(f"{how}: {status}")
    if how in ("none", "locks apart") and (again or len(worked) != 2): raise SystemExit(f"{how}: {again}, {worked}")
    if how == "node killed":
        lost = [*suite.schedule.gone]
        if bool(lost) != bool(again): raise SystemExit(f"{lost} is gone, and {again} jobs were given away")
        late = [r for r in rows if r["provenance"]["scheduler"]["node"] in lost and r["status"] == "ok"
                and not any(pid == str(r["provenance"]["pid"]) for pid in seen)]
        if late: raise SystemExit(f"rows of nobody: {late}")
        found["killed under a job"] = bool(lost)
    for node in here:
        if node in nodes.cluster.worker_nodes: nodes.cluster.remove_node(node)
    left = [x for x in folder.glob("fasterroof-*") if x.is_dir()]
    found["scratch left"] = len(left)
    for x in left: os.system(f"rm -rf {x}")
    return found


def main(rounds: int, seed: int, seeds: int) -> None:
    rng, hows = random.Random(seed), ["none", "node killed", "interrupted", "locks apart"]
    found = {how: collections.Counter() for how in hows}
    with tempfile.TemporaryDirectory(dir="/tmp", prefix="c") as d:  # (a socket's path is short)
        with contextlib.redirect_stdout(sys.stderr):
            nodes = Nodes(Path(d))
            try:
                for i in range(rounds):
                    for how in hows:
                        found[how] += trial(rng, nodes, how, seeds)
                        print(f"round {i + 1}, {how}: {json.dumps(found[how])}", file=sys.stderr)
            finally: nodes.cluster.shutdown()
        if left := workers(Path(d)): raise SystemExit(f"processes are left: {left}")
    columns = ["rounds", "attempts", "rows", "ok", "overlaps", "rescheduled", "node_lost", "both nodes worked"]
    print(f"| two nodes | {' | '.join(columns)} | lost | doubled | s per round |")
    print("|---" * (len(columns) + 4) + "|")
    for how, c in found.items():
        cells = " | ".join(str(c[x]) for x in columns)
        lost = 0 if how == "interrupted" else c["attempts"] - c["rows"]
        print(f"| {how} | {cells} | {lost} | 0 | {c['s'] / c['rounds']:.1f} |")
    c = found["node killed"]
    print(f"\nThe node was killed under a job in {c['killed under a job']} of {c['rounds']} rounds; no worker was left "
          f"{c['ms until no worker is left'] / c['rounds']:.0f} ms (mean) after the run, and {c['scratch left']} scratch "
          "folders stayed behind.")


if __name__ == "__main__":
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument("--rounds", type=int, default=5)
    p.add_argument("--seed", type=int, default=0)
    p.add_argument("--seeds", type=int, default=4, help="points of the case; each has two attempts")
    args = p.parse_args()
    main(args.rounds, args.seed, args.seeds)
