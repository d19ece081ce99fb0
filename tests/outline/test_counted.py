"""In stages that were opened, what only counts the turns of a loop is not drawn: the jaxpr has none of it."""

import jax
import jax.numpy as jnp
import pytest
from jax import export, lax
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
    # What changes is no number of turns, though it is constant at first.
    path.write_text(CARRIED.replace("return %n, %next", "return %next, %next"))
    changed = jv.open(path).document(passes=False).outlines[0].outline
    assert [row.kind for row in changed if row.kind in ("loop", "body")] == ["loop", "body", "body"]


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
