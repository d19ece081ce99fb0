"""Functions and methods of a person that call modules of a library: the steps that they are."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import pytest
from outline.outlines import check, names_inside, outline_of, row_named, rows_named

_X = jnp.ones((4, 8))


def test_a_function_holds_the_modules_that_it_calls_and_the_expressions_beside_them():
    def network(w, x):
        with jax.named_scope("dense"):
            x = jnp.tanh(x @ w)
            x = jnp.sin(x @ w)
        return x.mean(0)

    def loss(w, x):
        out = network(w, x)
        return jnp.sum(out)

    outline = outline_of(loss, jnp.eye(8), _X)
    assert names_inside(outline, 0) == ["network", "sum"]
    assert names_inside(outline, row_named(outline, "network").index) == ["dense", "mean"]


def test_an_expression_apart_from_the_others_of_its_function_has_its_own_name():
    def block(x):
        with jax.named_scope("Attention"):
            mixed = jnp.tanh(x @ x.T) @ x
        x = x + mixed
        with jax.named_scope("Gate"):
            kept = jnp.sin(x @ x.T) @ x
        return x - kept

    outline = outline_of(lambda x: jnp.exp(block(x)), _X)
    assert names_inside(outline, row_named(outline, "block").index) == ["Attention", "add", "Gate", "subtract"]
    assert [row_named(outline, name).kind for name in ("add", "subtract")] == ["expression", "expression"]


def test_a_call_that_calls_modules_holds_them_and_its_statements_in_the_order_of_the_program():
    def linear(x):
        with jax.named_scope("Linear"):
            return x @ jnp.eye(4)

    def block(x):
        y = linear(x)
        kept = jnp.sin(y) + x
        y = linear(kept)
        return jnp.cos(y) * kept

    outline = outline_of(lambda x: block(x).sum(), jnp.ones((3, 4)))
    assert names_inside(outline, 0) == ["block", "sum"]
    inside = names_inside(outline, row_named(outline, "block").index)
    assert inside == ["Linear", "sin", "add", "Linear", "cos", "multiply"]


def test_functions_that_call_one_module_several_times_are_a_step_for_each_call():
    from flax import linen as nn

    class Network(nn.Module):
        @nn.compact
        def __call__(self, x):
            for _ in range(3):
                x = x + jnp.tanh(nn.Dense(4)(x))
            return nn.Dense(2)(x)

    def score(params, x):
        logits = network.apply(params, x * 2.0)
        return jnp.sum(jax.nn.log_softmax(logits))

    def preferred(params, reference, x, y):
        policy = score(params, x) - score(params, y)
        frozen = score(reference, x) - score(reference, y)
        return jnp.exp(policy) - frozen

    network, x = Network(), jnp.ones((2, 4))
    params = network.init(jax.random.key(0), x)
    outline = outline_of(preferred, params, params, x, x)
    scores = rows_named(outline, "score")
    assert len(scores) == 4
    for row in scores:
        assert names_inside(outline, row.index) == ["multiply", "Network", "log_softmax", "sum"]
    # What is repeated in the module is no more called as what calls the module.
    assert {row.name for row in outline if row.count > 1} == {"for _ in range(3)"}


def test_methods_of_a_person_stand_between_the_body_of_a_loop_and_the_modules_that_they_call():
    eqx = pytest.importorskip("equinox", reason="it is not in the environments of the oldest and the newest JAX")

    class Model(eqx.Module):
        cell: eqx.nn.GRUCell
        out: eqx.nn.Linear

        def encode(self, xs):
            state, _ = jax.lax.scan(lambda h, x: (self.cell(x, h), None), jnp.zeros(4), jnp.cos(xs))
            return jnp.sin(self.out(state))

        def score(self, xs):
            return jnp.exp(self.encode(xs)) - jnp.tanh(self.out(xs[0]))

    keys = jax.random.split(jax.random.key(0))
    model = Model(eqx.nn.GRUCell(4, 4, key=keys[0]), eqx.nn.Linear(4, 4, key=keys[1]))
    outline = outline_of(lambda model, xs: model.score(xs).sum(), model, jnp.ones((3, 4)))
    inside = names_inside(outline, row_named(outline, "encode").index)
    assert inside == ["cos", "scan(cell)", "out", "sin"]


def test_an_attribute_of_a_letter_is_called_by_it_and_a_variable_by_its_class():
    class Scaled:
        def __call__(self, x):
            return jnp.sin(x) * 2.0

    class Attention:
        def __init__(self):
            self.q = Scaled()

        def __call__(self, x):
            return self.q(x) + 1.0

    def f(x):
        a = Attention()
        return a(x)

    outline = outline_of(f, jnp.ones(4))
    assert names_inside(outline, 0) == ["q", "add"]
    assert outline.row(0).detail == "Attention"


def test_modules_that_a_library_runs_one_after_the_other_hold_no_call_of_themselves(library):
    """Where all that a library runs stands in modules, it is not itself the call of the first one."""
    lib = library(
        "def transformed(fn):\n"
        "    def run(x):\n"
        "        return fn(x)\n"
        "    return run\n"
        "class Module:\n"
        "    def __init__(self, name):\n"
        "        self.name = name\n"
        "    def __call__(self, x):\n"
        "        with jax.named_scope(self.name):\n"
        "            return self.run(x)\n"
        "class Linear(Module):\n"
        "    def run(self, x):\n"
        "        return x @ jnp.eye(4)\n"
    )

    class Block(lib["Module"]):
        def run(self, x):
            y = lib["Linear"]("first")(x)
            x = x + jnp.tanh(y)
            y = lib["Linear"]("second")(x)
            return x * jnp.sin(y)

    def network(x):
        for number in range(3):
            x = Block(f"block_{number}")(x)
        return lib["Linear"]("head")(x)

    apply = lib["transformed"](network)
    for fn in (apply, lambda x: jnp.sum(apply(x) ** 2)):
        outline = outline_of(fn, jnp.ones((3, 4)))
        inside = names_inside(outline, row_named(outline, "block_0").index)
        assert inside == ["first", "tanh", "add", "second", "sin", "multiply"]


def test_a_module_out_of_a_list_is_called_by_its_place():
    eqx = pytest.importorskip("equinox", reason="it is not in the environments of the oldest and the newest JAX")

    class Model(eqx.Module):
        layers: list

        def __call__(self, x):
            x = jnp.tanh(self.layers[0](x))
            x = jnp.exp(self.layers[1](x))
            return self.layers[-1](x)

    model = Model([eqx.nn.Linear(4, 4, key=jax.random.key(seed)) for seed in range(3)])
    outline = outline_of(lambda model, x: model(x), model, jnp.ones(4))
    assert names_inside(outline, 0) == ["layers[0]", "tanh", "layers[1]", "exp", "layers[-1]"]


@pytest.mark.smoke
def test_a_module_whose_loop_a_library_writes_stands_in_the_modules_around_it():
    from flax import linen as nn

    class Encoder(nn.Module):
        @nn.compact
        def __call__(self, x):
            return nn.RNN(nn.OptimizedLSTMCell(8), return_carry=True)(x)[0]

    class Decoder(nn.Module):
        @nn.compact
        def __call__(self, carry, x):
            shared = {"variable_broadcast": "params", "split_rngs": {"params": False}}
            cell = nn.scan(nn.GRUCell, in_axes=1, out_axes=1, **shared)(8)
            return nn.Dense(2)(cell(carry, x)[1])

    class Translation(nn.Module):
        @nn.compact
        def __call__(self, x):
            return Decoder()(Encoder()(x)[1], x)

    model, x = Translation(), jnp.ones((2, 5, 3))
    weights = jax.eval_shape(model.init, jax.random.key(0), x)
    weights = jax.tree.map(lambda one: jnp.ones(one.shape, one.dtype), weights)
    outline = outline_of(jax.grad(lambda weights, x: jnp.sum(model.apply(weights, x) ** 2)), weights, x)
    forward = row_named(outline, "forward")
    assert names_inside(outline, forward.index) == ["Translation", "power", "sum"]
    forward, backward = (row.index for row in rows_named(outline, "Translation"))
    assert names_inside(outline, forward) == ["Encoder_0", "Decoder_0"]
    assert names_inside(outline, backward) == ["Decoder_0", "Encoder_0"]
    decoders = [row.index for row in rows_named(outline, "Decoder_0")]
    assert [names_inside(outline, row) for row in decoders] == [
        ["scan(ScanGRUCell_0)", "Dense_0"],
        ["Dense_0", "scan(ScanGRUCell_0)"],
    ]


def test_the_turns_of_a_module_that_has_a_name_of_its_own_are_told_by_what_is_in_them_not_by_who_calls_it():
    eqx = pytest.importorskip("equinox", reason="it is not in the environments of the oldest and the newest JAX")

    class ActorCritic(eqx.Module):
        actor: eqx.nn.MLP
        critic: eqx.nn.MLP

        def __call__(self, seen):
            return jax.nn.log_softmax(self.actor(seen)), self.critic(seen)

    keys = jax.random.split(jax.random.key(0))
    model = ActorCritic(eqx.nn.MLP(4, 2, 8, 2, key=keys[0]), eqx.nn.MLP(4, 1, 8, 2, key=keys[1]))
    outline = outline_of(lambda model, xs: jax.vmap(model)(xs), model, jnp.ones((3, 4)))
    assert [row.name for row in outline if row.kind == "stack" and row.count == 2] == ["Linear, relu"] * 2

    def predict(mlp, xs):
        return jax.vmap(mlp)(xs)

    # Nor by a function of the person's that only calls it.
    for fn in (predict, lambda mlp, xs: jnp.mean(predict(mlp, xs) ** 2)):
        outline = outline_of(fn, model.actor, jnp.ones((3, 4)))
        assert [row.name for row in outline if row.kind == "stack" and row.count == 2] == ["Linear, relu"]


@pytest.mark.smoke
def test_a_stack_of_modules_is_told_without_the_numbers_that_a_person_gave_them():
    from flax import linen as nn

    class Layer(nn.Module):
        @nn.compact
        def __call__(self, x):
            return x + nn.Dense(4)(nn.relu(nn.Dense(8)(x)))

    class Network(nn.Module):
        @nn.compact
        def __call__(self, x):
            for turn in range(3):
                x = Layer(name=f"layer{turn}")(x)
            return jnp.sin(x)

    network, x = Network(), jnp.ones((2, 4))
    weights = jax.eval_shape(network.init, jax.random.key(0), x)
    weights = jax.tree.map(lambda one: jnp.ones(one.shape, one.dtype), weights)
    outline = outline_of(lambda weights, x: jnp.cos(network.apply(weights, x)), weights, x)
    assert [(row.name, row.count) for row in outline if row.count > 1] == [("layer", 3)]


def test_what_a_module_of_a_library_does_between_others_is_one_box_with_one_name_both_ways():
    eqx = pytest.importorskip("equinox", reason="it is not in the environments of the oldest and the newest JAX")
    keys = jax.random.split(jax.random.key(0), 5)
    ensemble = eqx.filter_vmap(lambda key: eqx.nn.MLP(4, 1, 8, 2, key=key))(keys)
    weights, static = eqx.partition(ensemble, eqx.is_inexact_array)

    @eqx.filter_vmap(in_axes=(eqx.if_array(0), None))
    def evaluate(model, xs):
        return jax.vmap(model)(xs)

    def loss(weights, xs):
        return jnp.mean(evaluate(eqx.combine(weights, static), xs) ** 2)

    outline = outline_of(jax.grad(loss), weights, jnp.ones((3, 4)))
    stacks = rows_named(outline, "Linear, relu")
    assert [names_inside(outline, outline.children[row.index][0]) for row in stacks] == [
        ["Linear", "relu"],
        ["relu", "Linear"],
    ]
    forward, backward = (
        next(one for one in map(outline.row, outline.children[outline.children[row.index][0]]) if one.name == "relu")
        for row in stacks
    )
    # The mask that the gradient needs is made beside it.
    assert forward.closed
    assert outline.twin[forward.index] == backward.index


def test_a_block_whose_input_has_no_gradient_is_a_copy_of_the_others_on_the_way_back():
    from flax import linen as nn

    class Block(nn.Module):
        @nn.compact
        def __call__(self, x):
            # Of the first norm only what it is scaled with has a gradient, so one of its functions is left.
            return x + jnp.sin(nn.Dense(4)(nn.LayerNorm()(x)))

    class Network(nn.Module):
        @nn.compact
        def __call__(self, x):
            for _ in range(3):
                x = Block()(x)
            return nn.Dense(2)(x)

    network, x = Network(), jnp.ones((3, 4))
    params = network.init(jax.random.key(0), x)
    outline = outline_of(jax.grad(lambda params: network.apply(params, x).sum()), params)
    check(outline)
    assert [(row.name, row.count) for row in outline if row.count > 1] == [("Block", 3)] * 2


def test_a_turn_whose_norm_has_no_gradient_of_its_input_is_as_whole_as_the_others_on_the_way_back():
    from flax import linen as nn

    class Network(nn.Module):
        @nn.compact
        def __call__(self, x):
            for _ in range(3):
                x = x + jnp.sin(nn.Dense(4)(nn.LayerNorm()(x)))
            return nn.Dense(2)(x)

    network, x = Network(), jnp.ones((3, 4))
    params = network.init(jax.random.key(0), x)
    outline = outline_of(jax.grad(lambda params: network.apply(params, x).sum()), params)
    check(outline)
    forward, backward = (row for row in outline if row.count > 1)
    assert forward.count == backward.count == 3
    assert names_inside(outline, outline.children[backward.index][2]) == ["sin", "Dense_0", "LayerNorm_0"]


def test_a_block_that_calls_modules_is_a_step_of_each_turn_beside_another_module():
    def block(w, x):
        with jax.named_scope("first"):
            h = jnp.tanh(x @ w)
        h = jnp.sin(h)
        with jax.named_scope("second"):
            h = jnp.exp(h @ w)
        return x + h

    def network(ws, x):
        for w in ws:
            x = block(w, x)
            with jax.named_scope("pool"):
                x = jnp.cos(x) * x
        return x

    outline = outline_of(network, [jnp.eye(4)] * 3, jnp.ones((2, 4)))
    check(outline)
    (turns,) = (row for row in outline if row.count == 3)
    assert turns.name == "for w in ws"
    assert names_inside(outline, outline.children[turns.index][0]) == ["block", "pool"]
