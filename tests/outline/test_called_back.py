"""Functions of the person's that a library calls stand in what the library does, which is one thing wherever it is."""

from __future__ import annotations

import jax.numpy as jnp
import pytest
from jax import lax
from jax.scipy.optimize import minimize
from outline.outlines import check, names_inside, outline_of, row_named, rows_named

import jaxviz as jv
from jaxviz.outline import make_outline

_X = jnp.ones((4, 8))

_ESTIMATOR = """
def _score(fn, x):
    shifted = jnp.tanh(x) - 1.0
    value = fn(shifted)
    return jnp.exp(value) + jnp.log(value)

def estimate(fn, x):
    return _score(fn, x) * 2.0
"""


def test_what_a_library_does_around_a_function_of_the_person_is_in_one_piece(library):
    estimate = library(_ESTIMATOR)["estimate"]

    def density(x):
        return jnp.sum(jnp.sin(x) * 3.0)

    def step(x):
        y = jnp.cos(x)
        return estimate(density, y) + 1.0

    outline = outline_of(step, _X)
    check(outline)
    call = row_named(outline, "estimate")
    inside = row_named(outline, "density", "call")
    assert call.first < inside.first
    assert inside.end < call.end
    assert names_inside(outline, inside.index) == ["sin", "multiply", "sum"]


_SOLVER = """
class Solver:
    def __init__(self, fun):
        self._value_and_grad_fun = jax.value_and_grad(fun)

    def start(self, x):
        scale = jnp.sqrt(jnp.sum(jnp.abs(x))) + 1.0
        value, slope = self._value_and_grad_fun(x)
        return value / scale, slope / scale

    def search(self, slope):
        top = jnp.max(jnp.tanh(slope))
        return lax.fori_loop(0, 5, lambda i, z: jnp.sin(z) * jnp.cos(z) + jnp.exp(-z) - jnp.log1p(z * z), top)

    def run(self, x):
        value, slope = self.start(x)
        return x - self.search(slope) * slope, value
"""


def test_a_gradient_that_a_library_takes_as_one_step_among_others_stands_in_its_call(library):
    solver_of = library(_SOLVER)["Solver"]

    def objective(x):
        return jnp.sum(jnp.sin(x))

    def fit(x):
        before = jnp.cos(x)
        best, value = solver_of(objective).run(before)
        return best * 2.0, value

    outline = outline_of(fit, _X)
    check(outline)
    (run,) = [row for row in outline if row.name == "run"]
    forward, backward = row_named(outline, "forward", "phase"), row_named(outline, "backward", "phase")
    assert outline.row(forward.parent).name == outline.row(backward.parent).name == "start(objective)"
    assert run.first < forward.first
    assert backward.end < run.end
    assert not rows_named(outline, "update", "phase")


_PASSING_ON = """
def _guarded(fn, x):
    return fn(x)

def best(fn, x):
    y = _guarded(fn, jnp.tanh(x))
    return y / jnp.cosh(y)
"""


def test_what_a_library_does_only_to_call_a_function_of_the_person_is_that_function(library):
    best = library(_PASSING_ON)["best"]

    def objective(x):
        return jnp.sin(x) * 3.0

    outline = outline_of(lambda x: jnp.exp(best(objective, x)), _X)
    assert names_inside(outline, row_named(outline, "best").index) == ["tanh", "objective", "cosh", "divide"]


_NESTED = """
def _ready(x):
    return jnp.tanh(x)

def _looped(fn, x):
    x = _ready(x)
    def turn(i, x):
        y = fn(x)
        for _ in range(7):
            y = jnp.sin(y) / jnp.cosh(y)
        return fn(y) - x
    return lax.fori_loop(0, 9, turn, x)

def _checked(fn, x):
    found = _looped(fn, x)
    return jnp.where(jnp.isfinite(found), found, 0.0)

def solve(fn, x):
    return _checked(fn, x) + 1.0
"""


def test_a_library_around_a_function_of_the_person_is_no_frame_where_it_says_again_what_is_around_it(library):
    solve = library(_NESTED)["solve"]

    def residual(x):
        return jnp.exp(x) - 2.0

    outline = outline_of(lambda x: solve(residual, x) * 3.0, _X)
    check(outline)
    inside = names_inside(outline, row_named(outline, "solve").index)
    assert inside[0] == "ready" or inside[0] == "tanh"
    assert not {"checked", "looped"} & set(inside)
    assert len(rows_named(outline, "residual", "call")) == 2


