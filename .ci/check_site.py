#!/usr/bin/env python3
"""Check the site that .ci/site.py built: first its files, then in a browser without network access.

Every defect is printed, and the exit status is not zero if there is one.
"""

import argparse
import json
import os
import re
import sys
import tempfile
import time
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from html.parser import HTMLParser
from multiprocessing import get_context
from pathlib import Path
from urllib.parse import unquote, urldefrag

import yaml
from page import ROOT, settings

BROWSERS = 2  # at the same time: each uses a core
REPO = re.compile(rf"{re.escape(settings['git_url'])}/(?:blob|tree)/{settings['branch']}/([^#?]+)")
MARKUP = re.compile(r":::|\{[#.=]|\$\$|\{\{|\]\(|\*\*\w[^*\n]*\*\*|</?\w+>|\\\(|\\\[a-z]+\{")
VOID = {
    "area",
    "base",
    "br",
    "col",
    "embed",
    "hr",
    "img",
    "input",
    "link",
    "meta",
    "source",
    "track",
    "wbr",
}


# The notebooks


def look_at_notebook(path: Path) -> list[str]:
    """Return the defects of a notebook: no title, text below the title that nbdev would drop (it
    reads only title and description from that cell), and outputs with paths of a machine."""
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    outputs = json.dumps([cell.get("outputs", []) for cell in cells])
    defects = [
        f"{path}: an output contains a path of the machine that executed it: {found}"
        for found in sorted(set(re.findall(r"/[\w./-]*/site-packages/[\w./-]*", outputs)))
    ]
    for cell in cells:
        text = "".join(cell["source"])
        if cell["cell_type"] == "markdown" and re.search(r"^# \S", text, re.M):
            lost = [
                line for line in text.splitlines() if line.strip() and not re.match(r"# |> ", line)
            ]
            if lost:
                defects.append(
                    f"{path}: title and description need a separate cell, because nbdev would"
                    f" drop: {lost[0][:60]}"
                )
            return defects
    return [*defects, f"{path}: no title"]


# The files


class Reader(HTMLParser):
    "The ids, links and text of a page."

    def __init__(self, text: str):
        super().__init__(convert_charrefs=True)
        self.ids, self.links, self.defects = Counter(), [], []
        self.h1, self.title, self.text, self.outputs, self.open = 0, "", [], [], []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        if attrs.get("id"):
            self.ids[attrs["id"]] += 1
        where = tag if "nav" not in self.open else f"nav {tag}"
        self.links += [
            (where, kind, attrs[kind])
            for kind in ("href", "src", "srcset")
            if attrs.get(kind) is not None
        ]
        self.h1 += tag == "h1"
        if tag == "img" and "alt" not in attrs:
            self.defects.append("an image without alt")
        if "math" in attrs.get("class", "").split():
            self.defects.append("a formula that was not converted")
        if tag == "merror":
            self.defects.append("a formula with an error")
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        if tag in VOID:
            return
        if tag not in self.open:
            self.defects.append(f"</{tag}> closes no element")
            return
        while self.open.pop() != tag:
            pass

    def handle_data(self, data):
        if "title" in self.open and "svg" not in self.open:
            self.title += data
        elif not {"script", "style", "annotation"} & set(self.open):
            (self.outputs if {"code", "pre"} & set(self.open) else self.text).append(data)


def entries(items):
    "Return the links of the navigation, including those in menus."
    for item in items or []:
        if isinstance(item, str):
            yield item
        else:
            if item.get("href"):
                yield item["href"]
            yield from entries(item.get("menu"))
            yield from entries(item.get("contents"))


def page_of(notebook: str) -> str:
    "Return the name of the page for a notebook."
    return re.sub(r"\.ipynb(?=#|$)", ".html", notebook)


