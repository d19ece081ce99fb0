"""Bodies of loops and branches that do not fit together."""

from __future__ import annotations

from typing import NamedTuple

import jax
import jax.numpy as jnp
from errors.failing.registry import A, X, failing
from jax import lax

# Bodies of loops and branches.


@failing(
    X, case="carry type", place="lax.scan", culprits=["sin"], words=["float32[3]", "int32[3]", "astype(jnp.float32), t"]
)
def a_carry_of_another_type(x):
    y = jnp.sin(x)

    def body(c, t):
        return c.astype(jnp.int32), t

    return lax.scan(body, y, jnp.arange(4))


@failing(X, case="carry type", place="lax.scan", culprits=["argument"], words=["for t in jnp.arange(4):"], mends=[0])
def a_carry_that_grows(x):
    def body(c, t):
        return jnp.concatenate([c, c]), t

    return lax.scan(body, x, jnp.arange(4))


@failing(X, case="carry structure", place="lax.scan", culprits=["argument"], words=["`(c, c), t`", "return c, t"])
def a_carry_of_another_structure(x):
    def body(c, t):
        return (c, c), t

    return lax.scan(body, x, jnp.arange(4))


@failing(X, case="scan pair", place="lax.scan", culprits=["argument"], words=["return c, None"])
def a_body_without_a_pair(x):
    def body(c, t):
        return c

    return lax.scan(body, x, jnp.arange(4))


@failing(X, case="while condition", place="lax.while_loop", culprits=["argument"], words=["jnp.any(c * 2 > 0)"])
def a_condition_of_many(x):
    return lax.while_loop(lambda c: c * 2, lambda c: c + 1.0, x)


@failing(X, case="branch types", place="lax.cond", culprits=["argument", "gt"], words=["float32[3]", "float32[]"])
def branches_of_different_types(x):
    return lax.cond(x[0] > 0, lambda v: v, lambda v: v[0], x)


@failing(X, case="branch structure", place="lax.cond", culprits=["argument", "gt"], words=["`(v, v)`", "`v`"])
def branches_of_different_structure(x):
    return lax.cond(x[0] > 0, lambda v: (v, v), lambda v: v, x)


@failing(
    X, case="predicate", place="lax.cond", culprits=["argument", "gt"], words=["jnp.where(x > 0, x, -x)"], mends=[0, 1]
)
def a_predicate_of_many(x):
    return lax.cond(x > 0, lambda v: v, lambda v: -v, x)


@failing(X, case="switch index", place="lax.switch", culprits=["argument", "squeeze"], words=["float32"], mends=[0])
def a_switch_by_a_float(x):
    return lax.switch(x[0], [jnp.sin, jnp.cos], x)


@failing(
    X, case="carry type", place="lax.scan", words=["float32[3,3]", "jnp.full((3, 3), 0.0, jnp.float32)"], mends=[0]
)
def a_number_that_becomes_an_array(x):
    def body(c, t):
        return c + t * jnp.ones((3, 3)), None

    return lax.scan(body, 0.0, x)


@failing(X, case="carry structure", place="fori_loop", words=["return a + 1, b * 2"])
def a_carry_with_one_more(x):
    def body(i, c):
        a, b = c
        return a + 1, b * 2, i

    return lax.fori_loop(0, 10, body, (x, x))


@failing(X, case="carry structure", place="while_loop", words=["it has no `return`"])
def a_body_that_gives_nothing(x):
    def body(c):
        c = c * 2

    return lax.while_loop(lambda c: c.sum() < 10, body, x)


@failing(X, case="scan pair", place="lax.scan", words=["gives 3: `(c, t, t)`", "(c, (t, t))"])
def a_body_of_three(x):
    return lax.scan(lambda c, t: (c, t, t), 0.0, x)


@failing(X, case="scan lengths", place="lax.scan", words=["different lengths: 3, 5", "jnp.ones(5)"], mends=[0])
def arrays_of_other_lengths(x):
    return lax.scan(lambda c, t: (c, t[0]), 0.0, (x, jnp.ones(5)))


@failing(X, case="scan lengths", place="lax.scan", words=["`length`"])
def a_scan_without_a_length(x):
    return lax.scan(lambda c, t: (c + 1, c), x, None)


@failing(X, case="branches", place="lax.cond", words=["jnp.where"])
def values_for_branches(x):
    return lax.cond(x.sum() > 0, x, -x)


@failing(X, case="branch types", place="lax.cond", words=["jnp.asarray(0, jnp.float32)"])
def a_number_for_a_branch(x):
    return lax.cond(x.sum() > 0, lambda v: v.sum(), lambda v: 0, x)


@failing(A, 1, case="branch types", place="lax.switch", words=["float32[3,4] and the other complex64[3,4]"])
def branches_of_a_switch(a, i):
    return lax.switch(i, [lambda v: v, lambda v: v * 1j], a)


@failing(
    X,
    case="carry structure",
    place="lax.fori_loop",
    words=["jax.lax.map(lambda i: x[i] * 2, jnp.arange(0, 3))", "`found` grows"],
    mends=[0],
    gives=X * 2,
)
def a_list_that_each_turn_makes_longer(x):
    def body(i, found):
        found.append(x[i] * 2)
        return found

    return lax.fori_loop(0, 3, body, [])


@failing(
    X,
    case="carry structure",
    place="lax.fori_loop",
    words=["    double = x[i] * 2\n    return double + 1"],
    mends=[0],
    gives=X * 2 + 1,
)
def a_list_of_what_turns_compute(x):
    def body(i, found):
        double = x[i] * 2
        found.append(double + 1)
        return found

    return jnp.stack(lax.fori_loop(0, 3, body, []))


@failing(
    X,
    case="carry type",
    place="lax.scan",
    words=["Begin with the type that it has after one turn, float32[]:\nreturn lax.scan(step, jnp.asarray("],
    mends=[0],
    gives=(6, jnp.array([0.0, 1.0, 3.0])),
)
def a_count_to_which_fractions_are_added(x):
    def step(total, entry):
        return total + entry, total

    return lax.scan(step, jnp.int32(0), x)


class Moving(NamedTuple):
    place: jax.Array
    speed: jax.Array


@failing(X, case="carry structure", place="lax.scan", words=["return Moving(moving.place"], mends=[0], instead="step")
def a_named_tuple_that_comes_out_as_a_tuple(x):
    def step(moving, _):
        return (moving.place + moving.speed, moving.speed), moving.place

    start = Moving(x, x)
    return lax.scan(step, start, None, length=3)


@failing(
    X,
    case="scan pair",
    place="lax.scan",
    words=["not of the type of what is carried", "first at the end of `step`"],
    mends=[0],
    gives=(X, 2 * X),
    instead="step",
)
def a_turn_that_gives_what_shall_be_stacked(x):
    def step(weights, entry):
        return 2 * entry

    return lax.scan(step, x, x)
