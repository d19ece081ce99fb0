"""How a value is spread over devices, in plain words, from any of the three ways in which compilers write it.

HLO has `{devices=[4,1,2]<=[8] last_tile_dim_replicate}`, which StableHLO may hold as a string too; newer HLO names the
axes of a mesh, `{mesh['x'=4,'y'=2], [{'x'}, {}]}`; Shardy writes `#sdy.sharding<@mesh, [{"x"}, {}]>`.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

#: The axes of a mesh, each with its size.
Mesh = Mapping[str, int]

#: Of a value of which nothing is cut, where it is not known how many devices there are.
WHOLE = "whole on every device"
#: Of a value of which the program itself says which part is where, along all axes.
MANUAL = "one part for each device, as the program says"

# Of the words here.
_CUT = re.compile(r"dimension (\d+) in (\d+) parts")
_TILES = re.compile(r"devices=\[([\d,]*)\](?:<=\[[\d,]*\](?:T\([\d,]*\))?|[\d,]*)(.*)", re.DOTALL)
# Where XLA says who asked for it.
_METADATA = re.compile(r" *metadata=\{[^{}]*\}")
_LAST_DIMS = re.compile(r"last_tile_dims=\{([^{}]*)\}")
_MESH_AXIS = re.compile(r"""["']([^"']+)["']\s*=\s*(\d+)""")
_NAMED_MESH = re.compile(r"@([\w.$-]+)")
_DIMENSION = re.compile(r"\{([^{}]*)\}")
_AXIS = re.compile(r"""["']([^"']+)["'](?::\(\d+\)(\d+))?""")
# Of a value that is spread alike along all axes of a mesh.
_ALONG_ALL = re.compile(r"mesh\[[^\]]*\].*, *(replicated|unreduced|manual)\}?$", re.DOTALL)
_OTHER_AXES = re.compile(r"(replicated|unreduced|manual)\s*=\s*\{([^{}]*)\}")


def sharding_words(text: str, meshes: Mapping[str, Mesh] | None = None, devices: int = 1) -> str:
    """A sharding in words; `meshes` are those that it may name, `devices` how many there are where it names none.
    What is not known is given back as it is.

    >>> sharding_words("{devices=[4,1,2]<=[8] last_tile_dim_replicate}")
    'dimension 0 in 4 parts, each on 2 devices'
    >>> sharding_words('#sdy.sharding<@mesh, [{"x"}, {}]>', {"mesh": {"x": 4, "y": 2}})
    'dimension 0 in 4 parts along x, each on 2 devices'
    """
    shardings = _each(_METADATA.sub("", text.strip()))
    words = [_one(sharding, meshes or {}, devices) for sharding in shardings]
    if not words or not all(words):
        return text
    if len(set(words)) == 1:
        return words[0]
    return "; ".join(f"{number}: {each}" for number, each in enumerate(words))


def spec_words(spec: Iterable[Any], mesh: Mesh, *, unreduced: bool = False) -> str:
    """The same for a sharding as JAX has it: for each dimension of the value nothing, an axis or several axes.

    >>> spec_words([None, ("x", "y")], {"x": 4, "y": 2, "z": 3})
    'dimension 1 in 8 parts along x and y, each on 3 devices'
    """
    splits, used = [], 1
    for number, axes in enumerate(spec):
        names = [axes] if isinstance(axes, str) else list(axes) if isinstance(axes, (tuple, list)) else []
        parts = math.prod(mesh.get(name, 0) for name in names)
        if parts != 1:
            splits.append((number, parts, " and ".join(names)))
            used *= parts
    return _words(splits, math.prod(mesh.values()) // used if used else 1, unreduced=unreduced)


def _each(text: str) -> list[str]:
    """The shardings of a tuple or of several values, or the one that there is."""
    if text.startswith(("{{", "{ {")):
        return _pieces(text[1:-1])
    found = re.match(r"(?:#sdy\.sharding_per_value<)?\[(<.*>)\]>?\Z", text, re.DOTALL)
    return _pieces(found[1]) if found else [text]


def _pieces(text: str) -> list[str]:
    """A list taken apart at the commas that stand in no brackets."""
    pieces, depth, start = [], 0, 0
    for place, letter in enumerate(text):
        if letter in "{[(<" and text[place : place + 2] != "<=":
            depth += 1
        elif letter in "}])>":
            depth -= 1
        elif letter == "," and depth == 0:
            pieces.append(text[start:place].strip())
            start = place + 1
    return [*pieces, text[start:].strip()]


def _one(text: str, meshes: Mapping[str, Mesh], devices: int) -> str:
    inside = text.strip("{} ")
    kind = inside
    if found := _ALONG_ALL.match(inside):
        kind, devices = found[1], math.prod(mesh_of(inside).values())
    if kind in ("replicated", "unreduced"):
        return _words([], devices, unreduced=kind == "unreduced")
    if kind == "manual":
        return MANUAL
    if found := re.match(r"(?:maximal device=|single_device\[device_id=)(\d+)", inside):
        return f"on device {found[1]} alone"
    if found := _TILES.search(text):
        return _tiled(found[1], found[2])
    if "mesh" in text or "sdy.sharding" in text or text.startswith("<"):
        return _by_axes(text, meshes)
    return ""


def _tiled(shape: str, rest: str) -> str:
    """A sharding by tiles; the last dimensions of the tiles may be none of the value."""
    sizes = [int(size) for size in shape.split(",") if size and len(size) < 10]
    kinds = [kind.strip() for kind in found[1].split(",")] if (found := _LAST_DIMS.search(rest)) else []
    if "last_tile_dim_replicate" in rest:
        kinds = ["replicated"]
    own = sizes[: len(sizes) - len(kinds)]
    others = dict(zip(kinds, sizes[len(own) :], strict=False))
    splits = [(number, size, "") for number, size in enumerate(own) if size > 1]
    return _words(splits, others.get("replicated", 1), unreduced=others.get("unreduced", 1) > 1)


def _by_axes(text: str, meshes: Mapping[str, Mesh]) -> str:
    """A sharding by the axes of a mesh, which is named or written out."""
    mesh = mesh_of(text)
    if not mesh and (named := _NAMED_MESH.search(text)):
        mesh = meshes.get(named[1], {})
    dimensions = re.search(r"\[((?:\s*\{[^{}]*\}(?:p\d+)?\s*,?)*)\]", text[text.find(",") :] if "," in text else text)
    if dimensions is None:
        return ""
    splits = []
    used = 1
    for number, inside in enumerate(_DIMENSION.findall(dimensions[1])):
        axes = _AXIS.findall(inside)
        parts = math.prod(int(part[:9]) if part else mesh.get(name, 0) for name, part in axes)
        if axes and parts != 1:
            splits.append((number, parts, " and ".join(name for name, _ in axes)))
            used *= parts
    others = {kind: [name for name, _ in _AXIS.findall(axes)] for kind, axes in _OTHER_AXES.findall(text)}
    # Along these the program itself says which part is where.
    used *= math.prod(mesh.get(name, 1) for name in others.get("manual", ()))
    unreduced = bool(others.get("unreduced"))
    copies = math.prod(mesh.values()) // used if used and mesh else 1
    return _words(splits, copies, unreduced=unreduced)


def _words(splits: Sequence[tuple[int, int, str]], copies: int, *, unreduced: bool) -> str:
    """`splits` are dimensions with the number of their parts (0 where not known) and the axes along which."""
    sum_left = ", still to be summed over devices" if unreduced else ""
    if not splits:
        return (f"whole on each of {copies} devices" if copies > 1 else WHOLE) + sum_left
    parts = [
        f"dimension {number}" + (f" in {count} parts" if count else " split") + (f" along {axes}" if axes else "")
        for number, count, axes in splits
    ]
    return ", ".join(parts) + (f", each on {copies} devices" if copies > 1 else "") + sum_left


def part_of(dims: Sequence[int], words: str) -> tuple[int, ...]:
    """The shape of the part of a value that one device has, by the words of its sharding.

    >>> part_of((16, 32), "dimension 0 in 4 parts along x, each on 2 devices")
    (4, 32)
    """
    cuts = {int(number): max(int(count), 1) for number, count in _CUT.findall(words)}
    return tuple(-(-size // cuts.get(number, 1)) for number, size in enumerate(dims))


def mesh_of(text: str) -> Mesh:
    """The axes of a mesh as Shardy writes it: `#sdy.mesh<["x"=4, "y"=2]>`."""
    return {name: int(size[:9]) for name, size in _MESH_AXIS.findall(text)}
