"""What grad, value_and_grad and custom derivatives ask of functions."""

from __future__ import annotations

import ast
import re

from jaxviz.errors.explanation import Case, Cure, Explanation, api_page
from jaxviz.errors.failure import Failure, last_name

_GRADS = ("grad", "value_and_grad")


def _call(failure: Failure) -> tuple[ast.Call | None, str, str]:
    """The call of grad, the function in it, and the name of grad as it was used."""
    call = failure.calls(*_GRADS)
    name = last_name(call.func) if call is not None else "grad"
    return call, failure.text(call.args[0]) if call is not None and call.args else "f", name


def _integer(failure: Failure, match: re.Match[str]) -> Explanation:
    call, function, name = _call(failure)
    outer = failure.source.parent(call) if failure.source is not None and call is not None else None
    given = outer.args[0] if isinstance(outer, ast.Call) and outer.func is call and outer.args else None
    text = failure.text(given)
    if isinstance(given, ast.Constant):
        code = failure.with_(given, f"{text}.0")
    elif given is not None:
        code = failure.with_(given, f"jnp.asarray({text}, jnp.float32)")
    else:
        code = f"jax.{name}({function})(jnp.asarray(x, jnp.float32))"
    dtype = re.search(r"but got (\w+)", failure.message)
    reason = (
        f"A derivative says what a small change of the argument does, and integers and booleans have no small changes. "
        f"{f'`{text}`' if text else 'The argument'} is {dtype[1] if dtype else 'an integer'}."
    )
    cures = (
        Cure("Differentiate with respect to a floating-point number:", code),
        Cure("Or with respect to another argument:", f"jax.{name}({function}, argnums=1)"),
    )
    return Explanation(
        "grad of integer", f"`{name}` has no derivative by an integer", reason, cures, api_page(f"jax.{name}")
    )


def _not_scalar(failure: Failure, match: re.Match[str]) -> Explanation:
    call, function, name = _call(failure)
    shape = re.search(r"Output had shape: (\([\d, ]*\))", failure.message)
    tracers = re.search(r"Output was (.*?)\.?$", failure.message, re.DOTALL)
    if shape is None and tracers is not None and tracers[1].startswith(("(", "[")):
        return _auxiliary(failure, call, function, name)
    inner = call.args[0] if call is not None and call.args else None
    if isinstance(inner, ast.Lambda) and failure.source is not None:
        body = failure.text(inner.body)
        summed = failure.with_(inner.body, f"jnp.sum({body})")
    else:
        summed = (
            failure.with_(inner, f"lambda *args: jnp.sum({function}(*args))") if inner is not None else "jnp.sum(...)"
        )
    jacobian = failure.with_(call.func, "jax.jacobian") if call is not None else f"jax.jacobian({function})"
    cures = (
        Cure("Differentiate one number, such as the sum:", summed),
        Cure("Or ask for the derivative of each element:", jacobian),
    )
    given = f"here the result has the shape {shape[1]}" if shape else "here the result is more than one number"
    reason = (
        f"`{name}` gives one slope for each element of the argument, so the function must give one number; {given}."
    )
    reason += " Which combination of the results is meant only you can say."
    return Explanation("grad of array", f"`{name}` differentiates one number", reason, cures, api_page(f"jax.{name}"))


def _auxiliary(failure: Failure, call: ast.Call | None, function: str, name: str) -> Explanation:
    written = failure.text(call) or f"jax.{name}({function})"
    code = f"{written[:-1]}, has_aux=True)"
    cure = Cure(
        "Say that what comes after the first is not differentiated; it is then given back beside the gradient:",
        failure.with_(call, code) if call is not None else code,
    )
    reason = (
        f"`{name}` differentiates one number, and the function gives several values. "
        "JAX must be told that only the first of them is meant."
    )
    return Explanation(
        "grad of several",
        f"the function under `{name}` gives more than one value",
        reason,
        (cure,),
        api_page(f"jax.{name}"),
    )


def _backward(failure: Failure, match: re.Match[str]) -> Explanation:
    found = re.search(
        r"bwd output structure PyTreeDef\((.*?)\) for primal input structure PyTreeDef\((.*?)\)\.", failure.message
    )
    counts = [len(re.findall(r"\*", text)) for text in found.groups()] if found else []
    words = f"It gives {counts[0]} for {counts[1]} arguments." if counts else "It does not."
    names = ", ".join(f"gradient_{number + 1}" for number in range(counts[1] if counts else 1))
    code = f"def backward(residuals, cotangent):\n    ...\n    return ({names},)  # one for each argument"
    reason = (
        f"The backward function must give a tuple with one gradient for each argument of the function itself. {words}"
    )
    cure = Cure("Give one for each argument; None for those without a gradient:", code)
    return Explanation(
        "custom backward",
        "the backward function gives another number of gradients",
        reason,
        (cure,),
        api_page("jax.custom_vjp"),
    )


_TYPE = ("TypeError",)

CASES = (
    Case("grad of integer", _TYPE, r"grad requires real- or complex-valued inputs", _integer),
    Case("grad of array", _TYPE, r"(?:Gradient|grad).* only defined for scalar-output functions", _not_scalar),
    Case("custom backward", _TYPE, r"Custom VJP bwd rule .*must produce", _backward),
)
