"""Documents: saved and reopened without a difference, small, and clear about what is wrong with a file."""

from __future__ import annotations

import copy
import json
from pathlib import Path

import jax
import jax.numpy as jnp
import jsonschema
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import jaxviz
from jaxviz.document import DOCUMENT_VERSION, Document, DocumentError, ProgramEntry, StageEntry
from jaxviz.document.text import plain, text_of
from jaxviz.exploration import explore
from jaxviz.read.jaxpr import read_jaxpr
from jaxviz.tables import Tables

SCHEMA = json.loads((Path(__file__).parents[1] / "schema" / "document.schema.json").read_text())


def make(function, *arguments) -> Document:
    tables = Tables()
    graph = read_jaxpr(jax.jit(function).trace(*arguments).jaxpr, tables)
    stages = (StageEntry("jaxpr", 0, {"trace": 0.25, "read": 0.5}),)
    return Document(tables, (graph,), (ProgramEntry("f", "f(x)", tables.file(__file__), 1, stages),))


@pytest.fixture
def document() -> Document:
    return make(lambda x: jax.lax.cond(x.sum() > 0, jnp.sin, jnp.cos, x) * 2.0, jnp.ones(4))


@pytest.mark.smoke
def test_a_document_follows_the_schema(document):
    for packed in (False, True, None):
        jsonschema.validate(document.to_json(packed), SCHEMA)


@pytest.mark.smoke
def test_a_saved_document_opens_as_it_was(document, tmp_path):
    path = document.save(tmp_path / "program.jaxviz")
    opened = Document.load(path)
    assert opened.to_json() == document.to_json()
    assert opened.programs == document.programs
    assert [str(node) for node in opened.graphs[0]] == [str(node) for node in document.graphs[0]]
    assert opened.graphs[0].find("sin")[0].frames == document.graphs[0].find("sin")[0].frames


def test_the_source_is_in_the_document(document):
    plain = document.to_json(packed=False)
    texts = [plain["strings"][text] for text in plain["files"]["text"]]
    assert any("jax.lax.cond(x.sum() > 0" in text for text in texts)


def test_findings_are_in_the_document(tmp_path):
    def twice(key):
        return jax.random.normal(key) + jax.random.normal(key)

    document = explore(twice, jax.random.key(0)).document()
    jsonschema.validate(document.to_json(packed=False), SCHEMA)
    [entry] = document.findings
    opened = Document.load(document.save(tmp_path / "program.jaxviz"))
    [again] = opened.findings
    assert (again.finding.title, again.finding.lines) == (entry.finding.title, entry.finding.lines)
    assert again.finding.nodes.tolist() == entry.finding.nodes.tolist()
    assert [opened.graphs[0].node(node).op for node in again.finding.nodes] == ["random_bits"] * 2


def test_a_finding_about_nodes_that_are_not_there_is_told():
    document = explore(lambda key: jax.random.normal(key) + jax.random.normal(key), jax.random.key(0)).document()
    value = document.to_json(packed=False)
    value["findings"][0]["size"][0] = 10_000
    with pytest.raises(DocumentError, match=r"findings\[0\]"):
        Document.from_json(value)


def test_it_is_packed_where_that_is_smaller(document):
    for candidate in (document, Document(Tables(), (), ()), Document(Tables(), (), (), producer={})):
        sizes = [len(json.dumps(candidate.to_json(packed), separators=(",", ":"))) for packed in (True, False)]
        assert ("packed" in candidate.to_json()) == (sizes[0] < sizes[1])
    assert "packed" in document.to_json()


def test_ten_thousand_nodes_fit_the_budget(tmp_path):
    def f(x):
        for turn in range(2500):
            x = jnp.sin(x) * (1.0 + turn) + x[turn % 4] - x.sum()
        return x

    document = make(f, jnp.ones(4))
    assert len(document.graphs[0]) >= 10_000
    assert document.save(tmp_path / "large.jaxviz").stat().st_size <= 300_000


