"Turn a processed notebook into Markdown for pandoc: its cells and their outputs."

import html
import json
import re
from pathlib import Path

import yaml

CALLOUTS = ("note", "tip", "important", "warning", "caution")


def joined(text) -> str:
    "Join the text of a notebook, which may be a list of lines."
    return text if isinstance(text, str) else "".join(text)


def plain(text: str) -> str:
    "Return the text of HTML, with formulas as they look."
    text = re.sub(r"<annotation.*?</annotation>", "", text, flags=re.S)
    return html.unescape(re.sub(r"<[^>]+>", "", text)).strip()


def fenced(text: str, attributes: str) -> str:
    "Return a fenced block around any text."
    fence = "`" * max(3, 1 + max((len(run) for run in re.findall("`+", text)), default=0))
    return f"\n\n{fence} {{{attributes}}}\n{text}\n{fence}\n\n"


def raw(text: str) -> str:
    "Wrap HTML so that pandoc does not change it."
    return fenced(text, "=html")


ANSI = ("black", "red", "green", "yellow", "blue", "magenta", "cyan", "white")
RICH = dict(
    zip(
        ("#000000", "#800000", "#008000", "#808000", "#000080", "#800080", "#008080", "#c0c0c0"),
        ANSI,
        strict=True,
    )
)


def coloured(text: str) -> str:
    "Turn terminal text into HTML: colours become classes, other control sequences are removed."
    out, classes = [], set()
    for i, part in enumerate(re.split(r"\x1b\[([0-9;]*)m", text)):
        if i % 2 == 0:
            part = re.sub(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|[@-Z\\-_])", "", part)
            span = f'<span class="{" ".join(sorted(classes))}">' if classes and part else ""
            out.append(span + html.escape(part, quote=False) + ("</span>" if span else ""))
            continue
        for code in (int(c or 0) for c in part.split(";")):
            if code in (38, 48):
                break  # one of 256 colours, or RGB: the numbers that follow are not codes
            if code == 0:
                classes = set()
            elif code == 22:
                classes -= {"bold", "faint"}
            elif code in (1, 2, 3, 4):
                classes |= {("bold", "faint", "italic", "underline")[code - 1]}
            elif 30 <= code <= 37 or 90 <= code <= 97:
                classes = {c for c in classes if not c.startswith("ansi-")} | {
                    f"ansi-{ANSI[code % 10]}"
                }
            elif code == 39:
                classes = {c for c in classes if not c.startswith("ansi-")}
    return "".join(out)


def figure(data: list, layout: dict) -> str:
    "Return the data of a Plotly figure, which page.js draws."
    title = (layout.get("title") or {}).get("text") or "figure"
    label = html.escape(re.sub("<[^>]+>", "", title))
    drawing = json.dumps({"data": data, "layout": layout}, separators=(",", ":")).replace(
        "</", "<\\/"
    )
    return (
        f'<div class="plots" tabindex="0"><div class="plot" role="img" aria-label="{label}" '
        f'style="height:{layout.get("height", 450)}px">'
        f'<script type="application/json">{drawing}</script></div></div>'
    )


def figures_in(text: str) -> list[str]:
    "Return the figures in an HTML output that Plotly wrote."
    results, decoder = [], json.JSONDecoder()
    for call in re.finditer(r"Plotly\.(?:newPlot|react)\(\s*[\"'][^\"']*[\"']\s*,\s*", text):
        data, end = decoder.raw_decode(text, call.end())
        layout, _ = decoder.raw_decode(text, re.compile(r"\s*,\s*").match(text, end).end())
        results.append(figure(data, layout))
    return results


def table_boxes(text: str) -> str:
    "Put every table into a scrolling box; the style sheet sets widths and borders."
    text = re.sub(r"<colgroup>.*?</colgroup>\s*", "", text, flags=re.S)
    text = re.sub(
        r"<table\b([^>]*)>",
        lambda m: (
            '<div class="scroll" tabindex="0"><table'
            + re.sub(r'\s(?:border|style)="[^"]*"', "", m[1])
            + ">"
        ),
        text,
    )
    return re.sub(r"<table\b.*?</table>", numbers, text, flags=re.S).replace(
        "</table>", "</table></div>"
    )


def numbers(m) -> str:
    "Mark the columns of numbers in a table, so that they are aligned to the right."
    rows = [
        re.findall(r"<t[hd]\b.*?</t[hd]>", row, flags=re.S)
        for row in re.findall(r"<tr\b.*?</tr>", m[0], flags=re.S)
    ]
    bodies = [row for row in rows if any(cell.startswith("<td") for cell in row)]
    if not bodies or len({len(row) for row in rows}) > 1:  # cells that span several columns
        return m[0]
    number = re.compile(r"[-−+~≈]?[\d,.]+(?:e[-+]?\d+)?\s?%?|nan|NaN|–|")
    columns = [[plain(cell) for cell in column] for column in zip(*bodies, strict=True)]
    right = {
        i
        for i, column in enumerate(columns)
        if any(column) and all(number.fullmatch(text) for text in column)
    }
    places = iter([i for row in rows for i in range(len(row))])
    return re.sub(
        r"<(t[hd])\b([^>]*)>",
        lambda cell: (
            f'<{cell[1]} class="number"{cell[2]}>'
            if next(places) in right and "class=" not in cell[2]
            else cell[0]
        ),
        m[0],
    )


