"""The session's list of programs, and the line to the side panel."""

from __future__ import annotations

import gc
import json
import sys
import time
import weakref
from unittest import mock

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxviz as jv
from jaxviz.document import Document
from jaxviz.exploration import Exploration
from jaxviz.notebook import session as session_module
from jaxviz.notebook.channel import Channel
from jaxviz.notebook.session import MOST_PROGRAMS, Session
from jaxviz.program.program import Program
from jaxviz.program.specialization import definition_of, innermost


@pytest.fixture
def listed(monkeypatch):
    made = Session()
    monkeypatch.setattr(session_module, "_session", made)
    return made


def explored(fn, *args):
    exploration = Exploration(Program(fn, args))
    exploration.trace()
    return exploration


def double(x):
    return x * 2


class Line:
    """Stands for a comm."""

    def __init__(self):
        self.sent = []

    def send(self, message):
        self.sent.append(json.loads(json.dumps(message)))


def channel_of(listed):
    channel = Channel(listed)
    channel._comm = Line()
    listed.told = channel.tell
    return channel


def ask(channel, **question):
    channel._hear({"content": {"data": {"request": "r", **question}}})
    return channel._comm.sent[-1]


def test_exploring_again_takes_the_place_of_the_earlier_one(listed):
    listed.note_explored(explored(double, jnp.ones(3)))
    listed.note_explored(explored(double, jnp.ones(3)))
    listed.note_explored(explored(double, jnp.ones(4)))
    assert [entry.call for entry in listed.programs] == ["double(f32[3])", "double(f32[4])"]
    assert listed.programs[0].summary()["why"] == "you explored it"
    assert listed.programs[1].summary()["why"] == "the shape of `x` was [4], before [3]"


def test_a_call_that_cannot_be_traced_is_listed_with_the_reason_until_it_can(listed):
    channel = channel_of(listed)
    limits = [1]

    def guard(x):
        if limits and x > limits[0]:
            return x
        return -x

    with mock.patch("jaxviz.notebook.session.sys.modules", {**sys.modules, "IPython": mock.Mock()}):
        for _ in range(2):
            with pytest.raises(jax.errors.TracerBoolConversionError):
                jv.explore(guard, jnp.ones(()))
    [told] = ask(channel, type="list")["programs"]
    assert told["failed"] is True
    assert told["why"] == "could not be traced: Python's `if` needs to know `limits and x > limits[0]` while JAX traces"
    document = Document.from_json(ask(channel, type="open", id="1")["document"])
    assert document.programs[0].error.kind == "TracerBoolConversionError"
    listed.note_explored(explored(double, jnp.ones(3)))
    assert "nothing to compare" in ask(channel, type="compare", ids=["1", "2"])["error"]
    limits.clear()
    listed.note_explored(explored(guard, jnp.ones(())))
    assert [(entry.call, entry.failed) for entry in listed.programs] == [
        ("guard(f32[])", None),
        ("double(f32[3])", None),
    ]
    assert listed.document("1").programs[0].error is None


def test_arrays_are_not_kept(listed):
    exploration = explored(double, jnp.ones(3))
    kept = weakref.ref(exploration)
    listed.note_explored(exploration)
    del exploration
    # To ask for a collection does nothing while another thread collects.
    for _ in range(100):
        gc.collect()
        if kept() is None:
            break
        time.sleep(0.02)
    program = listed.programs[0].exploration.program
    assert isinstance(program.args[0], jax.ShapeDtypeStruct)
    assert listed.document("1").programs[0].call == "double(f32[3])"


def test_the_oldest_that_nobody_pinned_are_dropped(listed):
    program = explored(double, np.ones(3))
    for number in range(MOST_PROGRAMS + 3):
        program.call = f"double({number})"
        listed.note_explored(program)
        if number == 0:
            listed.pin("1", True)
    calls = [entry.call for entry in listed.programs]
    assert len(calls) == MOST_PROGRAMS
    assert calls[:2] == ["double(0)", "double(4)"]
    assert listed.dropped == 3


def test_the_panel_is_told_of_each_change(listed):
    channel = channel_of(listed)
    listed.note_explored(explored(double, jnp.ones(3)))
    assert channel._comm.sent[-1]["program"]["call"] == "double(f32[3])"
    assert ask(channel, type="rename", id="1", label="mine")["type"] == "done"
    assert listed["1"].label == "mine"
    ask(channel, type="pin", id="1", pinned=True)
    assert ask(channel, type="list")["programs"][0]["pinned"] is True
    ask(channel, type="delete", id="1")
    assert channel._comm.sent[-2] == {"type": "gone", "ids": ["1"], "dropped": 0}
    assert len(listed) == 0