def look_at_files(
    site: Path, notebooks: list[str], navigation: list[str], sidebar: list[str]
) -> list[str]:
    "Return the defects in the files of the site."
    defects = [
        f"no page for nbs/{name}" for name in notebooks if not (site / page_of(name)).is_file()
    ]
    if not (site / ".nojekyll").exists():
        defects.append("no .nojekyll: GitHub Pages would run Jekyll on the site")
    pages = {p: Reader(p.read_text(encoding="utf-8")) for p in sorted(site.rglob("*.html"))}
    expected = {page_of(name) for name in notebooks}
    for path, page in pages.items():
        name = path.relative_to(site).as_posix()
        say = lambda text, name=name: defects.append(f"{name}: {text}")  # noqa: E731
        if name not in expected:
            say("a page without a notebook")
        for defect in dict.fromkeys(page.defects):
            say(defect)
        if page.h1 != 1:
            say(f"{page.h1} headings of the first level")
        if not page.title.strip(" ·"):
            say("no title")
        for name_of, times in page.ids.items():
            if times > 1:
                say(f"the id {name_of} occurs {times} times")
        text = "\n".join(page.text)
        for m in MARKUP.finditer(text):
            say(
                "markup that was not rendered:"
                f" {text[max(0, m.start() - 25) : m.end() + 25].split(chr(10))}"
            )
        for m in re.finditer(r"(?<!\w)–[a-z][a-z-]*", text):
            say(f"an option with one long dash: {m[0]}")
        if "Traceback (most recent call last)" in text + "\n".join(page.outputs):
            say("a traceback")
        linked = set()  # reachable from the navigation
        for tag, kind, link in page.links:
            url, anchor = urldefrag(link)
            if url.startswith(("data:", "mailto:")):
                continue
            if re.match(r"[a-z]+:|//", url):
                if tag.split()[-1] != "a":
                    say(f"<{tag} {kind}={link}> would fetch from another site")
                elif not url.startswith(("https://", "http://")):
                    say(f"a link of an unknown kind: {link}")
                elif (m := REPO.match(url)) and not (ROOT / unquote(m[1])).exists():
                    say(f"a link to a file that the repository does not have: {link}")
                continue
            target = Path(os.path.normpath(path.parent / unquote(url))) if url else path
            if target.suffix == ".ipynb":
                say(f"a link to a notebook: {link}")
            elif site != target and site not in target.parents:
                say(f"a link out of the site: {link}")
            elif not target.is_file():
                say(f"a dead link, to {target.relative_to(site).as_posix()}")
            elif anchor and target in pages and unquote(anchor) not in pages[target].ids:
                say(f"a link to a missing anchor: {link}")
            if tag == "nav a":
                linked.add(target)
        for entry in navigation:
            if (
                not re.match(r"[a-z]+:", entry)
                and site / urldefrag(page_of(entry))[0] not in linked
            ):
                say(f"the navigation lacks {entry}")
    defects += [
        f"the navigation lists a missing page: {e}"
        for e in (*navigation, *sidebar)
        if not re.match(r"[a-z]+:", e) and urldefrag(e)[0] not in notebooks
    ]
    return defects


# The browser

