"""What went with an operation that the compiler simplified, because nothing else needed it.

Where a choice between two values is known, what it is told by and the value that is not chosen are read by nothing any
more; they were not simplified themselves. Where two steps undo each other, both are. And what has no name of its own
may do what an operation did of which only a shape is left.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from jaxviz.link.links import Found
from jaxviz.link.snapshots import SHAPES, Lines


def left_unread(before: Lines, after: Lines, nodes: Iterable[int], named: Callable[[str], Found]) -> list[int]:
    """Of nodes that are gone later those that are so since what read them is; `named` are those of a name."""
    vanished = {name for name in before.operands if name not in after.operands}
    unread: set[str] = set()
    simplified: set[str] = set()
    for reader, operands in before.operands.items():
        now = after.operands.get(reader)
        if now is None or now == operands:
            continue
        changed = [(old, new) for old, new in zip(operands, now, strict=False) if old != new]
        regrouped = len(changed) > 1 and any(new not in before.operands for _, new in changed)
        if len(now) != len(operands) or regrouped:
            # What stands for what cannot be read: a factor may have gone from one operand into the other.
            simplified |= _behind(before, operands, vanished)
            continue
        for old, new in changed:
            if old in vanished:
                behind = _behind(before, before.operands[old], vanished)
                used = {old} if new in before.operands[old] else {old, *_leading(before, after, behind, new)}
                simplified |= used
                unread |= behind - used
    wanted = set(nodes)
    states: dict[int, bool] = {}
    for name in vanished:
        for node in named(before.op_names.get(name, "")):
            if node in wanted:
                states[node] = states.get(node, True) and name in unread and name not in simplified
    return [node for node, is_unread in states.items() if is_unread]


def handed_over(before: Lines, after: Lines, nodes: Iterable[int], named: Callable[[str], Found]) -> dict[int, str]:
    """The nodes of which only another shape of the value has the name later, each with its operation, which an
    instruction without a name does now: as a convolution that the compiler writes with its axes in another order."""
    wanted = set(nodes)
    did: dict[int, set[str]] = {}
    for name, op_name in before.op_names.items():
        for node in wanted.intersection(named(op_name)):
            did.setdefault(node, set()).add(before.opcodes[name])
    found: dict[int, str] = {}
    for name, op_name in after.op_names.items():
        if after.opcodes[name] not in SHAPES:
            continue
        made = after.operands[name][0]
        op = made.partition(".")[0]
        if made not in before.operands and made not in after.op_names:
            found.update({node: op for node in wanted.intersection(named(op_name)) if op in did.get(node, ())})
    return found


def _behind(lines: Lines, names: Iterable[str], among: set[str]) -> set[str]:
    """Those of these instructions, and of what they are made of, that are among some, by a way along these."""
    found: set[str] = set()
    waiting = [name for name in names if name in among]
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            waiting.extend(one for one in lines.operands[name] if one in among)
    return found


def _leading(before: Lines, after: Lines, names: set[str], new: str) -> set[str]:
    """Of instructions that are gone those that are made of what a later one is made of."""
    leaves: set[str] = set()
    waiting, seen = [new], {new}
    while waiting:
        name = waiting.pop()
        if name in before.operands:
            leaves.add(name)
        else:
            fresh = [one for one in after.operands.get(name, ()) if one not in seen]
            seen.update(fresh)
            waiting.extend(fresh)
    leading: set[str] = set()
    known: dict[str, bool] = {}

    def reaches(name: str) -> bool:
        if name not in known:
            known[name] = name in leaves
            known[name] = name in leaves or any(reaches(one) for one in before.operands.get(name, ()))
        return known[name]

    leading.update(name for name in names if reaches(name))
    return leading
