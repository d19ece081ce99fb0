"""In stages that were opened, what only counts the turns of a loop is not drawn: the jaxpr has none of it."""

import jax
import jax.numpy as jnp
import pytest
from jax import lax
from outline.outlines import check

import jaxviz as jv
from jaxviz.outline.noise import COUNTER, EDGE


def rollout(w, x):
    def step(h, u):
        h = jnp.tanh(h @ w) + u
        return h, jnp.sort(h)

    return lax.scan(step, x[0], x)


def halved(x):
    def halve(s):
        return s[0] + 1, s[1] / 2

    return lax.while_loop(lambda s: s[0] < 9, halve, (0, x))[1]


def opened(fn, args, stage, folder):
    lowered = jax.jit(fn).lower(*args)
    path = folder / ("program.mlir" if stage == "stablehlo" else "program.txt")
    path.write_text(lowered.as_text(debug_info=True) if stage == "stablehlo" else lowered.compile().as_text())
    return jv.open(path)


@pytest.mark.parametrize("stage", ["stablehlo", "hlo"])
def test_a_loop_over_a_number_of_turns_holds_what_a_turn_does(stage, tmp_path):
    program = opened(rollout, (jnp.ones((8, 8)), jnp.ones((5, 8))), stage, tmp_path)
    outline = program.document(passes=False).outlines[0].outline
    check(outline)
    assert [row.kind for row in outline if row.kind in ("loop", "body")] == ["loop"]
    strings, nodes = outline.graph.tables.strings, outline.graph.nodes
    assert {role for at, role in enumerate(outline.role.tolist()) if strings[nodes.scope[at]].endswith("cond/lt")} <= {
        COUNTER,
        # What only hands on in a kernel of it.
        EDGE,
    }
    names = {box.name for box in program.view(stage=stage).closed}
    assert not {name for name in names if name.startswith(("while", "compare", "dynamic", "do"))}
    assert names


@pytest.mark.parametrize("stage", ["stablehlo", "hlo"])
def test_what_the_person_counts_is_drawn(stage, tmp_path):
    outline = opened(halved, (jnp.ones(8),), stage, tmp_path).document(passes=False).outlines[0].outline
    check(outline)
    assert [row.kind for row in outline if row.kind in ("loop", "body")] == ["loop", "body", "body"]
    assert COUNTER not in outline.role
