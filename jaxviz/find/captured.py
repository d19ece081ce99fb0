"""Arrays that a function captured: they are baked into what is compiled, as constants."""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np

from jaxviz.find.finding import ADVICE, WARNING, Finding, Subject, lines_text
from jaxviz.graph import CONSTANT
from jaxviz.units import bytes_text

# Bytes from which a constant is worth a word, and from which it costs compile time and memory that one notices.
_LARGE, _HUGE = 100_000, 10_000_000


_ROOT = re.compile(r"self\.\w+|\w+")
_MODULE = re.compile(r"a variable of the module `(.+)`")


def find(subject: Subject) -> Iterator[Finding]:
    """One finding for each variable that large arrays come from; a body that reads one too is about the same."""
    graph, types, strings = subject.graph, subject.graph.tables.types, subject.graph.tables.strings
    arrays: dict[tuple[str, str, int], list[int]] = {}
    for node in np.flatnonzero(graph.nodes.kind == CONSTANT).tolist():
        type_ = int(graph.values.type[graph.first_value[node]])
        name = strings[graph.nodes.name[node]]
        # Two without a name may be two arrays.
        root = _root(name, graph.node(node).attributes.get("scope", "")) if name else f"{node}"
        arrays.setdefault((root, name, type_), []).append(node)
    roots: dict[str, list[tuple[str, int, list[int]]]] = {}
    for (variable, name, type_), nodes in arrays.items():
        roots.setdefault(variable, []).append((name, type_, nodes))
    for variable, members in roots.items():
        if sum(max(types.bytes[type_], 0) for _, type_, _ in members) >= _LARGE:
            yield _finding(subject, variable, members)


def _root(name: str, scope: str) -> str:
    """The variable that an array is found in; of one that is read through its module, both."""
    module = _MODULE.fullmatch(scope)
    through = f"{module[1]}." if module and name.startswith(f"{module[1]}.") else ""
    root = _ROOT.match(name, len(through))
    return through + root[0] if root else name


def _finding(subject: Subject, root: str, members: list[tuple[str, int, list[int]]]) -> Finding:
    graph, tables = subject.graph, subject.graph.tables
    nodes = [node for _, _, found in members for node in found]
    size = sum(max(tables.types.bytes[type_], 0) for _, type_, _ in members)
    name, type_, (first, *_) = members[0]
    lines = subject.lines(_readers(subject, nodes))
    where = f" ({lines_text(lines)})" if lines else ""
    scope = graph.node(first).attributes.get("scope", "")
    of = f" ({scope})" if scope else ""
    severity = WARNING if size >= _HUGE else ADVICE
    figures = {"bytes": size, "arrays": len(members)}
    if not name:
        return Finding(
            kind="captured",
            severity=severity,
            title=f"an array ({tables.type_text(type_)}, {bytes_text(size)}) is baked in as a constant{where}",
            text=(
                "No variable around the function holds it, so it was made while JAX traced: what NumPy makes is "
                "computed at once, and the numbers of a list are there already. Its "
                f"{bytes_text(size)} are part of the compiled program, and each compilation carries a copy."
            ),
            remedy="Compute it inside of the function by jax.numpy, as jnp.full and jnp.arange do; or make it once "
            "outside and pass it as an argument.",
            nodes=np.array(nodes, np.int32),
            lines=lines,
            figures=figures,
        )
    alone = len(members) == 1
    what = f"`{name}`" if alone else f"`{root}`"
    type_text = f"{tables.type_text(type_)}, " if alone else f"{len(members)} arrays, "
    passed = f"`{root}`" if root.isidentifier() and root != "argument" else "it"
    return Finding(
        kind="captured",
        severity=severity,
        title=f"{what} ({type_text}{bytes_text(size)}) {'is' if alone else 'are'} baked in as "
        f"{'a constant' if alone else 'constants'}{where}",
        text=(
            f"The function takes {what}{of} from around it, not as an argument. Its {bytes_text(size)} are part of the "
            "compiled program: a change of it is not seen, and each compilation carries a copy."
        ),
        remedy=f"Pass {passed} as an argument{_made_inside(subject, nodes)}.",
        nodes=np.array(nodes, np.int32),
        lines=lines,
        figures=figures,
    )


def _made_inside(subject: Subject, nodes: list[int]) -> str:
    """How one array with the same number everywhere is made where it is needed; empty for others."""
    graph, tables = subject.graph, subject.graph.tables
    fill = graph.node(nodes[0]).attributes.get("fill")
    if len(nodes) != 1 or fill is None:
        return ""
    type_ = int(graph.values.type[graph.first_value[nodes[0]]])
    if fill.endswith(("inf", "nan")):
        fill = fill.replace("inf", "jnp.inf").replace("nan", "jnp.nan")
    made = f"jnp.full({tables.types.dims[type_]}, {fill}, {tables.strings[tables.types.dtype[type_]]!r})"
    return f"; or, as all of its entries are {fill}, make it inside of the function: {made}"


def _readers(subject: Subject, nodes: list[int]) -> np.ndarray:
    """The nodes that read what these make."""
    graph = subject.graph
    values = graph.first_value[nodes]
    return graph.operand_node[np.isin(graph.operands.source, values)]