LOOK = r"""
([dark, wide]) => {
  const defects = [], bg = new Map();
  const rgb = text => {
    const m = text.match(/[\d.]+/g).map(Number);
    if (text.startsWith("color(srgb")) return [m[0] * 255, m[1] * 255, m[2] * 255, m[3] ?? 1];
    return [m[0], m[1], m[2], m[3] ?? 1];
  };
  const over = (top, below) => top.slice(0, 3).map((c, i) => c * top[3] + below[i] * (1 - top[3]));
  const behind = e => {
    if (!e) return [255, 255, 255];
    if (!bg.has(e)) {
      const c = rgb(getComputedStyle(e).backgroundColor);
      bg.set(e, c[3] === 1 ? c : over(c, behind(e.parentElement)));
    }
    return bg.get(e);
  };
  const light = c => {
    const [r, g, b] = c.map(v => (v /= 255) <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const short = e => (e.textContent || e.outerHTML).trim().replace(/\s+/g, " ").slice(0, 40);
  const reported = new Set();
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node, last; (node = walker.nextNode());) {
    const e = node.parentElement;
    if (e === last || !node.data.trim() || e.closest("script, style, option")) continue;
    last = e;
    const style = getComputedStyle(e), svg = e instanceof SVGElement;
    if (!e.checkVisibility({ opacityProperty: true, visibilityProperty: true })) continue;
    if (svg && e.closest(".heatmaplayer, .hoverlayer, .textpoint, .bars, .sunburstlayer,"
      + " .treemaplayer, .iciclelayer")) continue;
    const ink = svg ? style.fill : style.color;
    if (!/^(rgb|color)/.test(ink)) continue;
    const back = behind(svg ? e.closest("svg").parentElement : e), front = over(rgb(ink), back);
    const [a, b] = [light(front), light(back)].sort((x, y) => y - x);
    const ratio = (a + 0.05) / (b + 0.05), size = parseFloat(style.fontSize);
    const large = size >= 24 || size >= 18.66 && style.fontWeight >= 600;
    const key = `${ink} on ${back.map(Math.round)} ${e.className?.baseVal ?? e.className}`;
    if (ratio < (large ? 3 : 4.5) && !reported.has(key)) {
      reported.add(key);
      defects.push(`text of contrast ${ratio.toFixed(2)}, <${e.tagName.toLowerCase()} class="${
        e.className?.baseVal ?? e.className}"> ${short(e)}`);
    }
  }
  const page = light(behind(document.body));
  if (dark ? page > 0.1 : page < 0.8) defects.push("the page does not follow the colour scheme");
  const over_ = document.documentElement.scrollWidth - innerWidth;
  if (over_ > 0) {
    const e = [...document.querySelectorAll("body *")].find(e =>
      e.getBoundingClientRect().right > innerWidth + 1
      && !e.closest(".scroll, .plots, pre, div.sourceCode, .formula"));
    defects.push(`wider than the window by ${over_} px${e ? ": " + e.outerHTML.slice(0, 60) : ""}`);
  }
  for (const e of document.querySelectorAll("math")) {
    const r = e.getBoundingClientRect();
    if (!e.checkVisibility() || r.width >= 2 && r.height >= 4) continue;
    defects.push(`a formula without a size: ${short(e)}`);
    break;
  }
  for (const e of document.querySelectorAll("img")) {
    if (!e.complete || !e.naturalWidth)
      defects.push(`an image that does not load: ${e.src.slice(0, 60)}`);
  }
  document.querySelectorAll("div.plot").forEach((e, i) => {
    const marks = [...e.querySelectorAll(
      ".plot path, .plot image, .plot circle, .plot rect, .pielayer path, .main-svg canvas")];
    const drawn = marks.filter(
      m => { const r = m.getBoundingClientRect(); return r.width + r.height > 0 });
    if (!e._fullData?.length || !drawn.length) defects.push(`figure ${i + 1} has no drawn traces`);
    else if (e.querySelector(".main-svg").getBoundingClientRect().width < 200)
      defects.push(`figure ${i + 1} is too small`);
  });
  return defects;
}
"""
SETTLED = f"""async setting => {{
  await new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)));
  await Promise.all([...document.images].map(image => image.decode().catch(() => {{}})));
  return ({LOOK.strip()})(setting);
}}"""
SETTINGS = [
    (False, 1280),
    (True, 1280),
    (True, 360),
    (False, 360),
]  # (dark, width), in an order with one change from each to the next
# Pages of modules have the same few kinds of elements, so each scheme and each width is looked at
# once.
OF_MODULES = [(False, 1280), (True, 360)]


def look_at_pages(site: Path, names: list[str]) -> list[str]:
    "Return the defects of the pages in a browser."
    from browser import chromium
    from playwright.sync_api import Error, sync_playwright

    defects: dict[str, list[str]] = {}
    with sync_playwright() as p, chromium(p) as browser:
        context = browser.new_context(offline=True)
        page, at = context.new_page(), [""]

        def say(text: str, setting: str = ""):
            defects.setdefault(f"{at[0]}: {text}", []).append(setting)

        def refuse(request_route):
            say(f"a request to the network: {request_route.request.url}")
            request_route.abort()

        context.route(re.compile(r"^(?!file:|data:|blob:)"), refuse)
        page.on(
            "console", lambda m: m.type == "error" and say(f"the console reports: {m.text[:300]}")
        )
        page.on("pageerror", lambda e: say(f"a script error: {str(e)[:300]}"))
        page.on("requestfailed", lambda r: say(f"did not load: {r.url[:200]}"))
        for name in names:
            at[0] = name
            page.set_viewport_size({"width": 1280, "height": 900})
            page.emulate_media(color_scheme="light")
            try:
                page.goto((site / name).as_uri(), wait_until="load")
                for dark, width in OF_MODULES if name.startswith("analysis/") else SETTINGS:
                    page.emulate_media(color_scheme="dark" if dark else "light")
                    page.set_viewport_size({"width": width, "height": 900})
                    if width == 360 and dark and page.query_selector("div.plot"):
                        # figures are drawn for the width at which they load
                        page.reload(wait_until="load")
                    for text in page.evaluate(SETTLED, [dark, width]):
                        say(text, f"{width} px, {'dark' if dark else 'light'}")
            except Error as e:
                say(f"browser error: {e.message.splitlines()[0]}")
    return [
        f"{text}{' (' + '; '.join(dict.fromkeys(s)) + ')' if all(s) else ''}"
        for text, s in defects.items()
    ]


