"""Modules compiled elsewhere open with an outline that a stranger can take in."""

from __future__ import annotations

import gzip
import re
from pathlib import Path

import pytest
from outline.outlines import check

import jaxviz as jv
from jaxviz.outline.noise import EDGE

FOLDER = Path(__file__).parents[1] / "data" / "hlo"
SAMPLES = sorted(path.name for path in FOLDER.iterdir())

# At a readable size this would be three closed boxes: a view of so few may be a little smaller.
LITTLE_IN_IT = {"fori.jax062.txt"}


@pytest.mark.parametrize("name", SAMPLES)
def test_every_sample_opens_with_at_most_forty_boxes(name):
    opened = jv.open(FOLDER / name)
    check(opened.document().outlines[0].outline)
    view = opened.view("hlo")
    assert 0 < len(view.boxes) <= 40
    assert view.zoom >= (0.65 if name in LITTLE_IN_IT else 0.75)


def rows(name: str, kind: str) -> list[str]:
    return [row.name for row in jv.open(FOLDER / name).document().outlines[0].outline if row.kind == kind]


def test_a_training_step_has_its_phases_once_each_and_its_modules_in_both():
    assert rows("flax_block_train.h100.txt.gz", "phase") == ["forward", "backward", "update"]
    # Before and update have no row of their own where they are one call.
    assert rows("mlp_train.v5e.txt.gz", "phase") == ["forward", "backward"]
    modules = rows("flax_block_train.h100.txt.gz", "module")
    assert modules.count("LM") == 2
    # Each in one piece: an operation that the schedule runs early does not tear its module apart.
    assert (modules.count("Block_0"), modules.count("Embed_0")) == (2, 1)
    assert modules.count("query") >= 1


def test_calls_are_named_by_the_functions_that_they_enter():
    assert {"mlp"} <= set(rows("mlp_grad.h100.txt.gz", "call"))
    assert "net" in rows("xor_train.h100.txt.gz", "call")
    # Of a library of the machine that compiled it, the function that the person called.
    assert "apply_updates" in rows("flax_block_train.h100.txt.gz", "expression")


def test_kernels_are_named_by_what_was_fused_into_them():
    boxes = [box.name for box in jv.open(FOLDER / "redundant.h100.txt").view("hlo").boxes]
    assert "sin, add, mul" in boxes


def test_loops_and_branches_stay_what_they_are():
    assert "while" in rows("scan_rnn.h100.txt.gz", "loop")
    assert rows("switch.h100.txt", "cond") == ["cond"]


def test_without_metadata_the_parts_are_cut_by_structure(tmp_path):
    text = gzip.decompress((FOLDER / "mlp_train.v5e.txt.gz").read_bytes()).decode()
    (tmp_path / "m").write_text(re.sub(r", metadata=\{[^}]*\}", "", text))
    opened = jv.open(tmp_path / "m")
    outline = opened.document().outlines[0].outline
    assert [row.kind for row in outline if row.parent == 0] == ["part"] * sum(row.parent == 0 for row in outline)
    assert 3 <= len(opened.view("hlo").boxes) <= 40


@pytest.mark.parametrize("name", SAMPLES)
def test_boxes_have_no_numbers_of_the_compiler(name):
    names = [box.name for box in jv.open(FOLDER / name).view("hlo").boxes if box.equations]
    assert not [name for name in names if re.search(r"\w\.(\d+|clone)$", name)]


def test_what_only_fetches_arguments_is_an_edge_and_of_no_part_of_the_program():
    opened = jv.open(FOLDER / "mlp_train.v5e.txt.gz")
    outline = opened.document().outlines[0].outline
    strings, op = outline.graph.tables.strings, outline.graph.nodes.op
    fetches = [node for node in range(len(outline.graph)) if strings[op[node]] in ("copy-start", "copy-done")]
    assert len(fetches) > 20
    assert not [node for node in fetches if outline.role[node] != EDGE]
    assert not [row for row in outline if row.parent == 0 for node in fetches if row.first <= node < row.end]
    # What was fetched for backward too tears nothing apart, and what updates alone is not of forward.
    top = [row.name for row in outline if row.parent == 0]
    assert top == ["pow x2 +5", "forward", "backward", "apply_updates"]
    assert not any("copy" in box.name for box in jv.open(FOLDER / "mlp_fwd.v5e.txt").view("hlo").boxes)


def test_functions_are_called_without_those_that_they_were_defined_in():
    found = {row.name for name in SAMPLES for row in jv.open(FOLDER / name).document().outlines[0].outline}
    assert not [name for name in found if "<locals>" in name]
