"""The names that instructions have in the program that runs.

The graph is of the module before code is written for it. What is done to the module after that may number some
instructions anew, and where a function is called several times those of the calls may be numbered in another order, so
that a name is there but is that of another. Events are named as the module ends up: both are gone through side by side.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from jaxviz.read.hlo.module import HloError, HloModule
from jaxviz.read.hlo.text import parse_hlo_text

_DEFINED = re.compile(r"^\s*(?:ROOT )?%?([^\s=]+) = ", re.MULTILINE)


def names_as_run(module: HloModule, text: str) -> Mapping[str, str]:
    """For instructions that have another name in the text of the program that runs: that name, with the own one.

    >>> from jaxviz.read.hlo.text import parse_hlo_text
    >>> text = "HloModule m\\nENTRY e {\\n  p = f32[8] parameter(0)\\n  ROOT n = f32[8] negate(p)\\n}"
    >>> names_as_run(parse_hlo_text(text), text.replace("n =", "n.1 ="))
    {'n.1': 'n'}
    """
    if _DEFINED.findall(text) == [name for computation in module.computations for name in computation.names]:
        return {}
    try:
        other = parse_hlo_text(text)
    except HloError:
        return {}
    found: dict[str, str] = {}
    known: set[tuple[int, int]] = set()
    waiting = [(module.entry, other.entry)]
    while waiting:
        pair = waiting.pop()
        if pair in known:
            continue
        known.add(pair)
        own, run = module.computations[pair[0]], other.computations[pair[1]]
        if own.opcodes != run.opcodes:
            continue
        found |= {there: here for here, there in zip(own.names, run.names, strict=True) if here != there}
        for here, there in zip(own.calls, run.calls, strict=True):
            if [role for role, _ in here] == [role for role, _ in there]:
                waiting += [(one, another) for (_, one), (_, another) in zip(here, there, strict=True)]
    return found
