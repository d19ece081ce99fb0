"""Code with gaps: names that stand for nothing of the person's own, and `...` where something is to be filled in."""

from __future__ import annotations

import ast
import builtins

from jaxviz.errors.failure import Failure, parameters_of
from jaxviz.errors.source import names_assigned, names_read
from jaxviz.errors.trial import USUAL

# Modules by the names under which everybody imports them.
_MODULES = {*USUAL, "dataclasses", "functools", "itertools", "optax", "eqx", "nn", "nnx", "P", "PartitionSpec"}


def has_gaps(failure: Failure, code: str, of_file: bool = True) -> bool:
    """Whether code cannot be pasted as it stands. `of_file`: whether it may be for another function of the file."""
    tree = ast.parse("\n".join(line for line in code.splitlines() if not line.startswith("%")))
    unknown_text = not of_file and bool(_texts(tree) - _texts(failure.source.tree if failure.source else None))
    return _is_filled_in_later(tree) or unknown_text or bool(_unknown(failure, tree, of_file))


def _texts(tree: ast.AST | None) -> set[str]:
    """Names of axes and keys, as they are written in code."""
    constants = [node.value for node in ast.walk(tree) if isinstance(node, ast.Constant)] if tree is not None else []
    return {one for one in constants if isinstance(one, str)}


def _is_filled_in_later(tree: ast.Module) -> bool:
    """Whether it holds `...` as anything but an index."""
    indices = {
        part
        for node in ast.walk(tree)
        if isinstance(node, ast.Subscript)
        for part in (node.slice, *getattr(node.slice, "elts", ()))
    }
    return any(isinstance(node, ast.Constant) and node.value is ... and node not in indices for node in ast.walk(tree))


def _unknown(failure: Failure, tree: ast.Module, of_file: bool) -> set[str]:
    own = {node.arg for node in ast.walk(tree) if isinstance(node, ast.arg)}
    own |= {node.name for node in ast.walk(tree) if isinstance(node, (ast.FunctionDef, ast.ClassDef))}
    own |= {(one.asname or one.name).partition(".")[0] for node in ast.walk(tree) for one in _imported(node)}
    return {*names_read(tree)} - own - {*names_assigned(tree.body)} - _known(failure, of_file)


def _imported(node: ast.AST) -> list[ast.alias]:
    return node.names if isinstance(node, (ast.Import, ast.ImportFrom)) else []


def _known(failure: Failure, of_file: bool) -> set[str]:
    """Names that stand for something where the error came, in the functions around it, or elsewhere in the file."""
    names = {*_MODULES, *dir(builtins), *failure.variables, failure.name.partition(".")[0]}
    names |= {*parameters_of(failure.fn)}
    fn = getattr(failure.fn, "__wrapped__", failure.fn)
    names |= {*getattr(fn, "__globals__", ())}
    code = getattr(fn, "__code__", None)
    names |= {*code.co_varnames, *code.co_cellvars, *code.co_freevars} if code is not None else set()
    for place in failure.own:
        names |= {*place.frame.f_globals, *place.frame.f_locals}
    tree: ast.AST | None = failure.source.tree if failure.source is not None and of_file else None
    for node in ast.walk(tree) if tree is not None else ():
        names.add(getattr(node, "id", None) or getattr(node, "arg", None) or getattr(node, "name", None) or "")
    return names
