"""Dead code is found with its lines; what is needed, and what only a derivative left over, is not."""

from __future__ import annotations

import sysconfig
from dataclasses import replace

import jax
import jax.numpy as jnp
import pytest
from find.found import found, line_numbers, the
from jax import lax
from jax.scipy import optimize

from jaxviz.exploration import explore
from jaxviz.find import dead


def forgotten(x):
    y = jnp.sin(x) * 2
    z = jnp.cos(y) + 3  # noqa: F841
    return x + 1


def in_a_body(x):
    def body(carry, _):
        unused = jnp.exp(carry) + jnp.tanh(carry)  # noqa: F841
        return carry * 2, None

    return lax.scan(body, x, None, length=3)[0]


def twice(x):
    a = jnp.sin(x)  # noqa: F841
    b = x * 2
    c = jnp.exp(x)  # noqa: F841
    return b


def long(x):
    y = x
    for _ in range(600):
        y = y * 1.01 + 0.1
    return x


def test_what_belongs_together_is_told_together():
    finding = the("dead", forgotten, 1.0)
    assert finding.severity == "advice"
    assert line_numbers(finding, forgotten) == [1, 2]
    assert finding.figures == {"equations": 4, "flops": 4}
    assert "4 equations that no result needs" in finding.title


def differentiated_and_left(x):
    def loss(x):
        y = jnp.sin(x)
        left = jnp.cos(x) * 3  # noqa: F841
        return y.sum()

    return jax.value_and_grad(loss)(x)


def gradient_that_is_left(x):
    left = jax.grad(lambda x: jnp.cos(x).sum())(x)  # noqa: F841
    return x * 2


@pytest.mark.parametrize(("fn", "line"), [(differentiated_and_left, 3), (gradient_that_is_left, 1)])
def test_a_value_and_its_derivative_are_told_as_one(fn, line):
    finding = the("dead", fn, jnp.ones(4))
    assert line_numbers(finding, fn) == [line]
    assert len(finding.nodes) == finding.figures["equations"] >= 3


def measured_and_left(x):
    norm = jnp.linalg.norm(x)  # noqa: F841
    return x + 1


def scaled_and_measured(x):
    spread = jnp.linalg.norm(jnp.sin(x) * 3)  # noqa: F841
    return x + 1


@pytest.mark.parametrize(("fn", "equations"), [(measured_and_left, 3), (scaled_and_measured, 5)])
def test_what_a_jitted_function_of_jax_computes_for_nothing_is_told_where_it_is_called(fn, equations):
    # It was traced for another line before.
    explore(lambda x: jnp.linalg.norm(x), jnp.ones(4))
    finding = the("dead", fn, jnp.ones(4))
    assert line_numbers(finding, fn) == [1]
    assert finding.figures["equations"] == equations == len(finding.nodes)


def test_dead_code_in_the_body_of_a_loop():
    finding = the("dead", in_a_body, 1.0)
    assert line_numbers(finding, in_a_body) == [2]
    # Three equations, in each of three turns.
    assert finding.figures == {"equations": 3, "flops": 9}


def test_what_does_not_belong_together_is_told_apart():
    assert sorted(line_numbers(finding, twice)[0] for finding in found("dead", twice, 1.0)) == [1, 3]


def test_a_thousand_dead_equations_are_a_warning():
    assert the("dead", long, 1.0).severity == "warning"


def test_what_tracing_it_took_is_said_where_one_notices():
    exploration = explore(long, 1.0)
    subject = replace(exploration._subject, trace_seconds=3.0)
    (finding,) = dead.find(subject)
    assert "Tracing it took about 3 s." in finding.text
    (finding,) = dead.find(replace(subject, trace_seconds=0.01))
    assert "Tracing" not in finding.text


def loss(w, x):
    return jnp.mean((x @ w - 1.0) ** 2)


def _printing(x):
    jax.debug.print("{}", jnp.sin(x))
    return x * 2


def with_metrics(w, x):
    hidden = jnp.tanh(x @ w)
    hits = (hidden.argmax(-1) == 0).mean()  # noqa: F841
    _spread, _ = hidden.std(), hidden.max()
    return (hidden**2).mean()


def test_in_a_gradient_what_the_source_does_not_use_is_told_and_its_value_is_not():
    findings = found("dead", jax.grad(with_metrics), jnp.ones((4, 4)), jnp.ones((8, 4)))
    assert {number for finding in findings for number in line_numbers(finding, with_metrics)} == {2, 3}


