"""Names of the person's loops and of what Python unrolled, forward and backward."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import pytest
from outline.outlines import names_inside, outline_of, row_named, rows_named, shown

_X = jnp.ones((4, 8))


def test_a_loop_over_modules_is_called_by_its_head_forward_and_backward():
    from flax import linen as nn

    class Network(nn.Module):
        @nn.compact
        def __call__(self, x):
            for width in (4, 4):
                x = nn.Dense(width)(x)
                x = nn.gelu(x)
            return nn.Dense(2)(x)

    network, x = Network(), jnp.ones((3, 4))
    params = network.init(jax.random.key(0), x)
    outline = outline_of(jax.grad(lambda params: network.apply(params, x).var()), params)
    assert [loop.count for loop in rows_named(outline, "for width in (4, 4)")] == [2, 2]


def test_a_loop_unrolled_around_a_gradient_holds_the_phases_of_a_turn():
    def loss(w, x):
        return jnp.mean((x @ w) ** 2)

    def train(w, x):
        for _turn in range(5):
            g = jax.grad(loss)(w, x)
            w = w - 0.1 * g
        return w

    outline = outline_of(train, jnp.eye(8), _X)
    (loop,) = shown(outline, 0)
    assert (loop.name, loop.count) == ("for _turn in range(5)", 5)
    forward, backward, update = shown(outline, outline.children[loop.index][0])
    assert [forward.name, backward.name, update.name] == ["forward", "backward", "update"]
    assert forward.twin == backward.index
    assert forward.detail == "grad(loss)"


def test_a_function_called_in_one_step_of_many_keeps_its_phases_to_itself():
    def loss(w, x):
        y = jnp.tanh(x @ w)
        return jnp.sum(y)

    def step(w, x):
        g = jax.grad(loss)(w, x)
        return w - g

    def f(w, x):
        w = step(w, x)
        y = jnp.sin(w)
        return y * 2

    outline = outline_of(f, jnp.eye(8), _X)
    # The step is not jitted: its frames alone tell it from what comes after.
    assert names_inside(outline, row_named(outline, "forward").index)[:2] == ["matmul", "tanh"]
    assert row_named(outline, "step", "call")


def test_the_last_copy_backward_may_lack_a_gradient():
    def norm(x):
        m = x.mean()
        return (x - m) * 2.0

    def layer(w, x):
        h = norm(x)
        return jax.nn.relu(h @ w)

    def net(ws, x):
        for w in ws:
            x = layer(w, x)
        return x

    def loss(ws, x):
        return jnp.sum(net(ws, x))

    outline = outline_of(jax.grad(loss), [jnp.eye(8)] * 4, _X)
    forward, backward = rows_named(outline, "layer")
    assert forward.count == backward.count == 4
    assert forward.twin == backward.index
    last = outline.children[backward.index][-1]
    assert not any(row.name == "norm" for row in map(outline.row, outline.children[last]))


def test_the_last_copy_backward_may_have_only_one_thing_left_of_a_statement():
    def dense(w, x):
        return jax.nn.relu(x @ w) * 2.0

    def turn(w, nodes, edges):
        sent = dense(w, jnp.sin(nodes) * edges)
        received = jax.ops.segment_sum(sent, jnp.arange(8), 8)
        nodes = dense(w, jnp.tanh(nodes + received))
        return nodes, edges + sent

    def loss(ws, nodes, edges):
        for w in ws:
            nodes, edges = turn(w, nodes, edges)
        return jnp.sum(nodes)

    outline = outline_of(jax.grad(loss), [jnp.eye(8)] * 4, jnp.eye(8), jnp.eye(8))
    forward, backward = rows_named(outline, "turn")
    assert forward.count == backward.count == 4
    assert forward.twin == backward.index


def test_copies_that_begin_with_scopes_are_called_as_the_function_or_the_loop_that_they_are_of():
    class Block:
        def __init__(self, w):
            self.w = w

        def __call__(self, x):
            with jax.named_scope("mix"):
                x = jnp.tanh(x @ self.w)
                x = jnp.sin(x @ self.w)
            with jax.named_scope("spread"):
                x = jnp.exp(x @ self.w)
                return jnp.cos(x @ self.w)

    def loss(ws, x):
        for w in ws:
            x = Block(w)(x)
        return jnp.sum(x)

    outline = outline_of(jax.grad(loss), [jnp.eye(8)] * 3, _X)
    forward, backward = rows_named(outline, "Block")
    assert forward.count == backward.count == 3
    assert forward.twin == backward.index

    def flat(ws, x):
        for w in ws:
            with jax.named_scope("mix"):
                x = jnp.tanh(x @ w)
                x = jnp.sin(x @ w)
            with jax.named_scope("spread"):
                x = jnp.exp(x @ w)
                x = jnp.cos(x @ w)
        return jnp.sum(x)

    outline = outline_of(jax.grad(flat), [jnp.eye(8)] * 3, _X)
    assert [row.count for row in rows_named(outline, "for w in ws")] == [3, 3]


def test_a_loop_that_a_library_makes_is_part_of_the_expression_that_calls_it():
    def resample(key, x):
        weights = jnp.cumsum(jax.nn.softmax(x))
        places = jnp.searchsorted(weights, jax.random.uniform(key, x.shape))
        return jax.lax.map(lambda place: jnp.sin(x[place]) * 2, places)

    outline = outline_of(resample, jax.random.key(0), jnp.ones(8))
    assert row_named(outline, "searchsorted").closed
    (own,) = [row for row in outline if row.kind == "loop" and not row.closed and row.depth == 1]
    assert {"x[place]", "sin", "multiply"} <= set(names_inside(outline, own.index))


def test_a_loop_says_what_it_goes_on_for():
    def unfinished(state):
        return state[0] > 1e-3

    def cond(state):
        return (state[0] > 1e-3) & (state[1] < 20.0)

    def turn(state):
        return state[0] / 2, state[1] + 1.0

    def search(x, most):
        state = jax.lax.while_loop(unfinished, turn, (x, 0.0))
        state = jax.lax.while_loop(lambda s: s[1] < most, turn, state)
        state = jax.lax.while_loop(cond, turn, state)
        return jax.lax.fori_loop(0, state[1].astype(int), lambda i, x: x + i, state[0])

    conditions = [row.name for row in outline_of(search, 1.0, 9.0) if row.name.startswith("while ")]
    assert conditions == ["while unfinished", "while s[1] < most", "while (state[0] > 1e-3) & (state[1] < 20.0)"]
    assert len(rows_named(outline_of(search, 1.0, 9.0), "while", "body")) == 1


def test_a_loop_of_steps_with_gradients_has_its_head_on_the_way_back_too():
    def loss(params, x):
        return jnp.mean(jnp.tanh(x @ params["w"] + params["b"]) ** 2)

    def adapt(params, x):
        for _ in range(2):
            slope = jax.grad(loss)(params, x)
            params = {name: value - 0.1 * slope[name] for name, value in params.items()}
        return params

    params, x = {"w": jnp.eye(4), "b": jnp.zeros(4)}, jnp.ones((3, 4))
    outline = outline_of(jax.grad(lambda params: loss(adapt(params, x), x)), params)
    assert [loop.count for loop in rows_named(outline, "adapt: for _ in range(2)")] == [2, 2]
    assert not rows_named(outline, "for name, value in params.items()")


def two_levels(x):
    for _turn in range(6):
        for _step in range(5):
            x = jnp.sin(x)
            x = jnp.exp(x) * x
        x = x / x.sum()
    return x


def stages(x, weights):
    for stage in weights:
        for w in stage:
            x = jax.nn.relu(x @ w)
        x = jnp.tanh(x)[::-1] * 2
    return x


def test_each_of_two_stacks_is_named_by_the_loop_that_it_goes_round():
    outline = outline_of(two_levels, jnp.ones(9))
    assert row_named(outline, "for _turn in range(6)").count == 6
    inner = [row for row in rows_named(outline, "for _step in range(5)") if row.like < 0]
    assert [row.count for row in inner] == [5]
    outline = outline_of(stages, jnp.ones((9, 9)), [[jnp.ones((9, 9))] * 4] * 3)
    assert row_named(outline, "for stage in weights").count == 3


def test_a_function_mapped_over_rows_names_the_loop_that_is_all_of_a_program():
    def normalized(row):
        shifted = row - row.mean()
        return shifted / jnp.sqrt((shifted * shifted).sum())

    def mapped(rows):
        return jax.lax.map(normalized, rows)

    outline = outline_of(mapped, _X)
    assert names_inside(outline, 0) == ["normalized"]
    assert row_named(outline, "normalized", "loop").detail == "jax.lax.map(normalized, rows)"


def test_a_map_of_a_function_without_a_telling_name_is_called_a_map():
    def f(row):
        return jnp.sin(row) @ row

    assert names_inside(outline_of(lambda rows: jax.lax.map(f, rows), _X), 0) == ["lax.map"]


def test_what_a_comprehension_goes_through_is_not_called_as_what_it_collects():
    def f(a, b):
        x = jnp.stack([jnp.exp(r) + 1 for r in a])
        return x * sum(jnp.sin(u) * v for u, v in zip(a, b, strict=True))

    outline = outline_of(f, jnp.ones((3, 4)), jnp.ones((3, 4)))
    boxes = {(row.name, row.detail) for row in outline if row.kind == "expression"}
    assert {detail for name, detail in boxes if name == "add"} == {"jnp.exp(r) + 1"}
    assert ("a", "a") in boxes
    assert not [detail for name, detail in boxes if name == "multiply" and "for" in detail.partition("sum(")[0]]


def test_a_turn_of_a_loop_over_modules_begins_where_its_statement_does():
    def layer(x):
        with jax.named_scope("attention"):
            return jnp.tanh(x @ jnp.eye(4))

    def normalize(x):
        return x / jnp.sqrt(jnp.sum(x * x))

    def net(x):
        x = jnp.cos(normalize(x))
        for _ in range(4):
            x = x + layer(normalize(x))
        return x

    outline = outline_of(net, jnp.ones((3, 4)))
    assert names_inside(outline, 0) == ["normalize", "cos", "for _ in range(4) x4"]
    (stack,) = [row for row in outline if row.count == 4]
    assert names_inside(outline, stack.index) == ["normalize", "attention", "add"]


def test_a_loop_that_is_all_of_a_function_is_called_by_the_function():
    def leapfrog(q, n):
        def body(_, q):
            return jnp.sin(q) * 0.9 + q

        return jax.lax.fori_loop(0, n, body, q)

    def smooth(start, values):
        def step(mean, value):
            return mean * 0.9 + value, mean

        return jax.lax.scan(step, start, values)

    def run(q):
        last, _ = smooth(q, q[:, None])
        shown = jax.lax.fori_loop(0, 3, lambda _, q: jnp.cos(q), last)
        return jnp.tanh(leapfrog(q, 5)) + shown

    loops = [row.name for row in outline_of(run, jnp.ones(4)) if row.kind == "loop"]
    assert loops == ["smooth", "fori_loop(cos)", "leapfrog"]


def test_a_loop_over_a_checkpointed_function_is_told_by_that_function():
    def micro(total, x):
        return total + jnp.sin(x) * x, jnp.cos(x)

    def accumulate(xs):
        total, _ = jax.lax.scan(jax.checkpoint(micro), jnp.zeros(3), xs)
        return total * 2

    assert row_named(outline_of(accumulate, jnp.ones((4, 3))), "scan(micro)").kind == "loop"


def test_a_loop_inside_another_one_is_told_by_the_function_that_it_repeats_also_where_that_is_only_the_inner_one():
    def nested(xs):
        def outer(total, row):
            def inner(total, x):
                return 0.9 * total + jnp.sin(x), total

            total, kept = jax.lax.scan(inner, total, row)
            return total * 0.5, kept.sum()

        return jax.lax.scan(outer, jnp.zeros(()), xs)

    outline = outline_of(nested, jnp.ones((4, 5)))
    assert [row.name for row in outline if row.kind == "loop"] == ["scan(outer)", "scan(inner)"]


def test_a_comprehension_of_tuples_is_told_by_what_it_goes_through():
    def loss(params, x):
        for W, b in params:
            x = jnp.tanh(x @ W + b)
        return jnp.mean(x)

    def train(params, x):
        value, grads = jax.value_and_grad(loss)(params, x)
        return [(W - 0.1 * gW, b - 0.1 * gb) for (W, b), (gW, gb) in zip(params, grads, strict=True)], value

    params = [(jnp.ones((2, 2)), jnp.ones(2))] * 3
    # Whether they are an update of their own depends on what tanh's derivative is made of.
    (updates,) = (row for row in outline_of(train, params, jnp.ones((4, 2))) if row.name.startswith("for "))
    assert (updates.count, updates.name[:32]) == (3, "for (W, b), (gW, gb) in zip(para")


def test_a_function_whose_body_maps_a_lambda_keeps_its_name():
    def pair(a, b):
        d = b - a
        return d / jnp.sum(d * d)

    def acceleration(x):
        around = jax.vmap(pair, in_axes=(None, 0))
        return jax.vmap(lambda one: around(one, x).sum(0))(x)

    def run(x):
        return jnp.tanh(acceleration(x)) * 2

    outline = outline_of(run, jnp.ones((5, 3)))
    assert names_inside(outline, 0) == ["acceleration", "tanh", "multiply"]


def test_the_steps_of_an_associative_scan_are_called_by_the_function_that_combines():
    def combine(left, right):
        scale = jnp.tanh(left[0]) @ right[0]
        return scale, jnp.sin(scale) @ left[1] + right[1]

    def smoothed(elements):
        return jax.lax.associative_scan(jax.vmap(combine), elements)

    outline = outline_of(smoothed, (jnp.ones((16, 3, 3)), jnp.ones((16, 3))))
    (whole,) = rows_named(outline, "associative_scan(vmap(combine))")
    assert names_inside(outline, whole.index)[:2] == ["vmap(combine) x4", "vmap(combine) x4"]


def test_a_lambda_that_hands_on_other_values_too_or_takes_one_is_told_by_what_it_calls():
    def turned(x, u):
        return jnp.sin(x) * u

    def run(x, us):
        _, seen = jax.lax.scan(lambda x, u: (turned(x, u), x), x, us)
        ends = jax.vmap(lambda x: jax.lax.scan(lambda x, u: (turned(x, u), x), x, us)[0])(seen)
        return jnp.tanh(ends), jax.lax.scan(lambda x, u: (turned(x, u), x + u), x, us)[1]

    outline = outline_of(run, jnp.ones(()), jnp.ones(4))
    names = [row.name for row in outline if row.kind in ("loop", "call") and ("(" in row.name or row.name == "scan")]
    assert list(dict.fromkeys(names)) == ["scan(turned)", "vmap(scan(turned))", "scan"]


@pytest.mark.smoke
def test_a_loop_beside_the_rest_of_its_call_on_the_way_back_is_told_by_the_call():
    def propagate(speed, wavelet, source):
        @jax.checkpoint
        def step(state, given):
            field, old = state
            new = 2 * field - old + speed**2 * jnp.roll(field, 1)
            new = new.at[source].add(given)
            return (new, field), new[1]

        zero = jnp.zeros_like(speed)
        return jax.lax.scan(step, (zero, zero), wavelet)[1]

    def misfit(model, wavelet, sources):
        speed = jax.nn.sigmoid(model)
        seen = jax.vmap(lambda source: propagate(speed, wavelet, source))(sources)
        return jnp.sum(seen**2) + jnp.sum(jnp.abs(jnp.diff(speed)))

    outline = outline_of(jax.grad(misfit), jnp.ones(4), jnp.ones(5), jnp.arange(3))
    assert {row.name for row in outline if row.kind == "loop"} == {"scan(step)"}


@pytest.mark.smoke
def test_the_axes_that_vmap_moves_after_a_loop_are_no_boxes():
    def rollout(start, pushes):
        def step(state, push):
            state = jnp.tanh(state + push)
            return state, (state, push * state)

        return jax.lax.scan(step, start, pushes)[1]

    def mapped(starts, pushes):
        states, works = jax.vmap(rollout, (0, None))(starts, pushes)
        return jnp.cos(states).sum(1), works.T

    outline = outline_of(mapped, jnp.ones((3, 2)), jnp.ones((5, 2)))
    # With them the loop were one of several things in the call.
    assert row_named(outline, "vmap(rollout)").kind == "loop"
    # That which the person wrote is one.
    assert [row.name for row in outline].count("transpose") == 1


def test_a_turn_that_begins_with_a_comprehension_is_no_turn_of_that():
    def attend(heads, x):
        q, k, v = (x @ heads[name] for name in ("q", "k", "v"))
        return x + jnp.tanh(q * k) @ v

    def encoder(layers, x):
        for heads in layers:
            x = attend(heads, x)
        return x

    layers = [{name: jnp.ones((3, 3)) for name in ("q", "k", "v")} for _ in range(4)]
    outline = outline_of(jax.grad(lambda layers, x: jnp.sum(encoder(layers, x) ** 2)), layers, jnp.ones((3, 3)))
    assert [row.name for row in outline if row.count == 4] == ["encoder"] * 2


def test_what_a_generator_of_the_person_gives_next_is_told_by_the_generator():
    def keys(key):
        while True:
            key, one = jax.random.split(key)
            yield one

    def noisy(x, key):
        rest = keys(key)
        x = x + jax.random.normal(next(rest), x.shape)
        return x * jax.random.uniform(next(rest), x.shape)

    outline = outline_of(noisy, jnp.ones(3), jax.random.key(0))
    assert names_inside(outline, 0) == ["keys", "normal", "add", "keys", "uniform", "multiply"]
