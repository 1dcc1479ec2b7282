"""Test the commands under pressure: processes that outlive their attempt, devices held by others,
endless files, closed and full streams, little memory. Run it with `faults.py pressure`."""

import contextlib
import gzip
import json
import os
import resource
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from faults import CASE, ours, stored, suite

RUN = Path(__file__).resolve().parent.parent / "reports/resnet18.json"
# limits for refusing a file: time, and memory beyond that of refusing an empty file
LONGEST_S, MOST_BYTES = 60.0, 500e6


class Wrong(Exception):
    "A case found a violation."


def need(holds: object, what: object) -> None:
    "Raise `Wrong` with a text if a condition is false."
    if not holds:
        raise Wrong(what)


def command(
    *args: str, shell: str = "", limit_s: float = LONGEST_S, **env: str
) -> tuple[int, str, str, float, float]:
    "Run `fasterroof`; return exit code, stdout, stderr, seconds and peak memory in bytes."
    line = [sys.executable, "-m", "fasterroof", *args]
    if shell:  # "$@" is the command line
        line = ["sh", "-c", shell, "sh", *line]
    began, out, err = time.monotonic(), tempfile.TemporaryFile(), tempfile.TemporaryFile()
    with out, err:
        p = subprocess.Popen(
            line,
            env=os.environ | env,
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=err,
            start_new_session=True,
        )
        end, pid = began + limit_s, 0
        while not pid and time.monotonic() < end:
            time.sleep(0.01)
            pid, status, used = os.wait4(p.pid, os.WNOHANG)
        if not pid:
            os.killpg(p.pid, signal.SIGKILL)
            p.wait()
            raise Wrong(f"{args}: not finished after {limit_s:g} s")
        p.returncode = os.waitstatus_to_exitcode(status)
        for stream in (out, err):
            stream.seek(0)
        texts = (x.read().decode(errors="replace") for x in (out, err))
        return p.returncode, *texts, time.monotonic() - began, used.ru_maxrss * 1024


def refused(result: tuple, *words: str) -> str:
    "Check that a command ended with one sentence and exit code 2; return time and memory."
    code, _, err, seconds, size = result
    need(code == 2 and err.count("\n") == 1, f"exit code {code}: {err[-600:]}")
    need(all(w in err for w in words), f"{words} is not in: {err}")
    need("a fault of fasterroof" not in err, err)
    return f"exit 2 in {seconds:.1f} s, {size / 1e6:.0f} MB at most"


# Processes and devices


def measured(folder: Path, names: list[str], seeds: int = 1) -> dict[str, str]:
    "Run implementations of the case; return their statuses, and check that no process is left."
    text = CASE.replace("NAMES_HERE", repr(names)).replace("SEEDS_HERE", str(seeds))
    (folder / "faults.py").write_text(text)
    p = suite(folder, "--store", str(folder / "store"), FAULTS_LOG=str(folder / "log"))
    need(p.wait(600) == 0, (folder / "output.txt").read_text())
    need(not ours(folder), f"processes are left: {ours(folder)}")
    return {row["baseline"]: row["status"] for row in stored(folder / "store").values()}


def detached(folder: Path, name: str, status: str) -> str:
    "Run an implementation that detaches a process, between two other attempts."
    outcomes = measured(folder, ["good", name, "raises"])
    need(outcomes == {"good": "ok", name: status, "raises": "crashed"}, outcomes)
    # for each process in the log: when it wrote, and what; none may start while a detached one runs
    pids = {line.split()[2] for line in (folder / "log").read_text().splitlines()}
    left = [pid for pid in pids if Path("/proc", pid).exists()]
    need(not left, f"left: {left}")
    began = [x for x in (folder / "log").read_text().splitlines() if " detached " in x]
    need(len(began) == 1, began)
    return f"{name} {status}, the others are unchanged; no process is left"


