"""The text of a stage beside its picture reads as what JAX and XLA print of the same program."""

from __future__ import annotations

import re
from collections import Counter

import jax
import jax.numpy as jnp
import pytest
from programs import CORPUS

import jaxviz as jv
from jaxviz.export import engine

#: What an equation makes, and its primitive: `a:f32[3] b:i32[] = sort`.
EQUATION = re.compile(r"((?:\w+:\w+\[[^\]\s]*\]\s+)+)=\s+(?!jaxpr=)(\w+)")
OPERATION = re.compile(r"(stablehlo\.(?!return)\w+|(?<= )(?:func\.)?call(?= ))")
#: What a reduction or a window takes together by stands in its own line.
REDUCERS = {"add", "maximum", "minimum", "multiply", "and", "or", "select", "compare"}
INSTRUCTION = re.compile(r"%?([\w.-]+) = (?:\([^=]*?\)|\S+) ([\w-]+)\(")


def texts_of(explored: jv.Exploration) -> dict[str, str]:
    document = explored.document()
    plain = document.to_json(packed=False)
    stages = document.programs[0].stages
    return {stage.kind: engine.call("text", plain, {"graph": stage.graph}) for stage in stages}


def equations(text: str) -> Counter[tuple[str, ...]]:
    """How many equations there are of each primitive and of each types."""
    found = EQUATION.findall(text)
    return Counter((primitive, *(one.split(":")[1] for one in made.split())) for made, primitive in found)


def instructions(text: str) -> set[tuple[str, str]]:
    """Names and operations, without parameters and without what takes tuples apart or puts them together."""
    left_out = {"parameter", "tuple", "get-tuple-element"}
    plain = re.sub(r"/\*.*?\*/", "", text)
    return {(name, op) for name, op in INSTRUCTION.findall(plain) if op not in left_out}


@pytest.mark.parametrize("name", ["cond", "scan_rnn", "convolution", "switch", "while_loop", "vmap", "xor_train"])
def test_each_stage_reads_as_it_is_printed(name):
    function, arguments = CORPUS[name]()
    texts = texts_of(jv.explore(function, *arguments))
    lowered = jax.jit(function).lower(*arguments)
    assert equations(texts["jaxpr"]) == equations(str(jax.make_jaxpr(function)(*arguments)))
    printed = Counter(OPERATION.findall(lowered.as_text()))
    written = Counter(OPERATION.findall(texts["stablehlo"]))
    assert not written - printed
    assert {op.removeprefix("stablehlo.") for op in printed - written} <= REDUCERS
    compiled = instructions(lowered.compile().as_text())
    own = instructions(texts["hlo"])
    assert own
    assert own <= compiled
    assert {op for _, op in compiled - own} <= REDUCERS


@pytest.mark.smoke
def test_the_text_of_a_loop_has_its_body_and_its_names():
    def f(x, w):
        return jax.lax.scan(lambda c, _: (jnp.tanh(c @ w), None), x, None, length=3)[0]

    texts = texts_of(jv.explore(f, jnp.ones(4), jnp.ones((4, 4))))
    lines = texts["jaxpr"].splitlines()
    assert lines[0] == "{ lambda ; a:f32[4] b:f32[4,4]. let  # x, w"
    assert [EQUATION.findall(line)[0][1] for line in lines if EQUATION.search(line)] == ["scan", "dot_general", "tanh"]
    assert lines[-1] == "  in (c,) }"
    assert re.search(r"func\.func public @main\(%arg0: tensor<4xf32>, %arg1: tensor<4x4xf32>\)", texts["stablehlo"])
    assert re.search(r"%\d+ = stablehlo\.dot_general .*contracting_dims = \[0\] x \[0\]", texts["stablehlo"])
    entry = texts["hlo"].split("ENTRY ")[1]
    assert entry.startswith("%main (x: f32[4], w: f32[4,4]) -> f32[4] {")
    assert "body=%" in texts["hlo"]
