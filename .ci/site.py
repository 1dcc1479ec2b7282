#!/usr/bin/env python3
"""The documentation site without Quarto: nbdev's processed notebooks, through pandoc, into a folder of plain pages.

Nothing in it fetches anything: open `_site/index.html`. GitHub Pages gets what Quarto makes of the same notebooks.
"""
import argparse
import html
import json
import os
import posixpath
import re
import shutil
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from configparser import ConfigParser
from pathlib import Path
from urllib.parse import urldefrag

import yaml

ROOT = Path(__file__).resolve().parent.parent
THEME = ROOT / ".ci" / "theme"
WORKERS = 2
FOLDERS = {"analysis": ("Reference", "reference.html")}  # a folder that no menu of the navigation names
CALLOUTS = ("note", "tip", "important", "warning", "caution")

settings = ConfigParser(delimiters=["="])
settings.read(ROOT / "settings.ini", encoding="utf-8")
settings = settings["DEFAULT"]
BASE = settings["doc_host"] + settings["doc_baseurl"] + "/"
BLOB = f"{settings['git_url']}/blob/{settings['branch']}/"


# What nbdev makes of the notebooks

def notebooks() -> list[str]:
    "The notebooks' paths below nbs/, as nbdev sees them."
    found = (p.relative_to(ROOT / "nbs") for p in (ROOT / "nbs").rglob("*.ipynb"))
    return sorted(p.as_posix() for p in found if not any(part[0] in "._" for part in p.parts))


def process(only: list[str], force: bool):
    "Run nbdev over the notebooks, into _proc: show_doc executed, links to names added, hidden cells gone."
    if any(part.startswith(".") for part in ROOT.parts):
        sys.exit(f"nbdev finds no notebooks below a hidden folder: {ROOT}")
    os.chdir(ROOT)
    from nbdev.quarto import nbdev_sidebar, refresh_quarto_yml
    from nbdev.serve import FilterDefaults, proc_nbs
    from nbdev.serve_drv import main

    refresh_quarto_yml()
    nbdev_sidebar.__wrapped__()
    if not only:
        proc_nbs(force=force, n_workers=0)  # in this process: see the end of main
    for name in only:
        target = ROOT / "_proc" / name
        target.parent.mkdir(parents=True, exist_ok=True)
        main((Path("nbs") / name, target, FilterDefaults))


# A processed notebook as Markdown

def joined(text) -> str:
    "A notebook's text, which may be a list of lines."
    return text if isinstance(text, str) else "".join(text)


def fenced(text: str, attributes: str) -> str:
    "A fenced block around any text."
    fence = "`" * max(3, 1 + max((len(run) for run in re.findall("`+", text)), default=0))
    return f"\n\n{fence} {{{attributes}}}\n{text}\n{fence}\n\n"


def raw(text: str) -> str:
    "HTML that pandoc leaves alone."
    return fenced(text, "=html")


ANSI = ("black", "red", "green", "yellow", "blue", "magenta", "cyan", "white")
RICH = dict(zip(("#000000", "#800000", "#008000", "#808000", "#000080", "#800080", "#008080", "#c0c0c0"), ANSI))


def coloured(text: str) -> str:
    "Text of a terminal as HTML: its colours become classes, its other control sequences nothing."
    out, classes, depth = [], set(), 0
    for i, part in enumerate(re.split(r"\x1b\[([0-9;]*)m", text)):
        if i % 2 == 0:
            part = re.sub(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|[@-Z\\-_])", "", part)
            span = f'<span class="{" ".join(sorted(classes))}">' if classes and part else ""
            out.append(span + html.escape(part, quote=False) + ("</span>" if span else ""))
            continue
        for code in (int(c or 0) for c in part.split(";")):
            if code == 0:
                classes = set()
            elif code in (1, 2, 3, 4):
                classes |= {("bold", "faint", "italic", "underline")[code - 1]}
            elif 30 <= code <= 37 or 90 <= code <= 97:
                classes = {c for c in classes if not c.startswith("ansi-")} | {f"ansi-{ANSI[code % 10]}"}
            elif code == 39:
                classes = {c for c in classes if not c.startswith("ansi-")}
    return "".join(out)


