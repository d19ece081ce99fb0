"""Kernels are called by what the person wrote, not by what the compiler named them."""

import jax
import jax.numpy as jnp
import pytest
from outline.outlines import check
from programs import CORPUS

from jaxviz.exploration import explore
from jaxviz.outline import Outline, Row


def _outline(fn, *args) -> Outline:
    """The outline of the optimized HLO."""
    return explore(fn, *args).document(passes=False).outlines[2].outline


def _kernels(outline: Outline) -> list[Row]:
    return [row for row in outline if _op(outline, row) == "fusion" and row.kind == "call"]


def _op(outline: Outline, row: Row) -> str:
    graph = outline.graph
    return graph.tables.strings[graph.nodes.op[row.first]]


def _square(size: int = 64) -> jax.Array:
    return jnp.ones((size, size))


def test_a_kernel_that_is_all_of_a_call_has_its_name():
    def gate(x):
        return jax.nn.sigmoid(x) * x + 1

    outline = _outline(lambda w, x: gate(x @ w).T @ w, _square(), _square())
    names = [kernel.name for kernel in _kernels(outline)]
    assert "gate" in names
    # JAX 0.6 leaves a product as it is, which is no fusion then.
    products = [row.name for row in outline if _op(outline, row) == "dot"]
    assert "matmul" in names + products


def test_a_kernel_of_several_things_is_told_by_the_last_and_how_many_more():
    def model(x):
        a = jnp.exp(x)
        b = jnp.sin(a)
        c = jnp.sqrt(b)
        return jnp.sort(c)

    # In JAX 0.6 what sorts is a kernel too.
    more = ["sort"] if jax.__version_info__ < (0, 7) else []
    assert [kernel.name for kernel in _kernels(_outline(model, jnp.ones(64)))] == ["sqrt +2", *more]


@pytest.mark.smoke
def test_a_kernel_of_several_things_leaves_out_how_a_loop_in_it_begins():
    def smooth(x):
        for _ in range(2):
            x = jnp.sin(x) + 1
        return x

    kernels = _kernels(_outline(lambda x: jnp.sort(smooth(x) * x), jnp.ones(64)))
    assert kernels[0].name == "smooth, multiply"


def test_a_kernel_over_both_phases_is_not_called_by_the_phases():
    outline = _outline(*_grad_of_tanh())
    assert all("forward" not in row.name and "backward" not in row.name for row in _kernels(outline))


def _grad_of_tanh():
    def loss(w, x):
        return (jnp.tanh(x @ w) ** 2).mean()

    return jax.value_and_grad(loss), _square(), _square()


def test_what_a_library_names_is_called_as_the_person_calls_it():
    fn, args = CORPUS["xor_train"]()
    names = {row.name for row in _outline(fn, *args)}
    assert "optimizer.update" in names
    assert "new_trace" not in names


@pytest.mark.parametrize("name", ["mlp_train", "flax_block_forward"])
def test_no_kernel_is_left_to_the_name_of_the_compiler(name):
    fn, args = CORPUS[name]()
    outline = _outline(fn, *args)
    compilers = {outline.graph.tables.strings[number] for number in outline.graph.nodes.name.tolist()} - {""}
    left = [row.name for row in _kernels(outline) if row.name in compilers]
    assert len(left) <= len(_kernels(outline)) / 20, left


def test_a_kernel_of_nothing_that_the_person_wrote_is_told_by_its_operations():
    def filled(x):
        return jax.lax.scan(lambda f, _: (jnp.tanh(f) * 0.9, jnp.abs(f).max()), x, None, length=50)[1].sum()

    outline = _outline(jax.grad(filled), jnp.ones(7))
    strings, given = outline.graph.tables.strings, outline.graph.nodes.name
    told = {kernel.name: strings[given[kernel.first]] for kernel in _kernels(outline)}
    # What is written into one array for all turns tells less than what computes it.
    written = [name for name, of_the_compiler in told.items() if "dynamic-update-slice" in of_the_compiler]
    assert written
    assert not any("results" in name or "dynamic-update-slice" in name for name in written)
    assert [name for name, of_the_compiler in told.items() if name == of_the_compiler] == []


