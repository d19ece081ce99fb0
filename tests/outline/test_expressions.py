"""Names from the person's source, however the program is written, and wherever the source is."""

from __future__ import annotations

import functools
import linecache

import jax
import jax.numpy as jnp
import pytest
from outline.outlines import names_inside, outline_of, row_named, rows_named, shown

_X = jnp.ones((4, 8))


def test_calls_are_named_by_what_they_call_and_operators_as_jax_calls_them():
    def f(x, w):
        y = x @ w + 1.0
        y = -(jnp.where(y > 0, y[:, 0:1], jnp.sin(y)) ** 3)
        return y.T.astype(jnp.float16)

    outline = outline_of(f, _X, jnp.eye(8))
    assert names_inside(outline, 0) == [
        "matmul", "add", "greater", "index", "sin", "where", "power", "negative", "transpose"
    ]  # fmt: skip
    assert row_named(outline, "matmul").detail == "x @ w"


def test_a_statement_of_one_expression_is_that_expression_and_tells_its_variable():
    def f(x):
        h = jnp.tanh(x)
        return h * 2

    tanh, multiply = shown(outline_of(f, _X), 0)
    assert (tanh.kind, tanh.name, tanh.variable, tanh.detail) == ("expression", "tanh", "h", "h = jnp.tanh(x)")
    assert (multiply.kind, multiply.variable, multiply.detail) == ("expression", "", "h * 2")


def test_parts_of_a_long_switch_are_called_by_their_cases():
    def f(i, x):
        return jax.lax.switch(i, [functools.partial(jnp.multiply, number) for number in range(40)], x)

    parts = [row.name for row in outline_of(f, 3, _X) if row.name.startswith("cases ")]
    assert len(parts) > 2
    assert parts[-1].endswith(" to 39")


def test_a_call_of_a_function_of_several_expressions_opens():
    def hidden(x):
        return jnp.tanh(x) * 2

    def twice(x):
        return jnp.maximum(x, 0.0)

    outline = outline_of(lambda x: twice(hidden(x)), _X)
    hidden_row, twice_row = shown(outline, 0)
    assert (hidden_row.kind, hidden_row.closed, hidden_row.name) == ("call", False, "hidden")
    assert names_inside(outline, hidden_row.index) == ["tanh", "multiply"]
    # A function of one expression is known by its own name, and is one box.
    assert (twice_row.closed, twice_row.name) == (True, "twice")


def test_a_jacobian_holds_the_basis_that_it_is_taken_along():
    def residual(u):
        return jnp.roll(u, 1) * u - jnp.exp(u)

    def newton(u):
        jacobian = jax.jacfwd(residual)(u)
        return u - jnp.linalg.solve(jacobian, residual(u))

    outline = outline_of(newton, jnp.ones(4))
    assert names_inside(outline, 0) == ["jacfwd", "residual", "solve", "subtract"]
    # Nothing of it is left to the names of JAX.
    assert {row.kind for row in shown(outline, 0)} <= {"call", "expression"}


@pytest.mark.parametrize("jacobian", [jax.jacfwd, jax.jacrev])
def test_what_a_jacobian_does_itself_is_one_box_beside_what_it_is_taken_of(jacobian):
    @jax.jit
    def turned(u):
        return jnp.roll(u, 1) * u - jnp.exp(u)

    def arm(u):
        x, y = turned(u), jnp.cos(u)
        return x * y + jnp.sin(x)

    def step(u):
        jacrev = jacobian
        return u - jnp.linalg.solve(jacrev(arm)(u), arm(u))

    outline = outline_of(step, jnp.ones(4))
    itself = rows_named(outline, "jacrev itself")
    assert itself
    assert "turned" in {row.name for row in outline}
    assert not any(row.first <= turned.first < row.end for row in itself for turned in rows_named(outline, "turned"))
    inside = {
        name
        for row in outline
        if row.name in ("jacrev", "forward", "backward")
        for name in names_inside(outline, row.index)
    }
    assert not inside & {"eq", "split"}


