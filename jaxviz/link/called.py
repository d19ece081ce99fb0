"""A snapshot of the computations that are called, in which names say whose they are.

Names in what is called, or applied to two elements, begin anew: of a function that is called twice, the sum of two
elements has one name in both calls. From the program on, each name is that of what calls or applies it, then its own.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import chain

from jaxviz.link.snapshots import HEAD
from jaxviz.read.tag_text import MARK

# What is read stands behind a bracket or a comma and a space.
_CALLED = re.compile(r"=\{?%([\w.\-]+(?:, %[\w.\-]+)*)")
_APPLIED = re.compile(r' to_apply=%([\w.\-]+).*?[{ ]op_name="([^"]*)"')
_BEGUN = re.compile(rf'op_name="({MARK}[^"]*)"')
# What has more callers than that is left as it is.
_CALLERS = 16


def called_text(text: str) -> str:
    """The text without the computations that nothing calls, such as the body of one of two fusions that were merged."""
    bodies: dict[str, str] = {}
    entry = ""
    for block in text.split("\n}"):
        head = HEAD.search(block)
        if head is not None:
            bodies[head[2]] = block[head.start() :]
            entry = head[2] if head[1] else entry
    called: set[str] = set()
    waiting = [entry] if entry else []
    while waiting:
        name = waiting.pop()
        called.add(name)
        names = chain.from_iterable(found.split(", %") for found in set(_CALLED.findall(bodies[name])))
        waiting.extend(bodies.keys() & set(names) - called)
    if not entry:
        return text
    return "\n}\n".join(_with_whole_names({name: body for name, body in bodies.items() if name in called}).values())


def _with_whole_names(bodies: dict[str, str]) -> dict[str, str]:
    found: dict[str, str] = {}
    callers: dict[str, dict[str, None]] = {}
    # What calls stands after what it calls.
    for name, body in reversed(bodies.items()):
        around = callers.get(name, ())
        found[name] = body = _behind(body, around) if 0 < len(around) <= _CALLERS else body
        if " to_apply=" in body:
            for applied, caller in _APPLIED.findall(body):
                callers.setdefault(applied, {}).update(dict.fromkeys(caller.split(";")))
    return dict(reversed(found.items()))


def _behind(body: str, callers: Iterable[str]) -> str:
    """A computation whose names go on from those of what calls it."""
    return _BEGUN.sub(lambda match: f'op_name="{";".join(f"{caller}/{match[1]}" for caller in callers)}"', body)
