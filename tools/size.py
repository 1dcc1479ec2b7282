"""Measure the amount of code in each package, on the syntax tree instead of lines.

Columns: nodes of the syntax tree inside function bodies, without docstrings; nodes per statement;
branches, the mean cyclomatic complexity (McCabe) of all functions; described, the share of public
functions and methods with a docstring.

    python tools/size.py [TREE]
"""

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
BRANCHES = (
    ast.If,
    ast.IfExp,
    ast.For,
    ast.AsyncFor,
    ast.While,
    ast.With,
    ast.Assert,
    ast.ExceptHandler,
    ast.comprehension,
    ast.match_case,
)


def body(function: ast.FunctionDef | ast.AsyncFunctionDef) -> list[ast.stmt]:
    "Return the statements of a function without its docstring."
    return function.body[ast.get_docstring(function) is not None :]


def outermost(tree: ast.AST) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    "Return functions and methods that are not inside another function."
    for child in ast.iter_child_nodes(tree):
        if isinstance(child, FUNCTIONS):
            yield child
        else:
            yield from outermost(child)


def complexity(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    "Return one more than the number of branches."
    inside = [n for statement in body(function) for n in ast.walk(statement)]
    operators = sum(len(n.values) - 1 for n in inside if isinstance(n, ast.BoolOp))
    return 1 + operators + sum(isinstance(n, BRANCHES) for n in inside)


def measures(paths: list[Path]) -> tuple[int, float, float, float]:
    "Return nodes, nodes per statement, mean complexity, share with a docstring (%)."
    trees = [ast.parse(path.read_text()) for path in paths]
    tops = [f for tree in trees for f in outermost(tree)]
    inside = [n for f in tops for statement in body(f) for n in ast.walk(statement)]
    functions = [n for tree in trees for n in ast.walk(tree) if isinstance(n, FUNCTIONS)]
    public = [f for f in tops if not f.name.startswith("_")]
    statements = sum(isinstance(n, ast.stmt) for n in inside)
    return (
        len(inside),
        len(inside) / max(1, statements),
        sum(map(complexity, functions)) / max(1, len(functions)),
        100 * sum(map(bool, map(ast.get_docstring, public))) / max(1, len(public)),
    )


root = Path(sys.argv[1] if len(sys.argv) > 1 else ".", "fasterroof")
packages: dict[str, list[Path]] = {}
for path in sorted(root.rglob("*.py")):
    packages.setdefault(path.parent.relative_to(root).as_posix(), []).append(path)
packages["all"] = [path for paths in packages.values() for path in paths]
print(
    f"{'package':18}{'modules':>8}{'nodes':>9}{'a statement':>13}{'branches':>10}{'described':>11}"
)
for name, paths in packages.items():
    nodes, each, branches, described = measures(paths)
    print(f"{name:18}{len(paths):8}{nodes:9,}{each:13.2f}{branches:10.2f}{described:10.1f} %")
