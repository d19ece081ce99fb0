"""In StableHLO alone, as a file or an exported function holds it, most of what a jaxpr tells is found too."""

from __future__ import annotations

import inspect
import os

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import export

import jaxviz as jv

X, V = jnp.ones((8, 8)), jnp.ones(8)
BYTES, HALVES, WHOLE = jnp.ones(8, jnp.uint8), jnp.ones(1_000, jnp.bfloat16), jnp.int32(3)
TABLE = np.arange(100_000, dtype=np.float32)


def cell(w, x):
    for _ in range(12):
        x = jnp.tanh(w @ x) + x
    return x


def counted(x):
    for i in range(30):
        x = x * i + jnp.sin(x)
    return x


def network(weights, x):
    def loss(weights):
        y = x
        for layer in weights:
            y = jnp.tanh(y @ layer) + y
        return (y**2).sum()

    return jax.grad(loss)(weights)


def masked(x):
    return jax.value_and_grad(lambda x: jnp.where(x > 0, jnp.log(x), 0.0).sum())(x)


def listed(x):
    return x[jnp.array([1, 99])]


def given(x, i):
    return x[i] * 2


def turned(x):
    return jax.lax.fori_loop(0, 12, lambda i, total: total + x[i], 0.0)


def by_zero(n):
    return n // 0


def by_argument(n, m):
    return n // m


def of_floats(x):
    return x / 0.0


def below_zero(a, b):
    return (a - b).astype(jnp.float32)


def baked(x):
    return x + TABLE


def called(x):
    return jax.pure_callback(np.asarray, jax.ShapeDtypeStruct((8,), jnp.float32), x) * 2


def printing(x):
    def turn(x, _):
        jax.debug.print("{}", x.sum())
        return x * 2, None

    return jax.lax.scan(turn, x, None, length=5)[0]


def stepped(p, x):
    slope = jax.grad(lambda p: ((x @ p["w"] + p["b"]) ** 2).sum())(p)
    return jax.tree.map(lambda one, other: one - 0.1 * other, p, slope)


def narrowed(x):
    return x.astype(jnp.float16).astype(jnp.float32) * 2


def cut(x):
    return jnp.zeros(8, jnp.int32).at[2].set(x[0])


def widened(x, y):
    return x * y


def switched(x):
    return jax.lax.switch(jnp.int32(7), [lambda x: x, lambda x: x * 2], x)


def classes():
    return jax.nn.one_hot(jnp.array([1, 9]), 4)


# What each is given, and the text in the line that is told.
FOUND = {
    "cell": (cell, (X, V), "unrolled", "for _ in range(12)"),
    "counted": (counted, (V,), "unrolled", "for i in range(30)"),
    "network": (network, ([X] * 16, X), "unrolled", "for layer in weights"),
    "masked": (masked, (V,), "masked", "jnp.log(x)"),
    "listed": (listed, (V,), "indexing", "[1, 99]"),
    "given": (given, (V, WHOLE), "indexing", "x[i] * 2"),
    "turned": (turned, (V,), "indexing", "total + x[i]"),
    "by_zero": (by_zero, (WHOLE,), "division", "n // 0"),
    "by_argument": (by_argument, (WHOLE, WHOLE), "division", "n // m"),
    "of_floats": (of_floats, (V,), "division", "x / 0.0"),
    "below_zero": (below_zero, (BYTES, BYTES), "precision", "(a - b)"),
    "called": (called, (V,), "callback", "pure_callback"),
    "printing": (printing, (V,), "callback", "debug.print"),
    "stepped": (stepped, ({"w": jnp.ones((1_000, 1_000)), "b": jnp.ones(1_000)}, jnp.ones((4, 1_000))), "donated", ""),
    "narrowed": (narrowed, (V,), "precision", "jnp.float16"),
    "cut": (cut, (V,), "precision", ".at[2].set"),
    "widened": (widened, (HALVES, jnp.ones(1_000)), "precision", "return x * y"),
    "switched": (switched, (V,), "indexing", "lax.switch"),
    "classes": (classes, (), "indexing", "one_hot"),
}


def opened(tmp_path, monkeypatch, fn, arguments):
    """What a file of its StableHLO shows, opened where its source is."""
    path = tmp_path / "module.mlir"
    path.write_text(jax.jit(fn).lower(*arguments).as_text(debug_info=True))
    monkeypatch.chdir(os.path.dirname(__file__))
    return jv.open(path)


