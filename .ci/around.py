"""Build what surrounds a page (bar, sidebar, contents, neighbours) and the index of the search."""

import ast
import html
import json
import re
from functools import cache
from pathlib import Path

from cells import plain
from page import ROOT, Page

# a folder that no menu lists
FOLDERS = {"analysis": ("Reference", "reference.html")}
# Packages in the order in which they build on each other: three questions, their join, its views,
# the command.
PACKAGES = "core work timing machine roofline report prediction contract bench cli".split()


def entries(items) -> list[dict]:
    "Return the entries of the navigation: each has a text, and a link or a menu of entries."
    pieces = []
    for item in items or []:
        item = {"href": item} if isinstance(item, str) else dict(item)
        item["menu"] = entries(item.get("menu"))
        item["href"] = re.sub(r"\.ipynb(?=#|$)", ".html", item.get("href", ""))
        item["text"] = str(item.get("text") or item.get("icon") or item["href"])
        pieces.append(item)
    return pieces


def link_to(page: Page, item: dict) -> str:
    "Return an entry of the navigation as HTML."
    href, text = item["href"], html.escape(item["text"])
    if href == page.url:
        return f'<a href="{page.up}{href}" aria-current="page">{text}</a>'
    return f'<a href="{href if ":" in href else page.up + href}">{text}</a>'


def navigation(page: Page, items: list[dict]) -> str:
    "Return the bar at the top as HTML."
    pieces = []
    for item in items:
        if not item["menu"]:
            here = (
                ' class="here"'
                if page.folder and FOLDERS.get(page.folder, ("", ""))[1] == item["href"]
                else ""
            )
            pieces.append(f"<li{here}>{link_to(page, item)}</li>")
            continue
        pages = {sub["href"] for sub in item["menu"]}
        landing = FOLDERS.get(page.folder, ("", ""))[1]
        here = ' class="here"' if {page.url, landing} & pages else ""
        subs = "".join(
            f"<li>{link_to(page, sub)}</li>"
            if sub["href"]
            else f'<li class="level">{html.escape(sub["text"])}</li>'
            for sub in item["menu"]
        )
        pieces.append(
            f'<li{here}><details name="menu"><summary>{html.escape(item["text"])}</summary>'
            f"<ul>{subs}</ul></details></li>"
        )
    return f"<ul>{''.join(pieces)}</ul>"


def place(name: str) -> list[tuple]:
    """Return the sort key of a notebook: files of a folder before its subfolders, packages in the
    order in which they build on each other."""
    *folders, last = name.split("/")
    known = [
        PACKAGES.index(f) if i == 1 and f in PACKAGES else len(PACKAGES)
        for i, f in enumerate(folders)
    ]
    return [*((1, at, folder) for at, folder in zip(known, folders, strict=True)), (0, 0, last)]


def sections(pages: dict[str, Page], items: list[dict]) -> dict[str, tuple[str, list[Page]]]:
    """Return the pages of each folder in reading order: in the order of the menus, then by package
    and name."""
    order = {sub["href"]: i for i, sub in enumerate(s for item in items for s in item["menu"])}
    pieces = {}
    for folder in sorted({p.folder for p in pages.values()} - {""}):
        inside = sorted(
            (p for p in pages.values() if p.folder == folder),
            key=lambda p: (order.get(p.url, len(order)), place(p.name)),
        )
        menu = next(
            (
                item["text"]
                for item in items
                if any(s["href"].startswith(folder + "/") for s in item["menu"])
            ),
            FOLDERS.get(folder, (folder, ""))[0],
        )
        pieces[folder] = menu, inside
    return pieces


@cache
def question(package: str) -> str:
    "Return the first line of the docstring of a package."
    path = ROOT / "fasterroof" / package / "__init__.py"
    return (ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or "").partition("\n")[0]


