"""Kernels of Pallas, which write into references and give nothing."""

from __future__ import annotations

import ast
import re

from jaxviz.errors.cases.given import argument, function_given, result_of
from jaxviz.errors.explanation import Case, Cure, Explanation
from jaxviz.errors.failure import Failure

_PAGE = "https://docs.jax.dev/en/latest/pallas/quickstart.html"


def _gives(failure: Failure, match: re.Match[str]) -> Explanation:
    """A kernel that returns what it should write."""
    function = function_given(failure, argument(failure.calls("pallas_call"), 0, "kernel"))
    result = result_of(function)
    cures = []
    if (
        isinstance(function, ast.FunctionDef)
        and function.args.args
        and result is not None
        and failure.source is not None
    ):
        # References of results come after those of arguments.
        into = function.args.args[-1].arg
        value = failure.text(result)
        kept = [one for one in function.body if not isinstance(one, ast.Return)]
        last = kept[-1] if kept else None
        if isinstance(last, ast.Assign) and failure.text(last.targets[0]) == value:
            value, kept = failure.text(last.value), kept[:-1]
        lines = [line for one in kept for line in failure.text(one).splitlines()]
        written = [f"def {function.name}({ast.unparse(function.args)}):", *lines, f"{into}[...] = {value}"]
        cures = [Cure("Write it into the reference of the result:", "\n    ".join(written), inside=False)]
    reason = (
        "A kernel is called with references: it reads arguments through them, and writes results into those that come "
        f"last. `{match[1]}` gives its result back instead, or assigns to the name of a reference."
    )
    return Explanation("kernel", f"the kernel `{match[1]}` gives something back", reason, tuple(cures), _PAGE)


CASES = (Case("kernel", ("ValueError",), r"kernel function in the pallas_call (\w+).* should return None", _gives),)
