"""A function masked with `where` after it was applied: its gradient is NaN where the mask should have helped.

`where(x > 0, log(x), 0)` is right; its gradient at 0 is 0 times infinity, because the derivative of the logarithm is
computed for all entries, and only then masked.
"""

from __future__ import annotations

from collections.abc import Iterator

from jaxviz.find.finding import WARNING, Finding, Subject
from jaxviz.find.flow import SAME

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
            steep = _steep(subject, case)
            if steep is not None and (compared & _values_of(subject, steep) or _is_shifted(subject, choice, steep)):
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
    return {flow.origin(side) for side in sides if flow.number(side) is None}


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


def _steep(subject: Subject, case: int) -> int | None:
    flow = subject.flow
    source = flow.origin(case, SAME | {"mul", "neg"})
    if source < 0:
        return None
    maker = int(subject.graph.value_node[source])
    return maker if flow.op(maker) in _STEEP else None


def _values_of(subject: Subject, steep: int) -> set[int]:
    """What a mask may be made of: the value that makes the function steep, and what the function gives."""
    return {_argument(subject, steep), int(subject.graph.first_value[steep])}


def _argument(subject: Subject, steep: int) -> int:
    """The value that makes the function steep. Whole powers have no steep place but 0, where they have none."""
    flow = subject.flow
    return flow.origin(flow.operands(steep)[_STEEP[flow.op(steep)]])
