"""Whatever rows are open, each stage of each program can be drawn."""

from __future__ import annotations

import random

import jax.numpy as jnp
import pytest
from jax import lax
from programs import CORPUS

from jaxviz.exploration import explore
from jaxviz.export import engine

# Random states of each stage, beside that in which all is open.
STATES = 2
MOST_NODES = 800


def _branches(x):
    return lax.cond(x.sum() > 0, jnp.sin, jnp.cos, x)


def _branches_in_a_loop(x):
    return lax.scan(lambda c, y: (lax.cond(c > 0, lambda c: c + y, lambda c: c * y, c), c), x[0], x)


def _branches_in_branches(x):
    return lax.cond(x[0] > 0, lambda x: lax.cond(x[1] > 0, jnp.sin, jnp.cos, x), jnp.tan, x)


PROGRAMS = CORPUS | {
    fn.__name__: lambda fn=fn: (fn, (jnp.ones(16),)) for fn in (_branches, _branches_in_a_loop, _branches_in_branches)
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_any_rows_may_be_open(name):
    fn, arguments = PROGRAMS[name]()
    document = explore(fn, *arguments).document()
    chance = random.Random(name)
    [program] = document.programs
    assert len(program.stages) == 3
    for stage in program.stages:
        if len(document.graphs[stage.graph]) > MOST_NODES:
            continue
        one = document.of_stage(stage.graph)
        rows = range(len(one.outlines[0].outline))
        states = ["all", *([row for row in rows if chance.random() < 0.5] for _ in range(STATES))]
        for state in states:
            options = {"width": 760, "height": 560, "open": state, "mostBoxes": 1_000}
            engine.call("svg", one.to_json(packed=False), options)


def test_loops_in_a_stack_begin_with_what_stands_beside_them():
    def steps(x):
        for _ in range(3):
            starts = x + 1, jnp.exp(x), jnp.sin(x)
            turned = lax.fori_loop(0, 5, lambda _, c: (jnp.sin(c[0]), jnp.cos(c[1]) + c[2], jnp.tanh(c[2])), starts)
            x = sum(turned)
        return x

    document = explore(steps, jnp.ones(4)).document(stages=()).to_json(packed=False)
    svg = engine.call("svg", document, {"width": 760, "height": 560, "open": "all", "mostBoxes": 1_000})
    assert ">x3<" in svg
    assert "first turn" not in svg
