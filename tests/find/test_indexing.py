"""Indices out of bounds are found where they are certain, and told of where they may be."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from find.found import found, line_numbers, the
from jax import lax

X = jnp.arange(5.0)


def beyond(x):
    y = x * 2
    return y[10]


def before(x):
    return x[-9]


def written_beyond(x):
    return x.at[7].set(1.0)


def far_slice(x):
    return lax.dynamic_slice(x, (jnp.int32(4),), (3,))


@pytest.mark.parametrize(
    ("fn", "line", "index", "size", "says"),
    [
        (beyond, 2, 10, 5, "nearest entry"),
        (before, 1, -9, 5, "nearest entry"),
        (written_beyond, 1, 7, 5, "changes nothing"),
        (far_slice, 1, 4, 5, "begin where all of it fits"),
    ],
)
def test_an_index_that_is_out_of_bounds_for_all_arguments_is_a_warning(fn, line, index, size, says):
    finding = the("indexing", fn, X)
    assert finding.severity == "warning"
    assert line_numbers(finding, fn) == [line]
    assert finding.figures == {"index": index, "size": size}
    assert says in finding.text


def test_what_is_said_of_a_slice_is_what_happens():
    finding = the("indexing", far_slice, X)
    assert finding.title.startswith("a slice of 3 from 4 does not fit into an axis of 5 (line ")
    assert finding.remedy == "Begin at 0 to 2."
    written = the("indexing", lambda cache, new, at: lax.dynamic_update_slice(cache, new, (at,)), X, X[:2], 1)
    assert "begin where all of it fits" in written.text
    one = the("indexing", lambda cache, new, at: lax.dynamic_update_slice(cache, new, (at,)), X, X[:1], 1)
    assert "writes over the nearest entry" in one.text


def test_who_says_what_should_happen_is_not_told():
    def filled(x, i):
        return x.at[i].get(mode="fill", fill_value=0), x.at[i].set(1.0, mode="drop"), x.at[i].get(mode="clip")

    assert found("indexing", filled, X, 2) == []


def several(x, i, rows):
    one = x[i]
    many = jnp.take(x, rows)
    added = x.at[rows].add(1.0)
    return one, many, added


def test_what_an_index_out_of_bounds_does_is_said_for_each_line_once():
    finding = the("indexing", several, X, 2, jnp.arange(3))
    assert finding.severity == "note"
    assert line_numbers(finding, several) == [1, 2, 3]
    assert finding.figures == {"clamped": 1, "filled": 1, "dropped": 1}
    first = finding.lines[0].line
    for number, what in ((0, "nearest entry"), (1, "NaN"), (2, "changes nothing")):
        assert any(f"line {first + number} " in part and what in part for part in finding.text.split(";"))


def test_indices_of_several_axes_are_looked_at_each():
    table, rows = jnp.ones((4, 3)), jnp.arange(3)
    for fn in (
        lambda table, rows: table[rows, rows],
        lambda table, rows: table[jnp.arange(3), rows],
        lambda table, rows: table.at[rows, 0].add(1.0),
    ):
        assert the("indexing", fn, table, rows).severity == "note"
    assert found("indexing", lambda table, rows: table[jnp.arange(3), rows % 3], table, rows) == []


def test_in_a_body_too():
    def body(i, total, x, k):
        return total + x[k]

    fn = lambda x, k: lax.fori_loop(0, 3, lambda i, total: body(i, total, x, k), 0.0)  # noqa: E731
    assert the("indexing", fn, X, 1).figures == {"clamped": 1}


def by_turn(x):
    return lax.fori_loop(0, 5, lambda i, total: total + x[i], 0.0)


INNOCENT = {
    "within bounds": (lambda x: x[4] + x[-5], (X,)),
    "slices": (lambda x: x[1:3].sum() + x[::2].sum(), (X,)),
    "the turn of a loop": (by_turn, (X,)),
    "found inside": (lambda x: x[jnp.argmax(x)], (X,)),
    "kept within bounds": (lambda x, i: x[jnp.clip(i, 0, 4)], (X, 2)),
    "sorted": (lambda x: x[jnp.argsort(x)], (X,)),
    "written within bounds": (lambda x: x.at[0].set(1.0).at[-1].add(2.0), (X,)),
    "the gradient of a slice": (jax.grad(lambda x: x[1:].sum()), (X,)),
    "a remainder": (lambda x, i: x[i % 5], (X, 2)),
}


@pytest.mark.parametrize("name", INNOCENT)
def test_indices_that_are_in_bounds_are_left_alone(name):
    fn, arguments = INNOCENT[name]
    assert found("indexing", fn, *arguments) == []


ROW, TABLE = jnp.ones(8), jnp.ones((3, 4))


def of_a_loop(turns, index):
    return lambda x: lax.fori_loop(0, turns, lambda i, c: c + x[index(i)], 0.0)


def blocks(x):
    return lax.fori_loop(0, 3, lambda i, c: c + lax.dynamic_slice(x, (i * 3,), (3,)).sum(), 0.0)


def scanned(x):
    return lax.scan(lambda c, i: (c + x[i + 1], None), 0.0, jnp.arange(8))[0]


def until(x):
    return lax.while_loop(lambda s: s[0] <= 8, lambda s: (s[0] + 1, s[1] + x[s[0]]), (0, 0.0))[1]


def nested(table):
    def rows(i, c):
        return lax.fori_loop(0, 5, lambda j, d: d + table[i, j], c)

    return lax.fori_loop(0, 3, rows, 0.0)


@pytest.mark.parametrize(
    ("fn", "argument", "title", "figures"),
    [
        (lambda x: x[jnp.array([1, 2, 30])], ROW, "index 30 is", (30, 8, 1, 3)),
        (lambda x: x[np.array([1, 2, -30])], ROW, "index -30 is", (-30, 8, 1, 3)),
        (lambda x: x.at[np.array([0, 9, 11])].set(1.0), ROW, "2 indices, the first 9, are", (9, 8, 2, 3)),
        (lambda x: x[np.array([0, 2]), np.array([1, 7])], TABLE, "index 7 is", (7, 4, 1, 2)),
        (lambda x: jnp.take(x, np.array([0, 2, 9]), axis=1), TABLE, "index 9 is", (9, 4, 1, 3)),
        (lambda x: x[jnp.arange(8) + 1], ROW, "index 8 is", (8, 8, 1, 8)),
        (of_a_loop(9, lambda i: i), ROW, "index 8 is", (8, 8, 1, 9)),
        (of_a_loop(8, lambda i: 8 - i), ROW, "index 8 is", (8, 8, 1, 8)),
        (jax.grad(of_a_loop(9, lambda i: i)), ROW, "index 8 is", (8, 8, 1, 9)),
        (blocks, ROW, "a slice of 3 from 6 does not fit into an axis of 8 in 1 turn of 3", (6, 8, 1, 3)),
        (scanned, ROW, "index 8 is", (8, 8, 1, 8)),
        (until, ROW, "index 8 is", (8, 8, 1, 9)),
        (nested, TABLE, "index 4 is", (4, 4, 1, 5)),
    ],
)
def test_arrays_of_indices_and_counters_of_loops_beyond_an_axis_are_told(fn, argument, title, figures):
    finding = the("indexing", fn, argument)
    assert finding.severity == "warning"
    assert finding.title.startswith(title)
    assert finding.figures == dict(zip(("index", "size", "count", "of"), figures, strict=True))


def test_of_a_large_array_of_indices_the_most_is_told():
    many = np.arange(100)
    finding = the("indexing", lambda x: x[many], ROW)
    assert finding.title.startswith("index 99 is out of bounds for an axis of 8 (line ")


def test_the_turns_of_a_loop_that_go_beyond_are_counted():
    assert "in 2 turns of 10" in the("indexing", of_a_loop(10, lambda i: i), ROW).title


def guarded(x):
    return lax.fori_loop(0, 20, lambda i, c: lax.cond(i < 8, lambda: c + x[i], lambda: c), 0.0)


def masked(x):
    return lax.fori_loop(0, 20, lambda i, c: c + jnp.where(i < 8, x[i], 0.0), 0.0)


def until_two(x):
    return lax.while_loop(lambda s: (s[0] < 20) & (s[1] < 3), lambda s: (s[0] + 1, s[1] + x[s[0]]), (0, 0.0))[1]


@pytest.mark.parametrize(
    ("fn", "argument"),
    [
        (of_a_loop(8, lambda i: i), ROW),
        (of_a_loop(8, lambda i: i - 1), ROW),
        (of_a_loop(20, lambda i: i % 8), ROW),
        (of_a_loop(16, lambda i: i // 2), ROW),
        (of_a_loop(20, lambda i: jnp.clip(i, 0, 7)), ROW),
        (of_a_loop(20, lambda i: jnp.where(i < 8, i, 7)), ROW),
        (guarded, ROW),
        (masked, ROW),
        (until_two, ROW),
        (lambda x: x[jnp.array([0, 7, -8])], ROW),
        (lambda x: x[jnp.arange(7, -1, -1)], ROW),
        (lambda x: x[jnp.arange(3)[:, None], jnp.arange(4)[None, :]], TABLE),
        (lambda x: x.at[jnp.array([0, 9])].get(mode="fill", fill_value=0), ROW),
        (lambda x: x.at[jnp.array([0, 9])].set(1.0, mode="drop"), ROW),
        (lambda x: jnp.take(x, np.array([0, 9]), mode="wrap"), ROW),
        (lambda x: jax.ops.segment_sum(x, np.array([0, 0, 1, 1, 2, 2, 3, 3]), 4), ROW),
        (lambda x: jnp.convolve(x, x)[:8] + jnp.roll(x, 3), ROW),
    ],
)
def test_indices_that_stay_within_or_are_guarded_are_left_alone(fn, argument):
    assert found("indexing", fn, argument) == []


def at_what_is_computed(x, i):
    y = x + 1
    return y[2 * i - 1]


def at_what_is_computed_and_kept_inside(x, i):
    return x[(2 * i - 1) % 5]


def test_an_index_that_is_computed_of_an_argument_may_be_out_of_bounds():
    finding = the("indexing", at_what_is_computed, jnp.ones(5), 1)
    assert finding.severity == "note"
    assert line_numbers(finding, at_what_is_computed) == [2]
    assert not found("indexing", at_what_is_computed_and_kept_inside, jnp.ones(5), 1)
