"""The functions that an opened program says it calls: in its name stacks, `jit(f)/jit(_where)/select_n`, and in the
names of what its calls enter. What has no name in the source, or whose source is not here, is called by them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from jaxviz.graph import OPERATION, Column, Graph
from jaxviz.outline.calls.modules import MACHINERY
from jaxviz.outline.written.expressions import GENERIC
from jaxviz.read.tag_text import GENERATOR

Functions = tuple[str, ...]

_CALL = re.compile(r"(?:p?jit)\((.+)\)\Z", re.DOTALL)
# What tells the functions of one module apart that have one name: `relu_3`, `relu.12`, `relu.12.clone`.
_NUMBER = re.compile(r"(?:[._]\d+|\.clone)+\Z")
# What XLA makes of `main.<locals>.step`, and of `jvp(jit(relu))`.
_DEFINED_IN = "__locals__"
_TRANSFORMED = re.compile(r"\A(?:(?:jvp|transpose|vmap)_)*jit_")
# How JAX calls random numbers by what makes them: `_threefry_split`.
_GENERATOR = re.compile(r"(?:threefry|philox|rbg)_(?=[a-z])")
_OF_COMPILER = re.compile(r"(?:wide\.)*(?:region|fused_computation|computation|body|cond(?:ition)?|main|None)\b")


def function_name(name: str) -> str:
    """What people call a function that JAX or XLA calls so; empty where that says nothing.

    >>> function_name("_where_3"), function_name("jit__threefry_split_.1"), function_name("region_0.4")
    ('where', 'split', '')
    """
    name = _NUMBER.sub("", name)
    name = name.rpartition(_DEFINED_IN)[2]
    name = (_TRANSFORMED.sub("", name) if name.endswith("_") else name).strip("_")
    name = _GENERATOR.sub("", name)
    return "" if name in GENERIC or name in MACHINERY or "<" in name or _OF_COMPILER.match(name) else name


def called_in(parts: Iterable[str]) -> Functions:
    """The functions in a part of a name stack, outermost first."""
    found = (_CALL.search(part) for part in parts)
    return tuple(name for call in found if call and (name := function_name(call[1].rstrip(")"))))


def name_of_call(primitive: str, label: str) -> str:
    """What a call enters, by the last part of its name stack, or by the name that it has itself."""
    return next(iter(called_in([primitive])), "") or function_name(label) or function_name(primitive)


def makes_random(graph: Graph) -> NDArray[np.bool_]:
    """Of each region whether it is in a function of JAX that makes random numbers: what that calls has the name of
    who asked for some first, in whichever program."""
    strings, regions = graph.tables.strings, graph.regions
    found = np.zeros(len(regions.owner), bool)
    for number, owner in enumerate(regions.owner.tolist()):
        if owner >= 0:
            names = strings[regions.name[number]], strings[graph.nodes.name[owner]], strings[graph.nodes.scope[owner]]
            of_generator = any(GENERATOR.match(_TRANSFORMED.sub("", name)) for name in names[:2])
            called = _CALL.search(names[2].rpartition("/")[2])
            of_generator = of_generator or (called is not None and GENERATOR.match(called[1]) is not None)
            found[number] = found[graph.nodes.region[owner]] or of_generator
    return found


@dataclass(frozen=True, eq=False)
class Called:
    """Of each node the functions that it is in: a row of `functions`, -1 where nothing is said of it."""

    functions: list[Functions]
    row: Column


def called_functions(graph: Graph, parts: list[tuple[str, ...]], primitives: list[str], row: Column) -> Called:
    """The functions that each node is in, by its row of scopes, and by the calls that it stands in."""
    strings, names = graph.tables.strings, graph.nodes.name.tolist()
    owners, region, rows = graph.regions.owner.tolist(), graph.nodes.region.tolist(), row.tolist()
    own = [called_in(one) for one in parts]
    functions: dict[Functions, int] = {(): 0}
    inside: list[Functions] = [()]
    found = np.full(len(graph), -1, np.int32)
    says = (graph.nodes.scope > 0) | (graph.nodes.region > 0)

    def of(node: int) -> Functions:
        around = inside[region[node]]
        mine = own[rows[node]]
        # Before optimization what is called has name stacks that begin inside.
        return mine if mine[: len(around)] == around else around + mine

    random = makes_random(graph)
    for owner in owners[1:]:
        around = of(owner)
        if strings[graph.nodes.op[owner]] in ("call", "composite") and not random[region[owner]]:
            name = name_of_call(primitives[rows[owner]], strings[names[owner]])
            around = (*around, name) if name and around[-1:] != (name,) else around
        inside.append(around)
    for node in np.flatnonzero(says & (graph.nodes.kind == OPERATION)).tolist():
        found[node] = functions.setdefault(of(node), len(functions))
    return Called(list(functions), found)
