"""A graph for other tools: networkx, and the DOT language of Graphviz."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from jaxviz.graph import Graph


class MissingLibrary(RuntimeError):
    """A library is not installed."""


def to_networkx(graph: Graph) -> Any:
    """A `networkx.MultiDiGraph` with a node for each node of the graph, and an edge for each value that one reads.

    Nodes have `kind`, `op`, `name`, `types`, `region` (the number of the one that it stands in, 0 for the
    program), `line` and the attributes of the operation; edges have the `value`, its `type`, and `operand`, its place.
    """
    try:
        networkx = importlib.import_module("networkx")
    except ImportError:
        raise MissingLibrary("to_networkx needs networkx, which is not installed: pip install networkx") from None
    made = networkx.MultiDiGraph()
    types: dict[int, str] = {}
    nodes = list(graph)
    for node in nodes:
        types.update(zip(node.values, node.types, strict=True))
        made.add_node(
            node.index,
            kind=node.kind,
            op=node.op,
            name=node.name,
            types=list(node.types),
            region=node.region,
            line=node.line,
            attributes=dict(node.attributes),
        )
    for node in nodes:
        for place, value in enumerate(node.operands):
            if value >= 0:
                maker = int(graph.value_node[value])
                made.add_edge(maker, node.index, value=value, type=types.get(value, ""), operand=place)
    return made


def to_dot(graph: Graph, title: str = "") -> str:
    """The graph in the DOT language, regions as clusters; `dot -Tsvg` draws it."""
    nodes = list(graph)
    lines = ["digraph {", f"  label={_quoted(title)};", '  node [shape=box, fontname="sans-serif"];']
    members: dict[int, list[Any]] = {}
    for node in nodes:
        members.setdefault(node.region, []).append(node)

    def write(region: int, indent: str) -> None:
        for node in members.get(region, ()):
            lines.append(f"{indent}n{node.index} [label={_quoted(_label(node))}{_shape(node)}];")
            for number in node.regions:
                inner = graph.region(number)
                lines.append(f"{indent}subgraph cluster_{number} {{")
                lines.append(f"{indent}  label={_quoted(' '.join(filter(None, (node.op, inner.kind, inner.name))))};")
                write(number, indent + "  ")
                lines.append(f"{indent}}}")

    write(0, "  ")
    for node in nodes:
        read = [int(graph.value_node[value]) for value in node.operands if value >= 0]
        lines += [f"  n{maker} -> n{node.index};" for maker in read]
    return "\n".join([*lines, "}", ""])


def _label(node: Any) -> str:
    title = node.name if node.kind != "operation" and node.name else node.op
    return f"{title}\n{', '.join(node.types)}" if node.types else title


def _shape(node: Any) -> str:
    return "" if node.kind == "operation" else ", shape=plaintext"


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'
