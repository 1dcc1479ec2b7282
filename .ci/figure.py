"""Make the home page's picture, nbs/images/resnet18-light.svg and -dark.svg, from
reports/resnet18.json.

    .venv/bin/python .ci/figure.py            requires Chromium and the extra docs
    .venv/bin/python .ci/figure.py --check    only check that the pictures show that run
"""

import hashlib
import json
import math
import sys
from pathlib import Path
from urllib.parse import unquote

root = Path(__file__).resolve().parent.parent
source = root / "reports/resnet18.json"
INK = {
    "light": "#334155",
    "dark": "#cbd5e1",
}  # colours of text and axes; the background is that of the page
SIZE = {"width": 860, "height": 520}
NAMED = {"maxpool": 32, "layer4.0.conv2": 45, "layer1.0.conv1": 40}  # px below the point
DRAW = """async ([fig, size]) => {
    const div = document.createElement('div');
    document.body.append(div);
    await Plotly.newPlot(div, fig.data, fig.layout);
    return Plotly.toImage(div, {format: 'svg', ...size});
}"""


def picture(scheme: str) -> Path:
    "Return the path of the picture in a colour scheme."
    return root / f"nbs/images/resnet18-{scheme}.svg"


def stamp() -> str:
    "Return the mark in a picture that identifies its run."
    return (
        "<desc>reports/resnet18.json, sha256"
        f" {hashlib.sha256(source.read_bytes()).hexdigest()}</desc>"
    )


def draw() -> None:
    "Draw the run with plotly in a browser, once for each colour scheme."
    from browser import chromium
    from playwright.sync_api import sync_playwright
    from plotly.offline import get_plotlyjs

    from fasterroof import Run

    run = Run.load(source)
    with sync_playwright() as p, chromium(p) as browser:
        page = browser.new_page()
        page.set_content("<!doctype html><title>figure</title>")
        page.add_script_tag(content=get_plotlyjs())
        for scheme, ink in INK.items():
            fig = run.plot().update_layout(**SIZE, title_text="", margin=dict(t=15, b=105))
            fig.update_layout(font=dict(color=ink, size=13))
            for point in (x for x in run.points if x.name in NAMED):
                at = math.log10(point.arithmetic_intensity), math.log10(point.achieved_gflops * 1e9)
                fig.add_annotation(
                    x=at[0],
                    y=at[1],
                    text=point.name,
                    ax=0,
                    ay=NAMED[point.name],
                    arrowcolor=ink,
                    arrowwidth=1,
                )
            fig.update_xaxes(linecolor=ink).update_yaxes(linecolor=ink)
            svg = unquote(page.evaluate(DRAW, [json.loads(fig.to_json()), SIZE]).split(",", 1)[1])
            picture(scheme).write_text(svg.replace(">", f">{stamp()}", 1), encoding="utf-8")


if "--check" in sys.argv[1:]:
    stale = [
        picture(s).name
        for s in INK
        if not picture(s).exists() or stamp() not in picture(s).read_text("utf-8")
    ]
    if stale:
        sys.exit(f"{', '.join(stale)}: not made from reports/resnet18.json; run .ci/figure.py")
else:
    draw()
