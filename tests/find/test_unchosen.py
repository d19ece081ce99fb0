"""What XLA removes because nothing chooses it is told, with the pass and what it would have cost."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from find.found import found, line_numbers, the

from jaxviz.exploration import explore
from jaxviz.find import unchosen

X = jnp.ones((200, 200))
W = jnp.full((200, 200), 0.01)
COUNTS = jnp.arange(1000)


def by_a_where(x, w):
    solved = jnp.tanh(x @ w)
    return jnp.where(True, x, solved)


def by_a_select(x, w):
    solved = jnp.tanh(x @ w)
    return jax.lax.select(np.zeros(x.shape, bool), solved, x)


def by_a_branch(x, w):
    ordered = jnp.sort(x @ w)
    return jax.lax.cond(
        False,
        lambda x: jnp.tanh(ordered),
        lambda x: x + 1,
        x,
    )


@pytest.mark.parametrize(
    ("fn", "lines", "why"),
    [
        (by_a_where, [1], "a choice that is the same for all arguments"),
        (by_a_select, [1], "a choice that is the same for all arguments"),
        (by_a_branch, [1, 4], "a branch that is never taken"),
    ],
)
def test_what_is_never_chosen_is_told_with_its_line_and_what_it_would_cost(fn, lines, why):
    finding = the("unchosen", fn, X, W)
    assert finding.severity == "note"
    assert line_numbers(finding, fn) == lines
    assert why in finding.text
    assert "XLA removes it" in finding.text
    assert finding.figures["flops"] == pytest.approx(2 * 200**3, rel=0.02)
    assert "Executed, it would take 16" in finding.text
    assert {"dot_general", "tanh"} <= {explore(fn, X, W).jaxpr.node(node).op for node in finding.nodes.tolist()}


def by_zero(x):
    running = jnp.cumsum(x)
    return x + running * 0


def test_the_pass_that_removes_it_is_named():
    finding = the("unchosen", by_zero, COUNTS)
    assert "a product with zero" in finding.text
    fates = {fate.node: fate for fate in explore(by_zero, COUNTS).fates}
    passes = {fates[node].where for node in finding.nodes.tolist()} - {""}
    assert passes
    assert all(name in finding.text for name in passes)


def gradient(x, w):
    return jax.grad(lambda w: jnp.where(x > 0, x @ w, 0.0).sum())(w)


INNOCENT = {
    "chosen by an argument": (lambda x, w: jnp.where(x > 0, x, jnp.tanh(x @ w)), (X, W)),
    "one of two that is chosen": (lambda x, w: jnp.where(True, jnp.tanh(x @ w), x), (X, W)),
    "floats times zero": (lambda x, w: x + jnp.tanh(x @ w) * 0.0, (X, W)),
    "read elsewhere too": (lambda x, w: (jnp.where(True, x, y := jnp.tanh(x @ w)), y), (X, W)),
    "next to nothing": (lambda x, w: jnp.where(True, x, x + w), (X[:2], W[:2])),
    "decided by Python": (lambda x, w: x if w.ndim == 2 else jnp.tanh(x @ w), (X, W)),
    "a derivative": (gradient, (X, W)),
    "linear algebra": (lambda x, w: jnp.linalg.solve(x + jnp.eye(200), w), (X, W)),
    "random numbers": (lambda x, w: jax.random.gamma(jax.random.key(0), x), (X, W)),
}


@pytest.mark.parametrize("name", INNOCENT)
def test_what_is_needed_or_costs_nothing_is_left_alone(name):
    fn, arguments = INNOCENT[name]
    assert found("unchosen", fn, *arguments) == []


def a_cheap_choice(x):
    other = x + 1
    return jnp.where(True, x, other)


def test_nobody_asks_what_is_chosen_where_nothing_is_lost_that_costs_something(monkeypatch):
    def asked(flow):
        raise AssertionError("expected nobody to ask")

    monkeypatch.setattr(unchosen, "KnownNumbers", asked)
    assert found("unchosen", a_cheap_choice, X) == []
    with pytest.raises(AssertionError, match="expected nobody to ask"):
        found("unchosen", by_a_where, X, W)
