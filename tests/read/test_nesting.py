"""A text that is nested so deep that MLIR would end the process is refused, at the bracket."""

from __future__ import annotations

import pytest

from jaxviz.read.mlir import MlirError, parse_mlir
from jaxviz.read.nesting import too_deep


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("module {\n" * 30_000 + "}" * 30_000, "line 1001:8"),
        ("func.func @main(%a: tensor<i1> loc(" + 'callsite("a" at ' * 30_000 + '"b"' + ")" * 30_000, "line 1:16012"),
        ("(" * 2_000, "line 1:1001"),
    ],
    ids=["modules", "locations", "open"],
)
def test_what_is_nested_too_deep_is_refused_at_the_bracket(text, place):
    with pytest.raises(MlirError, match=f"^{place}: expected at most 1,000 brackets within one another"):
        parse_mlir(text)


@pytest.mark.parametrize(
    "text",
    ["{ [ ( < > ) ] }" * 5_000, '"' + "(" * 5_000 + '"', r'"\"(("' * 5_000, "// (\n" * 5_000, "() -> ()" * 5_000],
    ids=["side by side", "in a string", "behind a quote", "in comments", "arrows"],
)
def test_brackets_that_hold_no_others_are_not_counted(text):
    assert too_deep(text) is None


def test_brackets_in_a_string_do_not_close_what_is_open():
    assert too_deep('(")" ' * 1_001) == (1, 5_001)
