"""Loops that are left in several places, and functions that return from inside of a loop or of a nested `if`."""

from __future__ import annotations

import jax.numpy as jnp
from errors.failing.registry import X, failing


@failing(X, case="choice", place="if x[i] > 1.5", words=["jnp.select"], mends=[0], gives=[1, 2, 3], instead="rest")
def the_first_that_is_larger(x):
    for i in range(3):
        if x[i] > 1.5:
            return x * i
    return x


@failing(X, case="choice", place="if entry > 2.5", mends=[0], gives=(4, 1), instead="loop and rest")
def a_sum_until_one_is_large(x):
    total = x[0]
    for entry in x:
        if entry > 2.5:
            return total, 1
        total = total + entry
    total = total - 1
    return total, 0


@failing(X, case="choice", place="if x[i] > j + 2", mends=[0], gives=21, instead="loop and rest")
def a_place_in_two_loops(x):
    found = x[0]
    for i in range(3):
        for j in range(2):
            if x[i] > j + 2:
                return x[i] * 7
            if x[i] + j > 9:
                return found
    return 0.0


@failing(X, case="choice", place="if x.sum() > 3", mends=[0], gives=[3, 5, 7], instead="rest")
def a_return_in_an_if_in_an_if(x):
    if x.sum() > 3:
        y = x * 2
        if y[0] > 1:
            return y + 1
    elif x.sum() < 0:
        return -x
    else:
        y = x
    return y


@failing(X, case="choice", place="if entry < 1.5", words=["done"], mends=[0], gives=(5, 2), instead="loop")
def cut_short_and_left(x):
    total = 0.0
    count = 0
    for entry in x:
        if entry < 1.5:
            continue
        total += entry
        count += 1
        if total > 4:
            break
    return total, count


@failing(X, case="choice", place="if total > 10", mends=[0], gives=7, instead="loop")
def left_in_two_places(x):
    total = x[0]
    while True:
        if total > 10:
            break
        total = total * 2
        if total > 7:
            total = total - 1
            break
    return total


@failing(X, case="choice", place="while x.sum() > 0", mends=[0], gives=([-1, 0, 1], 2), instead="loop and rest")
def a_return_in_a_while(x):
    turns = 0
    while x.sum() > 0:
        x = x - 1
        turns += 1
        if x[0] < -2:
            return x, turns
    return x, turns


@failing(X, case="choice", place="if x[2] > 20", mends=[0], gives=[8, 16, 24], instead="loop and rest")
def a_return_or_what_follows(x):
    turns = 0
    while turns < 10:
        x = x * 2
        if x[2] > 20:
            return x
        turns += 1
    x = x + 1
    return -x


@failing(X, case="choice", place="if x[2] > 20", mends=[0], gives=[-3, -5, -7], instead="loop and rest")
def what_follows_a_loop_that_may_return(x):
    turns = 0
    while turns < 1:
        x = x * 2
        if x[2] > 20:
            return x
        turns += 1
    x = x + 1
    return -x


@failing(X, case="choice", place="if abs(after - now) < 1e-6", mends=[0], gives=3**0.5, instead="loop")
def a_root_by_newton(x):
    now = x[2]
    while True:
        after = 0.5 * (now + x[2] / now)
        if abs(after - now) < 1e-6:
            return after
        now = after


@failing(7, case="choice", place="if n < 2", words=["fori_loop"], mends=[0], gives=13, instead="rest")
def fibonacci(n):
    if n < 2:
        return n
    a, b = 0, 1
    for _ in range(n - 1):
        a, b = b, a + b
    return b


@failing(X, case="choice", place="if x[0] > 0", words=["while_loop"], mends=[0], gives=[0.25, 0.5, 0.75])
def a_while_in_a_branch(x):
    y = x * 2
    if x[0] > 0:
        while y.sum() > 2:
            y = y / 2
    else:
        y = -y
    return y


@failing(9, case="range", place="range(1, n, 3)", words=["-((1 - n) // 3)"], mends=[0], gives=12)
def every_third(n):
    total = 0
    for i in range(1, n, 3):
        total = total + i
    return total


@failing(X, case="choice", place="if total > 4", words=["with 0"], mends=[0], gives=[1, 3, 0], instead="loop")
def sums_until_one_is_large(x):
    sums = []
    total = 0.0
    for entry in x:
        total = total + entry
        if total > 4:
            break
        sums.append(total)
    return jnp.array(sums)


@failing(X, case="choice", place="if x.sum() < 1", mends=[0], gives=[3, 1.5, 0.75, 0, 0], instead="loop")
def what_was_before_it_is_small(x):
    history = []
    for _ in range(5):
        x = x / 2
        history.append(x.sum())
        if x.sum() < 1:
            break
    return jnp.stack(history)


@failing(X, case="choice", place="if entry < 1.5", mends=[0], gives=([0, 4, 0], 2), instead="loop")
def squares_of_some_until_one_is_large(x):
    squares = []
    count = 0
    for entry in x:
        if entry < 1.5:
            continue
        count += 1
        square = entry * entry
        if square > 8:
            break
        squares.append(square)
    return jnp.array(squares), count
