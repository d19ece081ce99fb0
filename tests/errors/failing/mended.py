"""Errors whose cures are tried by what they compute: in loops and branches, in choices."""

from __future__ import annotations

import math

import jax
import jax.numpy as jnp
import numpy as np
from errors.failing.registry import X, failing
from jax import lax

# Branches.


@failing(X, case="branch structure", place="lax.cond", words=["`(x, x)`", "`(x,)`"], mends=[0], gives=(X, X))
def branches_of_other_lengths(x):
    return lax.cond(x[0] > 0, lambda: (x, x), lambda: (x,))


@failing(X, case="branch structure", place="lax.cond", mends=[0], gives={"loss": X, "slope": X * 2})
def a_dictionary_and_a_tuple(x):
    return lax.cond(x[0] < 0, lambda v: {"loss": v, "slope": v}, lambda w: (w, w * 2), x)


@failing(X, case="branch structure", place="lax.cond", mends=[0], gives={"n": 0.0, "s": 6.0}, instead="no")
def a_dictionary_with_less(x):
    def yes(v):
        return {"s": v.sum(), "n": v[0]}

    def no(v):
        return {"s": v.sum()}

    return lax.cond(x[0] < 0, yes, no, x)


@failing(
    X, 1, case="branch structure", place="lax.switch", words=["`(v, v)`, `v`, `(v,)`"], mends=[0], gives=(X, X * 0)
)
def structures_of_a_switch(x, i):
    return lax.switch(i, [lambda v: (v, v), lambda v: v, lambda v: (v,)], x)


@failing(X, 1, case="branch types", place="lax.switch", mends=[0], gives=jnp.trunc(X))
def types_of_a_switch(x, i):
    return lax.switch(i, [lambda v: v, lambda v: v.astype(int), lambda v: v > 0], x)


@failing(X, case="branch types", place="lax.cond", words=["jnp.asarray(1, jnp.float32)"], mends=[0], gives=(X, 1.5))
def a_whole_number_and_a_float(x):
    return lax.cond(x[0] < 0, lambda: (x, 1), lambda: (x, 1.5))


# What loops carry.


@failing(X, case="carry structure", place="lax.scan", words=["The body gives `out, t`"])
def a_list_that_is_filled(x):
    def body(c, t):
        out = []
        out.append(c[0] + t)
        out.append(c[1])
        return out, t

    return lax.scan(body, (0.0, 1.0), x)


@failing(
    X,
    case="carry structure",
    place="lax.scan",
    mends=[0],
    gives=((6.0, 1.0), ((0.0, 1.0, 3.0), (1.0,) * 3)),
    instead="body",
)
def a_carry_with_one_less(x):
    def body(c, t):
        return (c[0] + t,), c

    carry, kept = lax.scan(body, (0.0, 1.0), x)
    return carry, jax.tree.map(tuple, kept)


@failing(
    X,
    case="carry structure",
    place="while_loop",
    words=["return i + 1, v * 2"],
    mends=[0],
    gives=(3, X * 8),
    instead="body",
)
def a_list_for_a_tuple(x):
    def body(s):
        i, v = s
        return [i + 1, v * 2]

    return lax.while_loop(lambda s: s[0] < 3, body, (0, x))


@failing(X, case="carry structure", place="lax.scan", mends=[0], gives={"s": 6.0, "n": 0}, instead="body")
def a_carry_without_a_key(x):
    def body(c, t):
        return {"s": c["s"] + t}, t

    return lax.scan(body, {"s": 0.0, "n": 0}, x)[0]


@failing(X, case="carry type", place="fori_loop", words=["`kept` comes in as float32[0]"], mends=[0, 1], gives=X * 2)
def results_put_together(x):
    def body(i, kept):
        return jnp.append(kept, x[i] * 2)

    return lax.fori_loop(0, 3, body, jnp.array([]))


@failing(X, case="carry type", place="fori_loop", mends=[0, 1], gives=jnp.stack([X, X, X]))
def rows_put_together(x):
    def body(i, rows):
        return jnp.vstack([rows, x])

    return lax.fori_loop(0, 2, body, x[None])


@failing(X, case="carry type", place="fori_loop", mends=[0], gives=X[2:])
def a_carry_that_shrinks(x):
    return lax.fori_loop(0, 2, lambda i, v: v[1:], x)


@failing(X, case="carry type", place="lax.scan", mends=[0], gives=(X[:1], jnp.array([3.0, 1.0])))
def a_scan_that_shrinks(x):
    def body(c, _):
        c = c[:-1]
        return c, c.sum()

    return lax.scan(body, x, None, length=2)


@failing(X, case="bounds of a loop", place="fori_loop", words=["int32 and float32"], mends=[0], gives=X * 4)
def a_bound_that_is_no_whole_number(x):
    return lax.fori_loop(0, 2.5, lambda i, v: v * 2, x)


# Choices.


@failing(X, case="choice", place="any(", words=["`any`"], mends=[0], gives=True)
def any_of_an_array(x):
    return any(v > 2 for v in x)


@failing(X, case="choice", place="if any", mends=[0, 1], gives=-X)
def an_if_of_any(x):
    if any(u > 2 * v for u, v in zip(x, x, strict=True)):
        return x
    return -x


