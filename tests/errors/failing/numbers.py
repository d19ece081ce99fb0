"""Python or NumPy asks for the number behind a traced value, for a length or a shape too."""

from __future__ import annotations

import math

import jax
import jax.numpy as jnp
import numpy as np
from errors.failing.registry import KEY, X, failing

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


@failing(X, case="format", place=':.3f}"', culprits=["argument"], words=['"{:.3f}", x.sum()'])
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


@failing(
    X,
    2,
    case="slice",
    place="x[: n * width]",
    words=["Make `width` static", 'static_argnames="width"'],
)
def a_slice_that_is_computed(x, width):
    n = x.shape[0] // width
    return x[: n * width].reshape(n, width)


@failing(KEY, 3, case="shape from a value", place="jax.random.normal", words=["Make `n` static"], culprits=["argument"])
def as_many_numbers_as_asked(key, n):
    return jax.random.normal(key, n)


@failing(X, case="shape from a value", place="jax.random.bernoulli", words=["shape=x.shape"], mends=[0])
def as_many_numbers_as_the_sum(x):
    kept = jax.random.bernoulli(jax.random.key(0), 0.9, shape=x.sum())
    return x * kept


@failing(jnp.ones((2, 2)), X, case="static argument", place="jnp.linalg.matrix_power", words=["cannot be static"])
def a_power_that_is_computed(a, x):
    n = jnp.argmax(x)
    return jnp.linalg.matrix_power(a, n)


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


@failing(
    X,
    case="length",
    place="jnp.bincount",
    culprits=["convert_element_type"],
    words=["length=size"],
    mends=[0],
    gives=[0, 1, 1, 1],
    instead="outside",
)
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


@failing(X, case="shape from a value", place="jnp.tile", words=["jnp.tile(x, x.sum().astype(int))"])
def as_many_as_the_sum(x):
    return jnp.tile(x, x.sum().astype(int))


@failing(X, case="too large", place="2**40", words=["float(2**40)"], mends=[0])
def a_large_power(x):
    return x.astype(int) + 2**40
