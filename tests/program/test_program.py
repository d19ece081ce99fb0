"""A program: any callable with any arguments, traced once, and named as the person names things."""

from __future__ import annotations

import functools
from pathlib import Path

import jax
import jax.extend.core
import jax.numpy as jnp
import numpy as np
import pytest

import jaxviz as jv
from jaxviz.capture import Capture
from jaxviz.program.jit_options import JitOptions
from jaxviz.program.program import OpenLengthsError, Program

X = jnp.ones((2, 3))


def affine(params, x):
    return x @ params[0]["w"], {"sum": x.sum()}


PARAMS = [{"w": jnp.ones((3, 4))}]


@pytest.mark.smoke
def test_a_program_is_traced_once_and_timed():
    traces = []

    def counted(x):
        traces.append(1)
        return x + 1

    program = Program(counted, (X,))
    assert traces == []
    assert program.jaxpr is program.jaxpr
    assert program.traced is program.traced
    assert traces == [1]
    assert program.seconds["trace"] > 0


@pytest.mark.smoke
def test_arguments_and_results_are_named_by_their_place():
    program = Program(affine, (PARAMS, X))
    assert program.argument_names == ("params[0]['w']", "x")
    assert program.result_names == ("result[0]", "result[1]['sum']")
    assert Program(lambda x: x, (1.0,)).result_names == ("result",)


@pytest.mark.smoke
def test_where_lengths_are_open_it_is_said_why_there_is_no_hlo():
    (size,) = jax.export.symbolic_shape("b")
    explored = jv.explore(lambda p: jnp.sin(p["x"]), {"x": jax.ShapeDtypeStruct((size, 4), jnp.float32)})
    reason = "XLA compiles for known lengths: give numbers for those of `p['x']`, f32[b,4]"
    assert explored.document().programs[0].missing == {"hlo": reason}
    assert [node.op for node in explored.stablehlo if node.op == "sine"] == ["sine"]
    with pytest.raises(OpenLengthsError, match="known lengths"):
        explored.hlo  # noqa: B018


def test_of_a_jaxpr_it_is_said_what_makes_a_function_of_it():
    closed = jax.make_jaxpr(lambda x: jnp.sin(x) * 2.0)(1.0)
    with pytest.raises(TypeError, match=r"as the function: jax\.extend\.core\.jaxpr_as_fun makes a function of it"):
        jv.explore(closed, 1.0)
    ex = jv.explore(jax.extend.core.jaxpr_as_fun(closed), 1.0)
    assert [node.op for node in ex.jaxpr if node.kind == "operation"] == ["sin", "mul"]


def test_where_a_function_is_defined():
    program = Program(affine, (PARAMS, X))
    assert program.name == "affine"
    assert Path(program.file) == Path(__file__)
    assert Path(__file__).read_text().splitlines()[program.line - 1] == "def affine(params, x):"


class Model:
    def __init__(self, scale):
        self.scale = scale

    def apply(self, x):
        return x * self.scale

    def __call__(self, x):
        return self.apply(x)


@pytest.mark.parametrize(
    ("function", "name"),
    [
        (affine, "affine"),
        (jax.jit(affine), "affine"),
        (functools.partial(affine, PARAMS), "affine"),
        (jax.jit(functools.partial(affine, PARAMS)), "affine"),
        (lambda x: x, "<lambda>"),
        (Model(2.0).apply, "apply"),
        (Model(2.0), "Model"),
        (jnp.sin, "sin"),
    ],
)
def test_any_callable_has_a_name_and_a_jaxpr(function, name):
    arguments = (PARAMS, X) if function is affine or getattr(function, "__wrapped__", None) is affine else (X,)
    program = Program(function, arguments)
    assert program.name == name
    assert len(program.jaxpr.eqns) >= 0
    assert len(program.argument_names) == len(getattr(program.jaxpr, "jaxpr", program.jaxpr).invars)


