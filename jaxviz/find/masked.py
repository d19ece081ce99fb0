"""A function masked with `where` after it was applied: its gradient is NaN where the mask should have helped.

`where(x > 0, log(x), 0)` is right; its gradient at 0 is 0 times infinity, because the derivative of the logarithm is
computed for all entries, and only then masked.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from jaxviz.find.finding import WARNING, Finding, Subject
from jaxviz.find.flow import SAME
from jaxviz.graph import OPERATION

# Functions whose derivative is infinite or NaN somewhere, and which of their operands that depends on.
_STEEP = {"log": 0, "sqrt": 0, "rsqrt": 0, "div": 1, "acos": 0, "asin": 0, "atanh": 0, "pow": 0, "log1p": 0, "cbrt": 0}
# How each is written of a value that is safe for it, and such a value.
_SAFELY = {
    "log": ("jnp.log(safe)", "1.0"),
    "sqrt": ("jnp.sqrt(safe)", "1.0"),
    "rsqrt": ("jax.lax.rsqrt(safe)", "1.0"),
    "div": ("y / safe", "1.0"),
    "acos": ("jnp.arccos(safe)", "0.0"),
    "asin": ("jnp.arcsin(safe)", "0.0"),
    "atanh": ("jnp.arctanh(safe)", "0.0"),
    "pow": ("safe**y", "1.0"),
    "log1p": ("jnp.log1p(safe)", "0.0"),
    "cbrt": ("jnp.cbrt(safe)", "1.0"),
}
# Those that are infinite themselves where they are steep.
_INFINITE = frozenset({"log", "rsqrt", "div", "atanh", "log1p"})
# What makes each entry of one entry: where its result is masked, what comes back to its operands is zero.
_ENTRY_BY_ENTRY = frozenset(_STEEP) | {"mul", "neg", "add", "add_any", "sub", "integer_pow", "square", "abs"}
_ENTRY_BY_ENTRY |= {"exp", "exp2", "tanh", "logistic", "sin", "cos"}
# The size of a value is compared for the value.
_SIZE = SAME | {"abs"}
# Values that are looked at behind one mask.
_STEPS = 64
_COMPARISONS = frozenset({"lt", "le", "gt", "ge", "eq", "ne"})


def find(subject: Subject) -> Iterator[Finding]:
    flow = subject.flow
    if not subject.has_gradient:
        return
    found, names = [], set()
    masks = {node: flow.origin(flow.operands(node)[0]) for node in flow.nodes("select_n")}
    # The mask of what is differentiated comes back with its derivative.
    come_back = {mask for node, mask in masks.items() if subject.is_backward(node)}
    for node, mask in masks.items():
        if mask not in come_back or subject.is_backward(node) or not subject.is_own(node):
            continue
        choice, *cases = flow.operands(node)
        compared = _compared(subject, choice)
        for case in cases:
            for steep in _steep(subject, case):
                asked = compared & _values_of(subject, steep) or _is_shifted(subject, choice, steep)
                if asked and _is_differentiated(subject, steep):
                    found += [steep, node]
                    names.add(flow.op(steep))
    if found:
        name = " and ".join(sorted(names))
        code, safe = _SAFELY[min(names)]
        yield subject.told(
            kind="masked",
            severity=WARNING,
            title=f"the gradient is NaN where `where` masks {name}",
            text=(
                f"The derivative of {name} is computed for the masked entries too; there it is infinite, and times the "
                "zero of the mask it is NaN."
            ),
            remedy=f"Mask what goes in as well: safe = jnp.where(ok, x, {safe}); jnp.where(ok, {code}, 0.0).",
            nodes=set(found),
        )


def _compared(subject: Subject, choice: int) -> set[int]:
    """The values that a mask was made by comparing with a number."""
    flow = subject.flow
    source = flow.origin(choice)
    if source < 0:
        return set()
    maker = int(subject.graph.value_node[source])
    if flow.op(maker) == "is_finite":
        return {flow.origin(flow.operands(maker)[0])}
    if flow.op(maker) not in _COMPARISONS:
        return set()
    sides = flow.operands(maker)
    if not any(flow.number(side) is not None for side in sides):
        return set()
    return {flow.origin(side, through) for side in sides if flow.number(side) is None for through in (SAME, _SIZE)}


def _is_shifted(subject: Subject, choice: int, steep: int) -> bool:
    """Whether a mask compares with the very number that is taken off before: `where(x > 2, sqrt(x - 2), 0)`."""
    flow, value_node = subject.flow, subject.graph.value_node
    mask, argument = flow.origin(choice), _argument(subject, steep)
    if mask < 0 or argument < 0:
        return False
    asking, taking = int(value_node[mask]), int(value_node[argument])
    if flow.op(asking) not in _COMPARISONS or flow.op(taking) not in ("add", "sub"):
        return False
    (compared, number), (shifted, taken) = flow.operands(asking), flow.operands(taking)
    bound, shift = flow.number(number), flow.number(taken)
    if bound is None or shift is None or flow.origin(compared) != flow.origin(shifted):
        return False
    return bool(shift == (bound if flow.op(taking) == "sub" else -bound))


def _steep(subject: Subject, case: int) -> Iterator[int]:
    """What is steep somewhere among what one case of a mask is computed by, entry by entry."""
    flow, graph = subject.flow, subject.graph
    waiting, known = [case], set[int]()
    while waiting and len(known) < _STEPS:
        source = flow.origin(waiting.pop())
        if source < 0 or source in known:
            continue
        known.add(source)
        maker = int(graph.value_node[source])
        if graph.nodes.kind[maker] != OPERATION:
            continue
        if flow.op(maker) in _STEEP:
            yield maker
        if flow.op(maker) in _ENTRY_BY_ENTRY:
            waiting += flow.operands(maker)


def _is_differentiated(subject: Subject, steep: int) -> bool:
    """Whether a derivative comes from the same place; or what is infinite there is a factor of one."""
    graph = subject.graph
    nodes = graph.nodes
    if np.count_nonzero((nodes.stack == nodes.stack[steep]) & (nodes.kind == OPERATION)) > 1:
        return True
    if subject.flow.op(steep) not in _INFINITE:
        return False
    return any(map(subject.is_backward, graph.readers(graph.first_value[steep])))


def _values_of(subject: Subject, steep: int) -> set[int]:
    """What a mask may be made of: the value that makes the function steep, and what the function gives."""
    return {_argument(subject, steep), int(subject.graph.first_value[steep])}


def _argument(subject: Subject, steep: int) -> int:
    """The value that makes the function steep. Whole powers have no steep place but 0, where they have none."""
    flow = subject.flow
    return flow.origin(flow.operands(steep)[_STEEP[flow.op(steep)]])
