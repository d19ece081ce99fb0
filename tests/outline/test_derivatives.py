"""Forward, backward and the way back of a derivative are told apart, in phases and node by node."""

from __future__ import annotations

import functools

import jax
import jax.numpy as jnp
import pytest
from outline.outlines import names_inside, outline_of, row_named, rows_named, shown

import jaxviz as jv
from jaxviz.outline.calls.modules import parse_scope
from jaxviz.outline.phases.derivatives import derivatives_of, levels_of

X = jnp.ones(4)
W = jnp.ones((4, 4))


def energy(x):
    return jnp.sum(jnp.tanh(x @ W) ** 3)


def scalar(x):
    return jnp.sin(x) ** 2


def times_hessian(x, v):
    return jax.jvp(jax.grad(energy), (x,), (v,))[1]


def back_over_back(x, v):
    return jax.grad(lambda x: jnp.vdot(jax.grad(energy)(x), v))(x)


def loss(w, x):
    return jnp.mean(jnp.tanh(x @ w) ** 2)


def penalized(w, x):
    def whole(w, x):
        return loss(w, x) + jnp.sum(jax.grad(loss, argnums=1)(w, x) ** 2)

    return jax.grad(whole)(w, x)


def checkpointed(w, x):
    layer = jax.checkpoint(lambda w, x: jnp.tanh(jnp.sin(x @ w)))
    return jax.grad(lambda w: layer(w, layer(w, x)).sum())(w)


def norm_of_gradient(x):
    return jnp.sqrt(jnp.sum(jax.grad(energy)(x) ** 2))


def descent(x):
    return x - 0.1 * jax.grad(energy)(x)


def phases_of(fn, *arguments):
    """The phases in the order of the program, each with how many equations it has."""
    return [(row.name, row.equations) for row in outline_of(fn, *arguments) if row.kind == "phase"]


TANGENTS = ["forward with tangents", "backward with tangents"]


TOLD_TWICE = pytest.mark.skipif(
    jax.__version_info__ < (0, 7), reason="JAX 0.6 says outer derivatives twice on the inner way back"
)


@TOLD_TWICE
@pytest.mark.parametrize(
    ("fn", "arguments", "expected"),
    [
        (jax.grad(jax.grad(scalar)), (1.0,), ["forward", "backward", "second backward"]),
        (
            jax.grad(jax.grad(jax.grad(scalar))),
            (1.0,),
            ["forward", "backward", "second backward", "third backward"],
        ),
        (times_hessian, (X, X), TANGENTS),
        (jax.hessian(energy), (X,), ["before", *TANGENTS, "after"]),
        (norm_of_gradient, (X,), ["forward", "backward", "after"]),
        (descent, (X,), ["forward", "backward", "update"]),
    ],
)
def test_the_phases_of_derivatives_of_derivatives(fn, arguments, expected):
    assert [name for name, _ in phases_of(fn, *arguments)] == expected


def test_a_gradient_beside_a_hessian_does_not_undo_it():
    def kinetic(q, v):
        return jnp.sum(v**2) * jnp.cos(q[0]) + jnp.cos(q[1])

    def accelerate(q, v):
        mass = jax.hessian(kinetic, 1)(q, v)
        force = jax.grad(kinetic)(q, v) - jax.jacfwd(jax.grad(kinetic, 1))(q, v) @ v
        return jnp.linalg.solve(mass, force)

    outline = outline_of(accelerate, X[:2], X[:2])
    steps = ["hessian(kinetic)", "grad(kinetic)", "jacfwd(grad(kinetic))", "matmul", "subtract", "solve"]
    assert [name for name in names_inside(outline, 0) if name in steps] == steps


def minimized(x):
    def body(state):
        x, _value, slope = state
        x = x - 0.1 * slope
        return x, *jax.value_and_grad(energy)(x)

    return jax.lax.while_loop(lambda state: state[1] > 1e-3, body, (x, *jax.value_and_grad(energy)(x)))


def test_a_loop_that_takes_gradients_stands_beside_the_gradient_that_it_begins_with():
    outline = outline_of(minimized, X)
    assert names_inside(outline, 0) == ["value_and_grad(energy)", "while_loop"]
    for taken in rows_named(outline, "value_and_grad(energy)"):
        assert names_inside(outline, taken.index) == ["forward", "backward"]
    assert names_inside(outline, row_named(outline, "do").index) == ["multiply", "subtract", "value_and_grad(energy)"]


@pytest.mark.smoke
@pytest.mark.parametrize(("fn", "arguments"), [(jax.grad(energy), (X,)), (checkpointed, (W, X))])
def test_a_gradient_has_two_phases(fn, arguments):
    # A checkpoint differentiates what it holds again; that makes it no second derivative.
    assert [name for name, _ in phases_of(fn, *arguments)] == ["forward", "backward"]


