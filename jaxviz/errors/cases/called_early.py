"""What a function gives, handed to `jax.jit`, `jax.grad` and their like where the function itself is wanted."""

from __future__ import annotations

import ast
import re

from jaxviz.arrays import is_array
from jaxviz.errors.cases.given import assigned
from jaxviz.errors.explanation import Case, Cure, Explanation, api_page
from jaxviz.errors.failure import Failure, last_name

# What makes a function of a function, to be called afterwards.
_MAKING = (
    *("jit", "vmap", "pmap", "grad", "value_and_grad", "jacfwd", "jacrev", "jacobian", "hessian", "checkpoint"),
    *("remat", "make_jaxpr"),
)
# What calls the function at once, with what comes after it.
_CALLING = ("jvp", "vjp", "linearize", "eval_shape")


def _value_given(failure: Failure, match: re.Match[str]) -> Explanation | None:
    call = failure.calls(*_MAKING, *_CALLING)
    given = call.args[0] if call is not None and call.args else None
    if call is None or given is None:
        return None
    name, text = last_name(call.func), failure.text(given)
    reason = (
        f"`jax.{name}` takes a function, and calls it itself. `{text}` is a value, which was there before "
        f"`{name}` saw it, and in which there is nothing left to transform."
    )
    code = _called_after(failure, call, given)
    cures = (Cure("Give it the function, and what that is called with afterwards:", code),) if code else ()
    return Explanation("called early", f"`{text}` is a value, not a function", reason, cures, api_page(f"jax.{name}"))


def _called_after(failure: Failure, call: ast.Call, given: ast.expr) -> str:
    """The statement with the function in place of its value; empty where what it is called with is not seen."""
    source = failure.source
    made = assigned(failure, given)
    value = made.value if made is not None else given
    if source is None or (made is None and isinstance(given, ast.Name)):
        return ""
    function, arguments = _taken_apart(failure, value)
    outer = source.parent(call)
    is_called = isinstance(outer, ast.Call) and outer.func is call
    if not is_called and last_name(call.func) not in _CALLING:
        return failure.with_(call, f"{source.replaced(call, {given: function})}({arguments})") if arguments else ""
    after = outer.args if is_called and isinstance(outer, ast.Call) else call.args[1:]
    names = ", ".join(failure.text(one) for one in after)
    if not after or not all(isinstance(one, ast.Name) for one in after):
        return ""
    return failure.with_(given, function if names == arguments else f"lambda {names}: {failure.text(value)}")


def _taken_apart(failure: Failure, value: ast.expr) -> tuple[str, str]:
    """The function of which an expression is a value, and what it is called with to give it."""
    plain = isinstance(value, ast.Call) and not value.keywords and not _is_of_array(failure, value)
    if plain and isinstance(value, ast.Call) and all(_is_traced(failure, one) for one in value.args):
        return failure.text(value.func), ", ".join(map(failure.text, value.args))
    names = ", ".join(failure.traced(value))
    return f"lambda {names}: {failure.text(value)}", names


def _is_of_array(failure: Failure, call: ast.Call) -> bool:
    """Whether a call is that of a method of an array."""
    return isinstance(call.func, ast.Attribute) and is_array(failure.value(call.func.value))


def _is_traced(failure: Failure, node: ast.expr) -> bool:
    return not isinstance(node, ast.Starred) and bool(failure.traced(node) or failure.traced_inside(node))


CASES = (Case("called early", ("TypeError",), r"^Expected a callable value, got", _value_given),)
