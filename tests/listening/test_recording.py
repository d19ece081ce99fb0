"""`jv.recording` and `jv.watch`: what JAX compiles is heard, and the person's functions and caches are left alone."""

from __future__ import annotations

import functools
import inspect
import subprocess
import sys

import jax
import jax.numpy as jnp
import pytest

import jaxviz as jv
from jaxviz.listening.listening import ear
from jaxviz.notebook import session as session_module
from jaxviz.notebook.session import session


@pytest.fixture(autouse=True)
def own_session(monkeypatch):
    monkeypatch.setattr(session_module, "_session", None)


def operations(graph):
    return [node.op for node in graph if node.kind == "operation"]


@pytest.mark.smoke
def test_every_compiled_function_is_a_program():
    @functools.partial(jax.jit, static_argnames="n")
    def power(x, n):
        return jnp.sin(x) ** n

    with jv.recording() as found:
        power(jnp.ones(3), n=2)
        power(jnp.ones(3), n=2)
        power(jnp.ones((2, 3)), n=3)
    assert [program.call for program in found.programs] == ["power(f32[3], n=2)", "power(f32[2,3], n=3)"]
    assert operations(found.programs[0].jaxpr) == ["sin", "integer_pow"] or "square" in operations(
        found.programs[0].jaxpr
    )
    assert found.programs[1].hlo
    first = found.compilations[0]
    assert set(first.seconds) == {"trace", "lower", "compile"}
    line = inspect.getsourcelines(test_every_compiled_function_is_a_program)[1]
    assert first.place == (__file__, line + 7)
    # `jnp.ones` ran outside of jit: it is compiled too, but no function of the person's.
    assert all(not operation.own for operation in found.operations)


def test_exploring_what_was_recorded_calls_no_function_of_the_persons():
    calls = []

    @jax.jit
    def step(x):
        calls.append(x)
        return x * 2

    with jv.recording() as found:
        step(jnp.ones(3))
    (program,) = found.programs
    document = program.document()
    assert [stage.kind for stage in document.programs[0].stages] == ["jaxpr", "stablehlo", "hlo"]
    assert len(calls) == 1
    assert step._cache_size() == 1
    step(jnp.ones(3))
    assert len(calls) == 1


@pytest.mark.smoke
def test_what_was_recorded_runs_whatever_the_function_was_called_with():
    @functools.partial(jax.jit, static_argnums=0, donate_argnums=2)
    def step(times, params, x):
        for _ in range(times):
            x = jnp.sin(x) * params["scale"]
        return {"x": x}

    with jv.recording() as found:
        step(40, {"scale": jnp.ones(())}, jnp.ones(30))
    (program,) = found.programs
    assert len(program.run(repeat=2).seconds) == 2
    assert program.values().first_bad is None
    assert program.program.donated == (False, True)
    assert program.rebuild().equal
    with pytest.raises(jv.RunError, match="explore the call to time it without jit"):
        program.run(repeat=2, eager=True)


def test_donated_arguments_stay_donated():
    @functools.partial(jax.jit, donate_argnums=0)
    def step(x, y):
        return x + y

    with jv.recording() as found:
        step(jnp.ones(30), jnp.ones(30))
    lowered = found.programs[0].program.lower(found.programs[0].program.jaxpr)
    assert "aliasing_output" in lowered.as_text() or "buffer_donor" in lowered.as_text()


def test_a_gradient_outside_of_jit_is_told_in_its_pieces():
    @jax.jit
    def loss(x):
        return jnp.sum(jnp.sin(x))

    with jv.recording() as found:
        jax.grad(loss)(jnp.ones(3))
    assert all(compilation.piece for compilation in found.compilations)
    assert {"cos"} <= {op for program in found.programs for op in operations(program.jaxpr)}


def test_a_loop_outside_of_jit_counts_as_the_persons():
    with jv.recording() as found:
        jax.lax.scan(lambda carry, x: (carry + x, carry), 0.0, jnp.ones(3))
    assert [compilation.definition.name for compilation in found.compilations] == ["scan"]


def test_ahead_of_time_compilation_is_heard():
    with jv.recording() as found:
        jax.jit(lambda x: x * 5).lower(jnp.ones(3)).compile()
    assert [set(compilation.seconds) for compilation in found.compilations] == [{"trace", "lower", "compile"}]


def test_what_jaxviz_compiles_itself_is_not_heard():
    def step(x):
        return jnp.sin(x) * 2

    x = jnp.ones(3)
    with jv.recording() as found:
        jv.explore(step, x).document()
    assert len(found) == 0
    assert found.operations == []


