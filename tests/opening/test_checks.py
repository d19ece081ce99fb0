"""What `jax.export` writes to check the shapes of arguments is one thing of its own in an opened program."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import pytest
from jax import export
from outline.outlines import check

import jaxviz as jv


@pytest.mark.smoke
@pytest.mark.parametrize("lengths", ["rows, columns", "rows, 2*columns"])
def test_checks_of_open_lengths_are_one_box_beside_the_function(tmp_path, monkeypatch, lengths):
    monkeypatch.chdir(tmp_path)
    rows, columns = export.symbolic_shape(lengths)

    def scaled(x, y):
        return jnp.sin(x) @ y

    shapes = [jax.ShapeDtypeStruct(shape, jnp.float32) for shape in ((rows, columns), (columns, 4))]
    (tmp_path / "m.mlir").write_text(export.export(jax.jit(scaled))(*shapes).mlir_module())
    opened = jv.open("m.mlir")
    graph = opened.stablehlo
    (entry,) = opened.document().outlines
    check(entry.outline)
    first = [row for row in entry.outline if row.depth == 1 and row.kind not in ("argument", "result")]
    checks = next(row for row in first if row.name == "check shapes")
    inside = {graph.node(node).op for node in range(checks.first, checks.end)}
    assert {"custom_call", "compare", "get_dimension_size"} <= inside
    # Nothing of them is anywhere else, and nothing of the function is there.
    named = [node for node in graph if node.attributes.get("call_target_name") == "shape_assertion"]
    assert named
    assert all(checks.first <= node.index < checks.end for node in named)
    assert not inside & {"sine", "dot_general"}
    # What is computed of the lengths alone is there, too.
    assert {row.name for row in first} <= {"check shapes", "wrapped_jax_export_main", "sin", "dot_general", "sine"}


def test_a_module_without_checks_is_as_it_was(tmp_path):
    (tmp_path / "m.mlir").write_text(jax.jit(jnp.sin).lower(jnp.ones(3)).as_text(debug_info=True))
    (entry,) = jv.open(tmp_path / "m.mlir").document().outlines
    assert "check shapes" not in [row.name for row in entry.outline]
