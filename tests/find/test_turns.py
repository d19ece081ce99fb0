"""What is told of the turns of an unrolled loop: what they hand on and read, loops around one another, other shapes."""

from __future__ import annotations

from itertools import pairwise

import flax.linen as nn
import jax
import jax.numpy as jnp
import pytest
from find.found import found, line_numbers, the


def recurrent(params, xs):
    h = jnp.zeros((xs.shape[0], 4))
    out = []
    for t in range(xs.shape[1]):
        h = jnp.tanh(xs[:, t] @ params["w"] + h @ params["u"])
        out.append(h * 2)
    return jnp.stack(out, axis=1)


def rows(carry, batches):
    for batch in batches:
        carry = 0.9 * carry + jnp.exp(-batch)
    return carry


def back_two(a, b):
    seen = [a, b]
    for _ in range(40):
        seen.append(jnp.cos(seen[-1]) + 0.5 * seen[-2])
    return seen[-1]


def listed(x):
    for factor in [0.1, 0.7, 0.2, 0.9, 0.4, 0.3, 0.8, 0.5] * 4:
        x = jnp.sin(x) * factor + x
    return x


def counted(x):
    for i in range(30):
        x = x - jnp.sin(x) * (i + 1)
    return x


def growing(tokens, table):
    for _ in range(10):
        scores = table @ table[tokens].mean(0)
        tokens = jnp.concatenate([tokens, jnp.argmax(scores)[None]])
    return tokens


PARAMS = {"w": jnp.ones((3, 4)), "u": jnp.ones((4, 4))}
REMEDIES = {
    "pieces of an array, and what is collected": (
        recurrent,
        (PARAMS, jnp.ones((2, 24, 3))),
        {"carried": 1, "given": 1},
        ("jax.lax.scan(body, carry, array)", "comes back stacked"),
    ),
    "rows of an array": (rows, (jnp.ones(3), jnp.ones((30, 3))), {"carried": 1, "given": 1}, ("scan(body, carry, ",)),
    "what two turns made": (back_two, (jnp.ones(3), jnp.ones(3)), {"carried": 2}, ("fori_loop(0, 40", "last 2 turns")),
    "numbers that are a list": (listed, (jnp.ones(3),), {"carried": 1}, ("scan(body, carry, numbers)",)),
    "numbers that are counted": (counted, (jnp.ones(3),), {"carried": 1}, ("fori_loop(0, 30, lambda i",)),
    "what grows": (growing, (jnp.array([1, 2]), jnp.ones((20, 8))), {"carried": 1}, ("last shape from the start",)),
}


@pytest.mark.parametrize("name", REMEDIES)
def test_the_remedy_is_for_what_the_turns_read_and_hand_on(name):
    fn, arguments, figures, said = REMEDIES[name]
    finding = the("unrolled", fn, *arguments)
    assert finding.figures | figures == finding.figures
    assert all(text in finding.remedy for text in said)


def blocks(params, x):
    for w, b in params:
        h = jax.nn.gelu(x @ w + b)
        x = x + h / jnp.sqrt(1e-6 + (x**2).mean())
    return x.sum()


def test_a_first_turn_that_lacks_a_derivative_does_not_hide_what_the_others_hand_on():
    params = [(jnp.ones((4, 4)), jnp.ones(4))] * 9
    finding = the("unrolled", jax.grad(blocks), params, jnp.ones((2, 4)))
    assert finding.figures["copies"] == 9
    assert finding.figures | {"carried": 1, "given": 2} == finding.figures
    assert "jax.lax.scan(body, carry, stacked)" in finding.remedy


@jax.checkpoint
def block(w, x):
    return jnp.tanh(x @ w) + x


def checkpointed(weights, x):
    for w in weights:
        x = block(w, x)
    return x.sum()


def test_what_a_checkpoint_runs_forward_belongs_to_the_loop_of_the_way_back():
    finding = the("unrolled", jax.grad(checkpointed), [jnp.ones((4, 4))] * 10, jnp.ones((2, 4)))
    assert "10 times, and again in the backward pass" in finding.text
    assert finding.figures | {"carried": 1, "given": 1} == finding.figures
    forward = finding.nodes.min()
    assert forward < 30


