"""The lines of StableHLO where JAX hands out again what it traced of a function when another called it first."""

from __future__ import annotations

import functools

import jax
import jax.numpy as jnp
import pytest

from jaxviz.compat import mlir as compat_mlir
from jaxviz.graph import OPERATION
from jaxviz.read.mlir import parse_mlir
from jaxviz.read.mlir_frames import MlirFrames
from jaxviz.read.stablehlo import read_stablehlo
from jaxviz.tables import Tables


@jax.jit
def scaled(x):
    return jnp.sin(x) * 2


def doubled(fn):
    @functools.wraps(fn)
    def double(x):
        return fn(x) * 2

    return double


@jax.jit
@doubled
def wrapped(x):
    return jnp.sin(x)


class Scale:
    def __call__(self, x):
        return jnp.sin(x)


calls_an_object = jax.jit(Scale())


def chooses(x):
    return jnp.where(x > 0, x, 1.0)


def functions_at(fn, first, op):
    """The functions of this file that the operations `op` of `fn` stand in, after the program `first` was traced."""
    jax.clear_caches()
    jax.jit(first).lower(jnp.ones(3))
    tables = Tables()
    text = jax.jit(fn).lower(jnp.ones(3)).as_text(debug_info=True)
    graph = read_stablehlo(parse_mlir(text), tables, frames=MlirFrames(tables)).graph
    found = []
    for node in range(len(graph)):
        if graph.nodes.kind[node] == OPERATION and tables.strings[graph.nodes.op[node]] == op:
            frames = tables.frames_of(int(graph.nodes.stack[node]))
            found.append([frame.function for frame in frames if frame.file == __file__])
    return found


@pytest.mark.parametrize(
    ("called", "op", "inside"),
    [
        (scaled, "sine", ["scaled"]),
        (scaled, "multiply", ["scaled"]),
        (chooses, "select", ["chooses"]),
        (jnp.linalg.norm, "sqrt", []),
        (wrapped, "sine", ["wrapped"]),
    ],
)
def test_what_a_called_function_does_stands_below_its_call_whoever_called_it_first(called, op, inside):
    def before(x):
        return called(x)

    def here(x):
        return called(x) + called(x + 1)

    of_here = [functions[-1 - len(inside) :] for functions in functions_at(here, before, op)]
    assert of_here == [["here", *inside]] * 2


@pytest.mark.parametrize(
    ("called", "op", "inside"), [(wrapped, "multiply", "double"), (calls_an_object, "sine", "Scale.__call__")]
)
def test_a_line_of_the_person_in_what_has_another_name_than_its_call_is_kept(called, op, inside):
    def here(x):
        return called(x) + 1

    assert [functions[-1] for functions in functions_at(here, here, op)] == [inside]


@pytest.mark.smoke
def test_calls_that_many_operations_stand_in_are_taken_apart_once(monkeypatch):
    def unrolled(x):
        for number in range(40):
            with jax.named_scope(f"turn{number}"):
                x = jnp.sin(x)
        return x

    text = jax.jit(unrolled).lower(jnp.ones(3)).as_text(debug_info=True)
    taken = []
    part_of = compat_mlir.location_part
    monkeypatch.setattr(compat_mlir, "location_part", lambda location: taken.append(1) or part_of(location))
    tables = Tables()
    graph = read_stablehlo(parse_mlir(text), tables, frames=MlirFrames(tables)).graph
    sines = graph.find("sine")
    assert len({node.scope for node in sines}) == 40
    assert {node.frames[-1].function.split(".")[-1] for node in sines} == {"unrolled"}
    assert len(taken) < 10 * len(sines)
