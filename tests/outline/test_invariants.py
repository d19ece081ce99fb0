"""What is true of the outline of any program: rows nest, every equation is in one leaf, folding never makes a cycle."""

from __future__ import annotations

import ast
import graphlib
import hashlib
import os
import subprocess
import sys
from pathlib import Path

import jax
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from outline.outlines import check, outline_of
from programs import CORPUS
from read.test_random_programs import programs

from jaxviz.graph import LEAVE, OPERATION, SLICE, STACK
from jaxviz.outline import Outline, make_outline
from jaxviz.read.jaxpr import read_jaxpr
from jaxviz.tables import Tables

_X = jax.ShapeDtypeStruct((4,), "float32")


def edges_of(graph):
    """Where values flow, from node to node; out of a body to those who use what its owner gives. Carries go back."""
    start, end, kind = graph.bindings.start, graph.bindings.end, graph.bindings.kind
    makers = {int(value): [int(graph.value_node[value])] for value in range(len(graph.values.type))}
    for value in np.unique(end[(kind == LEAVE) | (kind == STACK)]).tolist():
        makers[value] = start[(end == value) & ((kind == LEAVE) | (kind == STACK))].tolist()
    edges = []
    for reader, source in zip(graph.operand_node.tolist(), graph.operands.source.tolist(), strict=True):
        edges += [(maker, reader) for maker in makers.get(source, ())]
    for row in np.flatnonzero((kind <= SLICE) & (start >= 0)).tolist():
        edges += [(maker, int(end[row])) for maker in makers[int(start[row])]]
    return edges


def boxes_of(outline: Outline, closed: set[int]) -> list[object]:
    """The box of each node: the outermost closed row around it, or itself."""
    boxes: list[object] = list(range(len(outline.graph)))
    for row in sorted(closed, key=lambda row: -int(outline.depth[row])):
        for node in range(outline.first[row], outline.end[row]):
            boxes[node] = ("row", row)
    return boxes


def assert_no_cycle(outline: Outline, closed: set[int]) -> None:
    boxes = boxes_of(outline, closed)
    sorter = graphlib.TopologicalSorter()
    for one, other in edges_of(outline.graph):
        if boxes[one] != boxes[other]:
            sorter.add(boxes[other], boxes[one])
    sorter.prepare()


def columns(outline: Outline):
    strings = outline.graph.tables.strings
    texts = [[strings[row] for row in column] for column in (outline.name, outline.detail, outline.variable)]
    names = ("parent", "kind", "first", "end", "closed", "count", "copy", "like", "twin", "region", "role")
    return texts, [getattr(outline, name).tolist() for name in names]


@pytest.mark.parametrize("name", CORPUS)
def test_the_outline_of_each_program_is_sound(name):
    fn, arguments = CORPUS[name]()
    outline = outline_of(fn, *arguments)
    check(outline)
    leaf = outline.leaf
    equations = np.flatnonzero((outline.graph.nodes.kind == OPERATION) & (outline.role <= 3))
    counted = np.bincount(leaf[equations], minlength=len(outline))
    assert counted.sum() == outline.equations[0]
    random = np.random.default_rng(0)
    if len(outline.graph) < 1000:
        for share in (0.05, 0.2, 0.5):
            assert_no_cycle(outline, set(np.flatnonzero(random.random(len(outline)) < share).tolist()))


@settings(max_examples=60)
@given(programs(), st.data())
def test_any_program_has_a_sound_outline_that_folds_without_cycles(function, data):
    jaxpr = jax.jit(lambda x: function(x)).trace(_X).jaxpr
    outline = make_outline(read_jaxpr(jaxpr, Tables()))
    check(outline)
    closed = data.draw(st.sets(st.integers(0, len(outline) - 1)))
    assert_no_cycle(outline, closed)
    assert columns(make_outline(read_jaxpr(jaxpr, Tables()))) == columns(outline)


def test_the_same_program_has_the_same_outline_again():
    fn, arguments = CORPUS["mlp_train"]()
    assert columns(outline_of(fn, *arguments)) == columns(outline_of(fn, *arguments))


def digests() -> dict[str, str]:
    found = {}
    for name in ("xor_train", "remat", "scan_rnn"):
        fn, arguments = CORPUS[name]()
        found[name] = hashlib.sha1(repr(columns(outline_of(fn, *arguments))).encode()).hexdigest()
    return found


def test_the_same_program_has_the_same_outline_in_another_process():
    # Text has another order in sets there.
    code = "import sys; sys.path.append(sys.argv[1]); from outline.test_invariants import digests; print(digests())"
    command = [sys.executable, "-c", code, str(Path(__file__).parents[1])]
    ran = subprocess.run(command, env={**os.environ, "PYTHONHASHSEED": "1"}, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
    assert ast.literal_eval(ran.stdout) == digests()


def test_a_program_without_equations_is_one_row():
    outline = outline_of(lambda x: x, 1.0)
    check(outline)
    assert len(outline) == 1
    assert outline.equations[0] == 0
