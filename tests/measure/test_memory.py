"""Memory over the schedule: it agrees with what XLA sets aside, and says what is alive at the peak."""

from __future__ import annotations

import copy
import functools

import jax
import jax.numpy as jnp
import pytest
from jax import lax
from programs import CORPUS

import jaxviz as jv
from jaxviz.document import Document, DocumentError


def analysis_of(function, arguments):
    return jax.jit(function).lower(*arguments).compile().memory_analysis()


@pytest.mark.parametrize("name", sorted(CORPUS))
def test_what_is_needed_is_what_xla_sets_aside(name):
    function, arguments = CORPUS[name]()
    memory = jv.explore(function, *arguments).memory()
    stats = analysis_of(function, arguments)
    sizes = {"argument": 0, "result": 0, "temporary": 0, "constant": 0, "of one thread": 0}
    for allocation in memory.allocations:
        sizes[allocation.kind] += allocation.size
    assert sizes["argument"] == stats.argument_size_in_bytes
    assert sizes["temporary"] == stats.temp_size_in_bytes
    assert memory.total == (
        stats.argument_size_in_bytes + stats.output_size_in_bytes - stats.alias_size_in_bytes + stats.temp_size_in_bytes
    )
    # What is alive never exceeds what is set aside.
    assert memory.peak <= memory.total


# What XLA sets aside has gaps in these, which nothing fits into at the step that needs most: so many bytes at most.
_GAPS = {"linear_algebra": 200, "convolution": 100}


@pytest.mark.parametrize("name", sorted(CORPUS))
def test_the_peak_of_the_schedule_is_what_xla_sets_aside(name):
    function, arguments = CORPUS[name]()
    memory = jv.explore(function, *arguments).memory()
    stats = analysis_of(function, arguments)
    set_aside = (
        stats.argument_size_in_bytes + stats.output_size_in_bytes - stats.alias_size_in_bytes + stats.temp_size_in_bytes
    )
    most = max(memory.live, default=0)
    assert memory.peak + memory.gaps == memory.total == set_aside
    assert memory.gaps == memory.temporary - most
    assert 0 <= memory.gaps <= _GAPS.get(name, 0)
    assert ("in gaps between them" in " ".join(memory.lines())) == bool(memory.gaps)


def test_small_values_take_what_lies_between_them_too():
    def f(x):
        return lax.fori_loop(0, 10, lambda i, c: (c[0] + i, jnp.sort(c[1])), (x.sum(), x))

    memory = jv.explore(f, jnp.ones(5)).memory()
    own = max(
        sum(value.size for value in memory.values if value.first <= step <= value.last)
        for step in range(len(memory.steps))
    )
    assert own < memory.live.max() == memory.temporary


def test_what_is_alive_at_the_peak_is_named():
    def f(x):
        wide = jnp.sin(x)[:, None] * jnp.cos(x)[None, :]
        return jnp.sort(wide @ wide, axis=0).sum()

    memory = jv.explore(f, jnp.ones(300)).memory()
    largest = memory.alive[0]
    assert largest.size == 300 * 300 * 4
    assert memory.live[memory.peak_step] == memory.live.max()
    assert sum(value.size for value in memory.alive) == memory.live.max()
    assert all(value.first <= memory.peak_step <= value.last for value in memory.alive)
    assert any("temporary value" in line for line in memory.lines())


def test_values_that_are_no_longer_needed_make_room():
    def f(x):
        for _ in range(6):
            x = jnp.sort(x @ x, axis=0)
        return x

    memory = jv.explore(f, jnp.ones((64, 64))).memory()
    assert memory.live.max() <= 3 * 64 * 64 * 4


def test_a_loop_carries_its_values_in_one_place():
    def f(x):
        return lax.fori_loop(0, 10, lambda _, y: jnp.sort(y @ y, axis=0), x)

    memory = jv.explore(f, jnp.ones((100, 100))).memory()
    assert memory.live.max() <= memory.temporary + memory.results
    assert len(memory.steps) > 3


def test_donated_arguments_hold_results():
    step = functools.partial(jax.jit, donate_argnums=0)(lambda state, x: state + x)
    memory = jv.explore(step, jnp.ones(1000), jnp.ones(1000)).memory()
    assert memory.aliased == 4000
    assert memory.total == 8000
    assert "in donated arguments" in memory.lines()[0]


def test_nothing_runs_for_it():
    ran = []

    def f(x):
        jax.debug.callback(lambda: ran.append(1))
        return x @ x

    ex = jv.explore(f, jax.ShapeDtypeStruct((50, 50), jnp.float32))
    assert ex.memory().arguments == 10_000
    assert ran == []
    assert ex.measured is None


def test_a_run_has_the_memory_too():
    ex = jv.explore(lambda x: jnp.sort(x @ x), jnp.ones((50, 50)))
    assert ex.document().memory == ()
    run = ex.run(repeat=1, profile=False)
    assert run.memory is ex.memory()
    assert len(ex.document().memory) == 1


def test_what_is_written_is_read(tmp_path):
    function, arguments = CORPUS["mlp_grad"]()
    ex = jv.explore(function, *arguments)
    memory = ex.memory()
    document = ex.document()
    found = jv.load(document.save(tmp_path / "memory.jaxviz"))
    assert found.to_json(packed=False) == document.to_json(packed=False)
    read = found.memory[0].memory
    assert (read.total, read.peak, read.peak_step) == (memory.total, memory.peak, memory.peak_step)
    assert [value.node for value in read.alive] == [value.node for value in memory.alive]
    assert ex.document(stages=("jaxpr",)).memory == ()


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (lambda value: value.update(program=7), "$.memory[0].program"),
        (lambda value: value.update(arguments=-1), "$.memory[0].arguments"),
        (lambda value: value["step"].__setitem__(0, 10**6), "$.memory[0].step[0]"),
        (lambda value: value["live"].pop(), "$.memory[0]"),
        (lambda value: value["last"].__setitem__(0, 10**6), "$.memory[0].last[0]"),
        (lambda value: value["size"].__setitem__(0, 0.5), "$.memory[0].size[0]"),
        (lambda value: value.update(words=[1]), "$.memory[0].words[0]"),
    ],
)
def test_wrong_memory_is_refused_by_place(change, expected):
    function, arguments = CORPUS["mlp_forward"]()
    ex = jv.explore(function, *arguments)
    ex.memory()
    value = copy.deepcopy(ex.document().to_json(packed=False))
    change(value["memory"][0])
    with pytest.raises(DocumentError) as raised:
        Document.from_json(value)
    assert f": {expected}: expected" in str(raised.value)
