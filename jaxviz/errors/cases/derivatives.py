"""What grad, value_and_grad and custom derivatives ask of functions."""

from __future__ import annotations

import ast
import re
from typing import Any

import numpy as np

from jaxviz.arrays import is_array
from jaxviz.errors.cases.given import function_given, result_of
from jaxviz.errors.explanation import Case, Cure, Explanation, api_page
from jaxviz.errors.failure import Failure, last_name
from jaxviz.errors.rewriting import called, rewritten, with_keyword

_GRADS = ("grad", "value_and_grad")


def _call(failure: Failure) -> tuple[ast.Call | None, str, str]:
    """The call of grad, the function in it, and the name of grad as it was used."""
    call = failure.calls(*_GRADS)
    name = last_name(call.func) if call is not None else "grad"
    return call, failure.text(call.args[0]) if call is not None and call.args else "f", name


def _not_scalar(failure: Failure, match: re.Match[str]) -> Explanation:
    call, function, name = _call(failure)
    shape = re.search(r"Output had shape: (\([\d, ]*\))", failure.message)
    tracers = re.search(r"Output was (.*?)\.?$", failure.message, re.DOTALL)
    if shape is None and tracers is not None and tracers[1].startswith(("(", "[")):
        return _auxiliary(failure, call, function, name)
    inner = call.args[0] if call is not None and call.args else None
    if tracers is not None and tracers[1] == "None":
        return _nothing_given(failure, inner, name)
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


def _nothing_given(failure: Failure, inner: ast.AST | None, name: str) -> Explanation:
    """A function without `return`, whose last line is mostly what should be given."""
    function = function_given(failure, inner)
    last = function.body[-1] if isinstance(function, ast.FunctionDef) else None
    target = last.targets[0] if isinstance(last, ast.Assign) else None
    shown = failure.text(inner) if isinstance(inner, ast.Name) else "the function"
    called = f"`{shown}`" if isinstance(inner, ast.Name) else shown
    reason = (
        f"`{name}` gives the slope of one number, so the function must give one number. What {called} gives is None, "
        "as of every function that ends without a `return`."
    )
    given = last.value if isinstance(last, ast.Expr) and not isinstance(last.value, ast.Constant) else target
    code = f"return {failure.text(given) or 'value'}"
    cure = Cure(f"Give the number back, at the end of {called}:", code)
    title = f"the function under `{name}` gives nothing"
    return Explanation("grad of array", title, reason, (cure,), api_page(f"jax.{name}"))


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


def _whole_results(failure: Failure, match: re.Match[str]) -> Explanation:
    name, what = match[1], match[2]
    call = failure.calls(name)
    given = result_of(function_given(failure, call.args[0])) if call is not None and call.args else None
    shown = (
        f"`{failure.text(given)}` has no slope" if given is not None else "rounding, comparing and counting have none"
    )
    reason = (
        "A derivative says what a small change does to the result, and integers have no small changes: "
        f"{shown}. What is differentiated is a floating-point number from before it is rounded, compared or counted."
    )
    title = f"the function under `{name}` gives {what}, which has no derivative"
    return Explanation("grad of integer", title, reason, (), api_page("jax.grad"))


def _complex(failure: Failure, match: re.Match[str]) -> Explanation:
    name, which, what = match[1], match[2], match[3]
    call = failure.calls(name)
    cures = []
    if call is not None and call.args:
        function = called(failure, call.args[0])
        if which == "outputs":
            squared = f"lambda *args: jnp.sum(jnp.abs({function}(*args)) ** 2)"
            cures.append(Cure("Differentiate a real number:", failure.with_(call.args[0], squared)))
        text = "Or say that the function is holomorphic:" if cures else "Say that the function is holomorphic:"
        code = failure.with_(call, with_keyword(failure, call, "holomorphic", "True"))
        if all(dtype.kind == "c" for dtype in _dtypes(failure, call)):
            cures.append(Cure(text, code))
    reason = (
        "The slope of a complex number depends on the direction, unless the function is holomorphic. Most often "
        "a real number is meant, such as the squared absolute value."
    )
    title = f"`{name}` wants real numbers, and has {what} {which}"
    return Explanation("grad of complex", title, reason, tuple(cures), api_page("jax.grad"))


def _dtypes(failure: Failure, call: ast.Call) -> list[np.dtype[Any]]:
    """The types of the arrays that are given to what a derivative gives."""
    outer = failure.source.parent(call) if failure.source is not None else None
    given = outer.args if isinstance(outer, ast.Call) and outer.func is call else []
    return [np.dtype(value.dtype) for one in given if is_array(value := failure.value(one))]


def _whole_arguments(failure: Failure, match: re.Match[str]) -> Explanation:
    name, what = match[1], match[2]
    call = failure.calls(name)
    outer = failure.source.parent(call) if failure.source is not None and call is not None else None
    given = outer.args[0] if isinstance(outer, ast.Call) and outer.func is call and outer.args else None
    reason = (
        "A derivative says what a small change of the argument does, and integers and booleans have no small changes. "
        + failure.types(given)
    )
    cures = []
    if given is not None:
        code = failure.with_(given, f"jnp.asarray({failure.text(given)}, jnp.float32)")
        cures = [Cure("Differentiate with respect to floating-point numbers:", code)]
    title = f"`{name}` has no derivative by {what}"
    return Explanation("grad of integer", title, reason.strip(), tuple(cures), api_page("jax.grad"))