@contextlib.contextmanager
def held(folder: Path) -> Iterator[subprocess.Popen]:
    "Hold every CPU of this machine from another process, in a folder of locks."
    program = """
import os, sys, time
from fasterroof.bench.locks import device_lock
from fasterroof.bench.run.devices import cpu_slots
with device_lock(cpu_slots(1)[0].locks):
    print("held", flush=True)
    time.sleep(3600)
"""
    line = [sys.executable, "-c", program]
    with subprocess.Popen(line, stdout=subprocess.PIPE, text=True) as other:
        need(other.stdout.readline() == "held\n", "no device was held")
        try:
            yield other
        finally:
            other.kill()


def killed_holder(folder: Path) -> str:
    text = CASE.replace("NAMES_HERE", "['good']").replace("SEEDS_HERE", "1")
    (folder / "faults.py").write_text(text)
    with held(folder) as other:
        p = suite(folder, "--store", str(folder / "store"))
        time.sleep(2)
        need(p.poll() is None, "it did not wait")
        other.kill()
        need(p.wait(600) == 0, (folder / "output.txt").read_text())
    need(len(stored(folder / "store")) == 1, "no row")
    return "the waiting suite continues: exit 0"


def busy(folder: Path, *args: str) -> str:
    text = CASE.replace("NAMES_HERE", "['good', 'also']").replace("SEEDS_HERE", "1")
    (folder / "faults.py").write_text(text)
    with contextlib.chdir(folder), held(folder) as other:
        named = f"process {other.pid} of ", "--wait", "python"
        result = refused(command(*args, "--case", "faults.py", "--wait", "1"), *named)
    return f"the holder is named; {result}"


def hostage(folder: Path) -> str:
    "Hold a lock in a process that inherited it, with an empty lock file."
    program = """
import ctypes, fcntl, os, sys, time
names = [f"{sys.argv[1]}/cpu-{i}" for i in os.sched_getaffinity(0)]
fds = [os.open(name, os.O_RDWR | os.O_CREAT, 0o666) for name in names]
for fd in fds: fcntl.flock(fd, fcntl.LOCK_EX)
if not ctypes.CDLL(None).fork():
    os.setsid()
    if child := ctypes.CDLL(None).fork():
        print(child, flush=True)
        os._exit(0)
    time.sleep(3600)
    os._exit(0)
os.wait()
os._exit(0)
"""
    text = CASE.replace("NAMES_HERE", "['good']").replace("SEEDS_HERE", "1")
    (folder / "faults.py").write_text(text)
    locks = folder / "locks"
    locks.mkdir(exist_ok=True)
    with subprocess.Popen(
        [sys.executable, "-c", program, str(locks)], stdout=subprocess.PIPE, text=True
    ) as p:
        pid = int(p.stdout.readline())
        p.wait()
        try:
            with contextlib.chdir(folder):
                case = "--case", "faults.py", "--platforms", "numpy-cpu", "--no-roof"
                result = command("bench", *case, "--wait", "1", FASTERROOF_LOCK_DIR=str(locks))
        finally:
            os.kill(pid, signal.SIGKILL)
    return f"the holder is named; {refused(result, f'process {pid} of ')}"


# Endless files

READERS = {
    "show": ("show", "FILE"),
    "import": ("import", "FILE"),
    "import --peaks": ("import", "trace.json", "--peaks", "FILE"),
    "diff": ("diff", str(RUN), "FILE"),
    "contract check": ("contract", "check", "FILE"),
    "bench --render-from": ("bench", "--render-from", "FILE"),
    "bench --render-from --latest": ("bench", "--latest", "--render-from", "FILE"),
    "bench --peaks": ("bench", "--peaks", "FILE", "--case", "dense_matmul"),
    "bench compare --from": ("bench", "compare", "--from", "FILE"),
}


def endless(folder: Path) -> dict[str, tuple[Path, ...]]:
    "Create endless and very large files under the names that readers expect."
    pipe, sparse = folder / "pipe.json", folder / "sparse.json"
    os.mkfifo(pipe)
    with open(sparse, "wb") as f:
        f.truncate(10**10)
    blanks = folder / "blanks.json.gz"
    with gzip.open(blanks, "wb", compresslevel=1) as f:
        for _ in range(1000):
            f.write(b" " * 10**6)
    rows = folder / "blanks.jsonl.gz"
    os.link(blanks, rows)
    return {
        "/dev/zero": (Path("/dev/zero"),),
        "a pipe that nobody writes to": (pipe,),
        "10 GB of zeros": (sparse,),
        "1 GB of blanks, compressed": (blanks, rows),
    }


