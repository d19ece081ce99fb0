"""What was merged with another became what that did: its line is found in optimized HLO."""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np
import pytest

import jaxviz as jv
from jaxviz.link.fates import CONSEQUENCE, MERGED, Fates
from jaxviz.link.links import EXACT, INFERRED, Links
from jaxviz.link.links import MERGED as OF_SEVERAL
from jaxviz.link.merged import with_merged

pytestmark = pytest.mark.smoke

SQUARE = jnp.ones((32, 32))


def computed_twice(x, w):
    first = jnp.sin(x @ w)
    again = jnp.sin(x @ w)
    return first * x, (again + 1).sum()


def test_an_equation_that_was_merged_leads_to_the_instruction_that_is_left():
    ex = jv.explore(computed_twice, SQUARE, SQUARE)
    merged = [fate for fate in ex.fates if fate.kind == "merged"]
    assert {ex.jaxpr.node(fate.node).op for fate in merged} == {"dot_general", "sin"}
    links = ex.links("hlo")
    for fate in merged:
        assert set(links.targets(fate.node)) == set(links.targets(fate.by)) != set()
        for target in links.targets(fate.node):
            if ex.hlo.node(target).op == ex.hlo.node(links.targets(fate.by)[-1]).op:
                assert {fate.node, fate.by} <= set(links.sources(target))
    (entry,) = [one for one in ex.document().links if one.end == 2]
    np.testing.assert_array_equal(entry.links.source, links.source)
    np.testing.assert_array_equal(entry.links.kind, links.kind)


def column(*numbers):
    return np.array(numbers, np.int32)


def test_what_was_merged_with_what_was_merged_leads_to_what_is_left_of_all():
    fates = Fates(column(0, MERGED, MERGED), column(0, 0, 0), column(-1, 0, 1))
    links = with_merged(Links(column(0), column(4), column(EXACT)), fates)
    assert links.sources(4) == [0, 1, 2]
    assert set(links.kind.tolist()) == {OF_SEVERAL}


def test_what_is_only_inferred_of_the_one_that_is_left_is_not_said_of_the_other():
    fates = Fates(column(0, MERGED), column(0, 0), column(-1, 0))
    links = with_merged(Links(column(0, 0), column(4, 5), column(EXACT, INFERRED)), fates)
    assert links.targets(1) == [4]
    assert links.sources(5) == [0]


def test_what_went_with_something_else_did_not_become_what_stands_in_its_place():
    fates = Fates(column(0, CONSEQUENCE), column(0, 0), column(-1, 0))
    links = Links(column(0), column(4), column(EXACT))
    assert with_merged(links, fates) is links


def test_what_is_in_a_call_of_what_two_functions_compute_alike_was_merged_with_what_is_in_the_other_call():
    """Both ask whether a number is missing and put others in that place; the two are different functions."""
    ex = jv.explore(lambda x: (jnp.median(x), jnp.percentile(x, 30.0)), jnp.linspace(0.0, 1.0, 30))
    linked = set(ex.links("hlo").source.tolist())
    assert {fate.node for fate in ex.fates if fate.alive and fate.kind != "context"} <= linked
    chosen = [node.index for node in ex.jaxpr.find("select_n") if node.types == ("f32[30]",)]
    fates = {fate.node: fate for fate in ex.fates}
    assert len(chosen) == 2
    assert {fates[one].kind for one in chosen} == {"fused", "merged"}
    (merged,) = (fates[one] for one in chosen if fates[one].kind == "merged")
    assert merged.by in chosen


def test_what_a_part_of_another_equation_does_as_well_is_merged_with_a_part_of_that():
    ex = jv.explore(lambda x: (jnp.exp(-jnp.conj(x)), jnp.imag(x)), SQUARE + 1j * SQUARE)
    (imag,) = ex.jaxpr.find("imag")
    (fate,) = (one for one in ex.fates if one.node == imag.index)
    assert (fate.kind, ex.jaxpr.node(fate.by).op) == ("merged", "conj")
    # Which instructions are that part is not known.
    assert ex.links("hlo").targets(imag.index) == []
