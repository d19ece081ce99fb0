"""What is written on the boxes of an opened file whose sources are not here: what its own metadata say."""

from __future__ import annotations

import re
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from outline.outlines import check

import jaxviz as jv
from jaxviz.outline.calls.modules import parse_scope


def before(function, *args):
    """HLO as JAX gives it to the compiler: what is called stands in bodies of its own."""
    return jax.jit(function).lower(*args).compiler_ir("hlo").as_serialized_hlo_module_proto()


def after(function, *args):
    modules = jax.jit(function).lower(*args).compile().runtime_executable().hlo_modules()
    return modules[0].as_serialized_hlo_module_proto()


def lowered(function, *args):
    return jax.jit(function).lower(*args).as_text(debug_info=True).encode()


@pytest.fixture
def opened(tmp_path, monkeypatch):
    (tmp_path / "here").mkdir()
    # Sources are read in the folder where one works, alone.
    monkeypatch.chdir(tmp_path / "here")

    def open_bytes(data: bytes) -> jv.Exploration:
        (tmp_path / "file").write_bytes(data)
        found = jv.open(tmp_path / "file")
        check(found.document(passes=False).outlines[-1].outline)
        return found

    return open_bytes


def plain(function, *args):
    """MLIR without any locations: what it calls has names, and nothing else."""
    return jax.jit(function).lower(*args).as_text().encode()


def names(program):
    return [box.name for box in program.view(stage=program.stage).boxes]


def chosen(flag, x):
    return jax.lax.cond(flag, lambda y: jnp.sin(y) * 2, lambda y: -y, x)


@pytest.mark.parametrize("form", [before, after, lowered])
def test_branches_are_not_told_by_what_jax_calls_them(opened, form):
    found = names(opened(form(chosen, True, jnp.ones(4))))
    assert not [name for name in found if name.startswith("branch_")]
    assert any(name.startswith("neg") for name in found)


def test_what_jax_calls_its_own_calls_are_no_modules():
    assert parse_scope("Net/while/body/eval_jaxpr/cond/branch_1_fun/Dense_0").modules == ("Net", "Dense_0")


def test_who_asked_for_a_program_is_no_part_of_it(opened):
    @jax.jit
    def halve(x):
        return jnp.sort(x) / 2

    def outer(x):
        return jnp.clip(halve(x + 1), 0, 1)

    # The frames of what is called begin inside, those of the call at whoever asked for it.
    rows = opened(before(outer, jnp.ones(4))).document().outlines[0].outline
    assert not {row.name for row in rows} & {"before", "lower", "test_who_asked_for_a_program_is_no_part_of_it"}
    assert "halve" in {row.name for row in rows}


def drawn(key):
    of_noise, of_mask = jax.random.split(key)
    return jnp.where(jax.random.bernoulli(of_mask, 0.3, (4,)), jax.random.normal(of_noise, (4,)), 0)


# JAX 0.6 says of each call that it is a `pjit`, and not what it calls.
@pytest.mark.smoke
@pytest.mark.parametrize("form", [before, lowered, plain])
def test_random_numbers_are_told_by_the_functions_that_draw_them(opened, form):
    found = names(opened(form(drawn, jax.random.PRNGKey(0))))
    assert {"split", "bernoulli", "normal"} <= set(found)
    assert not [name for name in found if name.startswith("while ")]


def own(key):
    first, second = jax.random.split(key)
    return jax.random.normal(first, (4,)) + jnp.sin(jax.random.normal(second, (4,)))


def stranger(key):
    return jax.random.normal(jax.random.split(key)[1], (4,))


def between(key):
    return own(jax.random.split(key, 3)[1])


@pytest.mark.smoke
@pytest.mark.parametrize("first", [stranger, between])
@pytest.mark.parametrize("form", [before, after])
def test_who_asked_for_random_numbers_in_another_program_is_no_part_of_this_one(opened, form, first):
    jax.clear_caches()
    form(first, jax.random.PRNGKey(0))
    document = opened(form(own, jax.random.PRNGKey(0))).document()
    (graph,), tables = document.graphs, document.tables
    stacks = np.unique(graph.nodes.stack[graph.nodes.stack >= 0])
    functions = {frame.function for stack in stacks.tolist() for frame in tables.frames_of(stack)}
    assert first.__name__ not in functions | {row.name for row in document.outlines[0].outline}
    assert "own" in functions


@pytest.mark.smoke
def test_how_jax_makes_random_numbers_is_not_seen_at_first(opened):
    found = names(opened(after(own, jax.random.PRNGKey(0))))
    assert not {"slice", "xor", "stack"} & set(found)
    assert not [name for name in found if name.startswith("while")]
    assert [name for name in found if name in ("split", "normal")]