def sweeps(x):
    for _ in range(8):
        for i in range(1, 15):
            x = x.at[i].set(0.5 * (x[i - 1] + x[i + 1]))
    return x


def averages(params, new):
    for _ in range(16):
        params = {name: 0.9 * params[name] + 0.1 * new[name] for name in params}
    return params


def sweeps_of(x, inner):
    for _ in range(8):
        for _ in range(inner):
            x = jnp.sin(x) * 1.1 + 1
    return x


NAMED = {name: jnp.ones(4) for name in "abc"}


@pytest.mark.parametrize(
    ("fn", "arguments", "title", "line"),
    [
        (sweeps, (jnp.ones(16),), "8 copies, each with 14 of the loop inside", 1),
        (averages, (NAMED, NAMED), "16 copies, each with 3 of the loop inside", 1),
        (lambda x: sweeps_of(x, 14), (jnp.ones(3),), "112 copies", None),
    ],
)
def test_turns_of_two_loops_that_are_all_alike_are_told_by_both_where_that_is_known(fn, arguments, title, line):
    finding = the("unrolled", fn, *arguments)
    assert finding.title.endswith(f": {title}")
    if line is None:
        assert "`for _ in range(inner)`" in finding.text
        assert ", in the loop `for _ in range(8)` on line" in finding.text
    else:
        assert line_numbers(finding, fn) == [line]


def sometimes(x):
    for i in range(24):
        x = jnp.sin(x) + 1
        if i % 3 == 2:
            x = x / jnp.max(x)
    return x


def test_turns_that_are_alike_in_groups_are_counted_as_the_loop_says():
    finding = the("unrolled", sometimes, jnp.ones(4))
    assert finding.title.endswith(": 24 copies, alike in groups of 3")
    assert "24 times" in finding.text
    assert "It takes 3 turns until they are alike again." in finding.text


class Layers(nn.Module):
    @nn.compact
    def __call__(self, x):
        for i in range(8):
            h = nn.LayerNorm(name=f"ln{i}")(x)
            h = nn.gelu(nn.Dense(16, name=f"up{i}")(h))
            x = x + nn.Dense(8, name=f"down{i}")(h)
        return x.mean()


def test_modules_that_the_person_numbered_are_copies_of_one_another():
    model = Layers()
    variables = model.init(jax.random.key(0), jnp.ones((2, 8)))
    finding = the("unrolled", jax.grad(lambda v, x: model.apply(v, x)), variables, jnp.ones((2, 8)))
    assert finding.figures["copies"] == 8
    assert "backward" in finding.text


def penalty(params):
    total = 0.0
    for value in params.values():
        total = total + jnp.sum(value**2) * 0.5
    return total


def pyramid(x, weights):
    for weight in weights:
        x = jnp.tanh(x @ weight) * 2 - x.mean()
    return x


def through(x):
    """What a loop goes through is made once, before it."""
    for piece in [jnp.sin(x[0]), jnp.cos(x[1])]:
        x = x + piece
    return x


WIDTHS = [4, 8, 16, 32, 64, 32, 16, 8, 4, 2, 4, 8, 16, 32]
OTHER_SHAPES = {
    "a sum over parameters": (jax.grad(penalty), {f"w{i}": jnp.ones((3, i % 5 + 1)) for i in range(24)}),
    "layers of other widths": (
        lambda weights: pyramid(jnp.ones((2, 4)), weights),
        [jnp.ones(shape) for shape in pairwise(WIDTHS)],
    ),
    "what a loop goes through": (through, jnp.ones((4, 4))),
}


@pytest.mark.parametrize("name", OTHER_SHAPES)
def test_turns_of_other_shapes_are_no_loop_to_be_mended(name):
    fn, argument = OTHER_SHAPES[name]
    assert found("unrolled", fn, argument) == []