def cleaned(text: str) -> str:
    "Adapt an HTML output to the style of the site."
    text = re.sub(r"<style scoped>.*?</style>|<style[^>]*>\s*</style>", "", text, flags=re.S)
    text = re.sub(r'<tr style="text-align: right;">', "<tr>", text)
    for colour, name in RICH.items():  # written by rich
        text = re.sub(
            rf'style="([^"]*?)color: {colour}; text-decoration-color: {colour}',
            rf'class="ansi-{name}" style="\1',
            text,
        )
    return table_boxes(text)


ANSWER = re.compile(
    r"^(?:Median|Unsteady|Lost|Cannot tell|No difference|Failed|B is|Of \d+ comparisons)\b"
    r".*\n(?:(?![\s*$]|(?:Median|Lost)\b).+\n)*",
    re.M,
)


def with_answers(text: str) -> str:
    "Mark the sentences of an answer, which a narrow window wraps; tables stay as they are."
    return ANSWER.sub(lambda m: f'<span class="answer">{m[0]}</span>', text)


def output(out: dict, asis: bool) -> str:
    "Return one output of a cell as Markdown."
    if out["output_type"] == "stream":
        kind = " stderr" if out.get("name") == "stderr" else ""
        shown = with_answers(coloured(joined(out["text"]).rstrip()))
        return raw(f'<pre class="text{kind}" tabindex="0">{shown}</pre>')
    if out["output_type"] == "error":
        return raw(
            f'<pre class="text error" tabindex="0">{coloured(chr(10).join(out["traceback"]))}</pre>'
        )
    data = {
        kind: value if kind.endswith("json") else joined(value)
        for kind, value in out["data"].items()
    }
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
    """Reformat documentation that nbdev's show_doc wrote: the link to the source moves into the
    line of the heading."""
    m = re.match(r"---\s+\[source\]\(([^)\s]+)\)\{[^}]*\}\s+(#+) (.*?)\n", text)
    if m:
        name, _, its_id = m[3].partition(" {#")
        its_id = f" #{its_id.rstrip('}')}" if its_id else ""
        text = (
            raw(f'<a class="source" href="{m[1]}">source</a>')
            + f"{m[2]} {name} {{.name{its_id}}}\n"
            + text[m.end() :]
        )
    return raw('<div class="doc">') + text.removeprefix("---\n") + raw("</div>")


def options(source: str) -> tuple[dict, str]:
    "Split a code cell into its options, as Quarto reads them, and its code."
    results, lines = {}, source.splitlines()
    while lines and (m := re.match(r"#\s*\|\s*([\w-]+)\s*:\s*(.*)$", lines[0])):
        results[m[1]] = yaml.safe_load(m[2])
        lines.pop(0)
    return results, "\n".join(lines).strip("\n")


def code_cell(cell: dict) -> str:
    "Return a code cell and its outputs as Markdown."
    opts, source = options(joined(cell["source"]))
    if opts.get("include") is False:
        return ""
    language = cell.get("metadata", {}).get("language", "python")
    parts, asis = [], opts.get("output") == "asis"
    if opts.get("echo", True) and source.strip():
        parts.append(fenced(source, f".{language}"))
        if opts.get("code-fold") in (True, "show"):
            state = " open" if opts["code-fold"] == "show" else ""
            summary = html.escape(opts.get("code-summary", "Code"))
            parts = [
                raw(f"<details{state}><summary>{summary}</summary>"),
                *parts,
                raw("</details>"),
            ]
    outs = [
        o
        for o in cell.get("outputs", [])
        if opts.get("output") is not False and opts.get("eval") is not False
    ]
    shown = "".join(output(o, asis) for o in outs)
    if shown.strip():
        bare = "" if parts else " bare"  # no code above the output
        parts.append(shown if asis else raw(f'<div class="output{bare}">') + shown + raw("</div>"))
    return (
        "".join(parts)
        if asis or not parts
        else raw('<div class="cell">') + "".join(parts) + raw("</div>")
    )


def markdown(path: Path) -> tuple[dict, str]:
    "Return title and description of a processed notebook, and the rest as Markdown."
    meta, parts = {}, []
    for i, cell in enumerate(json.loads(path.read_text(encoding="utf-8"))["cells"]):
        source = joined(cell["source"])
        if i == 0 and cell["cell_type"] == "raw":
            meta = yaml.safe_load(source.strip().strip("-"))
        elif (
            cell["cell_type"] == "markdown" and "WARNING: THIS FILE WAS AUTOGENERATED" not in source
        ):
            # pandoc has no highlighting for shell
            parts.append(re.sub(r"^```shell$", "```bash", source, flags=re.M))
        elif cell["cell_type"] == "code":
            parts.append(code_cell(cell))
    return meta, "\n\n".join(parts)
