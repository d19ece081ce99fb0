"""Of the copies in a stack one holds all that the others hold or more: else that would be no repeat."""

from __future__ import annotations

import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jax.sharding import Mesh
from jax.sharding import PartitionSpec as P
from outline.outlines import check, names_inside, outline_of, rows_named

import jaxviz as jv

try:
    from jax import shard_map
except ImportError:
    from jax.experimental.shard_map import shard_map

_X = jnp.ones((4, 4))


def block(x, skip):
    y = jnp.sin(x)
    y = jnp.cos(y) * 2.0
    if skip:
        x = x @ x.T
    return jnp.tanh(y + x)


def blocks(*skips):
    def f(x):
        for skip in skips:
            x = block(x, skip)
        return x

    return outline_of(f, _X)


def told_apart(outline):
    """The stacks of which no copy holds all that the others hold; what is closed is one box at all of them."""
    stacks = [row for row in outline if row.count > 1]
    copies = [[_held(outline, copy) for copy in outline.children[row.index]] for row in stacks]
    return [row for row, held in zip(stacks, copies, strict=True) if frozenset.union(*held) not in held]


def _held(outline, copy):
    """What a copy holds, rows that correspond to each other being the same."""
    found = set()
    todo = [] if outline.closed[copy] else list(outline.children[copy])
    while todo:
        row = outline.row(todo.pop())
        found.add(row.like if row.like >= 0 else row.index)
        todo += [] if row.closed else outline.children[row.index]
    return frozenset(found)


def test_a_first_turn_that_lacks_something_is_a_turn_as_the_others():
    outline = blocks(False, True, True, True)
    (stack,) = (row for row in outline if row.count > 1)
    assert stack.count == 4
    first, *others = [names_inside(outline, copy) for copy in outline.children[stack.index]]
    assert "matmul" not in first
    assert all("matmul" in other for other in others)
    assert not told_apart(outline)
    check(outline)


@pytest.mark.smoke
def test_a_first_turn_that_has_nothing_behind_its_call_does_not_run_into_the_second():
    def f(x):
        for i in range(5):
            y = block(x, True)
            x = y if i == 0 else x + y
        return x

    outline = outline_of(f, _X)
    check(outline)
    assert [row.count for row in outline if row.count > 1] == [5]
    assert len(rows_named(outline, "block")) == 5
    assert not told_apart(outline)


def test_what_a_comprehension_does_several_times_stays_one_statement():
    def f(x):
        for times in (2, 1, 1):
            x = sum(block(x * i, False) for i in range(times))
            x = jnp.exp(x)
        return x

    outline = outline_of(f, _X)
    check(outline)
    assert [row.count for row in outline if row.parent == 0] == [2, 1, 2]


def test_later_turns_that_lack_something_are_copies_of_the_first():
    outline = blocks(True, True, False)
    assert [row.count for row in outline if row.count > 1] == [3]
    assert not told_apart(outline)


def test_what_lies_deep_in_later_turns_and_not_in_the_first_is_of_all_turns():
    def deeper(x, skip):
        y = block(x, skip)
        z = y + x
        return jnp.exp(z)

    def f(x):
        for skip in (False, True, True):
            x = deeper(x, skip)
            x = jnp.sqrt(x)
        return x

    outline = outline_of(f, _X)
    assert [row.count for row in outline if row.count > 1] == [3]
    assert not told_apart(outline)


@settings(max_examples=25, deadline=None)
@given(st.lists(st.tuples(st.booleans(), st.booleans()), min_size=2, max_size=7))
def test_of_any_turns_one_holds_all_that_the_others_hold(turns):
    def f(x):
        for skip, more in turns:
            x = block(x, skip)
            if more:
                x = jnp.sqrt(x) + block(x, not skip)
        return x

    outline = outline_of(f, _X)
    check(outline)
    assert not told_apart(outline), outline


def newton(w, x, y):
    def loss(w):
        return jnp.mean(jnp.logaddexp(0.0, -y * (x @ w))) + 0.01 * w @ w

    for _ in range(4):
        gradient = jax.grad(loss)(w)
        curvature = jax.hessian(loss)(w)
        w = w - jnp.linalg.solve(curvature, gradient)
    return w


