"""Test what the benchmark suite keeps if its workers or the suite are killed, whether two suites
ever share a device, whether a store answers correctly after its compaction is killed, and how the
commands behave under pressure (the cases are in `pressure.py`)."""

import argparse
import collections
import contextlib
import itertools
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

CASE = """
import ctypes, os, resource, time
import numpy as np
from fasterroof.bench.case import Baseline, Built, Case, Tolerance

LOG = os.environ.get("FAULTS_LOG")

def note(what):
    if not LOG: return
    f = os.open(LOG, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    os.write(f, f"{time.monotonic()} {what} {os.getpid()}\\n".encode())

def detached(program, parents):
    "Start a process in another session, whose parent ends; return when it runs."
    ours, theirs = os.pipe()
    if not os.fork():
        os.setsid()
        if parents == 2 and os.fork(): os._exit(0)
        note("detached")
        os.write(theirs, b".")
        program()
    os.read(ours, 1)

def burn():
    while True: pass

def build(p):
    note("in")
    x = np.random.default_rng(p["seed"]).standard_normal(1000)
    def good():
        def fn(x): note("at"); return x * 2
        return fn
    def segfault(): return lambda x: ctypes.string_at(0)
    def killed(): return lambda x: os.kill(os.getpid(), 9)
    def leaves(): return lambda x: os._exit(7)
    def hungry():
        resource.setrlimit(resource.RLIMIT_AS, (2**31, 2**31))
        return lambda x: np.ones(2**34)
    def hangs(): return lambda x: time.sleep(3600)
    def daemon():
        detached(lambda: time.sleep(3600), parents=2)
        return lambda x: x * 2
    def burns():
        detached(burn, parents=1)
        return lambda x: x * 2
    def hangs_detached():
        daemon()
        return lambda x: time.sleep(3600)
    def raises():
        def fn(x): raise ValueError("no tile of this size")
        return fn
    ways = {"good": good, "also": good, "segfault": segfault, "killed": killed, "leaves": leaves,
            "hungry": hungry, "hangs": hangs, "raises": raises, "wrong": lambda: lambda x: x * 3,
            "daemon": daemon, "burns": burns, "hangs detached": hangs_detached}
    return Built({"x": x}, {name: ways[name] for name in NAMES})

NAMES = NAMES_HERE
CASE = Case("faults", build, {"seed": list(range(SEEDS_HERE))}, {"seed": 0},
            tuple(Baseline(n, "numpy") for n in NAMES), "good", Tolerance(1e-12, 1e-12),
            oracle=lambda p, x: x * 2, metrics=("steady_time", "host_rss"))
"""
ENDS = {
    "good": "ok",
    "also": "ok",
    "segfault": "crashed",
    "killed": "crashed",
    "leaves": "crashed",
    "hungry": "oom",
    "hangs": "timeout",
    "raises": "crashed",
    "wrong": "fidelity_failed",
    "daemon": "ok",
    "burns": "ok",
    "hangs detached": "timeout",
}


def suite(folder: Path, *more: str, **env) -> subprocess.Popen:
    "Start `fasterroof bench` on the case in a folder, in a new process group."
    args = [
        sys.executable,
        "-m",
        "fasterroof",
        "bench",
        "--case",
        "faults.py",
        "--platforms",
        "numpy-cpu",
        "--no-roof",
        "--samples",
        "6",
        "--timeout",
        "1.5",
        *more,
    ]
    with open(folder / "output.txt", "ab") as output:
        return subprocess.Popen(
            args,
            cwd=folder,
            env=os.environ | env,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            start_new_session=True,
        )


def ours(folder: Path) -> list[int]:
    "Return the processes whose command line names the folder."
    results = []
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
        if str(folder).encode() in line and state != "Z":
            results.append(int(p.name))
    return results


def seen_rows(store: Path) -> dict[tuple[str, str], dict]:
    "Return the finished rows in the spools by (run, attempt)."
    results = {}
    with contextlib.suppress(FileNotFoundError):  # the folder was renamed meanwhile
        for path in store.glob(".attempts/*/[0-9]*.json"):
            # raises if the row is truncated
            row = json.loads(path.read_text())
            results[row["run_id"], row["attempt"]] = row
    return results