def test_what_the_compiler_mixed_is_told_by_the_function_that_all_of_it_is_in(opened):
    def middle(x):
        above = jnp.where(jnp.argsort(x) > 2, jnp.median(x), jnp.percentile(x, 30.0))
        return above + jnp.linalg.norm(x)

    found = names(opened(after(middle, jnp.ones(9))))
    assert {"median", "norm"} <= set(found)


_ONE_BY_ONE = (jnp.tanh, jnp.sin, jnp.cos, jnp.exp, jnp.log1p, jnp.sqrt, jnp.floor, jnp.ceil, jnp.expm1, jnp.abs)


def varied(x, labels):
    """Many operations, no two of them alike side by side, with a function here and there."""
    for count, first in enumerate(_ONE_BY_ONE):
        for second in _ONE_BY_ONE[count:]:
            x = first(x) @ second(x)
        x = jnp.where(x > count, x, 0.1 * x) if count % 3 == 1 else x
    return jnp.take(x, labels, axis=0).sum()


@pytest.mark.smoke
def test_a_function_that_is_a_small_part_of_what_has_no_names_does_not_tell_it(opened):
    outline = opened(plain(varied, jnp.ones((8, 8)), jnp.arange(3))).document(passes=False).outlines[-1].outline
    parts = {row.name for row in outline if row.kind == "part"}
    assert parts, outline
    assert "where" not in parts
    assert "where" in {row.name for row in outline}


def test_arguments_without_names_are_numbered_as_in_the_text(opened):
    assert names(opened(plain(lambda x, y: x @ y, jnp.ones((2, 3)), jnp.ones((3, 2)))))[:2] == ["arg0", "arg1"]
    # What has a name keeps it.
    assert names(opened(lowered(lambda x, y: x @ y, jnp.ones((2, 3)), jnp.ones((3, 2)))))[:2] == ["x", "y"]


TRAIN = """import jax
def loss(x):
    y = jax.numpy.sin(x)
    return y * 2.0


@wrapping.Wrapper
def step(x):
    slope = jax.grad(loss)(x)
    return x - 3.0 * slope

"""

# As of a library that compiles what it is given: between the line that runs it and the function are lines of its own.
# The numbers of a program are of the call.
COMPILED_BY_A_LIBRARY = """
#run = loc("<module>"("train.py":12:1))
#call = loc("Wrapper.__call__"("/lib/python3/site-packages/wrapping/wrapper.py":12:1))
#lower = loc("Wrapper.lowered"("/lib/python3/site-packages/wrapping/wrapper.py":15:1))
#inner = loc("wrapped"("/lib/python3/site-packages/wrapping/wrapper.py":7:1))
#begun = loc(callsite(#call at #run))
#called = loc(callsite(#lower at #begun))
#entered = loc(callsite(#inner at #called))
#loss_of = loc(callsite("step"("train.py":9:12) at #entered))
#first = loc(callsite("loss"("train.py":3:8) at #loss_of))
#second = loc(callsite("loss"("train.py":4:11) at #loss_of))
#last = loc(callsite("step"("train.py":10:11) at #entered))
module @jit_step {
  func.func public @main(%x: tensor<4xf32> loc("x")) -> tensor<4xf32> {
    %two = stablehlo.constant dense<2.0> : tensor<4xf32> loc("jit(step)"(#called))
    %three = stablehlo.constant dense<3.0> : tensor<4xf32> loc("jit(step)"(#called))
    %0 = stablehlo.sine %x : tensor<4xf32> loc("jit(step)/jvp()/sin"(#first))
    %1 = stablehlo.multiply %0, %two : tensor<4xf32> loc("jit(step)/jvp()/mul"(#second))
    %2 = stablehlo.cosine %x : tensor<4xf32> loc("jit(step)/transpose(jvp())/cos"(#first))
    %3 = stablehlo.multiply %2, %1 : tensor<4xf32> loc("jit(step)/transpose(jvp())/mul"(#second))
    %4 = stablehlo.multiply %3, %three : tensor<4xf32> loc("jit(step)/mul"(#last))
    %5 = stablehlo.subtract %x, %4 : tensor<4xf32> loc("jit(step)/sub"(#last))
    return %5 : tensor<4xf32>
  }
}
"""


def test_a_program_that_a_library_compiled_is_told_as_one_that_the_person_did(opened):
    Path("train.py").write_text(TRAIN + "step(x)\n")
    alone = re.sub(r"#(?:entered|called)\b(?! =)", "#run", COMPILED_BY_A_LIBRARY)
    rows = [
        [(row.depth, row.kind, row.name) for row in opened(text.encode()).document().outlines[0].outline]
        for text in (COMPILED_BY_A_LIBRARY, alone)
    ]
    assert rows[0] == rows[1]
    assert ("phase", "backward") in [row[1:] for row in rows[0]]
