"""What is kept for a backward pass by the schema of a document, both ways."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from jaxviz.document.memory import amounts_of
from jaxviz.document.model import ResidualsEntry
from jaxviz.graph import Column, Graph

if TYPE_CHECKING:
    from jaxviz.document.read import JsonReader

_AMOUNTS = ("bytes", "equations", "flops", "host")
# Nobody differentiates as often.
_MOST_WAYS = 1_000


def residuals_json(entry: ResidualsEntry) -> dict[str, Any]:
    """What is kept of one graph, and what each policy would keep."""
    return {
        "graph": entry.graph,
        "node": [value.node for value in entry.values],
        "size": [int(value.bytes) for value in entry.values],
        "order": [value.order for value in entry.values],
        "policies": [
            {
                "name": policy.name,
                **{name: int(getattr(policy, name)) for name in _AMOUNTS},
                "saved": policy.saved.tolist(),
                **_runs(policy.recomputed),
            }
            for policy in entry.policies
        ],
    }


def _runs(nodes: Column) -> dict[str, list[int]]:
    """Nodes that mostly stand next to each other: the first of each run, and how many it has."""
    breaks = np.flatnonzero(np.diff(nodes) != 1) + 1
    starts = np.concatenate([[0], breaks]) if len(nodes) else breaks
    return {"first": nodes[starts].tolist(), "count": np.diff(np.append(starts, len(nodes))).tolist()}


def read_residuals(reader: JsonReader, value: Any, position: str, graphs: tuple[Graph, ...]) -> ResidualsEntry:
    """What is kept of one graph, each thing checked as it is taken."""
    from jaxviz.costs.residuals import Policy, Residual

    if not isinstance(value, dict):
        raise reader.fail(position, "an object")
    graph = reader.number(value, "graph", position, 0, len(graphs))
    nodes = len(graphs[graph])
    node = reader.bounded(value, "node", position, 0, nodes)
    size = amounts_of(reader, value, "size", position)
    order = reader.bounded(value, "order", position, 1, _MOST_WAYS)
    if not len(node) == len(size) == len(order):
        raise reader.fail(position, "columns of one length")
    values = tuple(
        Residual(one, float(bytes_), way) for one, bytes_, way in zip(node.tolist(), size, order.tolist(), strict=True)
    )
    policies = []
    for number, policy in enumerate(reader.list(value, "policies", position)):
        at = f"{position}.policies[{number}]"
        if not isinstance(policy, dict):
            raise reader.fail(at, "an object")
        name = reader.text(policy, "name", at)
        amounts = {key: reader.number(policy, key, at, 0, None) for key in _AMOUNTS}
        first, count = reader.bounded(policy, "first", at, 0, nodes), reader.bounded(policy, "count", at, 1, nodes + 1)
        if len(first) != len(count) or (len(first) and int((first + count).max()) > nodes):
            raise reader.fail(at, "runs of nodes of the graph")
        again = [np.arange(start, start + length) for start, length in zip(first.tolist(), count.tolist(), strict=True)]
        policies.append(
            Policy(
                name,
                float(amounts["bytes"]),
                amounts["equations"],
                float(amounts["flops"]),
                float(amounts["host"]),
                reader.bounded(policy, "saved", at, 0, nodes),
                np.concatenate([*again, []]).astype(np.int32),
            )
        )
    return ResidualsEntry(graph, values, tuple(policies))
