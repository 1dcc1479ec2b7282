"""Make the picture of the packages, nbs/images/packages-light.svg and -dark.svg, from the imports
between them.

    .venv/bin/python .ci/packages.py
    .venv/bin/python .ci/packages.py --check    only compare
"""

import sys
from html import escape
from pathlib import Path

import grimp

ROOT = Path(__file__).resolve().parent.parent
WIDTH, HEIGHT, BOX = 880, 680, (256, 62)
INK = {
    "light": {
        "text": "#1f2933",
        "soft": "#52606d",
        "line": "#0f766e",
        "fill": "#e6f4f1",
        "join": "#c7e8e2",
    },
    "dark": {
        "text": "#e5e9ee",
        "soft": "#a8b3bf",
        "line": "#2dd4bf",
        "fill": "#16302d",
        "join": "#1d4a44",
    },
}
# Package: its description, and the middle of its box. Positions are chosen by hand; the arrows are
# read from the imports.
PLACES = {
    "cli": ("arguments in, text out", (440, 40)),
    "integrations": ("trainers, pytest, notebooks, agents", (740, 85)),
    "contract": ("a claimed bound, checked", (140, 135)),
    "bench": ("runs repeated, compared", (740, 185)),
    "prediction": ("the join without a clock", (140, 235)),
    "report": ("what a run looks like", (440, 325)),
    "roofline": ("the join: a Run of RooflinePoints", (440, 425)),
    "work": ("What has to be computed and moved?", (140, 535)),
    "timing": ("How long did it take?", (440, 535)),
    "machine": ("How fast could this machine do it?", (740, 535)),
    "core": ("helpers without rooflines", (440, 640)),
}
QUESTIONS = {"work", "timing", "machine"}


def imports() -> tuple[set[tuple[str, str]], dict[str, int]]:
    """Return which package imports which, without the delegates that .importlinter declares, and
    the number of modules of each."""
    graph = grimp.build_graph("fasterroof", exclude_type_checking_imports=True, cache_dir=None)
    declared = {
        tuple(line.strip().split(" -> "))
        for line in (ROOT / ".importlinter").read_text("utf-8").splitlines()
        if " -> " in line
    }
    edges, modules = set(), {name: 0 for name in PLACES}
    for module in graph.modules:
        package = module.split(".")[1] if "." in module else ""
        if package not in PLACES:
            continue
        modules[package] += not any(m.startswith(module + ".") for m in graph.modules)
        for imported in graph.find_modules_directly_imported_by(module):
            other = imported.split(".")[1] if "." in imported else ""
            if other in PLACES and other != package and (module, imported) not in declared:
                edges.add((package, other))
    return edges, modules


def drawn(edges: set[tuple[str, str]]) -> list[tuple[str, str]]:
    "Return the edges without a longer path beside them, and all edges between the three questions."
    among = {(a, b) for a, b in edges if {a, b} <= QUESTIONS}
    rest = edges - among

    def reach(start: str, end: str, without: tuple[str, str]) -> bool:
        return any(
            b == end or reach(b, end, without) for a, b in rest if a == start and (a, b) != without
        )

    return sorted(among | {e for e in rest if not reach(*e, without=e)})


def arrow(a: str, b: str, ink: dict[str, str]) -> str:
    "Return a line between the edges of two boxes as SVG."
    (x1, y1), (x2, y2) = PLACES[a][1], PLACES[b][1]
    w, h = BOX[0] / 2, BOX[1] / 2
    if y1 == y2:
        x1, x2 = (x1 + w, x2 - w) if x1 < x2 else (x1 - w, x2 + w)
    else:
        lean = max(-w + 30, min(w - 30, (x2 - x1) / 3))
        y1, y2, x1, x2 = y1 + h, y2 - h, x1 + lean, x2 - lean
    return (
        f'<line x1="{x1:.0f}" y1="{y1:.0f}" x2="{x2:.0f}" y2="{y2:.0f}" stroke="{ink["line"]}"'
        ' stroke-width="1.5" marker-end="url(#to)"/>'
    )


def picture(scheme: str) -> str:
    "Return the drawing as SVG."
    ink, (edges, modules) = INK[scheme], imports()
    lines = [arrow(a, b, ink) for a, b in drawn(edges)]
    boxes = []
    for name, (what, (x, y)) in PLACES.items():
        fill = ink["join"] if name == "roofline" else ink["fill"]
        boxes.append(
            f'<rect x="{x - BOX[0] / 2:.0f}" y="{y - BOX[1] / 2:.0f}" width="{BOX[0]}"'
            f' height="{BOX[1]}" rx="8" fill="{fill}" stroke="{ink["line"]}"/><text x="{x}"'
            f' y="{y - 5}" text-anchor="middle" font-size="16" font-weight="600"'
            f' fill="{ink["text"]}">{name} <tspan font-size="12" font-weight="400"'
            f' fill="{ink["soft"]}">{modules[name]} modules</tspan></text><text x="{x}"'
            f' y="{y + 16}" text-anchor="middle" font-size="12.5"'
            f' fill="{ink["soft"]}">{escape(what)}</text>'
        )
    summary = "; ".join(
        f"{a} imports {', '.join(y for x, y in drawn(edges) if x == a)}"
        for a in PLACES
        if any(x == a for x, _ in drawn(edges))
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}"'
        f' height="{HEIGHT}" role="img" aria-label="The packages of fasterroof:'
        f' {summary}."><defs><marker id="to" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="7"'
        ' markerHeight="7" orient="auto-start-reverse"><path d="M0 0 10 5 0 10z"'
        f' fill="{ink["line"]}"/></marker></defs><g font-family="system-ui,Segoe UI,DejaVu'
        f' Sans,sans-serif">{"".join(lines)}{"".join(boxes)}</g></svg>\n'
    )


if __name__ == "__main__":
    sys.path.insert(0, str(ROOT))
    pictures = {ROOT / f"nbs/images/packages-{scheme}.svg": picture(scheme) for scheme in INK}
    if "--check" in sys.argv[1:]:
        if stale := [
            p.name for p, text in pictures.items() if not p.exists() or p.read_text("utf-8") != text
        ]:
            sys.exit(f"{', '.join(stale)}: not up to date with the imports; run .ci/packages.py")
    else:
        for path, text in pictures.items():
            path.write_text(text, encoding="utf-8")