def with_a_gradient(w, x):
    slope = jax.grad(loss)(w, x)  # noqa: F841
    return loss(w, x)


def with_a_slope(x):
    slope = jax.vmap(jax.grad(lambda v: jnp.sin(v) ** 2))(x)  # noqa: F841
    return x * 2


def with_both(w, x):
    value, _slope = jax.value_and_grad(loss)(w, x)
    return value


def with_a_checked_gradient(w, x):
    slope = jax.grad(loss)(w, x)
    return loss(w, x), slope.shape[0]


@pytest.mark.parametrize(
    ("fn", "lines"), [(with_a_gradient, {1}), (with_a_slope, {1}), (with_both, {1}), (with_a_checked_gradient, set())]
)
def test_a_gradient_that_nothing_reads_is_told_where_it_is_asked_for(fn, lines):
    arguments = (jnp.ones(4),) if fn is with_a_slope else (jnp.ones((4, 4)), jnp.ones((8, 4)))
    findings = found("dead", fn, *arguments)
    assert {number for finding in findings for number in line_numbers(finding, fn)} == lines


def costly(x, w):
    y = x @ w  # noqa: F841
    return x


def turns(x):
    lax.fori_loop(0, 1000, lambda _, c: jnp.sin(c) * 1.1, x)
    return x + 1


@pytest.mark.parametrize(
    ("fn", "arguments", "said"),
    [
        (costly, (jnp.ones((512, 512)), jnp.ones((512, 512))), "Executed, it would take 268 MFLOP."),
        (turns, (jnp.ones((64, 64)),), "Executed, it would take 8.19 MFLOP."),
    ],
)
def test_what_it_would_cost_is_told_where_it_is_much(fn, arguments, said):
    assert said in the("dead", fn, *arguments).text


def not_assigned(x):
    x.at[0].set(5.0)
    return x * 2


@pytest.mark.parametrize("fn", [not_assigned, jax.grad(lambda x: not_assigned(x).sum())])
def test_an_update_that_is_not_assigned_is_told_with_how_to_assign_it(fn):
    finding = the("dead", fn, jnp.ones(3))
    assert line_numbers(finding, not_assigned) == [1]
    assert "x = x.at[...]" in finding.remedy


def _sums(a, b):
    return jnp.sum(jnp.exp(a)) + jnp.sum(jnp.cos(b))


def _products(a, b):
    return jnp.sum(jnp.tanh(a * 2) * jnp.tanh(b * 3))


def _two_layers(parameters, x):
    return jnp.mean(jnp.tanh(jnp.tanh(x @ parameters["first"]) @ parameters["second"]) ** 2)


def _last_layer_trained(parameters, x):
    slopes = jax.grad(_two_layers)(parameters, x)
    return dict(parameters, second=parameters["second"] - 0.1 * slopes["second"])


def _one_slope_beside_the_value(a, b):
    value, (_, slope) = jax.value_and_grad(_products, argnums=(0, 1))(a, b)
    return value, slope


_TWO = (jnp.ones(3), jnp.ones(3))
_FIRST_AND_SECOND = {"first": jnp.ones((4, 4)), "second": jnp.ones((4, 4))}


def _size_of_a_product(x):
    y = jnp.exp(x) @ x.T
    rows = y.shape[0]
    return x * rows


def _size_at_once(x):
    rows = (x @ x.T).shape[0]
    return x * rows


def _asserted(x):
    assert jnp.exp(x).dtype == x.dtype
    return x


def _like_a_product(x):
    return jnp.zeros_like(jnp.exp(x) @ x.T) + x.sum()


def _named_again(x):
    y = jnp.sort(x)
    y = jnp.cumsum(x)
    return y * y.shape[0]


def test_what_is_given_a_new_value_before_it_is_read_is_not_for_its_shape():
    assert "Return it" in the("dead", _named_again, jnp.ones(3)).remedy


@pytest.mark.parametrize("fn", [_size_of_a_product, _size_at_once, _asserted, _like_a_product])
def test_what_is_computed_for_its_shape_has_a_cure_that_keeps_the_shape(fn):
    finding = the("dead", fn, jnp.ones((3, 4)))
    assert "jax.eval_shape" in finding.remedy
    assert "eval_shape" not in the("dead", costly, jnp.ones((3, 4)), jnp.ones((4, 4))).remedy