def figure(data: list, layout: dict) -> str:
    "A Plotly figure: its data, which page.js draws."
    title = (layout.get("title") or {}).get("text") or "figure"
    label = html.escape(re.sub("<[^>]+>", "", title))
    drawing = json.dumps({"data": data, "layout": layout}, separators=(",", ":")).replace("</", "<\\/")
    return (f'<div class="plots" tabindex="0"><div class="plot" role="img" aria-label="{label}" style="height:{layout.get("height", 450)}px">'
            f'<script type="application/json">{drawing}</script></div></div>')


def figures_in(text: str) -> list[str]:
    "The figures of an HTML output that Plotly wrote."
    found, decoder = [], json.JSONDecoder()
    for call in re.finditer(r"Plotly\.(?:newPlot|react)\(\s*[\"'][^\"']*[\"']\s*,\s*", text):
        data, end = decoder.raw_decode(text, call.end())
        layout, _ = decoder.raw_decode(text, re.compile(r"\s*,\s*").match(text, end).end())
        found.append(figure(data, layout))
    return found


def table_boxes(text: str) -> str:
    "Every table in a box that scrolls by itself; widths and borders are the style sheet's affair."
    text = re.sub(r"<colgroup>.*?</colgroup>\s*", "", text, flags=re.S)
    text = re.sub(r"<table\b([^>]*)>", lambda m: '<div class="scroll" tabindex="0"><table' + re.sub(
        r'\s(?:border|style)="[^"]*"', "", m[1]) + ">", text)
    return re.sub(r"<table\b.*?</table>", numbers, text, flags=re.S).replace("</table>", "</table></div>")


def numbers(m) -> str:
    "A table whose columns of numbers are marked, so that they stand on the right."
    rows = [re.findall(r"<t[hd]\b.*?</t[hd]>", row, flags=re.S) for row in re.findall(r"<tr\b.*?</tr>", m[0], flags=re.S)]
    bodies = [row for row in rows if any(cell.startswith("<td") for cell in row)]
    if not bodies or len({len(row) for row in rows}) > 1:  # cells that span others
        return m[0]
    number = re.compile(r"[-−+~≈]?[\d,.]+(?:e[-+]?\d+)?\s?%?|nan|NaN|–|")
    columns = [[plain(cell) for cell in column] for column in zip(*bodies)]
    right = {i for i, column in enumerate(columns) if any(column) and all(number.fullmatch(text) for text in column)}
    places = iter([i for row in rows for i in range(len(row))])
    return re.sub(r"<(t[hd])\b([^>]*)>", lambda cell: f'<{cell[1]} class="number"{cell[2]}>'
                  if next(places) in right and "class=" not in cell[2] else cell[0], m[0])


def cleaned(text: str) -> str:
    "An HTML output in the site's clothes."
    text = re.sub(r"<style scoped>.*?</style>|<style[^>]*>\s*</style>", "", text, flags=re.S)
    text = re.sub(r'<tr style="text-align: right;">', "<tr>", text)
    for colour, name in RICH.items():  # what rich writes
        text = re.sub(rf'style="([^"]*?)color: {colour}; text-decoration-color: {colour}',
                      rf'class="ansi-{name}" style="\1', text)
    return table_boxes(text)


def output(out: dict, asis: bool) -> str:
    "One output of a cell, as Markdown."
    if out["output_type"] == "stream":
        kind = " stderr" if out.get("name") == "stderr" else ""
        return raw(f'<pre class="text{kind}" tabindex="0">{coloured(joined(out["text"]).rstrip())}</pre>')
    if out["output_type"] == "error":
        return raw(f'<pre class="text error" tabindex="0">{coloured(chr(10).join(out["traceback"]))}</pre>')
    data = {kind: value if kind.endswith("json") else joined(value) for kind, value in out["data"].items()}
    if drawing := data.get("application/vnd.plotly.v1+json"):
        return raw(figure(drawing["data"], drawing["layout"]))
    if text := data.get("text/html"):
        if "Plotly.newPlot(" in text:
            return raw("\n".join(figures_in(text)))
        return "" if "window.PlotlyConfig" in text else raw(cleaned(text))
    if text := data.get("text/markdown"):
        if asis:
            return f"\n\n{section(text)}\n\n"
        level = lambda m: "#" * min(6, len(m[1]) + 2) + f" {m[2]} {{.unlisted}}"  # noqa: E731
        lines, code = [], False
        for line in text.splitlines():
            code ^= line.startswith("```")
            lines.append(line if code else re.sub(r"^(#+) (.*)$", level, line))
        return "\n\n" + "\n".join(lines) + "\n\n"
    for kind in ("image/svg+xml", "image/png", "image/jpeg"):
        if kind in data:
            if kind.endswith("xml"):
                return raw(f'<div class="scroll">{data[kind]}</div>')
            return raw(f'<img alt="" src="data:{kind};base64,{data[kind].strip()}">')
    if text := data.get("text/plain"):
        return raw(f'<pre class="text" tabindex="0">{coloured(text.rstrip())}</pre>')
    return ""


