"""Draft the JSON Schema of a command's output from examples, or add fields to it.

    .venv/bin/python tools/draft_schema.py run profile.json imported.json
    .venv/bin/python tools/draft_schema.py run profile.json --title "A run"

It writes fasterroof/cli/answers/data/NAME.json. Descriptions that are in the file stay. New fields
are described by the comments of the dataclasses that they come from; write missing ones by hand.
Fields may be null where an example has null, or where the dataclass allows None."""

import argparse
import functools
import importlib
import inspect
import json
import pkgutil
import re
from collections.abc import Iterable
from dataclasses import fields, is_dataclass
from pathlib import Path

from fastcore.docments import docments

import fasterroof
from fasterroof.cli.answers.envelope import SITE

DATA = Path(__file__).resolve().parent.parent / "fasterroof/cli/answers/data"
# Objects whose keys are data, such as names of modules: their values are described, not their keys.
MAPS = {
    *("by_cause", "memory", "uncounted", "sources", "cited", "units", "shares", "if_it_fit"),
    *("environment", "guard", "seen", "headline", "param_point", "point", "conditions"),
    *("versions", "metrics", "provenance", "work", "factors", "counts", "ratios", "times_s"),
    *(
        "changed",
        "why",
        "fixed",
        "eager_work",
        "figures_of",
        "counterexample",
        "classes",
        "rows_of",
        "terms_s",
    ),
    *("constants", "parameters", "about", "at", "fidelity", "rank_notes", "host_facts", "clocks"),
}
# Objects with any values.
FREE = {
    *("param_point", "point", "environment", "conditions", "provenance", "counterexample"),
    *("changed", "fixed", "versions", "about", "at", "metrics"),
}
FIGURE = {
    "type": "object",
    "description": "One number of the answer.",
    "required": ["name", "value", "unit", "source", "interval", "level"],
    "additionalProperties": False,
    "properties": {
        "name": {"type": "string", "description": "The quantity, such as run time."},
        "value": {"type": ["number", "null"], "description": "The number; null: unknown."},
        "unit": {
            "type": "string",
            "description": "SI unit without a prefix, such as s, B, FLOP, B/s, FLOP/s, 1/s, J, %;"
            " 1 for ratios and counts.",
        },
        "source": {
            "type": "string",
            "description": "Origin of the number: measured, counted, computed, predicted, detected,"
            " estimated, datasheet or given, with details; unavailable if it is unknown.",
        },
        "interval": {
            "type": ["array", "null"],
            "items": {"type": "number"},
            "minItems": 2,
            "maxItems": 2,
            "description": "Lowest and highest value, in the same unit; null: unknown.",
        },
        "level": {
            "type": ["number", "null"],
            "exclusiveMinimum": 0,
            "exclusiveMaximum": 1,
            "description": "Confidence level of the interval; null: unknown, or no interval.",
        },
    },
}
HEAD = {
    "$schema": {"type": "string", "description": "Address of this schema."},
    "answer": {"type": "string", "minLength": 1, "description": "The answer in a sentence."},
    "figures": {
        "type": "array",
        "items": {"$ref": "#/$defs/figure"},
        "description": "The figures of the answer, with units, intervals and sources.",
    },
}


def _classes() -> list[type]:
    "Return all dataclasses and named tuples of the package."
    classes = []
    for info in pkgutil.walk_packages(fasterroof.__path__, "fasterroof."):
        if not info.name.endswith("__main__"):
            for cls in vars(importlib.import_module(info.name)).values():
                own = inspect.isclass(cls) and cls.__module__ == info.name
                if own and (is_dataclass(cls) or hasattr(cls, "_fields")):
                    classes.append(cls)
    return classes


CLASSES = _classes()


def _fields(cls: type) -> set[str]:
    return {f.name for f in fields(cls)} if is_dataclass(cls) else {*cls._fields}


@functools.cache
def class_of(keys: frozenset[str]) -> type | None:
    "Return the class that plain values with these keys come from; None if that is unclear."
    fitting = [c for c in CLASSES if _fields(c) and _fields(c) <= keys]
    best = max(
        fitting, key=lambda c: sum(hasattr(c, k) or k in _fields(c) for k in keys), default=None
    )
    if best is None or sum(hasattr(best, k) or k in _fields(best) for k in keys) < 0.6 * len(keys):
        return None
    return best


@functools.cache
def described(cls: type | None, name: str) -> tuple[str, str]:
    "Return the description of a field or property, and its type in words."
    if cls is None:
        return "", ""
    text, hint = "", ""
    for base in cls.__mro__:
        if name in vars(base).get("__annotations__", {}):
            text, hint = docments(base).get(name) or "", str(base.__annotations__[name])
            break
        if isinstance(vars(base).get(name), property):
            text = (inspect.getdoc(vars(base)[name]) or "").partition("\n\n")[0]
            hint = str(vars(base)[name].fget.__annotations__.get("return", ""))
            break
    text = re.sub(r"\s+", " ", text.strip())
    text = text.replace("None:", "null:").replace("NaN", "null").rstrip(".")
    return f"{text[:1].upper()}{text[1:]}." if text[1:2].isalpha() else text, hint


