"""Branches that take more or less than they are handed."""

from __future__ import annotations

import jax
from errors.failing.registry import A, X, failing

_CASE = "call of a body"


@failing(X, case=_CASE, place="jax.lax.cond", words=["lambda v: v - 1, x)"], mends=[0], gives=X + 1)
def branches_that_are_handed_nothing(x):
    return jax.lax.cond(x.sum() > 0, lambda v: v + 1, lambda v: v - 1)


@failing(X, A, case=_CASE, place="jax.lax.switch", words=["lambda a: -a], a)"], mends=[0], gives=-A)
def one_of_some_that_is_handed_nothing(x, a):
    return jax.lax.switch(x[0].astype(int), [lambda a: a, lambda a: -a])


@failing(X, case=_CASE, place="jax.lax.cond", words=["lambda v: v + 1, lambda v: v - 1, x)"], mends=[0], gives=X + 1)
def branches_with_a_parameter_too_many(x):
    return jax.lax.cond(x.sum() > 0, lambda v, _: v + 1, lambda v, _: v - 1, x)


@failing(X, 2, 3, case="shape from a value", place="jax.numpy.tile", words=["Make `rows` and `columns` static"])
def repeated_both_ways(x, rows, columns):
    return jax.numpy.tile(x, (rows, columns))


@failing(X, 1, case="branch types", place="jax.lax.switch", words=["float32"], mends=[0], gives=X)
def branches_in_a_list_of_other_types(x, way):
    branches = [lambda v: v.astype(int), lambda v: v]
    return jax.lax.switch(way, branches, x)


@failing(X, 1, case="branch structure", place="jax.lax.switch", words=["branches = ("], mends=[0], gives=(X, 0))
def branches_in_a_tuple_of_other_structures(x, way):
    branches = (lambda v: (v, 1), lambda v: v)
    return jax.lax.switch(way, branches, x)


@failing(X, 1, case=_CASE, place="jax.lax.switch", words=["lambda *_: 0.0"], mends=[0], gives=6)
def branches_in_a_list_of_which_one_takes_nothing(x, way):
    sums = [lambda: 0.0, lambda v: v.sum()]
    return jax.lax.switch(way, sums, x)


@failing(X, case="branches", place="lax.cond", words=["lambda same: same"], mends=[0], gives=X + 1)
def a_branch_in_which_nothing_is_done(x):
    return jax.lax.cond(x[0] > 0, lambda v: v + 1, None, x)


@failing(
    A, case="branch types", place="lax.cond", words=["((0, 0), (0, 1))", "(v @ v.T)[:, :3]"], mends=[0, 1], gives=None
)
def branches_of_which_one_is_longer(a):
    return jax.lax.cond(a[0, 0] > 5, lambda v: v, lambda v: v @ v.T, jax.numpy.ones((4, 3)))


@failing(X, case="branch types", place="lax.cond", words=["jnp.pad((v * 2)[:2], (0, 1))"], mends=[0], gives=[2, 4, 0])
def branches_of_which_one_is_cut(x):
    return jax.lax.cond(x[0] > 5, lambda v: v, lambda v: (v * 2)[:2], x)


@failing(X, case="branch structure", place="lax.cond", words=["lambda w: w,"], mends=[0], gives=X)
def a_branch_that_leaves_it_as_it_is(x):
    return jax.lax.cond(x[0] > 2, lambda v: v * 2, lambda w: None, x)


@failing(X, case="branch structure", place="lax.cond", words=["zeros_like(w.sum())"], mends=[0], gives=0)
def a_branch_that_gives_no_sum(x):
    return jax.lax.cond(x[0] > 2, lambda v: v.sum(), lambda w: None, x)


@failing(X, case="branch structure", place="lax.cond", words=["at the end of `no`:\nreturn tripled"])
def a_branch_that_does_not_return(x):
    def yes(v):
        return v * 2

    def no(v):
        tripled = v * 3  # noqa: F841

    return jax.lax.cond(x[0] > 2, yes, no, x)
