"""Correct the links that nbdev makes of names in backticks, in the notebooks that it processed.

nbdev links a short name to the first module, alphabetically, that defines it, even if the name is
an ordinary word; it writes anchors in lower case, also for methods, which have no section; and it
puts links inside links. This module resolves a name from the notebook that uses it: a name that the
notebook defines or imports, or else one that a package exports. Other names keep their link only if
exactly one module defines them and they are not ordinary words. Long tests of a module are folded.
"""

import ast
import json
import re
from functools import cache
from pathlib import Path

from glossary import linked

ROOT = Path(__file__).resolve().parent.parent
# a test, not in a comment
TEST = re.compile(r"^[^#\n]*\b(?:assert\b|test_\w+\()", re.M)
UNLINKED = ("glossary.ipynb", "changelog.ipynb", "reference.ipynb", "command_line.ipynb")
SECTION = re.compile(
    r"---\s+\[source\]\((?P<url>[^)#\s]+)#L(?P<line>\w+)\)(?P<style>\{[^}]*\})\s+"
    r"(?P<marks>#+) (?P<name>\S+)(?: \{#(?P<id>[^}]+)\})?\n"
)


def folded_tests(
    cell: dict,  # code cell of a module's page
    before: str,  # the text before it
) -> str:
    """Return the code of a cell; behind a fold if it only tests, shows nothing and is long.

    Short tests are examples of what a name does, and a text that ends with a colon announces an
    example, so such a cell may be longer."""
    code, announced = text_of(cell), before.rstrip().endswith(":")
    lines = len(code.splitlines())
    if cell["outputs"] or code.startswith("#|") or not TEST.search(code):
        return code
    if lines <= (15 if announced else 5):
        return code
    return f"#| code-fold: true\n#| code-summary: {'Example' if announced else 'Tests'}\n{code}"


@cache
def defined(path: str) -> dict[str, int]:
    "Return the functions and classes of a module with their lines."
    tree = ast.parse((ROOT / path).read_text(encoding="utf-8"))
    return {
        node.name: node.lineno
        for node in tree.body
        if isinstance(node, (ast.FunctionDef, ast.ClassDef))
    }


def imports(source: str, module: str = "") -> dict[str, str]:
    "Return the module of each name that code imports from this package."
    try:
        tree = ast.parse(re.sub(r"^\s*[%!].*$", "", source, flags=re.M))
    except SyntaxError:
        return {}
    targets = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (
            node.level or (node.module or "").startswith("fasterroof.")
        ):
            base = module.split(".")[: -node.level] if node.level else []
            for name in node.names:
                targets[name.asname or name.name] = ".".join(
                    [*base, *((node.module or "").split(".") if node.module else [])]
                )
    return targets


def public_names() -> dict[str, str]:
    "Return the module of each name that a package exports, from its stub."
    targets = {}
    for stub in (ROOT / "fasterroof").rglob("__init__.pyi"):
        package = ".".join(stub.relative_to(ROOT).with_suffix("").parts)
        targets |= {
            k: v
            for k, v in imports(stub.read_text(encoding="utf-8"), package).items()
            if v != "fasterroof"
        }
    return targets


def text_of(cell: dict) -> str:
    "Return the source of a cell."
    return cell["source"] if isinstance(cell["source"], str) else "".join(cell["source"])


