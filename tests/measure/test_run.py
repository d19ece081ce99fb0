"""`ex.run()`: what is timed, what is repeated, and what is said where something is in the way."""

from __future__ import annotations

import functools
import time

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxviz as jv
from jaxviz import compat
from jaxviz.measure.arguments import make_inputs
from jaxviz.measure.errors import RunError
from jaxviz.measure.progress import Silence
from jaxviz.measure.run import seconds_text


def calls_of(count, *arguments, **options):
    """How often a program was really computed when it was run."""
    seen = []

    def counted(*arguments):
        jax.debug.callback(lambda: seen.append(1))
        return count(*arguments)

    run = jv.explore(counted, *arguments).run(**options)
    return len(seen), run


def test_there_is_a_first_run_and_as_many_as_were_asked_for(capsys):
    calls, run = calls_of(jnp.sin, jnp.ones(4), repeat=5, profile=False)
    assert calls == 6
    assert len(run.seconds) == len(run.dispatches) == 5
    assert run.first > 0
    assert run.compile > 0


def test_a_person_is_told_before_what_is_repeated(capsys):
    _, run = calls_of(jnp.sin, jnp.ones(4), repeat=3, profile=False)
    told = capsys.readouterr().err
    assert "calls back into Python" in told
    assert "in each of 4 runs" in told
    assert any("calls back" in note for note in run.notes)


def test_results_are_waited_for():
    def slow(x):
        return jax.pure_callback(lambda x: time.sleep(0.05) or x, x, x)

    run = jv.explore(slow, jnp.ones(3)).run(repeat=3)
    assert all(seconds >= 0.05 for seconds in run.seconds)
    assert run.first >= 0.05
    assert min(run.seconds) <= run.median <= max(run.seconds)
    assert run.spread[0] <= run.median <= run.spread[1]
    assert all(dispatch <= wall for dispatch, wall in zip(run.dispatches, run.seconds, strict=True))


def test_donated_arguments_are_there_for_every_run_and_after():
    state = jnp.ones((4, 4))
    step = functools.partial(jax.jit, donate_argnums=0)(lambda state, x: state + x @ x)
    run = jv.explore(step, state, jnp.ones((4, 4))).run(repeat=3)
    assert len(run.seconds) == 3
    assert not state.is_deleted()
    assert any("copied before each run" in note for note in run.notes)


def test_shapes_alone_are_filled_as_asked():
    seen = []

    def total(x, n):
        jax.debug.callback(lambda x, n: seen.append((np.asarray(x), np.asarray(n))), x, n)
        return x.sum() + n

    shapes = jax.ShapeDtypeStruct((100,), jnp.float32), jax.ShapeDtypeStruct((), jnp.int32)
    run = jv.explore(total, *shapes).run(repeat=1)
    assert abs(seen[0][0].std() - 1) < 0.3
    assert "2 of 2 arguments were shapes alone" in " ".join(run.notes)
    run = jv.explore(total, *shapes).run(repeat=1, fill="ones")
    assert (seen[-1][0] == 1).all()
    assert "2 of 2 arguments were shapes alone, and are filled with ones" in run.notes
    jv.explore(total, *shapes).run(repeat=1, fill=lambda shape: np.full(shape.shape, 7, shape.dtype))
    assert (seen[-1][0] == 7).all()
    with pytest.raises(ValueError, match="normal, uniform, zeros, ones"):
        jv.explore(total, *shapes).run(fill="nothing")


@pytest.mark.parametrize(
    ("fill", "said"),
    [
        (lambda shape: np.zeros(3), r"fill gave f64\[3\] where f32\[4,4\] is wanted"),
        (lambda shape: np.zeros(shape.shape, complex), r"fill gave c128\[4,4\] where f32\[4,4\] is wanted"),
        (lambda shape: None, r"fill gave object\[\] where f32\[4,4\] is wanted"),
        (lambda shape: 1 / 0, r"fill raised an error for f32\[4,4\]: ZeroDivisionError: division by zero"),
    ],
)
def test_what_fill_gives_must_fit(fill, said):
    ex = jv.explore(lambda x: x * 2.0, jax.ShapeDtypeStruct((4, 4), jnp.float32))
    with pytest.raises(RunError, match=said):
        ex.run(fill=fill)
    assert ex.run(repeat=1, fill=lambda shape: np.arange(16).reshape(4, 4)).median > 0


def test_large_arguments_are_filled_in_pieces_between_which_it_can_be_stopped():
    asked = []

    def go_on():
        asked.append(1)
        if len(asked) > 3:
            raise KeyboardInterrupt

    large = jax.ShapeDtypeStruct((8, 1024, 1024), jnp.bfloat16)
    with pytest.raises(KeyboardInterrupt):
        make_inputs([large], {}, (), (), "normal", go_on)
    whole = make_inputs([large], {}, (), ()).leaves[0]
    assert whole.dtype == jnp.bfloat16
    assert abs(np.asarray(whole[-1], np.float32).std() - 1) < 0.1