INNOCENT = {
    "one of two gradients of a product": (lambda a, b: jax.grad(_products, argnums=(0, 1))(a, b)[0], _TWO),
    "one of two gradients of a sum": (lambda a, b: jax.grad(_sums, argnums=(0, 1))(a, b)[0], _TWO),
    "a value and one of two gradients": (_one_slope_beside_the_value, _TWO),
    "a layer that is not trained": (_last_layer_trained, (_FIRST_AND_SECOND, jnp.ones((3, 4)))),
    "arrays like a piece of another": (lambda x: jnp.zeros_like(x[1:]) + jnp.ones(x[:2].shape), (jnp.eye(3),)),
    "all of it needed": (lambda x: jnp.sin(x) + 1, (1.0,)),
    "the value of a loss whose gradient is asked for": (jax.grad(loss), (jnp.ones(3), jnp.ones((4, 3)))),
    "value and gradient": (jax.value_and_grad(loss), (jnp.ones(3), jnp.ones((4, 3)))),
    "singular values alone": (lambda x: jnp.linalg.svd(x)[1].sum(), (jnp.eye(3),)),
    "the largest alone": (lambda x: lax.top_k(x, 2)[0], (jnp.ones(8),)),
    "an array whose shape alone is used": (lambda x: x + jnp.zeros((3,)).shape[0], (1.0,)),
    "what is printed": (_printing, (1.0,)),
    "a loop whose last turn is needed": (lambda x: lax.fori_loop(0, 5, lambda i, c: c * i, x), (1.0,)),
    "a checkpointed gradient": (jax.grad(jax.checkpoint(lambda x: jnp.sin(jnp.sin(x)))), (1.0,)),
    "a loop that JAX has written": (
        lambda x: optimize.minimize(lambda x: ((x - 1) ** 2).sum(), x, method="BFGS").x,
        (jnp.ones(3),),
    ),
    "a Hessian": (jax.hessian(lambda x: jnp.sum(jnp.sin(x) ** 2)), (jnp.ones(3),)),
}


def test_what_a_library_keeps_of_a_call_is_left_alone():
    kept = []
    library = {"jnp": jnp, "kept": kept}
    source = "def sample(x):\n    kept.append(jnp.sum(x * x))\n"
    exec(compile(source, f"{sysconfig.get_path('purelib')}/somewhere/handlers.py", "exec"), library)

    def density(x, y):
        library["sample"](x)
        library["sample"](y)
        return sum(kept[-2:])

    # What does not depend on x is no part of the gradient.
    assert found("dead", jax.grad(density), jnp.ones(3), jnp.ones(4)) == []


def test_what_a_library_checks_is_left_alone_where_its_result_is_used():
    library = {"jnp": jnp}
    source = "def checked(x, scale):\n    (scale > 0).all() & (scale == scale).all()\n    return x * 2\n"
    exec(compile(source, f"{sysconfig.get_path('purelib')}/somewhere/checks.py", "exec"), library)

    def used(x):
        y = library["checked"](x, jnp.exp(x))
        return y + 1

    def unused(x):
        y = library["checked"](x, jnp.exp(x))  # noqa: F841
        return x + 1

    # What is put in is not needed either: the library alone knows why.
    assert found("dead", used, jnp.ones(3)) == []
    assert found("dead", unused, jnp.ones(3))


def activated(w, x):
    h = jnp.tanh(x @ w)
    return x + jax.nn.gelu(h)


def test_what_functions_without_a_name_give_is_left_alone():
    w, x = jnp.eye(3), jnp.ones((4, 3))
    step = jax.jit(lambda w, x: jax.grad(lambda w: activated(w, x).sum())(w))
    assert found("dead", step, w, x) == []
    assert found("dead", jax.jit(lambda w, x: jax.grad(lambda w: activated(w, x).sum())(w)), w, x) == []


@pytest.mark.parametrize("name", INNOCENT)
def test_what_is_needed_is_left_alone(name):
    fn, arguments = INNOCENT[name]
    assert found("dead", fn, *arguments) == []


def with_a_history(x):
    def body(carry, _):
        x, history = carry
        history = jnp.tanh(history) * 0.9 + x
        return (jnp.sin(x), history), None

    (x, _), _ = lax.scan(body, (x, x), None, length=10)
    return x


def with_a_norm(x):
    def body(i, carry):
        x, norm = carry
        return x * 1.1, norm + jnp.sum(x**2)

    return lax.fori_loop(0, 10, body, (x, 0.0))[0]


def until_ten(x):
    def turn(state):
        i, x, unread = state
        return i + 1, jnp.sin(x), jnp.exp(unread) * 2

    return lax.while_loop(lambda state: state[0] < 10, turn, (0, x, x))[1]


