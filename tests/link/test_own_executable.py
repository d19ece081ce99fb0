"""The person's own executable: its instructions are those of the graph, so that a profile of a run finds its nodes."""

from __future__ import annotations

import functools
from typing import Any

import jax
import jax.numpy as jnp
import pytest
from jax.sharding import Mesh, NamedSharding, PartitionSpec
from programs import CORPUS

import jaxviz as jv
from jaxviz.capture import Capture
from jaxviz.program.program import Program
from jaxviz.read.hlo.graph import HloGraph, read_hlo
from jaxviz.read.hlo.proto import parse_hlo_proto


def graph_of(function: Any, *arguments: Any) -> HloGraph:
    """The graph that is shown, in which instructions are known by name."""
    return read_hlo(parse_hlo_proto(Capture(Program(function, arguments))._optimized.proto))


def own_module(function: Any, *arguments: Any) -> Any:
    """What the person's own jit runs."""
    jitted = function if hasattr(function, "lower") else jax.jit(function)
    module = jitted.lower(*arguments).compile().runtime_executable().hlo_modules()[0]
    return parse_hlo_proto(module.as_serialized_hlo_module_proto())


def names_of(module: Any) -> dict[str, str]:
    return {
        name: opcode
        for computation in module.computations
        for name, opcode in zip(computation.names, computation.opcodes, strict=True)
    }


def assert_same_names(function: Any, *arguments: Any) -> None:
    shown, own = graph_of(function, *arguments), names_of(own_module(function, *arguments))
    ran = {name for name, opcode in own.items() if opcode not in ("tuple", "get-tuple-element")}
    assert names_of(shown.module) == own
    # A computation of a single operation is an attribute of what calls it: it runs under no name of its own.
    simple = {name for name in ran if name not in shown.node_of}
    inside = {name for computation in shown.module.computations if len(computation) == 3 for name in computation.names}
    assert simple <= inside


@pytest.mark.parametrize("name", ["fori", "while_loop", "cond", "scan_rnn", "mlp_grad", "convolution"])
def test_instructions_of_the_persons_own_executable_are_in_the_graph(name):
    function, arguments = CORPUS[name]()
    assert_same_names(function, *arguments)


def test_donated_arguments_stay_donated():
    step = functools.partial(jax.jit, donate_argnums=0)(lambda state, x: state + x @ x)
    assert_same_names(step, jnp.ones((4, 4)), jnp.ones((4, 4)))


def test_shardings_of_the_persons_jit_are_kept():
    mesh = Mesh(jax.devices(), ("rows",))
    rows = NamedSharding(mesh, PartitionSpec("rows"))
    step = jax.jit(lambda x: jnp.sin(x) * 2.0, in_shardings=rows, out_shardings=rows)
    assert_same_names(step, jnp.ones((len(jax.devices()) * 2, 3)))


def test_what_an_async_helper_computes_is_in_the_graph():
    async def helper(x):
        return jnp.tanh(x) + 1.0

    def run(x):
        # By hand: there may be an event loop already, as in a notebook.
        with pytest.raises(StopIteration) as done:
            helper(x).send(None)
        return done.value.value * 2.0

    ex = jv.explore(run, jnp.ones(3))
    (tanh,) = ex.jaxpr.find("tanh")
    assert tanh.frames[-1].function.endswith("helper")
    assert ex.links("hlo").targets(tanh.index)


def test_equinox_modules_are_explored_as_they_are():
    import equinox

    model = equinox.nn.MLP(4, 2, 8, depth=2, key=jax.random.key(0))
    ex = jv.explore(model, jnp.ones(4))
    assert len(ex.jaxpr.find("dot_general")) == 3
    assert ex.links("hlo").targets(ex.jaxpr.find("dot_general")[0].index)
    filtered = jv.explore(functools.partial(equinox.filter_jit(lambda model, x: model(x).sum()), model), jnp.ones(4))
    assert len(filtered.jaxpr.find("dot_general")) == 3


class Scaled:
    """Its call is jitted, and it is an option of that jit."""

    @functools.partial(jax.jit, static_argnums=0, donate_argnums=1)
    def __call__(self, x):
        return jnp.sin(x) * 2.0


@pytest.mark.parametrize("function", ["partial", "partial of a partial", "instance"])
def test_the_persons_jit_is_explored_below_what_holds_it(function):
    jitted = jax.jit(lambda w, x, *, power: (w @ x) ** power, static_argnames="power", donate_argnums=1)
    w, x = jnp.ones((4, 4)), jnp.ones(4)
    one = functools.partial(jitted, w)
    called, own = {
        "partial": (functools.partial(one, power=3), jitted.lower(w, x, power=3)),
        "partial of a partial": (functools.partial(functools.partial(one), power=3), jitted.lower(w, x, power=3)),
        "instance": (scaled := Scaled(), Scaled.__call__.lower(scaled, x)),
    }[function]
    ex = jv.explore(called, x)
    module = own.compile().runtime_executable().hlo_modules()[0]
    assert names_of(ex._capture.hlo_module) == names_of(parse_hlo_proto(module.as_serialized_hlo_module_proto()))
    assert ex.program.donated[-1]
    assert ex.run(repeat=2, eager=True, profile=False).median > 0
