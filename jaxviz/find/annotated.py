"""How an argument should come in for an annotation of the program to move nothing: as the annotation has it, where what
it annotates is computed of that argument entry by entry."""

from __future__ import annotations

from jaxviz.find.finding import Subject
from jaxviz.find.meetings import ENTRYWISE
from jaxviz.find.placement import Placed, cuts_of, placements, spec, words
from jaxviz.graph import OPERATION

# What an annotation calls the sharding that it asks for.
_ASKED = ("sharding", "dst_sharding")
# Operations whose entries stand where those that they are computed of do, and lie on the same devices.
_IN_PLACE = ENTRYWISE - {"transpose", "reshape", "sharding_constraint"}
# Values that are looked at on the way back to arguments.
_STEPS = 200


def as_asked(subject: Subject, node: int) -> str:
    """What to write for an annotation to move nothing; empty where that is not known."""
    assert subject.compiled is not None  # it was compiled, else nothing is moved
    attributes = subject.graph.node(node).attributes
    asked = cuts_of(next((attributes[key] for key in _ASKED if key in attributes), ""))
    placed = placements(subject.compiled)
    arguments = {name: placed[name] for name in _made_of(subject, node) if name in placed}
    moved = [one for one in arguments.values() if one.cuts != asked]
    if not asked or len(moved) != 1 or not moved[0].cuts:
        return ""
    return _told(moved[0], spec(asked, len(moved[0].shape)))


def _told(one: Placed, wanted: str) -> str:
    return (
        f"`{one.name}` comes in with {words(one.cuts)}, and what is annotated is computed of it entry by entry. Let it "
        f"come as {wanted}, in in_shardings of jax.jit or with jax.device_put, and nothing is exchanged."
    )


def _made_of(subject: Subject, node: int) -> set[str]:
    """The names of the arguments of the same shape that an annotated value is computed of, entry by entry; none where
    it is computed of anything else but numbers."""
    flow, graph = subject.flow, subject.graph
    shape = flow.dims(flow.operands(node)[0])
    names, known, waiting = set[str](), set[int](), list(flow.operands(node)[:1])
    while waiting:
        source = flow.back(waiting.pop())
        if source in known or flow.number(source) is not None:
            continue
        known.add(source)
        maker = int(graph.value_node[source])
        if flow.is_argument(source) and flow.dims(source) == shape:
            names.add(graph.tables.strings[graph.nodes.name[maker]])
        elif graph.nodes.kind[maker] != OPERATION or flow.op(maker) not in _IN_PLACE or flow.dims(source) != shape:
            return set()
        else:
            waiting += flow.operands(maker)
        if len(known) > _STEPS:
            return set()
    return names
