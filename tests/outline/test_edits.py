"""Outlines are stable: where a line of a program changes, the rest keeps its place and its names."""

from __future__ import annotations

import importlib.util
import itertools
from collections import Counter

import jax.numpy as jnp
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from outline.outlines import outline_of

_PROGRAM = """
import jax
import jax.numpy as jnp

def layer(p, x):
    h = x @ p["w"]
    h = h + p["b"]
    return jnp.tanh(h)

def network(params, x):
    for p in params:
        x = layer(p, x)
    return x

def loss(params, x, y):
    out = network(params, x)
    gap = out - y
    half = 0.5
    return jnp.mean(gap**2) * half

def step(params, x, y):
    value, slopes = jax.value_and_grad(loss)(params, x, y)
    return jax.tree.map(lambda p, g: p - 0.1 * g, params, slopes), value
"""

# What is changed, by what it becomes, and the words of the rows that are about it.
_EDITS = {
    "a variable is renamed": ("gap", "error", ("subtract", "power", "gap")),
    "an operation is added": ("    half =", "    gap = jnp.clip(gap, -3, 3)\n    half =", ()),
    "an operation is removed": ('    h = h + p["b"]\n', "", ("add",)),
    "a constant changes": ("half = 0.5", "half = 0.25", ()),
    "lines change places": ("    gap = out - y\n    half = 0.5\n", "    half = 0.5\n    gap = out - y\n", ()),
    "another activation": ("jnp.tanh", "jax.nn.silu", ("tanh",)),
    "an argument is added": ("loss(params, x, y):", "loss(params, x, y, scale=2.0):", ()),
    "a function is wrapped": ("def layer", "@jax.jit\ndef layer", ()),
    "a comment is added": ("def layer", "# One of many.\ndef layer", ()),
}
_COUNT = itertools.count()


def paths_of(source, name, folder, *arguments):
    """The rows of an outline by the names of all around them, and how many there are of each."""
    path = folder / f"program_{next(_COUNT)}.py"
    path.write_text(source)
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    outline = outline_of(getattr(module, name), *arguments)
    paths = [()]
    for row in list(outline)[1:]:
        paths.append((*paths[row.parent], row.name))
    return Counter(paths[1:])


def trained(source, folder, layers=3, rows=4):
    params = [{"w": jnp.ones((8, 8)), "b": jnp.zeros(8)} for _ in range(layers)]
    return paths_of(source, "step", folder, params, jnp.ones((rows, 8)), jnp.ones((rows, 8)))


@pytest.fixture(scope="module")
def before(tmp_path_factory):
    return trained(_PROGRAM, tmp_path_factory.mktemp("before"))


@pytest.mark.parametrize("edit", _EDITS)
def test_one_changed_line_changes_the_rows_of_that_line_alone(edit, before, tmp_path):
    old, new, about = _EDITS[edit]
    assert old in _PROGRAM
    lost = before - trained(_PROGRAM.replace(old, new), tmp_path)
    strangers = [path for path in lost if not any(word in name for word in about for name in path)]
    assert not strangers
    assert sum(lost.values()) <= 0.2 * sum(before.values())


def test_more_rows_of_data_and_more_layers_change_no_place_and_no_name(before, tmp_path):
    assert trained(_PROGRAM, tmp_path, rows=32) == before
    assert not before - trained(_PROGRAM, tmp_path, layers=5)


# A long function in paragraphs, of each of which only the last value is read later.
_LONG = "\n".join(
    [
        "import jax.numpy as jnp",
        "def long(start):",
        *(
            line
            for one, before in zip("abcdef", ("start", *"abcde"), strict=False)
            for line in (
                f"    {one}_low = jnp.sin({before}) * 0.5",
                f"    {one}_high = jnp.cos({before}) + {one}_low",
                f"    {one}_sum = {one}_low / {one}_high - {before}",
                f"    {one} = jnp.tanh({one}_sum * {one}_low)",
            )
        ),
        "    return f",
    ]
)


@pytest.mark.parametrize(
    "change",
    [
        ("    c_sum =", "    c_high = jnp.exp(c_high)\n    c_sum ="),
        ("    a_low =", "    # The first one.\n\n    a_low ="),
        ("    f_high = jnp.cos(e) + f_low", "    f_high = jnp.cos(e)"),
        ("    d = ", "    extra = jnp.exp(d_low)\n    d_sum = d_sum - extra\n    d = "),
    ],
)
def test_a_line_more_in_a_long_function_leaves_the_other_parts_of_it(change, tmp_path):
    assert change[0] in _LONG
    arguments = "long", tmp_path, jnp.ones(4)
    before, after = (paths_of(source, *arguments) for source in (_LONG, _LONG.replace(*change)))
    parts = [path for path in before if len(path) == 1]
    assert len(parts) >= 4
    assert all(" … " in part for (part,) in parts)
    assert [path for path in after if len(path) == 1] == parts


_OPERATIONS = ("sin", "cos", "tanh", "exp", "abs", "square")
_LINES = st.lists(st.sampled_from(_OPERATIONS), min_size=2, max_size=7)


def chain(name, operations):
    lines = [f"    {name}_{number} = jnp.{op}({name}_{number - 1})" for number, op in enumerate(operations, 1)]
    last = f"{name}_{len(operations)}"
    return "\n".join([f"def {name}({name}_0):", *lines, f"    return {last}"])


@settings(max_examples=25)
@given(first=_LINES, second=_LINES, data=st.data())
def test_a_changed_function_leaves_the_other_one_as_it_is(first, second, data, tmp_path_factory):
    def written(first):
        calls = "def program(x):\n    return second(first(x)) + second(x)"
        return "\n\n".join(["import jax.numpy as jnp", chain("first", first), chain("second", second), calls])

    place = data.draw(st.integers(0, len(first) - 1))
    change = data.draw(st.sampled_from(("insert", "remove", "replace")))
    changed = [*first]
    if change == "remove":
        del changed[place]
    else:
        changed[place : place + (change == "replace")] = [data.draw(st.sampled_from(_OPERATIONS))]
    folder = tmp_path_factory.mktemp("programs")
    old, new = (paths_of(written(one), "program", folder, jnp.ones(4)) for one in (first, changed))

    def of_second(paths):
        return {path: count for path, count in paths.items() if any(name == "second" for name in path)}

    assert of_second(old)
    assert of_second(old) == of_second(new)
    if len(changed) > 1:
        # Of the changed one, what both have is there; a function of one line is a box by its own name.
        assert {*first} & {*changed} <= {name for path in new if "first" in path for name in path}
