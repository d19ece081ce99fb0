"""Functions that are made, wrapped or jitted anew are told as the reason of a compilation, and no others."""

from __future__ import annotations

import functools

import jax
import jax.numpy as jnp
import pytest
from find.compiled_again import FIRST, ONES, reasons_of, scaled

import jaxviz as jv


def test_a_lambda_made_at_each_call_is_a_new_function_object():
    def outer(x):
        return jax.jit(lambda y: y * 3)(x)

    found = reasons_of(lambda: [outer(ONES) for _ in range(3)])
    assert [why[0][0] for why in found] == ["first", "function", "function"]


def test_what_a_new_function_object_captured_is_named():
    def make(rate):
        def update(x):
            return x * rate

        return jax.jit(update)

    with jv.recording() as found:
        for rate in (0.1, 0.2):
            make(rate)(ONES)
    assert "rate = 0.2, before with 0.1" in found.reasons[1][0].text
    assert found.reasons[1][0].remedy.startswith("Pass `rate` as an argument")


def test_a_wrapper_of_a_library_is_not_said_to_come_from_one_line():
    def step(x):
        return x * 2

    found = reasons_of(lambda: [jax.jit(functools.partial(step))(ONES) for _ in range(2)])
    assert [why[0][0] for why in found] == ["first", "wrapper"]
    # The function alone after a wrapper of it is another function.
    found = reasons_of(lambda: (jax.jit(jax.vmap(step))(ONES), jax.jit(step)(ONES)))
    assert found == [FIRST, FIRST]


def test_two_functions_of_one_decorator_are_two_functions():
    def decorate(function):
        def wrapper(x):
            return function(x)

        return jax.jit(wrapper)

    def one(x):
        return x + 1

    def other(x):
        return x + 2

    assert reasons_of(lambda: (decorate(one)(ONES), decorate(other)(ONES))) == [FIRST, FIRST]


def test_a_lambda_under_a_gradient_that_is_made_anew_is_told_as_one():
    def train():
        for _ in range(3):
            jax.jit(jax.grad(lambda x: (x**2).sum()))(ONES)

    with jv.recording() as found:
        train()
    assert [why[0].kind for why in found.reasons] == ["first", "function", "function"]
    (finding,) = found.findings
    assert finding.severity == "warning"
    assert "this lambda is a new function object" in finding.text


def test_one_function_that_is_wrapped_anew_is_told_by_its_wrapper():
    def loss(x):
        return (x**2).sum()

    def train():
        for _ in range(3):
            jax.jit(jax.grad(loss))(ONES)

    assert [why[0][0] for why in reasons_of(train)] == ["first", "wrapper", "wrapper"]


@pytest.mark.parametrize("transform", [jax.vmap, jax.grad, jax.jacfwd])
def test_a_function_that_is_jitted_anew_under_a_transformation_is_found(transform):
    def train():
        for _ in range(3):
            transform(jax.jit(lambda x: jnp.sin(x) * 2))(1.0 if transform is jax.grad else ONES)

    with jv.recording() as found:
        train()
    (finding,) = found.findings
    assert "this lambda is a new function object" in finding.text
    assert [line.line for line in finding.lines] == [train.__code__.co_firstlineno + 2]


@pytest.mark.parametrize(
    "transform", [jax.vmap, jax.grad, jax.hessian, lambda f: jax.grad(jax.checkpoint(f)), jax.jacrev]
)
def test_a_function_that_is_jitted_once_is_innocent_under_transformations(transform):
    inner = jax.jit(lambda x: jnp.sin(x) * 2)
    outer = jax.jit(lambda x: inner(inner(x)))
    with jv.recording() as found:
        for _ in range(3):
            transform(lambda x: outer(x))(ONES if transform is jax.vmap else 1.0)
    assert found.compilations
    assert found.findings == ()


def test_another_activation_is_told_by_its_name():
    @functools.partial(jax.jit, static_argnums=1)
    def layer(x, activation):
        return activation(x)

    with jv.recording() as found:
        layer(ONES, jax.nn.relu)
        layer(ONES, jnp.tanh)
    ((reason,),) = found.reasons[1:]
    assert reason.kind == "static"
    assert "tanh, before relu" in reason.text


def applied(fn, x):
    return fn(x)


def of_new_lambdas():
    run = jax.jit(applied, static_argnums=0)
    for _ in range(3):
        run(lambda v: v * 2, ONES)


def of_new_partials():
    run = jax.jit(applied, static_argnums=0)
    for _ in range(3):
        run(functools.partial(scaled, k=2), ONES)


def of_partials_with_other_numbers():
    for k in range(4):
        jax.jit(functools.partial(scaled, k=k))(ONES)


def of_several_functions():
    run = jax.jit(applied, static_argnums=0)
    for fn in (jnp.sin, jnp.cos, jnp.tan, jnp.exp):
        run(fn, ONES)


@pytest.mark.parametrize(
    ("run", "said", "remedy"),
    [
        (of_new_lambdas, "`fn` is a new function object", "Make that function once"),
        (of_new_partials, "`fn` is a new partial object", "Make that partial once"),
        (of_partials_with_other_numbers, "this time with k = 3, before with 2", 'static_argnames="k"'),
        (of_several_functions, "`fn` was exp, before tan", "jax.lax.switch"),
    ],
)
def test_what_to_do_about_functions_that_are_arguments(run, said, remedy):
    with jv.recording() as found:
        run()
    (finding,) = found.findings
    assert said in finding.text
    assert remedy in finding.remedy
    assert "__eq__" not in finding.remedy


@pytest.mark.smoke
def test_functions_that_are_gone_when_it_is_told_are_known_by_what_they_were():
    """What a training loop defines for itself no longer lives when somebody asks why it was compiled again."""

    def train():
        step = jax.jit(lambda state, batch: state * 0.9 + batch.mean())
        state = 0.0
        for size in (4, 4, 3):
            state = step(state, jnp.ones(size))

    with jv.recording() as found:
        train()
    assert [[reason.kind for reason in why] for why in found.reasons] == [["first"], ["weak"], ["shape"]]
