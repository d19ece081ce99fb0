"""Branches and classes that are not there: told where the program says the number, and nowhere else."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax

import jaxviz as jv

X = jnp.arange(6.0)
BRANCHES = [jnp.sin, jnp.cos, jnp.tan]


def a_branch_too_far(x):
    return lax.switch(7, BRANCHES, x)


def a_branch_below(x):
    return lax.switch(-1, BRANCHES, x)


def a_branch_in_a_loop(x):
    return lax.fori_loop(0, 4, lambda i, v: lax.switch(i, BRANCHES, v), x)


def a_class_too_far(x):
    return jax.nn.one_hot(7, 3) * x.sum()


def one_of_several_classes(x):
    return jax.nn.one_hot(jnp.array([0, 1, 5]), 3) * x.sum()


@pytest.mark.parametrize(
    ("fn", "said", "figures"),
    [
        (a_branch_too_far, "`switch` is given 7, and has 3 branches", {"index": 7, "size": 3}),
        (a_branch_below, "`switch` is given -1, and has 3 branches", {"index": -1, "size": 3}),
        (a_branch_in_a_loop, "`switch` is given 3, and has 3 branches", {"index": 3, "size": 3}),
        (a_class_too_far, "`one_hot` is given 7, and has 3 classes", {"index": 7, "size": 3}),
        (one_of_several_classes, "`one_hot` is given 5, and has 3 classes", {"index": 5, "size": 3}),
    ],
)
def test_what_is_not_there_is_told_with_its_line(fn, said, figures):
    (found,) = [one for one in jv.explore(fn, X).findings if one.kind == "indexing"]
    line = fn.__code__.co_firstlineno + 1
    assert found.title == f"{said} (line {line})"
    assert found.figures == figures
    assert found.severity == "warning"
    assert len(found.nodes) == 1


def a_branch_that_is_there(x):
    return lax.switch(2, BRANCHES, x)


def a_branch_of_an_argument(x, i):
    return lax.switch(i, BRANCHES, x)


def all_branches_in_a_loop(x):
    return lax.fori_loop(0, 3, lambda i, v: lax.switch(i, BRANCHES, v), x)


def a_branch_brought_into_bounds(x, i):
    return lax.switch(jnp.clip(i, 0, 2), BRANCHES, x)


def classes_that_are_there(x):
    return jax.nn.one_hot(jnp.array([0, 2]), 3) * x.sum()


def no_class_on_purpose(x):
    return jax.nn.one_hot(jnp.array([0, -1]), 3) * x.sum()


def classes_of_an_argument(x, i):
    return jax.nn.one_hot(i, 3) * x.sum()


def a_comparison_with_a_range(x):
    return jnp.where(jnp.arange(6) == 9, x, 0)


@pytest.mark.parametrize(
    ("fn", "arguments"),
    [
        (a_branch_that_is_there, ()),
        (a_branch_of_an_argument, (1,)),
        (all_branches_in_a_loop, ()),
        (a_branch_brought_into_bounds, (7,)),
        (classes_that_are_there, ()),
        (no_class_on_purpose, ()),
        (classes_of_an_argument, (np.array([1, 7]),)),
        (a_comparison_with_a_range, ()),
    ],
)
def test_what_is_there_or_not_known_is_left_alone(fn, arguments):
    assert [one for one in jv.explore(fn, X, *arguments).findings if one.severity == "warning"] == []
