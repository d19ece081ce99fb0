"""Loops in stages after the jaxpr: what the compiler put into a body stands in that body, under the person's names."""

from __future__ import annotations

import re

import jax
import jax.numpy as jnp
import pytest
from jax import lax
from outline.outlines import check
from programs import CORPUS

import jaxviz as jv
from jaxviz.outline.noise import BOX, CHIP, EDGE

IS_OLD = jax.__version_info__ < (0, 7)


def responsibilities(params, x):
    means, scales, weights = params
    densities = jax.vmap(lambda m, s: jax.scipy.stats.norm.logpdf(x, m, s).sum(-1), out_axes=1)(means, scales)
    logits = densities + jnp.log(weights)
    return jax.nn.softmax(logits, axis=1), jax.nn.logsumexp(logits, 1).sum()


def maximize(shares, x):
    count = shares.sum(0)
    means = (shares.T @ x) / count[:, None]
    return means, jnp.sqrt((shares.T @ x**2) / count[:, None] - means**2 + 1e-6), count / x.shape[0]


def mixture(params, x):
    def improve(state):
        params, _, likelihood, turn = state
        shares, following = responsibilities(params, x)
        return maximize(shares, x), likelihood, following, turn + 1

    def improves(state):
        return (jnp.abs(state[1] - state[2]) > 1e-3) & (state[3] < 100)

    return lax.while_loop(improves, improve, (params, -jnp.inf, 0.0, 0))


@pytest.fixture(scope="module")
def explored():
    return jv.explore(mixture, (jnp.ones((3, 2)), jnp.ones((3, 2)), jnp.ones(3) / 3), jnp.ones((40, 2)))


def outline_of_stage(explored, stage):
    graph = getattr(explored, stage)
    return next(entry.outline for entry in explored.document().outlines if entry.outline.graph is graph)


@pytest.mark.parametrize("stage", ["stablehlo", "hlo"])
def test_all_that_runs_in_a_body_of_a_loop_stands_in_its_row(explored, stage):
    outline = outline_of_stage(explored, stage)
    check(outline)
    graph = outline.graph
    [around] = [i for i, row in enumerate(outline) if row.kind == "loop"]
    bodies = {row.name: row for row in outline if row.kind == "body" and row.parent == around}
    assert set(bodies) == {"while improves", "do"}
    loop = next(node for node in graph.owned_regions if graph.tables.strings[graph.nodes.op[node]] == "while")
    for region, row in zip(graph.owned_regions[loop], (bodies["while improves"], bodies["do"]), strict=True):
        assert row.first <= graph.region_intervals[0][region]
        assert graph.region_intervals[1][region] <= row.end


def test_the_kernels_of_a_function_are_one_box_in_the_body_of_its_loop(explored):
    names = [box.name for box in explored.view(stage="hlo", width=760, height=560).boxes]
    assert names.count("responsibilities") == 1
    assert names.count("do") == 1
    assert names.count("while improves") == 1


@pytest.mark.skipif(IS_OLD, reason="XLA of JAX 0.6 makes no kernel of the square that it moves out")
def test_a_kernel_that_the_compiler_moved_out_of_a_loop_stands_beside_it(explored):
    outline = outline_of_stage(explored, "hlo")
    graph, squares = outline.graph, explored.hlo.regions.owner[1]
    assert graph.tables.strings[graph.nodes.op[squares]] == "fusion"
    rows = list(outline)
    [moved] = [row for row in rows if row.first == squares and row.parent == 0]
    assert moved.name == "maximize"
    assert [row.kind for row in rows].count("loop") == 1


def test_phases_in_a_compiled_loop_mirror_each_other_whatever_was_moved_out_of_it():
    def epoch(key, w, x):
        def turn(i, w):
            def loss(w):
                noise = jax.random.normal(jax.random.fold_in(key, i), x.shape)
                return jnp.sum(jnp.tanh((x + noise) @ w) ** 2)

            return w - 0.1 * jax.grad(loss)(w)

        return lax.fori_loop(0, 8, turn, w)

    explored = jv.explore(epoch, jax.random.key(0), jnp.ones((16, 4)), jnp.ones((64, 16)))
    outline = outline_of_stage(explored, "hlo")
    check(outline)
    phases = [row for row in outline if row.kind == "phase"]
    assert {row.name for row in phases if row.twin >= 0} == {"forward", "backward"}
    for row in phases:
        most = max(one.end - one.first for one in phases if one.name == row.name)
        assert (row.twin >= 0) == (row.end - row.first == most)


