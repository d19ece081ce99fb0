"""What has no structure is cut in parts, which are told by what they assign to."""

from __future__ import annotations

import linecache
import re

import jax
import jax.numpy as jnp
from outline.outlines import outline_of, rows_named, shown

_X = jnp.ones((4, 8))


def parts_of_lines(name, *lines):
    """The parts of a function that begins with `x`, by their names and details."""
    code = "def f(x):\n" + "".join(f"    {line}\n" for line in lines)
    linecache.cache[name] = (len(code), None, [line + "\n" for line in code.splitlines()], name)
    namespace = {"jnp": jnp}
    exec(compile(code, name, "exec"), namespace)
    parts = shown(outline := outline_of(namespace["f"], _X), 0)
    assert 3 <= len(parts) <= 8, outline
    assert {part.kind for part in parts} == {"part"}
    return [(part.name, part.detail) for part in parts]


def test_what_has_no_structure_is_cut_in_parts_that_are_told_by_what_they_assign():
    steps = [f"v{i + 1} = jnp.{'sin' if i % 3 else 'cos'}(v{i}) * v{max(i - 2, 0)}" for i in range(60)]
    parts = parts_of_lines("<long>", "v0 = x * 2.0", *steps, "return v60")
    numbers = [name.replace("v", "").split(" … ") for name, _ in parts]
    assert numbers[0][0] == "0"
    assert numbers[-1][-1] == "60"
    assert [int(first) for first, _ in numbers[1:]] == [int(last) + 1 for _, last in numbers[:-1]]
    assert [detail for _, detail in parts] == [f"lines {int(one) + 2}-{int(other) + 2}" for one, other in numbers]


def test_parts_are_told_by_attributes_and_by_what_is_assigned_together():
    steps = [line for i in range(10) for line in (f"a{i}, b{i} = jnp.sin(x), jnp.cos(x)", f"x = a{i} * b{i}")]
    parts = parts_of_lines("<together>", *steps, "x /= jnp.sum(x, axis=-1, keepdims=True)", "return jnp.exp(x) - 1.0")
    assert all(re.fullmatch(r"(a\d|x) … (b\d|x)", name) for name, _ in parts)


def test_parts_that_assign_to_one_variable_alone_are_told_by_their_lines():
    steps = [f"x = jnp.{'sin' if i % 3 else 'cos'}(x) * {i}.0" for i in range(40)]
    parts = parts_of_lines("<one variable>", *steps, "return x")
    assert all(re.fullmatch(r"lines \d+-\d+", name) and name == detail for name, detail in parts)


def test_parts_in_a_library_are_told_by_what_it_assigns_to_not_by_its_lines():
    import equinox as eqx

    cell = eqx.nn.GRUCell(4, 8, key=jax.random.key(0))
    parts = rows_named(outline := outline_of(lambda x, h: cell(x, h), jnp.ones(4), jnp.ones(8)), "GRUCell")
    parts = shown(outline, parts[0].index) if parts else shown(outline, 0)
    assert [part.name for part in parts] == ["igates … hgates", "hgates … inp", "inp … new", "new"]
    assert not any(part.detail for part in parts)


def test_parts_of_the_same_lines_are_turns_of_the_function_around_them():
    def network(weights, x):
        for w in weights[:-1]:
            x = jax.nn.relu(x @ w)
        return x @ weights[-1]

    def coupling(weights, x, flip):
        a, b = (x[2:], x[:2]) if flip else (x[:2], x[2:])
        shift, scale = jnp.split(network(weights, a), 2)
        scale = jnp.tanh(scale)
        b = (b - shift) * jnp.exp(-scale)
        return jnp.concatenate([b, a] if flip else [a, b]), -scale.sum()

    def density(flow, x):
        total = 0.0
        for turn, weights in enumerate(flow):
            x, change = coupling(weights, x, turn % 2 == 1)
            total += change
        return total - jnp.sum(x**2)

    flow = [[jnp.ones((2, 8)), jnp.ones((8, 8)), jnp.ones((8, 4))]] * 4
    outline = outline_of(jax.value_and_grad(density), flow, jnp.ones(4))
    parts = [row.name for row in outline if row.kind == "part"]
    assert not [name for name in parts if name.startswith("lines ")]
    assert parts.count("coupling") >= 2
