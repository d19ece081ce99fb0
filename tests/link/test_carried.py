"""What goes round a loop is called in StableHLO and HLO as in the jaxpr."""

import jax
import jax.numpy as jnp
import pytest
from jax import lax

import jaxviz as jv
from jaxviz.graph import INIT


def names(graph):
    """By the kind of body, the names of what goes round loops there, of what has one."""
    strings, marks = graph.tables.strings, graph.attributes
    key = graph.tables.find_string("variable")
    variable = {
        node: strings[value]
        for node, one, value in zip(marks.node.tolist(), marks.key.tolist(), marks.value.tolist(), strict=True)
        if one == key
    }
    found = {}
    for node in sorted(set(graph.bindings.end[graph.bindings.kind == INIT].tolist())):
        kind = strings[graph.regions.kind[graph.nodes.region[node]]]
        if node in variable:
            found.setdefault(kind, []).append(variable[node])
    return found


@pytest.mark.parametrize("stage", ["stablehlo", "hlo"])
def test_what_goes_round_a_loop_has_the_names_that_the_person_gave_it(stage):
    def settle(x):
        def turn(carry):
            near, far, count = carry
            return jnp.sin(near) - far, far * jnp.cos(near), count + 1

        return lax.while_loop(lambda carry: jnp.sum(carry[1]) > 1.0, turn, (x, x + 1.0, 0))

    graph = getattr(jv.explore(settle, jnp.ones(4)), stage)
    assert names(graph)["while body"] == ["near", "far", "count"]
    # What the condition only reads by its place is the same as in the body.
    assert names(graph)["while cond"] == ["near", "far", "count"]


def test_a_condition_knows_what_it_sums_where_nothing_else_reads_it():
    def grown(x):
        return lax.while_loop(lambda c: jnp.sum(c) < 1000.0, lambda c: c + c, x)

    assert names(jv.explore(grown, jnp.ones(4)).stablehlo) == {"while cond": ["c"], "while body": ["c"]}


def test_a_loop_over_numbers_has_the_names_of_its_body_and_its_own_counter_has_none():
    def shaken(x):
        return lax.fori_loop(0, 10, lambda i, c: jnp.sin(c) * 1.01 + i, x)

    explored = jv.explore(shaken, jnp.ones(16))
    jaxpr = explored.jaxpr
    first = sorted(jaxpr.bindings.end[jaxpr.bindings.kind == INIT].tolist())
    # JAX 0.6 knows them by their places alone.
    called = [jaxpr.tables.strings[jaxpr.nodes.name[node]] for node in first]
    assert called in (["i", "c"], ["loop_carry[0]", "loop_carry[1]"])
    assert names(explored.stablehlo)["while body"] == called


def test_what_no_operation_reads_stays_without_a_name():
    def swapped(pair):
        first, second = pair

        def turn(carry, _):
            return (carry[1], carry[0]), None

        return lax.scan(turn, (first, second), None, length=3)[0]

    assert names(jv.explore(swapped, (jnp.ones(4), jnp.zeros(4))).stablehlo) == {}


def test_loops_in_mapped_functions_keep_their_names():
    def chain(start):
        def turn(carry, _):
            place, pace = carry
            return (place + pace, pace * 0.5), place

        return lax.scan(turn, (start, start), None, length=5)

    graph = jv.explore(jax.vmap(chain), jnp.ones(3)).stablehlo
    assert names(graph)["while body"] == ["place", "pace"]