SEARCHES = {  # search text: the page that must come first
    "AMBIGUOUS": "glossary.html#verdict-ambiguous",
    "hugging face model": "how/hugging_face.html",
    "gate": "tutorials/bench_gate.html",
    "what does ambiguous mean": "glossary.html#verdict-ambiguous",
    "--pairs default": "command_line.html#fasterroof-bench-compare",
    "command line options": "command_line.html",
    "my own checkpoint": "how/hugging_face.html#random-weights-or-your-own-checkpoint",
    "add a rule for my operation": "tutorials/custom_op.html#add-a-cost-rule",
    "exit code": "command_line.html#exit-codes",
    "vLLM": "limits.html",
    "how do I gate a pull request": "tutorials/bench_gate.html",
    "what does AMBIGUOUS mean": "glossary.html#verdict-ambiguous",
    "why is a layer memory-bound in L3": "glossary.html#memory-bound",
    "how do I add a rule": "tutorials/custom_op.html#add-a-cost-rule",
    "bench compare AMBIGUOUS on a noisy machine": "glossary.html#verdict-ambiguous",
    "slower?": "glossary.html#slower-maybe",
    "custom operation": "tutorials/custom_op.html",
    "ridge point": "glossary.html#ridge-point",
    "cache-aware hierarchical convention": "tutorials/fifteen_minutes.html",
    "measure_peaks": "analysis/machine/measuring.html#measure_peaks",
}
FOUND = """async text => {
  const box = document.querySelector(".search input");
  box.focus();
  for (let i = 0; i < 100 && !window.searchIndex; i++) await new Promise(r => setTimeout(r, 50));
  box.value = text; box.dispatchEvent(new Event("input"));
  return [...document.querySelectorAll(".search li a")].map(a => a.href);
}"""


def look_at_search(site: Path) -> list[str]:
    "Return the searches whose first result is not the page that answers them."
    from browser import chromium
    from playwright.sync_api import sync_playwright

    faults = []
    with sync_playwright() as p, chromium(p) as browser:
        page = browser.new_context(offline=True).new_page()
        page.goto((site / "index.html").as_uri(), wait_until="load")
        for text, wanted in SEARCHES.items():
            links = page.evaluate(FOUND, text)
            first = links[0].removeprefix(site.as_uri() + "/") if links else "nothing"
            if not first.startswith(wanted):
                faults.append(f"index.html: a search for {text!r} finds {first}, not {wanted}")
    return faults


def at_once(calls: list[tuple]) -> list[str]:
    "Return the defects that functions find, each with its arguments in a process of its own."
    with ProcessPoolExecutor(len(calls), mp_context=get_context("spawn")) as pool:
        shares = [pool.submit(*call) for call in calls]
        return [text for share in shares for text in share.result()]


# The checks themselves are tested by breaking a sound page

