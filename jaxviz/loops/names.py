"""What the person calls the values that a turn of a loop makes: the variables that the source assigns them to."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable

import numpy as np

from jaxviz.graph import RESULT, Graph
from jaxviz.outline.written.source import Place, Source, source_of

# The first entry on a path, and the rest.
_ENTRY = re.compile(r"\[(\d+)\](.*)")


def variables_of(graph: Graph, node: int, lines: range = range(0)) -> tuple[str, ...]:
    """A name for each value of a node, empty where nobody knows one; what is assigned on one of `lines` comes first.

    In `x = f(x)`, what `f` makes at its end is `x`, whatever it is called inside of `f`.
    """
    tables, count = graph.tables, int(graph.nodes.outputs[node])
    paths = _paths(graph, node)
    frames, stacks, stack = tables.frames, tables.stacks, int(graph.nodes.stack[node])
    inner: tuple[str, ...] = ()
    while stack >= 0:
        frame, stack = stacks.frame[stack], stacks.parent[stack]
        if tables.files.library[frames.file[frame]]:
            continue
        place = frames.line[frame], frames.column[frame], frames.end_line[frame], frames.end_column[frame]
        names = _assigned(source_of(tables, frames.file[frame]), place, paths)
        if names and frames.line[frame] in lines:
            return names
        inner = inner or names
    return inner or ("",) * count


def _paths(graph: Graph, node: int) -> tuple[str, ...]:
    """Where each value of a node is in what it gives, as in `[0]['w']`: the results of its body are called so."""
    count = int(graph.nodes.outputs[node])
    for region in graph.owned_regions.get(node, ()):
        results = np.flatnonzero((graph.nodes.region == region) & (graph.nodes.kind == RESULT))
        names = [graph.tables.strings[graph.nodes.name[result]] for result in results.tolist()]
        if len(names) == count and count > 1 and all(name.startswith("result") for name in names):
            return tuple(name.removeprefix("result") for name in names)
    return ("",) * count


def _assigned(source: Source, place: Place, paths: tuple[str, ...]) -> tuple[str, ...]:
    """The variables that the values of the statement at a place go to, by where they are in what it gives."""
    statement = source.find(place).statement
    if isinstance(statement, (ast.AugAssign, ast.AnnAssign)):
        target: ast.expr = statement.target
    elif isinstance(statement, ast.Assign) and len(statement.targets) == 1:
        target = statement.targets[0]
    else:
        return ()
    if isinstance(target, ast.Name):
        return tuple(target.id + path for path in paths)
    if not isinstance(target, (ast.Tuple, ast.List)) or not isinstance(statement, ast.Assign):
        return ()
    if isinstance(statement.value, (ast.Tuple, ast.List)) and len(statement.value.elts) == len(target.elts):
        names = [one.id if isinstance(one, ast.Name) else "" for one in target.elts]
        return next(
            (
                (name,) * len(paths)
                for name, value in zip(names, statement.value.elts, strict=True)
                if _is_in(source, place, value)
            ),
            (),
        )
    return tuple(_named(target, path) for path in paths)


def _named(target: ast.expr, path: str) -> str:
    """What stands at a path of what is taken apart: `ys` for `[1][0]` of `h, (ys, zs)`; empty where nothing does."""
    while isinstance(target, (ast.Tuple, ast.List)):
        entry = _ENTRY.match(path)
        # Behind a star, nobody knows which is which.
        if entry is None or any(isinstance(one, ast.Starred) for one in target.elts):
            return ""
        if int(entry[1]) >= len(target.elts):
            return ""
        target, path = target.elts[int(entry[1])], entry[2]
    return target.id + path if isinstance(target, ast.Name) else ""


def _is_in(source: Source, place: Place, value: ast.expr) -> bool:
    line, column, end_line, end_column = source.place_of(value)
    return (line, column) <= place[:2] and place[2:] <= (end_line, end_column)


def each_once(names: Iterable[str]) -> list[str]:
    """Names of which no two are equal, and none is empty."""
    found: list[str] = []
    for name in names:
        name = name or "carried"
        number = 1
        unique = name
        while unique in found:
            number += 1
            unique = f"{name}_{number}"
        found.append(unique)
    return found