@pytest.mark.parametrize(
    "step",
    [
        lambda w, x: w - jax.grad(jax.jit(loss))(w, x),
        lambda w, x: w - jax.value_and_grad(jax.jit(jax.checkpoint(loss)))(w, x)[1],
        lambda w, x: w - jax.vjp(jax.jit(loss), w, x)[1](1.0)[0],
    ],
)
def test_a_gradient_taken_of_a_jitted_function_has_two_phases(step):
    outline = outline_of(step, W, X)
    assert names_inside(outline, 0) == ["forward", "backward", "subtract"]
    assert outline.row(row_named(outline, "forward").twin).name == "backward"


@TOLD_TWICE
def test_the_second_way_back_holds_what_undoes_the_first_and_the_forward_pass():
    exploration = jv.explore(jax.grad(jax.grad(scalar)), 1.0)
    graph = exploration.jaxpr
    order = derivatives_of(graph).order
    for node in graph:
        if node.kind == "operation":
            scope = node.scope
            expected = 2 if scope.startswith("transpose") else 1 if "transpose" in scope else 0
            assert order[node.index] == expected, scope
    (second,) = [count for name, count in phases_of(jax.grad(jax.grad(scalar)), 1.0) if name == "second backward"]
    assert second == int((order == 2).sum())


def test_what_stands_in_a_body_is_of_the_derivative_of_its_owner():
    def looping(x):
        return jax.lax.scan(lambda c, _: (jnp.sin(c), None), x, None, length=3)[0]

    graph = jv.explore(jax.grad(looping), 1.0).jaxpr
    derivatives = derivatives_of(graph)
    bodies = {int(derivatives.order[node.index]) for node in graph if node.region and node.kind == "operation"}
    assert bodies == {0, 1}
    assert all(derivatives.derived[node.index] for node in graph if node.region)


@pytest.mark.parametrize(
    ("scope", "levels", "order"),
    [
        ("", 0, 0),
        ("Model/Dense_0", 0, 0),
        ("jvp(Model)", 1, 0),
        ("transpose(jvp(Model))/Block", 1, 1),
        ("vmap(jvp(vmap(transpose(jvp()))))", 2, 1),
        ("transpose(jvp(transpose(jvp())))", 2, 2),
        # The name of a module, not a transformation.
        ("Transpose(x)/jvp_of", 0, 0),
    ],
)
def test_name_stacks(scope, levels, order):
    assert levels_of(scope) == (levels, order)


def test_what_a_hessian_does_beside_its_phases_stands_in_its_call():
    def loss(beta, x, y):
        z = x @ beta
        return jnp.sum(jnp.logaddexp(0, z) - y * z) + 0.5 * beta @ beta

    def newton(beta, x, y):
        slope = jax.grad(loss)(beta, x, y)
        curvature = jax.hessian(loss)(beta, x, y)
        return beta - jnp.linalg.solve(curvature, slope)

    explored = jv.explore(newton, jnp.ones(4), jnp.ones((30, 4)), jnp.ones(30))
    assert [box.name for box in explored.view(width=300, height=300).closed] == [
        "grad(loss)",
        "hessian(loss)",
        "solve",
        "subtract",
    ]


def test_what_is_made_again_is_told_where_all_of_it_is_one_call():
    def layer(x, weights):
        return x + jnp.tanh(x @ weights["up"]) @ weights["down"]

    def loss(weights, x):
        step = jax.checkpoint(lambda x, one: (layer(x, one), None), policy=jax.checkpoint_policies.dots_saveable)
        return jax.lax.scan(step, x, weights)[0].sum()

    weights = {"up": jnp.ones((3, 4, 8)), "down": jnp.ones((3, 8, 4))}
    outline = outline_of(jax.grad(loss), weights, jnp.ones(4))
    again = row_named(outline, "recomputed layer", "recomputed")
    assert (again.closed, again.detail) == (True, "layer")
    # The lambda that is checkpointed says nothing; what it calls does, in the loop as on the way forward.
    assert outline.row(again.parent).name == "scan(step)"
    assert outline.row(outline.row(again.parent).twin).name == "scan(step)"
    assert names_inside(outline, again.parent) == ["recomputed layer", "layer"]


def test_a_checkpointed_call_of_several_expressions_is_one_box_that_says_what_they_are():
    def attend(x):
        scores = jnp.sin(x) * jnp.exp(x)
        return jnp.cos(scores) * scores

    def loss(x):
        return jax.checkpoint(lambda x: attend(x))(x).sum()

    outline = outline_of(jax.grad(loss), X)
    again = row_named(outline, "recomputed attend", "recomputed")
    assert (again.closed, again.detail) == (True, "scores = jnp.sin(x) * jnp.exp(x), cos")


