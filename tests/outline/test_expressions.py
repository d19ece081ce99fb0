"""Names from the person's source, however the program is written, and wherever the source is."""

from __future__ import annotations

import functools
import linecache

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.sharding import Mesh, PartitionSpec
from outline.outlines import names_inside, outline_of, row_named, rows_named, shown

try:
    from jax import shard_map
except ImportError:
    from jax.experimental.shard_map import shard_map

_X = jnp.ones((4, 8))


def test_calls_are_named_by_what_they_call_and_operators_as_jax_calls_them():
    def f(x, w):
        y = x @ w + 1.0
        y = -(jnp.where(y > 0, y[:, 0:1], jnp.sin(y)) ** 3)
        return y.T.astype(jnp.float16)

    outline = outline_of(f, _X, jnp.eye(8))
    assert names_inside(outline, 0) == [
        "matmul", "add", "greater", "y[:, 0:1]", "sin", "where", "power", "negative", "transpose"
    ]  # fmt: skip
    assert row_named(outline, "matmul").detail == "x @ w"


def test_a_statement_of_one_expression_is_that_expression_and_tells_its_variable():
    def f(x):
        h = jnp.tanh(x)
        return h * 2

    tanh, multiply = shown(outline_of(f, _X), 0)
    assert (tanh.kind, tanh.name, tanh.variable, tanh.detail) == ("expression", "tanh", "h", "h = jnp.tanh(x)")
    assert (multiply.kind, multiply.variable, multiply.detail) == ("expression", "", "h * 2")


def test_what_one_statement_assigns_to_several_variables_is_told_apart_by_them():
    def encode(x):
        return jnp.sin(x) * 2 + x

    def f(x, y):
        a, b = encode(x), encode(y)
        (c, d), e = jnp.split(a, 2), encode(b)
        return a @ b.T, c + d, e

    calls = rows_named(outline_of(f, _X, _X), "encode")
    assert [row.variable for row in calls] == ["a", "b", "e"]


def test_a_statement_that_returns_several_things_is_those_that_it_computes():
    def f(x, y):
        spread = jnp.cos(x)
        return spread, (x, None), jnp.sin(y) * jnp.exp(x) - 1.0

    def g(x):
        x = jnp.cos(x)
        return x * 2 + 1, jnp.sin(x) * 3

    statements = [row.name for row in outline_of(f, _X, _X) if row.kind == "statement"]
    assert statements == ["jnp.sin(y) * jnp.exp(x) - 1.0"]
    assert [row.name for row in outline_of(g, _X) if row.kind == "statement"] == ["x * 2 + 1, jnp.sin(x) * 3"]


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
    assert names_inside(outline, 0) == ["jacfwd(residual)", "residual", "solve", "subtract"]
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
        if row.name in ("jacrev(arm)", "forward", "backward")
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


def test_a_recurrent_network_of_a_library_opens_to_its_cell_and_does_not_tell_it_again():
    from flax import linen as nn

    class Network(nn.Module):
        @nn.compact
        def __call__(self, x):
            return nn.RNN(nn.GRUCell(6))(x)

    network, x = Network(), jnp.ones((2, 5, 3))
    params = network.init(jax.random.key(0), x)
    outline = outline_of(network.apply, params, x)
    (loop,) = [row for row in outline if row.kind == "loop"]
    assert not loop.closed
    (cell,) = shown(outline, loop.index)
    assert cell.kind == "module"
    assert {"ir", "hn"} <= {row.name for row in outline if cell.first <= row.first < cell.end}
    # What the cell itself does stands beside the layers that it calls.
    assert "GRUCell" not in {row.name for row in outline}


def test_what_a_library_calls_by_one_letter_is_told_by_what_it_does():
    import equinox as eqx

    mlp = eqx.nn.MLP(3, 2, 4, 1, key=jax.random.key(0))
    outline = outline_of(eqx.filter_grad(lambda mlp, x: jnp.sum(jax.vmap(mlp)(x))), mlp, jnp.ones((5, 3)))
    names = {row.name for row in outline}
    assert "relu" in names
    assert not [name for name in names if len(name) == 1]


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