class Mender:
    "Correct links, from the names of the package and the sections that document them."

    def __init__(self, base: str, blob: str, names: list[str]):
        from fasterroof._modidx import d

        self.base, self.blob, self.names, self.symbols = base, blob, names, d["syms"]
        self.public = public_names()
        self.modules: dict[str, list[str]] = {}
        for module, symbols in self.symbols.items():
            for full in symbols:
                self.modules.setdefault(full.removeprefix(module + "."), []).append(module)
        self.link = re.compile(
            r"\[`(?P<name>[^`\s]+?)(?P<call>\(\))?`\]\(" + re.escape(base) + r"[^)\s]*\)"
        )
        self.notebooks = {
            n: json.loads((ROOT / "_proc" / n).read_text(encoding="utf-8"))
            for n in names
            if (ROOT / "_proc" / n).exists()
        }
        self.sections = {
            n.removesuffix(".ipynb") + ".html": self.ids(nb) for n, nb in self.notebooks.items()
        }

    @staticmethod
    def documents(nb: dict):
        "Return the outputs in Markdown."
        return [
            out["data"]
            for cell in nb["cells"]
            for out in cell.get("outputs", [])
            if "text/markdown" in out.get("data", {})
        ]

    def ids(self, nb: dict) -> dict[str, str]:
        """Return the names that a page documents with their ids: in lower case, unless two names
        differ only in case."""
        names = [
            m["name"]
            for data in self.documents(nb)
            if (m := SECTION.match("".join(data["text/markdown"])))
        ]
        lower = [name.lower() for name in names]
        return {name: name if lower.count(name.lower()) > 1 else name.lower() for name in names}

    def meant(self, name: str, own: str, imported: dict[str, str]) -> str | None:
        "Return the module of a name in the scope of a notebook."
        first, all_of_it = name.split(".")[0], self.modules.get(name, [])
        for module in (own, imported.get(first), self.public.get(first)):
            if module not in self.symbols:  # a package, which exports names of its modules
                module = self.public.get(first)
            if module in all_of_it:
                return module
        plain = re.fullmatch(r"[a-z]+", first)
        return all_of_it[0] if len(all_of_it) == 1 and not plain else None

    def anchor(self, page: str, name: str) -> str:
        "Return where a name is documented; a method without a section is found with its class."
        if page not in self.sections:
            return "#" + name.split(".")[0].lower()
        anchor = self.sections[page].get(name) or self.sections[page].get(name.split(".")[0])
        return "#" + anchor if anchor else ""

    def with_links(self, text: str, own: str, imported: dict[str, str]) -> str:
        "Return Markdown with a link for each name."

        def link(m) -> str:
            name = m["name"]
            if name.startswith("fasterroof."):
                module = next(
                    (
                        k
                        for k in sorted(self.symbols, key=len, reverse=True)
                        if name in self.symbols[k]
                    ),
                    None,
                )
                name = name.removeprefix(f"{module}.")
            else:
                module = self.meant(name, own, imported)
            shown = f"`{m['name']}{m['call'] or ''}`"
            if module is None:
                return shown
            page = self.symbols[module][f"{module}.{name}"][0].partition("#")[0]
            return f"[{shown}]({self.base}{page}{self.anchor(page, name)})"

        text = re.sub(
            r"\[" + self.link.pattern + r"\](?=\()",
            lambda m: f"[`{m['name']}{m['call'] or ''}`]",
            text,
        )
        return self.link.sub(link, text)

    def section(self, text: str, name: str, own: str) -> str:
        "Return documentation of a name with a link to its own module and its own id."

        def head(m) -> str:
            path, url, line = own.replace(".", "/") + ".py", m["url"], m["line"]
            if own and not url.endswith("/" + path) and m["name"] in defined(path):
                url, line = self.blob + path, defined(path)[m["name"]]
            anchor = self.sections[name].get(m["name"], "")
            own_id = f" {{#{anchor}}}" if anchor and anchor != anchor.lower() or m["id"] else ""
            return (
                f"---\n\n[source]({url}#L{line}){m['style']}\n\n{m['marks']} {m['name']}{own_id}\n"
            )

        return SECTION.sub(head, text, count=1)

    def mend(self):
        "Write the notebooks that changed."
        for name, nb in self.notebooks.items():
            source = json.loads((ROOT / "nbs" / name).read_text(encoding="utf-8"))
            code = [text_of(cell) for cell in source["cells"] if cell["cell_type"] == "code"]
            exported = next(
                (
                    m[1]
                    for text in code
                    if (m := re.search(r"^#\|\s*default_exp (\S+)", text, re.M))
                ),
                "",
            )
            own = f"fasterroof.{exported}" if exported else ""
            imported = {k: v for text in code for k, v in imports(text, own).items()}
            before = json.dumps(nb)
            linked_terms: set[str] = set()
            for before, cell in zip([{"source": ""}, *nb["cells"]], nb["cells"], strict=False):
                if cell["cell_type"] == "code" and name.startswith("analysis/"):
                    cell["source"] = folded_tests(cell, text_of(before))
                if cell["cell_type"] == "markdown":
                    cell["source"] = self.with_links(text_of(cell), own, imported)
                    if name not in UNLINKED:
                        cell["source"] = linked(cell["source"], self.base, linked_terms)
            for data in self.documents(nb):
                text = self.section(
                    "".join(data["text/markdown"]), name.removesuffix(".ipynb") + ".html", own
                )
                data["text/markdown"] = self.with_links(text, own, imported)
            if json.dumps(nb) != before:
                (ROOT / "_proc" / name).write_text(
                    json.dumps(nb, ensure_ascii=False, indent=1), encoding="utf-8"
                )
