"""What decorators and libraries put around functions is told by what made it, or by what it holds."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax
from jax.sharding import Mesh
from jax.sharding import PartitionSpec as P
from outline.outlines import check, names_inside, outline_of, row_named, rows_named

import jaxviz as jv
from jaxviz.read.spoken import kept_name, passes_on, said

try:
    from jax import shard_map
except ImportError:
    from jax.experimental.shard_map import shard_map

_X = jnp.ones((4, 8))


def test_what_a_decorator_gives_is_called_as_the_decorator():
    def scaled(factor):
        def decorator(fn):
            def wrapper(*args):
                return fn(*args) * factor

            return wrapper

        return decorator

    def centred(fn):
        def inner(*args):
            return fn(*args) - jnp.mean(args[0])

        return inner

    @scaled(3.0)
    @centred
    def mix(x):
        y = jnp.sin(x)
        return jnp.cos(y) @ y.T

    def f(x):
        y = mix(x)
        return jnp.tanh(y)

    outline = outline_of(f, _X)
    assert names_inside(outline, 0) == ["mix", "tanh"]
    assert names_inside(outline, rows_named(outline, "mix")[0].index) == ["centred", "multiply"]
    assert not rows_named(outline, "fn")


@pytest.mark.smoke
def test_layers_that_are_functions_are_called_as_what_makes_them():
    def dense(scale):
        def apply(p, x):
            return jnp.tanh(x @ p) * scale

        return apply

    def norm():
        def apply_fun(_, x):
            return (x - x.mean()) / x.std()

        return apply_fun

    def f(ps, x):
        for p, a in zip(ps, layers, strict=True):
            x = a(p, x)
        return x

    layers = [dense(2.0), norm(), dense(3.0)]
    outline = outline_of(f, [jnp.eye(8)] * 3, _X)
    check(outline)
    assert names_inside(outline, 0) == ["dense", "norm", "dense"]


@pytest.mark.smoke
def test_a_function_called_apply_beside_what_calls_it_is_not_called_as_what_both_are_in():
    def apply(p, x):
        h = jnp.tanh(x @ p)
        return jnp.sin(h) @ p

    class Trainer:
        def loss(self, p, x):
            return self.apply(p, x) + jax.vmap(apply, (None, 0))(p, x)

        def apply(self, p, x):
            h = jnp.cos(x @ p)
            return jnp.exp(h) @ p

    outline = outline_of(Trainer().loss, jnp.eye(8), _X)
    check(outline)
    assert names_inside(outline, 0) == ["apply", "vmap(apply)", "add"]


_SOLVER = """
class BoundMethod:
    def __init__(self, method): self.method = method
    def __call__(self, *args): return self.method(*args)

class Solver:
    def step(self, x):
        y = jnp.sin(x)
        z = jnp.cos(y) + y
        return jnp.tanh(z)

def choose(x):
    return jnp.where(x > 0, x, 0)

def solve(x):
    step = BoundMethod(Solver().step)
    def _fn(x):
        y = step(x)
        return choose(y)
    def _body_fn(i, x):
        z = _fn(x)
        return z * 2
    return lax.fori_loop(0, 9, _body_fn, x)
"""


def test_what_a_library_puts_around_a_function_is_told_by_what_it_holds(library):
    solve = library(_SOLVER)["solve"]

    def f(x):
        y = solve(x)
        return jnp.exp(y)

    outline = outline_of(f, _X)
    names = {row.name for row in outline}
    assert {"step", "choose"} <= names
    assert not [name for name in names if "fn" in name or name == "BoundMethod"]


def test_a_part_of_a_library_is_told_by_what_makes_up_most_of_it(library):
    many = "\n".join(f"    x = x + {number}.0" for number in range(20))
    more = "\n".join(f"    x = step(x, {number}.5)" for number in range(14))
    code = (
        f"def long(x):\n{many}\n    return x\n"
        "def step(x, by):\n    return jnp.sin(x) * by\n"
        f"def run(x):\n    x = long(x)\n{more}\n    return x\n"
    )
    run = library(code)["run"]
    outline = outline_of(lambda x: run(x), _X)
    parts = [row for row in outline if row.kind == "part"]
    assert any(row.name.startswith("long") for row in parts), outline


_SEARCH = """
def _simulate(x): return jnp.sin(x) + jnp.cos(x) * x
def _expand(x): return jnp.tanh(x) * jnp.exp(x)
def _backward(x): return jnp.maximum(x, 0.0) + jnp.log1p(x)

def search(x):
    def wrapper(i, x):
        return _backward(_expand(_simulate(x)))
    return lax.fori_loop(0, 16, wrapper, x)