def section(text: str) -> str:
    "The documentation of a name, which nbdev's show_doc wrote: its link to the source goes into the heading's line."
    m = re.match(r'---\s+\[source\]\(([^)\s]+)\)\{[^}]*\}\s+(#+) (.*?)\n', text)
    if m:
        text = raw(f'<a class="source" href="{m[1]}">source</a>') + f"{m[2]} {m[3]} {{.name}}\n" + text[m.end():]
    return raw('<div class="doc">') + text.removeprefix("---\n") + raw("</div>")


def options(source: str) -> tuple[dict, str]:
    "A code cell's options, as Quarto reads them, and the rest of it."
    found, lines = {}, source.splitlines()
    while lines and (m := re.match(r"#\s*\|\s*([\w-]+)\s*:\s*(.*)$", lines[0])):
        found[m[1]] = yaml.safe_load(m[2])
        lines.pop(0)
    return found, "\n".join(lines).strip("\n")


def code_cell(cell: dict) -> str:
    "A code cell and its outputs."
    opts, source = options(joined(cell["source"]))
    if opts.get("include") is False:
        return ""
    language = cell.get("metadata", {}).get("language", "python")
    parts, asis = [], opts.get("output") == "asis"
    if opts.get("echo", True) and source.strip():
        parts.append(fenced(source, f".{language}"))
        if opts.get("code-fold") in (True, "show"):
            state = " open" if opts["code-fold"] == "show" else ""
            parts = [raw(f"<details{state}><summary>{html.escape(opts.get('code-summary', 'Code'))}</summary>"),
                     *parts, raw("</details>")]
    outs = [o for o in cell.get("outputs", []) if opts.get("output") is not False and opts.get("eval") is not False]
    shown = "".join(output(o, asis) for o in outs)
    if shown.strip():
        parts.append(shown if asis else raw('<div class="output">') + shown + raw("</div>"))
    return "".join(parts) if asis or not parts else raw('<div class="cell">') + "".join(parts) + raw("</div>")


def markdown(path: Path) -> tuple[dict, str]:
    "A processed notebook: what its first cell says of it, and the rest as Markdown."
    meta, parts = {}, []
    for i, cell in enumerate(json.loads(path.read_text(encoding="utf-8"))["cells"]):
        source = joined(cell["source"])
        if i == 0 and cell["cell_type"] == "raw":
            meta = yaml.safe_load(source.strip().strip("-"))
        elif cell["cell_type"] == "markdown" and "WARNING: THIS FILE WAS AUTOGENERATED" not in source:
            parts.append(source)
        elif cell["cell_type"] == "code":
            parts.append(code_cell(cell))
    return meta, "\n\n".join(parts)


# Pages

def pandoc(text: str) -> str:
    "Markdown as HTML, with MathML; what pandoc warns of is an error."
    import pypandoc

    done = subprocess.run(
        [pypandoc.get_pandoc_path(), "-f", "markdown", "-t", "html", "--mathml", "--wrap=none"],
        input=text, capture_output=True, encoding="utf-8")
    if done.returncode or done.stderr.strip():
        raise ValueError(done.stderr.strip())
    return done.stdout


def plain(text: str) -> str:
    "HTML's text; of a formula what it looks like."
    text = re.sub(r"<annotation.*?</annotation>", "", text, flags=re.S)
    return html.unescape(re.sub(r"<[^>]+>", "", text)).strip()