def test_a_module_that_is_put_together_to_be_called_is_called_by_what_it_gives():
    def merge(structure, w):
        def called(x):
            y = structure(x @ w)
            return jnp.sin(y)

        return called

    def f(w, x):
        logits = merge(jnp.tanh, w)(x[1:])
        return logits * 2

    outline = outline_of(f, jnp.eye(8), _X)
    assert [row.name for row in shown(outline, 0)] == ["x[1:]", "logits", "multiply"]


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


def test_functions_far_apart_in_one_file_have_names(cell):
    helper = "def scaled(x):\n    return x * 2.0\n"
    far = cell(f"{helper}{2100 * chr(10)}def f(x):\n    return jnp.mean(scaled(x) - 1.0)\n", "<far apart>")["f"]
    assert names_inside(outline_of(far, _X), 0) == ["scaled", "subtract", "mean"]


def test_without_source_there_are_structure_and_operations():
    namespace = {"jnp": jnp}
    exec(
        compile("def f(x):\n    for _ in range(9):\n        x = jnp.sin(x)\n    return x @ x.T\n", "<gone>", "exec"),
        namespace,
    )
    outline = outline_of(namespace["f"], _X)
    assert names_inside(outline, 0) == ["sin x9", "transpose", "dot_general"]
    assert rows_named(outline, "dot_general")[0].detail == "line 4"


@pytest.mark.smoke
def test_what_every_device_does_is_the_body_of_the_pmap():
    mapped = jax.pmap(lambda x: jnp.sin(x) * 2.0, axis_name="devices")
    outline = outline_of(mapped, jnp.ones((1, 4)))
    assert rows_named(outline, "sin")
    assert {row.name for row in outline if row.kind == "body"} <= {"pmap"}


def test_a_function_that_is_one_region_is_not_told_twice():
    @jax.jit
    @functools.partial(
        shard_map,
        mesh=Mesh(np.array(jax.devices()[:1]), ("data",)),
        in_specs=PartitionSpec("data"),
        out_specs=PartitionSpec(),
    )
    def spread(x):
        y = jnp.tanh(x)
        return jax.lax.psum(y.sum(), "data")

    outline = outline_of(lambda x: spread(x) * 2, _X)
    spread_row = row_named(outline, "spread")
    assert spread_row.kind == "body"
    assert names_inside(outline, spread_row.index) == ["tanh", "sum", "psum"]


def test_what_each_device_does_is_told_by_the_function_also_where_the_call_is_of_a_variable():
    def scaled(x):
        return jnp.tanh(x) * jax.lax.psum(x.sum(), "data")

    mesh = Mesh(np.array(jax.devices()[:1]), ("data",))
    on_each = shard_map(scaled, mesh=mesh, in_specs=PartitionSpec("data"), out_specs=PartitionSpec("data"))
    outline = outline_of(jax.grad(lambda x: jnp.sum(on_each(x) * 2)), _X)
    forward, backward = rows_named(outline, "scaled")
    assert forward.kind == backward.kind == "body"
    assert forward.twin == backward.index
    assert not rows_named(outline, "on_each")


def test_what_an_operation_gives_is_taken_apart_in_its_box():
    def noisy(key, x):
        one, other, last = jax.random.split(key, 3)
        left, right = jnp.tanh(x)
        return left * jax.random.normal(one), right * jax.random.normal(other), jax.random.normal(last)

    outline = outline_of(noisy, jax.random.key(0), jnp.ones((2, 4)))
    split, tanh = (row_named(outline, name, "expression") for name in ("split", "tanh"))
    assert "one, other, last" in names_inside(outline, split.index)
    assert "left, right" in names_inside(outline, tanh.index)
    assert {row_named(outline, name).kind for name in ("one, other, last", "left, right")} == {"function"}


