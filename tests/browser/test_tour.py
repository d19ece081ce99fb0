"""First use: the tour that is there once, and comes back from the help."""

from __future__ import annotations

from playwright.sync_api import expect

SMALL = """\
import jax.numpy as jnp
%load_ext jaxviz
%jaxviz (lambda x: jnp.tanh(x) * 2.0)(jnp.ones(4))"""


def test_a_newcomer_is_offered_a_tour_once_and_finds_it_again_in_the_help(notebook):
    opened = notebook(SMALL, SMALL, newcomer=True)
    graph = opened.explore(0)
    tour = graph.root.get_by_role("region", name="tour")
    expect(tour).to_contain_text("1 of 5")
    # It stands beside the picture, not over it.
    line, stage = tour.bounding_box(), graph.stage.bounding_box()
    assert line["y"] + line["height"] <= stage["y"] + 1
    opened.shot("tour-first", graph.root)
    tour.get_by_role("button", name="The next step").focus()
    for step in range(2, 6):
        graph.page.keyboard.press("Enter")
        expect(tour).to_contain_text(f"{step} of 5")
        expect(graph.root.locator(".jv-toured")).to_have_count(1)
    opened.shot("tour-last", graph.root)
    tour.get_by_role("button", name="Close the tour").click()
    expect(tour).to_be_hidden()
    expect(graph.stage).to_be_focused()
    # Not again in the next cell, nor on the next page.
    second = opened.explore(1)
    expect(second.root.get_by_role("region", name="tour")).to_be_hidden()
    graph.stage.focus()
    graph.page.keyboard.press("?")
    graph.root.get_by_role("button", name="Five steps through the explorer").click()
    expect(tour).to_contain_text("1 of 5")
    graph.page.keyboard.press("Escape")
    opened.save()
    opened.page.reload()
    again = opened.graph_of(opened.page.locator(".jv-root").first)
    expect(again.root.get_by_role("region", name="tour")).to_be_hidden()