class Page:
    "A page on its way: from a notebook to HTML whose links are not resolved yet."

    def __init__(self, name: str):
        self.name, self.url = name, name.removesuffix(".ipynb") + ".html"
        self.folder = name.split("/")[0] if "/" in name else ""
        self.up = "../" * name.count("/")
        self.rendered = ""

    def render(self):
        "Notebook to HTML."
        self.meta, text = markdown(ROOT / "_proc" / self.name)
        self.title = self.meta.get("title") or self.name
        # Titles may hold code and formulas, so they go the same way.
        about = self.meta.get("description") or ""
        try:
            head, _, body = pandoc(f"{self.title}\n\n{about}\n\n```{{=html}}\n<!--head-->\n```\n\n{text}").partition(
                "<!--head-->")
        except ValueError as e:
            raise SystemExit(f"nbs/{self.name}: {e}") from None
        said = re.findall(r"<p>(.*?)</p>", head, flags=re.S)
        self.heading, self.about = said[0], said[1] if len(said) > 1 else ""
        body = re.sub(r'<span id="cb[\d-]+"><a href="#cb[\d-]+"[^>]*></a>', "<span>", body)
        body = re.sub(r'<div class="sourceCode" id="cb\d+"', '<div class="sourceCode" tabindex="0"', body)
        body = re.sub(r"<table\b.*?</table>", lambda m: m[0] if boxed(m) else table_boxes(m[0]), body, flags=re.S)
        body = re.sub(r'<math display="inline".*?</math>', lambda m: f'<span class="formula">{m[0]}</span>'
                      if len(re.search(r"<annotation[^>]*>(.*?)</annotation>", m[0], re.S)[1]) > 25 else m[0], body,
                      flags=re.S)
        self.headings: list[tuple[int, str, str]] = []
        self.rendered = re.sub(r'<h([1-6])([^>]*?) id="([^"]+)"([^>]*)>(.*?)</h\1>', self._heading, body, flags=re.S)
        self.ids = set(re.findall(r'\sid="([^"]+)"', self.rendered)) | {"content"}
        return self

    def _heading(self, m) -> str:
        level, before, name, after, text = m.groups()
        if "unlisted" not in before + after:
            self.headings.append((int(level), name, text))
        return (f'<h{level}{before} id="{name}"{after}>{text}'
                f'<a class="anchor" href="#{name}" aria-label="Link to this section">#</a></h{level}>')

    def anchor(self, wanted: str, text: str) -> str:
        "The id of what a link to a name means: nbdev writes names in lower case, and knows methods that have no section."
        named = {plain(t): i for _, i, t in reversed(self.headings)}
        for name in (text, text.split(".")[0]):
            if name in named:
                return named[name]
        for name in (wanted, wanted.split(".")[0]):
            if name in self.ids:
                return name
        return ""


def boxed(m) -> bool:
    "Whether a table stands in its box already."
    return m.string[:m.start()].endswith('<div class="scroll" tabindex="0">')


def resolved(page: Page, pages: dict[str, Page], text: str) -> str:
    "HTML with links that lead from this page to others of the site."
    def link(m) -> str:
        before, url, after, code = m.groups()
        url, anchor = urldefrag(html.unescape(url))
        ours = url.startswith(BASE)
        if not ours and (re.match(r"[a-z]+:|//", url) or not url):
            return m[0]
        target = posixpath.normpath(
            url.removeprefix(BASE) if ours else posixpath.join(posixpath.dirname(page.url), url))
        target = re.sub(r"\.ipynb$", ".html", target)
        if ours and target in pages and pages[target].rendered:
            anchor = pages[target].anchor(anchor, plain(code or "").removesuffix("()")) if anchor else ""
        url = posixpath.relpath(target, posixpath.dirname(page.url) or ".")
        return f'<a{before} href="{html.escape(url + ("#" + anchor if anchor else ""))}"{after}>{code or ""}'

    return re.sub(r'<a\b([^>]*?) href="([^"]*)"([^>]*)>(<code[^>]*>.*?</code>)?', link, text)


# What surrounds a page

def entries(items) -> list[dict]:
    "The navigation's entries, each with a text, and a link or a menu of entries."
    found = []
    for item in items or []:
        item = {"href": item} if isinstance(item, str) else dict(item)
        item["menu"] = entries(item.get("menu"))
        item["href"] = re.sub(r"\.ipynb(?=#|$)", ".html", item.get("href", ""))
        item["text"] = str(item.get("text") or item.get("icon") or item["href"])
        found.append(item)
    return found