def stored(store: Path) -> dict[tuple[str, str], dict]:
    "Return the rows of a store by (run, attempt); raise if one is truncated or duplicated."
    from fasterroof.bench.row import read_rows

    results = {}
    for path in store.glob("*/*.jsonl"):
        for row in read_rows(path):
            key = row["run_id"], row["attempt"]
            if key in results:
                raise SystemExit(f"{key} is twice in {path}")
            results[key] = row
    return results


def trial(rng: random.Random, folder: Path, how: str, length_s: float) -> collections.Counter:
    """Run once with one fault; check that no finished row is lost, and return the outcome."""
    names = ["good", *rng.sample([n for n in ENDS if n != "good"], 4)]
    (folder / "faults.py").write_text(
        CASE.replace("NAMES_HERE", repr(names)).replace("SEEDS_HERE", "2")
    )
    store = folder / "store"
    if how == "full disk":
        store.mkdir()
        size = rng.choice((16, 24, 32, 48, 64))
        subprocess.run(
            ["mount", "-t", "tmpfs", "-o", f"size={size}k", "tmpfs", str(store)], check=True
        )
    try:
        p, seen = suite(folder, "--store", str(store), "--cpu-slots", rng.choice(("1", "2"))), {}
        strike, struck = time.monotonic() + rng.uniform(0, length_s), how in ("none", "full disk")
        while p.poll() is None:
            seen |= seen_rows(store)
            if not struck and time.monotonic() > strike:
                struck = True
                if how == "suite killed":
                    os.kill(p.pid, signal.SIGKILL)
                elif how == "suite interrupted":
                    os.kill(p.pid, rng.choice((signal.SIGINT, signal.SIGTERM)))
                elif how == "worker killed":
                    workers = [pid for pid in ours(store) if pid != p.pid]
                    if workers:
                        os.kill(rng.choice(workers), signal.SIGKILL)
                    else:
                        struck, strike = False, time.monotonic() + 0.05
            time.sleep(0.003)
        for _ in range(500):  # workers end together with the suite
            if not (left := ours(store)):
                break
            time.sleep(0.01)
        if left:
            raise SystemExit(f"{how}: processes are left: {left}")
        seen |= seen_rows(store)
        if how == "full disk":
            subprocess.run(["mount", "-o", "remount,size=64m", str(store)], check=True)
        again = (
            subprocess.run(
                [sys.executable, "-m", "fasterroof", "bench", "recover", str(store)],
                cwd=folder,
                capture_output=True,
                text=True,
            )
            if store.is_dir()
            else None
        )
        if again and again.returncode:
            raise SystemExit(f"recover: {again.stderr}")
        kept = stored(store)
        for key, row in seen.items():
            if key not in kept:
                raise SystemExit(f"{how}: {key} was finished and was lost")
            if {**kept[key], "ratio": None} != {**row, "ratio": None}:
                raise SystemExit(f"{how}: {key} has changed")
        if list(store.glob(".attempts/*/*")):
            raise SystemExit(f"{how}: files are left in {store}/.attempts")
        for row in kept.values():
            may = {ENDS[row["baseline"]]}
            if how == "worker killed":
                may |= {
                    "crashed",
                    "fidelity_inconclusive",
                }  # (it may have been the process of the oracle)
            if row["status"] not in may:
                raise SystemExit(f"{how}: {row['baseline']} is {row['status']}: {row}")
        whole = (p.returncode, len(kept)) == (0, 2 * 5)
        if how == "none" and not whole:
            raise SystemExit(f"{how}: exit code {p.returncode}, {len(kept)} rows")
        if how == "worker killed" and len(kept) != 2 * 5:
            raise SystemExit(f"worker killed: {len(kept)} rows")
        return collections.Counter(rows=len(kept), watched=len(seen), **{f"exit {p.returncode}": 1})
    finally:
        if how == "full disk":
            subprocess.run(["umount", "-l", str(store)], check=True)


