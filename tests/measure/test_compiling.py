"""`ex.compile_cost()`: the way from Python to code, step by step, and what its parts cost."""

from __future__ import annotations

import json
import time
from itertools import pairwise

import jax
import jax.numpy as jnp
import pytest

import jaxviz as jv
from jaxviz import compat
from jaxviz.document import Document, DocumentError


@jax.jit
def inner(x):
    for _ in range(3):
        x = jnp.sin(x) * 2.0
    return x


def slow_to_trace(x):
    time.sleep(0.3)
    return jnp.sin(x) + 1.0


def outer(x):
    y = slow_to_trace(x)
    return inner(inner(y)) @ jnp.cos(x)


@pytest.fixture(scope="module")
def explored():
    ex = jv.explore(outer, jnp.ones((16, 16)))
    return ex, ex.compile_cost()


@pytest.mark.smoke
def test_the_steps_follow_each_other_and_parts_lie_inside(explored):
    ex, cost = explored
    top = [step for step in cost.steps if step.parent < 0]
    assert [step.kind for step in top] == ["trace", "lower", "compile"]
    for one, other in pairwise(top):
        assert other.start == pytest.approx(one.start + one.seconds)
    assert top[0].seconds == ex.program.seconds["trace"]
    assert cost.total == pytest.approx(sum(step.seconds for step in top))
    for step in cost.steps:
        if step.parent >= 0:
            around = cost.steps[step.parent]
            slack = 0.05 * around.seconds + 0.01
            assert step.start >= around.start - slack
            assert step.start + step.seconds <= around.start + around.seconds + slack


def test_the_compiler_is_taken_apart_into_passes_and_code(explored):
    _, cost = explored
    if compat.profile_reader() is None:
        assert not cost.passes
        assert any("cannot read a profile" in note for note in cost.notes)
        return
    assert {"optimize", "generate"} <= {step.kind for step in cost.steps}
    names = {one.name for one in cost.passes}
    assert {"cse", "dce", "algsimp"} <= names
    assert not any("(" in name for name in names)
    assert [one.seconds for one in cost.passes] == sorted((one.seconds for one in cost.passes), reverse=True)
    assert sum(one.seconds for one in cost.passes) <= 1.05 * cost.seconds("optimize")
    assert cost.seconds("optimize") + cost.seconds("generate") <= 1.05 * cost.seconds("compile")


def test_functions_jitted_inside_are_known_by_name_and_calls(explored):
    _, cost = explored
    found = next(one for one in cost.functions if one.name == "inner(f32[16,16])")
    assert found.calls == 2
    assert found.equations == 6
    assert found.compile > 0
    assert found.file.endswith("test_compiling.py")
    assert found.line == inner.__wrapped__.__code__.co_firstlineno


def test_lines_say_where_tracing_spent_its_time(explored):
    _, cost = explored
    own = [one for one in cost.traced if one.file.endswith("test_compiling.py")]
    first = slow_to_trace.__code__.co_firstlineno
    asleep = sum(one.seconds for one in own if one.line == first + 1)
    called = sum(one.seconds for one in own if one.line == outer.__code__.co_firstlineno + 1)
    assert 0.15 < asleep <= cost.seconds("trace")
    # With all that is called from there.
    assert called > 0.15
    assert cost.traced[0].seconds >= 0.15


def test_it_says_so_in_words(explored):
    _, cost = explored
    text = repr(cost)
    assert "before it can run: traced in" in text
    assert "functions jitted inside, each by itself: inner" in text


def test_the_document_has_it_and_gives_it_back(explored):
    ex, cost = explored
    document = ex.document()
    assert [entry.program for entry in document.compiling] == [0]
    again = Document.from_json(json.loads(json.dumps(document.to_json(packed=False))))
    read = again.compiling[0].cost
    assert read.lines() == cost.lines()
    assert [step.name for step in read.steps] == [step.name for step in cost.steps]
    assert [one.name for one in read.functions] == [one.name for one in cost.functions]
    assert json.dumps(again.to_json(packed=False)) == json.dumps(document.to_json(packed=False))


@pytest.mark.parametrize(
    ("change", "where"),
    [
        (lambda cost: cost.update(program=7), r"\$\.compiling\[0\]\.program"),
        (lambda cost: cost["steps"]["parent"].__setitem__(0, 0), r"steps\.parent\[0\]"),
        (lambda cost: cost["steps"]["kind"].__setitem__(0, "wait"), r"steps\.kind\[0\]"),
        (lambda cost: cost["passes"]["seconds"].append(1.0), r"passes\.seconds"),
        (lambda cost: cost["lines"]["line"].__setitem__(0, -4), r"lines\.line\[0\]"),
        (lambda cost: cost["functions"].pop("name"), r"functions\.name"),
        (lambda cost: cost.update(curve={"turns": [1], "loop": ["x"]}), r"curve"),
    ],
)
def test_a_fault_in_a_file_is_told_by_its_place(explored, change, where):
    value = json.loads(json.dumps(explored[0].document().to_json(packed=False)))
    change(value["compiling"][0])
    with pytest.raises(DocumentError, match=where):
        Document.from_json(value)


def test_a_program_stays_what_it_was():
    ex = jv.explore(outer, jnp.ones((16, 16)))
    ex.compile_cost()
    assert len(ex.document().graphs) == 3
    assert float(jax.jit(outer)(jnp.ones((16, 16)))[0, 0]) == float(jax.jit(outer)(jnp.ones((16, 16)))[0, 0])
    # A second time costs about the same: no cache answers.
    again = ex.compile_cost()
    assert again.seconds("compile") > 0.005
    assert again.seconds("lower") > 0.0005