def test_arguments_that_are_gone_are_named():
    state = jnp.ones(8)
    step = functools.partial(jax.jit, donate_argnums=0)(lambda state, *, rate: state * rate)
    ex = jv.explore(step, state, rate=2.0)
    ex.run(repeat=1, profile=False)
    step(state, rate=2.0)
    if not state.is_deleted():
        state.delete()
    with pytest.raises(RunError, match="argument 1 is not there any more: it was donated to a call, or deleted"):
        ex.run()


def test_what_is_explored_while_another_function_is_traced_is_not_run():
    said = []

    def outer(x):
        for function, argument in ((lambda y: y + x, 1.0), (jnp.sin, x)):
            ex = jv.explore(function, argument)
            for act in (ex.run, ex.values):
                with pytest.raises(RunError) as raised:
                    act()
                said.append(str(raised.value))
        return x

    jax.jit(outer)(1.0)
    assert len(said) == 4
    assert all("Explore it outside of that function" in text for text in said)


@pytest.mark.parametrize("seconds", [0, -1, float("nan"), "a", True])
def test_a_wrong_number_of_seconds_is_refused(seconds):
    with pytest.raises(ValueError, match="seconds must be a number above 0"):
        jv.explore(jnp.sin, 1.0).run(seconds=seconds)


def test_a_file_that_cannot_be_written_is_refused_before_anything_runs(tmp_path):
    calls = []
    ex = jv.explore(lambda x: jax.debug.callback(lambda: calls.append(1)) or x + 1.0, 1.0)
    with pytest.raises(ValueError, match="there is no folder"):
        ex.run(memory_profile=tmp_path / "none" / "memory.prof")
    with pytest.raises(ValueError, match="is a folder"):
        ex.run(memory_profile=tmp_path)
    assert not calls


def test_a_check_for_nans_that_ends_a_run_is_explained():
    ex = jv.explore(lambda x: jnp.log(x - 2.0), jnp.ones(3))
    with (
        jax.debug_nans(True),
        pytest.raises(RunError, match="because a value is NaN, which jax_debug_nans"),
    ):
        ex.run()


def test_what_computes_nothing_says_why_there_is_no_profile():
    run = jv.explore(lambda x: None, jnp.ones(3)).run(repeat=2)
    assert run.profile is None
    if compat.profile_reader() is not None:
        assert any("there is none: nothing is left to compute" in note for note in run.notes)


def test_who_waits_long_is_told_less_and_less_often(monkeypatch):
    now, heard = [0.0], []
    monkeypatch.setattr("jaxviz.measure.progress.perf_counter", lambda: now[0])
    silence = Silence(heard.append)
    for second in range(1000):
        now[0] = float(second)
        silence.break_with("f: 0 of 20 runs")
    assert heard[0] == "f: 0 of 20 runs, after 5 s; interrupt to stop."
    assert 8 < len(heard) < 20


def test_all_kinds_of_shapes_can_be_filled():
    key = jax.eval_shape(lambda: jax.random.split(jax.random.key(0), 3))
    shapes = {
        "key": key,
        "complex": jax.ShapeDtypeStruct((2,), jnp.complex64),
        "flag": jax.ShapeDtypeStruct((2,), jnp.bool_),
        "short": jax.ShapeDtypeStruct((2,), jnp.bfloat16),
    }

    def f(tree):
        return jax.random.normal(tree["key"][0]), tree["complex"] * 2, ~tree["flag"], tree["short"] + 1

    for fill in ("normal", "uniform", "zeros", "ones"):
        assert jv.explore(f, shapes).run(repeat=1, fill=fill).median > 0


def test_static_arguments_named_ones_and_methods_can_be_run():
    @functools.partial(jax.jit, static_argnums=1, static_argnames="mode")
    def power(x, n, y=0.0, *, mode="plus"):
        return x**n + y if mode == "plus" else x**n - y

    assert jv.explore(power, jnp.ones(3), 2, y=1.5, mode="minus").run(repeat=2).median > 0
    assert jv.explore(lambda x, n: x * n, 3, jnp.ones(2), static_argnums=0).run(repeat=2, eager=True).eager

    class Model:
        scale = 2.0

        @functools.partial(jax.jit, static_argnums=0)
        def __call__(self, x):
            return x * self.scale

        @functools.partial(jax.jit, static_argnums=(0, 2))
        def apply(self, x, n):
            return x * n

    assert jv.explore(Model().apply, jnp.ones(3), 4).run(repeat=2).median > 0


def test_a_person_is_told_before_that_python_runs_again_without_jit(capsys):
    said_before = []

    class Counter:
        count = 0

        def add(self, x):
            said_before.append(capsys.readouterr().err)
            self.count += 1
            return x + self.count

    counter = Counter()
    ex = jv.explore(counter.add, jnp.ones(3))
    ex.run(repeat=2)
    assert counter.count == 1
    ex.run(repeat=2, eager=True)
    assert counter.count == 4
    assert "add(f32[3]) runs 3 times" in said_before[1]