def sidebar(page: Page, title: str, inside: list[Page], pages: dict[str, Page]) -> str:
    """Return the list of the pages of a section as HTML; each folder within it can be folded."""
    landing = FOLDERS.get(page.folder, ("", ""))[1]
    modules = bool(landing)  # the name of a module is more useful than the title of its notebook

    def entry(p: Page) -> str:
        label = f"<code>{Path(p.name).stem}</code>" if modules else p.heading
        tip = f' title="{html.escape(p.title)}"' if modules else ""
        current = ' aria-current="page"' if p is page else ""
        return f'<li><a href="{page.up}{p.url}"{tip}{current}>{label}</a></li>'

    def listed(folder: str) -> str:
        below = [p for p in inside if p.name.startswith(folder + "/")]
        own = [p for p in below if p.name.rpartition("/")[0] == folder]
        pieces = [f"<ul>{''.join(map(entry, own))}</ul>"] if own else []
        for name in dict.fromkeys(
            p.name[len(folder) + 1 :].split("/")[0] for p in below if p not in own
        ):
            within = f"{folder}/{name}"
            state = " open" if page.name.startswith(within + "/") else ""
            tip = f' title="{html.escape(question(within.split("/", 1)[1]))}"' if modules else ""
            pieces.append(
                f"<details{state}><summary{tip}>{name}</summary>{listed(within)}</details>"
            )
        return "".join(pieces)

    head = html.escape(title)
    head = f'<a href="{page.up}{landing}">{head}</a>' if landing in pages else head
    pieces = [f"<h2>{head}</h2>"]
    if modules:
        pieces.append(
            '<input type="search" class="filter" placeholder="Filter names" aria-label="Filter'
            ' names">'
        )
    return "".join([*pieces, listed(page.folder)])


def contents(page: Page) -> str:
    "Return the headings of a page as HTML."
    shown = [(level, name, text) for level, name, text in page.headings if level <= 4]
    if len(shown) < 2:
        return ""
    top = min(level for level, _, _ in shown)
    items = []
    for level, name, text in shown:
        text = re.sub(r"</?a\b[^>]*>", "", text)
        if (
            f'id="{name}" class="name"' in page.rendered
            or f'class="name" id="{name}"' in page.rendered
        ):
            text = f"<code>{text}</code>"
        items.append(f'<li class="level{level - top}"><a href="#{name}">{text}</a></li>')
    return f"<h2>On this page</h2><ul>{''.join(items)}</ul>"


def around(page: Page, inside: list[Page]) -> str:
    "Return links to the pages before and after as HTML."
    i = inside.index(page)
    before = (
        '<a rel="prev"'
        f' href="{page.up}{inside[i - 1].url}"><span>Previous</span>{inside[i - 1].heading}</a>'
        if i
        else "<span></span>"
    )
    after = (
        '<a rel="next"'
        f' href="{page.up}{inside[i + 1].url}"><span>Next</span>{inside[i + 1].heading}</a>'
        if i + 1 < len(inside)
        else ""
    )
    return f'<nav class="around" aria-label="Neighbours">{before}{after}</nav>'


TERM = r'<span id="([^"]+)"><strong>(.*?)</strong></span>: (.*?)</p>'


def search_index(pages: dict[str, Page]) -> str:
    """Return the text of the site by sections: heading, link, page and text of each.

    It is a script, not JSON, because a page opened as a file can load only scripts."""
    rows = []
    for page in pages.values():
        module = page.name.removesuffix(".ipynb").removeprefix("analysis/").replace("/", ".")
        where = module if page.folder == "analysis" else plain(page.heading)
        parts = re.split(r'(?=<h[1-6][^>]*? id="[^"]+")', page.rendered)
        rows.append((plain(page.heading), page.url, plain(page.about), text_of(parts[0])))
        texts = {m[1]: text_of(x) for x in parts if (m := re.match(r'<h[^>]*? id="([^"]+)"', x))}
        rows += [
            (plain(text), f"{page.url}#{name}", where, texts.get(name, ""))
            for _, name, text in page.headings
        ]
        # terms of the glossary, which are not headings
        rows += [
            (plain(term), f"{page.url}#{name}", where, plain(text))
            for name, term, text in re.findall(TERM, page.rendered, flags=re.S)
        ]
    return "window.searchIndex=" + json.dumps(rows, ensure_ascii=False, separators=(",", ":"))


def text_of(part: str) -> str:
    "Return the words of a section without its heading, figures and scripts."
    part = re.sub(r"<h[1-6]\b.*?</h[1-6]>", " ", part, count=1, flags=re.S)
    part = re.sub(r"<(script|style|svg|annotation)\b.*?</\1>", " ", part, flags=re.S)
    return " ".join(plain(re.sub(r"<(?!/?(?:span|a|code|em|strong|wbr)\b)", " <", part)).split())
