"""Whether a variable is assigned again after functions have read it: told from the source."""

from __future__ import annotations

import ast
import linecache
from collections.abc import Iterator
from functools import lru_cache


def is_rebound(file: str, name: str, first: int, last: int) -> bool:
    """Whether the function around some lines assigns a variable below them, or lets a function inside it do so."""
    tree = _tree("".join(linecache.getlines(file)))
    function = _around(tree, name, first) if tree is not None else None
    if function is None:
        return False
    return any(
        line > last or (not first <= line <= last and of is not function) for line, of in _assigned(function, name)
    )


def is_global_rebound(file: str, name: str) -> bool:
    """Whether a function of a file says that a variable of the module is its own to assign, and does so."""
    tree = _tree("".join(linecache.getlines(file)))
    return tree is not None and name in _assigned_globals(tree)


@lru_cache(maxsize=16)
def _assigned_globals(tree: ast.Module) -> frozenset[str]:
    """The variables of a module that functions in it assign."""
    functions = [node for node in ast.walk(tree) if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))]
    found: set[str] = set()
    for function in functions:
        said = {name for node in ast.walk(function) if isinstance(node, ast.Global) for name in node.names}
        stores = (node for node in ast.walk(function) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store))
        found |= said & {node.id for node in stores} if said else set()
    return frozenset(found)


@lru_cache(maxsize=16)
def _tree(text: str) -> ast.Module | None:
    try:
        return ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _around(tree: ast.AST, name: str, line: int) -> ast.AST | None:
    """The innermost function around a line that has a variable of its own of this name."""
    found = None
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and node.lineno < line <= (node.end_lineno or 0):
            arguments = node.args
            names = [one.arg for one in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)]
            if name in names or any(of is node for _, of in _assigned(node, name)):
                # What stands inside is walked through later.
                found = node
    return found


def _assigned(function: ast.AST, name: str) -> Iterator[tuple[int, ast.AST]]:
    """The lines at which a variable of a function is assigned, by it or by one inside it that says `nonlocal`."""
    waiting: list[tuple[ast.AST, ast.AST]] = [(child, function) for child in ast.iter_child_nodes(function)]
    while waiting:
        node, of = waiting.pop()
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            names = {one for inner in ast.walk(node) if isinstance(inner, ast.Nonlocal) for one in inner.names}
            if name in names:
                waiting += [(child, node) for child in ast.iter_child_nodes(node)]
        elif isinstance(node, (ast.Lambda, ast.ClassDef)):
            continue
        else:
            if isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Store):
                yield node.lineno, of
            waiting += [(child, of) for child in ast.iter_child_nodes(node)]
