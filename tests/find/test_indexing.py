"""Indices out of bounds are found where they are certain, and told of where they may be."""

from __future__ import annotations

import jax
import jax.numpy as jnp
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
        (far_slice, 1, 4, 5, "nearest entry"),
    ],
)
def test_an_index_that_is_out_of_bounds_for_all_arguments_is_a_warning(fn, line, index, size, says):
    finding = the("indexing", fn, X)
    assert finding.severity == "warning"
    assert line_numbers(finding, fn) == [line]
    assert finding.figures == {"index": index, "size": size}
    assert says in finding.text


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
