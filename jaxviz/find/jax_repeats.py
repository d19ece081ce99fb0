"""Repeats in optimized HLO that JAX makes itself, which are no loop of the person's: the turns that `unroll=` of a loop
of JAX asked for, which then is around them, and what one of its functions repeats, as the terms of a series.

All of what one function of JAX makes comes from one call of the person's. Its parts that are functions of their own are
traced once, though, so that they may have the places of the call that was the first to need them, in this program or
in another one.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Set
from itertools import combinations, islice

import numpy as np

from jaxviz.find.finding import Subject
from jaxviz.graph import OPERATION, Column
from jaxviz.tables import Tables

# How JAX marks, in name stacks, what stands in the body of one of its loops, and a function of its own.
# From JAX 0.12 on, the turns that it was asked to unroll are `eval_jaxpr`.
_BODIES = frozenset({"while", "scan", "closed_call", "eval_jaxpr"})
_JITTED = re.compile(r"\bjit\(([^()]+)\)")
# What it calls a whole program, within the name that this has; and a function that a class has.
_MAIN, _METHOD = "main", "__call__"

Path = tuple[int, ...]


def made_by_jax(subject: Subject, first: Column, end: Column) -> bool:
    """Whether it may be JAX itself that repeats these copies."""
    inside = _operations(subject, int(first[0]), int(end[-1]))
    places = _places(subject, inside)
    if any(not _BODIES.isdisjoint(scope.split("/")) for scope, _ in places):
        return True
    return len(inside) > len(first) and _is_one_call(subject, places)


def stacks_of_another(subject: Subject, first: int, end: int) -> set[int]:
    """The call stacks in an interval of nodes that are those of another program, for which JAX traced a function of its
    own: what they begin with, and a loop around that, has not made this one."""
    graph = subject.graph
    tables, nodes = graph.tables, graph.nodes
    inside = _operations(subject, first, end)
    known = {tables.strings[function] for function in set(tables.frames.function)}
    found = set()
    for scope, stack in set(zip(nodes.scope[inside].tolist(), nodes.stack[inside].tolist(), strict=True)):
        program, _, rest = tables.strings[scope].partition("/")
        name = program.removeprefix("jit(").removesuffix(")")
        functions = _functions(tables, tuple(subject.own_frames(stack)))
        if functions and rest and name in known - functions and _function_of_jax(tables.strings[scope], functions):
            found.add(stack)
    return found


def _operations(subject: Subject, first: int, end: int) -> Column:
    inside = np.arange(first, end)
    return inside[subject.graph.nodes.kind[inside] == OPERATION]


def _places(subject: Subject, inside: Column) -> list[tuple[str, Path]]:
    """The scopes of operations, each with the person's own frames."""
    nodes, strings = subject.graph.nodes, subject.graph.tables.strings
    found = np.unique(np.stack([nodes.scope[inside], nodes.stack[inside]]), axis=1).T.tolist()
    return [(strings[scope], tuple(subject.own_frames(stack))) for scope, stack in found]


def _functions(tables: Tables, path: Path) -> set[str]:
    return {tables.strings[tables.frames.function[frame]] for frame in path}


def _is_one_call(subject: Subject, places: Iterable[tuple[str, Path]]) -> bool:
    """Whether one call of the person's may make all that has these scopes and stacks."""
    tables = subject.graph.tables
    found = {(_function_of_jax(scope, _functions(tables, path)), path) for scope, path in places if path}
    return all(
        (one and one == other) or _may_be_one(tables, path, elsewhere)
        for (one, path), (other, elsewhere) in combinations(found, 2)
    )


def _function_of_jax(scope: str, functions: Set[str]) -> str:
    """The outermost function of JAX's own that a scope is in, with what is around it; empty where it is in none.

    A function of the person's is among those whose frames are on the stack.
    """
    if _METHOD in functions:
        return ""
    for found in _JITTED.finditer(scope, scope.find("/") + 1):
        name = found[1]
        if name != _MAIN and not name.startswith("<") and name not in functions:
            return scope[: found.end()]
    return ""


def _may_be_one(tables: Tables, path: Path, other: Path) -> bool:
    """Whether two call stacks may be those of one call: one goes on where the other ends, or they part in two
    functions, as where one is of another call that JAX traced before."""
    function, file = tables.frames.function, tables.frames.file
    parted = ((one, two) for one, two in zip(path, other, strict=False) if one != two)
    return all(function[one] != function[two] or file[one] != file[two] for one, two in islice(parted, 1))