def test_a_list_of_layers_opens_and_a_layer_of_a_library_does_not():
    from flax import linen as nn

    class Network(nn.Module):
        @nn.compact
        def __call__(self, x):
            x = nn.Sequential([nn.Dense(4), nn.relu, nn.LayerNorm(), nn.Dense(4), jnp.tanh, nn.Dense(4)])(x)
            return nn.MultiHeadDotProductAttention(2)(x, x)

    network, x = Network(), jnp.ones((2, 3, 4))
    params = network.init(jax.random.key(0), x)
    outline = outline_of(jax.grad(lambda params: network.apply(params, x).var()), params)
    forward, backward = rows_named(outline, "Sequential_0")
    assert not forward.closed
    assert not backward.closed
    assert names_inside(outline, forward.index) == [
        *("Dense_0", "relu", "LayerNorm_0"),
        *("Dense_1", "tanh +1", "Dense_2"),
    ]
    layers = shown(outline, forward.index)
    assert all(row.closed for row in layers if row.kind == "module")
    assert all(row.closed for row in rows_named(outline, "MultiHeadDotProductAttention_0"))


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


def test_decorators_are_seen_through():
    def scaled(fn):
        @functools.wraps(fn)
        def wrapper(*args):
            return fn(*args) * 2

        return wrapper

    @scaled
    def soft(x):
        return jnp.tanh(x) + 1

    def f(x):
        y = soft(x)
        return jnp.sin(y)

    outline = outline_of(f, _X)
    assert names_inside(outline, 0) == ["soft", "sin"]


def test_methods_and_objects_that_are_called():
    class Linear:
        def __init__(self, w):
            self.w = w

        def __call__(self, x):
            return x @ self.w

    class Net:
        def __init__(self):
            self.layers = [Linear(jnp.eye(8)), Linear(jnp.eye(8))]

        def head(self, x):
            x = jnp.sin(x)
            return x.mean()

        def run(self, x):
            for layer in self.layers:
                x = layer(x)
            return self.head(x)

    outline = outline_of(Net().run, _X)
    assert [row.name for row in shown(outline, 0)] == ["Linear", "head"]
    assert names_inside(outline, row_named(outline, "head").index) == ["sin", "mean"]


def test_comprehensions_are_stacks():
    def f(ws, x):
        hidden = [jnp.tanh(x @ w) for w in ws]
        return sum(h.mean() for h in hidden)

    outline = outline_of(functools.partial(f, [jnp.eye(8)] * 3), _X)
    assert names_inside(outline, 0) == ["hidden x3", "sum x3"]
    hidden = shown(outline, 0)[0]
    assert (hidden.variable, hidden.detail) == ("hidden", "hidden = [jnp.tanh(x @ w) for w in ws]")


def test_a_lambda_that_is_mapped_tells_what_it_does():
    def kernels(x):
        near = jax.vmap(lambda a: jax.vmap(lambda b: jnp.exp(-jnp.sum((a - b) ** 2)))(x))(x)
        return jax.vmap(lambda row: row / row.sum())(near)

    assert names_inside(outline_of(kernels, jnp.ones((6, 3))), 0) == ["vmap(exp)", "vmap(row / row.sum())"]


def warmer(x):
    return x * 2


@pytest.mark.parametrize("branch", [warmer, lambda x: x * 2])
def test_the_branches_of_a_condition_that_is_mapped_stand_in_the_call_that_is_mapped(branch):
    def settled(x):
        y = jnp.cos(x)
        y = jax.lax.cond(y.sum() > 0, branch, lambda x: x - 1, y)
        return jnp.exp(y)

    def program(xs):
        return jax.vmap(settled)(xs) / 3

    outline = outline_of(program, _X)
    assert names_inside(outline, 0) == ["vmap(settled)", "divide"]
    around = {"multiply": [], "subtract": []}
    for name, found in around.items():
        row = row_named(outline, name)
        while row.parent > 0:
            row = outline.row(row.parent)
            found.append(row.name)
    assert around["multiply"] == around["subtract"]
    assert "cond(y.sum() > 0)" in around["multiply"]


def test_lambdas_conditions_and_broken_lines():
    def f(x):
        soften = lambda t: jnp.tanh(t) / 2  # noqa: E731
        return jnp.where(
            x > 0,
            soften(x),
            0.0,
        )

    outline = outline_of(f, _X)
    assert row_named(outline, "where").detail == "jnp.where(x > 0, soften(x), 0.0)"
    assert names_inside(outline, row_named(outline, "soften").index) == ["tanh", "divide"]


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
    assert {"index", "sin", "multiply"} <= set(names_inside(outline, own.index))


@pytest.fixture
def cell(monkeypatch):
    """Runs code as a notebook cell: its source is in `linecache` alone."""

    def run(code, name="<ipython-input-7-0123456789ab>"):
        lines = [line + "\n" for line in code.splitlines()]
        monkeypatch.setitem(linecache.cache, name, (len(code), None, lines, name))
        namespace = {"jnp": jnp, "jax": jax}
        exec(compile(code, name, "exec"), namespace)
        return namespace

    return run


