"""Reading while the compiler works: it is done when the compiler is, whatever happens to either."""

from __future__ import annotations

import gc
import threading
import time
from contextlib import nullcontext

import jax
import jax.numpy as jnp
import pytest

import jaxviz as jv
import jaxviz.capture
import jaxviz.meanwhile
from jaxviz.capture import Capture
from jaxviz.meanwhile import meanwhile
from jaxviz.program.program import Program


def test_both_are_done_at_the_end():
    done = []
    started = threading.Event()
    with meanwhile(lambda: (started.wait(10), done.append("work"))):
        started.set()
    assert done == ["work"]


def test_an_interrupt_waits_for_the_work():
    done = []
    with pytest.raises(KeyboardInterrupt), meanwhile(lambda: done.append("work")):
        raise KeyboardInterrupt
    assert done == ["work"]


def test_an_interrupt_as_the_work_begins_waits_for_it(monkeypatch):
    class Interrupted(threading.Thread):
        def start(self):
            super().start()
            raise KeyboardInterrupt

    monkeypatch.setattr(jaxviz.meanwhile, "Thread", Interrupted)
    done = []
    with pytest.raises(KeyboardInterrupt), meanwhile(lambda: (time.sleep(0.2), done.append("work"))):
        done.append("body")
    assert done == ["work"]


def test_an_interrupt_before_the_work_has_begun_waits_for_it_too(monkeypatch):
    class Late(threading.Thread):
        def start(self):
            threading.Timer(0.2, super().start).start()
            raise KeyboardInterrupt

    monkeypatch.setattr(jaxviz.meanwhile, "Thread", Late)
    done = []
    with pytest.raises(KeyboardInterrupt), meanwhile(lambda: (time.sleep(0.2), done.append("work"))):
        done.append("body")
    assert done == ["work"]


def capture() -> Capture:
    return Capture(Program(lambda x: jnp.sin(x) * 2.0, (jnp.ones(3),)))


def test_what_is_told_of_the_jaxpr_is_found_while_the_compiler_works():
    def step(w, x):
        return jax.grad(lambda w: (jnp.tanh(x @ w) ** 2).sum())(w)

    explored = jv.explore(step, jnp.ones((3, 3)), jnp.ones((2, 3)))
    assert "residuals" not in explored._subject.__dict__
    explored.hlo  # noqa: B018
    assert "found_in_jaxpr" in explored.__dict__
    assert explored.residuals.__dict__["policies"][0].name == "everything_saveable"


def test_what_needs_no_hlo_is_read_while_the_compiler_works(monkeypatch):
    one = capture()
    optimize = jaxviz.capture.optimize
    read = []

    def slow(*args, **options):
        # It may have ended already.
        for thread in threading.enumerate():
            if thread.name == "jaxviz":
                thread.join(30)
        read.extend(name for name in ("jaxpr", "outline", "stablehlo") if name in vars(one))
        return optimize(*args, **options)

    monkeypatch.setattr(jaxviz.capture, "optimize", slow)
    assert [node.op for node in one.hlo.graph if node.kind == "operation"]
    assert read == ["jaxpr", "outline", "stablehlo"]


def test_nothing_is_collected_while_the_compiler_works():
    """A collection walks all that JAX holds, and nobody can do anything else meanwhile."""
    collecting = []

    def heard(phase, _):
        collecting.append((phase, threading.current_thread().name))

    def step(w, x):
        for _ in range(4):
            x = jnp.tanh(x @ w)
        return x

    explored = jv.explore(step, jnp.ones((3, 3)), jnp.ones((2, 3)))
    usual = gc.get_threshold()
    gc.callbacks.append(heard)
    try:
        gc.set_threshold(20, 1, 1)
        explored.hlo  # noqa: B018
    finally:
        gc.set_threshold(*usual)
        gc.callbacks.remove(heard)
    assert "found_in_jaxpr" in explored.__dict__
    # What waited for its end comes then.
    assert [name for phase, name in collecting if phase == "start"].count("jaxviz") <= 1


@pytest.mark.smoke
@pytest.mark.parametrize("fails", [False, True])
def test_all_objects_are_walked_more_rarely_while_jax_traces_and_as_before_after_it(fails):
    usual, seen = gc.get_threshold(), []

    def step(x):
        seen.append(gc.get_threshold())
        if fails:
            raise ValueError("expected to fail")
        return x * 2.0

    with pytest.raises(ValueError, match="expected to fail") if fails else nullcontext():
        jv.explore(step, jnp.ones(3))
    # Younger objects are collected as ever.
    assert [*{at[:2] for at in seen}] == [usual[:2]]
    assert all(at[2] >= 100 for at in seen)
    assert gc.get_threshold() == usual


def test_nothing_is_collected_while_the_jaxpr_is_read(monkeypatch):
    """Tracing leaves so many objects that Python would walk them all as soon as it may."""
    seen = []
    names = Program.argument_names.func
    monkeypatch.setattr(Program, "argument_names", property(lambda one: (seen.append(gc.isenabled()), names(one))[1]))
    assert len(capture().jaxpr)
    assert seen
    assert not any(seen)


def test_nothing_is_collected_between_the_steps_of_reading_what_was_compiled(monkeypatch):
    one, seen = capture(), []
    with_names = Capture._with_names
    one.hlo_as_read  # noqa: B018
    monkeypatch.setattr(Capture, "_with_names", lambda *given: (seen.append(gc.isenabled()), with_names(*given))[1])
    one.hlo  # noqa: B018
    assert seen == [False]
    assert gc.isenabled()


def test_what_needs_no_optimized_program_is_found_while_the_compiler_works():
    one = capture()
    one.hlo_as_read  # noqa: B018
    assert "_numbers" in vars(one)
    assert "makers" in vars(one._equations)


def test_after_an_interrupt_of_the_compiler_all_can_be_asked_for(monkeypatch):
    one = capture()

    def interrupted(*args, **options):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(jaxviz.capture, "optimize", interrupted)
        with pytest.raises(KeyboardInterrupt):
            one.hlo  # noqa: B018
    assert len(one.stablehlo.graph)
    assert len(one.hlo.graph)


def test_what_fails_while_the_compiler_works_fails_where_it_is_asked_for(monkeypatch):
    one = capture()

    def broken(*args, **options):
        raise ValueError("no StableHLO today")

    with monkeypatch.context() as patch:
        patch.setattr(jaxviz.capture, "read_stablehlo", broken)
        assert len(one.hlo.graph)
        with pytest.raises(ValueError, match="no StableHLO today"):
            one.stablehlo  # noqa: B018
    assert len(one.stablehlo.graph)
