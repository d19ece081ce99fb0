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
    nodes, strings = subject.graph.nodes, subject.graph.tables.strings
    inside = np.arange(first[0], end[-1])
    inside = inside[nodes.kind[inside] == OPERATION]
    places = np.unique(np.stack([nodes.scope[inside], nodes.stack[inside]]), axis=1).T.tolist()
    if any(not _BODIES.isdisjoint(strings[scope].split("/")) for scope, _ in places):
        return True
    return len(inside) > len(first) and _is_one_call(subject, places)


def _is_one_call(subject: Subject, places: Iterable[tuple[int, int]]) -> bool:
    """Whether one call of the person's may make all that has these scopes and stacks."""
    tables = subject.graph.tables
    strings, functions = tables.strings, tables.frames.function
    found: set[tuple[str, Path]] = set()
    for scope, stack in places:
        path = tuple(subject.own_frames(stack))
        if path:
            found.add((_function_of_jax(strings[scope], {strings[functions[frame]] for frame in path}), path))
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