def never_ending(folder: Path, name: str, kinds: dict[str, tuple[Path, ...]]) -> str:
    (folder / "trace.json").write_text('{"traceEvents": []}')
    (folder / "empty").touch()
    worst, most, count = 0.0, 0.0, 0
    with contextlib.chdir(folder):  # what the command needs anyway, such as torch where it loads it
        base = command(*("empty" if x == "FILE" else x for x in READERS[name]))[4]
    for kind, paths in kinds.items():
        for path in paths:
            words = [str(path) if x == "FILE" else x for x in READERS[name]]
            try:
                with contextlib.chdir(folder):
                    result = command(*words)
                # (the message names what an invalid row lacks)
                need(path.name in result[2] or "no rows" in result[2], result[2])
                refused(result)
                need(result[4] - base < MOST_BYTES, f"{result[4] / 1e6:.0f} MB")
            except Wrong as e:
                raise Wrong(f"{kind} ({path.name}): {e}") from e
            worst, most, count = max(worst, result[3]), max(most, result[4] - base), count + 1
    size = f"{max(0.0, most) / 1e6:.0f} MB more than for an empty file ({base / 1e6:.0f} MB)"
    return f"{count} files: exit 2 in {worst:.1f} s at most, at most {size}"


# Streams, memory, threads

THREADS = """
import json, sys, threading
import torch
import fasterroof

def model():
    return torch.nn.Sequential(
        torch.nn.Linear(256, 512), torch.nn.ReLU(), torch.nn.Linear(512, 64))
def figures(n):
    run = fasterroof.profile(model(), torch.randn(n, 256), warmup=1, steps=3)
    return sorted((p.name, p.calls, p.flops, p.bytes_moved) for p in run.points)

sizes = (32, 128)
alone, together = [figures(n) for n in sizes], [None, None]
def one(i): together[i] = figures(sizes[i])
for _ in range(3):
    threads = [threading.Thread(target=one, args=(i,)) for i in range(2)]
    for t in threads: t.start()
    for t in threads: t.join()
    assert together == alone, (together, alone)
print(len(alone[0]))
"""


def two_threads(folder: Path) -> str:
    done = subprocess.run(
        [sys.executable, "-c", THREADS], capture_output=True, text=True, timeout=600
    )
    need(done.returncode == 0, done.stderr[-1500:])
    return f"the same {done.stdout.strip()} operations of each, three times"


SHOWN = (("show", str(RUN)), ("hardware", "H100 SXM"), ("bench", "--list"), ("--help",))


def streams(folder: Path, shell: str, codes: tuple[int, ...], **env: str) -> str:
    outcomes = set()
    for args in SHOWN:
        with contextlib.chdir(folder):
            code, _, err, *_ = command(*args, shell=shell, **env)
        need(code in codes, f"{args}: exit code {code}: {err[-600:]}")
        need("a fault of fasterroof" not in err and "Traceback" not in err, f"{args}: {err[-600:]}")
        outcomes.add(code)
    return f"exit {' or '.join(map(str, sorted(outcomes)))}, no error of fasterroof"


def no_locks(folder: Path) -> str:
    text = CASE.replace("NAMES_HERE", "['good', 'also']").replace("SEEDS_HERE", "1")
    (folder / "faults.py").write_text(text)
    (folder / "file").touch()
    compare = "bench", "compare", "good", "also", "--platform", "numpy-cpu"
    for args in (("bench", "--platforms", "numpy-cpu", "--no-roof"), compare):
        with contextlib.chdir(folder):
            result = command(*args, "--case", "faults.py", FASTERROOF_LOCK_DIR="file")
        result = refused(result, "FASTERROOF_LOCK_DIR")
        need(not [*folder.glob("results/**/*.jsonl")], "rows were written")
    return result