def test_a_document_is_made_when_it_is_asked_for(listed):
    channel = channel_of(listed)
    listed.note_explored(explored(double, jnp.ones(3)))
    answer = ask(channel, type="open", id="1")
    assert (answer["type"], answer["id"], answer["request"]) == ("document", "1", "r")
    assert Document.from_json(answer["document"]).programs[0].name == "double"


def test_programs_side_by_side_have_the_names_that_the_person_gave_them(listed):
    channel = channel_of(listed)
    for size in (3, 4):
        listed.note_explored(explored(double, jnp.ones(size)))
    ask(channel, type="rename", id="2", label="four")
    answer = ask(channel, type="compare", ids=["1", "2"])
    assert [program.name for program in Document.from_json(answer["document"]).programs] == ["double", "four"]
    assert listed.document("2").programs[0].name == "double"


def test_what_cannot_be_answered_is_said_in_one_line(listed):
    channel = channel_of(listed)
    assert "no longer on the list" in ask(channel, type="open", id="9")["error"]
    assert "unknown question" in ask(channel, type="nonsense")["error"]
    channel._hear({"content": {"data": "rubbish"}})


def test_compiled_again_is_a_finding_of_the_document(listed):
    @jv.watch
    @jax.jit
    def step(x):
        return x * 2

    step(1.0)
    step(jnp.float32(1.0))
    document = listed.document(listed.programs[1].id)
    assert [entry.finding.kind for entry in document.findings] == ["recompiled"]
    again = Document.from_json(document.to_json())
    assert "Python number" in again.findings[0].finding.text
    # What it took the second time alone.
    took = sum(listed.programs[1].seconds.values())
    for finding in (again.findings[0].finding, *listed.findings):
        assert finding.figures["seconds"] == pytest.approx(took)
        assert f"Compiling it again took {took:.2g} s" in finding.text


def test_the_list_reads_as_text(listed):
    assert "no programs yet" in repr(listed)
    listed.note_explored(explored(double, jnp.ones(3)))
    assert "double(f32[3]): you explored it" in repr(listed)


def test_whatever_can_be_explored_is_listed(listed):
    equinox = pytest.importorskip("equinox")
    model = equinox.nn.Linear(3, 2, key=jax.random.key(0))
    x = jnp.ones(3)
    filtered = equinox.filter_jit(lambda model, x: model(x))
    for fn, *args in (
        (equinox.Partial(filtered, model), x),
        (equinox.filter_jit(model.__call__), x),
        (jax.tree_util.Partial(double), x),
        (jax.vmap(jax.jit(double)), x),
    ):
        listed.note_explored(explored(fn, *args))
    assert len(listed.summaries()) == 4


@pytest.mark.timeout(60)
def test_what_says_anew_each_time_what_it_wraps_is_listed(listed):
    equinox = pytest.importorskip("equinox")

    class Layer(equinox.Module):
        weight: jax.Array

        @equinox.filter_jit
        def __call__(self, x):
            return x * self.weight

    layer = Layer(jnp.ones(3))
    for fn in (layer, layer.__call__, equinox.filter_jit(layer)):
        listed.note_explored(explored(fn, jnp.ones(3)))
    assert len(listed.summaries()) == 3


@pytest.mark.timeout(60)
def test_what_wraps_without_end_is_its_own_innermost():
    endless = mock.MagicMock()
    endless.__wrapped__ = endless
    assert innermost(endless) is endless
    assert definition_of(endless).layers == ()


def test_what_is_explored_while_another_function_is_traced_is_listed(listed):
    def outer(x):
        listed.note_explored(explored(double, x))
        return x

    jax.jit(outer)(1.0)
    assert listed.summaries()[0]["call"] == "double(f32[])"


def test_while_somebody_looks_all_functions_of_the_person_are_listed(listed):
    channel = channel_of(listed)

    def compiles():
        jax.jit(lambda x: x * 3)(jnp.ones(3))

    compiles()
    assert ask(channel, type="listen", on=True)["type"] == "done"
    compiles()
    jnp.ones(17).sum()
    assert [(entry.origin, entry.function) for entry in listed.programs] == [("compiled", "<lambda>")]
    assert listed.programs[0].seconds.keys() >= {"lower", "compile"}
    ask(channel, type="listen", on=False)
    compiles()
    assert len(listed) == 1
    # A page that goes on looking hears that another one does not.
    assert {"type": "unlistened"} in channel._comm.sent


def test_what_the_person_asked_for_is_not_told_as_seen_in_passing(listed):
    ask(channel_of(listed), type="listen", on=True)
    try:
        watched = jv.watch(jax.jit(lambda x: x * 5))
        watched(jnp.ones(3))
    finally:
        listed.listen(False)
    assert [entry.origin for entry in listed.programs] == ["watched"]
