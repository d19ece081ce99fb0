"""Arguments that hold what is no array, and Equinox, whose models do."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxviz as jv


@pytest.fixture(scope="module")
def filtered():
    import filtered

    return filtered


@pytest.fixture(scope="module")
def model(filtered):
    return filtered.perceptron()


X = jnp.ones((5, 3))
WEIGHTS = tuple(f"model.layers[{layer}].{name}" for layer in range(2) for name in ("weight", "bias"))


@pytest.mark.parametrize(
    "bind",
    [
        lambda filtered, model: (filtered.predict, model, X),
        lambda filtered, model: (filtered.apply, model, X),
        lambda filtered, model: (functools.partial(filtered.predict, model), X),
        lambda filtered, model: (filtered.equinox.Partial(filtered.predict, model), X),
    ],
)
def test_the_arrays_of_a_model_are_arguments_of_the_program(filtered, model, bind):
    fn, *args = bind(filtered, model)
    ex = jv.explore(fn, *args)
    assert ex.program.argument_names == (*WEIGHTS, "x")
    assert [node.name for node in ex.jaxpr if node.kind == "argument" and node.region == 0] == [*WEIGHTS, "x"]
    # None of them is a constant of the program.
    assert not [node for node in ex.jaxpr if node.kind == "constant" and node.types[0] == "f32[8,3]"]
    assert ex.document().programs[0].missing == {}
    assert ex.program.file == filtered.__file__


def test_a_step_gives_the_arrays_of_the_new_model(filtered, model):
    ex = jv.explore(filtered.step, model, X, jnp.ones((5, 2)))
    marker, *given = ex.program.result_names
    assert given == [*(name.replace("model", "result[0]") for name in WEIGHTS), "result[1]"]
    assert marker == "marker of filter_jit"
    assert ex.program.call == "step(MLP, f32[5,3], f32[5,2])"
    for stage in ("jaxpr", "stablehlo", "hlo"):
        # Nobody asked for it, so it is drawn among all operations only.
        names = {box.name for box in ex.view(stage=stage).boxes}
        assert names
        assert marker not in names
        assert marker not in ex.to_svg(stage=stage)


@pytest.mark.filterwarnings("ignore:Some donated buffers")
@pytest.mark.parametrize("options", [{}, {"donate": "all-except-first"}])
def test_what_is_explored_is_what_equinox_compiles(filtered, model, options):
    """With its marker, its order of arguments and the options that its jit was given; for shapes too."""
    jit = filtered.equinox.filter_jit(filtered.step.__wrapped__, **options)
    ex = jv.explore(jit, model, X, y=jnp.ones((5, 2)))
    assert ex.program.traced.lower().as_text() == jit.lower(model, X, y=jnp.ones((5, 2))).as_text()
    marker = next(node for node in ex.hlo if node.kind == "result" and node.region == 0)
    assert marker.name == "marker of filter_jit"
    of_shapes = jv.explore(jit, model, jax.ShapeDtypeStruct(X.shape, X.dtype), y=jax.ShapeDtypeStruct((5, 2), X.dtype))
    assert of_shapes.program.argument_names == ex.program.argument_names
    assert of_shapes.program.traced.lower().as_text() == ex.program.traced.lower().as_text()


def test_options_of_the_compiler_that_equinox_was_given_are_kept(filtered):
    jit = filtered.equinox.filter_jit(lambda x: x + 1, compiler_options={"no_such_option": True})
    with pytest.raises(Exception, match="no_such_option"):
        jv.explore(jit, X).hlo  # noqa: B018


def test_arguments_that_do_not_fit_what_equinox_jits_are_told_as_equinox_does(filtered, model):
    with pytest.raises(TypeError, match="missing a required argument: 'x'"):
        jv.explore(filtered.step, model)


def test_numbers_are_arguments_of_jax_and_options_of_equinox():
    import equinox

    def choose(x, flag):
        return jnp.sin(x) if flag else jnp.cos(x)

    filtered = equinox.filter_jit(choose)
    assert jv.explore(filtered, X, True).jaxpr.find("sin")
    assert jv.explore(filtered, X, flag=False).jaxpr.find("cos")
    with pytest.raises(jax.errors.TracerBoolConversionError):
        jv.explore(choose, X, True)


def test_methods_that_are_filtered_know_their_model(filtered):
    import equinox

    model = filtered.Model(jnp.ones((3, 2)))
    for fn in (model, model.__call__):
        ex = jv.explore(fn, X, 3)
        assert ex.program.argument_names == ("self.weight", "x")
        assert ex.program.file == filtered.__file__
    wrapped = jv.explore(equinox.filter_jit(equinox.nn.Linear(3, 2, key=jax.random.key(0))), X[0])
    assert wrapped.program.argument_names == ("x", "self.weight", "self.bias")


def test_numbers_beside_functions_in_a_model_are_its_options():
    import equinox

    pool = equinox.nn.Sequential([equinox.nn.Lambda(jax.nn.relu), equinox.nn.MaxPool2d(2)])
    images = jnp.ones((2, 3, 8, 8))
    ex = jv.explore(equinox.filter_grad(lambda x, pool: jax.vmap(pool)(x).sum()), images, pool)
    assert ex.program.argument_names == ("x",)
    assert ex.jaxpr.find("reduce_window_max")
    # Beside it, a number is one.
    assert (
        len(jv.explore(lambda pool, x, scale: jax.vmap(pool)(x) * scale, pool, images, 2.0).program.argument_names) == 2
    )


@pytest.mark.parametrize(("donate", "donated"), [("none", 0), ("all", 2), ("all-except-first", 1)])
def test_what_a_filter_donates_is_donated(donate, donated):
    import equinox

    @equinox.filter_jit(donate=donate)
    def both(a, b):
        return a + 1, b * 2

    ex = jv.explore(both, X, X)
    info = jax.tree_util.tree_leaves(ex.program.traced.args_info)
    assert sum(one.donated for one in info) == donated


def test_any_argument_may_hold_a_function_or_a_text():
    def run(params, x, *, name):
        return params["activation"](x @ params["w"]) * (2.0 if name == "double" else 1.0)

    ex = jv.explore(run, {"w": jnp.ones((3, 4)), "activation": jnp.tanh}, X, name="double")
    assert ex.program.argument_names == ("params['w']", "x")
    assert ex.jaxpr.find("tanh")
    assert ex.jaxpr.find("mul")
    # Beside arguments that are static by their places.
    ex = jv.explore(lambda n, f, x: f(x) * n[0], (3, 4), jnp.tanh, X, static_argnums=0)
    assert ex.program.argument_names == ("x",)
    assert ex.jaxpr.find("tanh")


def test_such_programs_run(filtered, model):
    run = jv.explore(filtered.predict, model, X).run(repeat=2)
    assert run.median > 0
    args, kwargs = jv.explore(filtered.apply, model, X).program.dynamic_arguments
    full = jv.explore(filtered.apply, model, X).program.with_static(args, kwargs)
    np.testing.assert_allclose(filtered.apply(*full[0]), filtered.apply(model, X))


def _named(function):
    """A decorator as libraries have them: it calls the function within something of its own."""

    @functools.wraps(function)
    def call(*args, **kwargs):
        with jax.named_scope("named"):
            return function(*args, **kwargs)

    return call


class Sampler:
    @_named
    @functools.partial(jax.jit, static_argnames=("self", "length", "kind"))
    def draw(self, x, length, kind="sum"):
        return getattr(jnp, kind)(jnp.zeros(length) + x)


@pytest.mark.parametrize(
    ("args", "kwargs"), [((2.0, 3), {}), ((2.0,), {"length": 3}), ((2.0, 3, "sum"), {}), ((2.0, 3), {"kind": "sum"})]
)
def test_what_is_static_for_a_jit_is_so_for_what_is_wrapped_around_it(args, kwargs):
    ex = jv.explore(Sampler().draw, *args, **kwargs)
    assert ex.program.argument_names == ("x",)
    assert [node.types for node in ex.jaxpr if node.kind == "argument" and node.region == 0] == [("f32[]",)]
    assert ex.run(repeat=1).median > 0