@pytest.mark.parametrize("name", FOUND)
def test_what_is_found_in_a_jaxpr_is_found_in_its_stablehlo(tmp_path, monkeypatch, name):
    fn, arguments, kind, text = FOUND[name]
    (found,) = opened(tmp_path, monkeypatch, fn, arguments).findings
    (told,) = jv.explore(fn, *arguments).found_in_jaxpr
    assert (found.kind, found.title) == (kind, told.title)
    # Of StableHLO as in JAX 0.6 it is not known what is on the way back, so that more may come back stacked.
    assert found.remedy.startswith(told.remedy)
    lines, first = inspect.getsourcelines(fn)
    expected = [first + number for number, line in enumerate(lines) if text and text in line]
    assert [line.line for line in found.lines] == expected


def test_a_large_constant_is_told_without_the_name_that_a_file_does_not_have(tmp_path, monkeypatch):
    (found,) = opened(tmp_path, monkeypatch, baked, (jnp.asarray(TABLE),)).findings
    assert found.title.startswith("an array (f32[100000], 400 kB) is baked in as a constant (line ")


def test_an_exported_function_tells_its_unrolled_loop(tmp_path, monkeypatch):
    path = tmp_path / "module.jaxexport"
    path.write_bytes(export.export(jax.jit(counted))(V).serialize())
    monkeypatch.chdir(os.path.dirname(__file__))
    (found,) = jv.open(path).findings
    assert (found.kind, found.figures["copies"]) == ("unrolled", 30)


@pytest.mark.parametrize("form", ["stablehlo", "hlo"])
def test_the_loop_that_compiles_programs_is_none_of_theirs(tmp_path, monkeypatch, form):
    monkeypatch.chdir(os.path.dirname(__file__))
    for turn in range(2):
        path = tmp_path / f"{turn}.{form}"
        lowered = jax.jit(counted).lower(jnp.ones(8 + turn))
        path.write_text(lowered.as_text(debug_info=True) if form == "stablehlo" else lowered.compile().as_text())
        if form == "hlo" and "StackFrames" not in path.read_text():
            pytest.skip("as in JAX 0.6, HLO has the line of an operation without the calls around it")
        (found,) = (one for one in jv.open(path).findings if one.kind == "unrolled")
        assert found.lines[0].line == inspect.getsourcelines(counted)[1] + 1


def rolled(w, x):
    return jax.lax.fori_loop(0, 12, lambda i, x: jnp.tanh(w @ x) + x, x)


def safe(x):
    ok = x > 0
    return jax.value_and_grad(lambda x: jnp.where(ok, jnp.log(jnp.where(ok, x, 1.0)), 0.0).sum())(x)


def within(x):
    return x[jnp.array([1, 7])] + jax.lax.fori_loop(0, 8, lambda i, total: total + x[i], 0.0)


def guarded(n, m):
    return n // jnp.where(m == 0, 1, m)


def small(x):
    return x + TABLE[:8]


def layers(weights, x):
    return jax.lax.scan(lambda x, w: (jnp.tanh(x @ w), None), x, weights)[0]


def loss(w, x):
    return jax.value_and_grad(lambda w: ((x @ w) ** 2).mean())(w)


INNOCENT = {
    "rolled": (rolled, (X, V)),
    "safe": (safe, (V,)),
    "within": (within, (V,)),
    "guarded": (guarded, (WHOLE, WHOLE)),
    "small": (small, (V,)),
    "layers": (layers, (jnp.ones((6, 8, 8)), X)),
    "loss": (loss, (X, X)),
}


@pytest.mark.parametrize("name", INNOCENT)
def test_stablehlo_of_a_program_in_which_nothing_is_to_be_mended_is_left_alone(tmp_path, monkeypatch, name):
    fn, arguments = INNOCENT[name]
    assert opened(tmp_path, monkeypatch, fn, arguments).findings == ()


def counted_by_zero(x):
    for i in range(30):
        x = x * i + jnp.sin(x)
    return x / 0.0


def test_a_folder_with_both_tells_what_its_stablehlo_says_and_its_hlo_does_not(tmp_path, monkeypatch):
    lowered = jax.jit(counted_by_zero).lower(V)
    folder = tmp_path / "module_0001.jit_counted_by_zero"
    folder.mkdir()
    (folder / "module.mlir").write_text(lowered.as_text(debug_info=True))
    compiled = lowered.compile().as_text()
    (tmp_path / f"{folder.name}.cpu_after_optimizations.txt").write_text(compiled)
    monkeypatch.chdir(os.path.dirname(__file__))
    folder = jv.open(tmp_path)
    assert folder.kinds == ("stablehlo", "hlo")
    assert [one.kind for one in folder.findings].count("unrolled") == 1
    document = folder.document()
    (entry,) = (one for one in document.findings if one.finding.kind == "division")
    said = {document.graphs[entry.graph].node(node).op for node in entry.finding.nodes.tolist()}
    assert said == {"divide"}
    first = inspect.getsourcelines(counted_by_zero)[1]
    assert [line.line for line in entry.finding.lines] == [first + 3]
