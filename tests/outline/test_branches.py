"""What branches are called: by the functions that they are."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import pytest
from jax import lax
from outline.outlines import check, outline_of

import jaxviz as jv


def newton(x):
    return x - (x * x - 2) / (2 * x)


def bisect(x):
    return jnp.where(x * x > 2, x / 2, x * 1.5)


def secant(x, y):
    return x - y * (x - y)


def branches(fn, *arguments):
    outline = outline_of(fn, *arguments)
    check(outline)
    return [row.name for row in outline if row.kind == "body" and outline.graph.region(row.region).kind == "branch"]


@pytest.mark.parametrize("in_a_list", [False, True])
def test_branches_of_a_switch_are_called_by_their_functions(in_a_list):
    methods = [newton, bisect]

    def solve(method, x):
        if in_a_list:
            return lax.switch(method, [*methods, secant_of_one], x)
        return lax.switch(method, [newton, bisect, lambda x: secant(x, 1.0)], x)

    def secant_of_one(x):
        return secant(x, 1.0)

    third = "secant_of_one" if in_a_list else "secant"
    assert branches(solve, jnp.int32(0), jnp.float32(2)) == ["newton", "bisect", third]


def test_a_method_and_functions_that_loop_give_their_names():
    class Solver:
        def relax(self, x):
            return lax.fori_loop(0, 3, lambda i, x: newton(x), x)

    def solve(method, x):
        return lax.switch(method, [Solver().relax, lambda x: bisect(x), lambda x: x + 1], x)

    assert branches(solve, jnp.int32(0), jnp.float32(2)) == ["relax", "bisect", "case 2"]


def test_the_branches_of_a_condition_say_when_they_run_too():
    def solve(near, x):
        return lax.cond(near, newton, bisect, x)

    assert branches(solve, jnp.bool_(True), jnp.float32(2)) == ["if false: bisect", "if true: newton"]


def test_names_that_say_nothing_or_do_not_tell_branches_apart_are_left_out():
    def solve(near, x):
        def true_fn(x):
            return x + 1

        def false_fun(x):
            return x - 1

        x = lax.cond(near, true_fn, false_fun, x)
        return lax.switch(2, [lambda x: secant(x, 1.0), lambda x: secant(x, 2.0), lambda x: x], x)

    names = branches(solve, jnp.bool_(True), jnp.float32(2))
    assert names[:2] == ["if false", "if true"]
    assert "secant" not in names


@pytest.mark.parametrize("stage", ["jaxpr", "stablehlo", "hlo"])
def test_a_branch_that_is_open_says_which_it_is(stage):
    def solve(method, x):
        return lax.switch(method, [newton, bisect, lambda x: secant(x, 1.0)], x)

    explored = jv.explore(solve, jnp.int32(0), jnp.ones(3))
    names = [box.name for box in explored.view(stage=stage).boxes]
    assert {"newton", "bisect", "secant"} <= set(names)
    assert ">case 0<" in explored.to_svg(stage=stage, open="all")


def test_a_condition_of_a_library_opens_no_more_than_another_call_of_it_does():
    def loss(w, x):
        return jnp.mean(jnp.diag(jax.nn.log_softmax(x @ w)) ** 2)

    outline = outline_of(jax.grad(loss), jnp.ones((4, 4)), jnp.ones((4, 4)))
    forward, backward = (row for row in outline if row.name == "diag")
    assert (forward.kind, backward.kind) == ("expression", "cond")
    assert forward.closed
    assert backward.closed
    of_the_person = outline_of(jax.grad(lambda x: lax.cond(x > 1, jnp.sin, jnp.cos, x)), 0.5)
    assert not any(row.closed for row in of_the_person if row.kind == "cond")


def test_a_function_of_a_library_that_loops_inside_is_one_box_at_first():
    def between(x, xs, ys):
        return jnp.interp(x, xs[1:], ys[1:]) * jnp.digitize(x, xs)

    outline = outline_of(between, *[jnp.ones(8)] * 3)
    for name in ("interp", "digitize"):
        (row,) = (row for row in outline if row.name == name)
        assert row.closed


@pytest.mark.parametrize("stage", ["jaxpr", "hlo"])
def test_a_choice_in_a_loop_opens_to_its_branches_forward_and_backward(stage):
    def straight(x, w):
        return x @ w

    def bent(x, w):
        return jnp.tanh(x @ w)

    def neither(x, w):
        return x

    def loss(ws, kinds, x):
        def layer(x, given):
            w, kind = given
            return lax.switch(kind, [straight, bent, neither], x, w), None

        return jnp.sum(lax.scan(layer, x, (ws, kinds))[0] ** 2)

    explored = jv.explore(jax.grad(loss), jnp.ones((5, 4, 4)), jnp.zeros(5, int), jnp.ones((3, 4)))
    outline = explored.document().outlines[{"jaxpr": 0, "hlo": 2}[stage]].outline
    choices = [row for row in outline if row.kind == "cond"]
    assert [row.name for row in choices] == ["switch(kind)"] * 2
    assert choices[0].twin == choices[1].index
    for choice in choices:
        inside = [outline.row(child) for child in outline.children[choice.index]]
        assert {row.kind for row in inside} == {"body"}
        assert [row.name for row in inside][:2] == ["straight", "bent"]
    seen = [box.name for box in explored.view(stage=stage, width=1600, height=900).boxes]
    assert "clamp" not in seen
