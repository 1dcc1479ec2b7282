#!/usr/bin/env python3
"""The documentation site without Quarto: nbdev's processed notebooks, through pandoc, into a folder
of plain pages.

Nothing in it fetches anything: open `_site/index.html`. GitHub Pages gets what Quarto makes of the
same notebooks.
"""

import argparse
import html
import os
import re
import shutil
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import yaml
from around import around, contents, entries, navigation, search_index, sections, sidebar
from cells import plain
from page import BASE, ROOT, Page, resolved, settings

THEME = ROOT / ".ci" / "theme"
WORKERS = 2
BLOB = f"{settings['git_url']}/blob/{settings['branch']}/"


# What nbdev makes of the notebooks


def notebooks() -> list[str]:
    "The notebooks' paths below nbs/, as nbdev sees them."
    found = (p.relative_to(ROOT / "nbs") for p in (ROOT / "nbs").rglob("*.ipynb"))
    return sorted(p.as_posix() for p in found if not any(part[0] in "._" for part in p.parts))


def process(only: list[str], force: bool):
    """Run nbdev over the notebooks, into _proc: show_doc executed, hidden cells gone, links to
    names added and mended."""
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
    sys.path.insert(0, str(ROOT))
    from doclinks import Mender

    Mender(BASE, BLOB, notebooks()).mend()


# Pages


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
            page.heading, page.about, page.title, page.headings = (
                html.escape(Path(page.name).stem),
                "",
                page.name,
                [],
            )
    listed = sections(pages, items)
    template = (THEME / "page.html").read_text(encoding="utf-8")
    if not only and out.exists():
        shutil.rmtree(out)
    for page in wanted:
        title, inside = listed.get(page.folder, ("", []))
        values = {
            "title": html.escape(plain(page.heading)),
            "site": html.escape(settings["title"]),
            "up": page.up,
            "heading": page.heading,
            "about": f'<p class="about">{page.about}</p>' if page.about else "",
            "description": html.escape(plain(page.about)),
            "navigation": navigation(page, items),
            "sidebar": f'<nav class="sidebar" aria-label="{html.escape(title)}">'
            f"{sidebar(page, title, inside, pages)}</nav>"
            if inside
            else "",
            "contents": contents(page),
            "body": page.rendered,
            "around": around(page, inside) if inside else "",
            "source": f"{BLOB}nbs/{page.name}",
            "path": f"nbs/{page.name}".replace("/", "/<wbr>"),
            "repo": settings["git_url"],
            "shape": "with-sidebar" if inside else "alone",
            "plotly": f'<script src="{page.up}plotly.min.js" defer></script>'
            if 'class="plot"' in page.rendered
            else "",
        }
        target = out / page.url
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(resolved(page, fill(template, values)), encoding="utf-8")
    import plotly

    for asset in (THEME / "page.css", THEME / "page.js", ROOT / "nbs" / "styles.css"):
        shutil.copy(asset, out / asset.name)
    for image in (
        p
        for p in (ROOT / "nbs").rglob("*")
        if p.suffix in (".svg", ".png", ".jpg", ".gif", ".webp")
    ):
        target = out / image.relative_to(ROOT / "nbs")
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(image, target)
    shutil.copy(
        Path(plotly.__file__).parent / "package_data" / "plotly.min.js", out / "plotly.min.js"
    )
    if not only:
        (out / "search.js").write_text(search_index(pages), encoding="utf-8")
    (out / ".nojekyll").touch()
    return len(wanted)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument(
        "pages",
        nargs="*",
        help="notebooks, as nbs/tutorials/roofline.ipynb; all where none is given",
    )
    parser.add_argument("--out", type=Path, default=ROOT / "_site", help="folder of the site")
    parser.add_argument(
        "--processed",
        action="store_true",
        help="only the processed notebooks, in _proc, for Quarto",
    )
    parser.add_argument(
        "--force",
        action="store_true",
        help="also notebooks that did not change since the last time",
    )
    args = parser.parse_args()
    only = [p.split("nbs/")[-1].removesuffix(".ipynb") + ".ipynb" for p in args.pages]
    if unknown := set(only) - set(notebooks()):
        parser.error(f"no such notebook: {', '.join(sorted(unknown))}")
    started, out = time.monotonic(), args.out.resolve()
    process(only, args.force)
    processed = time.monotonic()
    if not args.processed:
        count = build(out, only)
        print(
            f"{count} pages in {out}: nbdev took {processed - started:.0f} s, the rest "
            f"{time.monotonic() - processed:.0f} s"
        )
    # nbdev left an IPython shell per notebook, and they take a minute to say goodbye, one after the
    # other.
    sys.stdout.flush()
    os._exit(0)


if __name__ == "__main__":
    main()