@failing(X, case="choice", place="sorted(list(x)", mends=[0], gives=3.0)
def sorted_by_python(x):
    s = sorted(list(x), key=lambda v: -v)  # noqa: C414
    return s[0]


@failing(X, case="choice", place="max(x", mends=[0], gives=1.0)
def largest_by_a_key(x):
    return max(x, key=lambda v: -v)


@failing(X, case="choice", place="max(x[0], 2.0)", mends=[0], gives=2.0)
def one_in_the_other(x):
    return min(max(x[0], 2.0), 3.0)


@failing(X, case="choice", place="all(", mends=[0], gives=False)
def two_that_ask(x):
    return all(v > 0 for v in x) and any(v > 3 for v in x)


@failing(X, case="choice", place="max(x[0], 2.0)", mends=[0], gives=3.0)
def two_that_are_added(x):
    return max(x[0], 2.0) + min(x[1], 1.0)


@failing(X, case="conversion", place="math.log", mends=[0], gives=math.log(6) + math.sqrt(2))
def two_of_math(x):
    return math.log(x.sum()) + math.sqrt(x[1])


@failing(X, case="choice", place="x[0] > 2", mends=[0], gives=X)
def a_whole_number_in_one_branch(x):
    if x[0] > 2:
        k = 1
        y = x
    else:
        k = 0.5
        y = x * 2
    return y * k


@failing(X, case="choice", place="s > 9", mends=[0, 1], gives=X * 3)
def an_elif(x):
    s = x.sum()
    if s > 9:
        y = x * 2
    elif s > 3:
        y = x * 3
    else:
        y = x
    return y


@failing(X, case="choice", place="s > 9", mends=[0], gives=X * 3)
def an_elif_of_several(x):
    s = x.sum()
    if s > 9:
        y = x
        z = 2.0
    elif s > 3:
        y = x * 3
        z = 1.0
    else:
        y, z = -x, 0.0
    return y * z


@failing(X, case="choice", place="s < 0", mends=[0], gives=X * 2 + 5)
def an_early_return(x):
    s = x.sum()
    if s < 0:
        return x
    doubled = x * 2
    moved = doubled + s
    return moved - 1


@failing(X, case="choice", place="x[0] > 2", words=["Text cannot be chosen"])
def a_choice_of_texts(x):
    mode = "up" if x[0] > 2 else "down"
    return x if mode == "up" else -x


@failing(X, case="choice", place="x[0] > 2", mends=[0], gives=jnp.cos(X))
def a_choice_of_functions(x):
    act = jnp.sin if x[0] > 2 else jnp.cos
    return act(x)


@failing(X, case="choice", place="x[0] > 2", mends=[0], gives=X * 0 - 2 * X)
def a_choice_of_tuples(x):
    low, high = (x, -x) if x[0] > 2 else (-x, x)
    return low - high


@failing(X, 2, case="choice", place="lax.top_k", words=["`lax.top_k` needs to know `k`", 'static_argnames="k"'])
def a_count_that_is_traced(x, k):
    return lax.top_k(x, k)[0]


@failing(X, case="choice", place="x[0] > 2", words=['lambda: jax.debug.print("large {}", x[0])'], mends=[0], gives=X)
def an_if_that_prints(x):
    if x[0] > 2:
        print("large", x[0])
    return x


@failing(X, case="numpy", place="np.isnan(x)", words=["jnp.isnan(x).any()"], mends=[0, 1], gives=-X)
def an_if_of_numpy(x):
    if np.isnan(x).any():
        return x
    return -x


# Loops that are left.


@failing(
    X, case="choice", place="total > 2", words=["in place of the whole loop"], mends=[0], gives=3.0, instead="loop"
)
def a_break(x):
    total = 0.0
    for i in range(3):
        if total > 2:
            break
        total = total + x[i]
    return total


@failing(X, case="choice", place="abs(new - y)", mends=[0], gives=np.sqrt(2), instead="loop")
def a_break_when_it_is_near(x):
    y = x[0]
    for _ in range(10):
        new = 0.5 * (y + 2 / y)
        if abs(new - y) < 1e-6:
            break
        y = new
    return y


@failing(X, case="choice", place="v > 1", mends=[0], gives=(1, 2.0), instead="loop")
def a_break_with_a_result(x):
    best = 0.0
    for i, v in enumerate(x):  # noqa: B007
        if v > 1:
            best = v
            break
    return i, best


@failing(X, case="choice", place="y > 5", mends=[0], gives=(6.0, 5), instead="loop")
def a_loop_without_an_end(x):
    y, n = x[0], 0
    while True:
        y = y + 1
        n += 1
        if y > 5:
            break
    return y, n


@failing(X, case="choice", place="v < 2", mends=[0], gives=5.0, instead="rest")
def a_continue(x):
    total = 0.0
    for v in x:
        if v < 2:
            continue
        total += v
    return total


@failing(X, case="choice", place="far > 0.3", mends=[0], gives=X / 8)
def a_while_with_a_value_of_its_own(x):
    far, y = 1.0, x
    while far > 0.3:
        new = y * 0.5
        far = jnp.abs(new).max() / 2
        y = new
    return y


@failing(X, case="choice", place="v > 2", words=["`if`"])
def a_return_in_a_loop(x):
    for i, v in enumerate(x):
        if v > 2:
            return i
    return -1
