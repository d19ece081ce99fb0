"""Functions that JAX cannot trace, as people write them: one for each case that is explained, and more of some.

Each says which case it is, the operations that the error is about, and which of the cures, put in place of the
statement that failed, makes the function work.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

X = jnp.array([1.0, 2.0, 3.0])
A, B = jnp.ones((3, 4)), jnp.ones((3, 5))


@dataclass(frozen=True)
class Failing:
    fn: Callable[..., Any]
    args: tuple[Any, ...]
    case: str
    #: Words that the failing expression is marked by; empty where the function is not entered.
    place: str
    #: Operations of the nodes that the error is about.
    culprits: tuple[str, ...]
    #: What must be said of the person's own names.
    words: tuple[str, ...]
    #: Cures that replace the statement.
    mends: tuple[int, ...]


CASES: dict[str, Failing] = {}


def failing(
    *args: Any,
    case: str,
    place: str,
    culprits: Sequence[str] = (),
    words: Sequence[str] = (),
    mends: Sequence[int] = (),
) -> Callable[[Any], Any]:
    def register(fn: Any) -> Any:
        CASES[fn.__name__] = Failing(fn, args, case, place, tuple(culprits), tuple(words), tuple(mends))
        return fn

    return register


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


@failing(X, case="choice", place="jnp.all(x > 0)", culprits=["reduce_and"], words=["checkify.check(jnp.all(x > 0)"])
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


# Python or NumPy asks for the number.


@failing(X, case="conversion", place="float(norm)", culprits=["sqrt"], words=["scale = norm"], mends=[0])
def a_float(x):
    norm = jnp.sqrt(x.sum())
    scale = float(norm)
    return x / scale


@failing(X, case="conversion", place="int(x.sum())", culprits=["reduce_sum"], words=[".astype(int)"], mends=[0])
def an_int(x):
    n = int(x.sum())
    return x * n


@failing(X, case="conversion", place="math.sqrt(x[0])", culprits=["squeeze"], words=["jnp.sqrt(x[0])"], mends=[0])
def of_math(x):
    return math.sqrt(x[0]) * x


@failing(X, case="taken out", place="jnp.sum(x).item()", culprits=["reduce_sum"], words=["x / jnp.sum(x)"], mends=[0])
def an_item(x):
    return x / jnp.sum(x).item()


@failing(X, case="format", place=':.3f}"', culprits=["argument"], words=['"{value:.3f}", value=x.sum()'])
def a_format(x):
    return x * len(f"{x.sum():.3f}")


@failing(
    3, case="range", place="range(n)", culprits=["argument"], words=["fori_loop(0, n, body", "--static 0"], mends=[0]
)
def a_range(n):
    total = 0
    for i in range(n):
        total = total + i
    return total


@failing(X, case="range", place="range(jnp.sum(x).astype(int))", culprits=["convert_element_type"], words=["fori_loop"])
def a_range_of_a_sum(x):
    for _ in range(jnp.sum(x).astype(int)):
        x = x + 1
    return x


@failing(X, 1, case="item", place="layers[i]", culprits=["argument"], words=["jax.lax.switch(i, layers, x)"], mends=[0])
def an_item_of_a_list(x, i):
    layers = [jnp.sin, jnp.cos]
    return layers[i](x)


@failing(X, 1, case="item", place="scales[i]", culprits=["argument"], words=["jnp.array(scales)"], mends=[0])
def a_number_of_a_list(x, i):
    scales = [1.0, 2.0]
    return x * scales[i]


@failing(X, case="numpy", place="np.sin(y)", culprits=["mul"], words=["jnp.sin(y)", "pure_callback"], mends=[0])
def of_numpy(x):
    y = x * 2
    return np.sin(y)


@failing(X, case="too large", place="3000000000", culprits=["convert_element_type"], words=["32 bits"])
def a_large_number(x):
    return x.astype(int) + 3000000000


# Lengths and shapes from values.


@failing(5, case="shape from a value", place="jnp.full((n,), 1.0)", culprits=["mul"], words=['static_argnames="n"'])
def a_length(n):
    n = n * 2
    return jnp.full((n,), 1.0)


@failing(5, case="shape from a value", place="jnp.arange(n)", culprits=["argument"], words=["--static 0"])
def a_range_of_numbers(n):
    return jnp.arange(n)


@failing(
    X, case="shape from a value", place="x.sum().astype(int)", culprits=["convert_element_type"], words=["x.shape[0]"]
)
def a_one_hot(x):
    return jax.nn.one_hot(jnp.arange(3), x.sum().astype(int))


@failing(X, 2, case="slice", place="x[:n]", culprits=["argument"], words=["jnp.arange(x.shape[0]) < n"], mends=[1])
def a_slice(x, n):
    return x[:n]


@failing(X, case="length", place="jnp.nonzero(x)", culprits=["reduce_sum"], words=["size=x.size"], mends=[0])
def where_not_zero(x):
    return jnp.nonzero(x)


@failing(X, case="length", place="jnp.where(x > 0)", culprits=["reduce_sum"], words=["size=x.size"], mends=[0])
def where_positive(x):
    (found,) = jnp.where(x > 0)
    return x[found]


@failing(X, case="length", place="jnp.unique(x)", culprits=["argument"], words=["size=x.size"], mends=[0])
def the_unique(x):
    return jnp.unique(x)


@failing(X, case="length", place="jnp.bincount", culprits=["convert_element_type"], words=["length=N"])
def counted(x):
    return jnp.bincount(x.astype(int))


@failing(
    X,
    case="boolean mask",
    place="y[mask]",
    culprits=["gt"],
    words=["jnp.where(mask, y, 0)", "`mask` (bool[3])"],
    mends=[0],
)
def a_mask(x):
    y = jnp.sin(x) * 2
    mask = y > 0
    return y[mask]


# Arrays.


@failing(X, case="in place", place="y[0]", culprits=["broadcast_in_dim"], words=["y = y.at[0].set(x[0])"], mends=[0])
def written_into(x):
    y = jnp.zeros(3)
    y[0] = x[0]
    return y


@failing(X, case="in place", place="x[1]", culprits=["argument"], words=["x = x.at[1].add(2.0)"], mends=[0])
def added_into(x):
    x[1] += 2.0
    return x


@failing(X, case="indices", place="x[0, 1]", culprits=["argument"], words=["f32[3]"], mends=[0])
def too_many_indices(x):
    return x[0, 1]


@failing(X, case="index type", place="x[1.0]", culprits=["argument"], words=["x[1]"], mends=[0])
def a_float_for_an_index(x):
    return x[1.0]


@failing(X, case="list as index", place="x[[0, 1]]", culprits=["argument"], words=["jnp.array([0, 1])"], mends=[0])
def a_list_for_an_index(x):
    return x[[0, 1]]


@failing(X, case="list", place="jnp.sum([x, x])", culprits=["argument"], words=["jnp.array([x, x])"], mends=[0])
def a_list_for_an_array(x):
    return jnp.sum([x, x])


@failing(X, case="hash", place="x[0] in {1, 2}", words=["jnp.any(x[0] == jnp.array([1, 2]))"], mends=[0])
def in_a_set(x):
    return x[0] in {1, 2}


@failing(3.0, case="no axis", place="", culprits=["argument"], words=["`x`", "f32[]"])
def a_number_taken_apart(x):
    return list(x)


@failing(X, case="unpacking", place="", culprits=["argument"], words=["a, b = x[:2]"], mends=[0])
def unpacked(x):
    a, b = x
    return a + b


@failing(X, case="operand", place="x + y", words=["`y` is a NoneType"])
def nothing_added(x):
    y = None
    return x + y


# Shapes and types that do not fit.


@failing(A, B, case="broadcasting", place="e + b", culprits=["argument", "exp"], words=["(3, 4)", "(3, 5)"], mends=[0])
def shapes_that_differ(a, b):
    e = jnp.exp(a)
    return e + b


@failing(X, A, case="broadcasting", place="x + a", culprits=["argument"], words=["x[:, None]"], mends=[0])
def an_axis_that_lacks(x, a):
    return x + a


@failing(A, B, case="contraction", place="a @ b", culprits=["argument"], words=["a.T @ b"], mends=[0])
def a_product(a, b):
    return a @ b


@failing(A, B, case="concatenation", place="jnp.concatenate", culprits=["argument"], words=["axis=1"], mends=[0])
def joined(a, b):
    return jnp.concatenate([a, b], axis=0)


@failing(A, case="reshape", place="a.reshape(5, 3)", culprits=["argument"], words=["a.reshape(-1, 3)"], mends=[0])
def reshaped(a):
    return a.reshape(5, 3)


@failing(A, case="reshape", place="jnp.reshape(a, (7, 2))", culprits=["argument"], words=["(-1, 2)"], mends=[0])
def reshaped_by_the_function(a):
    return jnp.reshape(a, (7, 2))


@failing(X, case="axis", place="jnp.sum(x, axis=2)", culprits=["argument"], words=["axis=0"], mends=[0])
def an_axis_that_is_not_there(x):
    return jnp.sum(x, axis=2)


@failing(X, case="types", place="lax.add", culprits=["argument", "iota"], words=["jnp.add"], mends=[0, 1])
def types_that_differ(x):
    return lax.add(x, jnp.arange(3))


@failing(X, case="einsum", place="jnp.einsum", culprits=["argument"], words=["`x` has 1"])
def an_einsum(x):
    return jnp.einsum("ij,jk->ik", x, x)


@failing(X, case="split", place="jnp.split(x, 2)", culprits=["argument"], words=["array_split"], mends=[0])
def split_unevenly(x):
    return jnp.split(x, 2)


@failing(X, case="dot", place="lax.dot", culprits=["argument", "broadcast_in_dim"], words=["(3,) and (4,)"])
def a_dot(x):
    return lax.dot(x, jnp.ones(4))


# Bodies of loops and branches.


@failing(
    X, case="carry type", place="lax.scan", culprits=["sin"], words=["float32[3]", "int32[3]", "astype(jnp.float32), t"]
)
def a_carry_of_another_type(x):
    y = jnp.sin(x)

    def body(c, t):
        return c.astype(jnp.int32), t

    return lax.scan(body, y, jnp.arange(4))


@failing(X, case="carry type", place="lax.scan", culprits=["argument"], words=["jnp.zeros((STEPS, 3))"])
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


# Derivatives.


@failing(X, case="grad of integer", place="jax.grad", culprits=["argument"], words=["(3.0)"], mends=[0])
def a_derivative_by_an_integer(x):
    return jax.grad(lambda n: (n * x).sum())(3)


@failing(X, case="grad of array", place="jax.grad", culprits=["mul"], words=["jnp.sum(v * 2)", "(3,)"], mends=[0, 1])
def a_derivative_of_many(x):
    return jax.grad(lambda v: v * 2)(x)


@failing(X, case="grad of several", place="jax.grad", culprits=["reduce_sum"], words=["has_aux=True"], mends=[0])
def a_derivative_with_more(x):
    return jax.grad(lambda v: (jnp.sum(v), v))(x)


@jax.custom_vjp
def summed(v):
    return jnp.sum(v)


summed.defvjp(lambda v: (jnp.sum(v), v), lambda r, g: (r, g))


@failing(X, case="custom backward", place="jax.grad(summed)(x)", words=["2 for 1 arguments"])
def a_backward_of_two(x):
    return jax.grad(summed)(x)


# Arguments, axes, results, leaks, keys.


def picked(x, kind):
    return x if kind == "relu" else -x


@failing(
    X, case="not an array", place="jax.jit(picked)", words=["`kind`", "str", 'jit(picked, static_argnames="kind")']
)
def a_text_for_a_function_inside(x):
    return jax.jit(picked)(x, "relu")


@failing(X, [3, 1], case="static argument", place="f(x, sizes)", words=["tuple(sizes)"])
def a_list_that_is_static(x, sizes):
    f = jax.jit(lambda v, s: v.reshape(len(s), -1), static_argnums=1)
    return f(x, sizes)


@failing(X, case="result", place="", words=["a str", "['name']"])
def a_string_given_back(x):
    return {"x": x, "name": "hello"}


@failing(X, case="vmap sizes", place="jax.vmap", words=["`a` has 3", "`b` has 4", "in_axes=(0, None)"], mends=[])
def axes_of_different_lengths(x):
    return jax.vmap(lambda a, b: a + b)(x, jnp.ones(4))


@failing(X, case="vmap rank", place="jax.vmap", words=["in_axes=(0, None)"], mends=[0])
def an_axis_of_a_number(x):
    return jax.vmap(lambda a, b: a + b)(x, 1.0)


@failing(X, case="axis name", place="lax.psum", culprits=["argument"], words=['axis_name="batch"'])
def a_name_of_no_axis(x):
    return lax.psum(x, "batch")


@failing(X, case="no key", place="jax.random.normal(0, (3,))", words=["jax.random.key(0)"], mends=[0])
def a_number_for_a_key(x):
    return x + jax.random.normal(0, (3,))


@failing(
    jax.random.key(0),
    case="key arithmetic",
    place="key + 1",
    culprits=["argument"],
    words=["fold_in(key, 1)"],
    mends=[0],
)
def a_key_counted_up(key):
    return key + 1


@failing(X, case="call", place="", words=["a_call_that_lacks_one(x, y)"])
def a_call_that_lacks_one(x, y):
    return x + y


# What no row of the table knows.


@failing(X, case="unknown", place="not_defined", culprits=["sin"], words=["NameError", "not_defined"])
def a_name_that_is_not_there(x):
    y = jnp.sin(x)
    return y + not_defined  # noqa: F821


@failing(X, case="unknown", place="", culprits=["sin"], words=["ValueError", "no such kind"])
def an_error_of_its_own(x):
    y = jnp.sin(x)
    if y.ndim == 1:
        raise ValueError("no such kind")
    return y
