"""What is kept for the backward pass is counted, told with its lines, and beside what checkpoints would keep."""

from __future__ import annotations

import math
import re

import jax
import jax.numpy as jnp
import pytest
from find.found import found, line_numbers, the
from jax import lax
from jax.ad_checkpoint import checkpoint_name, print_saved_residuals

from jaxviz.document import Document, DocumentError
from jaxviz.exploration import explore

WEIGHTS = [jnp.ones((1024, 1024))] * 3
X = jnp.ones((2048, 1024))
SIZE = 2048 * 1024 * 4


def network(weights, x):
    for w in weights:
        x = jnp.tanh(x @ w)
    return x.sum()


def test_residuals_are_told_with_their_line():
    finding = the("residuals", jax.grad(network), WEIGHTS, X)
    assert line_numbers(finding, network) == [2]
    # The result of each tanh: for its own derivative and as what the next product was given.
    assert finding.figures["bytes"] % SIZE == 0
    assert finding.figures["bytes"] >= 3 * SIZE
    assert finding.figures["nothing_saveable"] == 0
    assert finding.figures["dots_saveable"] == 3 * SIZE
    assert "jax.checkpoint" in finding.remedy


def test_a_loop_is_told_with_what_is_kept_of_it_and_not_with_all_that_it_makes():
    finding = the("residuals", jax.grad(turning), jnp.ones((256, 256)), jnp.ones((512, 256)))
    # The last carry, which the loop makes too, is not read on the way back.
    told = re.search(r": ([0-9.]+) MB by line", finding.text)
    assert told is not None
    assert float(told[1]) == pytest.approx(finding.figures["bytes"] / 1e6, rel=0.01)


def test_a_policy_that_saves_next_to_nothing_is_no_remedy():
    def likelihood(w, h):
        return -jax.nn.log_softmax(h @ w)[:, 0].mean()

    finding = the("residuals", jax.grad(likelihood), jnp.ones((16, 50_000)), jnp.ones((128, 16)))
    # What is kept is the product itself.
    assert finding.figures["dots_saveable"] == 128 * 50_000 * 4
    assert "nothing_saveable" in finding.remedy
    assert "policies.dots_saveable" not in finding.remedy
    assert "policies.dots_saveable" in the("residuals", jax.grad(network), WEIGHTS, X).remedy


def test_each_policy_says_what_it_computes_again():
    policies = {one.name: one for one in explore(jax.grad(network), WEIGHTS, X).residuals.policies}
    nothing, dots = policies["nothing_saveable"], policies["dots_saveable"]
    assert nothing.equations > dots.equations
    # Three products less.
    assert nothing.flops - dots.flops == 3 * 2 * 2048 * 1024 * 1024


def batched(w, x):
    return jnp.tanh(jnp.einsum("bij,bjk->bik", x, w)).sum()


def test_products_of_batches_are_not_kept_by_the_policy_without_them():
    batch = jnp.ones((8, 512, 512)), jnp.ones((8, 512, 512))
    policies = {one.name: one for one in explore(jax.grad(batched), *batch).residuals.policies}
    assert policies["dots_with_no_batch_dims_saveable"].bytes == 0
    assert policies["dots_saveable"].bytes == 8 * 512 * 512 * 4


MATRICES = [jnp.ones((16, 16))] * 3
ROWS = jnp.ones((8, 16))


def named(weights, x):
    for w in weights:
        x = checkpoint_name(jnp.tanh(x @ w), "hidden")
    return x.sum()


def attention(weights, x):
    q, k, v = (jnp.reshape(x @ w, (2, 4, 16)) for w in weights)
    scores = jax.nn.softmax(jnp.einsum("bid,bjd->bij", q, k))
    return jnp.einsum("bij,bjd->bid", scores, v).sum()


def normalized(weights, x):
    for w in weights:
        x = (x - x.mean(-1, keepdims=True)) / jnp.sqrt(x.var(-1, keepdims=True) + 1e-5)
        x = jax.nn.gelu(x @ w) + x
    return (x**2).mean()


def looping(weights, x):
    return jax.lax.scan(lambda h, w: (jnp.tanh(h @ w), None), x, weights)[0].sum()


def turning(w, x):
    return lax.scan(lambda h, _: (jnp.sin(h @ w), None), x, None, length=20)[0].sum()