def test_eager_and_jitted_are_both_timed_when_asked():
    @jax.jit
    def f(x):
        for _ in range(20):
            x = jnp.sin(x) + 1.0
        return x

    run = jv.explore(f, jnp.ones(8)).run(repeat=3, eager=True)
    assert len(run.eager) == 3
    assert "without jit" in str(run)
    assert not jv.explore(f, jnp.ones(8)).run(repeat=3).eager


def test_long_runs_are_fewer_and_say_so():
    def slow(x):
        return jax.pure_callback(lambda x: time.sleep(0.1) or x, x, x)

    run = jv.explore(slow, jnp.ones(3)).run(repeat=1000, seconds=0.4)
    assert 1 <= len(run.seconds) < 20
    assert "of the 1000 runs" in " ".join(run.notes)


@pytest.mark.parametrize("repeat", [0, -1, 2.5, True, "3"])
def test_a_wrong_number_of_runs_is_refused(repeat):
    with pytest.raises(ValueError, match="repeat must be a whole number above 0"):
        jv.explore(jnp.sin, 1.0).run(repeat)


def test_what_a_callback_raises_is_said_in_one_line():
    def broken(x):
        def fail(x):
            raise ZeroDivisionError("no such thing")

        return jax.pure_callback(fail, x, x)

    ex = jv.explore(broken, jnp.ones(3))
    with pytest.raises(RunError, match=r"failed while it ran.*no such thing") as raised:
        ex.run(repeat=2)
    assert "\n" not in str(raised.value)
    assert len(ex.document().graphs) == 3
    assert ex.measured is None


def test_what_does_not_fit_is_not_run():
    def large(x):
        return jnp.sort(jnp.broadcast_to(x, (10**7, 10**6)) + jnp.arange(10**7)[:, None], axis=0)

    with pytest.raises(RunError, match=r"needs .* are free on"):
        jv.explore(large, jnp.ones(())).run()
    with pytest.raises(RunError, match=r"needs .* are free on"):
        jv.explore(lambda x: x.sum(), jax.ShapeDtypeStruct((10**13,), jnp.float32)).run()


def test_what_is_compiled_for_a_device_that_is_not_here_is_not_run():
    from dataclasses import replace

    ex = jv.explore(jnp.sin, jnp.ones(3), target="cpu")
    ex.program.target = replace(ex.program.target, label="NVIDIA H100", limits=("Nothing runs.",))
    with pytest.raises(RunError, match="NVIDIA H100, which is not here"):
        ex.run()


def test_a_listener_hears_how_far_it_is():
    heard = []

    def nap(x):
        before = len(heard)
        while len(heard) == before:
            time.sleep(0.01)
        return x

    def slow(x):
        return jax.pure_callback(nap, x, x)

    jv.explore(slow, jnp.ones(3)).run(repeat=8, progress=heard.append)
    counts = [progress.done for progress in heard if progress.step == "run"]
    assert counts == sorted(counts)
    assert len(set(counts)) > 1
    assert {progress.total for progress in heard} == {8}
    assert any(progress.words == f"{progress.done} of 8 runs" for progress in heard)
    assert all(progress.words for progress in heard)


def test_what_is_on_the_device_is_written_for_pprof(tmp_path):
    import gzip

    run = jv.explore(lambda x: jnp.sin(x), jnp.ones((999, 8))).run(repeat=1, memory_profile=tmp_path / "memory.prof")
    assert run.seconds
    profile = gzip.decompress((tmp_path / "memory.prof").read_bytes())
    # 999 x 8 x 4 bytes as the format writes a number: what the run was given, and what it gave.
    assert profile.count(bytes([0xE0, 0xF9, 0x01])) >= 2


def test_what_the_device_refuses_is_said_in_one_line(monkeypatch):
    def refuse(self, compiled=None, look=None):
        raise jax.errors.JaxRuntimeError("RESOURCE_EXHAUSTED: Out of memory allocating 99 bytes.\nAnd more.")

    monkeypatch.setattr("jaxviz.measure.run.Executable.once", refuse)
    ex = jv.explore(jnp.sin, jnp.ones(3))
    with pytest.raises(RunError, match=r"sin\(f32\[3\]\) ran out of memory: .*99 bytes\. Smaller") as raised:
        ex.run()
    assert "\n" not in str(raised.value)
    assert len(ex.document().graphs) == 3


def test_the_text_says_what_was_measured():
    text = repr(jv.explore(jnp.sin, jnp.ones(4)).run(repeat=4))
    assert text.startswith("<Run: median ")
    assert "on CPU (4 runs, half of them" in text
    assert "first run" in text
    assert seconds_text(3.2e-8) == "32 ns"