@pytest.mark.parametrize("stage", ["stablehlo", "hlo"])
def test_turns_that_the_compiler_has_mixed_are_no_stack(stage):
    explored = jv.explore(newton, jnp.zeros(6), jnp.ones((50, 6)), jnp.ones(50))
    written = next(row for row in explored.document().outlines[0].outline if row.count > 1)
    assert written.count == 4
    outline = getattr(explored._capture, stage).outline
    check(outline)
    for row in outline:
        copies = [outline.row(child) for child in outline.children[row.index]] if row.count > 1 else []
        assert len(copies) <= 4 or row.depth > written.depth
        assert all(copy.equations <= 2 * copies[0].equations + 8 for copy in copies)


def test_turns_are_a_stack_also_where_the_compiler_puts_more_into_the_kernels_of_later_ones():
    def cell(weights, x, h, c):
        i, f, g, o = jnp.split(jnp.concatenate([x, h], axis=-1) @ weights, 4, axis=-1)
        c = jax.nn.sigmoid(f) * c + jax.nn.sigmoid(i) * jnp.tanh(g)
        return jax.nn.sigmoid(o) * jnp.tanh(c), c

    def loss(weights, x):
        h = c = jnp.zeros((4, 16))
        for t in range(6):
            h, c = cell(weights, x[t], h, c)
        return jnp.mean(h**2)

    explored = jv.explore(jax.grad(loss), jnp.ones((24, 64)), jnp.ones((6, 4, 8)))
    outline = explored._capture.hlo.outline
    check(outline)
    backward = next(row for row in outline if row.name == "backward")
    turns = [row for row in outline if row.count == 6 and backward.first <= row.first < backward.end]
    assert len(turns) == 1
    sizes = [outline.row(child).equations for child in outline.children[turns[0].index]]
    assert max(sizes) > 2 * sizes[0] + 8


def test_the_last_turn_backward_that_lacks_the_gradient_of_its_input_is_a_turn_as_the_others():
    mesh = Mesh(np.array(jax.devices()[:1]), ("model",))
    spread = functools.partial(shard_map, mesh=mesh, in_specs=(P(), P(None, "model")), out_specs=P(None, "model"))

    @spread
    def layer(x, w):
        return jnp.tanh(jnp.sin(x) @ w) * 2

    def loss(weights, x):
        for w in weights:
            x = x + layer(x, w)
        return jnp.mean(x**2)

    outline = outline_of(jax.grad(loss), [_X] * 3, _X)
    forward, backward = [row for row in outline if row.count > 1]
    assert (forward.count, backward.count) == (3, 3)
    assert forward.twin == backward.index
    last = outline.row(outline.children[backward.index][2])
    assert last.equations < outline.row(outline.children[backward.index][0]).equations
    check(outline)


def newton_step(w, x, y):
    def loss(w):
        return jnp.mean(jnp.logaddexp(0.0, -y * (x @ w))) + 0.01 * w @ w

    return w - jnp.linalg.solve(jax.hessian(loss)(w), jax.grad(loss)(w))


@pytest.mark.smoke
@pytest.mark.parametrize("more", [0, 1, 3])
def test_the_last_turn_backward_is_a_turn_also_where_little_stands_before_the_weights(more):
    def dense(w, x):
        return jnp.tanh(jnp.sin(x @ w) @ w) * 2.0

    def loss(weights, x):
        for w in weights:
            h = jnp.cos(x)
            for _ in range(more):
                h = jnp.exp(h) + 1
            x = x + dense(w, h)
        return jnp.mean(x**2)

    outline = outline_of(jax.grad(loss), [_X] * 4, _X)
    check(outline)
    stacks = [row for row in outline if row.count == 4]
    assert [row.name for row in stacks] == ["for w in weights"] * 2
    assert len(rows_named(outline, "dense")) == 8