def test_what_is_made_again_of_a_function_that_a_loop_checkpoints_is_called_by_the_function():
    def layer(x, weights):
        return x + jnp.tanh(x @ weights["up"]) @ weights["down"]

    def loss(weights, x):
        return jax.lax.scan(lambda x, one: (jax.checkpoint(layer)(x, one), None), x, weights)[0].sum()

    weights = {"up": jnp.ones((3, 4, 8)), "down": jnp.ones((3, 8, 4))}
    assert row_named(outline_of(jax.grad(loss), weights, jnp.ones(4)), "recomputed layer", "recomputed").closed


def test_what_is_made_again_of_modules_is_one_box_that_names_them():
    scope = "transpose(jvp(Net))/jvp(Net)"
    assert parse_scope(scope)[:4] == (2, ("Net",), -1, 2)
    assert parse_scope("transpose(jvp(Net))/Net")[:4] == (2, ("Net", "Net"), -1, 2)

    @jax.checkpoint
    def block(x):
        with jax.named_scope("Block_0"):
            with jax.named_scope("Dense_0"):
                x = jnp.sin(x)
                x = x * jnp.exp(x)
            with jax.named_scope("Dense_1"):
                x = jnp.cos(x)
                return x * jnp.exp(x)

    outline = outline_of(jax.grad(lambda x: block(x).sum()), jnp.ones(4))
    again = row_named(outline, "recomputed Block_0", "recomputed")
    assert (again.closed, again.detail) == (True, "Dense_0, Dense_1")


def project(w, x):
    return jnp.tanh(x @ w)


def layer(x, w):
    y = project(w, jnp.sin(x))
    return y * x, None


@pytest.mark.parametrize(
    "wrapped",
    [
        jax.checkpoint(layer),
        jax.checkpoint(layer, policy=jax.checkpoint_policies.dots_saveable),
        lambda x, w: jax.checkpoint(layer)(x, w),
    ],
    ids=["all", "dots", "lambda"],
)
def test_the_way_back_of_a_loop_whose_layer_is_made_again_is_told_as_the_way_forward(wrapped):
    def through(weights, x):
        return jnp.sum(jax.lax.scan(wrapped, x, weights)[0])

    outline = outline_of(jax.grad(through), jnp.ones((3, 4, 4)), jnp.ones((2, 4)))
    forward, backward = (row for row in outline if row.kind == "loop")
    assert forward.twin == backward.index
    assert forward.name == backward.name
    (again,) = (row for row in outline if row.kind == "recomputed")
    assert again.name in ("recomputed layer", "recomputed checkpoint(layer)")
    assert not [row.name for row in outline if "dot_general" in row.name]
    assert {"matmul", "tanh", "sin", "multiply"} <= {row.name for row in outline if row.twin > row.index}


def model(w, x):
    hidden = jnp.tanh(x @ w)
    return jnp.sum(hidden**2)


def by_all_three(w, x, v):
    _, slope = jax.jvp(lambda w: model(w, x), (w,), (v,))
    value, pull = jax.vjp(lambda w: model(w, x), w)
    (gradient,) = pull(jnp.ones_like(value))
    _, along = jax.linearize(lambda w: model(w, x), w)
    return slope + along(v), gradient


def before_the_way_back(w, x, v):
    value, pull = jax.vjp(lambda w: model(w, x), w)
    _, slope = jax.jvp(lambda w: model(w, x), (w,), (v,))
    return pull(slope)[0], value


def transposed(w, x, v):
    _, along = jax.linearize(lambda w: jnp.tanh(x @ w), w)
    return jax.linear_transpose(along, w)(along(v))


def linearized(w, x, v):
    value, along = jax.linearize(lambda w: model(w, x), w)
    return value, along(v), along(2 * v)


@pytest.mark.smoke
@pytest.mark.parametrize(
    ("fn", "expected"),
    [
        (
            by_all_three,
            [
                ("forward with tangents", "jvp"),
                ("forward", "vjp"),
                ("backward", "vjp"),
                ("forward", "linearize"),
                ("tangents", "linearize"),
            ],
        ),
        (before_the_way_back, [("forward", "vjp"), ("forward with tangents", "jvp"), ("backward", "vjp")]),
        (transposed, [("forward", "linearize"), ("tangents", "linearize"), ("backward", "linearize")]),
        (linearized, [("forward", "linearize"), ("tangents", "linearize"), ("tangents", "linearize")]),
    ],
)
def test_what_jvp_and_linearize_compute_is_told_apart_from_gradients(fn, expected):
    outline = outline_of(fn, W, X, W)
    phases = [row for row in outline if row.kind == "phase"]
    assert [(row.name, row.detail) for row in phases] == expected
    tied = {(outline.row(row.twin).name, outline.row(row.twin).detail) for row in phases if row.name == "backward"}
    assert tied == {("forward", row.detail) for row in phases if row.name == "backward"}
    assert not [row for row in outline if row.count > 1]