def link_to(page: Page, item: dict) -> str:
    "An entry of the navigation."
    href, text = item["href"], html.escape(item["text"])
    if href == page.url:
        return f'<a href="{page.up}{href}" aria-current="page">{text}</a>'
    return f'<a href="{href if ":" in href else page.up + href}">{text}</a>'


def navigation(page: Page, items: list[dict]) -> str:
    "The bar at the top."
    found = []
    for item in items:
        if not item["menu"]:
            here = ' class="here"' if page.folder and FOLDERS.get(page.folder, ("", ""))[1] == item["href"] else ""
            found.append(f"<li{here}>{link_to(page, item)}</li>")
            continue
        here = ' class="here"' if any(sub["href"] == page.url for sub in item["menu"]) else ""
        subs = "".join(f"<li>{link_to(page, sub)}</li>" for sub in item["menu"])
        found.append(f'<li{here}><details name="menu"><summary>{html.escape(item["text"])}</summary>'
                     f"<ul>{subs}</ul></details></li>")
    return f"<ul>{''.join(found)}</ul>"


def sections(pages: dict[str, Page], items: list[dict]) -> dict[str, tuple[str, list[Page]]]:
    "The pages of each folder in reading order: first as the menus have them, then by name."
    order = {sub["href"]: i for i, sub in enumerate(s for item in items for s in item["menu"])}
    found = {}
    for folder in sorted({p.folder for p in pages.values()} - {""}):
        inside = sorted((p for p in pages.values() if p.folder == folder),
                        key=lambda p: (order.get(p.url, len(order)), p.name.count("/"), p.name))
        menu = next((item["text"] for item in items if any(s["href"].startswith(folder + "/") for s in item["menu"])),
                    FOLDERS.get(folder, (folder, ""))[0])
        found[folder] = menu, inside
    return found


def sidebar(page: Page, title: str, inside: list[Page], pages: dict[str, Page]) -> str:
    "The list of the pages of a section; those of a folder within it fold."
    landing = FOLDERS.get(page.folder, ("", ""))[1]
    rooms = bool(landing)  # where a notebook is a module its name says more than its title
    groups: dict[str, list[Page]] = {}
    for p in inside:
        groups.setdefault(p.name.rpartition("/")[0], []).append(p)

    def entry(p: Page) -> str:
        label = f"<code>{Path(p.name).stem}</code>" if rooms else p.heading
        tip = f' title="{html.escape(p.title)}"' if rooms else ""
        current = ' aria-current="page"' if p is page else ""
        return f'<li><a href="{page.up}{p.url}"{tip}{current}>{label}</a></li>'

    head = html.escape(title)
    head = f'<a href="{page.up}{landing}">{head}</a>' if landing in pages else head
    found = [f"<h2>{head}</h2>"]
    if rooms:
        found.append('<input type="search" class="filter" placeholder="Filter names" aria-label="Filter names">')
    for folder, members in groups.items():
        listed = f"<ul>{''.join(entry(p) for p in members)}</ul>"
        if folder == page.folder:
            found.append(listed)
        else:
            state = " open" if page in members else ""
            found.append(f"<details{state}><summary>{folder.split('/', 1)[1].replace('/', '.')}</summary>"
                         f"{listed}</details>")
    return "".join(found)


def contents(page: Page) -> str:
    "The page's own headings."
    shown = [(level, name, text) for level, name, text in page.headings if level <= 4]
    if len(shown) < 2:
        return ""
    top = min(level for level, _, _ in shown)
    items = []
    for level, name, text in shown:
        text = re.sub(r"</?a\b[^>]*>", "", text)
        if f'id="{name}" class="name"' in page.rendered or f'class="name" id="{name}"' in page.rendered:
            text = f"<code>{text}</code>"
        items.append(f'<li class="level{level - top}"><a href="#{name}">{text}</a></li>')
    return f'<h2>On this page</h2><ul>{"".join(items)}</ul>'


def around(page: Page, inside: list[Page]) -> str:
    "Links to the pages before and after."
    i = inside.index(page)
    before = (f'<a rel="prev" href="{page.up}{inside[i - 1].url}"><span>Previous</span>{inside[i - 1].heading}</a>'
              if i else "<span></span>")
    after = (f'<a rel="next" href="{page.up}{inside[i + 1].url}"><span>Next</span>{inside[i + 1].heading}</a>'
             if i + 1 < len(inside) else "")
    return f'<nav class="around" aria-label="Neighbours">{before}{after}</nav>'