def _no_pair(failure: Failure, match: re.Match[str]) -> Explanation:
    call, _, name = _call(failure)
    given = result_of(function_given(failure, call.args[0])) if call is not None and call.args else None
    cures = []
    if given is not None and not isinstance(given, (ast.Tuple, ast.List)):
        pair = f"{failure.text(given)}, None"
        lambda_ = any(isinstance(one, ast.Lambda) for one in failure.source.around(given)[1:2]) if failure.source else 0
        text = rewritten(failure, given, f"({pair})" if lambda_ else pair)
        cures.append(Cure("Give both, None where there is nothing beside it:", text))
    if call is not None:
        code = failure.with_(call, with_keyword(failure, call, "has_aux", ""))
        cures.append(Cure("Or leave `has_aux` out:" if cures else "Leave `has_aux` out:", code))
    shown = f"gives `{failure.text(given)}` alone" if given is not None else "gives something else"
    reason = (
        "`has_aux=True` says that the function gives the number to differentiate, and something beside it. "
        f"This one {shown}."
    )
    return Explanation(
        "auxiliary", "with `has_aux` the function must give a pair", reason, tuple(cures), api_page(f"jax.{name}")
    )


def _argnums(failure: Failure, match: re.Match[str]) -> Explanation:
    call, _, name = _call(failure)
    cures = []
    if call is not None:
        code = failure.with_(call, with_keyword(failure, call, "argnums", "0"))
        cures = [Cure("Differentiate by the first:", code)]
    reason = (
        "`argnums` counts the arguments of the call from 0, and only those that are given by position. "
        f"There are {match[3]}."
    )
    title = f"there is no argument {match[1]} to differentiate by"
    return Explanation("argnums", title, reason, tuple(cures), api_page(f"jax.{name}"))


def _tangents(failure: Failure, match: re.Match[str]) -> Explanation:
    call = failure.calls("jvp")
    cures = []
    if call is not None and len(call.args) > 2:
        primals = call.args[1]
        text = f"jax.tree.map(jnp.ones_like, {failure.text(primals)})"
        if isinstance(primals, ast.Tuple):
            ones = [f"jnp.ones_like({failure.text(one)})" for one in primals.elts]
            text = f"({', '.join(ones)}{',' * (len(ones) == 1)})"
        cures = [Cure("Make them like the arguments:", failure.with_(call.args[2], text))]
    types = failure.types(failure.expression)
    reason = f"A tangent is a small change of an argument, so it has its shape and type. {types}".strip()
    title = "the tangents do not fit the arguments"
    return Explanation("tangent", title, reason, tuple(cures), api_page("jax.jvp"))


def _untupled(failure: Failure, match: re.Match[str]) -> Explanation:
    call = failure.calls("jvp")
    cures = []
    if call is not None and len(call.args) > 2 and failure.source is not None and failure.statement is not None:
        wrapped: dict[ast.AST, str] = {
            one: f"({failure.text(one)},)" for one in call.args[1:3] if not isinstance(one, (ast.Tuple, ast.List))
        }
        cures = [Cure("Put each into a tuple:", failure.source.replaced(failure.statement, wrapped))]
    reason = (
        "`jvp` takes the arguments of the function as one tuple, and a tuple with a tangent for each. "
        f"{failure.types(failure.expression)}"
    )
    return Explanation("tangent", "`jvp` wants tuples", reason.strip(), tuple(cures), api_page("jax.jvp"))


def _cotangents(failure: Failure, match: re.Match[str]) -> Explanation:
    call = failure.find(ast.Call)
    forward, result = _vjp_of(failure, call)
    cures = []
    if call is not None and call.args and forward is not None:
        shown = failure.text(result) if result is not None and failure.text(result) != "_" else ""
        if not shown:
            given = ", ".join(map(failure.text, forward.args[1:]))
            shown = f"{called(failure, forward.args[0])}({given})"
        many = not is_array(failure.value(result))
        text = f"jax.tree.map(jnp.ones_like, {shown})" if many else f"jnp.ones_like({shown})"
        code = failure.with_(call, f"{failure.text(call.func)}({text})")
        cures = [Cure("Make it like the result:", code)]
    given, wanted = (match[1], match[2]) if match.lastindex else ("", "")
    title = (
        f"the way back wants {wanted}, and was given {given}"
        if given
        else "what goes into the way back is built otherwise than the result"
    )
    reason = (
        "The way back begins with what the result is worth, one number for each of its entries, in the same tuples "
        f"and dictionaries. {f'The result is {wanted}.' if wanted else ''} {failure.types(failure.expression)}"
    )
    return Explanation("cotangent", title, " ".join(reason.split()), tuple(cures), api_page("jax.vjp"))