def merged(a: dict, b: dict) -> dict:
    "Return a schema that both schemas' values fulfill."
    if not a or not b:
        return a or b
    kinds = sorted({*_kinds(a), *_kinds(b)}) if "type" in a and "type" in b else []
    if {"integer", "number"} <= {*kinds}:
        kinds.remove("integer")
    out = {"type": kinds[0] if len(kinds) == 1 else kinds} if kinds else {}
    if text := a.get("description") or b.get("description"):
        out["description"] = text
    if "items" in a or "items" in b:
        out["items"] = merged(a.get("items", {}), b.get("items", {}))
    if "additionalProperties" in a or "additionalProperties" in b:
        both = [x.get("additionalProperties", {}) for x in (a, b)]
        out["additionalProperties"] = merged(*[x if isinstance(x, dict) else {} for x in both])
    objects = [x for x in (a, b) if "properties" in x]
    if objects:
        names = {name: None for x in objects for name in x["properties"]}
        out["properties"] = {
            n: merged(objects[0]["properties"].get(n, {}), objects[-1]["properties"].get(n, {}))
            for n in names
        }
        required = [n for n in names if all(n in x.get("required", ()) for x in objects)]
        if required:
            out["required"] = required
    return out


def loosened(schema: dict) -> dict:
    "Return the schema with fields of which only null was seen allowing any value."
    plain = {k: v for k, v in schema.items() if k != "type" or {*_kinds(schema)} != {"null"}}
    for key in ("items", "additionalProperties"):
        if isinstance(plain.get(key), dict):
            plain[key] = loosened(plain[key])
    if "properties" in plain:
        plain["properties"] = {k: loosened(v) for k, v in plain["properties"].items()}
    return plain


def _kinds(schema: dict) -> list[str]:
    kinds = schema.get("type", [])
    return [kinds] if isinstance(kinds, str) else kinds


def inferred(value: object, name: str = "", hint: str = "") -> dict:
    "Return the schema of a value in a field of that name and Python type."
    if value is None:
        return {"type": [*_hinted(hint), "null"]}
    if isinstance(value, bool):
        out = {"type": "boolean"}
    elif isinstance(value, (int, float)):
        whole = hint.replace(" | None", "") in _INT
        out = {"type": "integer" if whole else ["number", "null"]}  # null: infinite or unknown
    elif isinstance(value, str):
        out = {"type": "string"}
    elif isinstance(value, list):
        out = {"type": "array"} | _collected("items", value)
    elif name in FREE:
        out = {"type": "object"}
    elif name in MAPS or all(re.match(r"\d{4}-\d\d-\d\dT", k) for k in value):
        out = {"type": "object"} | _collected("additionalProperties", value.values())
    else:
        cls = class_of(frozenset(value))
        out = {"type": "object", "properties": {}}
        if cls:
            out["required"] = [*value]
        for k, x in value.items():
            text, kind = described(cls, k)
            part = inferred(x, k, kind)
            out["properties"][k] = part | ({"description": text} if text else {})
    return merged(out, {"type": "null"}) if "None" in hint else out


_HINTS = {
    "Timing": "object",
    "tuple": "array",
    "Sequence": "array",
    "Mapping": "object",
    "dict": "object",
    "float": "number",
    "int": "integer",
    "str": "string",
    "Interval": "array",
}


def _hinted(hint: str) -> list[str]:
    "Return the JSON type of a Python type."
    return [next((kind for word, kind in _HINTS.items() if word in hint), "null")]


_INT = ("int", "<class 'int'>")


def _collected(key: str, values: Iterable[object]) -> dict:
    "Return the schema that all values fulfill, under that key."
    schema: dict = {}
    for x in values:
        schema = merged(schema, inferred(x))
    return {key: schema} if schema else {}


def draft(name: str, outputs: list[dict], title: str) -> dict:
    "Return the schema of these outputs, with the descriptions of the present one."
    path = DATA / f"{name}.json"
    present = json.loads(path.read_text("utf-8")) if path.exists() else {}
    bodies = [{k: v for k, v in x.items() if k not in HEAD} for x in outputs]
    body: dict = {k: present[k] for k in ("type", "properties", "required") if k in present}
    if body:
        body["properties"] = {k: v for k, v in body["properties"].items() if k not in HEAD}
        body["required"] = [n for n in body["required"] if n not in HEAD]
    always = [n for n in bodies[0] if all(n in x for x in bodies)]
    if body:
        always = [n for n in body["required"] if n in always]
    for x in bodies:
        body = merged(body, inferred(x))
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": f"{SITE}/schemas/{name}.json",
        "title": title or present.get("title", name),
        "description": present.get("description", ""),
        "type": "object",
        "required": [*HEAD, *always],
        "properties": HEAD | loosened(body)["properties"],
        "$defs": present.get("$defs", {}) | {"figure": FIGURE},
    }


def main() -> None:
    "Write the schema, and name the fields at its top that have no description."
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    p.add_argument("name", help="name of the schema, such as bench-compare")
    p.add_argument("outputs", nargs="+", type=Path, help="outputs of --json")
    p.add_argument("--title", default="", help="title of the schema")
    args = p.parse_args()
    schema = draft(args.name, [json.loads(x.read_text("utf-8")) for x in args.outputs], args.title)
    DATA.mkdir(exist_ok=True)
    (DATA / f"{args.name}.json").write_text(json.dumps(schema, indent=1) + "\n", "utf-8")
    bare = [n for n, x in schema["properties"].items() if not x.get("description")]
    print(args.name, "lacks descriptions of", ", ".join(bare) or "nothing")


if __name__ == "__main__":
    main()