def test_steps_that_share_what_the_compiler_keeps_of_the_first_are_as_many_copies():
    """Of `-y` there is one, for all steps: what is fused with it in a later one does not belong to the first."""

    def fit(w, x, y):
        for _ in range(4):
            w = newton_step(w, x, y)
        return w

    explored = jv.explore(fit, jnp.zeros(6), jnp.ones((50, 6)), jnp.ones(50))
    outline = explored._capture.hlo.outline
    check(outline)
    assert [row.count for row in rows_named(outline, "newton_step")] == [4]
    closed = explored.view(stage="hlo", width=760, height=560).boxes
    assert [box.name for box in closed].count("newton_step") == 1


@pytest.mark.smoke
def test_what_the_compiler_drops_of_the_first_turn_alone_is_one_box_for_all_later_ones():
    def layers(weights, x):
        total = 0.0
        for w in weights:
            total = total + jnp.tanh(x) @ w
            x = total
        return x

    explored = jv.explore(layers, [_X] * 5, _X)
    outline = explored._capture.hlo.outline
    check(outline)
    (stack,) = [row for row in outline if row.count > 1]
    first, *later = (outline.children[copy] for copy in outline.children[stack.index])
    added = [row for copy in later for row in copy if outline.row(row).name == "add"]
    assert len(added) == len(later) == 4
    assert not any(outline.row(row).name == "add" for row in first)
    assert [outline.row(row).like for row in added] == [-1, *[added[0]] * 3]
    names = [box.name for box in explored.view(stage="hlo", width=760, height=560).boxes]
    assert names.count("add") == 1


def centered(x, g):
    middle = x.mean(-1, keepdims=True)
    spread = jnp.sqrt(((x - middle) ** 2).mean(-1, keepdims=True) + 1e-6)
    return g * (x - middle) / spread


def test_a_call_of_which_the_last_turn_backward_keeps_one_statement_is_the_one_that_the_others_call():
    def loss(weights, x):
        for w, g in weights:
            x = x + jnp.tanh(centered(x, g) @ w)
        return jnp.sum(x**2)

    explored = jv.explore(jax.grad(loss), [(_X, _X[0])] * 4, _X)
    outline = outline_of(jax.grad(loss), [(_X, _X[0])] * 4, _X)
    stack = [row for row in outline if row.count == 4][-1]
    first, *_, last = outline.children[stack.index]
    whole, part = (
        next(row for row in outline if row.name == "centered" and row.first >= outline.first[copy])
        for copy in (first, last)
    )
    assert part.equations < whole.equations
    assert part.like in outline.children[whole.index]
    assert all(outline.like[row] > whole.index for row in outline.children[part.index])
    names = [box.name for box in explored.view(width=760, height=560).boxes]
    assert names.count("centered") == 2


def test_a_statement_that_the_compiler_leaves_one_call_of_in_the_first_turn_is_looked_through_in_later_ones():
    def dense(x, w):
        y = jnp.sin(x) @ w
        return jnp.cos(y) @ w

    def layers(weights, x):
        total = jnp.zeros_like(x)
        for w in weights:
            y = jnp.exp(x) @ w
            total = total + dense(y, w)
            x = jnp.tanh(total) @ w
        return x

    names = [box.name for box in jv.explore(layers, [_X] * 5, _X).view(stage="hlo", width=760, height=560).boxes]
    assert names.count("dense") == 1


def test_a_module_with_a_number_of_its_own_in_each_turn_is_called_without_it_forward_and_backward():
    def mixed(number, x):
        with jax.named_scope(f"mix_{number}"):
            return jnp.tanh(x @ jnp.eye(4)) * 2.0

    def loss(x):
        for number in range(3):
            x = jnp.sin(mixed(number, x))
        return jnp.sum(x)

    outline = outline_of(jax.grad(loss), jnp.ones((3, 4)))
    check(outline)
    stacks = [row for row in outline if row.count == 3]
    assert [names_inside(outline, stack.index) for stack in stacks] == [["mix", "sin"], ["sin", "mix"]]
    forward, backward = rows_named(outline, "mix", "module")
    assert forward.twin == backward.index
    # The others are told apart where the stack is opened.
    assert {row.name for row in outline if row.kind == "module"} == {"mix", "mix_0", "mix_1", "mix_2"}