SOUND = """<!doctype html><html lang="en"><head><title>Sound</title><meta charset="utf-8"><style>
:root { color-scheme: light dark }
body { background: light-dark(#fff, #111); color: light-dark(#222, #eee) }
a { color: light-dark(#0f766e, #4fd1c0) }
.plot svg { width: 300px; height: 90px }</style></head><body>
<nav><a href="a.html">A</a> <a href="b.html">B</a></nav><h1 id="top">Sound</h1>
<p>Text, <a href="b.html#top">a link</a>, <math><mi>x</mi></math>
and <code>**kwargs ::: {#code} $$</code>.</p>
<div class="plot"></div><script>
const p = document.querySelector("div.plot"); p._fullData = [1];
const path = '<path d="M0 0 L99 50" stroke="red"/>';
p.innerHTML = `<svg class="main-svg"><g class="plot">${path}</g></svg>`;
</script></body></html>"""
BROKEN = [  # (text to replace, replacement, expected message)
    ("</p>", '<a href="c.html">c</a></p>', "a dead link, to c.html"),
    (
        "</p>",
        '<a href="b.html#gone">c</a></p>',
        "a link to a missing anchor: b.html#gone",
    ),
    ("</p>", '<a href="#gone">c</a></p>', "a link to a missing anchor: #gone"),
    ("</p>", '<a href="b.ipynb">c</a></p>', "a link to a notebook: b.ipynb"),
    ("</p>", '<a href="../../x.html">c</a></p>', "a link out of the site"),
    ("</p>", '<a href="javascript:alert()">c</a></p>', "a link of an unknown kind"),
    (
        "</p>",
        '<a href="https://github.com/fasterroof/fasterroof/blob/main/gone.py">c</a></p>',
        "does not have",
    ),
    (
        "</head>",
        '<link rel="stylesheet" href="https://x.invalid/x.css"></head>',
        "would fetch from another site",
    ),
    ('<a href="b.html">B</a>', "", "the navigation lacks b.ipynb"),
    ("</p>", "</p><p>::: {.callout-note}</p>", "markup that was not rendered"),
    ("</p>", "</p><p>A heading {#name}</p>", "markup that was not rendered"),
    ("</p>", "</p><p>$$x$$</p>", "markup that was not rendered"),
    ("</p>", "</p><p>with –effect</p>", "an option with one long dash"),
    ("</p>", "</p><p>[text](url)</p>", "markup that was not rendered"),
    ("</p>", "</p><p>&lt;b&gt;</p>", "markup that was not rendered"),
    ("</p>", '</p><p class="math inline">x</p>', "a formula that was not converted"),
    ("</p>", "</p><math><merror><mi>x</mi></merror></math>", "a formula with an error"),
    ("</p>", "</p><pre>Traceback (most recent call last):</pre>", "a traceback"),
    ("</p>", '</p><p id="top">x</p>', "the id top occurs 2 times"),
    ("</p>", "</p><h1>Two</h1>", "2 headings of the first level"),
    ("</p>", "</p></section>", "</section> closes no element"),
    ("<title>Sound</title>", "", "no title"),
    ("</p>", '</p><img src="data:,">', "an image without alt"),
]
BROKEN_SHOWN = [
    ("</body>", "<script>throw Error('x')</script></body>", "a script error"),
    ("</body>", "<script>console.error('x')</script></body>", "the console reports: x"),
    (
        "</body>",
        "<script>fetch('https://x.invalid/').catch(() => 0)</script></body>",
        "a request to the network",
    ),
    ("</body>", "<script src='gone.js'></script></body>", "did not load"),
    ("</p>", '</p><img alt="" src="data:image/png;base64,AA==">', "an image that does not load"),
    ("</p>", '</p><p style="width: 500px">x</p>', "wider than the window by"),
    ("</p>", '</p><p style="color: #aaa">x</p>', "text of contrast 2.32"),
    ("light-dark(#222, #eee)", "#222", "(1280 px, dark; 360 px, dark)"),
    ("light-dark(#fff, #111)", "#fff", "the page does not follow the colour scheme (1280 px, dark"),
    ("<mi>x</mi>", "", "a formula without a size"),
    ("p._fullData = [1];", "", "figure 1 has no drawn traces"),
    ('<path d="M0 0 L99 50" stroke="red"/>', "", "figure 1 has no drawn traces"),
    ("width: 300px", "width: 90px", "figure 1 is too small"),
]


