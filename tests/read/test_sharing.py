"""Bodies that are called again and again: told apart by their call, and never more than a machine can hold."""

from __future__ import annotations

import sys
from pathlib import Path

import jax
import jax.numpy as jnp
import pytest
from read.walk import assert_same

from jaxviz.read.jaxpr import read_jaxpr

X = jnp.arange(8.0)


def trace(function, *arguments):
    return jax.jit(function).trace(*arguments).jaxpr


@pytest.mark.smoke
def test_each_call_of_a_shared_body_has_its_own_nodes_and_stack():
    inner = jax.jit(lambda x: jnp.sin(x) * 2.0)

    def f(x):
        x = inner(x)
        return inner(x)

    jaxpr = trace(f, X)
    graph = read_jaxpr(jaxpr)
    assert assert_same(graph, jaxpr) == 6
    first, second = graph.find("sin")
    here = Path(__file__).read_text().splitlines()
    call_lines = [next(frame for frame in node.frames if frame.function == "f").line for node in (first, second)]
    assert [here[line - 1].strip() for line in call_lines] == ["x = inner(x)", "return inner(x)"]
    assert first.line == second.line
    assert "jnp.sin(x) * 2.0" in here[first.line - 1]


def test_a_thousand_calls_are_a_thousand_instances():
    inner = jax.jit(lambda x: x * 1.5 + 0.5)

    def f(x):
        for _ in range(1000):
            x = inner(x)
        return x

    graph = read_jaxpr(trace(f, X))
    assert len(graph.regions.owner) == 1001
    assert len(graph.find("mul")) == 1000
    # Each call reads what the one before it made.
    owners = [node for node in graph if node.regions]
    assert [b.operands[0] for b in owners[1:]] == [a.values[0] for a in owners[:-1]]


def test_equal_bodies_of_custom_rules_keep_their_own_call():
    def f(x):
        x = jax.nn.relu(x)
        x = jax.nn.relu(x)
        return jax.nn.relu(x + 1.0)

    jaxpr = trace(f, X)
    graph = read_jaxpr(jaxpr)
    assert_same(graph, jaxpr)
    here = Path(__file__).read_text().splitlines()
    lines = [here[node.line - 1].strip() for node in graph.find("max")]
    assert lines == ["x = jax.nn.relu(x)", "x = jax.nn.relu(x)", "return jax.nn.relu(x + 1.0)"]
    assert len({node.line for node in graph.find("max")}) == 3


def test_bodies_that_differ_only_in_a_literal_are_told_apart():
    def scaled(factor):
        rule = jax.custom_jvp(lambda x: x * factor)
        rule.defjvp(lambda primals, tangents: (rule(*primals), tangents[0] * factor))
        return rule

    rules = [scaled(2.0), scaled(3.0)]

    def f(x):
        for rule in rules * 3:
            x = rule(x)
        return x

    graph = read_jaxpr(trace(f, X))
    factors = [node.operand_texts[1] for node in graph.find("mul")]
    assert factors == ["2.0", "3.0"] * 3


def _doubling(depth):
    functions = [jax.jit(lambda x: x * 2.0)]
    for _ in range(depth):
        functions.append(jax.jit(lambda x, inner=functions[-1]: inner(inner(x))))
    return functions[-1]


def test_doubling_bodies_are_whole_while_they_fit():
    jaxpr = trace(_doubling(6), X)
    graph = read_jaxpr(jaxpr)
    assert len(graph.find("mul")) == 64
    assert_same(graph, jaxpr)


@pytest.mark.smoke
def test_doubling_bodies_stay_closed_past_the_limit():
    graph = read_jaxpr(trace(_doubling(30), X), repeated_nodes=5_000)
    graph.check()
    assert len(graph) < 6_000
    closed = [node for node in graph if "body" in node.attributes]
    assert closed
    assert all(not node.regions and "same as the first call" in node.attributes["body"] for node in closed)


def test_bodies_may_nest_deeper_than_python_recurses():
    limit = sys.getrecursionlimit()
    inner = jax.make_jaxpr(lambda x: x * 2.0)(X)
    outer = jax.make_jaxpr(jax.jit(lambda x: x * 2.0))(X)
    (call,) = outer.eqns
    body = inner
    for _ in range(2 * limit):
        params = {**call.params, "jaxpr": body}
        replaced = call.replace(params=params)
        open_jaxpr = getattr(outer, "jaxpr", outer).replace(eqns=[replaced])
        body = outer.replace(jaxpr=open_jaxpr) if open_jaxpr.__class__ is not outer.__class__ else open_jaxpr
    graph = read_jaxpr(body)
    assert len(graph.regions.owner) == 2 * limit + 1
    assert len(graph.find("mul")) == 1
