"""Outlines of programs for tests: what is true of every one, and finding rows in them."""

from __future__ import annotations

import itertools

import numpy as np

from jaxviz.exploration import explore
from jaxviz.outline import Outline, Row, make_outline


def outline_of(fn, *args) -> Outline:
    return make_outline(explore(fn, *args).jaxpr)


def rows_named(outline: Outline, name: str, kind: str | None = None) -> list[Row]:
    return [row for row in outline if row.name == name and (kind is None or row.kind == kind)]


def row_named(outline: Outline, name: str, kind: str | None = None) -> Row:
    found = rows_named(outline, name, kind)
    assert len(found) == 1, f"{len(found)} rows named {name!r} in\n{outline}"
    return found[0]


def shown(outline: Outline, row: int) -> list[Row]:
    """What a person sees inside a row: statements looked through, of a stack the first copy."""
    found = []
    for child in map(outline.row, outline.children[row]):
        if child.copy > 0:
            continue
        found += shown(outline, child.index) if child.kind in ("statement", "copy") and child.count == 1 else [child]
    return found


def names_inside(outline: Outline, row: int) -> list[str]:
    return [f"{child.name} x{child.count}" if child.count > 1 else child.name for child in shown(outline, row)]


def check(outline: Outline) -> None:
    """What is true of every outline."""
    parent, first, end = outline.parent, outline.first, outline.end
    assert parent[0] == -1
    assert first[0] == 0
    assert end[0] == len(outline.graph)
    rows = np.arange(1, len(outline))
    assert (parent[1:] < rows).all()
    assert (first < end).all()
    assert (first[1:] >= first[parent[1:]]).all()
    assert (end[1:] <= end[parent[1:]]).all()
    for children in outline.children:
        for one, other in itertools.pairwise(children):
            assert end[one] <= first[other], "rows of one parent overlap"
    for row in range(len(outline)):
        inside = [child for child in outline.children[row] if outline.copy[child] >= 0]
        if outline.count[row] > 1:
            assert [int(outline.copy[child]) for child in inside] == list(range(outline.count[row]))
            assert len(inside) == len(outline.children[row])
        else:
            assert not inside
    like, twin = outline.like, outline.twin
    assert (like < np.arange(len(outline))).all()
    tied = np.flatnonzero(twin >= 0)
    assert (twin[twin[tied]] == tied).all()
    assert len(outline.role) == len(outline.graph)
    assert ((outline.region >= -1) & (outline.region < len(outline.graph.regions.owner))).all()


def boxes(outline: Outline, row: int = 0) -> list[Row]:
    """All boxes of an outline that is open down to the person's expressions; of a stack those of its first copy."""
    found = []
    for child in map(outline.row, outline.children[row]):
        if child.copy > 0:
            continue
        is_box = child.closed or child.kind == "function" or not outline.children[child.index]
        found += [child] if is_box else boxes(outline, child.index)
    return found
