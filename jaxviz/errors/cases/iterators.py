"""What gives its entries one after another where an array of them is wanted: generators, `map`, `dict.values()`."""

from __future__ import annotations

import ast
import re

from jaxviz.errors.explanation import Case, Cure, Explanation, api_page
from jaxviz.errors.failure import Failure, last_name

_KINDS = r"generator|map|zip|filter|dict_values|dict_keys"
# Functions that take an iterator apart themselves, and methods that give one.
_GIVING = ("map", "zip", "filter", "values", "keys")
# What makes one array of several takes them in a list; all others take an array.
_OF_SEVERAL = ("array", "asarray", "stack", "concatenate", "hstack", "vstack", "dstack", "column_stack")


def _iterator(failure: Failure, match: re.Match[str]) -> Explanation | None:
    kind = next(group for group in match.groups() if group)
    call = failure.find(ast.Call)
    while call is not None and last_name(call.func) in _GIVING:
        call = failure.source.parent(call) if failure.source is not None else None
        call = call if isinstance(call, ast.Call) else None
    given = call.args[0] if call is not None and call.args else None
    cures: tuple[Cure, ...] = ()
    if call is not None and given is not None:
        listed = _listed(failure, given)
        several = last_name(call.func) in _OF_SEVERAL
        listed = listed if several else f"jnp.array({listed})"
        # The brackets of a call whose only argument is a generator are those of the generator.
        bare = failure.text(call) == failure.text(call.func) + failure.text(given)
        code = failure.with_(given, f"({listed})" if bare else listed)
        cures = (Cure("Go through it, and keep what comes in a list:", code),)
    shown = f"`{failure.text(given)}`" if isinstance(given, ast.Name) else f"a `{kind}`"
    reason = (
        f"An array is made of numbers, of arrays, or of lists of them. Here it is {shown}, which gives its entries one "
        "after another to what goes through it, and is no list itself."
    )
    function = failure.text(call.func) if call is not None else "the function"
    return Explanation("iterator", f"`{function}` was given {shown}", reason, cures, api_page("jax.numpy.array"))


def _listed(failure: Failure, given: ast.expr) -> str:
    """A list of what an iterator gives."""
    text = failure.text(given)
    if isinstance(given, ast.GeneratorExp):
        return f"[{text[1:-1] if text.startswith('(') and text.endswith(')') else text}]"
    return f"list({text})"


CASES = (
    Case(
        "iterator",
        ("TypeError",),
        rf"^Value '<?({_KINDS})\b.*' with dtype object is not a valid JAX array type"
        rf"|^object of type '({_KINDS})' has no len\(\)"
        rf"|problematic value is of type <class '({_KINDS})'>",
        _iterator,
    ),
)