_LOOPING = """
def _most(x):
    return jnp.max(jnp.abs(x))

def settle(fn, x):
    def goes_on(state):
        turn, x, change = state
        return (turn < 9) & (_most(change) > 1e-3) & jnp.isfinite(_most(x))
    def turn(state):
        turn, x, _ = state
        new = fn(x) * 0.5 + x * 0.5
        return turn + 1, new, new - x
    return lax.while_loop(goes_on, turn, (0, x, x))[1]
"""


def test_a_condition_of_a_library_is_one_box_at_first_and_one_of_the_person_is_open(library):
    settle = library(_LOOPING)["settle"]

    def point(x):
        return jnp.cos(x) + jnp.sin(x) / 3.0

    def by_library(x):
        return settle(point, jnp.exp(x)) - 1.0

    def by_hand(x):
        x = lax.while_loop(lambda x: jnp.isfinite(x).all() & (jnp.max(jnp.abs(x)) > 0.1), point, jnp.exp(x))
        return x - 1.0

    seen = {}
    for fn in (by_library, by_hand):
        explored = jv.explore(fn, _X)
        (condition,) = [row for row in make_outline(explored.jaxpr) if row.kind == "body" and row.name != "do"]
        view = explored.view(stage="jaxpr", width=1200, height=800)
        seen[fn] = condition.closed, {box.open for box in view.boxes if box.name.startswith("while ")}
        assert "cos" in {box.name for box in view.boxes}
    assert seen == {by_library: (True, {False}), by_hand: (False, {True})}


_TWO_PARTS = """
def _prepared(x):
    y = jnp.sin(x) / jnp.cosh(x) + jnp.exp(-x) * jnp.tanh(x)
    z = jnp.arcsinh(y) - jnp.log1p(y * y)
    return jnp.cbrt(z) + jnp.arctan(y) * jnp.sign(x) - jnp.cos(z)

def _fitted(fn, x):
    x = jnp.sinh(x)
    y = fn(x) / jnp.cosh(x)
    return fn(jnp.arctan(y)) - jnp.expm1(y * x)

def fit(fn, x):
    return _fitted(fn, _prepared(x))
"""


def test_what_calls_a_function_of_the_person_opens_before_what_a_library_does_by_itself(library):
    fit = library(_TWO_PARTS)["fit"]

    def curve(x):
        return x * 2.0 - jnp.square(x)

    explored = jv.explore(lambda x: jnp.round(fit(curve, x)), _X)
    view = explored.view(stage="jaxpr", width=640, height=400)
    assert {box.name: box.open for box in view.boxes if box.name.startswith(("prepared", "fitted"))} == {
        "prepared": False,
        "fitted(curve)": True,
    }
    assert "curve" in {box.name for box in view.boxes}


def test_what_a_library_does_with_a_function_of_the_person_says_with_which(library):
    solve, settle = library(_NESTED)["solve"], library(_LOOPING)["settle"]

    def point(x):
        y = jnp.cos(x)
        return y + jnp.sin(y) / 3.0

    outline = outline_of(lambda x: settle(point, solve(point, x) * 3.0), _X)
    assert row_named(outline, "looped(point)", "loop")
    assert len(rows_named(outline, "turn(point)", "function")) == 2
    # What is called by the person himself, and what holds none of his functions, is told as before.
    assert row_named(outline, "settle", "loop")
    assert row_named(outline, "ready", "function")


_SEARCH = """
def _searched(fun, x):
    y = jnp.cbrt(x)
    return jnp.where(fun(y) < fun(y * 0.5), jnp.tanh(y), jnp.sinh(y))

def descend(fun, x):
    value = fun(x)
    y = _searched(fun, x) * value
    y = jnp.cos(jnp.exp(-y)) + jnp.cbrt(y) / jnp.log1p(y)
    y = jnp.arctan(y) - jnp.sqrt(jnp.abs(y)) * jnp.sign(y)
    return jnp.expm1(jnp.floor(jnp.cosh(y)))
"""


