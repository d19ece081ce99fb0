"""In stages that were opened, what only counts the turns of a loop is not drawn: the jaxpr has none of it."""

import jax
import jax.numpy as jnp
import pytest
from jax import export, lax
from outline.outlines import check

import jaxviz as jv
from jaxviz.outline.noise import BOX, COUNTER, EDGE


def rollout(w, x):
    def step(h, u):
        h = jnp.tanh(h @ w) + u
        return h, jnp.sort(h)

    return lax.scan(step, x[0], x)


def halved(x):
    def halve(s):
        return s[0] + 1, s[1] / 2

    return lax.while_loop(lambda s: s[0] < 9, halve, (0, x))[1]


def opened(fn, args, form, folder):
    path = folder / "program"
    if form == "exported":
        # Its constants are made once, before the loop, and its bodies read them from there.
        path.write_text(export.export(jax.jit(fn))(*args).mlir_module())
    else:
        lowered = jax.jit(fn).lower(*args)
        path.write_text(lowered.as_text(debug_info=True) if form == "stablehlo" else lowered.compile().as_text())
    return jv.open(path)


@pytest.mark.parametrize("form", ["stablehlo", "exported", "hlo"])
def test_a_loop_over_a_number_of_turns_holds_what_a_turn_does(form, tmp_path):
    program = opened(rollout, (jnp.ones((8, 8)), jnp.ones((5, 8))), form, tmp_path)
    outline = program.document(passes=False).outlines[0].outline
    check(outline)
    assert [row.kind for row in outline if row.kind in ("loop", "body")] == ["loop"]
    strings, nodes = outline.graph.tables.strings, outline.graph.nodes
    assert {role for at, role in enumerate(outline.role.tolist()) if strings[nodes.scope[at]].endswith("cond/lt")} <= {
        COUNTER,
        # What only hands on in a kernel of it.
        EDGE,
    }
    names = {box.name for box in program.view(stage=program.stage).closed}
    assert not {name for name in names if name.startswith(("while", "compare", "dynamic", "do"))}
    assert names


@pytest.mark.parametrize("form", ["stablehlo", "exported", "hlo"])
def test_what_the_person_counts_is_drawn(form, tmp_path):
    outline = opened(halved, (jnp.ones(8),), form, tmp_path).document(passes=False).outlines[0].outline
    check(outline)
    assert [row.kind for row in outline if row.kind in ("loop", "body")] == ["loop", "body", "body"]
    assert COUNTER not in outline.role


def test_what_a_loop_carries_on_unchanged_is_as_fixed_as_it_was_before_it(tmp_path):
    path = tmp_path / "carried.mlir"
    path.write_text(CARRIED)
    counted = jv.open(path).document(passes=False).outlines[0].outline
    assert [row.kind for row in counted if row.kind in ("loop", "body")] == ["loop"]
    assert turns_of(counted) == ["9"]
    # What changes is no number of turns, though it is constant at first.
    path.write_text(CARRIED.replace("return %n, %next", "return %next, %next"))
    changed = jv.open(path).document(passes=False).outlines[0].outline
    assert [row.kind for row in changed if row.kind in ("loop", "body")] == ["loop", "body", "body"]
    assert turns_of(changed) == []


def turns_of(outline) -> list[str]:
    """How often loops are said to turn."""
    graph = outline.graph
    said = (graph.node(node).attributes.get("known_trip_count") for node in range(len(graph)))
    return [count for count in said if count]


def many_loops(x, xs):
    first = lax.fori_loop(2, 9, lambda i, h: jnp.sin(h) * i, x)
    second, rows = lax.scan(lambda h, row: (h @ jnp.outer(row, row), jnp.cumsum(row)), first, xs)
    third = lax.while_loop(lambda h: h.sum() < 100, lambda h: h * 2, second)
    return lax.while_loop(lambda s: s[0] <= 20, lambda s: (s[0] + 6, jnp.tanh(s[1])), (1, third)), rows


@pytest.mark.parametrize("form", ["stablehlo", "exported", "hlo", "text alone", "HLO alone"])
def test_a_loop_that_counts_up_to_a_number_says_how_often_it_turns(form, tmp_path):
    args = jnp.ones(4), jnp.ones((5, 4))
    if form.endswith("alone"):
        path = tmp_path / "program"
        path.write_text(jax.jit(many_loops).lower(*args).as_text("hlo" if form.startswith("HLO") else "stablehlo"))
        program = jv.open(path)
    else:
        program = opened(many_loops, args, form, tmp_path)
    outline = program.document(passes=False).outlines[0].outline
    check(outline)
    assert sorted(turns_of(outline)) == ["4", "5", "7"]


def test_a_text_alone_has_no_boxes_for_what_counts_turns_where_a_loop_asks_for_nothing_else(tmp_path):
    def goes_on(s):
        return (s[0] < 20) & (s[1].sum() < 9)

    def both(w, x):
        h, _ = lax.scan(lambda h, u: (jnp.tanh(h @ w) + u, None), x[0], x)
        return h, lax.while_loop(goes_on, lambda s: (s[0] + 1, s[1] * 2), (0, x))

    path = tmp_path / "program"
    path.write_text(jax.jit(both).lower(jnp.ones((8, 8)), jnp.ones((5, 8))).as_text())
    outline = jv.open(path).document(passes=False).outlines[0].outline
    check(outline)
    strings, graph = outline.graph.tables.strings, outline.graph
    drawn = [strings[op] for op in graph.nodes.op[outline.role == BOX].tolist()]
    # Two that the person wrote, and one by which JAX makes a truth value of the first.
    assert drawn.count("compare") == 3
    assert "dynamic_slice" not in drawn


CARRIED = """#here = loc("f"("program.py":2:3))
module @jit_f {
  func.func public @main(%x: tensor<4xf32>) -> tensor<4xf32> {
    %most = stablehlo.constant dense<9> : tensor<i32>
    %zero = stablehlo.constant dense<0> : tensor<i32>
    %0:3 = stablehlo.while(%n = %most, %i = %zero, %s = %x) : tensor<i32>, tensor<i32>, tensor<4xf32>
    cond {
      %1 = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1> loc("jit(f)/while/cond/lt"(#here))
      stablehlo.return %1 : tensor<i1>
    } do {
      %one = stablehlo.constant dense<1> : tensor<i32>
      %y = stablehlo.sine %s : tensor<4xf32> loc("jit(f)/while/body/sin"("g"("program.py":3:3)))
      %next = stablehlo.add %i, %one : tensor<i32> loc("jit(f)/while/body/add"(#here))
      stablehlo.return %n, %next, %y : tensor<i32>, tensor<i32>, tensor<4xf32>
    } loc("jit(f)/while"(#here))
    return %0#2 : tensor<4xf32>
  }
}
"""