def test_only_shapes_are_needed():
    program = Program(affine, ([{"w": jax.ShapeDtypeStruct((3, 4), jnp.float32)}], np.ones((2, 3), np.float32)))
    assert program.call == "affine([{'w': f32[3,4]}], f32[2,3])"
    assert program.jaxpr.out_avals[0].shape == (2, 4)


def test_numbers_keywords_and_no_arguments():
    assert Program(lambda: jnp.ones(3)).jaxpr.out_avals[0].shape == (3,)
    program = Program(lambda x, *, scale: x * scale, (X,), {"scale": 2.0})
    assert program.argument_names == ("x", "scale")
    assert program.call == "<lambda>(f32[2,3], scale=2.0)"


def test_static_arguments_are_values():
    program = Program(lambda x, n: x * n, (X, 3), options=JitOptions.of(static_argnums=1))
    assert program.argument_names == ("x",)
    assert program.call == "<lambda>(f32[2,3], 3)"


def test_what_the_rules_of_a_derivative_get_as_it_is_is_a_value():
    scaled = functools.partial(jax.custom_vjp, nondiff_argnums=(1,))(lambda x, n: x * n)
    scaled.defvjp(lambda x, n: (x * n, None), lambda n, _, g: (g * n,))
    program = Program(scaled, (X, 3))
    assert program.argument_names == ("x",)
    assert program.jaxpr.out_avals[0].shape == (2, 3)


def test_the_persons_own_jit_is_kept():
    jitted = jax.jit(lambda x, n: x[:n], static_argnames="n")
    assert Program(jitted, (jnp.ones(5),), {"n": 2}).jaxpr.out_avals[0].shape == (2,)
    assert jitted(jnp.ones(5), n=2).shape == (2,)


@pytest.mark.smoke
def test_an_error_of_the_function_passes_through():
    class OwnError(Exception):
        pass

    error = OwnError("mine")

    def fails(x):
        raise error

    program = Program(fails, (X,))
    with pytest.raises(OwnError) as raised:
        _ = program.jaxpr
    assert raised.value is error
    assert "trace" not in program.seconds


def test_what_cannot_be_called_is_refused():
    with pytest.raises(TypeError, match="expected a function and its arguments, but got list"):
        Program([1], ())  # type: ignore[arg-type]


def test_what_jax_made_of_a_function_already_is_refused():
    traced = jax.jit(jnp.sin).trace(X)
    for stage in (traced, traced.lower(), traced.lower().compile()):
        with pytest.raises(TypeError, match=f"expected a function and its arguments, but got {type(stage).__name__}"):
            Program(stage, (X,))


class Model:
    def __init__(self):
        self.act = jnp.sin

    def __call__(self, x):
        return self.act(x)

    @functools.partial(jax.jit, static_argnums=0)
    def step(self, x):
        return self.act(x) + 1.0

    def trace(self, x):
        raise AssertionError("not JAX's")


def test_a_jitted_method_keeps_its_object():
    assert [str(e.primitive) for e in Program(Model().step, (X,)).jaxpr.eqns] == ["sin", "add"]


def test_a_method_named_trace_is_the_persons_own():
    assert [str(e.primitive) for e in Program(Model(), (X,)).jaxpr.eqns] == ["sin"]


def test_what_a_function_reads_may_change_between_two_looks():
    model = Model()
    assert str(Program(model, (X,)).jaxpr.eqns[0].primitive) == "sin"
    model.act = jnp.cos
    assert str(Program(model, (X,)).jaxpr.eqns[0].primitive) == "cos"


@jax.tree_util.register_pytree_node_class
class Layer:
    """Compares by value and so has no hash, as models that are pytrees do."""

    def __init__(self, w):
        self.w = w

    def __eq__(self, other):
        return isinstance(other, Layer) and self.w is other.w

    __hash__ = None  # type: ignore[assignment]

    def __call__(self, x):
        return self.w * x

    def tree_flatten(self):
        return (self.w,), None

    @classmethod
    def tree_unflatten(cls, _, children):
        return cls(*children)


