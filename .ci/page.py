"Turn a processed notebook into an HTML page with pandoc, and resolve its links."

import html
import posixpath
import re
import subprocess
from configparser import ConfigParser
from pathlib import Path
from urllib.parse import urldefrag

from cells import markdown, table_boxes

ROOT = Path(__file__).resolve().parent.parent
settings = ConfigParser(delimiters=["="])
settings.read(ROOT / "settings.ini", encoding="utf-8")
settings = settings["DEFAULT"]
BASE = settings["doc_host"] + settings["doc_baseurl"] + "/"


def pandoc(text: str) -> str:
    """Turn Markdown into HTML with MathML; a warning of pandoc is an error.

    Without the extension `smart`, which would print the two dashes of `--json` as one long dash."""
    import pypandoc

    options = "-f markdown-smart -t html --mathml --wrap=none"
    done = subprocess.run(
        [pypandoc.get_pandoc_path(), *options.split()],
        input=text,
        capture_output=True,
        encoding="utf-8",
    )
    if done.returncode or done.stderr.strip():
        raise ValueError(done.stderr.strip())
    return done.stdout


class Page:
    "A page of the site: its notebook, and HTML with links that are not resolved yet."

    def __init__(self, name: str):
        self.name, self.url = name, name.removesuffix(".ipynb") + ".html"
        self.folder = name.split("/")[0] if "/" in name else ""
        self.up = "../" * name.count("/")
        self.rendered = ""

    def render(self):
        "Turn the notebook into HTML."
        self.meta, text = markdown(ROOT / "_proc" / self.name)
        self.title = self.meta.get("title") or self.name
        # Titles may contain code and formulas, so pandoc converts them, too.
        about = self.meta.get("description") or ""
        try:
            head, _, body = pandoc(
                f"{self.title}\n\n{about}\n\n```{{=html}}\n<!--head-->\n```\n\n{text}"
            ).partition("<!--head-->")
        except ValueError as e:
            raise SystemExit(f"nbs/{self.name}: {e}") from None
        texts = re.findall(r"<p>(.*?)</p>", head, flags=re.S)
        self.heading, self.about = texts[0], texts[1] if len(texts) > 1 else ""
        body = re.sub(r'<span id="cb[\d-]+"><a href="#cb[\d-]+"[^>]*></a>', "<span>", body)
        body = re.sub(
            r'<div class="sourceCode" id="cb\d+"', '<div class="sourceCode" tabindex="0"', body
        )
        body = re.sub(
            r"<table\b.*?</table>",
            lambda m: m[0] if boxed(m) else table_boxes(m[0]),
            body,
            flags=re.S,
        )
        body = re.sub(
            r'<math display="inline".*?</math>',
            lambda m: (
                f'<span class="formula">{m[0]}</span>'
                if len(re.search(r"<annotation[^>]*>(.*?)</annotation>", m[0], re.S)[1]) > 25
                else m[0]
            ),
            body,
            flags=re.S,
        )
        body = re.sub(
            r"<code>(--[\w-]+(?: [\w.]{1,10})?)</code>", r'<code class="option">\1</code>', body
        )
        self.headings: list[tuple[int, str, str]] = []
        self.rendered = re.sub(
            r'<h([1-6])([^>]*?) id="([^"]+)"([^>]*)>(.*?)</h\1>', self._heading, body, flags=re.S
        )
        return self

    def _heading(self, m) -> str:
        level, before, name, after, text = m.groups()
        if "unlisted" not in before + after:
            self.headings.append((int(level), name, text))
        return (
            f'<h{level}{before} id="{name}"{after}>{text}'
            f'<a class="anchor" href="#{name}" aria-label="Link to this section">#</a></h{level}>'
        )


def boxed(m) -> bool:
    "Return True if a table is already inside a box."
    return m.string[: m.start()].endswith('<div class="scroll" tabindex="0">')


def resolved(page: Page, text: str) -> str:
    "Return HTML whose links lead from this page to other pages of the site."

    def link(m) -> str:
        before, url, after = m.groups()
        url, anchor = urldefrag(html.unescape(url))
        ours = url.startswith(BASE)
        if not ours and (re.match(r"[a-z]+:|//", url) or not url):
            return m[0]
        target = posixpath.normpath(
            url.removeprefix(BASE) if ours else posixpath.join(posixpath.dirname(page.url), url)
        )
        target = re.sub(r"\.ipynb$", ".html", target)
        url = posixpath.relpath(target, posixpath.dirname(page.url) or ".")
        return f'<a{before} href="{html.escape(url + ("#" + anchor if anchor else ""))}"{after}>'

    return re.sub(r'<a\b([^>]*?) href="([^"]*)"([^>]*)>', link, text)
