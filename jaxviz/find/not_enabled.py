"""Types of 64 bits that are asked for by name and not there, as JAX has them only where they are enabled.

JAX itself tells the lines while it traces. Of what it had traced before, as it has of many functions of its own, the
source tells those of which an equation is left.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache, partial

import numpy as np

from jaxviz.find.finding import ADVICE, NOTE, Finding, Line, Subject, lines_text
from jaxviz.graph import OPERATION, Graph

_WIDEST = frozenset({"float64", "int64", "uint64", "complex128"})
# Where a name or a text says a type: `jnp.float64`, `x.astype("float64")`.
_MODULES = frozenset({"jnp", "np", "numpy", "jax.numpy"})
# What these give is an array of NumPy, which has all types, or no array.
_OTHERS = ("np.", "numpy.", "jax.ShapeDtypeStruct")
# Functions and methods that are given a type without its keyword.
_TYPED = re.compile(r"(^|\.)(astype|zeros|ones|empty|full|array|asarray|arange|convert_element_type)$")


def find(subject: Subject) -> Iterator[Finding]:
    nodes: set[int] = set()
    asked: set[str] = set()
    for node, name in _read_in_source(subject):
        nodes.add(node)
        asked.add(name)
    lines = set(subject.lines(np.array(sorted(nodes), np.int32)))
    for one in subject.narrowed:
        file = subject.file(one.file)
        nodes.update(subject.nodes_at(file, one.line).tolist())
        asked.add(one.asked)
        lines |= {Line(file, one.line)} if file >= 0 else set()
    if not asked:
        return
    where = tuple(sorted(lines, key=lambda line: (line.file, line.line)))
    yield Finding(
        kind="precision",
        severity=NOTE if asked <= {"int64", "uint64"} else ADVICE,
        title=f"{' and '.join(sorted(asked))} is asked for, and is not there"
        + (f" ({lines_text(where)})" if where else ""),
        text="JAX computes with 32 bits unless 64 are enabled, and takes the narrower type without an error.",
        remedy='jax.config.update("jax_enable_x64", True) before anything is computed, or ask for 32 bits.',
        nodes=np.array(sorted(nodes), np.int32),
        lines=where,
    )


def _read_in_source(subject: Subject) -> Iterator[tuple[int, str]]:
    """The first equation of each line that asks for a type, and the type."""
    graph = subject.graph
    if _is_enabled(graph):
        return
    operations = np.flatnonzero((graph.nodes.kind == OPERATION) & (graph.nodes.outputs > 0))
    stacks, first = np.unique(graph.nodes.stack[operations], return_index=True)
    # Many call stacks end at one place of the person's.
    asked_by = cache(partial(_asked_by, subject))
    for stack, place in zip(stacks.tolist(), first.tolist(), strict=True):
        frame = subject.own_frame(stack)
        name = asked_by(frame) if frame >= 0 else ""
        if name:
            yield int(operations[place]), name


def _is_enabled(graph: Graph) -> bool:
    """Whether there is a value of 64 bits."""
    tables = graph.tables
    dtypes = np.array(tables.types.dtype, np.int64)[graph.values.type]
    return any(tables.strings[number] in _WIDEST for number in np.unique(dtypes).tolist())


def _asked_by(subject: Subject, frame: int) -> str:
    """The type that a statement asks JAX for, or the lambda in it: that need not be in the very expression."""
    statement, function = subject.statement_at(frame)
    node = function if isinstance(function, ast.Lambda) else statement
    if node is None or (hasattr(node, "body") and isinstance(node.body, list)):
        return ""
    calls = (one for one in ast.walk(node) if isinstance(one, ast.Call))
    return next((name for call in calls for given in _types_given(call) if (name := _type_named(given))), "")


def _types_given(call: ast.Call) -> Iterator[ast.expr]:
    """What a call is told of the type of its result."""
    name = ast.unparse(call.func)
    if not name.startswith(_OTHERS):
        yield call.func
        yield from (keyword.value for keyword in call.keywords if keyword.arg == "dtype")
        yield from call.args if _TYPED.search(name) else ()


def _type_named(node: ast.expr) -> str:
    """The type of 64 bits that an expression is the name of; empty where it is none."""
    name = node.value if isinstance(node, ast.Constant) else ""
    if isinstance(node, ast.Attribute) and ast.unparse(node.value) in _MODULES:
        name = node.attr
    return name if isinstance(name, str) and name in _WIDEST else ""
