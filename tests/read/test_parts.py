"""What the person calls the parts of a carry or of an argument, where he takes them apart by names."""

from __future__ import annotations

from typing import NamedTuple

import jax
import jax.numpy as jnp
import pytest
from jax import lax

import jaxviz as jv


class State(NamedTuple):
    params: jax.Array
    count: jax.Array


class Cell:
    def __init__(self, scale):
        self.scale = scale

    def turn(self, carry, x):
        kept, fresh = carry
        return (kept * self.scale, fresh + x), kept


def variables(fn, *arguments):
    """The variable of each argument that has one, by its path."""
    found = jv.explore(fn, *arguments).jaxpr
    return {node.name: node.attributes["variable"] for node in found if "variable" in node.attributes}


def test_the_parts_of_a_carry_have_the_names_of_the_variables_that_they_are_put_into():
    def body(carry, step):
        (caches, token), *others = carry
        gain, shift = step
        return ((caches, token + gain), *others), shift

    found = variables(
        lambda xs: lax.scan(body, (({"k": xs, "v": xs}, 0.0), 1.0, 2.0), (xs, xs)),
        jnp.ones(4),
    )
    assert found == {
        "carry[0][0]['k']": "caches['k']",
        "carry[0][0]['v']": "caches['v']",
        "carry[0][1]": "token",
        "step[0]": "gain",
        "step[1]": "shift",
    }


def test_parts_that_are_taken_one_by_one_or_by_their_fields_have_these_names():
    def cond(state):
        return state["error"] > 0.1

    def body(state):
        error = state["error"]
        weights, count = state["inner"]
        return {"error": error / 2, "inner": State(weights + 1, count + 1)}

    found = variables(
        lambda x: lax.while_loop(cond, body, {"error": x.sum(), "inner": State(x, jnp.int32(0))}), jnp.ones(3)
    )
    assert found == {
        "state['error']": "error",
        "state['inner'].params": "weights",
        "state['inner'].count": "count",
    }


def test_a_part_of_a_part_is_known_by_the_variable_in_between():
    def body(carry, x):
        pair, total = carry
        low, high = pair
        return ((low, high * x), total), low

    found = variables(lambda xs: lax.scan(body, ((0.0, 1.0), 2.0), xs), jnp.ones(4))
    assert found == {"carry[0][0]": "low", "carry[0][1]": "high", "carry[1]": "total"}


def test_a_variable_that_means_something_else_by_then_names_nothing():
    def body(carry, x):
        pair = carry
        pair = (x, x)
        first, second = pair
        if x.ndim:
            first, second = carry
        carry = carry[1], carry[0]
        a, b = carry
        return (a, b), first + second

    assert variables(lambda xs: lax.scan(body, (0.0, 1.0), xs), jnp.ones(4)) == {}


def test_methods_decorated_functions_and_those_of_a_cell_are_read_alike():
    def same(fn):
        return fn

    @same
    @jax.named_call
    def decorated(carry):
        left, right = carry
        return right, left

    cell: dict = {}
    source = "def body(carry):\n    up, _ = carry\n    return up, up\n"
    import linecache

    linecache.cache["<cell of a test>"] = (len(source), None, source.splitlines(keepends=True), "<cell of a test>")
    exec(compile(source, "<cell of a test>", "exec"), cell)

    def fn(xs):
        (a, b), _ = lax.scan(Cell(2.0).turn, (0.0, 1.0), xs)
        a, b = lax.while_loop(lambda s: s[0] < 3, decorated, (a, b))
        return lax.while_loop(lambda s: s[0] < 3, cell["body"], (a, b))

    graph = jv.explore(fn, jnp.ones(4)).jaxpr
    found = [node.attributes["variable"] for node in graph if "variable" in node.attributes]
    assert found == ["kept", "fresh", "left", "right", "up"]


def test_a_lambda_has_the_paths_alone():
    assert variables(lambda x: lax.fori_loop(0, 3, lambda i, s: (s[1], s[0]), (x, x)), 1.0) == {}


@pytest.mark.parametrize("stage", ["stablehlo", "hlo"])
def test_stages_of_the_compiler_know_the_parts_of_the_programs_arguments(stage):
    def step(batch):
        image, label = batch
        return (image - label).sum()

    graph = getattr(jv.explore(step, (jnp.ones(4), jnp.zeros(4))), stage)
    found = {node.name: node.attributes.get("variable") for node in graph if node.name.startswith("batch")}
    assert found == {"batch[0]": "image", "batch[1]": "label"}
