"""A document in which several programs were saved: each of them is there by its name, the first one first."""

from __future__ import annotations

import jax.numpy as jnp
import pytest

import jaxviz as jv
from jaxviz.cli import main
from jaxviz.join import joined

X = jnp.ones(4)


def small(x):
    return x + 1


def large(x):
    return jnp.sin(x) @ jnp.cos(x) + x


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    path = tmp_path_factory.mktemp("saved") / "both.jaxviz"
    joined([jv.explore(each, X).document() for each in (small, large)]).save(path)
    return path


def test_each_program_of_a_document_is_there_by_its_name(saved):
    opened = jv.open(saved)
    assert opened.names == ("small", "large")
    assert (len(opened.jaxpr.find("add")), len(opened.jaxpr.find("sin"))) == (1, 0)
    other = opened["large"]
    assert (len(other.jaxpr.find("dot_general")), other.stage) == (1, "jaxpr")
    assert other.kinds == ("jaxpr", "stablehlo", "hlo")
    assert len(other.fates) == 4
    # What is told of one is not told of the other.
    assert {finding.kind for finding in opened.findings} == {finding.kind for finding in jv.explore(small, X).findings}
    assert "large" in repr(opened)


def test_what_is_shown_first_comes_with_the_others(saved):
    opened = jv.open(saved)
    assert [one.name for one in opened.with_others().programs] == ["small", "large"]
    assert [one.name for one in opened.document().programs] == ["small", "large"]
    assert [one.name for one in opened["large"].with_others().programs] == ["large", "small"]
    assert [one.name for one in opened["large"].document().programs] == ["large"]
    # In a folder, beside others.
    jv.explore(large, X).document().save(saved.parent / "another.jaxviz")
    folder = jv.open(saved.parent)
    assert sorted(folder.names) == ["large", "large (2)", "small"]
    assert sorted(one.name for one in folder.with_others().programs) == ["large", "large", "small"]


def test_a_comparison_that_was_saved_stays_one(tmp_path):
    compared = jv.compare(jv.explore(small, X), jv.explore(large, X)).document()
    compared.save(tmp_path / "compared.jaxviz")
    opened = jv.open(tmp_path / "compared.jaxviz")
    assert len(opened.with_others().links) == len(compared.links)
    assert len(opened.names) == 2
    assert len(opened[opened.names[1]].document().links) == 2


def test_the_shell_writes_one_of_them(saved, tmp_path, capsys):
    assert main(["open", str(saved), "--program", "large", "-o", str(tmp_path / "large.dot")]) == 0
    assert "sin" in (tmp_path / "large.dot").read_text()
    assert main(["open", str(saved), "--program", "larger", "-o", str(tmp_path / "no.dot")]) != 0
    assert "it has: large, small" in capsys.readouterr().err