def test_copies_that_the_compiler_makes_for_a_loop_alone_are_no_boxes(explored):
    outline = outline_of_stage(explored, "hlo")
    graph = outline.graph
    copies = [
        n for n in range(len(graph)) if graph.tables.strings[graph.nodes.op[n]] == "copy" and graph.nodes.region[n] == 0
    ]
    assert copies, "XLA gives what goes round memory of its own"
    assert 0 not in outline.role[copies].tolist()
    assert not any(box.name.startswith("copy") for box in explored.view(stage="hlo").boxes)


def test_copies_for_a_loop_that_xla_calls_are_no_boxes():
    def settle(x, end):
        return lax.while_loop(lambda s: s[1] < end, lambda s: (jnp.cos(s[0]), s[1] + 0.1), (x, 0.0))

    # Small loops are put into a call where XLA runs them on a CPU.
    explored = jv.explore(settle, jnp.ones(2), 1.0)
    assert not any(box.name.startswith("copy") for box in explored.view(stage="hlo").boxes)


def recurrence(w, xs):
    def cell(h, x):
        h = jnp.tanh(w @ h + x)
        return h, jnp.sin(h)

    return jax.lax.scan(cell, jnp.zeros(4), xs)[1]


def test_what_takes_slices_for_the_turns_of_a_scan_and_puts_them_back_is_no_box():
    explored = jv.explore(recurrence, jnp.ones((4, 4)), jnp.ones((9, 4)))
    strings, ops = explored.stablehlo.tables.strings, explored.stablehlo.nodes.op
    assert {"dynamic_slice", "dynamic_update_slice"} <= {strings[op] for op in ops}
    jaxpr, stablehlo = ([box.name for box in explored.view(stage=stage).closed] for stage in ("jaxpr", "stablehlo"))
    assert jaxpr == stablehlo == ["matmul", "add", "tanh", "sin"]


def test_slices_that_the_program_takes_in_a_loop_are_boxes():
    def windows(x):
        return jax.lax.fori_loop(0, 4, lambda i, s: s + jax.lax.dynamic_slice(x, (i,), (3,)), jnp.zeros(3))

    names = [box.name for box in jv.explore(windows, jnp.ones(9)).view(stage="stablehlo").closed]
    assert {"dynamic_slice", "add"} <= set(names)


def test_a_copy_that_makes_an_argument_a_result_is_an_edge_as_in_the_jaxpr():
    explored = jv.explore(lambda x: (x, jnp.sin(x)), jnp.ones(4))
    outline = outline_of_stage(explored, "hlo")
    copies = [n for n in range(len(outline.graph)) if outline.graph.tables.strings[outline.graph.nodes.op[n]] == "copy"]
    assert copies
    assert (outline.role[copies] == EDGE).all()
    assert [box.name for box in explored.view(stage="hlo").closed] == ["sin"]


def test_a_copy_is_a_box_where_there_is_nothing_else():
    explored = jv.explore(lambda x: x, jnp.ones(4))
    assert [box.name for box in explored.view(stage="hlo").closed] == ["copy"]


def test_kernels_that_fill_memory_with_a_constant_are_chips():
    def trained(ws, xs):
        def loss(w, x):
            return jnp.sum(recurrence(w, x) ** 2)

        return lax.scan(lambda w, x: (w - 0.1 * jax.grad(loss)(w, x), loss(w, x)), ws, xs)

    explored = jv.explore(trained, jnp.ones((4, 4)), jnp.ones((3, 9, 4)))
    outline = outline_of_stage(explored, "hlo")
    check(outline)
    # XLA of JAX 0.6 makes no kernels of them; then the names are also those of what stands in other kernels.
    op = "broadcast" if IS_OLD else "fusion"
    named = [node for node in outline.graph if node.op == op and "broadcast" in node.name]
    filling = [node for node in named if re.fullmatch(r"(wrapped_)?broadcast(_fusion)?[.\d]*", node.name)]
    assert filling, "a scan begins with what is zero"
    assert {int(outline.role[node.index]) for node in filling} == ({EDGE, CHIP} if IS_OLD else {CHIP})
    seen = explored.view(stage="hlo", width=1600, height=1200)
    assert not [box.name for box in seen.boxes if box.name.startswith("broadcast")]
    # What copies a value that is none is work.
    others = [node for node in outline.graph if node.op == "fusion" and node not in filling]
    assert CHIP not in outline.role[[node.index for node in others]]


