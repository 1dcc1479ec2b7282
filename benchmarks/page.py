"""Measure how large the page of a run is, and how fast a browser opens it and follows a search.

`.venv/bin/python benchmarks/page.py` (Chromium, `playwright`; a minute)
"""

import argparse
import statistics
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path

from playwright.sync_api import sync_playwright

from fasterroof import Run
from fasterroof.timing.clock import Timing

ROOT = Path(__file__).resolve().parent.parent
sys.path.append(str(ROOT / ".ci"))
READY = "html[data-ready]"
TIMES = """() => {
  const navigation = performance.getEntriesByType("navigation")[0];
  const paint = performance.getEntriesByName("first-contentful-paint")[0];
  return {
    "text on screen": paint.startTime,
    "DOMContentLoaded": navigation.domContentLoadedEventEnd,
    "all figures": +document.documentElement.dataset.ready,
  };
}"""
SEARCH = """text => {
  const search = document.querySelector("#search"), start = performance.now();
  search.value = text;
  search.dispatchEvent(new Event("input"));
  document.body.offsetHeight;
  return performance.now() - start;
}"""


def run_of(points: int, repeated: bool) -> Run:
    "Return a run with this many points, in repeated layers or with unrelated names."
    run = Run.load(ROOT / "reports/resnet18.json")
    letters = "abcdefghijklmnopqrstuvwxyz"

    def name(i, p):
        kind = p.type.lower()
        if repeated:
            return f"model.decoder.layers.{i // 40}.block{i % 40 // 10}.op_{i % 10}.{kind}"
        own = "".join(letters[i // 26**k % 26] for k in range(3))
        return f"model.decoder.{own[0]}.{own}.{kind}"

    copies = [
        replace(p, name=name(i, p))
        for i, p in ((i, run.points[i % len(run.points)]) for i in range(points))
    ]
    time_s = sum(p.time_s for p in copies) + run.host_s
    copies = tuple(replace(p, share=p.time_s / time_s) for p in copies)
    return replace(run, points=copies, ops=(), timeline=(), plain=Timing((time_s,) * 8))


def opened(browser, path: Path) -> dict[str, float]:  # ms
    "Return the times to open a page and to follow a search."
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    page.goto(path.as_uri())
    page.wait_for_selector(READY, state="attached")
    times = page.evaluate(TIMES)
    times["a search"] = page.evaluate(SEARCH, "conv")
    page.close()
    return times


def main() -> None:
    from browser import chromium

    parser = argparse.ArgumentParser()
    parser.add_argument("--points", type=int, nargs="+", default=[61, 500, 2000])
    parser.add_argument(
        "--times", type=int, default=5, help="number of times that each page is opened"
    )
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as p, chromium(p) as browser:
        for points in args.points:
            for repeated in (True, False):
                run, path = run_of(points, repeated), Path(folder, "page.html")
                start = time.perf_counter()
                run.to_html(path)
                written_s = time.perf_counter() - start
                rounds = [opened(browser, path) for _ in range(args.times)]
                figures = {what: statistics.median(r[what] for r in rounds) for what in rounds[0]}
                shown = ", ".join(f"{what} {ms:.0f} ms" for what, ms in figures.items())
                names = "repeated layers" if repeated else "names without a pattern"
                size = path.stat().st_size / 1e6
                print(f"{points} points, {names}: {size:.2f} MB in {written_s:.1f} s; {shown}")


if __name__ == "__main__":
    main()
