#!/usr/bin/env python3
"""Build the documentation site without Quarto: nbdev processes the notebooks, and pandoc turns them
into plain pages.

The pages fetch nothing from the network: open `_site/index.html`. GitHub Pages serves the site that
Quarto builds from the same notebooks.
"""

import argparse
import gc
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


# Processing by nbdev


def notebooks() -> list[str]:
    "Return the paths of the notebooks below nbs/, as nbdev finds them."
    paths = (p.relative_to(ROOT / "nbs") for p in (ROOT / "nbs").rglob("*.ipynb"))
    return sorted(p.as_posix() for p in paths if not any(part[0] in "._" for part in p.parts))


def process(only: list[str], force: bool):
    """Process the notebooks with nbdev into _proc: run show_doc, remove hidden cells, add and
    correct links to names."""
    if any(part.startswith(".") for part in ROOT.parts):
        sys.exit(f"nbdev finds no notebooks below a hidden folder: {ROOT}")
    os.chdir(ROOT)
    from nbdev.quarto import nbdev_sidebar, refresh_quarto_yml
    from nbdev.serve import FilterDefaults, proc_nbs
    from nbdev.serve_drv import main

    refresh_quarto_yml()
    nbdev_sidebar.__wrapped__()
    if not only:
        proc_nbs(force=force, n_workers=0)  # in this process: see the end of main()
    for name in only:
        target = ROOT / "_proc" / name
        target.parent.mkdir(parents=True, exist_ok=True)
        main((Path("nbs") / name, target, FilterDefaults))
    sys.path.insert(0, str(ROOT))
    from doclinks import Mender

    Mender(BASE, BLOB, notebooks()).mend()


# Pages


def fill(template: str, values: dict[str, str]) -> str:
    "Replace each {{name}} in a template."
    return re.sub(r"\{\{(\w+)\}\}", lambda m: values[m[1]], template)


def build(out: Path, only: list[str]) -> int:
    "Build all pages, or only some; return their number."
    config = yaml.safe_load((ROOT / "_quarto.yml").read_text(encoding="utf-8"))
    bar = config["website"]["navbar"]
    items = entries((bar.get("left") or []) + (bar.get("right") or []))
    pages = {p.url: p for p in map(Page, notebooks())}
    wanted = [p for p in pages.values() if not only or p.name in only]
    with ThreadPoolExecutor(WORKERS) as pool:  # pandoc does the work
        list(pool.map(Page.render, wanted))
    for page in pages.values():
        if not page.rendered:  # not requested: use its name as its title
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
    schemas = ROOT / "fasterroof/cli/answers/data"  # nbs/schemas is a link to it
    shutil.copytree(schemas, out / "schemas", dirs_exist_ok=True)
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
        help="notebooks, such as nbs/tutorials/roofline.ipynb (default: all)",
    )
    parser.add_argument("--out", type=Path, default=ROOT / "_site", help="folder of the site")
    parser.add_argument(
        "--processed",
        action="store_true",
        help="only write the processed notebooks to _proc, for Quarto",
    )
    parser.add_argument(
        "--force",
        action="store_true",
        help="also process notebooks that did not change",
    )
    args = parser.parse_args()
    only = [p.split("nbs/")[-1].removesuffix(".ipynb") + ".ipynb" for p in args.pages]
    if unknown := set(only) - set(notebooks()):
        parser.error(f"no such notebook: {', '.join(sorted(unknown))}")
    gc.disable()  # without cycles collected, nbdev takes a third less time and 3 % more memory
    started, out = time.monotonic(), args.out.resolve()
    process(only, args.force)
    processed = time.monotonic()
    if not args.processed:
        count = build(out, only)
        print(
            f"{count} pages in {out}: nbdev took {processed - started:.0f} s, the rest "
            f"{time.monotonic() - processed:.0f} s"
        )
    # nbdev leaves an IPython shell per notebook; shutting them down one by one takes a minute.
    sys.stdout.flush()
    os._exit(0)


if __name__ == "__main__":
    main()
