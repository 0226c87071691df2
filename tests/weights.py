"""Statements and tokens of each package; ``python -m tests.weights`` records them in tests/weights.toml.

Lines do not count: a packed line weighs what its parts weigh, and docstrings and comments weigh nothing.
"""

import ast
import io
import tokenize
from collections import Counter
from pathlib import Path

SOURCE = Path(__file__).parents[1] / "src" / "pqswarm"
RECORD = Path(__file__).with_name("weights.toml")
WEIGHTLESS = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER}


def is_text(node):
    """Whether a statement is nothing but a text, as a docstring is."""
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)


def weigh_packages():
    """``{package: {"statements": number, "tokens": number}}``; files outside packages are of "pqswarm"."""
    weights = {}
    for path in sorted(SOURCE.rglob("*.py")):
        folders = path.relative_to(SOURCE).parts[:-1]
        package = weights.setdefault(folders[0] if folders else "pqswarm", Counter())
        source = path.read_text(encoding="utf-8")
        package["statements"] += sum(isinstance(n, ast.stmt) and not is_text(n) for n in ast.walk(ast.parse(source)))
        tokens = tokenize.generate_tokens(io.StringIO(source).readline)
        package["tokens"] += sum(token.type not in WEIGHTLESS for token in tokens)
    return {package: dict(weights[package]) for package in sorted(weights)}


def write_weights():
    lines = ["# Written by python -m tests.weights. A package that outgrows its numbers fails tests/test_house.py."]
    for package, weight in weigh_packages().items():
        lines.append(f"{package} = {{ statements = {weight['statements']}, tokens = {weight['tokens']} }}")
    RECORD.write_text("\n".join([*lines, ""]), encoding="utf-8")


if __name__ == "__main__":
    write_weights()