def test_notebook_cells_with_letters_beyond_ascii(cell):
    code = "x0 = 1\ndef f(x):\n    größe = jnp.sin(x); y = 'äöü' and jnp.cos(größe)\n    return y @ y.T\n"
    outline = outline_of(cell(code)["f"], _X)
    assert names_inside(outline, 0) == ["sin", "cos", "transpose", "matmul"]
    assert row_named(outline, "sin").variable == "größe"


def test_without_source_there_are_structure_and_operations():
    namespace = {"jnp": jnp}
    exec(
        compile("def f(x):\n    for _ in range(9):\n        x = jnp.sin(x)\n    return x @ x.T\n", "<gone>", "exec"),
        namespace,
    )
    outline = outline_of(namespace["f"], _X)
    assert names_inside(outline, 0) == ["sin x9", "transpose", "dot_general"]
    assert rows_named(outline, "dot_general")[0].detail == "line 4"


def test_what_has_no_structure_is_cut_in_parts_of_lines():
    body = "\n".join(f"    v{i + 1} = jnp.{'sin' if i % 3 else 'cos'}(v{i}) * v{max(i - 2, 0)}" for i in range(60))
    name = "<long>"
    code = f"def f(v0):\n{body}\n    return v60\n"
    linecache.cache[name] = (len(code), None, [line + "\n" for line in code.splitlines()], name)
    namespace = {"jnp": jnp}
    exec(compile(code, name, "exec"), namespace)
    outline = outline_of(namespace["f"], _X)
    parts = shown(outline, 0)
    assert 3 <= len(parts) <= 8
    assert {part.kind for part in parts} == {"part"}
    assert parts[0].name.startswith("lines 2-")


def test_an_expression_beside_the_modules_of_a_function_has_its_own_name():
    def network(w, x):
        with jax.named_scope("dense"):
            x = jnp.tanh(x @ w)
            x = jnp.sin(x @ w)
        return x.mean(0)

    def loss(w, x):
        out = network(w, x)
        return jnp.sum(out)

    assert names_inside(outline_of(loss, jnp.eye(8), _X), 0) == ["dense", "mean", "sum"]


def test_an_expression_apart_from_the_others_of_its_function_has_its_own_name():
    def block(x):
        with jax.named_scope("Attention"):
            mixed = jnp.tanh(x @ x.T) @ x
        x = x + mixed
        with jax.named_scope("Gate"):
            kept = jnp.sin(x @ x.T) @ x
        return x - kept

    outline = outline_of(lambda x: jnp.exp(block(x)), _X)
    assert [name for name in names_inside(outline, 0) if name == "block"] == []
    assert [row_named(outline, name).kind for name in ("add", "subtract")] == ["expression", "expression"]


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


def test_a_call_that_modules_cut_into_pieces_leaves_its_statements_beside_them():
    def linear(x):
        with jax.named_scope("Linear"):
            return x @ jnp.eye(4)

    def block(x):
        y = linear(x)
        kept = jnp.sin(y) + x
        y = linear(kept)
        return jnp.cos(y) * kept

    outline = outline_of(lambda x: block(x).sum(), jnp.ones((3, 4)))
    assert names_inside(outline, 0) == ["Linear", "sin", "add", "Linear", "cos", "multiply", "sum"]
    assert not rows_named(outline, "block")


def test_a_loop_of_steps_with_gradients_is_called_by_its_head_on_the_way_back_too():
    def loss(params, x):
        return jnp.mean(jnp.tanh(x @ params["w"] + params["b"]) ** 2)

    def adapt(params, x):
        for _ in range(2):
            slope = jax.grad(loss)(params, x)
            params = {name: value - 0.1 * slope[name] for name, value in params.items()}
        return params

    params, x = {"w": jnp.eye(4), "b": jnp.zeros(4)}, jnp.ones((3, 4))
    outline = outline_of(jax.grad(lambda params: loss(adapt(params, x), x)), params)
    assert [loop.count for loop in rows_named(outline, "for _ in range(2)")] == [2, 2]
    assert not rows_named(outline, "for name, value in params.items()")


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


@pytest.mark.smoke
def test_what_every_device_does_is_the_body_of_the_pmap():
    mapped = jax.pmap(lambda x: jnp.sin(x) * 2.0, axis_name="devices")
    outline = outline_of(mapped, jnp.ones((1, 4)))
    assert rows_named(outline, "sin")
    assert {row.name for row in outline if row.kind == "body"} <= {"pmap"}