REMEMBERS = """
import numpy as np
from fasterroof.bench.case import Baseline, Built, Case, Tolerance

def softmax(x):
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)

def by_content():
    last = {}
    def fn(x):
        if not last or not np.array_equal(last["x"], x):
            last.update(x=x.copy(), y=softmax(x))
        return last["y"]
    return fn

def by_address():
    answers = {}
    def fn(x):
        if id(x) not in answers: answers[id(x)] = softmax(x)
        return answers[id(x)]
    return fn

def build(p):
    x = np.random.default_rng(p["seed"]).standard_normal((256, 2048)).astype("f4")
    ways = {"computes": lambda: softmax, "by content": by_content, "by address": by_address}
    return Built({"x": x}, ways)

CASE = Case("softmax", build, {"seed": [0]}, {"seed": 0},
            tuple(Baseline(n, "numpy") for n in ("computes", "by content", "by address")),
            "computes", Tolerance(1e-5, 1e-6), oracle=lambda p, x: softmax(x),
            metrics=("steady_time",))
"""


def remembered(folder: Path) -> str:
    "Check three times that implementations that cache answers fail and one that computes passes."
    (folder / "softmax.py").write_text(REMEMBERS)
    for run in range(3):
        rows = folder / f"{run}.jsonl"
        words = f"bench --case {folder}/softmax.py --platforms numpy-cpu --no-roof --budget 0.2"
        outputs = "--out", str(rows), "--report", f"{rows}.md", "--store", str(folder / "store")
        code, _, err, *_ = command(*words.split(), *outputs)
        need(code == 0, err)
        outcomes = {r["baseline"]: r for r in map(json.loads, rows.read_text().splitlines())}
        ends = {name: row["status"] for name, row in outcomes.items()}
        need(ends.pop("computes") == "ok" and {*ends.values()} == {"fidelity_failed"}, ends)
        messages = (outcomes[name]["failure_detail"]["message"] for name in ends)
        need(all("it keeps results between calls" in text for text in messages), outcomes)
    return "caching by content and by address: fidelity_failed; computing: ok; three times"


def cases(folder: Path) -> Iterator[tuple[str, Callable[[Path], str]]]:
    "Return the cases: name, and function that tests it in a new folder."
    for name, status in (("daemon", "ok"), ("burns", "ok"), ("hangs detached", "timeout")):
        yield (
            f"an implementation that detaches: {name}",
            lambda d, n=name, s=status: detached(d, n, s),
        )
    yield "the holder of the device is killed", killed_holder
    run = "bench", "--platforms", "numpy-cpu", "--no-roof"
    compare = "bench", "compare", "good", "also", "--platform", "numpy-cpu"
    yield "another process holds the device: bench", lambda d: busy(d, *run)
    yield "the same, --in-process", lambda d: busy(d, *run, "--in-process")
    yield "the same: bench compare", lambda d: busy(d, *compare)
    yield "the holder inherited the lock, and its file is empty", hostage
    yield "no folder for locks", no_locks
    kinds = endless(folder)
    for name in READERS:
        yield f"endless files: {name}", lambda d, n=name: never_ending(d, n, kinds)
    yield "implementations that cache answers", remembered
    yield "two threads profile at once", two_threads
    latin = {"PYTHONIOENCODING": "latin-1"}
    yield "output in latin-1", lambda d: streams(d, '"$@"', (0,), **latin)
    yield "stdout is closed", lambda d: streams(d, '"$@" >&-', (0,))
    yield "stdout is full", lambda d: streams(d, '"$@" >/dev/full', (1, 2))
    for size in (600_000, 300_000, 150_000):  # KiB
        shell = f'ulimit -v {size}; exec "$@"'
        yield f"{size / 1000:.0f} MB of addresses", lambda d, s=shell: streams(d, s, (0, 1, 2))


def pressure() -> None:
    "Test every case; raise `SystemExit` at the end if one fails."
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    wrong = []
    print("| case | result |\n|:--|:--|")
    with tempfile.TemporaryDirectory() as files:
        for name, tried in cases(Path(files)):
            with tempfile.TemporaryDirectory() as d:
                try:
                    result = tried(Path(d))
                except Wrong as e:
                    wrong.append(name)
                    result = f"WRONG: {json.dumps(str(e))}"
            print(f"| {name} | {result} |", flush=True)
    if wrong:
        raise SystemExit(f"Wrong: {'; '.join(wrong)}.")