def faults(trials: int, seed: int) -> None:
    "Run many times, each with a fault at a random moment."
    rng = random.Random(seed)
    hows = ["suite killed", "worker killed", "suite interrupted", "none"]
    if os.geteuid() == 0:
        hows.append("full disk")
    else:
        print("Not root: the full disk is skipped.", file=sys.stderr)
    results = {how: collections.Counter() for how in hows}
    for i in range(trials):
        how = hows[i % len(hows)]
        with tempfile.TemporaryDirectory() as d:
            results[how] += trial(rng, Path(d), how, 3.5) + collections.Counter(trials=1)
        print(f"\r{i + 1} of {trials}", end="", file=sys.stderr)
    print(file=sys.stderr)
    print("| fault | runs | rows kept | of these, seen when they were finished | exit codes |")
    print("|---|---|---|---|---|")
    for how, c in results.items():
        codes = ", ".join(f"{k[5:]}: {v}" for k, v in sorted(c.items()) if k.startswith("exit"))
        print(f"| {how} | {c['trials']} | {c['rows']} | {c['watched']} | {codes} |")
    print("\nLost, truncated, changed or duplicated: none.")


def overlap(rounds: int) -> None:
    "Start two suites together, and check that no two attempts use the device at the same time."
    pairs, turns = 0, 0
    for _ in range(rounds):
        with tempfile.TemporaryDirectory() as d:
            folders, log = [Path(d, x) for x in "ab"], Path(d, "log")
            for folder in folders:
                folder.mkdir()
                text = CASE.replace("NAMES_HERE", "['good', 'also']").replace("SEEDS_HERE", "4")
                (folder / "faults.py").write_text(text)
            runs = [
                suite(f, "--store", str(f / "store"), "--cpu-slots", n, FAULTS_LOG=str(log))
                for f, n in zip(folders, ("1", "2"), strict=True)
            ]
            if any([p.wait() for p in runs]):
                raise SystemExit((folders[0] / "output.txt").read_text())
            spans = collections.defaultdict(list)
            for line in log.read_text().splitlines():
                t, _, pid = line.split()
                spans[pid].append(float(t))
            where = {}  # pid → CPUs, from its row
            for f in folders:
                for row in stored(f / "store").values():
                    where[str(row["provenance"].get("pid"))] = {
                        *row["provenance"]["cpu"]["affinity"]
                    }
            whole = [
                (min(ts), max(ts), where[pid], pid) for pid, ts in spans.items() if pid in where
            ]
            for i, (a0, a1, cpus, _) in enumerate(whole):
                for b0, b1, others, _ in whole[:i]:
                    if cpus & others and a0 < b1 and b0 < a1:
                        raise SystemExit(f"simultaneous on CPUs {cpus & others}")
                    pairs += 1
            order = [pid for *_, pid in sorted(whole)]
            mine = {str(row["provenance"]["pid"]) for row in stored(folders[0] / "store").values()}
            turns += sum((x in mine) != (y in mine) for x, y in itertools.pairwise(order))
    print(
        f"{rounds} rounds of two suites: {pairs} pairs of attempts, none at the same time on a"
        f" shared CPU; the device passed from one suite to the other {turns} times."
    )


COMPACT = """
import sys
from fasterroof.bench.store.compact import compact_store
print(compact_store(sys.argv[1], share=200_000))
"""


def answers_of(store: Path) -> list:
    "Return two answers of a store: the newest rows, and an SQL query."
    from fasterroof.bench.store.store import Store

    asked = Store(store).query(
        'SELECT "case", run_id, count(*), sum(median_s) FROM rows GROUP BY ALL'
    )
    newest = sorted(json.dumps(row, sort_keys=True) for row in Store(store).latest())
    return [newest, sorted(map(tuple, asked.values.tolist()))]


