"""Python asks a traced value whether it is true."""

from __future__ import annotations

import jax
import jax.numpy as jnp
from errors.failing.registry import X, failing
from jax import lax

# Python asks whether it is true.


@failing(X, case="choice", place="total > 0", culprits=["gt"], words=["`if`", "`total` (f32[])", "`x`"], mends=[0, 1])
def an_if(x):
    total = jnp.sum(x)
    if total > 0:
        return x
    return -x


@failing(X, case="choice", place="s > 0", culprits=["gt"], words=["`c`, `t` of this scan"])
def an_if_in_a_scan(x):
    y = jnp.cos(x)

    def body(c, t):
        s = c.sum() * t
        if s > 0:
            c = c * 2
        return c, t

    return lax.scan(body, y, jnp.arange(4.0))


@failing(X, case="choice", place="loss > 1", culprits=["gt"], words=["jnp.where(loss > 1, loss, -loss)"])
def an_if_under_grad(x):
    def of(p):
        loss = jnp.sum(p * p)
        if loss > 1:
            return loss
        return -loss

    return jax.grad(of)(x)


@failing(X, case="choice", place="x[0] > 0", culprits=["gt"], words=["def if_true", "return y, z"], mends=[0])
def an_if_of_several(x):
    if not x[0] > 0 and x[1] > 0:
        y = x * 2
        z = x
    else:
        y = x
        z = -x
    return y + z


@failing(X, case="choice", place="jnp.max(x) > 0.1", culprits=["gt"], words=["while_loop", "`while`"], mends=[0])
def a_while(x):
    while jnp.max(x) > 0.1:
        x = x * 0.5
    return x


@failing(X, case="choice", place="jnp.max(x) > limit", culprits=["gt"], words=["while_loop"], mends=[0])
def a_while_of_two(x):
    limit, turns = 0.1, 0
    while jnp.max(x) > limit:
        x = x * 0.5
        turns = turns + 1
    return x, turns


@failing(X, case="choice", place="ok", culprits=["gt"], words=["jnp.where(ok, x * 2, x)"], mends=[0, 1])
def an_if_of_a_name(x):
    ok = jnp.sum(x) > 0
    if ok:  # noqa: SIM108
        y = x * 2
    else:
        y = x
    return y


@failing(X, case="choice", place="not ok", culprits=["gt"], words=["jnp.where(~ok, -x, x)"], mends=[0, 1])
def an_if_of_not_a_name(x):
    ok = jnp.sum(x) > 0
    if not ok:
        return -x
    return x


@failing(X, 3, case="choice", place="n", culprits=["argument"], words=["return n != 0"], mends=[0])
def a_while_of_a_name(x, n):
    while n:
        x = x * 0.5
        n = n - 1
    return x


@failing(X, case="choice", place="m > 0 and m < 3", culprits=["gt"], words=["(m > 0) & (m < 3)", "`and`"], mends=[0])
def an_and(x):
    m = jnp.max(x)
    ok = m > 0 and m < 3
    return x * ok


@failing(X, case="choice", place="0 < m < 3", culprits=["gt"], words=["(0 < m) & (m < 3)"], mends=[0])
def a_comparison_of_three(x):
    m = jnp.max(x)
    return 0 < m < 3


@failing(X, case="choice", place="not m", culprits=["gt"], words=["~(m > 0)"], mends=[0])
def a_not(x):
    m = jnp.max(x)
    return not m > 0


@failing(
    X,
    case="choice",
    place="jnp.all(x > 0)",
    culprits=["reduce_and"],
    words=["checkify.check(jnp.all(x > 0)"],
    mends=[0],
    gives=X,
    instead="outside",
)
def an_assertion(x):
    assert jnp.all(x > 0), "positive"
    return x


@failing(X, case="choice", place="w > 0", culprits=["gt"], words=["jnp.where(w > 0, w, -w)"], mends=[0])
def an_either(x):
    w = jnp.sum(x)
    return w if w > 0 else -w


@failing(X, case="choice", place="v > 0", culprits=["gt"], words=["jnp.where(v > 0, v, -v)"])
def an_either_under_vmap(x):
    return jax.vmap(lambda v: v if v > 0 else -v)(x)


