"""Linear solves whose functions give something else than the right side, and those that say no transpose."""

from __future__ import annotations

import ast
import re

from jaxviz.errors.cases.given import function_given, result_of
from jaxviz.errors.cases.operands import shapes_in
from jaxviz.errors.explanation import Case, Cure, Explanation, api_page
from jaxviz.errors.failure import Failure, last_name
from jaxviz.errors.rewriting import parameters
from jaxviz.errors.source import names_read

# Where each function stands among the arguments of a solve.
_PLACES = {"matvec": 0, "solve": 2, "transpose_solve": 3}
_SAYS = {
    "matvec": "the product of the matrix and a vector",
    "vecmat": "the product of a vector and the matrix",
    "solve": "the solution",
    "transpose_solve": "the solution for the transposed matrix",
}
_LINK = api_page("jax.lax.custom_linear_solve")


def _argument(call: ast.Call | None, name: str, place: int) -> ast.expr | None:
    """What a call is given for a parameter."""
    if call is None:
        return None
    named = next((keyword.value for keyword in call.keywords if keyword.arg == name), None)
    return named or (call.args[place] if len(call.args) > place else None)


def _given(failure: Failure, call: ast.Call | None, name: str) -> ast.expr | None:
    """The function of a solve that an error names. Solvers in steps are given the product alone."""
    if call is None or last_name(call.func) == "custom_linear_solve":
        return _argument(call, name, _PLACES.get(name, 0))
    return _argument(call, "A", 0) if name == "matvec" else None


def _unlike(failure: Failure, match: re.Match[str]) -> Explanation:
    """One of the functions gives other shapes, or another structure, than the right side has."""
    name, what = match[1], match[2]
    call = failure.find(ast.Call)
    function, right = _given(failure, call, name), _argument(call, "b", 1)
    text, b = failure.text(function) or name, failure.text(right) or "b"
    short = text if len(text) <= 40 else name
    cures = []
    if what == "shapes":
        told = shapes_in(failure.message)
        gives, wanted = (told[0], told[1]) if len(told) == 2 else ("another shape", "its own")
        reason = (
            f"`{short}` gives {gives}, and `{b}` has {wanted}. A linear solve is for a square matrix: "
            f"{_SAYS[name]} must have the shape of the right side."
        )
        matrix = _matrix(function)
        if matrix is not None and call is not None and len(told) == 2 and told[0] != told[1]:
            cures.append(
                Cure(
                    "Let the right side have as many entries as there are rows, and take the least squares:",
                    failure.with_(call, f"jnp.linalg.lstsq({failure.text(matrix)}, {b}[:{told[0][0]}])[0]"),
                )
            )
    else:
        reason = (
            f"`{short}` gives {match[3]}, and `{b}` is {match[4].rstrip('.')} (`*` is an array). What it gives, "
            f"{_SAYS[name]}, must be built as the right side is."
        )
        alone = _alone(function)
        if alone is not None:
            cures.append(Cure("Give the array alone:", failure.with_(alone, failure.text(alone.elts[0]))))
    probe = f"{b}" if name in ("matvec", "vecmat") or function is None else f"lambda x: x, {b}"
    cures.append(Cure("See what it gives for the right side:", f"jax.eval_shape({text}, {probe})"))
    title = f"`{short}` gives what is not like `{b}`"
    return Explanation("linear solve", title, reason, tuple(cures), _LINK)


def _matrix(function: ast.expr | None) -> ast.expr | None:
    """`a` of `lambda x: a @ x`."""
    body = function.body if isinstance(function, ast.Lambda) else None
    is_product = isinstance(body, ast.BinOp) and isinstance(body.op, ast.MatMult) and isinstance(body.right, ast.Name)
    return body.left if is_product and isinstance(body, ast.BinOp) else None


def _alone(function: ast.expr | None) -> ast.Tuple | ast.List | None:
    """A tuple or list of one that a lambda gives."""
    body = function.body if isinstance(function, ast.Lambda) else None
    return body if isinstance(body, (ast.Tuple, ast.List)) and len(body.elts) == 1 else None


def _transposed(failure: Failure, solve: ast.expr | None) -> str:
    """How to solve with the transposed matrix: as before, by a function that works with the product that it is given,
    or by the matrix itself, transposed. Empty where that does not show."""
    function = function_given(failure, solve)
    names = parameters(function)
    if solve is None or function is None or len(names) != 2:
        return ""
    if names[0] in names_read(function):
        return failure.text(solve)
    result = result_of(function)
    if isinstance(result, ast.Call) and last_name(result.func) == "solve" and len(result.args) == 2:
        matrix, right = result.args
        if isinstance(matrix, (ast.Name, ast.Attribute)) and ast.unparse(right) == names[1]:
            return f"lambda {names[0]}, {names[1]}: {failure.text(result.func)}({failure.text(matrix)}.T, {names[1]})"
    return ""


def _no_transpose(failure: Failure, _: re.Match[str]) -> Explanation:
    """A gradient through a solve of which only the forward way is there."""
    call = failure.calls("custom_linear_solve")
    reason = (
        "The gradient of a solution is found by solving with the transposed matrix. How that is done was not said, and "
        "JAX does not look into `solve`."
    )
    cures = []
    if call is not None:
        text = failure.text(call)
        cures.append(
            Cure("Of a symmetric matrix, the same solve does:", failure.with_(call, f"{text[:-1]}, symmetric=True)"))
        )
        transposed = _transposed(failure, _argument(call, "solve", 2))
        if transposed:
            cures.append(Cure("Else say it:", failure.with_(call, f"{text[:-1]}, transpose_solve={transposed})")))
    title = "this solve does not say how to solve with the transposed matrix"
    return Explanation("transpose of a solve", title, reason, tuple(cures), _LINK)


CASES: tuple[Case, ...] = (
    Case(
        "linear solve",
        ("ValueError", "TypeError"),
        r"(matvec|vecmat|solve|transpose_solve)\(\) output (shapes|pytree structure) must match b, got (.+?) and (.+)",
        _unlike,
    ),
    Case("transpose of a solve", ("TypeError",), r"transpose_solve required for backwards mode", _no_transpose),
)
