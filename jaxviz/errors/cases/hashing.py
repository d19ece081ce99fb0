"""Traced values in sets, as keys of dictionaries and of caches: Python looks these up by their numbers."""

from __future__ import annotations

import ast
import re

from jaxviz.arrays import is_array
from jaxviz.errors.cases import choices
from jaxviz.errors.cases.tables import taken_by
from jaxviz.errors.cases.values import stand_ins, static_cures
from jaxviz.errors.explanation import Case, Cure, Explanation, error_page
from jaxviz.errors.failure import Failure, last_name
from jaxviz.errors.rewriting import grouped


def _cached(failure: Failure, call: ast.Call) -> Explanation:
    """A function that keeps its results by its arguments, as `functools.lru_cache` makes it."""
    function = failure.text(call.func)
    given = ", ".join(f"`{name}`" for name in failure.traced(call))
    reason = (
        f"`{function}` looks up by its arguments whether it has been called with them, and {given or 'these'} has no "
        "number to look up while JAX traces. Under `jit` nothing is gained by that: it runs once, when it is traced."
    )
    cure = Cure("Call it without its cache:", failure.with_(call.func, f"{function}.__wrapped__"))
    return Explanation("hash", f"`{function}` keeps results by traced values", reason, (cure,), "")


def _hash(failure: Failure, match: re.Match[str]) -> Explanation:
    call = failure.find(ast.Call)
    if call is not None and hasattr(failure.value(call.func), "cache_info"):
        return _cached(failure, call)
    cures: tuple[Cure, ...] = ()
    comparison, item = failure.find(ast.Compare), failure.find(ast.Subscript)
    if comparison is not None and isinstance(comparison.ops[0], (ast.In, ast.NotIn)):
        cures = choices.cures_of(failure)
    elif item is not None and isinstance(failure.value(item.value), dict) and isinstance(item.ctx, ast.Load):
        code = taken_by(failure, item, failure.text(item.slice))
        cures = (Cure("Take it out of an array of all of them:", code),)
    key = _key(failure)
    if not cures:
        cures = (*_different(failure), *static_cures(failure, failure.traced(key)))
    reason = (
        f"{stand_ins(failure, failure.statement)} Sets and dictionaries look values up by their number, "
        "which is known only when the program runs."
    )
    if not any(cure.code for cure in cures):
        reason += (
            " What a program remembers is an array with a place for each possible number, which is written into by "
            "`.at[...].set(...)`."
        )
    text = failure.text(key) or "x"
    title = f"`{text}` cannot be in a set or a key of a dictionary"
    return Explanation("hash", title, reason, cures, error_page("TracerArrayConversionError"))


def _key(failure: Failure) -> ast.AST | None:
    """What is looked up, of what failed."""
    node: ast.AST | None = failure.expression
    if isinstance(node, ast.SetComp):
        return node.elt
    if isinstance(node, ast.DictComp):
        return node.key
    if isinstance(node, ast.Subscript):
        return node.slice
    found: list[ast.expr | None] = []
    if isinstance(node, ast.Dict):
        found = node.keys
    elif isinstance(node, ast.Set):
        found = [*node.elts]
    elif isinstance(node, ast.Call):
        found = [*node.args]
    return next((one for one in found if failure.traced(one)), node)


def _different(failure: Failure) -> tuple[Cure, ...]:
    """The entries of an array that are different, or how many these are, where a set is made of them."""
    source = failure.source
    # From Python 3.12 on, what a comprehension puts into a set is what fails, not the whole of it.
    node = failure.find(ast.SetComp) or failure.expression
    array = _made_of(node)
    # Until Python 3.12, what a comprehension goes along is known outside of it.
    outside = failure.seen_from(failure.own[-2]) if isinstance(node, ast.SetComp) and failure.own[1:] else failure
    held = [one.value(array) for one in (failure, outside)]
    if node is None or source is None or array is None or not any(map(is_array, held)):
        return ()
    text = failure.text(array)
    around = source.parent(node)
    if isinstance(around, ast.Call) and last_name(around.func) == "len":
        count = f"(jnp.diff(jnp.sort({text})) != 0).sum() + 1"
        return (Cure("Count, in order, where the next is another:", failure.with_(around, count)),)
    size = f"{grouped(text, array)}.size"
    listed = isinstance(around, ast.Call) and last_name(around.func) in ("list", "sorted", "tuple")
    whole = around if listed and isinstance(around, ast.Call) else node
    code = failure.with_(whole, f"jnp.unique({text}, size={size})")
    return (Cure("Take them in order; what is left over is filled up with the smallest:", code),)


def _made_of(node: ast.AST | None) -> ast.expr | None:
    """The array of which a set is made: `set(x)`, `{v for v in x}`."""
    if isinstance(node, ast.Call) and last_name(node.func) in ("set", "frozenset") and len(node.args) == 1:
        return node.args[0]
    if isinstance(node, ast.SetComp) and len(node.generators) == 1 and not node.generators[0].ifs:
        same = ast.unparse(node.elt) == ast.unparse(node.generators[0].target)
        return node.generators[0].iter if same else None
    return None


CASES = (Case("hash", ("TypeError",), r"unhashable type: '\w*(?:Tracer|ArrayImpl)'", _hash),)