def test_what_is_made_while_it_is_taken_apart_is_no_unpacking():
    def scaled(x, w):
        largest = jnp.max(jnp.abs(w))
        return (x @ (w / largest)) * largest

    def halves(x):
        yield jnp.sin(x) * 2
        yield jnp.cos(jnp.tanh(x))

    def projected(weights, x):
        q, k, v = (scaled(x, w).reshape(4, 2, 4) for w in weights)
        left, right = halves(x)
        return q * k + v, left @ right.T

    outline = outline_of(projected, [_X.T @ _X] * 3, _X)
    made, called = (outline.row(row) for row in outline.children[0][:2])
    assert (made.name[:20], made.count) == ("q, k, v = (scaled(x,", 3)
    assert called.name == "halves"
    assert not rows_named(outline, "q, k, v") + rows_named(outline, "left, right")


def test_calls_of_one_function_beside_each_other_are_all_told_by_what_they_are_assigned_to():
    def slope(x):
        return jnp.sin(x) * jnp.cos(x)

    def step(field, x):
        k1 = field(x)
        k2 = field(x + 0.5 * k1)
        k3 = field(jnp.tanh(x - k1 + 2 * k2))
        end = x + (k1 + k2 + k3) / 3
        error = field(end)
        return end, error

    outline = outline_of(lambda x: step(slope, x), jnp.ones(4))
    calls = ["k1 = field(x)", "k2 = field(x + 0.5 * k1)", "k3 = field(jnp.tanh(x - k1 + 2 * k2))"]
    around = outline.row(row_named(outline, calls[0]).parent)
    names = [row.name for row in map(outline.row, outline.children[around.index])]
    assert names == [*calls, "end = x + (k1 + k2 + k3) / 3", "error = field(end)"]
    # Calls that stand alone are called by their function.
    alone = outline_of(lambda x: step(slope, x)[0] + slope(jnp.exp(x)), jnp.ones(4))
    assert "slope" in names_inside(alone, 0)


def test_a_gradient_beside_another_one_in_a_statement_is_told_by_its_function_not_by_its_text():
    def cost(x, scale):
        return jnp.sum(jnp.sin(x) ** 2) * scale, scale

    def one(x):
        (value, scale), slope = jax.value_and_grad(cost, has_aux=True)(x, 2.0)
        return value, scale, slope

    def both(xs):
        values, _, slopes = jax.vmap(one)(xs)
        values = values + jax.vmap(one)(xs * 2.0)[0]
        return values, slopes

    outline = outline_of(both, _X)
    calls = [row.name for row in outline if row.kind == "call" and row.detail.startswith("jax.value_and_grad")]
    assert calls == ["value_and_grad(cost)"] * 2


def test_indexing_is_told_by_what_is_taken_of_which_array():
    def f(params, ids, i):
        rows = params["embed"]["tokens"][ids]
        return rows[i, None] * 2, jnp.sort(rows)[i], params["layers"][0][ids, i]

    values = {"embed": {"tokens": _X}, "layers": [_X]}
    outline = outline_of(f, values, jnp.array([0, 2]), np.int32(1))
    told = {row.name for row in outline if row.name.endswith("]") and row.kind != "statement"}
    assert told == {"tokens[ids]", "rows[i, None]", "…[i]", "layers[0][ids, i]"}


def test_what_is_called_out_of_several_is_told_by_which_it_is():
    steps = [lambda x: jnp.sin(x) * x, lambda x: jnp.cos(x) + x]
    heads = {"policy": lambda x: jnp.tanh(x) - x, "value": lambda x: jnp.exp(x) / x}

    def f(x, which=0):
        h = steps[1](steps[0](x))
        return heads["policy"](h), heads["value"](h), steps[which](h)

    assert names_inside(outline_of(f, _X), 0) == ["steps[0]", "steps[1]", "policy", "value", "steps"]
