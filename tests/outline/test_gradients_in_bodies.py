"""A gradient in a loop, a branch or a function is a step among others, unless all of that is a step of training."""

from __future__ import annotations

from functools import partial

import jax
import jax.numpy as jnp
import pytest
from jax import lax
from jax.scipy.sparse.linalg import cg
from outline.outlines import names_inside, outline_of, row_named

X, XS = jnp.ones(4), jnp.ones((3, 4))


def energy(x):
    return jnp.sum(jnp.sin(x) ** 2)


def in_a_statement(x):
    return lax.fori_loop(0, 10, lambda i, x: x - 0.1 * jax.grad(energy)(x / (1 + i)), x)


def of_no_parameters(x):
    def body(carry):
        x, turn = carry
        step = jnp.cos(x) * 2
        slope = jax.grad(energy)(x + step)
        return jnp.roll(slope, 1) * 3 + step, turn + 1

    return lax.while_loop(lambda carry: carry[1] < 9, body, (x, 0))[0]


def in_a_branch(x):
    return lax.cond(x.sum() > 0, lambda x: jnp.cos(x) * jax.grad(energy)(x + 1), lambda x: x, x)


def force(x):
    return -jax.grad(energy)(x)


def of_a_function(x):
    return x + 0.1 * force(x)


def minimized(x):
    def body(x, _):
        width = jnp.sqrt(jnp.abs(x).sum() + jnp.log(2 + x @ x)) / jnp.cosh(x).max()
        there = x - jnp.exp(width) * jnp.tanh(x) + jnp.floor(x) * jnp.arctan(x) - jnp.square(x).mean()
        slope = jax.grad(energy)(there)
        return x - width * slope, None

    return lax.scan(body, x, length=3)[0]


@pytest.mark.smoke
@pytest.mark.parametrize("fn", [in_a_statement, of_no_parameters, in_a_branch, of_a_function, minimized])
def test_a_gradient_that_is_one_step_among_others_is_one_box(fn):
    outline = outline_of(fn, X)
    assert [row.name for row in outline if row.kind == "phase"] == ["forward", "backward"]
    assert names_inside(outline, row_named(outline, "grad(energy)").index) == ["forward", "backward"]


slope_of = jax.jit(jax.grad(energy))


class Field:
    def __init__(self):
        self.pull = jax.grad(energy)

    def __call__(self, x):
        return jnp.cos(x) * self.pull(x) + jnp.sin(x)


@partial(jax.value_and_grad, argnums=0)
def heights(x):
    return jnp.sum(jnp.sin(x) ** 2)


def through_a_variable(x):
    return jnp.cos(x) * slope_of(x + 1) - jnp.sin(x)


def through_a_decorator(x):
    return jnp.cos(x) * heights(x + 1)[1] + jnp.sin(x)


@pytest.mark.parametrize(
    ("fn", "taken"), [(through_a_variable, "slope_of"), (Field(), "pull"), (through_a_decorator, "heights")]
)
def test_a_gradient_that_has_a_name_is_known_by_what_the_name_stands_for(fn, taken):
    outline = outline_of(lambda x: lax.fori_loop(0, 3, lambda turn, x: fn(x), x), X)
    assert names_inside(outline, row_named(outline, taken, "call").index) == ["forward", "backward"]


def loss(weights, x):
    return jnp.mean(jnp.tanh(x * weights["w"] + weights["b"]) ** 2)


def trained(weights, xs):
    def body(carry, x):
        weights, mean = carry
        value, slopes = jax.value_and_grad(loss)(weights, x)
        mean = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, mean, slopes)
        return (jax.tree.map(lambda w, m: w - 0.1 * m / (1 + jnp.abs(m)), weights, mean), mean), value

    return lax.scan(body, (weights, weights), xs)


def summed(weights, xs):
    def body(total, x):
        slopes = jax.grad(loss)(weights, x)
        return jax.tree.map(jnp.add, total, slopes), None

    return lax.scan(body, weights, xs)[0]


def one_step(weights, xs):
    slopes = jax.grad(loss)(weights, xs)
    return jax.tree.map(lambda w, g: w - 0.1 * g, weights, slopes)


def of_a_step(weights, xs):
    return jax.tree.map(jnp.cos, one_step(weights, jnp.sin(xs)))


def of_a_named_gradient(weights, xs):
    value_and_slopes = jax.value_and_grad(loss)

    def body(weights, x):
        value, slopes = value_and_slopes(weights, x)
        return jax.tree.map(lambda w, g: w - 0.1 * g, weights, slopes), value

    return lax.scan(body, weights, xs)


@pytest.mark.parametrize(
    ("fn", "last"),
    [(trained, "update"), (summed, "add"), (of_a_step, "w - 0.1 * g x2"), (of_a_named_gradient, "w - 0.1 * g x2")],
)
def test_the_update_of_a_step_of_training_follows_its_gradient(fn, last):
    outline = outline_of(fn, {"w": X, "b": X}, XS)
    around = outline.row(row_named(outline, "forward").parent)
    assert around.name in ("scan", "one_step")
    assert names_inside(outline, around.index) == ["forward", "backward", last]


