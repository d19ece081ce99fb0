"""What devices tell each other: which groups of devices take part in a collective operation, and how many bytes go."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from jaxviz.graph import Attributes, Graph
from jaxviz.read.hlo.module import HloModule
from jaxviz.read.sharding import Mesh

COLLECTIVES = frozenset(
    {"all-reduce", "all-gather", "all-to-all", "reduce-scatter", "collective-permute", "collective-broadcast"}
    | {"ragged-all-to-all"}
)

#: More devices than this are counted, not listed.
_LISTED = 64
#: More than this no machine has: the text is wrong.
_MOST_DEVICES = 1_000_000

_GROUPS = ("replica_groups", "source_target_pairs")
_IOTA = re.compile(r"\[(\d{1,7}),(\d{1,7})\]<=(.*)\Z")
_MESH = re.compile(r"mesh\[(?P<sizes>[^\]]*)\](?:, *device_ids=\((?P<devices>[^ ]*)\))? *\{(?P<axes>[^{}]*)\}\Z")
_COUNTED = re.compile(r"\[([\d,]{1,60})\](?:T\(([\d,]{1,30})\))?\Z")
_AXIS = re.compile(r"'([^']+)'(?:=(\d{1,7})|:\((\d{1,7})\)(\d{1,7}))?")
_NUMBERED = re.compile(r"axis_\d+\Z")
# As StableHLO writes groups along the axes of a mesh.
_NAMED_MESH = re.compile(r"(?:#stablehlo\.replica_group_mesh_axes<)?mesh = @([\w.$-]+), axes = (.*)\Z", re.DOTALL)
_AXIS_REF = re.compile(r'name = "([^"]*)"(?:, sub_axis_info = [^<>]*<pre_size = (\d+), size = (\d+)>)?')
_LISTS = re.compile(r"[\[{]([\d, ]+)[\]}]")

Groups = list[list[int]]
Devices = NDArray[np.int64]


def is_collective(op: str) -> bool:
    """Whether an operation of HLO or StableHLO is one in which devices take part together."""
    name = op.replace("_", "-")
    return name in COLLECTIVES or name.removesuffix("-start") in COLLECTIVES


def with_communication(graph: Graph, meshes: Mapping[str, Mesh] | None = None) -> Graph:
    """The graph whose collectives say in words which devices take part and how many bytes each of them sends.

    `meshes` are those that groups of devices may name.
    """
    strings = graph.tables.strings
    nodes = np.flatnonzero(np.isin(graph.nodes.op, [op for op in _ops(graph) if is_collective(strings[op])])).tolist()
    if not nodes:
        return graph
    old = graph.attributes
    old_rows = list(zip(old.node.tolist(), old.key.tolist(), old.value.tolist(), strict=True))
    found = set(nodes)
    string = graph.tables.string
    rows = [
        (node, string("devices"), string(_words(strings[key], strings[value], meshes or {})))
        if node in found and strings[key] in _GROUPS
        else (node, key, value)
        for node, key, value in old_rows
    ]
    pairs = {node: strings[value] for node, key, value in old_rows if strings[key] == _GROUPS[1]}
    rows += [
        (node, string("sends"), string(f"{_sent(graph, node)} from {_senders(pairs.get(node))}")) for node in nodes
    ]
    rows.sort(key=lambda row: row[0])
    return replace(graph, attributes=Attributes(*np.array(rows, np.int32).T.copy()))


def _words(key: str, text: str, meshes: Mapping[str, Mesh]) -> str:
    named = _NAMED_MESH.match(text)
    if named is not None and named[1] in meshes:
        axes = [
            f"'{name}'" + (f":({before}){size}" if size else "") for name, before, size in _AXIS_REF.findall(named[2])
        ]
        sizes = ",".join(f"'{name}'={size}" for name, size in meshes[named[1]].items())
        text = f"mesh[{sizes}] {{{','.join(axes)}}}"
    return devices_words(text, pairs=key == _GROUPS[1])


def _ops(graph: Graph) -> list[int]:
    ops: list[int] = np.unique(graph.nodes.op).tolist()
    return ops


def _sent(graph: Graph, node: int) -> str:
    """How many bytes a device sends. Of parts of any length, the first operand holds all that it may send; the others
    say which are sent, and where they go."""
    types = graph.tables.types
    values = graph.operands.source[graph.first_operand[node] : graph.first_operand[node + 1]].tolist()
    ragged = graph.tables.strings[graph.nodes.op[node]].startswith("ragged")
    size = sum(max(types.bytes[graph.values.type[value]], 0) for value in values[: 1 if ragged else None] if value >= 0)
    return f"at most {_bytes_text(size)}" if ragged else _bytes_text(size)


def _senders(pairs: str | None) -> str:
    """Which devices send, in words: not all of them where pairs say who sends to whom."""
    groups = groups_of(pairs) if pairs is not None else None
    if not groups or any(len(group) != 2 for group in groups):
        return "each device"
    senders = {start for start, end in groups if start != end}
    if len(senders) == 1:
        return f"device {senders.pop()}"
    return f"each of {len(senders)} devices" if senders else "no device"


def _bytes_text(size: float) -> str:
    for unit in ("B", "kB", "MB", "GB"):
        if size < 1000 or unit == "GB":
            return f"{size:.{int(size < 10 and unit != 'B')}f} {unit}"
        size /= 1000
    raise AssertionError


def devices_words(text: str, *, pairs: bool = False) -> str:
    """Groups of devices in words; what is not known is given back as it is.

    >>> devices_words("[2,4]<=[8]")
    '2 groups of 4: 0 1 2 3, 4 5 6 7'
    >>> devices_words("{{0,2},{2,0}}", pairs=True)
    '0 to 2, 2 to 0'
    """
    groups = groups_of(text)
    if groups is None:
        return text
    if pairs and all(len(group) == 2 for group in groups):
        shown = [f"{start} to {end}" for start, end in groups[: _LISTED // 2]]
        return ", ".join(shown) + (f" and {len(groups) - len(shown)} more" if len(shown) < len(groups) else "")
    if not any(groups):
        return "all"
    along = _along(text)
    sizes = {len(group) for group in groups}
    size = str(max(sizes)) if len(sizes) == 1 else f"{min(sizes)} to {max(sizes)}"
    count = f"{len(groups)} groups of {size}" if len(groups) > 1 else f"all {size}" if len(sizes) == 1 else size
    if sum(map(len, groups)) > _LISTED:
        return count + along
    return f"{count}{along}: {', '.join(' '.join(map(str, group)) for group in groups)}"


def _along(text: str) -> str:
    """The axes of a mesh that a person has named; the compiler numbers its own."""
    found = _MESH.match(text.strip())
    names = [name for name, _, _, _ in _AXIS.findall(found["axes"])] if found else []
    return f" along {' and '.join(names)}" if names and not any(_NUMBERED.match(name) for name in names) else ""


def groups_of(text: str) -> Groups | None:
    """The devices of each group from any way in which HLO or StableHLO write them; None for what is none."""
    text = text.strip()
    if found := _IOTA.match(text):
        return _in_groups(found)
    if found := _MESH.match(text):
        return _along_axes(found)
    if text in ("{}", "[]", ""):
        return []
    lists = _LISTS.findall(text)
    if not lists or not set(text) <= set("0123456789,{}[] "):
        return None
    return [[int(device) for device in group.replace(",", " ").split()] for group in lists]


def _in_groups(found: re.Match[str]) -> Groups | None:
    """Devices that are counted up, cut into groups."""
    count, size = int(found[1]), int(found[2])
    devices = _counted(found[3])
    if devices is None or devices.size != count * size:
        return None
    groups: Groups = devices.reshape(count, size).tolist()
    return groups


def _counted(text: str) -> Devices | None:
    """Devices counted up in an array whose dimensions are then put into another order: `[2,4]T(1,0)`."""
    found = _COUNTED.match(text)
    if found is None:
        return None
    dims = _numbers(found[1])
    order = _numbers(found[2]) if found[2] else list(range(len(dims)))
    if math.prod(dims) > _MOST_DEVICES or sorted(order) != list(range(len(dims))):
        return None
    return np.arange(math.prod(dims)).reshape(dims).transpose(order).reshape(-1)


def _along_axes(found: re.Match[str]) -> Groups | None:
    """Groups along some axes of a mesh of devices; an axis may be taken in part."""
    sizes = {name: int(size) for name, size, _, _ in _AXIS.findall(found["sizes"]) if size}
    devices = _devices_of(found["devices"], math.prod(sizes.values()))
    if devices is None:
        return None
    shape: list[int] = []
    taken: list[int] = []
    used = {name: (int(before or 1), int(size or 0)) for name, _, before, size in _AXIS.findall(found["axes"])}
    for name, whole in sizes.items():
        before, size = used.get(name, (1, whole))
        size = size or whole
        if before * size == 0 or whole % (before * size):
            return None
        if name in used:
            taken.append(len(shape) + 1)
        shape += [before, size, whole // (before * size)]
    rest = [axis for axis in range(len(shape)) if axis not in taken]
    members = math.prod(shape[axis] for axis in taken)
    groups: Groups = devices.reshape(shape).transpose(rest + taken).reshape(-1, members).tolist()
    return groups


def _devices_of(text: str | None, total: int) -> Devices | None:
    """The devices of a mesh in the order that a text gives: none, a list, or a way to count."""
    if total > _MOST_DEVICES:
        return None
    if not text:
        return np.arange(total)
    devices = _counted(text) if text.startswith("[") else np.array(_numbers(text))
    return devices if devices is not None and len(devices) == total else None


def _numbers(text: str) -> list[int]:
    return [int(number) for number in text.split(",") if number and len(number) < 10]


def take_frames_of_elements(module: HloModule) -> None:
    """Give what makes a tuple the frame of the first of its elements, where it has none.

    So a collective that the compiler combined has the line of the first that went into it.
    """
    for computation in module.computations:
        frames, opcodes = computation.frames, computation.opcodes
        for index, opcode in enumerate(opcodes):
            if opcode == "get-tuple-element" and frames[index] >= 0:
                for operand in computation.operands[index]:
                    if frames[operand] < 0 and is_collective(opcodes[operand]):
                        frames[operand] = frames[index]
