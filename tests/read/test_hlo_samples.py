"""Modules that were compiled elsewhere: for an H100, a TPU v5e, and by an old JAX."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest
from read.hlo_walk import assert_same_flow

from jaxviz.read.hlo.graph import read_hlo
from jaxviz.read.hlo.proto import parse_hlo_proto
from jaxviz.read.hlo.text import parse_hlo_text
from jaxviz.tables import Tables

FOLDER = Path(__file__).parents[1] / "data" / "hlo"
SAMPLES = sorted(path.name for path in FOLDER.iterdir())


def sample(name: str) -> str:
    data = (FOLDER / name).read_bytes()
    return (gzip.decompress(data) if name.endswith(".gz") else data).decode()


@pytest.mark.parametrize("name", SAMPLES)
def test_every_instruction_is_read_as_jaxlib_reads_it(name):
    hlo = pytest.importorskip("jaxlib._hlo")
    text = sample(name)
    module = parse_hlo_text(text)
    count = assert_same_flow(read_hlo(module), hlo.hlo_module_from_text(text))
    assert count == len(module) == sum(" = " in line for line in text.split("\n") if line.startswith("  "))


@pytest.mark.parametrize("name", SAMPLES)
def test_the_protocol_buffer_of_a_sample_gives_the_same_graph(name):
    hlo = pytest.importorskip("jaxlib._hlo")
    module = hlo.hlo_module_from_text(sample(name))
    tables = Tables()
    of_text = read_hlo(parse_hlo_text(module.to_string()), tables).graph
    of_proto = read_hlo(parse_hlo_proto(module.as_serialized_hlo_module_proto()), tables).graph
    assert [(str(node), node.attributes, node.scope, node.frames) for node in of_text] == [
        (str(node), node.attributes, node.scope, node.frames) for node in of_proto
    ]


def test_a_gpu_kernel_is_named_with_its_configuration():
    graph = read_hlo(parse_hlo_text(sample("mlp_fwd.h100.txt"))).graph
    kernels = [node for node in graph if node.op == "fusion" and node.region == 0]
    assert [kernel.attributes["kind"] for kernel in kernels] == ["kCustom", "kCustom", "kLoop", "kCustom"]
    configurations = [kernel.attributes.get("backend_config", "") for kernel in kernels]
    assert ["__triton" in text for text in configurations] == [True, True, False, True]
    assert not any("INVALID" in text for text in configurations)


def test_copies_on_a_tpu_begin_and_end():
    graph = read_hlo(parse_hlo_text(sample("mlp_fwd.v5e.txt"))).graph
    starts, ends = graph.find("copy-start"), graph.find("copy-done")
    assert len(starts) == len(ends) == 4
    assert sorted(end.operands for end in ends) == sorted(start.values for start in starts)


def test_lines_without_tables_of_frames_are_frames():
    graph = read_hlo(parse_hlo_text(sample("fori.jax062.txt"))).graph
    (sine,) = graph.find("sine")
    assert [(frame.label, frame.line, frame.column, frame.function) for frame in sine.frames] == [
        ("programs.py", 27, -1, "")
    ]


def test_frames_come_with_libraries_marked_and_the_callers_outside():
    graph = read_hlo(parse_hlo_text(sample("mlp_train.h100.txt.gz"))).graph
    deepest = max((node.frames for node in graph), key=len)
    assert [(frame.label, frame.function) for frame in deepest][-4:] == [
        ("transform.py", "update_fn"),
        ("_tree_math.py", "tree_update_moment_per_elem_norm"),
        ("_tree_math.py", "<lambda>"),
        ("_tree_math.py", "orderth_norm"),
    ]
    assert [frame.function for frame in deepest if frame.label == "corpus.py"] == ["step"]