def solved(weights, x):
    return (jnp.linalg.solve(weights[0] + jnp.eye(16) * 3, x.T) ** 2).sum()


def solved_by_hand(weights, x):
    matrix = weights[0]
    solve = lax.custom_linear_solve(
        lambda v: matrix @ v + 3 * v,
        x.T,
        lambda _, b: jnp.linalg.solve(matrix + 3 * jnp.eye(16), b),
        lambda _, b: jnp.linalg.solve((matrix + 3 * jnp.eye(16)).T, b),
    )
    return (solve**2).sum()


def solved_in_steps(weights, x):
    return (jax.scipy.sparse.linalg.cg(lambda v: weights[0] @ v + 3 * v, x[0])[0] ** 2).sum()


def convolved(weights, x):
    for w in weights:
        x = jnp.tanh(jax.lax.conv_general_dilated(x, w, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC")))
    return x.sum()


def products_of_a_choice(weights, x):
    """Branches with one product, with two, and with one of another shape; one of them runs."""
    branches = (
        lambda x: jnp.sin(x @ weights[0]),
        lambda x: jnp.tanh(x @ weights[0]) @ weights[1] * x,
        lambda x: jnp.cos(x.T @ x).sum() * jnp.sin(x),
    )
    return (lax.switch((x[0, 0] > 0).astype(int), branches, jnp.tanh(x @ weights[2])) ** 2).sum()


PROGRAMS = {
    "names": (named, (MATRICES, ROWS)),
    "attention": (attention, (MATRICES, ROWS)),
    "normalized": (normalized, (MATRICES, ROWS)),
    "a loop": (looping, (jnp.stack(MATRICES), ROWS)),
    "a solve": (solved, (MATRICES, ROWS)),
    "a choice of products": (products_of_a_choice, (MATRICES, ROWS)),
    "convolutions": (convolved, ([jnp.ones((3, 3, 4, 4))] * 2, jnp.ones((1, 8, 8, 4)))),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_what_a_policy_would_keep_is_what_is_kept_with_it(name):
    fn, arguments = PROGRAMS[name]
    told = {one.name: one for one in explore(jax.grad(fn), *arguments).residuals.policies}
    policies = jax.checkpoint_policies
    for policy in ("everything_saveable", "dots_saveable", "dots_with_no_batch_dims_saveable", "nothing_saveable"):
        checkpointed = jax.checkpoint(fn, policy=getattr(policies, policy))
        assert told[policy].bytes == explore(jax.grad(checkpointed), *arguments).residuals.bytes, policy
    moved = told["offload_dot_with_no_batch_dims"]
    assert (moved.bytes, moved.host) == (0, told["dots_with_no_batch_dims_saveable"].bytes)
    if name == "names":
        checkpointed = jax.checkpoint(fn, policy=policies.save_only_these_names("hidden"))
        kept = explore(jax.grad(checkpointed), *arguments).residuals.bytes
        assert told["save_only_these_names('hidden')"].bytes == kept


def counted(weights, x):
    return lax.fori_loop(0, 5, lambda i, h: jnp.tanh(h @ weights[0]), x).sum()


def added_to(weights, x):
    return lax.scan(lambda h, w: (h + jnp.sin(h @ w), h.sum()), x, weights)[0].sum()


def gated(weights, x):
    def cell(carry, row):
        gates = row @ weights["x"] + carry[0] @ weights["h"] + weights["b"]
        forget, new = jnp.split(gates, 2, -1)
        state = jax.nn.sigmoid(forget) * carry[1] + jnp.tanh(new)
        return (jnp.tanh(state), state), state

    return (lax.scan(cell, (x[0], x[0]), x)[1] ** 2).sum()


def chosen(weights, x):
    return lax.cond(x[0, 0] > 0, lambda x: jnp.sin(x @ weights[0]), lambda x: jnp.cos(x) * x, x).sum()


def of_a_row(weights, x):
    return (jnp.tanh(x @ weights[0] + x[0]) * 3 / jnp.zeros((8, 16))).sum()


GATES = {"x": jnp.ones((16, 32)), "h": jnp.ones((16, 32)), "b": jnp.ones(32)}
PRINTED = {
    **{name: PROGRAMS[name] for name in PROGRAMS if name != "a solve"},
    "a counted loop": (counted, (MATRICES, ROWS)),
    "a loop that adds": (added_to, (jnp.stack(MATRICES), ROWS)),
    "a gated loop": (gated, (GATES, jnp.ones((5, 8, 16)))),
    "a choice": (chosen, (MATRICES, ROWS)),
    "numbers": (of_a_row, (MATRICES, ROWS)),
}
MADE = re.compile(r"^(\w+)\[([\d,]*)\] (?!from )", re.MULTILINE)


def bytes_printed(text):
    """The bytes of what JAX prints that it keeps, without the arguments."""
    return sum(
        math.prod(map(int, filter(None, dims.split(",")))) * (1 if dtype == "bool" else 4)
        for dtype, dims in MADE.findall(text)
    )


@pytest.mark.parametrize("name", PRINTED)
def test_what_is_kept_is_what_jax_prints(name, capsys):
    fn, arguments = PRINTED[name]
    residuals = explore(jax.grad(fn, argnums=(0, 1)), *arguments).residuals
    print_saved_residuals(fn, *arguments)
    printed = bytes_printed(capsys.readouterr().out)
    assert residuals.bytes + residuals.free == printed
    assert residuals.free > 0 or name != "numbers"
    for policy in residuals.policies:
        if policy.name.endswith("saveable"):
            print_saved_residuals(jax.checkpoint(fn, policy=getattr(jax.checkpoint_policies, policy.name)), *arguments)
            printed = bytes_printed(capsys.readouterr().out)
            everything = policy.name == "everything_saveable"
            assert policy.bytes + (residuals.free if everything else 0) == printed, policy.name


def test_of_checkpoints_that_are_there_no_policy_is_told_that_cannot_be_known():
    layer = jax.checkpoint(lambda w, x: jnp.tanh(x @ w))

    def in_a_row(weights, x):
        for w in weights:
            x = layer(w, x)
        return x.sum()

    def in_a_loop(weights, x):
        return lax.scan(lambda h, w: (layer(w, h), None), x, jnp.stack(weights))[0].sum()

    def names(fn):
        return [policy.name for policy in explore(jax.grad(fn), MATRICES, ROWS).residuals.policies]

    assert names(in_a_row) == ["nothing_saveable"]
    assert "everything_saveable" not in names(in_a_loop)
    assert "dots_saveable" in names(in_a_loop)
    finding = the("residuals", jax.grad(in_a_row), WEIGHTS * 2, X)
    assert "checkpoint around more of it" in finding.remedy


def test_what_is_computed_again_is_what_a_checkpoint_computes_again():
    again = explore(jax.grad(named), MATRICES, ROWS).residuals.policies[-2]
    assert again.name == "nothing_saveable"
    graph = explore(jax.grad(jax.checkpoint(named)), MATRICES, ROWS).jaxpr
    recomputed = [node for node in graph if node.kind == "operation" and "rematted_computation" in node.scope]
    assert again.equations == len(again.recomputed) == len(recomputed)


def test_what_is_kept_and_computed_again_in_the_body_of_a_loop_is_told_node_by_node():
    exploration = explore(jax.grad(turning), MATRICES[0], ROWS)
    graph = exploration.jaxpr
    policies = {one.name: one for one in exploration.residuals.policies}
    loop, product, slope = (graph.find(op)[0].index for op in ("scan", "dot_general", "cos"))
    everything, dots, nothing = (policies[f"{name}_saveable"] for name in ("everything", "dots", "nothing"))
    assert {loop, slope} <= set(everything.saved.tolist())
    assert not len(everything.recomputed)
    assert dots.saved.tolist() == [product]
    assert {loop, slope} <= set(dots.recomputed.tolist())
    assert not len(nothing.saved)
    assert {loop, product, slope} <= set(nothing.recomputed.tolist())
    assert len(nothing.recomputed) == nothing.equations


def prepared(weights, x):
    x = jnp.sin(x)
    return jax.grad(network)(weights, x)


def test_what_was_made_before_the_function_is_kept_and_not_computed_again():
    exploration = explore(prepared, MATRICES, ROWS)
    nothing = exploration.residuals.policies[-1]
    (sine,) = exploration.jaxpr.find("sin")
    assert nothing.saved.tolist() == [sine.index]
    assert nothing.bytes == 8 * 16 * 4


def energy(x):
    return jnp.sum(jnp.sin(x) ** 3)


def hessian_times(x, v):
    return jax.grad(lambda x: jnp.vdot(jax.grad(energy)(x), v))(x)


@pytest.mark.skipif(jax.__version_info__ < (0, 7), reason="JAX 0.6 says outer derivatives twice on the inner way back")
def test_of_a_second_derivative_what_the_second_way_back_reads_is_told_apart():
    vector = jnp.ones(4)
    exploration = explore(hessian_times, vector, vector)
    values = exploration.residuals.values
    assert {value.order for value in values} == {1, 2}
    scopes = {order: {exploration.jaxpr.node(v.node).scope for v in values if v.order == order} for order in (1, 2)}
    # The first way back reads the forward pass alone, the second what the first made too.
    assert not any("transpose" in scope for scope in scopes[1])
    assert any("transpose" in scope for scope in scopes[2])
    lines = {function.__code__.co_firstlineno + 1 for function in (energy, hessian_times)}
    assert {exploration.jaxpr.node(value.node).line for value in values} == lines
    assert all(value.bytes == 16 for value in values)


def test_what_is_kept_is_part_of_the_document():
    document = explore(jax.grad(network), MATRICES, ROWS).document(stages=("jaxpr",))
    (entry,) = Document.from_json(document.to_json()).residuals
    (before,) = document.residuals
    assert entry.values == before.values
    for one, other in zip(entry.policies, before.policies, strict=True):
        assert (one.name, one.bytes, one.equations, one.flops) == (
            other.name,
            other.bytes,
            other.equations,
            other.flops,
        )
        assert one.saved.tolist() == other.saved.tolist()
        assert one.recomputed.tolist() == other.recomputed.tolist()
    assert explore(network, MATRICES, ROWS).document(stages=("jaxpr",)).residuals == ()


def test_of_a_way_back_the_document_says_that_nothing_is_kept_for_it():
    document = explore(jax.grad(lambda x: (3.0 * x).sum()), X).document(stages=("jaxpr",))
    (entry,) = Document.from_json(document.to_json()).residuals
    assert entry.values == entry.policies == ()


@pytest.mark.parametrize(
    ("change", "where"),
    [({"graph": 1}, "graph"), ({"node": [10_000]}, "node"), ({"size": [-1]}, "size"), ({"order": []}, "one length")],
)
def test_a_document_that_keeps_what_is_not_there_is_refused(change, where):
    value = explore(jax.grad(network), MATRICES, ROWS).document(stages=("jaxpr",)).to_json(packed=False)
    value["residuals"][0] |= change
    with pytest.raises(DocumentError, match=rf"residuals\[0\].*{where}"):
        Document.from_json(value)


def test_a_checkpoint_leaves_less_to_keep():
    plain = explore(jax.grad(network), WEIGHTS, X).residuals.bytes
    layer = jax.checkpoint(lambda w, x: jnp.tanh(x @ w))

    def saving(weights, x):
        for w in weights:
            x = layer(w, x)
        return x.sum()

    assert explore(jax.grad(saving), WEIGHTS, X).residuals.bytes < plain


INNOCENT = {
    "no gradient": (network, (WEIGHTS, X)),
    "a small one": (jax.grad(network), ([jnp.ones((8, 8))] * 3, jnp.ones((4, 8)))),
    "a sum": (jax.grad(lambda x: x.sum()), (X,)),
    "a linear function": (jax.grad(lambda w: (X @ w).sum()), (WEIGHTS[0],)),
    "an argument": (jax.grad(lambda w, x: (x @ w).sum()), (WEIGHTS[0], X)),
    "a forward derivative": (lambda x: jax.jvp(jnp.tanh, (x,), (x,)), (X,)),
}


@pytest.mark.parametrize("name", INNOCENT)
def test_little_that_is_kept_is_left_alone(name):
    fn, arguments = INNOCENT[name]
    assert found("residuals", fn, *arguments) == []


@pytest.mark.parametrize("fn", [solved, solved_by_hand, solved_in_steps])
def test_the_transpose_that_a_linear_solve_holds_is_no_way_back(fn):
    exploration = explore(fn, MATRICES, ROWS)
    assert exploration.residuals.bytes == 0
    assert not any(finding.kind == "residuals" for finding in exploration.found_in_jaxpr)
    assert explore(jax.grad(fn), MATRICES, ROWS).residuals.bytes > 0