"""


def test_all_of_what_a_loop_of_a_library_does_needs_no_box_and_private_functions_say_no_underscore(library):
    search = library(_SEARCH)["search"]

    def f(x):
        found = search(x)
        return found * 2

    outline = outline_of(f, _X)
    loop = next(row for row in outline if row.kind == "loop")
    assert names_inside(outline, loop.index) == ["simulate", "expand", "backward"]


def test_a_function_of_the_person_that_jax_is_given_is_a_call_wherever_jax_calls_it():
    def heat(u):
        def operator(v):
            left = jnp.roll(v, 1)
            return v + 0.1 * (v - left)

        solution, _ = jax.scipy.sparse.linalg.cg(operator, u, maxiter=20)
        return solution * 2

    outline = outline_of(heat, jnp.ones(16))
    # Before the loop and in each turn.
    calls = rows_named(outline, "operator")
    assert [row.kind for row in calls] == ["call", "call"]
    assert all({"roll", "add"} <= set(names_inside(outline, row.index)) for row in calls)


_SAMPLER = """
def _energy(fn, x):
    return -fn(x)

class Flag:
    def __init__(self, value):
        self.value = value
    def __ge__(self, other):
        return self.value >= other

def sample(fn, x):
    before = _energy(fn, x)
    other = x + 1.0
    return jnp.where(Flag(before) >= _energy(fn, other), x, other)
"""


def test_a_function_of_the_person_that_a_library_calls_is_a_call(library):
    sample = library(_SAMPLER)["sample"]

    def log_density(x):
        scaled = x * 3.0
        return -jnp.sum(scaled**2)

    def step(x):
        return jnp.sin(sample(log_density, x)) + sample(lambda x: jnp.sum(x * x), x)

    outline = outline_of(step, _X)
    calls = rows_named(outline, "log_density")
    assert len(calls) == 2
    assert all(row.kind == "call" and names_inside(outline, row.index)[0] == "multiply" for row in calls)
    # A library's operator is told by what it is written for.
    assert not [row.name for row in outline if row.name.startswith("__")]


_DOUBLED = """
def doubled(fn):
    def outer(*args):
        return fn(*args) * 2.0
    return outer
"""


def test_a_function_that_a_library_calls_is_not_told_twice(library):
    doubled = library(_DOUBLED)["doubled"]

    @doubled
    def wave(x):
        y = jnp.sin(x)
        return y + jnp.cos(y)

    # The person's call of what the library makes of it names it already.
    (row,) = rows_named(outline_of(lambda x: jnp.exp(wave(x)), _X), "wave")
    # So does the program.
    wave.__name__ = "wave"
    assert not rows_named(outline_of(wave, _X), "wave", "call")
    assert row.kind == "call"


def test_modules_that_a_function_calls_for_a_library_do_not_stand_beside_pieces_of_it():
    from flax import linen as nn

    class Two(nn.Module):
        def setup(self):
            self.up, self.down = nn.Dense(16), nn.Dense(8)

    def through(module, x):
        return jnp.sin(module.down(jnp.cos(module.up(x)) * 2.0))

    variables = nn.init(through, Two())(jax.random.key(0), _X)
    outline = outline_of(lambda x: jnp.exp(nn.apply(through, Two())(variables, x)), _X)
    assert {"up", "down"} <= {row.name for row in outline}
    assert not rows_named(outline, "through"), outline


def test_names_are_kept_without_what_functions_stand_in_but_for_what_made_a_wrapper():
    assert kept_name("step") == "step"
    assert kept_name("main.<locals>.Model.loss") == "Model.loss"
    assert kept_name("main.<locals>.retry.<locals>.decorator.<locals>.wrapper") == "retry.wrapper"
    assert kept_name("Cache.memo.<locals>._wrapped") == "memo._wrapped"
    assert kept_name("decorator.<locals>.wrapper") == "wrapper"
    assert [said(name) for name in ("Model.__call__", "retry.wrapper", "wrapper", "Model.loss")] == [
        "Model",
        "retry",
        "wrapper",
        "Model.loss",
    ]


@pytest.mark.parametrize(
    "name",
    ["_fn", "wrapped_fun", "BoundMethod", "_JitWrapper", "_body_fn", "fn_wrapper", "filter_primitive_bind", "inner"],
)
def test_such_names_say_that_a_function_only_passes_on(name):
    assert passes_on(name)


@pytest.mark.parametrize("name", ["step", "NormWrapper", "body_mass", "recall", "call_rate", "confirm", "Method"])
def test_such_names_say_what_is_done(name):
    assert not passes_on(name)


def test_what_a_library_takes_a_gradient_with_is_no_row_around_its_phases(library):
    code = """
import jax

def filter_value_and_grad(fn):
    def fun_value_and_grad(*args):
        return jax.value_and_grad(fn)(*args)
    return fun_value_and_grad
"""
    filter_value_and_grad = library(code)["filter_value_and_grad"]

    def loss(w):
        return jnp.sum(jnp.sin(w) ** 2)

    def step(w):
        value, slope = filter_value_and_grad(loss)(w)
        return value, w - 0.1 * slope

    outline = outline_of(step, _X)
    assert names_inside(outline, 0)[:2] == ["forward", "backward"]
    assert not rows_named(outline, "filter_value_and_grad(loss)")
    assert {row.detail for row in outline if row.kind == "phase" and row.name != "update"} == {
        "filter_value_and_grad(loss)"
    }


def test_layers_in_a_module_of_a_library_are_not_called_as_what_calls_the_module(library):
    code = """
import jax

