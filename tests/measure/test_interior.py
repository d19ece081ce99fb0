"""The values inside of loops, branches and functions that are called."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax

import jaxviz as jv
from jaxviz import RunError
from jaxviz.document import Document


def by_name(values):
    return {value.name: value for value in values}


@pytest.mark.smoke
def test_a_scan_tells_of_all_its_turns():
    def f(x):
        return lax.scan(lambda carry, step: (carry * 2.0, jnp.exp(step) + carry), x, jnp.arange(4.0))

    found = by_name(jv.explore(f, 1.0).values(inside="scan"))
    assert {"mul", "exp", "add"} <= set(found)
    assert (found["mul"].least, found["mul"].most, found["mul"].turns) == (2.0, 16.0, 4)
    assert found["exp"].count == 4
    assert found["exp"].most == pytest.approx(np.exp(3.0))
    assert found["add"].mean == pytest.approx(np.mean(np.exp(np.arange(4.0)) + 2.0 ** np.arange(4)))
    assert sum(found["add"].histogram) == 4


def test_the_turn_in_which_a_value_becomes_bad_is_told():
    def f(x):
        def turn(x, _):
            y = x - 1.0
            return y, jnp.log(y)

        return lax.scan(turn, x, None, length=6)

    ex = jv.explore(f, 3.5)
    values = ex.values(inside="scan")
    assert values.first_bad.name == "log"
    # 2.5, 1.5, 0.5, and then below 0.
    assert values.first_bad.bad_turn == 3
    assert values.first_bad.nan == 3
    assert "bad from turn 3 on" in str(values.first_bad)
    # It is found without being asked for, too.
    again = jv.explore(f, 3.5).values()
    assert again.first_bad.name == "log"
    assert again.first_bad.line == f.__code__.co_firstlineno + 3
    # A check of JAX ends no search.
    with jax.debug_nans(True):
        assert ex.values(inside="scan").first_bad.bad_turn == 3


def test_a_scan_that_runs_backwards_counts_its_turns_as_they_run():
    def f(x):
        return lax.scan(lambda carry, step: (carry, jnp.log(step)), x, jnp.array([1.0, -1.0, 1.0, 1.0]), reverse=True)

    assert jv.explore(f, 1.0).values(inside="scan").first_bad.bad_turn == 2


def test_loops_in_loops_and_functions_called_there_are_reached():
    @jax.jit
    def square(x):
        return x * x

    def f(x):
        def outer(x, step):
            y, _ = lax.scan(lambda y, _: (square(y) + step, None), x, None, length=2)
            return y, y.sum()

        return lax.scan(outer, x, jnp.array([0.0, 1.0, 2.0]))

    ex = jv.explore(f, jnp.full(2, 0.5))
    graph = ex.jaxpr
    (product,) = [node for node in graph if node.op in ("mul", "square", "integer_pow") and node.kind == "operation"]
    owner = int(graph.regions.owner[graph.nodes.region[product.index]])
    (value,) = ex.values(inside=owner)
    expected, x = [], np.full(2, 0.5)
    for step in (0.0, 1.0, 2.0):
        for _ in range(2):
            expected.append(x * x)
            x = x * x + step
    assert value.node == product.index
    assert value.turns == 6
    assert value.count == 12
    assert value.mean == pytest.approx(np.mean(expected), rel=1e-5)
    assert value.most == pytest.approx(np.max(expected), rel=1e-5)


@pytest.mark.smoke
def test_a_while_is_followed_turn_by_turn():
    def f(x, scale):
        return lax.while_loop(lambda x: x.sum() < 100.0, lambda x: x * scale, x)

    found = by_name(jv.explore(f, jnp.ones(3), 2.0).values(inside="while"))
    assert found["mul"].turns == 6
    assert (found["mul"].least, found["mul"].most) == (2.0, 64.0)
    # A loop that does not run has no values.
    assert not list(jv.explore(f, jnp.full(3, 50.0), 2.0).values(inside="while"))


def test_a_while_that_never_ends_is_left(monkeypatch, capsys):
    monkeypatch.setattr("jaxviz.measure.interior.MOST_TURNS", 5)
    ex = jv.explore(lambda x: lax.while_loop(lambda x: x > -1.0, lambda x: x + 1.0, x), 0.0)
    (value,) = ex.values(inside="while")
    assert (value.turns, value.most) == (5, 5.0)
    assert "only the first 5 turns" in capsys.readouterr().err


def test_the_branch_that_is_taken_has_values():
    def f(x):
        return lax.cond(x > 0, lambda x: jnp.sin(x), lambda x: jnp.exp(x) + 1.0, x)

    assert set(by_name(jv.explore(f, 1.0).values(inside="cond"))) == {"sin"}
    assert set(by_name(jv.explore(f, -1.0).values(inside="cond"))) == {"exp", "add"}


def test_what_is_in_a_branch_that_is_not_taken_is_said():
    @jax.jit
    def other(x):
        return jnp.cos(x)

    ex = jv.explore(lambda x: lax.cond(x > 0, lambda x: jnp.sin(x), lambda x: other(x), x), 1.0)
    with pytest.raises(RunError, match="is not taken with these arguments"):
        ex.values(inside="other")


def with_branches(x):
    """Three turns of eight take the first branch; each turn then counts up to its number."""

    def turn(carry, number):
        carry = lax.cond(number % 3 == 0, lambda c: jnp.log(c - 9.0), lambda c: c * 0.5, carry)
        _, carry = lax.while_loop(lambda s: s[0] < number, lambda s: (s[0] + 1, jnp.abs(s[1]) + 1.0), (0, carry))
        return carry, carry.sum()

    return lax.scan(turn, x, jnp.arange(8), reverse=True)


def by_hand(x):
    """The same in numpy: the logarithms, the halves and the absolute values in their order."""
    logs, halves, sizes = [], [], []
    for number in reversed(range(8)):
        if number % 3 == 0:
            x = np.log(x - 9.0)
            logs.append(x)
        else:
            x = x * 0.5
            halves.append(x)
        for _ in range(number):
            sizes.append(np.abs(x))
            x = np.abs(x) + 1.0
    return np.array(logs), np.array(halves), np.array(sizes)


def test_branches_and_loops_inside_of_a_loop_are_looked_at_turn_by_turn():
    x = np.arange(4.0, dtype=np.float32) + 20.0
    ex = jv.explore(with_branches, x)
    with np.errstate(invalid="ignore"):
        logs, halves, sizes = by_hand(x)
    branches = by_name(ex.values(inside="cond"))
    for name, expected in (("log", logs), ("mul", halves)):
        assert branches[name].turns == len(expected)
        assert branches[name].nan == np.isnan(expected).sum()
        assert branches[name].most == pytest.approx(np.nanmax(expected), rel=1e-5)
        assert branches[name].mean == pytest.approx(np.nanmean(expected), rel=1e-5)
    counted = by_name(ex.values(inside="while"))["abs"]
    assert counted.turns == len(sizes) == 28
    assert counted.mean == pytest.approx(np.nanmean(sizes), rel=1e-5)


def test_what_is_bad_in_a_branch_inside_of_a_loop_is_found_there():
    bad = jv.explore(with_branches, jnp.arange(4.0)).values().first_bad
    assert bad.name == "log"
    # Of the turns of the loop, and not of those that take the branch: numbers go down from 7.
    assert bad.bad_turn == 1
    assert "bad from turn 1 on" in str(bad)


def test_a_while_loop_around_a_branch_is_looked_at_turn_by_turn():
    def f(x):
        def turn(state):
            number, x = state
            return number + 1, lax.cond(number == 2, lambda x: x * 10.0, lambda x: x + 1.0, x)

        return lax.while_loop(lambda state: state[0] < 5, turn, (0, x))

    found = by_name(jv.explore(f, 1.0).values(inside="cond"))
    assert (found["mul"].turns, found["mul"].most) == (1, 30.0)
    assert (found["add"].turns, found["add"].least, found["add"].most) == (4, 2.0, 32.0)


def test_a_branch_that_no_turn_takes_is_said():
    def f(x):
        @jax.jit
        def never(x):
            return jnp.sin(x)

        return lax.scan(lambda c, _: (lax.cond(c < 0.0, never, lambda c: c + 1.0, c), None), x, None, length=3)

    with pytest.raises(RunError, match="is not taken with these arguments"):
        jv.explore(f, 1.0).values(inside="never")


def test_each_of_several_results_has_its_own_type():
    ex = jv.explore(lambda x: lax.while_loop(lambda s: s[0] < 3, lambda s: (s[0] + 1, s[1] * 2.0), (0, x)), jnp.ones(4))
    assert {value.type for value in ex.values(every=True) if value.name.startswith("while: ")} == {"i32[]", "f32[4]"}


def test_a_function_that_is_called_is_named_by_its_name():
    @jax.jit
    def inner(x):
        return jnp.sin(x) * 3.0

    found = by_name(jv.explore(lambda x: inner(x + 1.0), jnp.zeros(2)).values(inside="inner"))
    assert found["mul"].most == pytest.approx(3.0 * np.sin(1.0))
    assert found["sin"].turns == 0


def test_a_nan_in_a_function_that_is_called_is_found_there():
    @jax.jit
    def inner(x):
        return jnp.sqrt(x) + 1.0

    bad = jv.explore(lambda x: jnp.sort(inner(x)), jnp.array([1.0, -1.0])).values().first_bad
    assert bad.name == "sqrt"


def test_memory_is_bounded_before_anything_runs():
    called = []

    def f(x):
        def turn(x, _):
            jax.debug.callback(lambda: called.append(1))
            return x + 1.0, None

        return lax.scan(turn, x, None, length=1000)

    ex = jv.explore(f, jnp.zeros(1000))
    with pytest.raises(RunError, match=r"needs 4 MB of memory, and only 1 MB may be used: nothing was run"):
        ex.values(inside="scan", most_bytes=1_000_000)
    assert not called
    # A loop of unknown length is looked at as far as there is room.
    ex = jv.explore(lambda x: lax.while_loop(lambda x: x[0] < 50.0, lambda x: x + 1.0, x), jnp.zeros(1000))
    (value,) = ex.values(inside="while", most_bytes=41_000)
    assert value.turns == 10


def test_a_person_is_told_that_callbacks_run_again(capsys):
    def f(x):
        jax.debug.print("x = {}", x)
        return jnp.sin(x)

    jv.explore(f, 1.0).values()
    assert "once more for each look at its values" in capsys.readouterr().err


def test_what_has_no_body_is_said():
    ex = jv.explore(lambda x: lax.fori_loop(0, 3, lambda _, x: x + 1.0, x), 1.0)
    with pytest.raises(ValueError, match=r"no operation with a body is called 'nothing'; there are: scan \(node \d+\)"):
        ex.values(inside="nothing")
    with pytest.raises(ValueError, match="node 0 of the jaxpr has no body"):
        ex.values(inside=0)
    with pytest.raises(ValueError, match=r"the name of an operation or the number of its node, not \['scan'\]"):
        ex.values(inside=["scan"])


def test_what_was_seen_inside_stays_beside_what_was_seen_before():
    def f(x):
        y = jnp.sort(x)
        return lax.scan(lambda c, _: (jnp.cumsum(c), None), y, None, length=3)[0]

    ex = jv.explore(f, jnp.arange(3.0))
    before = {value.node for value in ex.values()}
    inside = {value.node for value in ex.values(inside="scan")}
    assert inside
    assert not inside <= before
    (entry,) = ex.document().values
    assert {value.node for value in entry.values} == before | inside
    read = Document.from_json(ex.document().to_json())
    assert {value.node for value in read.values[0].values} == before | inside