def test_an_error_of_the_person_passes_and_listening_ends():
    def fail():
        assert ear._hearers != before
        raise ZeroDivisionError

    before = ear._hearers
    with pytest.raises(ZeroDivisionError), jv.recording():
        fail()
    assert ear._hearers == before


def test_recordings_stand_in_each_other():
    @jax.jit
    def step(x):
        return x * 7

    with jv.recording() as outer:
        step(jnp.ones(3))
        with jv.recording() as inner:
            step(jnp.ones(4))
    assert (len(outer), len(inner)) == (2, 1)


@pytest.mark.parametrize("order", ["above", "below"])
def test_watched_functions_are_listed_wherever_jit_stands(order):
    def step(x):
        return x * 2

    watched = jv.watch(jax.jit(step)) if order == "above" else jax.jit(jv.watch(step))
    for x in (1.0, 2.0, jnp.ones(3), jnp.ones(3)):
        watched(x)
    listed = session().programs
    assert [entry.call for entry in listed] == ["step(1.0)", "step(f32[3])"]
    assert [entry.reasons[0].kind for entry in listed] == ["first", "shape"]
    assert all(entry.seconds["compile"] > 0 for entry in listed)


def test_a_watched_jitted_function_is_the_function_itself():
    @jax.jit
    def step(x):
        return x * 2

    assert jv.watch(step) is step


def test_a_watched_plain_function_is_listed_once_for_each_kind_of_arguments():
    @jv.watch
    def step(x, how="fast"):
        return x * 2

    for x in (1.0, 2.0, jnp.ones(3), jnp.zeros(3)):
        assert (step(x) == x * 2).all() if hasattr(x, "all") else step(x) == x * 2
    listed = session().programs
    assert [entry.call for entry in listed] == ["step(1.0)", "step(f32[3])"]
    assert not any(entry.compiled for entry in listed)
    # Nothing was compiled, so nothing was compiled again.
    assert session().findings == ()


def test_methods_and_gradients_of_watched_functions_work():
    class Model:
        @jv.watch
        def __call__(self, x):
            return jnp.sum(x**2)

    assert jax.grad(Model())(3.0) == 6.0


def test_what_cannot_be_watched_is_refused():
    with pytest.raises(TypeError, match="wants a function"):
        jv.watch(3)
    with pytest.raises(TypeError, match="written in Python"):
        jv.watch(len)


def test_whoever_clears_the_listeners_of_jax_does_not_end_recording():
    with jv.recording():
        jax.monitoring.clear_event_listeners()
        with jv.recording() as found:
            jax.jit(lambda x: jnp.cos(x))(jnp.ones(3))
    assert len(found.programs) == 1


def test_functions_that_equinox_jits_are_the_persons():
    # Not everywhere where the small set of tests runs.
    import equinox as eqx

    model = eqx.nn.MLP(2, 2, 8, 2, key=jax.random.key(0))

    @jv.watch
    @eqx.filter_jit
    def step(model, x, train):
        return model(x) if train else x

    @eqx.filter_jit
    def other(model, x):
        return model(x) * 2

    x = jnp.ones(2)
    with jv.recording() as found:
        step(model, x, True)
        other(model, x)
        step(model, x, False)
        for _ in range(2):
            eqx.filter_jit(lambda x: x + 1)(x)
    assert [compilation.call for compilation in found.compilations][:3] == [
        "step(MLP, f32[2], True)",
        "other(MLP, f32[2])",
        "step(MLP, f32[2], False)",
    ]
    why = [[(reason.kind, reason.path) for reason in reasons] for reasons in found.reasons]
    first = [("first", "")]
    assert why == [first, first, [("static", "train")], first, [("function", "<lambda>")]]
    assert len(session().programs) == 2


def test_a_transformation_of_a_jitted_function_is_not_the_function_defined_anew():
    @jax.jit
    def step(x):
        return jnp.sin(x)

    with jv.recording() as found:
        step(jnp.ones(3))
        jax.vmap(step)(jnp.ones((2, 3)))
    assert [why[0].kind for why in found.reasons] == ["first", "first"]


def test_nothing_listens_until_it_is_asked_for():
    script = """
import jax, jaxviz
from jax._src import monitoring
before = len(monitoring.get_event_duration_listeners())
assert "jaxviz.listening.listening" not in __import__("sys").modules
with jaxviz.recording():
    assert len(monitoring.get_event_duration_listeners()) == before + 1
assert len(monitoring.get_event_duration_listeners()) == before
"""
    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
