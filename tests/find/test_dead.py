"""Dead code is found with its lines; what is needed, and what only a derivative left over, is not."""

from __future__ import annotations

from dataclasses import replace

import jax
import jax.numpy as jnp
import pytest
from find.found import found, line_numbers, the
from jax import lax

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
    assert finding.figures == {"equations": 4}
    assert "4 equations that no result needs" in finding.title


def test_dead_code_in_the_body_of_a_loop():
    finding = the("dead", in_a_body, 1.0)
    assert line_numbers(finding, in_a_body) == [2]
    assert finding.figures == {"equations": 3}


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


INNOCENT = {
    "all of it needed": (lambda x: jnp.sin(x) + 1, (1.0,)),
    "the value of a loss whose gradient is asked for": (jax.grad(loss), (jnp.ones(3), jnp.ones((4, 3)))),
    "value and gradient": (jax.value_and_grad(loss), (jnp.ones(3), jnp.ones((4, 3)))),
    "singular values alone": (lambda x: jnp.linalg.svd(x)[1].sum(), (jnp.eye(3),)),
    "the largest alone": (lambda x: lax.top_k(x, 2)[0], (jnp.ones(8),)),
    "an array whose shape alone is used": (lambda x: x + jnp.zeros((3,)).shape[0], (1.0,)),
    "what is printed": (_printing, (1.0,)),
    "a loop whose last turn is needed": (lambda x: lax.fori_loop(0, 5, lambda i, c: c * i, x), (1.0,)),
    "a checkpointed gradient": (jax.grad(jax.checkpoint(lambda x: jnp.sin(jnp.sin(x)))), (1.0,)),
    "a Hessian": (jax.hessian(lambda x: jnp.sum(jnp.sin(x) ** 2)), (jnp.ones(3),)),
}


@pytest.mark.parametrize("name", INNOCENT)
def test_what_is_needed_is_left_alone(name):
    fn, arguments = INNOCENT[name]
    assert found("dead", fn, *arguments) == []
