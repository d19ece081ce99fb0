"""Modules of Flax, and of Equinox where it is installed, that are given what they cannot take."""

from __future__ import annotations

import flax.linen as nn
import flax.nnx as nnx
import jax
import jax.numpy as jnp
import optax
from errors.failing.registry import KEY, A, failing

NORM = nnx.BatchNorm(4, rngs=nnx.Rngs(0))


class Net(nn.Module):
    @nn.compact
    def __call__(self, x):
        return nn.Dense(5)(nn.relu(nn.Dense(8)(x)))


class Gated(nn.Module):
    @nn.compact
    def __call__(self, x):
        h = nn.Dense(4)(x)
        if h.mean() > 0:
            h = nn.relu(h)
        return h


class Dropped(nn.Module):
    @nn.compact
    def __call__(self, x):
        return nn.Dropout(0.5, deterministic=False)(x)


class Normed(nn.Module):
    @nn.compact
    def __call__(self, x):
        return nn.BatchNorm(use_running_average=False)(x)


class Unwatched(nn.Module):
    def __call__(self, x):
        return nn.Dense(3)(x)


MADE = Net().init(KEY, A)
NORMED = Normed().init(KEY, A)


@failing(MADE, case="flax shape", place="", words=["is (4, 8), and this input needs (3, 8)"])
def another_input_than_that_of_init(variables):
    return Net().apply(variables, A.T)


@failing(
    MADE, A.reshape(3, 2, 2), case="flax shape", place="", words=["2 x 2 = 4", "image.reshape(image.shape[0], -1)"]
)
def an_image_for_rows(variables, image):
    return Net().apply(variables, image)


@failing(MADE["params"], case="flax parameters", place="", words=['{"params": params}'])
def parameters_without_their_collection(params):
    return Net().apply(params, A)


@failing(A, case="flax random numbers", place="", words=['rngs={"dropout": jax.random.key(0)}'])
def a_dropout_without_a_key(x):
    return Dropped().apply({}, x)


@failing(A, case="random numbers of a layer", place="nnx.Dropout(0.5)(a)", words=["rngs=nnx.Rngs(0)"], mends=[0])
def a_dropout_of_nnx(a):
    return nnx.Dropout(0.5)(a) + a


@failing(NORMED, case="flax immutable", place="", words=['mutable=["batch_stats"]'])
def a_norm_that_may_not_change(variables):
    return Normed().apply(variables, A)


@failing(A, case="flax compact", place="", words=["@nn.compact"])
def a_method_that_is_not_compact(x):
    return Unwatched().init(KEY, x)


@failing(A, case="flax unbound", place="nn.Dense(3)(x)", words=["nn.Dense(3).apply(variables, x)"], mends=[0])
def a_module_by_itself(x):
    return nn.Dense(3)(x)


# What the module asks is the last that was traced, though bodies of finished calls stand before it.
@failing(A, case="choice", place="", culprits=["gt"], words=["jnp.where(h.mean() > 0, nn.relu(h), h)"])
def an_if_in_a_module(x):
    return Gated().init_with_output(KEY, x)


@failing({"w": A}, case="trees", place="update", words=["optimizer.init(params)", "('w',)"])
def a_state_of_other_parameters(params):
    optimizer = optax.adam(1e-3)
    state = optimizer.init({"v": A})
    return optimizer.update(params, state, params)


@failing(
    A,
    case="nnx outside",
    place="NORM(a)",
    words=["a BatchStat made outside", "def a_norm_from_outside(NORM, a):", "NORM.eval()"],
    mends=[0],
    gives=0,
    instead="outside",
)
def a_norm_from_outside(a):
    scaled = NORM(a)
    return scaled.sum()


def _squared(module):
    return (module.kernel[...] ** 2).sum()


INSIDE = nnx.Linear(2, 2, rngs=nnx.Rngs(0))


