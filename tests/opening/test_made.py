"""What JAX made of a function in this very process is opened as a file of it would be."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import pytest
from jax import export
from outline.outlines import check

import jaxviz as jv

pytestmark = pytest.mark.smoke

X = jnp.ones((4, 4))


def scaled(x, n=2):
    turned = jnp.sin(x) * n
    return turned.sum()


JITTED = jax.jit(scaled)


def names(program):
    return [box.name for box in program.view(stage=program.stage).boxes]


@pytest.mark.parametrize("make", [JITTED.trace, JITTED.lower, export.export(JITTED)])
def test_what_is_not_compiled_yet_shows_its_stablehlo_with_the_names_of_its_source(make):
    program = jv.open(make(X))
    assert program.kinds == ("stablehlo",)
    assert names(program) == ["x", "sin", "multiply", "sum", "result"]
    check(program.document().outlines[0].outline)


def test_what_is_compiled_shows_the_instructions_that_run():
    compiled = JITTED.lower(X).compile()
    program = jv.open(compiled)
    assert program.kinds == ("hlo",)
    assert len(program.hlo) == len(jv.explore(JITTED, X).hlo)
    check(program.document().outlines[0].outline)


def test_texts_bytes_and_modules_of_what_is_made_are_opened_too():
    lowered = JITTED.lower(X)
    compiled = lowered.compile()
    (module,) = compiled.runtime_executable().hlo_modules()
    for given in (lowered.compiler_ir(), lowered.as_text(debug_info=True)):
        program = jv.open(given)
        assert program.kinds == ("stablehlo",)
        assert [node.op for node in program.stablehlo.find("sine")] == ["sine"]
        check(program.document().outlines[0].outline)
    for given in (module, compiled.as_text(), module.as_serialized_hlo_module_proto(), lowered.compiler_ir("hlo")):
        assert jv.open(given).kinds == ("hlo",)
    with pytest.raises(jv.OpenError, match="text: line 1:1: expected HLO"):
        jv.open("no program\nat all " * 100)


def test_of_a_function_it_is_said_what_shows_it():
    with pytest.raises(TypeError, match=r"but got function: jv\.explore\(function"):
        jv.open(scaled)


def test_what_holds_no_program_is_said_to_be_none():
    with pytest.raises(TypeError, match="expected a path, or what JAX lowered or compiled, but got int"):
        jv.open(3)


def test_what_is_made_already_is_not_explored_but_opened():
    with pytest.raises(TypeError, match=r"got Lowered as the function: jv\.open shows"):
        jv.explore(JITTED.lower(X), X)


def test_what_it_is_said_to_be_where_it_cannot_be_run():
    with pytest.raises(ValueError, match="Compiled holds what was compiled, not a function"):
        jv.open(JITTED.lower(X).compile()).run()
