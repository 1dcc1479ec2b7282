"""Make README.md, CONTRIBUTING.md, CHANGELOG.md and benchmarks/README.md from their notebooks.

It also writes the badges of the README and the version in CITATION.cff.

    .venv/bin/python .ci/readme.py
    .venv/bin/python .ci/readme.py --check    only compare
"""

import re
import sys
from configparser import ConfigParser
from pathlib import Path

import nbformat

root = Path(__file__).resolve().parent.parent
PAGES = {
    "README.md": "index",
    "CONTRIBUTING.md": "contributing",
    "CHANGELOG.md": "changelog",
    "benchmarks/README.md": "benchmarks",
}
LINK = re.compile(r'(\]\(|src="|srcset=")(?!https?:|#)')


def markdown(name: str, to_notebooks: str) -> str:
    "Return a notebook as Markdown: links adapted, divs removed, code fenced with its text outputs."
    parts = []
    for cell in nbformat.read(root / f"nbs/{name}.ipynb", 4).cells:
        if cell.cell_type == "markdown":
            # links in the notebook are relative to nbs/
            text = LINK.sub(rf"\g<1>{to_notebooks}", cell.source)
            text = re.sub(r"^:::.*\n?", "", text, flags=re.M)
            parts.append(re.sub(r"\n{3,}", "\n\n", text).strip())
        elif cell.cell_type == "code" and "#| hide" not in (lines := cell.source.splitlines()):
            source = "\n".join(line for line in lines if not line.startswith("#|")).strip()
            shown = [o.get("text") or o.get("data", {}).get("text/plain", "") for o in cell.outputs]
            parts += [] if "#| echo: false" in lines else [f"```python\n{source}\n```"]
            parts += [f"```\n{text.rstrip()}\n```" for text in shown if text]
    return "\n\n".join(filter(None, parts))


def badge(label: str, value: str, color: str = "#0f766e") -> str:
    "Return a badge as SVG, with 6.6 px per character of DejaVu Sans at 11 px."
    left, right = (round(6.6 * len(text)) + 12 for text in (label, value))

    def label_svg(text, middle):
        return f'<text x="{middle}" y="14" text-anchor="middle">{text}</text>'

    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{left + right}" height="20" role="img" '
        f'aria-label="{label}: {value}"><title>{label}: {value}</title>'
        f'<rect width="{left + right}" height="20" rx="3" fill="{color}"/>'
        f'<path d="M0 3a3 3 0 0 1 3-3h{left - 3}v20h-{left - 3}a3 3 0 0 1-3-3z" fill="#374151"/>'
        f'<g fill="#fff" font-family="DejaVu Sans,Verdana,sans-serif" font-size="11">'
        f"{label_svg(label, left / 2)}{label_svg(value, left + right / 2)}</g></svg>\n"
    )


def badges() -> dict[str, tuple[str, str]]:
    "Return label and value of each badge, read from the files that define them."
    cfg = ConfigParser(delimiters=["="])
    cfg.read(root / "settings.ini", encoding="utf-8")
    cfg = cfg["DEFAULT"]
    pythons = re.findall(
        r"3\.\d+", re.search(r"PYTHONS = (.*)", (root / "setup.py").read_text("utf-8"))[1]
    )
    torch = re.search(r"torch>=([\d.]+)", cfg["requirements"])[1]
    licence = (root / "LICENSE").read_text("utf-8").split("\n\n")[0]
    assert "Apache License" in licence and "Version 2.0" in licence
    return {
        "version": ("version", cfg["version"]),
        "python": ("python", f"{pythons[0]} – {pythons[-1]}"),
        "torch": ("pytorch", f"≥ {torch}"),
        "licence": ("licence", "Apache-2.0"),
    }


files = {f"nbs/images/badge-{name}.svg": badge(*texts) for name, texts in badges().items()}
row = " ".join(
    f"![{label}: {value}](nbs/images/badge-{name}.svg)" for name, (label, value) in badges().items()
)
for path, name in PAGES.items():
    text = markdown(name, "../" * path.count("/") + "nbs/")
    if path == "README.md":
        text = re.sub(r"\A(# .*\n)", rf"\g<1>\n{row}\n", text)
    files[path] = f"<!-- Made from nbs/{name}.ipynb by .ci/readme.py: edit that. -->\n\n{text}\n"
citation = (root / "CITATION.cff").read_text("utf-8")
files["CITATION.cff"] = re.sub(
    r"^version: .*$", f"version: {badges()['version'][1]}", citation, flags=re.M
)
if "--check" in sys.argv[1:]:
    stale = [
        p
        for p, text in files.items()
        if not (root / p).exists() or (root / p).read_text("utf-8") != text
    ]
    if stale:
        sys.exit(f"{', '.join(stale)}: not up to date with its source; run .ci/readme.py")
else:
    for path, text in files.items():
        (root / path).write_text(text, encoding="utf-8")
