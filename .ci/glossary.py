"""Link the first use of a glossary term in each page to its definition."""

import re

from fasterroof.report.glossary import GLOSSARY, anchor

PAGE = "glossary.html"
# unmistakable phrases for terms that are ordinary words
ALSO = {
    "roofline efficiency": "efficient",
    "lost time": "lost",
    "ceilings": "ceiling",
    "memory levels": "memory level",
    "compute modes": "compute mode",
}
# terms that are ordinary words as well: a link at each would be noise
WORDS = set(
    "run time,compute,memory,overhead,idle,lost,efficient,unknown,limited by,FLOP,operation,module,"
    "phase,ceiling,roofline,mix,measured,detected,estimated,unavailable,baseline,candidate,noise,"
    "faster?,slower?,only before,only after,faster,pair,disturbed,effect,case,attempt,point,row,"
    "store,within,slower,broken,not run,fixed,no figure,not ok,contract,claim,holds,fails,"
    "not checked,floor,unstable,unsteady,FAILED,SAME,unknown limit".split(",")
)
_DEFINED = {term for group in GLOSSARY.values() for term in group}
if stale := (WORDS | set(ALSO.values())) - _DEFINED:
    raise SystemExit(f"The glossary no longer defines {', '.join(sorted(stale))}: see {__file__}.")
TERMS = {
    term: anchor(term) for group in GLOSSARY.values() for term in group if term not in WORDS
} | {text: anchor(term) for text, term in ALSO.items()}
TERM = re.compile(
    rf"(?<![\w/-])(?:{'|'.join(map(re.escape, sorted(TERMS, key=len, reverse=True)))})(?![\w/-])"
)
# code, links, formulas, tags, headings and quotes are left as they are
KEPT = re.compile(
    r"(^(?:```|~~~).*?^(?:```|~~~)|`[^`\n]*`|!?\[[^\]]*\](?:\([^)]*\)|\{[^}]*\})|<[^>]+>|\$[^$]+\$"
    r"|^[#>].*$|^:::.*$)",
    re.M | re.S,
)


def linked(
    text: str,  # Markdown
    base: str,  # address of the site
    used: set[str],  # anchors that this page links already; added to
) -> str:
    "Return the Markdown with a link at the first use of each term."

    def link(m: re.Match) -> str:
        name = TERMS[m[0]]
        if name in used:
            return m[0]
        used.add(name)
        return f"[{m[0]}]({base}{PAGE}#{name})"

    parts = re.split(KEPT, text)
    return "".join(x if i % 2 else TERM.sub(link, x) for i, x in enumerate(parts))