def test_a_newer_document_says_what_it_needs(document, tmp_path):
    path = tmp_path / "new.jaxviz"
    path.write_text(json.dumps({**document.to_json(), "version": DOCUMENT_VERSION + 1}))
    with pytest.raises(DocumentError) as raised:
        Document.load(path)
    assert str(raised.value) == (
        f"{path}: this document needs jaxviz with document version {DOCUMENT_VERSION + 1}; "
        f"this is version {DOCUMENT_VERSION}: "
        "pip install --upgrade jupyterlab-jaxviz"
    )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", r"line 1 column 1: expected a jaxviz document"),
        ("[1, 2", r"line 1 column \d+: expected"),
        ("[]", r"\$: expected a jaxviz document"),
        ('{"format": "other"}', r"\$: expected a jaxviz document"),
        ('{"format": "jaxviz", "version": "1"}', r"\$\.version: expected a whole number"),
        ('{"format": "jaxviz", "version": 1, "packed": "@@@"}', r"\$\.packed: expected base64"),
        ('{"format": "jaxviz", "version": 1, "packed": 3}', r"\$\.packed: expected base64"),
        ('{"format": "jaxviz", "version": 1, "packed": "eJwDAAAAAAE="}', r"\$\.packed: expected JSON"),
        ('{"format": "jaxviz", "version": 1}', r"\$\.producer: expected an object"),
    ],
)
def test_what_is_no_document_is_told_in_one_line(text, message, tmp_path):
    path = tmp_path / "bad.jaxviz"
    path.write_text(text)
    with pytest.raises(DocumentError, match=message) as raised:
        Document.load(path)
    assert "\n" not in str(raised.value)
    assert str(path) in str(raised.value)


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        (("strings", 1), 3, r"\$\.strings\[1\]: expected a string"),
        (("types", "text", 0), 99_999, r"\$\.types\.text\[0\]: expected a whole number"),
        (("types", "dims"), [1] * 9, r"\$\.types\.dims: expected as many dimensions"),
        (("stacks", "parent", 0), 5, r"\$\.stacks\.parent\[0\]: expected an earlier stack"),
        (("frames", "file", 0), 99, r"\$\.frames\.file\[0\]: expected a whole number"),
        (("graphs", 0), 5, r"\$\.graphs\[0\]: expected an object"),
        (("graphs", 0, "nodes", "op", 2), "add", r"\$\.graphs\[0\]\.nodes\.op\[2\]: expected a whole number"),
        (("graphs", 0, "nodes", "op", 2), 2**40, r"\$\.graphs\[0\]\.nodes\.op\[2\]: expected a whole number"),
        (("graphs", 0, "nodes", "op", 2), True, r"\$\.graphs\[0\]\.nodes\.op\[2\]: expected a whole number"),
        (("graphs", 0, "operands", "source", 0), 9_999, r"\$\.graphs\[0\]: operands.source\[0\]"),
        (("programs", 0, "file"), 77, r"\$\.programs\[0\]\.file: expected a whole number"),
        (("programs", 0, "stages", 0, "graph"), 1, r"\$\.programs\[0\]\.stages\[0\]\.graph: expected"),
        (("programs", 0, "stages", 0, "kind"), "x", r"\$\.programs\[0\]\.stages\[0\]\.kind: expected one of jaxpr"),
        (("programs", 0, "stages", 0, "seconds"), {"trace": -1}, r"seconds\.trace: expected seconds"),
    ],
)
def test_a_fault_is_named_by_its_place(document, path, value, message):
    plain = copy.deepcopy(document.to_json(packed=False))
    place = plain
    for step in path[:-1]:
        place = place[step]
    place[path[-1]] = value
    with pytest.raises(DocumentError, match=message):
        Document.from_json(plain)


def test_a_document_of_nonsense_never_raises_anything_else(document):
    plain = document.to_json(packed=False)
    for key in plain:
        for nonsense in (None, 3, "text", [], {}, [None], {"a": 1}):
            changed = {**plain, key: nonsense}
            try:
                Document.from_json(changed)
            except DocumentError:
                continue


@pytest.mark.parametrize(
    "text",
    [
        '{"format": "jaxviz", "version": ' + "9" * 5000 + "}",
        '{"format": "jaxviz", "version": NaN}',
        '{"format": "jaxviz", "version": 1, "producer": {}, "strings": ["", "\\ud800"]}',
        '{"format": "jaxviz", "version": 1, "producer": {}, "strings": [""',
    ],
)
def test_a_strange_file_is_one_line(tmp_path, text):
    path = tmp_path / "strange.jaxviz"
    path.write_text(text)
    with pytest.raises(DocumentError) as caught:
        Document.load(path)
    assert "\n" not in str(caught.value)