def test_a_statement_of_a_function_that_a_library_calls_holds_nothing_of_what_the_library_does(library):
    descend = library(_SEARCH)["descend"]

    def loss(x):
        return jnp.mean((jnp.sin(x) - 1.0) ** 2)

    outline = outline_of(lambda x: jnp.exp(descend(loss, jnp.round(x))), _X)
    check(outline)
    assert row_named(outline, "searched(loss)")
    assert not rows_named(outline, "jnp.mean((jnp.sin(x) - 1.0) ** 2)", "statement")


_UNNAMED_PARTS = """
def settled(fun, x):
    speed = jnp.cbrt(x) - 1.0
    drag = jnp.tanh(speed) / jnp.cosh(x)
    lift = jnp.sign(drag) + jnp.log1p(x)
    ahead = fun(lift)
    rest = jnp.exp(ahead) * jnp.arctan(ahead)
    part = jnp.floor(rest) + jnp.expm1(ahead)
    change = jnp.sqrt(jnp.abs(part)) - jnp.arcsinh(part)
    return change
"""


def test_a_part_of_a_function_of_a_library_is_told_by_what_it_assigns_to(library):
    settled = library(_UNNAMED_PARTS)["settled"]

    def point(x):
        y = jnp.cos(x)
        return y + jnp.sin(y) / 3.0

    outline = outline_of(lambda x: jnp.round(settled(point, jnp.exp(x))), _X)
    check(outline)
    parts = [row.name for row in outline if row.kind == "part"]
    assert parts[0] == "speed … drag"
    assert parts[-1].endswith("change")


@pytest.mark.smoke
def test_what_a_solver_of_jax_does_is_told_as_that_of_a_library():
    def rosen(x):
        return jnp.sum(100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2)

    def fit(x0):
        best = minimize(rosen, jnp.abs(x0), method="BFGS")
        return best.x * 2.0

    outline = outline_of(fit, _X[0])
    check(outline)
    (call,) = rows_named(outline, "minimize", "call")
    slopes = rows_named(outline, "value_and_grad(rosen)")
    assert len(slopes) > 1
    assert all(call.first <= row.first < row.end <= call.end for row in slopes)
    assert next(row.name for row in outline if row.kind == "loop") == "while_loop(rosen)"


_SEARCHING = """
def value_and_slope(fun):
    def given(x, known):
        value, slope = known
        return lax.cond(jnp.isfinite(value), lambda: (value, slope), lambda: jax.value_and_grad(fun)(x))
    return given

def _scaled(slope, memory):
    for turn in range(6):
        slope = slope - jnp.dot(memory, slope) * memory / jnp.dot(memory, memory)
        slope = jnp.where(jnp.isfinite(slope), jnp.tanh(slope), jnp.cbrt(slope))
    return slope

def _searched(fun, x, way):
    def turn(state):
        rate, value = state
        new, slope = jax.value_and_grad(fun)(x + rate * way)
        closer = jnp.where(new < value, jnp.sqrt(rate), jnp.expm1(rate))
        return closer * jnp.cosh(jnp.dot(slope, way)), jnp.minimum(new, value)
    return lax.while_loop(lambda state: state[0] > 1e-3, turn, (1.0, jnp.inf))[0]

def search(fun, x, slope, memory):
    way = -_scaled(slope, memory)
    return way * _searched(fun, x, way), memory * 0.9 + slope
"""


def test_an_optimizer_that_calls_the_loss_itself_opens_after_the_gradient_of_the_loss(library):
    given = library(_SEARCHING)
    search, slope_of = given["search"], given["value_and_slope"]

    def energy(x):
        near = jnp.sin(x) * 3.0 - x
        return jnp.sum(near**2) + jnp.log1p(jnp.sum(jnp.cos(near)))

    def fit(x, memory):
        value_and_grad = slope_of(energy)

        def step(state, _):
            x, memory, known = state
            value, slope = value_and_grad(x, known)
            change, memory = search(energy, x, slope, memory)
            return (x + change, memory, (value, slope)), value

        return lax.scan(step, (x, memory, (jnp.inf, x)), length=9)

    view = jv.explore(fit, _X[0], _X[0]).view(stage="jaxpr", width=760, height=420)
    opened = {box.name: box.open for box in view.boxes}
    assert opened["value_and_grad(energy)"]
    assert not opened["search"]
