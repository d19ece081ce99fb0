"""The widget's traits, without a browser; `tests/browser/test_widget.py` has it drawn."""

from __future__ import annotations

import jax.numpy as jnp
import pytest
import traitlets

import jaxviz as jv
from jaxviz.document import Document


def forgetful(x):
    y = jnp.cos(x) + 3  # noqa: F841
    return x + 1


def test_a_widget_has_the_document_and_what_was_found():
    widget = jv.explore(forgetful, jnp.ones(3)).widget(stage="hlo", height=300)
    assert Document.from_json(widget.document).programs[0].name == "forgetful"
    assert (widget.stage, widget.height) == ("hlo", 300)
    (finding,) = widget.findings
    assert finding["kind"] == "dead"
    assert len(finding["nodes"]) == 2
    assert finding["remedy"]


def test_traits_can_be_observed_and_refuse_what_is_not_there():
    widget = jv.explore(forgetful, jnp.ones(3)).widget()
    heard = []
    widget.observe(lambda change: heard.append(change.new), "selection")
    widget.selection = [1, 2]
    assert heard == [[1, 2]]
    widget.finding = 0
    with pytest.raises(traitlets.TraitError, match="no finding 7"):
        widget.finding = 7
    with pytest.raises(traitlets.TraitError):
        widget.selection = ["add"]
    widget.stage = "stablehlo"
    with pytest.raises(traitlets.TraitError, match="no stage 'optimized': there are jaxpr, stablehlo, hlo"):
        widget.stage = "optimized"
    assert widget.stage == "stablehlo"