ALLOCATED = """HloModule stacked, is_scheduled=true

body {
  turn = (s32[], f32[3,4], f32[4]) parameter(0)
  at = s32[] get-tuple-element(turn), index=0
  all = f32[3,4] get-tuple-element(turn), index=1
  x = f32[4] get-tuple-element(turn), index=2
  one = s32[] constant(1)
  next = s32[] add(at, one)
  y = f32[4] tanh(x)
  row = f32[1,4] reshape(y)
  zero = s32[] constant(0)
  put = f32[3,4] dynamic-update-slice(all, row, at, zero)
  ROOT again = (s32[], f32[3,4], f32[4]) tuple(next, put, y)
}

goes_on {
  turn = (s32[], f32[3,4], f32[4]) parameter(0)
  at = s32[] get-tuple-element(turn), index=0
  three = s32[] constant(3)
  ROOT less = pred[] compare(at, three), direction=LT
}

ENTRY main {
  x = f32[4] parameter(0)
  first = s32[] constant(0)
  custom-call.4 = f32[3,4] custom-call(), custom_call_target="AllocateBuffer"
  state = (s32[], f32[3,4], f32[4]) tuple(first, custom-call.4, x)
  loop = (s32[], f32[3,4], f32[4]) while(state), condition=goes_on, body=body
  ROOT ys = f32[3,4] get-tuple-element(loop), index=1
}
"""


def test_memory_that_is_given_for_the_results_of_a_loop_is_a_chip(tmp_path):
    (tmp_path / "stacked.hlo").write_text(ALLOCATED)
    explored = jv.open(tmp_path / "stacked.hlo")
    names = [box.name for box in explored.view(stage="hlo", width=760, height=560).boxes]
    assert "while" in names
    assert not {"AllocateBuffer", "custom-call"} & set(names)


def test_of_twins_too_large_to_stand_side_by_side_the_forward_one_alone_may_open():
    fn, arguments = CORPUS["scan_rnn"]()
    explored = jv.explore(fn, *arguments)
    # XLA of JAX 0.6 makes more kernels of the way back.
    for width, both in ((800 if IS_OLD else 600, True), (500, False)):
        view = explored.view(stage="hlo", width=width, height=420)
        opened = [box.name for box in view.boxes if box.open]
        assert opened == (["forward", "scan(cell)", "backward", "scan(cell)"] if both else ["forward", "scan(cell)"])


def settled(x):
    return lax.while_loop(lambda s: s[0] < 9, lambda s: (s[0] + 1, jnp.tanh(s[1]) / 2), (0, x))[1]


@pytest.mark.skipif(
    IS_OLD, reason="HLO of JAX 0.6 says no columns, by which a condition is told from what is around it"
)
def test_the_condition_of_a_loop_that_xla_has_widened_has_no_name_of_its_own(tmp_path):
    text = jax.jit(settled).lower(jnp.ones(4)).compile().as_text()
    (condition,) = set(re.findall(r"condition=%([\w.]+)", text))
    path = tmp_path / "recurrence.hlo"
    path.write_text(re.sub(rf"%{re.escape(condition)}(?![\w.])", "%wide.wide.region_14.22.clone", text))
    rows = list(jv.open(path).document().outlines[0].outline)
    assert [row.name for row in rows if row.kind == "loop"] == ["while_loop"]
    assert [row.name for row in rows if row.kind == "body"] == ["while s[0] < 9", "do"]


def test_a_constraint_of_random_keys_that_a_loop_carries_is_no_box():
    def f(key, x):
        def step(carry, _):
            key, y = carry
            key, one = jax.random.split(key)
            return (key, y + jax.random.normal(one, y.shape)), None

        return lax.scan(step, (key, x), None, length=4)[0][1]

    outline = jv.explore(f, jax.random.key(0), jnp.ones(4))._capture.stablehlo.outline
    strings, ops = outline.graph.tables.strings, outline.graph.nodes.op
    assert not [op for op in ops[outline.role == BOX].tolist() if "constraint" in strings[op]]


def nearest(cases, methods):
    def best_of(best, case):
        x, method = case
        root = lax.switch(method, [lambda: jnp.sin(x).sum(), lambda: jnp.tanh(x).prod()])
        return lax.cond(root < best, lambda: root, lambda: best), root

    return lax.scan(best_of, jnp.inf, (cases, methods))


def test_kernels_that_take_slices_for_the_turns_of_a_scan_are_edges_where_branches_read_them():
    explored = jv.explore(nearest, jnp.ones((6, 4)), jnp.zeros(6, int))
    outline = explored._capture.hlo.outline
    check(outline)
    assert any("slice" in op for op in {node.op for node in explored.hlo})
    for stage in ("jaxpr", "hlo"):
        names = {box.name for box in explored.view(stage=stage).boxes}
        assert any("scan" in name for name in names)
        assert not any("slice" in name or name in ("copy", "results") for name in names)


def test_copies_that_the_compiler_makes_of_what_a_kernel_reads_are_edges():
    def spread(h):
        def longer(s):
            return s[0] + 1, s[1] * 1.5 + s[0]

        return lax.while_loop(lambda s: s[0] < 9, longer, (0, jnp.broadcast_to(h, (4, 16))))[1]

    names = [box.name for box in jv.explore(spread, jnp.ones(16)).view(stage="hlo").boxes]
    assert not any(name.startswith(("copy", "broadcast")) for name in names)


