"""Programs as text: random ones, whose outlines fold in any way, and versions of one that differ in a line."""

from __future__ import annotations

import difflib
import json
import linecache
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from outline.outlines import check
from outline.test_invariants import assert_no_cycle, columns

import jaxviz as jv
from jaxviz.export import engine
from jaxviz.graph import OPERATION
from jaxviz.outline import Outline, make_outline
from jaxviz.outline.tree import NODE_ROLES

_X = jnp.ones(4)

_STATEMENTS = (
    "x = jnp.sin(x) * 2.0",
    "x = x[1:].sum() + x",
    "x = x + (lambda t: jnp.tanh(t) - 1.0)(x)",
    "x = sum(jnp.cos(x + k) for k in range(3))",
    "for k in range(4):\n        x = x * k + jnp.exp(-x)",
    "x = jax.tree.map(lambda a, b: a * b + 1.0, [x, x], [x, -x])[1]",
    "x = jax.lax.cond(x.sum() > 0, jnp.sin, lambda t: t * 2.0, x)",
    "x = jax.lax.scan(lambda c, _: (jnp.cos(c), c.sum()), x, None, length=3)[0]",
    "x = jax.lax.fori_loop(0, 3, lambda i, c: c * i, x)",
    "x = jax.grad(lambda t: jnp.sum(jnp.tanh(t) ** 2))(x)",
    "x = jax.grad(lambda t: CALL(t).sum())(x)",
    "x = jax.checkpoint(CALL)(x) + 1.0",
    "x = jax.jit(CALL)(x) + CALL(x)",
    "x = jax.vmap(CALL)(jnp.stack([x, x])).sum(0)",
    "x = CALL(x)",
)


def _run(text: str, name: str):
    """The last function of a program text, which has its source though there is no file."""
    linecache.cache[name] = (len(text), None, [line + "\n" for line in text.splitlines()], name)
    namespace: dict[str, object] = {"jnp": jnp, "jax": jax}
    exec(compile(text, name, "exec"), namespace)
    return namespace["main"]


@st.composite
def texts(draw):
    """Functions, each of a few statements, which call those before them."""
    found, known = [], ["jnp.sqrt"]
    for number in range(draw(st.integers(1, 3))):
        name = "main" if number == 2 else f"part{number}"
        body = draw(st.lists(st.sampled_from(_STATEMENTS), min_size=1, max_size=4))
        calls = [statement.replace("CALL", draw(st.sampled_from(known))) for statement in body]
        found.append(f"def {name}(x):\n    " + "\n    ".join(calls) + "\n    return x\n")
        known.append(name)
    if known[-1] != "main":
        found.append(f"def main(x):\n    return {known[-1]}(x)\n")
    return "\n".join(found)


@settings(max_examples=25)
@given(texts(), st.data())
def test_any_text_has_a_sound_outline_that_folds_and_is_drawn_in_any_way(text, data):
    explored = jv.explore(_run(text, "<random>"), _X)
    outline = make_outline(explored.jaxpr)
    check(outline)
    assert columns(make_outline(explored.jaxpr)) == columns(outline)
    assert_no_cycle(outline, data.draw(st.sets(st.integers(0, len(outline) - 1))))

    document = explored.document(stages=()).of_stage(0).to_json(packed=False)
    opened = data.draw(st.sets(st.integers(1, max(1, len(outline) - 1))))
    # The layout refuses cycles.
    assert _drawn(document, opened)
    # Of a stack that is open one copy stands for all.
    whole = {row for row in opened if row < len(outline) and outline.count[row] == 1}
    assert _drawn(document, whole) == _boxes(outline, whole)


def _drawn(document: dict[str, Any], opened: set[int]) -> list[int]:
    """How many equations each box of the picture stands for where these rows are open."""
    view = json.loads(engine.call("view", document, {"width": 760, "height": 560, "open": sorted(opened)}))
    return sorted(box["equations"] for box in view["boxes"] if box["equations"] and not box["open"])


def _boxes(outline: Outline, opened: set[int]) -> list[int]:
    """The same by the outline: each equation is in the outermost closed row around it, or a box by itself."""
    graph, detail = outline.graph, NODE_ROLES.index("detail")
    alone = (graph.nodes.kind == OPERATION) & (outline.role == NODE_ROLES.index("box"))
    owner = graph.regions.owner[1:]
    # What has bodies is a frame around these.
    alone[owner[outline.role[owner + 1] != detail]] = False
    found, todo = [], [0]
    while todo:
        row = todo.pop()
        if row and row not in opened:
            found.append(int(outline.equations[row]))
        else:
            found += [1] * np.count_nonzero(alone & (outline.leaf == row))
            todo += outline.children[row]
    return sorted(count for count in found if count)


_PROGRAM = """def norm(x):
    mean = x.mean()
    return (x - mean) / jnp.sqrt(((x - mean) ** 2).mean() + 1e-5)

def layer(w, x):
    h = norm(x) @ w
    return jax.nn.gelu(h) + x

def loss(ws, x):
    for w in ws:
        x = layer(w, x)
    return jnp.mean(x ** 2)

def main(ws, x):
    value, gradient = jax.value_and_grad(loss)(ws, x)
    ws = jax.tree.map(lambda w, g: w - 0.1 * g, ws, gradient)
    return value, ws
"""


def _rows(outline: Outline) -> list[tuple[str, str, int, bool, bool]]:
    """What a person reads, of each stack its first copy."""
    return [(row.kind, row.name, row.count, row.closed, row.twin >= 0) for row in outline if row.like < 0]


@pytest.mark.parametrize(
    ("before", "after", "most"),
    [
        ("jax.nn.gelu(h)", "jax.nn.relu(h)", 4),
        ("    mean = x.mean()\n", "    # The mean of all.\n\n    mean = x.mean()\n", 0),
        ("w - 0.1 * g", "w - 0.01 * g", 1),
        ("    value, gradient", "    x = jnp.tanh(x)\n    value, gradient", 2),
    ],
)
def test_an_edit_of_one_line_changes_the_outline_there_alone(before, after, most):
    arguments = [jnp.eye(8)] * 4, jnp.ones((2, 8))
    old, new = (
        _rows(make_outline(jv.explore(_run(text, name), *arguments).jaxpr))
        for text, name in ((_PROGRAM, "<old>"), (_PROGRAM.replace(before, after), "<new>"))
    )
    matched = difflib.SequenceMatcher(None, old, new, autojunk=False).get_matching_blocks()
    same = sum(block.size for block in matched)
    assert len(new) - same <= most
    assert (len(new) == same == len(old)) == (most == 0)