@failing(X, case="choice", place="max(x[0], x[1])", culprits=["gt"], words=["jnp.maximum(x[0], x[1])"], mends=[0])
def a_maximum(x):
    return max(x[0], x[1])


@failing(X, case="choice", place="x[0] in [1.0, 2.0]", culprits=["eq"], words=["jnp.any(x[0] == jnp.array"], mends=[0])
def an_in(x):
    return x[0] in [1.0, 2.0]


@failing(
    X,
    case="choice",
    place="if v > 0",
    culprits=["gt"],
    words=["[jnp.where(v > 0, v, 0) for"],
    mends=[0],
    gives=[1, 2, 3],
)
def a_filter(x):
    return [v for v in x if v > 0]


@failing(
    X,
    case="choice",
    place="case 0",
    culprits=["eq"],
    words=["`match`", "jnp.where(x.sum() == 0, x, -x)"],
    mends=[0, 1],
    gives=-X,
)
def a_match(x):
    match x.sum():
        case 0:
            return x
        case _:
            return -x


@failing(X, True, case="choice", place="-v", culprits=["argument"], words=["`flag`", "jnp.where(flag, v, -v)"])
def a_flag(x, flag):
    return jax.checkpoint(lambda v, flag: v if flag else -v)(x, flag)


@failing(
    X, case="choice", place="x.sum() and", words=["jnp.where(x.sum() != 0, x.mean(), x.sum())"], mends=[0], gives=2
)
def one_of_two_numbers(x):
    return x.sum() and x.mean()


@failing(X, case="choice", place="x.min() or", words=["jnp.where(x.min() != 0, x.min(), 1.0)"], mends=[0], gives=X)
def a_number_in_place_of_zero(x):
    scale = x.min() or 1.0
    return x / scale


@failing(X, case="choice", place="x.sum() and", words=["(x.sum() != 0) & (x.mean() > 5)"], mends=[0, 1], gives=-X)
def an_if_of_a_number(x):
    if x.sum() and x.mean() > 5:
        return x
    return -x


@failing(
    X, case="choice", place="0 < x.sum() < 3", words=["x * ((0 < x.sum()) & (x.sum() < 3))"], mends=[0], gives=0 * X
)
def a_factor_between(x):
    return x * (0 < x.sum() < 3)


@failing(X, case="choice", place="v > 1.5", words=["sum(jnp.where(v > 1.5, v, 0) for v in x)"], mends=[0], gives=5)
def a_sum_of_those_above(x):
    return sum(v for v in x if v > 1.5)


@failing(X, case="choice", place="v > 1.5", words=["sum(jnp.where(v > 1.5, 1, 0) for v in x)"], mends=[0], gives=2)
def how_many_are_above(x):
    return len([v for v in x if v > 1.5])


@failing(X, case="choice", place="v > 1", words=["-jnp.inf"], mends=[0], gives=4)
def the_largest_between(x):
    return max(2 * v for v in x if v > 1 and v < 3)


@failing(X, case="choice", place="i < a", words=["jnp.where(i < a, a, 0)"], mends=[0], gives=[1, 2, 3])
def those_above_their_place(x):
    return [a for i, a in enumerate(x) if i < a]


@failing({"best": 2.0, "last": X}, X, case="choice", place="if loss <", mends=[0], gives={"best": 2, "last": X})
def the_best_in_a_dictionary(state, x):
    loss = x.sum()
    if loss < state["best"]:
        state["best"] = loss
    return state


@failing(
    {"best": 9.0, "last": {"w": X}, "turn": 1},
    {"w": -X},
    case="choice",
    place="if loss <",
    words=['state["best"] = jnp.where('],
    mends=[0],
    gives={"best": -6, "last": {"w": -X}, "turn": 2},
)
def the_best_and_its_parameters(state, parameters):
    loss = parameters["w"].sum()
    if loss < state["best"]:
        state["best"] = loss
        state["last"] = parameters
        state["turn"] += 1
    return state


@failing(X, {"w": X}, case="choice", place="if x.sum() > 3", mends=[0], gives={"w": X}, instead="rest")
def a_tree_or_another(x, tree):
    if x.sum() > 3:
        return tree
    return jax.tree.map(lambda leaf: leaf * 2, tree)
