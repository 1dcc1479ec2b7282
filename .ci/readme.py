"Make README.md from nbs/index.ipynb (nbdev_readme does it too, with Quarto); --check only compares."
import re
import sys
from pathlib import Path

import nbformat

root = Path(__file__).resolve().parent.parent


def readme() -> str:
    "Markdown cells as they are, code cells fenced with their text outputs, cells that hide left out."
    parts = []
    for cell in nbformat.read(root / "nbs/index.ipynb", 4).cells:
        if cell.cell_type == "markdown":
            # links are relative to nbs/ there
            parts.append(re.sub(r"\]\((?!https?:|#)([^)]+)\)", r"](nbs/\1)", cell.source))
        elif cell.cell_type == "code" and not cell.source.startswith("#| hide"):
            source = "\n".join(line for line in cell.source.splitlines() if not line.startswith("#|"))
            shown = [o.get("text") or o.get("data", {}).get("text/plain", "") for o in cell.outputs]
            parts += [f"```python\n{source.strip()}\n```"] + [f"```\n{text.rstrip()}\n```" for text in shown if text]
    return "<!-- Made from nbs/index.ipynb by .ci/readme.py: edit that. -->\n\n" + "\n\n".join(parts) + "\n"


path, text = root / "README.md", readme()
if "--check" in sys.argv[1:]:
    if path.read_text(encoding="utf-8") != text:
        sys.exit("README.md is not what nbs/index.ipynb makes: run .ci/readme.py")
else:
    path.write_text(text, encoding="utf-8")
