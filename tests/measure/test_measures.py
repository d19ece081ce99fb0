"""Measures in a document: what is written of a run, that it is read again, and how wrong ones are refused."""

from __future__ import annotations

import copy

import jax.numpy as jnp
import numpy as np
import pytest
from measure.readers import needs_reader
from programs import CORPUS

import jaxviz as jv
from jaxviz.document import Document, DocumentError


@pytest.fixture(scope="module")
def explored():
    function, arguments = CORPUS["scan_rnn"]()
    ex = jv.explore(function, *arguments)
    ex.run(repeat=3)
    return ex


def test_a_document_has_measures_only_after_a_run():
    ex = jv.explore(jnp.sin, jnp.ones(4))
    assert ex.document().measures == ()
    assert "measures" not in ex.document().to_json(packed=False)
    ex.run(repeat=2, profile=False)
    (entry,) = ex.document().measures
    assert entry.measures.runs == 2
    assert entry.measures.figures == {}
    assert entry.measures.seconds["median"] > 0


@needs_reader
def test_every_stage_has_the_time_of_the_run(explored):
    (entry,) = explored.document().measures
    measures = entry.measures
    total, unlinked = measures.seconds["operations"], measures.seconds["unlinked"]
    of = {kind: figures.columns["seconds"].sum() for kind, figures in measures.figures.items()}
    assert of["hlo"] == pytest.approx(total, rel=1e-3)
    assert of["jaxpr"] + unlinked == pytest.approx(total, rel=1e-3)
    assert 0 < of["stablehlo"] <= of["jaxpr"] * 1.001
    assert measures.coverage >= 0.99


@needs_reader
def test_figures_are_those_of_nodes_that_work(explored):
    document = explored.document()
    figures = document.measures[0].measures.figures["hlo"]
    graph = explored.hlo
    dots = {node.index for node in graph.find("dot")}
    kernels = {graph.region(node.region).owner for node in graph.find("dot") if node.region}
    most = figures.node[np.argmax(figures.columns["flops"])]
    assert int(most) in dots | kernels
    assert set(figures.columns) == {"seconds", "count", "flops", "bytes"}
    assert (figures.columns["count"][figures.columns["seconds"] > 0] >= 1).all()


@needs_reader
def test_what_is_written_is_read(explored, tmp_path):
    document = explored.document()
    found = jv.load(document.save(tmp_path / "run.jaxviz"))
    assert found.to_json(packed=False) == document.to_json(packed=False)
    (entry,), (before,) = found.measures, document.measures
    assert entry.measures.words == before.measures.words
    for kind, figures in before.measures.figures.items():
        assert (entry.measures.figures[kind].node == figures.node).all()
        for name, column in figures.columns.items():
            assert (entry.measures.figures[kind].columns[name] == column).all()


def test_stages_that_are_left_out_have_no_figures(explored):
    (entry,) = explored.document(stages=("jaxpr",)).measures
    assert set(entry.measures.figures) <= {"jaxpr"}
    assert explored.document().of_stage(0).measures == ()


@needs_reader
@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (lambda value: value.update(program=1), "$.measures[0].program"),
        (lambda value: value.update(runs=0), "$.measures[0].runs"),
        (lambda value: value.update(words="fast"), "$.measures[0].words"),
        (lambda value: value["seconds"].update(median=-1), "$.measures[0].seconds.median"),
        (lambda value: value["figures"].update(python={"node": []}), "$.measures[0].figures.python"),
        (lambda value: value["figures"]["hlo"]["node"].__setitem__(0, 10**6), "$.measures[0].figures.hlo.node[0]"),
        (lambda value: value["figures"]["hlo"]["seconds"].pop(), "$.measures[0].figures.hlo.seconds"),
        (lambda value: value["figures"]["hlo"]["bytes"].__setitem__(0, "x"), "$.measures[0].figures.hlo.bytes[0]"),
        (lambda value: value.update(figures=[]), "$.measures[0].figures"),
    ],
)
def test_wrong_measures_are_refused_by_place(explored, change, expected):
    value = copy.deepcopy(explored.document().to_json(packed=False))
    change(value["measures"][0])
    with pytest.raises(DocumentError) as raised:
        Document.from_json(value)
    assert f": {expected}: expected" in str(raised.value)


def test_a_document_of_an_older_version_has_none(explored):
    value = explored.document().to_json(packed=False)
    del value["measures"]
    assert Document.from_json({**value, "version": 1}).measures == ()


@needs_reader
def test_the_figures_of_a_large_program_are_small():
    function, arguments = CORPUS["flax_block_train"]()
    ex = jv.explore(function, *arguments)
    without = len(ex.document().to_json()["packed"])
    ex.run(repeat=2)
    assert len(ex.document().to_json()["packed"]) - without < 40_000