def handed_to_and_fro(x):
    def body(carry, _):
        x, one, other = carry
        return (jnp.sin(x), jnp.tanh(other) * 0.9 + x, jnp.cos(one)), None

    return lax.scan(body, (x, x, x), None, length=10)[0][0]


@pytest.mark.parametrize(
    ("fn", "names", "line", "equations"),
    [
        (with_a_history, ["carry[1]"], 3, 3),
        (jax.jit(with_a_history), ["carry[1]"], 3, 3),
        (with_a_norm, ["carry[1]"], 3, 3),
        (until_ten, ["[2]"], 3, 2),
        (handed_to_and_fro, ["carry[1]", "carry[2]"], 3, 4),
    ],
)
def test_what_a_loop_carries_and_nothing_reads_is_told(fn, names, line, equations):
    finding = the("dead", fn, jnp.ones(8))
    goes = "are" if names[1:] else "is"
    assert f" {goes} carried round a loop and never read" in finding.title
    # Versions of JAX call what is carried round a loop differently, and differ in what they convert.
    assert all(name in finding.title for name in names)
    assert line_numbers(finding, getattr(fn, "__wrapped__", fn)) == [line]
    assert equations <= finding.figures["equations"] <= equations + 1


def read_by_another(x):
    def body(carry, _):
        x, other = carry
        return (jnp.sin(x) + other, jnp.tanh(other) * 0.9 + x), None

    return lax.scan(body, (x, x), None, length=10)[0][0]


def read_by_the_end(x):
    return lax.while_loop(lambda s: s[0].sum() < 10, lambda s: (s[0] * 1.1, jnp.sin(s[1])), (x, x))[1]


def printed(x):
    def body(carry, _):
        x, other = carry
        other = jnp.tanh(other)
        jax.debug.print("{}", other)
        return (jnp.sin(x), other), None

    return lax.scan(body, (x, x), None, length=10)[0][0]


def collected(x):
    def body(carry, _):
        x, other = carry
        return (jnp.sin(x), jnp.cos(other)), jnp.tanh(other) + x

    return lax.scan(body, (x, x), None, length=10)[1]


@pytest.mark.parametrize(
    "fn",
    [
        read_by_another,
        read_by_the_end,
        printed,
        lambda x: collected(x).sum(),
        lambda x: lax.fori_loop(0, 10, lambda i, c: jnp.sin(c), x),
        lambda x: lax.scan(lambda c, _: ((jnp.sin(c[0]), c[0] * 2), None), (x, x), None, length=3)[0],
        jax.grad(lambda x: read_by_another(x).sum()),
    ],
)
def test_what_a_loop_carries_for_something_is_left_alone(fn):
    assert found("dead", fn, jnp.ones(8)) == []


def by_a_rule_of_its_own(w, x):
    @jax.custom_vjp
    def layer(x):
        return jnp.tanh(x @ w)

    layer.defvjp(lambda x: (layer(x), x), lambda x, g: (g @ w.T,))
    return jax.grad(lambda x: layer(x).sum())(x)


def test_what_the_rule_of_a_custom_derivative_calls_for_its_value_alone_is_left_alone():
    assert found("dead", by_a_rule_of_its_own, jnp.ones((4, 4)), jnp.ones((8, 4))) == []


@pytest.mark.parametrize(
    ("fn", "flops"),
    [
        (jnp.linalg.cholesky, 100**3 / 3),
        (jnp.linalg.qr, 8 / 3 * 100**3),
        (jnp.linalg.eigh, 9 * 100**3),
        (jnp.linalg.svd, 21 * 100**3),
        # The decomposition, and two triangular solves.
        (lambda x: jnp.linalg.solve(x, x), (2 / 3 + 2) * 100**3),
    ],
)
def test_linear_algebra_that_no_result_needs_is_told_with_what_it_would_take(fn, flops):
    def dropping(x):
        dropped = fn(x)  # noqa: F841
        return x + 1

    assert the("dead", dropping, jnp.eye(100)).figures["flops"] == pytest.approx(flops, rel=0.2)


def test_what_is_dead_in_a_loop_would_take_its_time_in_each_turn():
    def scanned(xs):
        return jax.lax.scan(lambda c, x: (c + x.sum(), x @ x), 0.0, xs)[0]

    assert the("dead", scanned, jnp.ones((50, 8, 8))).figures["flops"] == 50 * 2 * 8**3