def spread(u):
    return jnp.roll(u, 1, 0) + jnp.roll(u, -1, 0) - 2 * u


def reacting(state):
    u, v = state
    made = u * v**2
    return 0.2 * spread(u) - made + 0.04 * (1 - u), 0.1 * spread(v) + made - 0.1 * v


def third_order(y, h):
    def ahead(a, k):
        return tuple(one + a * change for one, change in zip(y, k, strict=True))

    k1 = reacting(y)
    k2 = reacting(ahead(h / 2, k1))
    k3 = reacting(ahead(3 * h / 4, k2))
    new = tuple(a + h * (2 / 9 * b + 1 / 3 * c + 4 / 9 * d) for a, b, c, d in zip(y, k1, k2, k3, strict=True))
    k4 = reacting(new)
    error = tuple(h * (b / 12 - d / 9 + e / 8) for b, d, e in zip(k1, k3, k4, strict=True))
    return new, jnp.sqrt(sum(jnp.mean(one**2) for one in error))


def test_kernels_of_several_steps_stand_in_the_one_that_most_of_each_is_of():
    outline = _outline(third_order, (jnp.ones((32, 32)), jnp.ones((32, 32))), 0.1)
    check(outline)
    steps = [row for row in outline if row.parent == 0]
    names = [(row.name, outline.graph.tables.strings[outline.variable[row.index]]) for row in steps]
    # The compiler of JAX 0.6 makes all but one kernel of the steps before it.
    if jax.__version_info__ < (0, 7):
        assert ("spread", "k1") not in names
        return
    assert names[:3] == [
        ("k1 = reacting(y)", "k1"),
        ("k2 = reacting(ahead(h / 2, k1))", "k2"),
        ("k3 = reacting(ahead(3 * h / 4, k2))", "k3"),
    ]
    # The error is made of the fourth step, and takes less than that.
    assert names[-1][0].startswith("k4 = reacting(new) +")


def test_kernels_of_later_copies_are_as_those_of_the_first():
    def deep(weights, x):
        for w in weights:
            x = jnp.cumsum(jnp.tanh(x) @ w, axis=0)
        return x

    outline = _outline(deep, [_square(8)] * 3, _square(8))
    [stack] = [row for row in outline if row.count == 3]
    first, *later = ([outline.row(row) for row in outline.children[copy]] for copy in outline.children[stack.index])
    assert {"tanh", "matmul"} <= {row.name for row in first}
    for copy in later:
        assert [row.like for row in copy] == [row.index for row in first]


def test_a_kernel_that_puts_results_of_turns_into_place_is_called_by_what_it_computes():
    def curve(h, x):
        def turn(h, _):
            h = jnp.tanh(x @ h)
            score = 0.5 * jnp.log(h @ h) + jnp.sin(h[0]) * jnp.log(2.0 * jnp.pi)
            return h, score

        return jax.lax.scan(turn, h, None, length=8)

    outline = _outline(curve, _square(8)[0], _square(8))
    names = [kernel.name for kernel in _kernels(outline)]
    assert any("score" in name or "add" in name for name in names)
    assert not [name for name in names if name.startswith("results")]


def test_a_piece_that_is_all_of_an_expression_has_its_name_and_is_as_closed():
    def choose(logits):
        best, where = jax.lax.top_k(logits.reshape(-1), 4)
        beam, token = jnp.divmod(where, logits.shape[-1])
        return token, beam, best

    outline = _outline(choose, _square(16))
    boxes = {row.name: row for row in outline if row.parent == 0}
    assert {"top_k", "divmod"} <= set(boxes)
    assert boxes["divmod"].closed


def test_a_call_of_a_library_that_chooses_by_a_condition_inside_has_its_name_where_the_compiler_made_the_choice():
    def determinant(a):
        factor = jnp.linalg.cholesky(a)
        return jnp.sum(jnp.log(jnp.diag(factor)))

    outline = _outline(jax.value_and_grad(determinant), jnp.eye(12))
    around = [outline.row(row.parent) for row in outline if row.name == "cond"]
    assert [(row.name, row.closed) for row in around] == [("diag", True)]