def _vjp_of(failure: Failure, call: ast.Call | None) -> tuple[ast.Call | None, ast.expr | None]:
    """The `vjp` that made what is called, and the name of its result: `y, back = jax.vjp(f, x)`."""
    name = failure.text(call.func) if call is not None else ""
    tree = failure.source.tree if failure.source is not None else None
    for node in ast.walk(tree) if tree is not None else ():
        if not isinstance(node, ast.Assign) or not isinstance(node.value, ast.Call) or not node.value.args:
            continue
        parts = getattr(node.targets[0], "elts", [])
        if last_name(node.value.func) == "vjp" and len(parts) > 1 and failure.text(parts[1]) == name:
            return node.value, parts[0]
    return None, None


def _no_derivative(failure: Failure, match: re.Match[str]) -> Explanation:
    call = failure.find(ast.Call)
    text = failure.text(failure.expression) or failure.name
    arrays = [one for one in call.args if is_array(failure.value(one))] if call is not None else []
    cures = []
    if (
        arrays
        and failure.source is not None
        and failure.statement is not None
        and not hasattr(failure.statement, "body")
    ):
        changes: dict[ast.AST, str] = {one: f"jax.lax.stop_gradient({failure.text(one)})" for one in arrays}
        cures = [Cure("Let no gradient through:", failure.source.replaced(failure.statement, changes))]
    reason = (
        f"To go back through `{' '.join(text.split())}`, `{match[1]}` must be linear or have a derivative of its own, "
        "and it has none that JAX knows of. `jax.custom_vjp` gives it one."
    )
    title = f"JAX has no derivative of `{match[1]}` here"
    return Explanation("no derivative", title, reason, tuple(cures), api_page("jax.custom_vjp"))


def _of_callback(failure: Failure, match: re.Match[str]) -> Explanation:
    call = failure.calls("pure_callback", "io_callback")
    arrays = [one for one in call.args[2:] if not isinstance(one, ast.Starred)] if call is not None else []
    cures = []
    if (
        arrays
        and failure.source is not None
        and failure.statement is not None
        and not hasattr(failure.statement, "body")
    ):
        changes: dict[ast.AST, str] = {one: f"jax.lax.stop_gradient({failure.text(one)})" for one in arrays}
        cures = [Cure("Let no gradient through:", failure.source.replaced(failure.statement, changes))]
    shown = failure.text(call.func) if call is not None else "a callback"
    reason = (
        f"`{shown}` calls Python while the program runs. JAX sees nothing of what happens there, so it knows no "
        "derivative; `jax.custom_jvp` gives one to a function around it."
    )
    title = "what Python computes has no derivative"
    return Explanation("callback derivative", title, reason, tuple(cures), api_page("jax.pure_callback"))


_TYPE = ("TypeError",)
_BOTH = ("ValueError", "TypeError")

CASES = (
    Case("grad of array", _TYPE, r"(?:Gradient|grad).* only defined for scalar-output functions", _not_scalar),
    Case(
        "grad of integer",
        _TYPE,
        r"(grad|jacfwd|jacrev|jacobian|hessian) requires real-valued outputs .*but got (int\w*|uint\w*|bool)",
        _whole_results,
    ),
    Case(
        "grad of complex",
        _TYPE,
        r"(grad|jacfwd|jacrev|jacobian|hessian) requires real-valued (outputs|inputs) .*but got (complex\w*)",
        _complex,
    ),
    Case(
        "grad of integer",
        _TYPE,
        r"(jacfwd|jacrev|jacobian|hessian) requires real-valued inputs .*but got (\w+)",
        _whole_arguments,
    ),
    Case("auxiliary", _BOTH, r"expected function with aux output to return a two-element tuple", _no_pair),
    Case(
        "argnums",
        _BOTH,
        r"differentiating with respect to argnums=(\S+) requires at least (\d+) positional arguments.*got only (\d+)",
        _argnums,
    ),
    Case(
        "tangent",
        _BOTH,
        r"jvp called with different primal and tangent shapes;? ?Got primal shape (\([\d, ]*\)) and tangent shape as "
        r"(\([\d, ]*\))|primal and tangent arguments to jax\.jvp do not match",
        _tangents,
    ),
    Case("cotangent", _BOTH, r"for argument to (?:VJP|vjp) function: got (\S+), but expected (\S+)", _cotangents),
    Case("tangent", _TYPE, r"primal and tangent arguments to jax\.jvp must be tuples or lists", _untupled),
    Case(
        "cotangent",
        _BOTH,
        r"The argument to a VJP function returned by `jax.vjp` must match|Tree structure of cotangent input",
        _cotangents,
    ),
    Case(
        "no derivative",
        ("NotImplementedError",),
        r"(?:Transpose rule \(for reverse-mode differentiation\)|Differentiation rule) for '(\w+)' not implemented",
        _no_derivative,
    ),
    Case(
        "callback derivative",
        ("ValueError", "NotImplementedError"),
        r"(?:Pure|IO) callbacks do not support (?:JVP|transpose)",
        _of_callback,
    ),
)
