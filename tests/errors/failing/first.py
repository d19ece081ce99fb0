"""What people write first who come from NumPy or Python: masks that are reduced, lists that are filled, keys."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
from errors.failing.registry import KEY, X, failing
from jax import lax


@failing(
    X,
    case="choice",
    place="v > 1.5",
    words=["out.append(jnp.where("],
    mends=[0, 1],
    gives=[-1.0, 2.0, 3.0],
    instead="rest",
)
def a_list_that_is_filled_by_one_of_two(x):
    out = []
    for v in x:
        if v > 1.5:
            out.append(v)
        else:
            out.append(-v)
    return out


@failing(X, case="boolean mask", place="x[x > 1.5]", words=["jnp.mean(x, where=x > 1.5)"], mends=[0], gives=5.0)
def a_mean_of_some(x):
    return x[x > 1.5].mean() * 2


@failing(X, case="boolean mask", place="x[x < 2.5]", words=["initial=-jnp.inf"], mends=[0], gives=2.0)
def the_largest_of_some(x):
    return jnp.max(x[x < 2.5])


@failing(X, case="boolean mask", place="x[x > 1.5]", words=["`where=x > 1.5` has it left out of a mean"])
def a_mean_of_what_was_taken(x):
    taken = x[x > 1.5]
    return taken.mean()


@failing(X, case="numpy", place="np.log1p", words=["jnp.log1p(jnp.abs(x))"], mends=[0], gives=np.log1p(np.asarray(X)))
def two_of_numpy(x):
    return np.log1p(np.abs(x))


@failing(
    KEY,
    case="no key",
    place="jax.random.normal((3,), key)",
    words=["Give the key first"],
    mends=[0],
    gives=np.asarray(jax.random.normal(KEY, (3,))),
)
def a_shape_before_the_key(key):
    return jax.random.normal((3,), key)


@failing(KEY, case="unpacking", place="jax.random.split(key)", words=["jax.random.split(key, 3)"], mends=[0])
def three_keys_of_two(key):
    one, other, rest = jax.random.split(key)
    return jax.random.normal(one) + jax.random.normal(other) + jax.random.normal(rest)


@failing(X, case="item", place="names[jnp.argmax(x)]", words=["take the item outside"], mends=[0], gives=2)
def a_name_by_its_place(x):
    names = ["red", "green", "blue"]
    return names[jnp.argmax(x)]


@failing(
    X,
    case="concatenation",
    place="jnp.concatenate",
    words=["`x` is taken for the list"],
    mends=[0],
    gives=jnp.array([1.0, 2, 3] * 2),
)
def joined_without_a_list(x):
    return jnp.concatenate(x, x)


@failing(
    X,
    case="concatenation",
    place="jnp.concatenate",
    words=["jnp.array([0.5])"],
    mends=[0],
    gives=jnp.array([1, 2, 3, 0.5]),
)
def a_number_that_is_joined(x):
    return jnp.concatenate([x, 0.5])


@failing(
    X, case="attribute", place="x.append", words=["x = jnp.append(x, 4.0)"], mends=[0], gives=jnp.array([1.0, 2, 3, 4])
)
def appended_to(x):
    x.append(4.0)
    return x


@failing(X, case="branch structure", place="lax.cond", words=["lambda v: (v, None)"], mends=[0])
def a_branch_with_nothing_beside(x):
    return lax.cond(x[0] > 0, lambda v: (v, None), lambda v: v, x)


@failing(
    X, case="branches", place="lax.cond", words=["jnp.where(x.sum() > 0, x * 2, x * 3)"], mends=[0, 1], gives=X * 2
)
def products_for_branches(x):
    return lax.cond(x.sum() > 0, x * 2, x * 3)
