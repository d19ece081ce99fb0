"""What a person reads in the outlines of known programs."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import pytest
from jax import lax
from outline.outlines import boxes, names_inside, outline_of, row_named, rows_named, shown
from programs import CORPUS, flax_block, useless_loop

from jaxviz.graph import OPERATION


def outline_of_program(name):
    fn, arguments = CORPUS[name]()
    return outline_of(fn, *arguments)


def test_a_gradient_is_a_forward_and_a_backward_phase_with_twins():
    outline = outline_of_program("mlp_grad")
    assert names_inside(outline, 0) == ["forward", "backward"]
    forward, backward = shown(outline, 0)
    assert forward.twin == backward.index
    assert names_inside(outline, forward.index) == [
        "_mlp", "log_softmax", "one_hot", "multiply", "sum", "mean", "negative"
    ]  # fmt: skip
    assert names_inside(outline, backward.index) == ["negative", "mean", "multiply", "log_softmax", "_mlp"]
    for row in shown(outline, backward.index):
        twin = outline.row(row.twin)
        assert (twin.name, twin.detail or row.detail) == (row.name, row.detail)
        assert forward.first <= twin.first < twin.end <= forward.end


def test_a_python_loop_over_layers_is_one_statement_with_a_count():
    outline = outline_of_program("mlp_grad")
    loops = rows_named(outline, 'x = jax.nn.relu(x @ layer["w"] + layer["b"])')
    assert [(row.kind, row.count) for row in loops] == [("statement", 2)] * 2
    assert outline.row(loops[0].twin) == loops[1]
    assert names_inside(outline, outline.children[loops[0].index][0]) == ["matmul", "add", "relu"]
    assert names_inside(outline, outline.children[loops[1].index][0]) == ["relu", "add", "matmul"]


def test_an_unrolled_loop_is_a_stack():
    fn, arguments = useless_loop(1000)
    outline = outline_of(fn, *arguments)
    (row,) = shown(outline, 0)
    assert (row.name, row.count, row.detail, row.equations) == ("multiply", 1000, "x * 1.0001", 1000)


def test_a_loop_of_several_statements_is_named_by_its_head():
    def settle(x, y):
        for turn in range(50):
            x = jnp.sin(x) * turn
            y = y + x
        return y

    outline = outline_of(settle, jnp.ones(4), jnp.ones(4))
    (row,) = shown(outline, 0)
    assert (row.kind, row.name, row.count) == ("stack", "for turn in range(50)", 50)
    assert names_inside(outline, outline.children[row.index][0]) == ["sin", "multiply", "add"]


@pytest.mark.slow
def test_twelve_layers_are_one_block_forward_and_one_backward():
    fn, arguments = flax_block(layers=12)
    outline = outline_of(fn, *arguments)
    assert names_inside(outline, 0) == ["forward", "backward", "update"]
    forward, backward, update = shown(outline, 0)
    model = row_named_inside(outline, forward.index, "Model")
    assert names_inside(outline, model.index) == ["Embed_0", "add", "Block x12", "LayerNorm_0", "Dense_0"]
    backward_model = row_named_inside(outline, backward.index, "Model")
    assert names_inside(outline, backward_model.index) == ["Dense_0", "LayerNorm_0", "Block x12", "add", "Embed_0"]
    assert model.twin == backward_model.index
    blocks, backward_blocks = (row_named_inside(outline, row.index, "Block") for row in (model, backward_model))
    assert blocks.twin == backward_blocks.index
    assert names_inside(outline, update.index) == ["optimizer.update", "apply_updates x198"]
    (adam,) = [row for row in shown(outline, update.index) if row.name == "optimizer.update"]
    inside = names_inside(outline, adam.index)
    assert inside[:2] == ["tree_update_moment x198", "tree_update_moment_per_elem_norm x198"]


def row_named_inside(outline, row, name):
    (found,) = [inside for inside in shown(outline, row) if inside.name == name]
    return found


def test_copies_correspond_row_by_row_to_the_first():
    fn, arguments = flax_block(train=False, layers=3)
    outline = outline_of(fn, *arguments)
    blocks = [row for row in outline if row.copy >= 0 and row.name.startswith("Block_")]
    assert [(row.name, row.copy) for row in blocks] == [("Block_0", 0), ("Block_1", 1), ("Block_2", 2)]
    for block in blocks[1:]:
        assert outline.row(block.like) == blocks[0]
        inside = [
            row for row in outline if block.first <= row.first < row.end <= block.end and row.index != block.index
        ]
        for row in inside:
            assert outline.row(row.like).name == row.name
            assert outline.row(row.like).equations == row.equations


def test_loops_and_branches_are_levels_with_the_regions_they_stand_for():
    outline = outline_of_program("while_loop")
    (loop,) = shown(outline, 0)
    assert (loop.kind, loop.name) == ("loop", "while_loop")
    bodies = [("body", "while jnp.sum(c) < 1000.0"), ("body", "do")]
    assert [(row.kind, row.name) for row in shown(outline, loop.index)] == bodies
    assert names_inside(outline, shown(outline, loop.index)[1].index) == ["cos", "multiply", "add"]
    kinds = [outline.graph.region(row.region).kind for row in shown(outline, loop.index)]
    assert kinds == ["while cond", "while body"]

    outline = outline_of_program("cond")
    assert names_inside(outline, 0) == ["greater", "cond(p > 0)"]
    assert names_inside(outline, row_named(outline, "cond(p > 0)").index) == ["if false", "if true"]
    assert names_inside(outline, row_named(outline, "if true").index) == ["sin", "multiply"]


def test_a_scan_has_twins_inside():
    outline = outline_of_program("scan_rnn")
    scan, backward = rows_named(outline, "scan(cell)")
    assert (scan.kind, scan.twin) == ("loop", backward.index)
    assert outline.graph.region(scan.region).kind == "scan"
    tanh, backward_tanh = rows_named(outline, "tanh")
    assert tanh.twin == backward_tanh.index


def test_recomputation_is_a_row_of_its_own():
    outline = outline_of_program("remat")
    recomputed = rows_named(outline, "recomputed block", "recomputed")
    assert len(recomputed) == 3
    assert {(row.closed, row.detail) for row in recomputed} == {(True, "matmul, tanh, sin")}
    # It stands in the twin of what ran forward.
    forward, *_ = rows_named(outline, "block", "call")
    assert outline.row(forward.twin).first <= recomputed[0].first < outline.row(forward.twin).end
    assert names_inside(outline, recomputed[0].index) == ["matmul", "tanh", "sin"]


def test_a_custom_rule_keeps_the_name_of_its_function():
    outline = outline_of_program("custom_vjp")
    assert names_inside(outline, 0) == ["clip", "forward", "backward"]
    _, forward, backward = shown(outline, 0)
    assert names_inside(outline, forward.index) == ["sin", "clip", "power", "sum"]
    assert names_inside(outline, backward.index) == ["power", "clip", "sin"]


def test_noise_is_told_from_boxes():
    fn, arguments = CORPUS["mlp_forward"]()
    outline = outline_of(fn, *arguments)
    graph = outline.graph
    roles = {}
    for node in graph:
        if node.kind == "operation":
            roles.setdefault(node.op, set()).add(int(outline.role[node.index]))
    assert roles["dot_general"] == roles["add"] == {0}
    assert roles["broadcast_in_dim"] == {1}
    # Until 0.6, JAX calls a jit by another name.
    assert roles["custom_jvp_call"] == roles.get("jit", roles.get("pjit")) == {4}
    assert outline.equations[0] == (graph.nodes.kind == OPERATION).sum() - 4


def test_what_a_branch_gives_for_nothing_is_no_box():
    def loss(x):
        return lax.cond(x[0] > 0, lambda x: x * jnp.tanh(x), lambda x: x, x).sum()

    outline = outline_of(jax.grad(loss), jnp.ones(4))
    kept, given_back = rows_named(outline, "if false")
    assert kept.first < given_back.first
    operation = outline.graph.nodes.kind[kept.first : kept.end] == OPERATION
    assert 0 not in outline.role[kept.first : kept.end][operation]


def test_the_turn_of_a_loop_is_a_counter():
    outline = outline_of(lambda x: jax_fori(x), jnp.ones(4))
    counted = [node.op for node in outline.graph if outline.role[node.index] == 3]
    assert counted == ["add"]


def jax_fori(x):
    return lax.fori_loop(0, 10, lambda i, c: jnp.sin(c), x)


def test_what_counts_for_the_person_is_no_mere_counter():
    def until_small(x):
        return lax.while_loop(lambda c: c[0] > 1.0, lambda c: (c[0] / 2, c[1] + 1), (x, 0))

    def roles(fn):
        outline = outline_of(fn, 9.0)
        return [int(outline.role[node.index]) for node in outline.graph if node.op == "add"]

    assert roles(until_small) == [0]
    assert roles(lambda x: until_small(x)[0]) == [3]


def test_what_only_hands_values_on_is_drawn_where_there_is_nothing_else():
    outline = outline_of(lambda x: x.reshape(2, 2), jnp.ones(4))
    assert names_inside(outline, 0) == ["reshape"]


# The boxes of programs that are open down to the person's expressions.
_BOXES = {
    "mlp_forward": 5,
    "mlp_grad": 20,
    "mlp_train": 22,
    "flax_block_forward": 13,
    "cond": 6,
    "while_loop": 5,
    "random_numbers": 9,
    "custom_vjp": 10,
}


@pytest.mark.parametrize("name", _BOXES)
def test_a_box_is_an_expression_of_the_person(name):
    found = boxes(outline_of_program(name))
    assert len(found) == _BOXES[name]
    assert {row.kind for row in found} <= {"expression", "module"}


def test_the_boxes_of_a_training_step_are_the_expressions_of_its_source():
    outline = outline_of_program("xor_train")
    forward, backward, *update = shown(outline, 0)
    # How many equations it takes to index, and where a sum of gradients stands, differs between versions of JAX.
    assert [row.detail for row in boxes(outline, forward.index) if row.name != "index"] == [
        'x @ params["w1"]',
        'x @ params["w1"] + params["b1"]',
        'jnp.tanh(x @ params["w1"] + params["b1"])',
        'h @ params["w2"]',
        'h @ params["w2"] + params["b2"]',
        'jax.nn.sigmoid(h @ params["w2"] + params["b2"])',
        "p + 1e-7",
        "jnp.log(p + 1e-7)",
        "y * jnp.log(p + 1e-7)",
        "1 - y",
        "1 - p",
        "1 - p + 1e-7",
        "jnp.log(1 - p + 1e-7)",
        "(1 - y) * jnp.log(1 - p + 1e-7)",
        "y * jnp.log(p + 1e-7) + (1 - y) * jnp.log(1 - p + 1e-7)",
        "jnp.mean(y * jnp.log(p + 1e-7) + (1 - y) * jnp.log(1 - p + 1e-7))",
        "-jnp.mean(y * jnp.log(p + 1e-7) + (1 - y) * jnp.log(1 - p + 1e-7))",
    ]
    back = [row.detail for row in boxes(outline, backward.index) if row.name != "index" and row.detail != "p + 1e-7"]
    assert back == [
        "-jnp.mean(y * jnp.log(p + 1e-7) + (1 - y) * jnp.log(1 - p + 1e-7))",
        "jnp.mean(y * jnp.log(p + 1e-7) + (1 - y) * jnp.log(1 - p + 1e-7))",
        "(1 - y) * jnp.log(1 - p + 1e-7)",
        "jnp.log(1 - p + 1e-7)",
        "1 - p",
        "y * jnp.log(p + 1e-7)",
        "jnp.log(p + 1e-7)",
        'jax.nn.sigmoid(h @ params["w2"] + params["b2"])',
        'h @ params["w2"] + params["b2"]',
        'h @ params["w2"]',
        'jnp.tanh(x @ params["w1"] + params["b1"])',
        'x @ params["w1"] + params["b1"]',
        'x @ params["w1"]',
    ]
    assert [row.name for part in update for row in boxes(outline, part.index)] == ["optimizer.update", "apply_updates"]


@pytest.mark.slow
@pytest.mark.parametrize("layers", [2, 4])
def test_more_layers_are_no_more_boxes(layers):
    fn, arguments = flax_block(layers=layers)
    assert len(boxes(outline_of(fn, *arguments))) == 29


def test_boxes_carry_names_from_the_source_of_the_person():
    found = [row for name in CORPUS if name != "useless_loop" for row in boxes(outline_of_program(name))]
    named = [row for row in found if row.kind in ("expression", "module", "call")]
    assert len(named) >= 0.95 * len(found)


def test_the_axes_that_vmap_moves_are_edges_and_the_transpositions_of_the_person_are_boxes():
    def each(s0, xs):
        def step(s, x):
            s = jnp.tanh(s + x)
            return s, jnp.outer(s, s).T

        return lax.scan(step, s0, xs)[1]

    outline = outline_of(jax.vmap(each), jnp.ones((5, 3)), jnp.ones((5, 4, 3)))
    moved = [outline.role[node.index] == 0 for node in outline.graph if node.op == "transpose"]
    assert sum(moved) == 1
    assert len(moved) > 1
    assert names_inside(outline, row_named(outline, "scan(step)").index) == ["add", "tanh", "outer", "transpose"]
