"""Loops of Python in whose turns something is chosen, and of which the program makes loops of its own."""

from __future__ import annotations

from errors.failing.registry import X, failing


@failing(
    X,
    case="choice",
    place="while high - low",
    words=["low, high = jnp.where", "jax.lax.while_loop"],
    mends=[0],
    instead="loop",
    gives=1.4142,
)
def a_root_by_halves(x):
    low, high = x[0], x[1]
    while high - low > 1e-5:
        middle = (low + high) / 2
        if middle**2 < 2:
            low = middle
        else:
            high = middle
    return low.round(4)


@failing(
    10,
    case="choice",
    place="while n != 1",
    words=["jnp.where(n % 2 == 0, n // 2, 3 * n + 1)"],
    mends=[0],
    instead="loop",
    gives=6,
)
def turns_until_one(n):
    steps = 0
    while n != 1:
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        steps += 1
    return steps


@failing(X, 3, case="range", place="range(n)", words=["jnp.where(x[i] > 2, total + x[i]"], mends=[0], instead="loop")
def a_sum_of_the_large(x, n):
    total = 0.0
    for i in range(n):
        if x[i] > 2:
            total += x[i]
        elif x[i] > 1:
            total -= 1.0
    return total


@failing(48, 36, case="choice", place="while b", words=["Make `b` and `a` static"], mends=[0], instead="loop", gives=12)
def a_common_divisor(a, b):
    while b:
        a, b = b, a % b
    return a


@failing(X, case="choice", place="while x.sum() > 1", mends=[0], gives=-X / 8, instead="loop and rest")
def halves_until_one_is_small(x):
    while x.sum() > 1:
        if x[0] < 0.1:
            return x
        x = x / 2
    return -x


@failing(
    X,
    case="choice",
    place="if x[middle] < 1.5",
    words=["return low < high", "low, high = jnp.where(x[middle] < 1.5, middle + 1, low)"],
    mends=[0],
    instead="loop",
    gives=1,
)
def a_place_by_halves(x):
    low, high = 0, x.shape[0]
    while low < high:
        middle = (low + high) // 2
        if x[middle] < 1.5:
            low = middle + 1
        else:
            high = middle
    return low


@failing(X, case="choice", place="if x[place] > 2", mends=[0], instead="loop", gives=2)
def a_step_that_a_value_makes(x):
    place = 0
    found = 0.0
    while place < 2:
        found = found + x[place]
        if x[place] > 2:
            place = place + 2
        else:
            place += 1
    return place
