"""Write the summary of the job, a comment, a page and the outputs: outputs.py FOLDER VERDICT."""

import json
import os
import secrets
import sys
from pathlib import Path

MARK = "<!-- fasterroof compare -->"  # a later run finds its comment by this line, and replaces it
MOST = 60_000  # characters of a comment; GitHub takes 65,536
PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>fasterroof compare</title>
<style>body{{font:16px/1.5 system-ui,sans-serif;max-width:72rem;margin:2rem auto;padding:0 1rem}}
table{{border-collapse:collapse}}
th,td{{padding:.3rem .8rem;border-bottom:1px solid #8884;text-align:left}}
pre{{overflow:auto}}</style></head><body>
<h1>{answer}</h1>
{table}
<h2>Report</h2><pre>{report}</pre>
</body></html>
"""


def text_of(value):
    "Return a value as text for HTML: names come from the pull request, so they are never markup."
    from html import escape

    return escape(str(value))


def table_of(comparisons):
    "Return the comparisons as an HTML table: verdict, ratio with its interval, and times in ms."
    heads = "verdict", "case", "B / A", "interval", "A", "B", "pairs"
    rows = []
    for c in comparisons:
        p, (a, b) = c["paired"], c["times"]
        known = p["low"] is not None and p["high"] is not None
        interval = f"{p['low']:.3f} to {p['high']:.3f} ({100 * p['level']:.4g} %)" if known else "–"
        ratio = f"{p['ratio']:.3f}" if p["n"] and p["ratio"] is not None else "–"
        times = [f"{1e3 * t:.4g} ms" if t is not None else "–" for t in (a, b)]
        rows.append([c["verdict"], c["case"], ratio, interval, *times, p["n"]])
    body = "".join(f"<tr>{''.join(f'<td>{text_of(x)}</td>' for x in row)}</tr>" for row in rows)
    return f"<table><tr>{''.join(f'<th>{x}</th>' for x in heads)}</tr>{body}</table>"


def output(name, value):
    "Set an output of the step. The delimiter is random, so that no value can end it early."
    delimiter = secrets.token_hex(16)
    with open(os.environ["GITHUB_OUTPUT"], "a", encoding="utf-8") as file:
        file.write(f"{name}<<{delimiter}\n{value}\n{delimiter}\n")


def main(folder, verdict):
    folder = Path(folder)
    report = (folder / "report.md").read_text(encoding="utf-8")
    plain = json.loads((folder / "compare.json").read_text(encoding="utf-8"))
    comment = f"{MARK}\n{report}"
    if len(comment) > MOST:
        comment = f"{comment[:MOST]}\n\n… the rest is in the artifact of the job.\n"
    (folder / "comment.md").write_text(comment, encoding="utf-8")
    page = PAGE.format(
        answer=text_of(plain["answer"]),
        table=table_of(plain["comparisons"]),
        report=text_of(report),
    )
    (folder / "index.html").write_text(page, encoding="utf-8")
    with open(os.environ["GITHUB_STEP_SUMMARY"], "a", encoding="utf-8") as file:
        file.write(report[: 2**19] + "\n")
    output("verdict", verdict)
    output("answer", plain["answer"])
    output("comment", folder / "comment.md")


if __name__ == "__main__":
    main(*sys.argv[1:])
