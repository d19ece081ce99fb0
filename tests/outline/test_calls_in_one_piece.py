"""In compiled stages a call stays in one piece: what is not drawn between its operations does not take it apart."""

import jax
import jax.numpy as jnp
import pytest
from jax import lax
from outline.outlines import check

import jaxviz as jv
from jaxviz.outline import Outline
from jaxviz.outline.noise import BOX

W = jnp.ones((8, 8))


def midpoint(w, y):
    k1 = jnp.tanh(y @ w)
    return y + 0.1 * jnp.tanh((y + 0.05 * k1) @ w)


def integrate(w, y):
    return lax.fori_loop(0, 5, lambda _, y: midpoint(w, y) * 0.99, y)


def layer(x, w):
    hidden = jax.nn.gelu(x @ w)
    return x + hidden @ w.T


def stacked(ws, x):
    return lax.scan(lambda x, w: (jax.checkpoint(layer)(x, w), None), x, ws)[0].sum()


@pytest.fixture(scope="module")
def compiled() -> dict[str, Outline]:
    steps = jv.explore(jax.grad(lambda w, y: integrate(w, y).sum()), W, W)._capture
    layers = jv.explore(jax.grad(stacked), jnp.ones((3, 8, 8)), W)._capture
    return {"steps": steps.hlo.outline, "layers": layers.hlo.outline, "lowered": layers.stablehlo.outline}


def _rows(outline: Outline, name: str):
    return [row for row in outline if row.name == name]


def test_a_call_is_not_in_pieces_where_results_of_turns_go_to_their_place(compiled):
    outline = compiled["steps"]
    check(outline)
    check(compiled["layers"])
    # The compiler of JAX 0.6 makes kernels of several calls.
    if jax.__version_info__ >= (0, 7):
        # One forward, one backward.
        assert len(_rows(outline, "midpoint")) == 2
        assert len(_rows(compiled["layers"], "checkpoint(layer)")) == 1


def test_what_a_checkpoint_only_hands_on_has_no_box_of_its_own(compiled):
    for stage in ("layers", "lowered"):
        outline = compiled[stage]
        check(outline)
        strings, nodes = outline.graph.tables.strings, outline.graph.nodes
        handing = [at for at, op in enumerate(nodes.op.tolist()) if strings[op] in ("copy", "optimization_barrier")]
        drawn = [at for at in handing if outline.role[at] == BOX]
        # What is copied within an expression is laid out anew for it.
        assert {outline.row(int(outline.leaf[at])).kind for at in drawn} <= {"recomputed", "expression"}
    (barrier,) = drawn
    assert "recomputed" in {outline.row(row).kind for row in outline.paths[outline.leaf[barrier]]}
