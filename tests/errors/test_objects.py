"""Objects of the person's classes where JAX takes trees of arrays: told how JAX learns to take them apart."""

from __future__ import annotations

import dataclasses
from typing import Any

import jax
import jax.numpy as jnp
import pytest
from errors.failing import X
from errors.failing.telling import cures_of

import jaxviz as jv


def moving():
    """A class that is new with each call, for what JAX was told of one holds for good."""

    @dataclasses.dataclass
    class Moving:
        position: Any
        speed: Any
        name: str = "ball"

    return Moving


def written_class():
    class Moving:
        def __init__(self, position, speed):
            self.position = jnp.asarray(position)
            self.speed = speed
            self.name = "ball"

    return Moving


def frozen():
    return dataclasses.make_dataclass("Moving", ["position", "speed"], frozen=True)


def moved(one):
    return one.position + one.speed


def mapped(Moving):
    return lambda x: jax.vmap(moved)(Moving(x, x)), 2 * X


def scanned(Moving):
    def step(one, _):
        return Moving(moved(one), one.speed), None

    return lambda x: jax.lax.scan(step, Moving(x, x), None, length=3)[0].position, 4 * X


def counted(Moving):
    def turn(_, pair):
        return pair[0] + 1, Moving(moved(pair[1]), pair[1].speed)

    return lambda x: jax.lax.fori_loop(0, 3, turn, (0, Moving(x, x)))[1].position, 4 * X


def derived(Moving):
    return lambda x: jax.grad(lambda one: (one.position * one.speed).sum())(Moving(x, 2 * x)).position, 2 * X


def chosen(Moving):
    return lambda x: jax.lax.cond(x[0] > 0, moved, lambda one: one.speed, Moving(x, x)), 2 * X


def stacked(Moving):
    return lambda x: jax.vmap(lambda one: Moving(one, 2 * one))(x).speed, 2 * X


def given_by_jit(Moving):
    return lambda x: jax.jit(lambda one: Moving(one, 2 * one))(x).speed, 2 * X


@pytest.mark.smoke
@pytest.mark.parametrize("program", [mapped, scanned, counted, derived, chosen, stacked, given_by_jit])
@pytest.mark.parametrize("made", [moving, frozen, written_class])
def test_an_object_with_arrays_is_taken_apart_as_the_cure_says(program, made):
    Moving = made()
    fn, gives = program(Moving)
    with pytest.raises((TypeError, ValueError)) as caught:
        jv.explore(fn, X)
    told = caught.value.jaxviz.explanation
    assert "Moving" in told.title
    cure = told.cures[0]
    assert "static" not in cure.code
    exec(cure.code, {"jax": jax, "Moving": Moving})
    assert jnp.array_equal(jax.jit(fn)(X), gives)


def test_what_an_object_holds_is_told_to_jax_too():
    Moving, Pair = moving(), dataclasses.make_dataclass("Pair", ["one", "other"])

    def fn(x):
        return jax.vmap(lambda pair: moved(pair.one) * pair.other)(Pair(Moving(x, x), x))

    (cure,) = cures_of(fn, X)
    exec(cure.code, {"jax": jax, "Moving": Moving, "Pair": Pair})
    assert jnp.array_equal(fn(X), 2 * X**2)


def test_a_number_of_a_mapped_object_is_not_mapped():
    Moving = moving()

    def fn(x):
        return jax.vmap(moved)(Moving(x, 2.0))

    (cure,) = cures_of(fn, X)
    exec(cure.code, {"jax": jax, "Moving": Moving})
    assert jnp.array_equal(fn(X), X + 2)


def test_text_beside_what_is_mapped_is_handed_on():
    def fn(x):
        way = "double"
        return jax.vmap(lambda one, way: 2 * one if way == "double" else one)(x, way)

    (cure,) = cures_of(fn, X)
    names = {"jax": jax, "x": X, "way": "double"}
    exec(cure.code.replace("return", "result ="), names)
    assert jnp.array_equal(names["result"], 2 * X)
