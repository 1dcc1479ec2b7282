#!/usr/bin/env python3
"""Check the page of a run in a browser without network access: clicks, keys, search, sorting and
folds, in two widths and two colour schemes.

    .venv/bin/python .ci/check_page.py [--axe axe.min.js]

Every defect is printed, and the exit status is not zero if there is one. With the path of axe-core
(npm), its serious and critical findings count too.
"""

import argparse
import sys
import tempfile
from dataclasses import replace
from pathlib import Path

from browser import chromium
from playwright.sync_api import Page, sync_playwright

ROOT = Path(__file__).resolve().parent.parent
READY = "html[data-ready]"
SETTINGS = [(1280, "light"), (390, "dark"), (390, "light"), (1280, "dark")]
VIEW = """() => {
  const visible = e => e.checkVisibility();
  return {
    rows: [...document.querySelectorAll("#operations tr[data-g]")].filter(visible)
      .map(e => e.dataset.name),
    marked: [...document.querySelectorAll("#operations tr.on")].length,
    faded: document.querySelectorAll("#icicle .slice.none").length,
    picked: document.querySelector("#roofline").data
      .filter(t => t.selectedpoints).reduce((n, t) => n + t.selectedpoints.length, 0),
    lines: document.querySelector("#roofline").data
      .filter(t => t.meta && t.line.width > 3).map(t => t.name),
    summed: document.querySelector("#waterfall").data[1].x.reduce((a, b) => a + b, 0),
    selection: document.querySelector("#selection").textContent,
    clear: visible(document.querySelector("#clear")),
  };
}"""
FOLLOWS = ("faded", "picked", "summed")


def demo():
    "Return a run with repeated layers, a name with markup, and a ceiling without operations."
    from fasterroof import Run

    run = Run.load(ROOT / "reports/resnet18.json")
    evil = replace(run.points[0], name="<img src=x onerror=alert(1)>", time_s=2e-3)
    unused = replace(run.roof.ceilings[0], mode="bf16", flops_per_s=2e12, interval=None)
    roof = replace(run.roof, ceilings=(*run.roof.ceilings, unused))
    return replace(run, points=(*run.points, evil), roof=roof, notes=("x" * 300,))


class Check:
    "Collect the defects of a page in one setting."

    def __init__(self, page: Page, setting: str) -> None:
        self.page, self.setting, self.faults = page, setting, []

    def that(self, holds: bool, text: str) -> None:
        if not holds:
            self.faults.append(f"{self.setting}: {text}")

    def view(self) -> dict:
        return self.page.evaluate(VIEW)

    def cleared(self, rows: int, after: str) -> None:
        now = self.view()
        self.that(
            len(now["rows"]) == rows and not now["clear"] and not any(now[x] for x in FOLLOWS),
            f"{after} does not clear the selection: {now}",
        )


def select(check: Check, rows: int) -> None:
    "Check that selecting by search or by click marks all views, and that it can be cleared."
    page = check.page
    page.fill("#search", "LAYER4 conv")
    now = check.view()
    check.that(0 < len(now["rows"]) < rows, "a search does not filter the table")
    check.that(all("layer4" in x or "between" in x for x in now["rows"]), f"found {now['rows']}")
    check.that(all(now[x] for x in FOLLOWS) and now["clear"], f"figures do not follow: {now}")
    check.that(any("fp32" in x for x in now["lines"]), f"the ceiling is not marked: {now['lines']}")
    page.keyboard.press("Escape")
    check.cleared(rows, "Escape")
    page.click("#operations tr[data-name=maxpool] td")
    now = check.view()
    check.that(len(now["rows"]) == rows and now["marked"] == 1, "a row is not marked")
    check.that(
        now["lines"] and now["lines"][0].startswith("L3"), f"L3 is not marked: {now['lines']}"
    )
    check.that(
        "limited by memory: L3" in now["selection"], f"the selection reads {now['selection']}"
    )
    page.click("#clear")
    check.cleared(rows, "the button")
    for figure, mark in (
        ("roofline", "#roofline .scatterlayer .trace:last-child .point"),
        ("waterfall", "#waterfall .trace .point:nth-child(2) path"),
        ("icicle", "#icicle .slice:nth-child(3) path"),
    ):
        page.locator(mark).first.scroll_into_view_if_needed()
        page.locator(mark).first.click(force=True)
        now = check.view()
        check.that(now["clear"] and now["faded"] and now["picked"], f"a click in {figure}: {now}")
        check.that(len(now["rows"]) < rows, f"a click in {figure} does not filter the table")
        page.keyboard.press("Escape")
        check.cleared(rows, f"Escape after {figure}")


def keys(check: Check, rows: int) -> None:
    "Check arrow keys in each figure, and Enter on the name and on the fold of a row."
    page = check.page
    for figure in ("roofline", "waterfall", "icicle"):
        page.focus(f"#{figure}")
        page.keyboard.press("ArrowRight")
        first = check.view()["selection"]
        page.keyboard.press("ArrowRight")
        check.that(check.view()["selection"] != first, f"arrow keys do not move in {figure}")
    page.keyboard.press("Escape")
    check.cleared(rows, "Escape after keys")
    page.focus("#operations tr[data-name=maxpool] th button:not(.fold)")
    page.keyboard.press("Enter")
    check.that(check.view()["marked"] == 1, "Enter does not select a row")
    page.keyboard.press("Escape")


