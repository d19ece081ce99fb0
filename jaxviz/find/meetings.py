"""What random numbers meet entry by entry, as noise and masks do."""

from __future__ import annotations

from collections.abc import Iterator

from jaxviz.find.spread import Spread
from jaxviz.graph import RESULT

#: Operations that draw with a key, which is their first operand.
DRAWING = ("random_bits", "random_gamma")
#: Operations that go entry by entry or only give numbers another form: what was drawn is seen in their results.
ENTRYWISE = frozenset(
    {"add", "sub", "mul", "div", "max", "min", "pow", "integer_pow", "rem", "neg", "sign", "abs", "square", "sqrt"}
)
ENTRYWISE |= {"rsqrt", "cbrt", "exp", "exp2", "log", "log1p", "expm1", "tanh", "logistic", "sin", "cos", "erf"}
ENTRYWISE |= {"erf_inv", "floor", "ceil", "round", "lt", "le", "gt", "ge", "eq", "ne", "and", "or", "xor", "not"}
ENTRYWISE |= {"select_n", "clamp", "nextafter", "shift_left", "shift_right_logical", "shift_right_arithmetic"}
ENTRYWISE |= {"bitcast_convert_type", "convert_element_type", "broadcast_in_dim", "reshape", "squeeze", "expand_dims"}
ENTRYWISE |= {"transpose", "copy", "copy_p", "sharding_constraint", "pvary", "pcast", "optimization_barrier"}
# What is looked at, at most, to find out who reads what was drawn.
_STEPS = 2_000


def meetings(walk: Spread, drawn: int) -> Iterator[int]:
    """The values that meet, entry by entry, what was drawn or what is made of it so."""
    graph = walk.graph
    known, waiting = {drawn}, [drawn]
    while waiting and len(known) < _STEPS:
        value = waiting.pop()
        for reader in walk.readers(value):
            made: list[int] = []
            if graph.nodes.kind[reader] == RESULT:
                made = [walk.leaving[reader]] if reader in walk.leaving else []
            elif reader in graph.owned_regions:
                made = walk.arguments.get((reader, value), [])
            elif walk.op(reader) in ENTRYWISE:
                made = [int(graph.first_value[reader])]
                yield from (one for one in walk.operands(reader) if one >= 0 and one not in known)
            waiting += [one for one in made if one not in known]
            known.update(made)
