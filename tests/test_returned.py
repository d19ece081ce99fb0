"""What the person calls the results of a function, by its return statement."""

from __future__ import annotations

import functools
import re
from dataclasses import dataclass
from typing import NamedTuple

import jax
import jax.numpy as jnp
import pytest

import jaxviz as jv
from jaxviz.program.program import Program


class State(NamedTuple):
    w: jax.Array
    count: jax.Array


@jax.tree_util.register_dataclass
@dataclass
class Metrics:
    loss: jax.Array
    accuracy: jax.Array


def names(fn, *arguments):
    return Program(fn, arguments or (jnp.ones(3),)).returned_names


def test_a_tuple_names_its_elements_however_deep_they_lie():
    def step(x):
        state, loss, aux, grads = State(x, x.sum()), x.sum(), {"n": x}, [x, x]
        return state, loss, (aux, grads), 2 * x

    assert names(step) == ("state.w", "state.count", "loss", "aux['n']", "grads[0]", "grads[1]", "")


def test_a_single_variable_is_the_result():
    def f(x):
        total = x.sum()
        total += 1
        return total

    assert names(f) == ("total",)
    assert names(lambda x: x) == ("x",)
    assert names(lambda x: 2 * x) == ("",)


def test_keys_of_a_dictionary_and_fields_of_an_object_are_names():
    def f(x):
        return {"loss": x.sum(), "inner": {"w": x}}, Metrics(loss=x.sum(), accuracy=x.mean()), dict(mean=x.mean())  # noqa: C408

    assert names(f) == ("inner['w']", "loss", "loss", "accuracy", "mean")


def test_several_return_statements_name_what_all_of_them_agree_on():
    def f(x, deep=True):
        loss, kept, other = x.sum(), x + 1, x * 2
        if deep:
            return loss, kept
        return loss, other

    assert names(f) == ("loss", "")


def test_what_only_calls_another_function_gives_what_that_gives():
    def step(x):
        loss, grads = x.sum(), x * 2
        return loss, grads

    def timed(fn):
        @functools.wraps(fn)
        def wrapper(*args):
            return fn(*args)

        return wrapper

    def added(fn):
        @functools.wraps(fn)
        def wrapper(*args):
            found = fn(*args)
            return found, found

        return wrapper

    class Model:
        def step(self, x):
            loss, grads = step(x)
            return loss, grads

    for one in (step, jax.jit(step), jax.checkpoint(step), functools.partial(step), Model().step, timed(step)):
        assert names(one) == ("loss", "grads")
    assert names(lambda x: step(x)) == ("loss", "grads")
    assert names(jax.vmap(step), jnp.ones((2, 3))) == ("loss", "grads")
    assert names(added(step)) == ("found[0]", "found[1]", "found[0]", "found[1]")


@pytest.mark.parametrize("transformed", [jax.grad, jax.jacfwd, lambda fn: jax.jit(jax.grad(fn))])
def test_what_a_gradient_gives_is_not_what_the_function_returns(transformed):
    def loss(x):
        total = (x**2).sum()
        total += 1
        return total

    assert set(names(transformed(loss))) == {""}


def test_functions_of_libraries_and_without_source_name_nothing():
    space: dict = {}
    exec("def f(x):\n    total = x + 1\n    return total", space)
    assert names(space["f"]) == ("",)
    assert names(jnp.linalg.norm) == ("",)


@pytest.mark.parametrize("stage", ["jaxpr", "stablehlo", "hlo"])
def test_every_stage_shows_results_by_their_names_and_keeps_their_paths(stage):
    def step(w, x):
        loss = ((x @ w) ** 2).sum()
        moved = {"w": w - 0.1 * x.T @ (x @ w), "first": x}
        extra = jnp.sin(x)
        return moved, loss, extra

    explored = jv.explore(step, jnp.ones((4, 2)), jnp.ones((3, 4)))
    assert {">→ loss<", ">→ w<", ">→ extra<"} <= set(re.findall(r">→ \w+<", explored.to_svg(stage=stage)))
    results = [node for node in getattr(explored, stage) if node.kind == "result" and node.region == 0]
    assert [node.name for node in results] == ["result[0]['first']", "result[0]['w']", "result[1]", "result[2]"]


def test_the_box_of_a_result_says_that_it_is_one_and_which():
    def named(x):
        kept = jnp.sin(x)
        kept *= 2
        return kept

    def unnamed(x):
        return jnp.sin(x)

    explored = [jv.explore(fn, jnp.ones(3)) for fn in (named, unnamed)]
    boxes = [box.name for one in explored for box in one.view().boxes if box.kind == "result"]
    assert boxes == ["result kept", "result"]