def test_loops_of_the_compiler_itself_have_no_numbers():
    explored = jv.explore(lambda a, b: jnp.linalg.solve(a, b), jnp.eye(4), jnp.ones(4))
    loops = [row.name for row in explored._capture.hlo.outline if row.kind == "loop"]
    assert loops
    assert set(loops) == {"while"}


def test_what_is_moved_out_of_a_loop_is_called_by_what_it_does():
    def fill(x):
        def step(s):
            return s[0] + 1, s[1] + jnp.where(jnp.arange(30) == 3, 0.0, -1e9)

        return lax.while_loop(lambda s: s[0] < 9, step, (0, x))[1]

    outline = jv.explore(fill, jnp.ones(30))._capture.hlo.outline
    names = [row.name for row in outline if row.kind == "call"]
    assert "do" not in names


@pytest.mark.skipif(IS_OLD, reason="JAX 0.6 says of what is moved out of a loop no more than that it is of the loop")
@pytest.mark.parametrize("loop", ["scan", "while"])
def test_what_the_compiler_moves_out_of_a_loop_is_one_row_before_it(loop):
    def step(x, a):
        # The same in every turn.
        return x * jnp.tanh(a) + jnp.sin(a) @ jnp.cos(a)

    def repeated(x, a):
        if loop == "scan":
            return lax.scan(lambda x, _: (step(x, a), None), x, None, length=30)[0]
        return lax.while_loop(lambda x: x.sum() < 9.0, lambda x: step(x, a), x)

    explored = jv.explore(repeated, jnp.ones((4, 4)), jnp.ones((4, 4)))
    (hlo,) = (one.outline for one in explored.document().outlines if one.graph == 2)
    check(hlo)
    row = next(row for row in hlo if row.kind == "loop")
    before = next(one for one in hlo if one.name == f"before {row.name}")
    assert before.closed
    assert before.parent == row.parent
    assert before.end <= row.first
    strings, nodes = hlo.graph.tables.strings, hlo.graph.nodes
    ops = [strings[op] for op in nodes.op[before.first : before.end].tolist()]
    assert {"sine", "cosine", "tanh"} <= set(ops)
    assert "tanh" not in [strings[op] for op in nodes.op[row.first : row.end].tolist()]


@pytest.mark.skipif(IS_OLD, reason="JAX 0.6 says of what is moved out of a loop no more than that it is of the loop")
def test_a_product_that_the_compiler_moves_out_of_a_scan_stands_beside_it_with_its_name():
    def settled(w, u, x):
        return lax.fori_loop(0, 30, lambda _, z: jnp.tanh(z @ w + x @ u), jnp.zeros_like(x))

    explored = jv.explore(settled, *[jnp.ones((4, 4))] * 3)
    rows = list(explored._capture.hlo.outline)
    (loop,) = (row for row in rows if row.kind == "loop")
    names = [box.name for box in explored.view(stage="hlo").boxes]
    assert names.index("matmul") < names.index(loop.name)
    assert names.count("matmul") == 2


def test_what_is_left_of_one_gradient_of_several_is_told_by_its_call():
    def move(x, u):
        return x + 0.1 * jnp.array([x[1], jnp.sin(x[0]) + u[0]])

    def solve(xs, us):
        def turn(xs, _):
            by_state = jax.vmap(jax.jacobian(move, 0))(xs, us)
            by_force = jax.vmap(jax.jacobian(move, 1))(xs, us)
            return jnp.tanh(xs) + jnp.sum(by_state, 1) * by_force[:, 0], None

        return lax.scan(turn, xs, length=5)[0]

    outline = outline_of_stage(jv.explore(solve, jnp.ones((6, 2)), jnp.ones((6, 1))), "hlo")
    phases = [row for row in outline if row.kind == "phase"]
    assert phases
    assert {outline.row(row.parent).name for row in phases} == {"vmap(jacobian(move))"}


def test_a_loop_whose_kernels_do_not_say_what_they_compute_has_its_outline(tmp_path):
    """As a damaged text has it, or one that is printed without what is called."""

    def turned(x):
        return jax.lax.fori_loop(0, 3, lambda i, carry: carry * 2.0 + i, x)

    text = jax.jit(turned).lower(jnp.ones((4, 2))).compile().as_text()
    kernels = [line for line in text.splitlines() if "fusion(" in line]
    for kernel in kernels:
        (tmp_path / "m").write_text(text.replace(kernel, kernel.replace("calls=", "clls=")))
        graph = jv.open(tmp_path / "m").hlo
        assert sum(node.op == "fusion" and not node.regions for node in graph) == 1
    assert kernels
