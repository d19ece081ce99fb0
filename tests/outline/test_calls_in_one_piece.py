"""In compiled stages a call stays in one piece: what is not drawn between its operations does not take it apart."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax
from outline.outlines import check

import jaxviz as jv
from jaxviz.outline import Outline
from jaxviz.outline.compiled.linked import linked_outline
from jaxviz.outline.noise import BOX
from jaxviz.read.hlo.graph import read_hlo
from jaxviz.read.hlo.text import parse_hlo_text

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


MERGED = """HloModule merged
ENTRY main {
  x = f32[4] parameter(0)
  tanh = f32[4] tanh(x)
  sin = f32[4] sine(tanh)
  cos = f32[4] cosine(sin)
  cast = f32[2,2] bitcast(cos)
  back = f32[4] bitcast(cast)
  exp = f32[4] exponential(back)
  ROOT mul = f32[4] multiply(exp, cos)
}
"""


def test_a_call_is_not_in_pieces_for_a_cast_that_was_merged_with_an_earlier_one():
    def earlier(x):
        return jnp.sin(jnp.tanh(x))

    def later(x):
        return jnp.exp(jnp.cos(x)) * jnp.cos(x)

    given = jv.explore(lambda x: later(earlier(x)), jnp.ones(4))._capture.outline
    graph = read_hlo(parse_hlo_text(MERGED), given.graph.tables).graph
    equations = {given.graph.tables.strings[op]: at for at, op in enumerate(given.graph.nodes.op.tolist())}
    names = [graph.tables.strings[name] for name in graph.nodes.name.tolist()]
    source = [equations.get("sin" if name in ("cast", "back") else name, -1) for name in names]
    outline = linked_outline(graph, np.array(source, np.int32), given, np.array(source, np.int32))
    check(outline)
    assert [row.name for row in outline if row.depth == 1] == ["earlier", "later"]


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
