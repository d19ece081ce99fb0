"""Keys of a split that nobody reads while others of it are read, where each has a name in the source."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator

from jaxviz.find.finding import Subject

# Names by which a key is handed on: the last of these is left over as a matter of course.
_HANDED_ON = re.compile(r"^_|new|next|rest|carry|state|unused|ignore", re.IGNORECASE)
_SAME = frozenset({"random_wrap", "random_unwrap", "copy", "copy_p"})
_ENTRIES = frozenset({"slice", "dynamic_slice", "unstack"})


def left_keys(subject: Subject, split: int, is_read: Callable[[int], bool]) -> Iterator[tuple[int, str]]:
    """Of a split, the operations that take keys out of it that nobody reads, each with the name of its key."""
    statement = subject.statement(split)[0]
    if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
        return
    (target,) = statement.targets
    if isinstance(target, ast.Name):
        yield from ((split, f"{target.id}[{place}]") for place in _left_places(subject, split, is_read))
        return
    names = [getattr(one, "id", "") for one in getattr(target, "elts", ())]
    taken = _taken(subject, split)
    # What is taken out in the order of the names is unpacked.
    if len(names) < 2 or len(taken) != len(names) or not all(names):
        return
    given = {node.id for node in ast.walk(statement.value) if isinstance(node, ast.Name)}
    for name, (node, value) in zip(names, taken, strict=True):
        if name not in given and not _HANDED_ON.search(name) and not is_read(value):
            yield node, name


def _taken(subject: Subject, split: int) -> list[tuple[int, int]]:
    """The operations that take entries out of the keys of a split, each with its value, in order."""
    graph, flow = subject.graph, subject.flow
    readers = graph.readers(graph.first_value[split])
    found: list[tuple[int, int]] = []
    for node in readers:
        values = [(node, value) for value in range(graph.first_value[node], graph.first_value[node + 1])]
        if flow.op(node) in _SAME:
            found += _taken(subject, node)
        elif flow.op(node) in _ENTRIES and values:
            found += values
        else:
            return []
    return found


def _left_places(subject: Subject, split: int, is_read: Callable[[int], bool]) -> list[int]:
    """The one entry of the keys of a split that nobody reads, where all the others are taken out one by one. The first
    is how keys are handed on, and whoever leaves several has split in store."""
    (count, *_) = subject.flow.dims(int(subject.graph.first_value[split])) or (0,)
    left = set(range(count))
    for node, value in _taken(subject, split):
        if is_read(value):
            place = _place(subject, node)
            if place is None:
                return []
            left.discard(place)
    return list(left) if len(left) == 1 and left != {0} and count > 2 else []


def _place(subject: Subject, node: int) -> int | None:
    """Which one entry an operation takes out, where that is written."""
    graph, flow = subject.graph, subject.flow
    if flow.op(node) == "dynamic_slice":  # So it was until 0.6.
        start = flow.number(flow.operands(node)[1])
        return int(start) if start is not None and _numbers(graph.attribute(node, "slice_sizes"))[:1] == [1] else None
    starts, ends = (_numbers(graph.attribute(node, key)) for key in ("start_indices", "limit_indices"))
    return starts[0] if starts and ends[:1] == [starts[0] + 1] else None


def _numbers(text: str) -> list[int]:
    return [int(number) for number in re.findall(r"\d+", text)]
