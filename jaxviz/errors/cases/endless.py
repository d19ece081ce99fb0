"""Functions that call themselves without an end while JAX traces them."""

from __future__ import annotations

import ast
import re

from jaxviz.errors.explanation import Case, Explanation
from jaxviz.errors.failure import Failure

_PAGE = "https://docs.jax.dev/en/latest/control-flow.html"


def _recursion(failure: Failure, match: re.Match[str]) -> Explanation | None:
    name = failure.source.function if failure.source is not None else failure.name
    if name == "<lambda>" and len(failure.own) > 1:
        # A branch of the function that calls itself.
        name = next((p.frame.f_code.co_name for p in reversed(failure.own) if p.frame.f_code.co_name != name), name)
    own = [place.frame.f_code for place in failure.own]
    jitted = "Recursively calling" in failure.message
    if not jitted and own.count(own[-1]) < 3 if own else True:
        return None
    chosen = failure.calls("where", "cond", "select", "switch") is not None or _chooses(failure)
    how = (
        f"`{name}` is jitted and calls itself with arguments of the same types, so its trace needs itself, which has "
        "not ended yet."
        if jitted
        else f"`{name}` calls itself, each time that it is traced."
    )
    reason = f"{how} What ends a recursion must be known while JAX traces: a number of Python, or a shape. " + (
        "`jnp.where` and `lax.cond` do not end it, for JAX traces both of their sides."
        if chosen
        else "What depends on a traced value is a loop: `jax.lax.while_loop` or `jax.lax.fori_loop`."
    )
    return Explanation("recursion", f"`{name}` calls itself without an end", reason, (), _PAGE)


def _chooses(failure: Failure) -> bool:
    """Whether the program, not Python, is to choose in the function."""
    source = failure.source
    around = source.around(failure.expression) if source is not None and failure.expression is not None else []
    function = next((one for one in around if isinstance(one, ast.FunctionDef)), None)
    calls = [one for one in ast.walk(function) if isinstance(one, ast.Call)] if function is not None else []
    return any(ast.unparse(one.func).rpartition(".")[2] in ("where", "cond", "select", "switch") for one in calls)


CASES: tuple[Case, ...] = (Case("recursion", ("RecursionError",), "", _recursion),)
