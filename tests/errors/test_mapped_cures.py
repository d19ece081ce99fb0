"""What people are told to do about axes of mapped functions that do not fit."""

from __future__ import annotations

import functools
import inspect

import jax
import jax.numpy as jnp
import pytest
from errors.failing.telling import cures_of, mended

gradient_by_row = jax.vmap(jax.grad(lambda w, x: ((x @ w) ** 2).sum()))


jitted_by_row = jax.jit(jax.vmap(lambda w, x: x @ w))


@jax.vmap
def product_by_row(w, x):
    return x @ w


@jax.vmap
def told_by_row(w, x):
    TOLD.append(x.shape)
    return x @ w


TOLD: list[tuple[int, ...]] = []


WEIGHTS, ROWS = jnp.ones(3), jnp.ones((5, 3))


def test_a_mapped_function_of_which_only_the_value_is_had_gets_axes_that_were_tried():
    def called(w, x):
        return product_by_row(w, x)

    for explored, gives in ((gradient_by_row, 6 * ROWS), (product_by_row, 3 * jnp.ones(5)), (called, 3 * jnp.ones(5))):
        (cure,) = cures_of(explored, WEIGHTS, ROWS)
        mapped = mended(called, inspect.getsourcelines(called)[1] + 1, cure.code) if explored is called else None
        names = {"jax": jax, **globals()}
        if mapped is None:
            exec(cure.code, names)
            mapped = names[cure.code.split()[0]]
        assert jnp.array_equal(mapped(WEIGHTS, ROWS), gives)
    (cure,) = cures_of(product_by_row, jnp.ones((2, 3)), ROWS)
    assert "in_axes=(0, None)" in cure.code


def test_axes_of_a_mapped_function_are_not_guessed_where_they_cannot_be_tried():
    for explored in (jitted_by_row, told_by_row):
        assert not cures_of(explored, WEIGHTS, ROWS)
    assert not TOLD


def test_the_square_of_a_product_is_tried_before_a_cure_is_told():
    def each(w, x):
        return jax.vmap(jax.grad(lambda w, x: ((x @ w) ** 2).sum()))(w, x)

    (cure,) = cures_of(each, WEIGHTS, ROWS)
    assert "in_axes=(None, 0)" in cure.code


doubled_by_entry = jax.pmap(lambda one, by: one * by, in_axes=(0, None))


@jax.pmap
def halved_by_entry(one):
    return one / 2


@functools.partial(jax.pmap, axis_name="i")
def shared_by_entry(one):
    return one / jax.lax.psum(one, "i")


@pytest.mark.skipif(jax.__version_info__ < (0, 10), reason="before JAX 0.10 the error comes when it runs")
def test_more_entries_than_devices_are_mapped_on_each_of_them():
    entries = jnp.ones(2 * jax.local_device_count())

    @functools.partial(jax.pmap, axis_name="i", donate_argnums=0)
    def donated(one):
        return one / 2

    def at_once(x):
        return jax.pmap(lambda one: one + 1)(x)

    def given_beside(x):
        return doubled_by_entry(x, 3)

    def decorated(x):
        return halved_by_entry(x)

    def summed_up(x):
        return shared_by_entry(x)

    def in_place(x):
        return donated(x)

    share = 0.5 / jax.local_device_count()
    for fn, gives in ((at_once, 2), (given_beside, 3), (decorated, 0.5), (summed_up, share)):
        (cure,) = cures_of(fn, entries)
        result = eval(cure.code.removeprefix("return "), {**globals(), "x": entries})
        assert jnp.allclose(result, gives)
    assert not cures_of(in_place, entries)


def _layer(weights, row):
    return row @ weights


def test_axes_are_told_where_the_mapped_function_was_made():
    def fn(weights, rows):
        batched = jax.jit(jax.vmap(_layer))
        return batched(weights, rows).sum()

    (cure,) = cures_of(fn, jnp.ones((3, 4)), jnp.ones((5, 3)))
    assert cure.code == "batched = jax.jit(jax.vmap(_layer, in_axes=(None, 0)))"


def test_axes_are_told_where_a_method_made_the_mapped_function():
    class Model:
        def __init__(self):
            self.batched = jax.vmap(_layer)

        def __call__(self, weights, rows):
            return self.batched(weights, rows)

    (cure,) = cures_of(Model(), jnp.ones((3, 4)), jnp.ones((5, 3)))
    assert cure.code == "self.batched = jax.vmap(_layer, in_axes=(None, 0))"


def test_axes_in_a_lambda_are_tried_whatever_stands_around_it():
    (cure,) = cures_of(lambda weights, rows: jax.vmap(_layer)(weights, rows), jnp.ones((3, 4)), jnp.ones((5, 3)))
    assert "jax.vmap(_layer, in_axes=(None, 0))(weights, rows)" in cure.code