def compactions(store: Path, n: int) -> list[subprocess.Popen]:
    "Start compactions together, each in its own process group."
    return [
        subprocess.Popen(
            [sys.executable, "-c", COMPACT, str(store)],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        for _ in range(n)
    ]


def compaction(trials: int, seed: int) -> None:
    """Kill compactions of a store at random moments, change the journal in between, and compare
    every answer with the answer of the journal alone."""
    from store import make

    from fasterroof.bench.store.compact import FOLDER, covered
    from fasterroof.bench.store.store import Store

    rng, results = random.Random(seed), collections.Counter()
    with tempfile.TemporaryDirectory() as d:
        spare, store, alone = Path(d, "spare"), Path(d, "store"), Path(d, "alone")
        make(spare, 60, 100, 400)
        files = Store(spare).files()
        for i in range(trials):
            for file in rng.sample(files, 10):  # runs appear and disappear
                place = store.joinpath(*file.parts[-2:])
                if place.exists():
                    place.unlink()
                else:
                    place.parent.mkdir(parents=True, exist_ok=True)
                    shutil.copy(file, place)
            before = {f: f.read_bytes() for f in Store(store).files()}
            running = compactions(store, rng.choice((1, 1, 2)))
            time.sleep(rng.uniform(0, 2.5))
            for p in running:
                results["ended before"] += p.poll() is not None
                with contextlib.suppress(
                    ProcessLookupError
                ):  # alone, or with all processes that it started
                    rng.choice((os.kill, os.killpg))(p.pid, signal.SIGKILL)
                p.wait()
            shutil.rmtree(alone, ignore_errors=True)
            shutil.copytree(store, alone, ignore=shutil.ignore_patterns(FOLDER))
            if {f: f.read_bytes() for f in Store(store).files()} != before:
                raise SystemExit("compaction: the journal has changed")
            if answers_of(store) != answers_of(alone):
                raise SystemExit("compaction: the answers differ from those of the journal")
            n = len(covered([*before]))
            results += collections.Counter(
                {"trials": 1, "compactions": len(running), "covered": n, "files": len(before)}
            )
            if rng.random() < 0.3:  # the next compaction must work and leave no files behind
                code = compactions(store, 1)[0].wait()
                there = {p.name for p in (store / FOLDER).iterdir()}
                if code or len(covered([*before])) != len(before):
                    raise SystemExit(f"compaction: the next one failed: {code}")
                if any(
                    n.startswith(".") or not n.endswith((".parquet", ".json", "lock"))
                    for n in there
                ):
                    raise SystemExit(f"compaction: files are left: {there}")
                if answers_of(store) != answers_of(alone):
                    raise SystemExit("compaction: the answers differ from those of the journal")
                results["whole"] += 1
            print(f"\r{i + 1} of {trials}", end="", file=sys.stderr)
    print(file=sys.stderr)
    print(
        f"{results['compactions']} compactions in {results['trials']} trials,"
        f" {results['ended before']} of which had finished before they were killed; then"
        f" {results['covered']:,} of {results['files']:,} files were in columns, and every answer"
        f" was that of the journal alone. {results['whole']} times the next one ran undisturbed: it"
        " covered every file and left nothing else."
    )


if __name__ == "__main__":
    p = argparse.ArgumentParser(description=__doc__)
    kinds = ("faults", "overlap", "compaction", "pressure", "all")
    p.add_argument("what", choices=kinds)
    p.add_argument("--trials", type=int, default=100)
    p.add_argument("--rounds", type=int, default=5)
    p.add_argument("--seed", type=int, default=0)
    args = p.parse_args()
    # a shell ignores it for background processes
    signal.signal(signal.SIGINT, signal.default_int_handler)
    if shutil.which("mount") is None:
        print("This system has no command mount.", file=sys.stderr)
    if args.what in ("faults", "all"):
        faults(args.trials, args.seed)
    if args.what in ("overlap", "all"):
        overlap(args.rounds)
    if args.what in ("compaction", "all"):
        compaction(args.trials, args.seed)
    if args.what in ("pressure", "all"):
        from pressure import pressure

        pressure()