def self_test() -> list[str]:
    "Break a page in each way and check that the defect is reported; a sound page must pass."
    failed = []
    with tempfile.TemporaryDirectory() as folder:
        site = Path(folder).resolve()
        (site / ".nojekyll").touch()
        (site / "b.html").write_text(SOUND)

        def files(
            notebooks=("a.ipynb", "b.ipynb"),
            navigation=("a.ipynb", "b.ipynb"),
            sidebar=("b.ipynb",),
        ):
            return look_at_files(site, list(notebooks), list(navigation), list(sidebar))

        def expect(what: str, defects: list[str], message: str):
            if not any(message in text for text in defects):
                failed.append(f"self-test: {what!r} was not reported; only {defects}")

        for title, message in (
            ("# T\n\n> About.\n\nMore", "drop: More"),
            ("> About.", "no title"),
            ("# T\n\n> X", ""),
        ):
            (site / "n.ipynb").write_text(
                json.dumps({"cells": [{"cell_type": "markdown", "source": title}]})
            )
            defects = look_at_notebook(site / "n.ipynb")
            expect(title, defects or [""], message)
            failed += [f"self-test: {defects} for a sound title"] if defects and not message else []
        warned = {
            "output_type": "stream",
            "text": ["/opt/lib/site-packages/tqdm/auto.py:21: warning"],
        }
        (site / "n.ipynb").write_text(
            json.dumps({"cells": [{"cell_type": "code", "source": "", "outputs": [warned]}]})
        )
        expect("a path", look_at_notebook(site / "n.ipynb"), "a path of the machine")
        for old, new, message in BROKEN:
            (site / "a.html").write_text(SOUND.replace(old, new, 1))
            expect(new, files(), message)
        (site / "a.html").write_text(SOUND)
        failed += [f"self-test: in a sound page: {text}" for text in files()]
        expect(
            "a notebook without a page",
            files(("a.ipynb", "b.ipynb", "c.ipynb")),
            "no page for nbs/c.ipynb",
        )
        expect(
            "a page without a notebook",
            files(("b.ipynb",), ("b.ipynb",)),
            "a.html: a page without a notebook",
        )
        expect(
            "navigation",
            files(navigation=("a.ipynb", "c.ipynb")),
            "lists a missing page: c.ipynb",
        )
        expect("sidebar", files(sidebar=("c.ipynb",)), "lists a missing page: c.ipynb")
        (site / ".nojekyll").unlink()
        expect(".nojekyll", files(), "no .nojekyll")
        for i, (old, new, _) in enumerate(BROKEN_SHOWN):
            assert old in SOUND, old
            (site / f"{i}.html").write_text(SOUND.replace(old, new, 1))
        defects = look_at_pages(site, ["a.html", *(f"{i}.html" for i in range(len(BROKEN_SHOWN)))])
        failed += [
            f"self-test: in a sound page: {text}" for text in defects if text.startswith("a.html")
        ]
        for i, (_, new, message) in enumerate(BROKEN_SHOWN):
            expect(
                new or BROKEN_SHOWN[i][0],
                [text for text in defects if text.startswith(f"{i}.html")],
                message,
            )
    return failed


def together(defects: list[str]) -> list[str]:
    "Merge a defect that several pages share into one message."
    pages: dict[str, list[str]] = {}
    for text in defects:
        page, colon, what = text.partition(".html: ")
        pages.setdefault(what if colon else text, []).append(page + ".html" if colon else "")
    return [
        (
            what
            if names == [""]
            else (
                f"{len(names)} pages, the first {names[0]}: {what}"
                if len(names) > 3
                else "\n".join(f"{name}: {what}" for name in names)
            )
        )
        for what, names in pages.items()
    ]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument(
        "site", nargs="?", type=Path, default=ROOT / "_site", help="folder of the site"
    )
    parser.add_argument(
        "--pages", nargs="+", default=[], help="pages for the browser, as tutorials/roofline.html"
    )
    parser.add_argument("--self-test", action="store_true", help="only test the checks themselves")
    args = parser.parse_args()
    started, site = time.monotonic(), args.site.resolve()
    os.chdir(ROOT)
    if args.self_test:
        defects, what = self_test(), f"{len(BROKEN) + len(BROKEN_SHOWN) + 8} ways to break a page"
    else:
        notebooks = sorted(
            p.relative_to(ROOT / "nbs").as_posix()
            for p in (ROOT / "nbs").rglob("*.ipynb")
            if not any(part[0] in "._" for part in p.relative_to(ROOT / "nbs").parts)
        )
        bar = yaml.safe_load((ROOT / "_quarto.yml").read_text(encoding="utf-8"))["website"][
            "navbar"
        ]
        side = yaml.safe_load((ROOT / "nbs" / "sidebar.yml").read_text(encoding="utf-8"))[
            "website"
        ]["sidebar"]
        defects = [text for name in notebooks for text in look_at_notebook(Path("nbs") / name)]
        navigation = [*entries(bar.get("left")), *entries(bar.get("right"))]
        calls = [(look_at_files, site, notebooks, navigation, list(entries(side["contents"])))]
        pages = args.pages or sorted(p.relative_to(site).as_posix() for p in site.rglob("*.html"))
        calls += [(look_at_pages, site, pages[i::BROWSERS]) for i in range(BROWSERS)]
        calls += [] if args.pages else [(look_at_search, site)]
        defects += at_once(calls)
        of_modules = sum(name.startswith("analysis/") for name in pages)
        what = (
            f"{len(pages) - of_modules} pages, each light and dark, 1280 and 360 px wide, and"
            f" {of_modules} of modules, light at 1280 and dark at 360 px"
        )
    print(*together(defects), sep="\n", end="\n" if defects else "")
    print(f"{what}, in {time.monotonic() - started:.0f} s: {len(defects) or 'no'} defects")
    sys.exit(bool(defects))


if __name__ == "__main__":
    main()