def test_a_callable_without_a_hash():
    assert [str(e.primitive) for e in Program(Layer(X), (X,)).jaxpr.eqns] == ["mul"]


def test_a_long_argument_is_called_by_the_name_of_its_parameter():
    layers = {f"layer{number}": {"w": jnp.ones((64, 64)), "b": jnp.ones(64)} for number in range(12)}

    def step(params, x, *others, rate=0.1):
        return params["layer0"]["w"] @ x

    assert Program(step, (layers, jnp.ones(64))).call == "step(params, f32[64])"
    several = Program(jax.jit(step), (list(layers.values()), jnp.ones(64), layers))
    assert several.call == "step(params, f32[64], others[0])"
    assert Program(step, ({"w": jnp.ones(3)}, jnp.ones(64)), {"rate": layers}).call == (
        "step({'w': f32[3]}, f32[64], rate=dict)"
    )


def test_what_tracing_costs_is_not_known_where_jax_has_the_trace_of_an_earlier_call():
    @jax.jit
    def double(x):
        return x * 2

    first, again = Program(double, (jnp.ones(3),)), Program(double, (jnp.ones(3),))
    assert first.jaxpr.eqns
    assert again.jaxpr.eqns
    assert [first.traced_before, again.traced_before] == [False, True]
    for program, known in ((first, True), (again, False)):
        capture = Capture(program)
        assert len(capture.jaxpr)
        assert ("trace" in capture.costs("jaxpr")) is known


def sized(x, n, mode="twice"):
    return jnp.ones(n) * (x.sum() * 2 if mode == "twice" else x.sum())


@pytest.mark.parametrize(
    ("args", "kwargs", "options", "call"),
    [
        ((X, 3), {}, {"static_argnums": 1}, "sized(f32[2,3], 3)"),
        # Of negative numbers JAX counts from the last parameter since 0.12, and from the last argument before.
        ((X, 3, "once"), {}, {"static_argnums": (-2, -1)}, "sized(f32[2,3], 3, 'once')"),
        ((X, 3), {}, {"static_argnames": "n"}, "sized(f32[2,3], 3)"),
        ((X,), {"n": 3}, {"static_argnums": 1}, "sized(f32[2,3], n=3)"),
        ((X,), {"n": 3}, {"static_argnames": ["n"]}, "sized(f32[2,3], n=3)"),
        ((X,), {"n": (3, 2)}, {"static_argnames": "n"}, "sized(f32[2,3], n=(3, 2))"),
        ((X, 3), {"mode": "once"}, {"static_argnames": ("n", "mode")}, "sized(f32[2,3], 3, mode='once')"),
        # What is no array is held back by itself, also beside what is static.
        ((X, 3), {"mode": "once"}, {"static_argnums": 1}, "sized(f32[2,3], 3, mode='once')"),
    ],
)
def test_static_arguments_are_named_as_for_jit(args, kwargs, options, call):
    explored = jv.explore(sized, *args, **kwargs, **options)
    assert explored.program.argument_names == ("x",)
    assert explored.call == call
    assert explored.run(repeat=1).median > 0
    assert explored.values().first_bad is None


@pytest.mark.parametrize("options", [{"donate_argnums": 0}, {"donate_argnames": "x"}])
def test_donated_arguments_are_named_as_for_jit(options):
    explored = jv.explore(lambda x, y: x + y, jnp.ones(4), jnp.ones(4), **options)
    assert explored.program.donated == (True, False)
    assert "donated" in explored.jaxpr.node(0).attributes


def test_options_beside_a_jit_of_the_persons_are_added_to_it():
    jitted = jax.jit(sized, static_argnames=("n", "mode"))
    explored = jv.explore(jitted, X, n=3, static_argnames="n", donate_argnames="x")
    assert explored.program.argument_names == ("x",)
    assert explored.program.donated == (True,)