def search_index(pages: dict[str, Page]) -> str:
    "What the search looks through: titles, names and headings."
    rows = []
    for page in pages.values():
        rows.append((plain(page.heading), page.url, plain(page.about)))
        rows += [(plain(text), f"{page.url}#{name}", plain(page.heading)) for _, name, text in page.headings]
    return "window.searchIndex=" + json.dumps(rows, ensure_ascii=False, separators=(",", ":"))


def fill(template: str, values: dict[str, str]) -> str:
    "The template with its {{name}}s replaced."
    return re.sub(r"\{\{(\w+)\}\}", lambda m: values[m[1]], template)


def build(out: Path, only: list[str]) -> int:
    "All pages, or only some; how many."
    config = yaml.safe_load((ROOT / "_quarto.yml").read_text(encoding="utf-8"))
    bar = config["website"]["navbar"]
    items = entries((bar.get("left") or []) + (bar.get("right") or []))
    pages = {p.url: p for p in map(Page, notebooks())}
    wanted = [p for p in pages.values() if not only or p.name in only]
    with ThreadPoolExecutor(WORKERS) as pool:  # the work is pandoc's
        list(pool.map(Page.render, wanted))
    for page in pages.values():
        if not page.rendered:  # not asked for: its name has to do
            page.heading, page.about, page.title, page.headings = html.escape(Path(page.name).stem), "", page.name, []
    listed = sections(pages, items)
    template = (THEME / "page.html").read_text(encoding="utf-8")
    if not only and out.exists():
        shutil.rmtree(out)
    for page in wanted:
        title, inside = listed.get(page.folder, ("", []))
        values = {
            "title": html.escape(plain(page.heading)), "site": html.escape(settings["title"]), "up": page.up,
            "heading": page.heading, "about": f'<p class="about">{page.about}</p>' if page.about else "",
            "description": html.escape(plain(page.about)), "navigation": navigation(page, items),
            "sidebar": f'<nav class="sidebar" aria-label="{html.escape(title)}">'
                       f"{sidebar(page, title, inside, pages)}</nav>" if inside else "",
            "contents": contents(page), "body": page.rendered, "around": around(page, inside) if inside else "",
            "source": f"{BLOB}nbs/{page.name}", "path": f"nbs/{page.name}".replace("/", "/<wbr>"),
            "repo": settings["git_url"], "shape": "with-sidebar" if inside else "alone",
            "plotly": f'<script src="{page.up}plotly.min.js" defer></script>' if 'class="plot"' in page.rendered else "",
        }
        target = out / page.url
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(resolved(page, pages, fill(template, values)), encoding="utf-8")
    import plotly

    for asset in ("page.css", "page.js"):
        shutil.copy(THEME / asset, out / asset)
    shutil.copy(Path(plotly.__file__).parent / "package_data" / "plotly.min.js", out / "plotly.min.js")
    (out / "search.js").write_text(search_index(pages), encoding="utf-8")
    (out / ".nojekyll").touch()
    return len(wanted)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("pages", nargs="*", help="notebooks, as nbs/tutorials/roofline.ipynb; all where none is given")
    parser.add_argument("--out", type=Path, default=ROOT / "_site", help="folder of the site")
    parser.add_argument("--force", action="store_true", help="also notebooks that did not change since the last time")
    args = parser.parse_args()
    only = [p.split("nbs/")[-1].removesuffix(".ipynb") + ".ipynb" for p in args.pages]
    if unknown := set(only) - set(notebooks()):
        parser.error(f"no such notebook: {', '.join(sorted(unknown))}")
    started, out = time.monotonic(), args.out.resolve()
    process(only, args.force)
    processed = time.monotonic()
    count = build(out, only)
    print(f"{count} pages in {out}: nbdev took {processed - started:.0f} s, pandoc {time.monotonic() - processed:.0f} s")
    # nbdev left an IPython shell per notebook, and they take a minute to say goodbye, one after the other.
    sys.stdout.flush()
    os._exit(0)


if __name__ == "__main__":
    main()