def table(check: Check) -> None:
    "Check folds, sorting with open groups, and hidden columns."
    page = check.page
    g = page.locator("#operations tr[data-g]").first.get_attribute("data-g")
    fold = page.locator(f"#operations tr[data-g='{g}'] .fold")
    fold.click()
    parts = page.locator(f"#operations tr[data-of='{g}']")
    check.that(parts.count() == 4, f"{parts.count()} rows in the first group")
    check.that(fold.get_attribute("aria-expanded") == "true", "an open fold is not marked as open")
    heading = page.locator("#operations thead th", has_text="time").first
    for order in ("descending", "ascending"):
        heading.locator("button").click()
        check.that(heading.get_attribute("aria-sort") == order, f"not sorted: {order}")
        times = page.evaluate(
            "[...document.querySelectorAll('#operations tr[data-g]')]"
            ".map(e => +e.cells[1].dataset.v)"
        )
        check.that(times == sorted(times, reverse=order == "descending"), f"times are not {order}")
        after = page.evaluate(
            f"document.querySelector('#operations tr[data-g=\"{g}\"]').nextSibling.dataset.of"
        )
        check.that(after == g, "sorting separates an open group")
    parts.first.locator("button").click()
    now = check.view()
    check.that("limited by compute" in now["selection"] and now["picked"] == 1, f"a part: {now}")
    page.keyboard.press("Escape")
    fold.click()
    check.that(parts.count() == 0, "a fold does not close")
    detail = page.locator("#operations thead th", has_text="FLOP/B")
    check.that(not detail.is_visible(), "details are shown before they are requested")
    page.check("#details")
    check.that(detail.is_visible(), "not all columns are shown")
    page.uncheck("#details")
    page.locator("#operations thead th button").first.click()


def sound(check: Check, axe: str) -> None:
    "Check widths, figures, names as text and colours."
    page = check.page
    over = page.evaluate("document.documentElement.scrollWidth - innerWidth")
    check.that(over <= 0, f"wider than the window by {over} px")
    check.that(page.locator("img").count() == 0, "a name became markup")
    texts = page.evaluate(
        "['roofline', 'icicle'].flatMap(id => document.getElementById(id).data)"
        ".flatMap(t => [...t.hovertext ?? [], ...t.labels ?? []])"
    )
    check.that(any("&lt;img" in x for x in texts), "a name is missing")
    check.that(not any("<img" in x for x in texts), "plotly gets a name as markup")
    drawn = page.evaluate(
        "[...document.querySelectorAll('.plot')].every(e => e.querySelector('.main-svg path'))"
    )
    check.that(drawn, "a figure is not drawn")
    page.check("input[value=module]")
    names = page.evaluate("document.querySelector('#waterfall').layout.yaxis.ticktext")
    check.that("layer4" in names, f"grouped by module, the page shows {names}")
    page.check("input[value=cause]")
    bright = page.evaluate(
        "getComputedStyle(document.body).backgroundColor.match(/\\d+/g).map(Number)[0] > 128"
    )
    check.that(bright == ("light" in check.setting), "the page does not follow the colour scheme")
    if axe:
        page.evaluate(axe)
        results = page.evaluate("axe.run()")
        check.that(len(results["passes"]) > 10, "axe-core did not run")
        for x in results["violations"]:
            if x["impact"] in ("serious", "critical"):
                check.faults.append(
                    f"{check.setting}: axe-core: {x['id']}, {x['nodes'][0]['html']}"
                )


def printed(check: Check) -> None:
    "Check that figures fit on paper and that all groups are printed."
    page = check.page
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    page.emulate_media(media="print")
    wide = page.evaluate(
        "Math.max(...[...document.querySelectorAll('.main-svg')].map(e => e.clientWidth))"
    )
    check.that(wide <= 700, f"a figure of {wide} px does not fit on paper")
    check.that(not page.locator("#search").is_visible(), "the search box is printed")


def look(axe: str) -> list[str]:
    "Return the defects of the page."
    faults = []
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as p, chromium(p) as browser:
        path = Path(folder, "page.html")
        demo().to_html(path)
        for width, scheme in SETTINGS:
            context = browser.new_context(
                offline=True,
                bypass_csp=bool(axe),
                color_scheme=scheme,
                viewport={"width": width, "height": 900},
            )
            page = context.new_page()
            check = Check(page, f"{width} px, {scheme}")
            say = check.faults.append
            page.on("console", lambda m, say=say: m.type == "error" and say(f"console: {m.text}"))
            page.on("pageerror", lambda e, say=say: say(f"script: {e}"))
            page.on("request", lambda r, say=say: r.url != path.as_uri() and say(f"loads {r.url}"))
            page.goto(path.as_uri())
            page.wait_for_selector(READY, state="attached")
            rows = len(check.view()["rows"])
            sound(check, axe)
            if (width, scheme) in SETTINGS[:2]:  # every width and every scheme
                select(check, rows)
                keys(check, rows)
                table(check)
            if (width, scheme) == SETTINGS[-1]:
                printed(check)
            context.close()
            faults += check.faults
    return faults


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--axe", type=Path, help="path of axe.min.js from axe-core")
    path = parser.parse_args().axe
    defects = look(path.read_text(encoding="utf-8") if path else "")
    print(*defects, sep="\n")
    sys.exit(bool(defects))