def test_links_fates_and_outlines_open_as_they_were(tmp_path):
    import jaxviz as jv

    document = jv.explore(lambda x: jnp.sin(x).sum() * 2.0, jnp.ones(4)).document()
    assert [stage.kind for stage in document.programs[0].stages] == ["jaxpr", "stablehlo", "hlo"]
    jsonschema.validate(document.to_json(packed=False), SCHEMA)
    opened = Document.load(document.save(tmp_path / "all.jaxviz"))
    assert opened.to_json() == document.to_json()
    assert len(opened.links) == 2
    assert len(opened.fates) == 1
    assert len(opened.outlines) == 3


@pytest.mark.parametrize("section", ["links", "fates", "outlines"])
def test_sections_about_graphs_that_are_not_there_are_refused(section):
    import jaxviz as jv

    plain = jv.explore(jnp.sin, jnp.ones(4)).document().to_json(packed=False)
    plain[section][0]["to" if section == "links" else "graph"] = 7
    with pytest.raises(DocumentError, match=rf"\$\.{section}\[0\]"):
        Document.from_json(plain)


# Passes.

TWICE = {
    **{"name": "start", "pipeline": "", "joined": 0, "nodes": [0, 0, 2, 0, 0]},
    **{key: [] for key in ("regions", "rows", "bindings")},
}


@pytest.fixture(scope="module")
def with_passes() -> Document:
    def f(x):
        return jax.lax.fori_loop(0, 4, lambda i, c: jnp.sin(c) + jnp.sin(c) * i, x)

    return jaxviz.explore(f, jnp.ones(4)).document(passes=True)


def test_passes_that_somebody_looked_at_are_in_all_that_is_shown():
    explored = jaxviz.explore(lambda x: jnp.sin(x) * 2 + 1, jnp.ones(4))
    assert explored.document().passes == ()
    seen = explored.passes
    [entry] = explored.document().passes
    assert len(entry.passes) == len(seen)


def test_passes_are_saved_as_differences_and_open_as_they_were(with_passes, tmp_path):
    plain = with_passes.to_json(packed=False)
    jsonschema.validate(plain, SCHEMA)
    opened = Document.load(with_passes.save(tmp_path / "passes.jaxviz"))
    assert opened.to_json(packed=False) == plain
    [before], [after] = with_passes.passes, opened.passes
    assert [str(each) for each in before.passes] == [str(each) for each in after.passes]
    assert [each.name for each in after.passes]
    for one, other in zip(before.passes, after.passes, strict=True):
        assert list(map(str, one.graph)) == list(map(str, other.graph))


def test_a_document_of_the_first_version_still_opens(document):
    plain = {**document.to_json(packed=False), "version": 1}
    assert Document.from_json(plain).passes == ()


@pytest.mark.parametrize(
    ("where", "value", "message"),
    [
        (("graph",), 9, r"\$\.passes\[0\]\.graph: expected a whole number"),
        (("states",), [], r"\$\.passes\[0\]\.states: expected at least one"),
        (("states", 0, "nodes"), [5, 0, 0], r"states\[0\]\.nodes: expected an edit of 0 records"),
        (("states",), [TWICE], r"states\[0\]: expected each lineage once"),
        (("states", 0, "rows"), [], r"states\[\d\]\.rows: "),
        (("nodes", "op"), [-1], r"nodes\.op\[0\]: expected"),
        (("nodes", "outputs"), None, r"passes\[0\]\.nodes\.outputs: expected a list"),
        (("operands", "lineage"), [], r"operands.*: expected"),
        (("links", "node"), [10**6], r"links\.node\[0\]: expected"),
    ],
)
def test_damaged_passes_are_told_in_one_line(with_passes, where, value, message):
    damaged = copy.deepcopy(with_passes.to_json(packed=False))
    at = damaged["passes"][0]
    for key in where[:-1]:
        at = at[key]
    at[where[-1]] = value
    with pytest.raises(DocumentError, match=message) as raised:
        Document.from_json(damaged, "x.jaxviz")
    assert "\n" not in str(raised.value)


@given(st.lists(st.integers(-(2**31), 2**31 - 1)) | st.lists(st.integers(-9, 70_000)))
def test_columns_are_written_as_json_writes_them(numbers):
    column = np.array(numbers, np.int32)
    value = {"a": [{"column": column, "text": "é"}], "none": [], "one": 1.5}
    assert json.loads(text_of(value)) == plain(value)
    assert text_of(column) == json.dumps(numbers, separators=(",", ":")).encode()