@failing(A, case="nnx outside", place="nnx.grad(", words=["def a_derivative_by_what_is_outside(INSIDE, a):"])
def a_derivative_by_what_is_outside(a):
    return nnx.grad(_squared)(INSIDE), a


try:
    import equinox as eqx
except ImportError:  # It is not in the environments of the oldest and the newest JAX.
    pass
else:
    LINEAR = eqx.nn.Linear(4, 2, key=KEY)
    MODEL = eqx.nn.MLP(4, 2, 8, 2, key=KEY)

    @failing(A, case="contraction", place="LINEAR(a)", words=["f32[2,4] meets f32[3,4]"], mends=[0])
    def a_layer_that_is_given_a_batch(a):
        return LINEAR(a)

    @failing(A[0], case="model of functions", place="jax.grad", words=["eqx.filter_grad"], mends=[0, 1])
    def a_derivative_by_a_whole_model(x):
        return jax.grad(lambda model: jnp.sum(model(x)))(MODEL)

    @failing(A[0], case="model of functions", place="jax.jit", words=["`m.activation`", "eqx.filter_jit"], mends=[0])
    def a_model_that_is_jitted(x):
        return jax.jit(lambda m, v: m(v))(MODEL, x)

    @failing(A[0], case="frozen", place="layer.weight = ", words=["eqx.tree_at(lambda tree: tree.weight"], mends=[0])
    def a_weight_that_is_assigned(x):
        layer = eqx.nn.Linear(4, 2, key=KEY)
        layer.weight = layer.weight + 1
        return layer(x)

    HELD = eqx.nn.Linear(4, 2, key=KEY)

    @failing(A[0], case="frozen", place="HELD.bias = None", words=["new_HELD = ", "in place of `HELD`"], mends=[0])
    def a_part_of_what_is_outside(x):
        HELD.bias = None
        return HELD.weight @ x

    @failing(A, case="model that is jitted", place="jax.jit(MODEL)", words=["eqx.filter_jit(MODEL)"], mends=[0])
    def a_model_for_a_function(x):
        return jax.jit(MODEL)(x[0])

    class Stack(eqx.Module):
        layers: list

        def __call__(self, x):
            for layer in self.layers:
                x = jax.nn.relu(layer(x))
            return x

    STACK = Stack([LINEAR])

    @failing(A, case="contraction", place="", words=["return jax.vmap(STACK)(a) * 2"])
    def a_model_that_is_given_a_batch(a):
        return STACK(a) * 2

    @failing(A, case="optimizer of functions", place=".init(MODEL)", words=["eqx.filter(MODEL"], mends=[0])
    def an_optimizer_of_a_whole_model(a):
        state = optax.adam(1e-3).init(MODEL)
        return jax.tree.map(jnp.sum, state), a

    @failing(A, case="random numbers of a layer", place="", words=["(A, key=jax.random.key(0))"], mends=[0])
    def a_layer_that_draws(a):
        return eqx.nn.Dropout(0.5)(A) + a

    BATCHED, STATE = eqx.nn.make_with_state(eqx.nn.BatchNorm)(4, axis_name="batch", mode="batch")

    @failing(A, case="axis name", place="", words=["in_axes=(0, None), out_axes=(0, None))(a, STATE)"], mends=[0])
    def a_norm_of_a_batch(a):
        return BATCHED(a, STATE)[0]

    @failing(A, case="axis name", place="", words=['in_axes=0, axis_name="batch")(a)'], mends=[0], instead="apart")
    def a_norm_that_is_mapped_by_no_name(a):
        def apart(a):
            return jax.vmap(lambda row: BATCHED(row, STATE)[0], in_axes=0)(a)

        return apart(a)

    @failing(2.0, case="result", place="", words=["a_model_that_comes_out = eqx.filter_jit(a_model_that_comes_out)"])
    def a_model_that_comes_out(scale):
        return eqx.tree_at(lambda model: model.layers[0].bias, MODEL, jnp.ones(8) * scale)
