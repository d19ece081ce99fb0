"""Loops that are left in several places, and functions that return from inside of a loop or of a nested `if`."""

from __future__ import annotations

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
