"""The definition of a function in its file, as a syntax tree. Only the lines of that function are parsed.

What stands in an installed package is no definition of the person's, and none is looked for.
"""

from __future__ import annotations

import ast
import linecache
import textwrap
from functools import lru_cache

from jaxviz.compat import JAX_FOLDERS
from jaxviz.read.frames import is_library

Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda

# What a line at the margin of a function may begin with and still be of it: the end of its head, or its decorators.
_GOES_ON = (")", "]", "}", "#", "@")


def definition_of(file: str, line: int, name: str) -> Definition | None:
    """The function of this name that begins at a line, decorators included; None where that is not one alone."""
    if line <= 0 or file.startswith(JAX_FOLDERS) or is_library(file):
        return None
    lines = linecache.getlines(file)
    if line > len(lines):
        return None
    if name == "<lambda>":
        tree = _tree("".join(lines))
        found = [node for node in _lambdas(tree) if node.lineno == line] if tree is not None else []
        return found[0] if len(found) == 1 else None
    tree = _tree(textwrap.dedent("".join(_block(lines, line))))
    first = tree.body[0] if tree is not None and tree.body else None
    if isinstance(first, (ast.FunctionDef, ast.AsyncFunctionDef)) and first.name == name:
        return first
    return None


def _block(lines: list[str], line: int) -> list[str]:
    """The lines of the function that begins at a line: to the next one that stands as far left."""
    margin = _indent(lines[line - 1])
    inside = False
    for end in range(line - 1, len(lines)):
        text = lines[end].strip()
        if not text or _indent(lines[end]) > margin:
            continue
        if inside and not text.startswith(_GOES_ON):
            return lines[line - 1 : end]
        inside = inside or text.startswith(("def ", "async def "))
    return lines[line - 1 :]


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


@lru_cache(maxsize=256)
def _tree(text: str) -> ast.Module | None:
    try:
        return ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


@lru_cache(maxsize=16)
def _lambdas(tree: ast.Module) -> tuple[ast.Lambda, ...]:
    return tuple(node for node in ast.walk(tree) if isinstance(node, ast.Lambda))