def test_jvp_alone_is_no_phase():
    assert phases_of(lambda w, x, v: jax.jvp(lambda w: model(w, x), (w,), (v,)), W, X, W) == []


def test_phases_of_several_derivatives_say_which_call_takes_them():
    explored = jv.explore(by_all_three, W, X, W)
    picture = explored.to_svg(width=1600, height=1200)
    assert [picture.count(f">{call}<") for call in ("vjp", "jvp")] == [2, 1]
    assert ">value_and_grad(energy)<" not in jv.explore(jax.value_and_grad(energy), X).to_svg()


def two_layers(x, weights):
    for w in weights:
        x = jnp.tanh(x @ w)
    return jax.nn.softmax(x)


def speed(x):
    return jnp.sum(jax.jacfwd(two_layers)(x, [W, W]) ** 2)


def of_rules(x):
    return jnp.sum(jax.nn.relu(jax.nn.softplus(x)) ** 2)


@pytest.mark.smoke
@pytest.mark.parametrize("fn", [jax.hessian(of_rules), lambda x: jax.hessian(of_rules)(x)])
def test_a_hessian_of_functions_with_derivatives_of_their_own_has_the_phases_of_any_other(fn):
    names = [name for name, _ in phases_of(fn, X)]
    assert [name for name in names if name not in ("before", "after")] == TANGENTS


@TOLD_TWICE
@pytest.mark.parametrize(
    "fn",
    [
        lambda x: jax.jacfwd(jax.jacrev(two_layers))(x, [W, W]),
        lambda x: jax.jacrev(jax.jacfwd(two_layers))(x, [W, W]),
        lambda x: jax.hessian(two_layers)(x, [W, W]),
    ],
)
def test_what_is_first_seen_of_a_jacobian_of_a_jacobian_is_the_function_and_what_each_does_itself(fn):
    names = {box.name for box in jv.explore(fn, X).view(width=760, height=560).closed}
    of_the_person = {"matmul", "tanh", "softmax"}
    assert of_the_person < names
    assert not [name for name in names - of_the_person if not name.endswith(" itself")]


@TOLD_TWICE
def test_the_way_back_of_a_function_that_takes_tangents_forward_is_one():
    outline = outline_of(jax.grad(speed), X)
    assert [row.name for row in outline if row.kind == "phase"] == ["forward", "backward"]
    forward, backward = (row_named(outline, name) for name in ("forward", "backward"))
    assert forward.twin == backward.index
    assert {row.name for row in outline if forward.first < row.first < forward.end and row.twin >= 0} >= {"softmax"}
    graph = jv.explore(jax.grad(speed), X).jaxpr
    assert int(derivatives_of(graph).order.max()) == 1


def test_what_is_linearized_and_pulled_back_in_every_turn_of_a_python_loop_is_one_stack_of_them():
    times = jnp.linspace(0.0, 1.0, 8)

    def residual(p):
        return p[0] * jnp.exp(-p[1] * times) - 1.0

    def curve(along, back, v):
        return back(along(v))[0]

    def descend(normal, v):
        return jax.lax.fori_loop(0, 3, lambda _, v: v - 0.1 * normal(v), normal(v))

    def fit(p):
        for _ in range(4):
            r, along = jax.linearize(residual, p)
            back = jax.linear_transpose(along, p)
            p = p - descend(functools.partial(curve, along, back), back(r)[0])
        return p

    (turns,) = shown(outline_of(fit, jnp.ones(2)), 0)
    assert turns.count == 4
    assert len(rows_named(outline_of(fit, jnp.ones(2)), "tangents")) == 4


def test_a_function_that_calls_modules_is_one_step_forward_and_one_backward():
    def forward(params, x):
        positive = x > 0
        with jax.named_scope("embed"):
            h = x @ params[0]
        h = jnp.tanh(h)
        h = jnp.sin(h) * positive
        with jax.named_scope("mlp"):
            return h @ params[1]

    def loss(params, x):
        y = forward(params, x)
        return (y**2).mean()

    outline = outline_of(jax.grad(loss), [jnp.ones((4, 4))] * 2, jnp.ones((2, 4)))
    forth, back = rows_named(outline, "forward", "call")
    assert forth.twin == back.index
    (forth, back) = rows_named(outline, "tanh")
    assert forth.twin == back.index
