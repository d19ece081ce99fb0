"""Functions of Flax's NNX are explored as NNX jits them, and named as in the models."""

from __future__ import annotations

import functools

import jax
import jax.numpy as jnp
import pytest

import jaxviz as jv

X = jnp.ones((5, 3))
PLACES = ("hidden.bias", "hidden.kernel", "norm.bias", "norm.mean", "norm.scale", "norm.var", "out.bias", "out.kernel")


@pytest.fixture(scope="module")
def flaxed():
    import flaxed

    return flaxed


@pytest.fixture
def trained(flaxed):
    model = flaxed.network()
    return model, flaxed.optimizer(model)


def test_what_is_explored_is_what_nnx_compiles(flaxed, trained):
    ex = jv.explore(flaxed.step, *trained, X)
    assert ex.program.traced.lower().as_text() == flaxed.step.lower(*trained, X).as_text()
    assert ex.program.call == "learn(Network, Optimizer, f32[5,3])"
    assert ex.program.file == flaxed.__file__
    # All that changes is a result.
    assert [finding for finding in ex.findings if finding.kind == "dead"] == []


def test_arguments_and_results_are_called_as_in_the_models(flaxed, trained):
    ex = jv.explore(flaxed.step, *trained, X)
    names = [node.name for node in ex.jaxpr if node.kind == "argument" and node.region == 0]
    assert names[: len(PLACES)] == [f"model.{place}" for place in PLACES]
    assert "optimizer.opt_state[0].mu.out.kernel" in names
    assert names[-1] == "x"
    results = [node.name for node in ex.jaxpr if node.kind == "result" and node.region == 0]
    assert results == [*names[:-1], "result"]


@pytest.mark.parametrize("stage", ["stablehlo", "hlo"])
def test_arguments_and_results_have_the_same_names_in_all_stages(flaxed, trained, stage):
    ex = jv.explore(flaxed.step, *trained, X)
    for kind in ("argument", "result"):
        written, found = (
            [node.name for node in graph if node.kind == kind and node.region == 0]
            for graph in (ex.jaxpr, getattr(ex, stage))
        )
        # The compiler leaves out what nothing reads.
        assert set(found) <= set(written)
        assert len(found) > 1


def test_a_function_that_takes_a_model_is_jitted_as_nnx_does(flaxed, trained):
    ex = jv.explore(flaxed.learn, *trained, X)
    assert ex.program.argument_names == jv.explore(flaxed.step, *trained, X).program.argument_names


def test_methods_know_their_model(flaxed, trained):
    model, _ = trained
    for fn, *args in ((model.predict, X), (flaxed.Network.predict, model, X)):
        ex = jv.explore(fn, *args)
        assert ex.program.argument_names == (*(f"self.{place}" for place in PLACES), "x")
        assert ex.program.name == "predict"


def test_a_run_leaves_the_model_as_it_is(flaxed, trained):
    before = [leaf.copy() for leaf in jax.tree_util.tree_leaves(trained)]
    ex = jv.explore(flaxed.step, *trained, X)
    assert ex.run(repeat=2).profile.coverage == 1
    assert ex.run(repeat=1, eager=True).eager
    assert ex.values().first_bad is None
    after = jax.tree_util.tree_leaves(trained)
    assert all((one == other).all() for one, other in zip(before, after, strict=True))


def test_options_of_the_jit_are_kept(flaxed, trained):
    from flax import nnx

    ex = jv.explore(nnx.jit(flaxed.learn, donate_argnums=(0, 1)), *trained, X)
    assert ex.program.donated == (*(True for _ in ex.program.argument_names[:-1]), False)
    assert ex.run(repeat=2).median > 0
    model, _ = trained
    ex = jv.explore(nnx.jit(lambda times, model, x: model(x) * times, static_argnums=0), 3, model, X)
    assert ex.program.argument_names == (*(f"model.{place}" for place in PLACES), "x")


def test_models_that_are_trees_have_their_names_too(flaxed, trained):
    import flax
    from flax import nnx

    if "graph" not in nnx.jit.__kwdefaults__:
        pytest.skip(f"Flax {flax.__version__} jits no models as trees")
    ex = jv.explore(nnx.jit(flaxed.learn, graph=False), *trained, X)
    assert ex.program.argument_names[: len(PLACES)] == tuple(f"model.{place}" for place in PLACES)


def test_a_model_that_is_called_itself_is_an_argument_and_what_changes_in_it_a_result(flaxed, trained):
    model, _ = trained
    mean = model.norm.mean[...].copy()
    for fn, *args in ((model, X), (model.__call__, X), (functools.partial(model, X),)):
        ex = jv.explore(fn, *args)
        assert ex.program.argument_names[: len(PLACES)] == tuple(f"self.{place}" for place in PLACES)
        assert "self.norm.mean" in ex.program.result_names
        assert ex.run(repeat=1).median > 0
    assert (model.norm.mean[...] == mean).all()
    assert jv.explore(model, X).call == "Network(f32[5,3])"


def test_layers_in_a_scan_over_their_models_are_explored(flaxed):
    from flax import nnx

    class Stack(nnx.Module):
        def __init__(self, keys):
            self.layers = nnx.vmap(lambda key: nnx.Linear(3, 3, rngs=nnx.Rngs(key)))(keys)

        def __call__(self, x):
            return nnx.scan(lambda layer, x: layer(x), in_axes=(0, nnx.Carry), out_axes=nnx.Carry)(self.layers, x)

    ex = jv.explore(Stack(jax.random.split(jax.random.key(0), 4)), X)
    assert ex.program.argument_names == ("self.layers.bias", "self.layers.kernel", "x")
    assert len(ex.jaxpr.find("scan")) == 1


@pytest.mark.parametrize("options", [{"static_argnums": 1}, {"static_argnames": "times"}])
def test_static_and_donated_arguments_beside_models_are_those_of_the_call(flaxed, trained, options):
    model, _ = trained

    def repeated(x, times, model):
        return model(x) * jnp.ones(times)

    ex = jv.explore(repeated, X, 2, model, **options, donate_argnums=0)
    assert ex.call == "repeated(f32[5,3], 2, Network)"
    assert ex.program.donated == (True, *(False for _ in PLACES))


def test_random_numbers_give_a_stream_for_whatever_they_are_asked_and_are_no_array():
    from flax import nnx

    def noisy(rngs, x):
        return x + jax.random.normal(rngs.params(), x.shape)

    for function in (noisy, jax.jit(noisy), nnx.jit(noisy)):
        ex = jv.explore(function, nnx.Rngs(0), X)
        assert ex.call == "noisy(Rngs, f32[5,3])"
        assert "add" in [node.op for node in ex.jaxpr]