def along_newton(x):
    slope = jax.grad(energy)(x)
    direction, _ = cg(lambda v: jax.jvp(jax.grad(energy), (x,), (v,))[1] + v, slope, maxiter=5)
    return jnp.stack([x - rate * direction for rate in (1.0, 0.5)])


def likelihood(scores):
    return lax.scan(lambda total, score: (jnp.logaddexp(total, score), None), jnp.zeros(4), scores)[0].sum()


def decoded(scores):
    best, path = lax.scan(lambda best, score: (jnp.maximum(best, score), best.argmax()), jnp.zeros(4), scores)
    width = jnp.sqrt(jnp.abs(scores)) / jnp.cosh(scores).max()
    evidence = likelihood(jnp.tanh(scores) * jnp.floor(width) - jnp.exp(scores) + jnp.arctan(width))
    weights = jax.grad(likelihood)(scores)
    return path, best, weights, evidence


@pytest.mark.parametrize(("fn", "taken"), [(along_newton, "grad(energy)"), (decoded, "grad(likelihood)")])
def test_a_gradient_that_is_little_of_a_program_without_an_update_is_one_box(fn, taken):
    outline = outline_of(fn, X if fn is along_newton else XS)
    around = row_named(outline, taken, "call")
    assert around.parent == 0
    assert names_inside(outline, around.index) == ["forward", "backward"]
    assert not [row for row in map(outline.row, outline.children[0]) if row.kind == "phase"]


def by_momentum(x, mean, square, turn):
    slope = jax.grad(energy)(x)
    norm = jnp.sqrt(jnp.sum(slope**2))
    slope = jnp.where(norm > 1, slope / norm, slope)
    mean, square = 0.9 * mean + 0.1 * slope, 0.99 * square + 0.01 * slope**2
    step = mean / (1 - 0.9**turn) / (jnp.sqrt(square / (1 - 0.99**turn)) + 1e-8)
    rate = jnp.minimum(1.0, turn / 100) * (1 + jnp.cos(jnp.pi * turn / 1000)) / jnp.log(2 + turn)
    return x - rate * (step + 0.01 * x), mean, square, turn + 1


def test_an_optimizer_of_many_lines_is_the_update_of_a_program():
    outline = outline_of(by_momentum, X, X, X, 1.0)
    assert names_inside(outline, 0)[:3] == ["forward", "backward", "update"]


def gradients(x):
    return jax.grad(energy)(x)


def test_a_function_that_does_nothing_but_take_a_gradient_is_known_by_its_own_name():
    outline = outline_of(lambda x: jnp.cos(gradients(x)) * 2, X)
    assert names_inside(outline, row_named(outline, "gradients").index) == ["forward", "backward"]


def jacobian_first(x):
    jacobian = jax.jacfwd(jnp.tanh)(x)
    slope = jax.grad(energy)(x)
    return x - jnp.linalg.solve(jacobian.T @ jacobian, slope)


def jacobian_last(x):
    slope = jax.grad(energy)(x)
    jacobian = jax.jacfwd(jnp.tanh)(x)
    return x - jnp.linalg.solve(jacobian.T @ jacobian, slope)


@pytest.mark.smoke
@pytest.mark.parametrize(
    ("fn", "expected"),
    [
        (jacobian_first, ["jacfwd(tanh)", "forward", "backward", "update"]),
        (jacobian_last, ["forward", "backward", "jacfwd(tanh)", "update"]),
    ],
    ids=lambda one: getattr(one, "__name__", ""),
)
def test_a_jacobian_taken_forward_is_no_part_of_the_gradient_beside_it(fn, expected):
    outline = outline_of(fn, X)
    assert names_inside(outline, 0) == expected
    assert not any(row.kind == "phase" for row in outline if row.parent == row_named(outline, "jacfwd(tanh)").index)


@pytest.mark.smoke
def test_a_function_with_a_derivative_of_its_own_does_not_hide_the_phases_of_the_hessian_beside_its_gradient():
    @jax.custom_jvp
    def softened(x):
        return jnp.where(x > 20, x, jnp.log1p(jnp.exp(x)))

    @softened.defjvp
    def _(primals, tangents):
        return softened(*primals), jax.nn.sigmoid(*primals) * tangents[0]

    def loss(x):
        return jnp.mean(softened(-x * jnp.sin(x))) + jnp.sum(x**2)

    def newton(x):
        slope = jax.grad(loss)(x)
        curvature = jax.hessian(loss)(x)
        return x - jnp.linalg.solve(curvature, slope)

    outline = outline_of(newton, X)
    for call in ("grad(loss)", "hessian(loss)"):
        inside = names_inside(outline, row_named(outline, call).index)
        assert [name for name in inside if "itself" not in name] == ["forward", "backward"]


@pytest.mark.smoke
def test_a_solver_that_is_given_the_derivative_of_a_gradient_has_no_phases_of_its_own():
    def newton(x):
        def along(v):
            return jax.jvp(jax.grad(energy), (x,), (v,))[1] + 0.1 * v

        return x + cg(along, -jnp.cos(x), maxiter=3)[0]

    outline = outline_of(newton, X)
    phases = [row for row in outline if row.kind == "phase"]
    assert {row.name for row in phases} <= {"forward with tangents", "backward with tangents", "forward", "backward"}
    assert {outline.row(row.parent).name for row in phases} <= {"along", "jvp"}
