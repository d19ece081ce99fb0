"""Shardings and lists of devices in a protocol buffer, written as HLO prints them."""

from __future__ import annotations

from jaxviz.read.hlo.module import HloError
from jaxviz.read.hlo.wire import VARINT, Field, message, number, numbers, text

_REPLICATED, _MAXIMAL, _TUPLE, _OTHER, _MANUAL, _UNKNOWN, _UNREDUCED = range(7)
_NAMES = {_REPLICATED: "replicated", _MANUAL: "manual", _UNKNOWN: "unknown", _UNREDUCED: "unreduced"}
_DEEPEST = 50


def sharding_text(data: bytes, field: Field, depth: int = 0) -> str:
    """An `OpSharding` as text: `{devices=[2,4]<=[8]}`."""
    if depth > _DEEPEST:
        raise HloError(f"byte {field.value}: expected shardings nested at most {_DEEPEST} deep")
    kind = 0
    lists: dict[int, list[int]] = {3: [], 4: [], 8: [], 9: [], 10: []}
    inside: list[str] = []
    on_last = False
    for part in message(data, field):
        if part.number == 1:
            kind = number(part)
        elif part.number in lists:
            lists[part.number] += numbers(data, part)
        elif part.number == 5:
            inside.append(sharding_text(data, part, depth + 1))
        elif part.number == 6:
            on_last = bool(number(part))
        elif part.number == 14:
            return _named_text(data, part, depth)
    if kind == _TUPLE:
        return "{" + ", ".join(inside) + "}"
    if kind == _MAXIMAL:
        return f"{{maximal device={(lists[4] or [0])[0]}}}"
    if kind != _OTHER:
        return f"{{{_NAMES.get(kind, kind)}}}"
    devices = ",".join(map(str, lists[4])) if lists[4] else f"<={_iota(lists[9], lists[10])}"
    shape = ",".join(map(str, lists[3]))
    last = " last_tile_dim_replicate" if on_last else ""
    if lists[8]:
        last = f" last_tile_dims={{{', '.join(_NAMES.get(each, str(each)) for each in lists[8])}}}"
    return f"{{devices=[{shape}]{devices}{last}}}"


def _iota(dims: list[int], order: list[int]) -> str:
    """Devices counted up in an array of this shape, whose dimensions are then put into another order."""
    swapped = f"T({','.join(map(str, order))})" if order != sorted(order) else ""
    return f"[{','.join(map(str, dims))}]{swapped}"


def device_list_text(data: bytes, field: Field) -> str:
    """A `CollectiveDeviceListProto` as text: `{{0,1},{2,3}}` or `[2,4]<=[8]`."""
    groups: list[str] = []
    for part in message(data, field):
        if part.number == 1:
            ids = [each for inner in message(data, part) if inner.number == 1 for each in numbers(data, inner)]
            groups.append("{" + ",".join(map(str, ids)) + "}")
        elif part.number == 2:
            return iota_list_text(data, part)
    return "{" + ",".join(groups) + "}"


def iota_list_text(data: bytes, field: Field) -> str:
    """An `IotaReplicaGroupListProto` as text: `[2,4]<=[8]`."""
    row: dict[int, list[int]] = {}
    for part in message(data, field):
        row.setdefault(part.number, []).extend(numbers(data, part))
    shape = row.get(1, [0])[-1], row.get(2, [0])[-1]
    return f"[{shape[0]},{shape[1]}]<={_iota(row.get(3, []), row.get(4, []))}"


def _mesh(data: bytes, field: Field) -> tuple[list[tuple[str, int]], str]:
    """The axes of a mesh with their sizes; and its devices as text, where they are not in order."""
    axes, devices = [], list[int]()
    counted: dict[int, list[int]] = {}
    for part in message(data, field):
        if part.number == 1:
            name, size = "", 0
            for inner in message(data, part):
                if inner.number == 1:
                    name = text(data, inner)
                elif inner.number == 2:
                    size = number(inner)
            axes.append((name, size))
        elif part.number == 2:
            devices += numbers(data, part)
        elif part.number == 3:
            for inner in message(data, part):
                counted.setdefault(inner.number, []).extend(numbers(data, inner))
    if counted:
        return axes, _iota(counted.get(1, []), counted.get(2, []))
    return axes, ",".join(map(str, devices))


def _mesh_text(axes: list[tuple[str, int]], devices: str) -> str:
    inside = ",".join(f"'{name}'={size}" for name, size in axes)
    return f"mesh[{inside}]" + (f", device_ids=({devices})" if devices else "")


def _axis_text(data: bytes, field: Field, axes: list[tuple[str, int]]) -> str:
    place, part_text = 0, ""
    for part in message(data, field):
        if part.number == 1:
            place = number(part)
        elif part.number == 2:
            row = {inner.number: number(inner) for inner in message(data, part) if inner.wire == VARINT}
            part_text = f":({row.get(1, 0)}){row.get(2, 0)}"
    name = axes[place][0] if 0 <= place < len(axes) else str(place)
    return f"'{name}'{part_text}"


def mesh_axes_text(data: bytes, field: Field) -> str:
    """A list of devices by the axes of a mesh along which they are grouped, as text: `mesh['x'=4,'y'=2] {'x'}`."""
    axes: list[tuple[str, int]] = []
    devices = ""
    parts = message(data, field)
    for part in parts:
        if part.number == 1:
            axes, devices = _mesh(data, part)
    used = [_axis_text(data, part, axes) for part in parts if part.number == 2]
    return f"{_mesh_text(axes, devices)} {{{','.join(used)}}}"


def _named_text(data: bytes, field: Field, depth: int) -> str:
    """A `NamedShardingProto` as text, by the axes of a mesh."""
    if depth > _DEEPEST:
        raise HloError(f"byte {field.value}: expected shardings nested at most {_DEEPEST} deep")
    axes: list[tuple[str, int]] = []
    devices = ""
    parts = message(data, field)
    inside = [_named_text(data, part, depth + 1) for part in parts if part.number == 1]
    if inside:
        return "{" + ", ".join(inside) + "}"
    for part in parts:
        if part.number == 2:
            axes, devices = _mesh(data, part)
    dims = []
    for part in parts:
        if part.number == 3:
            inner = message(data, part)
            used = [_axis_text(data, each, axes) for each in inner if each.number == 1]
            closed = any(each.number == 2 and number(each) for each in inner)
            dims.append("{" + ", ".join([*used, *([] if closed else ["?"])]) + "}")
    if not axes and devices:
        return f"{{single_device[device_id={devices}]}}"
    rest = ""
    for name, kind in (("replicated", 4), ("unreduced", 5), ("manual", 7)):
        used = [_axis_text(data, part, axes) for part in parts if part.number == kind]
        if used and len(used) == len(axes) and not dims:
            return f"{{{_mesh_text(axes, devices)}, {name}}}"
        if used:
            rest += f", {name}={{{', '.join(used)}}}"
    if not dims and not rest:
        return f"{{{_mesh_text(axes, devices)}, replicated}}"
    return f"{{{_mesh_text(axes, devices)}, [{', '.join(dims)}]{rest}}}"