class Linear:
    def __call__(self, x):
        with jax.named_scope("Linear"):
            return x @ jnp.ones((8, 8)) + 1.0

class MLP:
    def __call__(self, x):
        with jax.named_scope("MLP"):
            for layer in [Linear(), Linear()]:
                x = layer(x)
                x = jnp.tanh(x)
            return Linear()(x)
"""
    model = library(code)["MLP"]()

    def loss(x):
        return jnp.sum(model(x) ** 2)

    outline = outline_of(loss, _X)
    assert not rows_named(outline, "loss", "stack")
    assert [row.name for row in outline if row.count > 1] == ["Linear, tanh"]


def test_two_models_that_hand_on_to_the_same_function_keep_the_names_that_the_person_calls_them_by():
    def mlp(params, x):
        for w in params:
            x = jnp.tanh(x @ w)
        return x / 2

    def critic(params, x):
        return mlp(params, x)

    def model(params, x):
        return mlp(params, x)

    def program(d, g, x):
        fake = model(g, x)
        return critic(d, fake) + critic(d, x)

    weights = [jnp.ones((4, 4))] * 2
    outline = outline_of(program, weights, weights, jnp.ones((2, 4)))
    # What says less than the function that it calls gives way to that.
    assert names_inside(outline, 0) == ["mlp", "critic", "critic", "add"]


def test_a_function_with_the_name_of_the_call_that_it_stands_in_says_nothing_again(library):
    code = (
        "def wrapper(x):\n    return jnp.floor(solve(x))\n\n\n"
        "def solve(x):\n    for _ in range(2):\n        x = begin(x)\n    return jnp.tanh(x) + jnp.cosh(x)\n\n\n"
        "def begin(x):\n    return jnp.sin(x) * 2\n"
    )
    solve = library(code)["wrapper"]
    outline = outline_of(lambda x: jnp.exp(solve(jnp.log(x) * 2)), _X)
    (call,) = [row for row in outline if row.name == "solve"]
    assert {"begin x2", "tanh", "cosh", "floor"} <= set(names_inside(outline, call.index))


def test_functions_with_the_name_of_the_call_that_they_stand_in_are_counted(library):
    clip = library("def clip(x, by):\n    return jnp.minimum(jnp.maximum(x, -by), by)\n")["clip"]
    outline = outline_of(lambda xs: jax.tree.map(lambda x: clip(x, 2.0), xs), [_X, _X, _X])
    assert [(row.name, row.count) for row in outline if row.count > 1] == [("clip", 3)]


def test_what_each_device_does_has_the_rows_of_the_jaxpr_in_stablehlo():
    mesh = Mesh(np.array(jax.devices()[:1]), ("data",))

    def loss(w, x):
        return lax.pmean(jnp.mean(jnp.tanh(x @ w) ** 2), "data")

    def step(w, x):
        return w - 0.1 * jax.grad(loss)(w, x)

    mapped = jax.jit(shard_map(step, mesh=mesh, in_specs=(P(), P("data")), out_specs=P()))
    capture = jv.explore(mapped, jnp.ones((8, 8)), _X)._capture
    (body,), (compiled,) = (rows_named(one.outline, "step", "body") for one in (capture, capture.stablehlo))
    assert "grad(loss)" in names_inside(capture.outline, body.index)
    assert names_inside(capture.stablehlo.outline, compiled.index) == names_inside(capture.outline, body.index)


def doubling(fn):
    @jax.jit
    def f(w, x):
        return 2.0 * fn(w, x) * jnp.cos(x)

    return f


@doubling
def mixed(w, x):
    return jnp.sin(x @ w) @ w


def test_what_jit_makes_of_a_function_without_a_telling_name_is_no_row_on_the_way_back_either():
    outline = outline_of(jax.grad(lambda w, x: jnp.sum(mixed(w, jnp.tanh(mixed(w, x))))), jnp.eye(8), _X)
    check(outline)
    assert not [row for row in outline if row.kind == "function" and "mixed" in names_inside(outline, row.index)]


@pytest.mark.smoke
def test_what_a_library_wraps_a_function_in_for_a_derivative_and_marks_its_values_with_is_no_row(library):
    code = """
import jax
from jax.extend.core import Primitive
from jax.interpreters import mlir

marked = Primitive("nondifferentiable_backward")
marked.def_abstract_eval(lambda x: x)
mlir.register_lowering(marked, lambda context, x: [x])

def find_root(fn, x):
    def fn_wrapper(x):
        return fn(x) * 2.0
    wrapped = jax.custom_jvp(fn_wrapper)
    wrapped.defjvp(lambda primals, tangents: (wrapped(*primals), tangents[0]))
    return marked.bind(wrapped(x)) + x
"""
    find_root = library(code)["find_root"]

    def equation(x):
        return jnp.cos(x) - x

    outline = outline_of(lambda x: find_root(equation, jnp.sin(x)) + 1.0, _X)
    check(outline)
    assert names_inside(outline, 0) == ["sin", "find_root", "add"]
    assert names_inside(outline, row_named(outline, "find_root").index) == ["equation", "add"]
