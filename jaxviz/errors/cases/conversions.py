"""A number of Python, or what is written out of one, is made of a traced value: float, int, math, `.item()`."""

from __future__ import annotations

import ast
import re

from jaxviz.errors.cases.formats import shown_later
from jaxviz.errors.cases.outside import computed_before
from jaxviz.errors.cases.ranges import counted
from jaxviz.errors.cases.tables import taken_by
from jaxviz.errors.cases.values import depends, stand_ins, static_cures, told
from jaxviz.errors.explanation import Case, Cure, Explanation, error_page
from jaxviz.errors.failure import Failure, last_name

_CONVERSIONS = ("float", "int", "complex")


def _converted(failure: Failure, _: re.Match[str]) -> Explanation | None:
    call = failure.calls(*_CONVERSIONS)
    if call is None or not call.args:
        return _of_math(failure)
    name, inner = last_name(call.func), failure.text(call.args[0])
    simple = isinstance(call.args[0], (ast.Name, ast.Call, ast.Attribute, ast.Subscript))
    value = inner if simple else f"({inner})"
    code = failure.with_(call, value if name == "float" else f"{value}.astype({name})")
    looked = failure.source.parent(call) if failure.source is not None else None
    loop = failure.statement
    if isinstance(loop, ast.For) and looked is loop.iter and isinstance(looked, ast.Call):
        return counted(failure, loop, looked)
    sized = _is_size(failure, call)
    if (
        isinstance(looked, ast.Subscript)
        and looked.slice is call
        and isinstance(failure.value(looked.value), (dict, list, tuple))
    ):
        code = taken_by(failure, looked, f"{value}.astype({name})")
        sized = not code
    title = f"`{name}(...)` needs the number behind `{inner}` while JAX traces"
    why = f"A number of Python can be made only of a number, and that {depends(failure)}."
    static = static_cures(failure)
    kept = shown_later(failure, call, inner) or Cure("Keep the array; it computes as a number does:", code)
    before = computed_before(failure, call) if sized else _counted_in_a_call(failure, call)
    return Explanation(
        "conversion",
        title,
        f"{stand_ins(failure, call)} {why}",
        static or before if sized or before else (kept, *static),
        failure.link or error_page("ConcretizationTypeError"),
    )


# What takes sizes, which no array can be.
_SIZED = {
    *("arange", "array_split", "bincount", "broadcast_to", "empty", "eye", "full", "linspace", "logspace"),
    *("matrix_power", "nonzero", "one_hot", "ones", "range", "repeat", "reshape", "segment_sum", "split", "tile"),
    *("top_k", "tri", "zeros"),
}


def _counted_in_a_call(failure: Failure, number: ast.expr) -> tuple[Cure, ...]:
    """A number that a function of the person gives back, where what called it makes a size of it."""
    at = failure.own.index(failure.place) if failure.place in failure.own else 0
    if at < 1 or not isinstance(failure.statement, ast.Return) or failure.statement.value is not number:
        return ()
    there = failure.seen_from(failure.own[at - 1])
    call = there.find(ast.Call)
    return computed_before(there, call) if call is not None and _is_size(there, call) else ()


def _is_size(failure: Failure, number: ast.expr) -> bool:
    """Whether a number is the size of something, or its name is further on: a bound of a slice too."""
    source, statement = failure.source, failure.statement
    if source is None:
        return False
    if _decides_a_size(statement, number):
        return True
    target = statement.targets[0] if isinstance(statement, ast.Assign) else None
    function = next((one for one in source.around(number) if isinstance(one, ast.FunctionDef)), None)
    if not isinstance(target, ast.Name) or function is None:
        return False
    named = [one for one in ast.walk(function) if isinstance(one, ast.Name) and one.id == target.id]
    return any(_decides_a_size(function, one) for one in named)


def _decides_a_size(whole: ast.AST | None, number: ast.expr) -> bool:
    """Whether an expression in code stands in a slice, or is given to what takes sizes."""
    for node in ast.walk(whole) if whole is not None else ():
        given: list[ast.expr | None] = []
        if isinstance(node, ast.Slice):
            given = [node.lower, node.upper]
        elif isinstance(node, ast.Call) and last_name(node.func) in _SIZED:
            given = [*node.args, *(one.value for one in node.keywords)]
        if any(number in ast.walk(one) for one in given if one is not None):
            return True
    return False


def _of_math(failure: Failure) -> Explanation | None:
    """A function of Python's `math`, which works on numbers."""
    call = failure.find(ast.Call)
    module = call.func.value if call is not None and isinstance(call.func, ast.Attribute) else None
    if call is None or module is None or getattr(failure.value(module), "__name__", "") != "math":
        return None
    function, value = failure.text(call.func), ", ".join(failure.text(argument) for argument in call.args)
    code, statement = failure.with_(module, "jnp"), failure.statement
    if statement is not None and failure.source is not None and not hasattr(statement, "body"):
        # The others of the statement would ask next.
        others = [one.func for one in ast.walk(statement) if isinstance(one, ast.Call) and failure.traced(one)]
        modules = [one.value for one in others if isinstance(one, ast.Attribute)]
        same = [one for one in modules if getattr(failure.value(one), "__name__", "") == "math"]
        code = failure.source.replaced(statement, dict.fromkeys(same or [module], "jnp"))
    cure = Cure("Use the function of jax.numpy, which becomes part of the program:", code)
    title = f"`{function}` needs the number behind `{value}` while JAX traces"
    why = "Python's `math` computes with numbers at once, and this one"
    return told(failure, "conversion", title, why, (cure,), error_page("ConcretizationTypeError"))


def _taken_out(failure: Failure, match: re.Match[str]) -> Explanation | None:
    name = match[1]
    call = failure.calls(name)
    if call is None and (found := failure.find(ast.Call)) is not None and last_name(found.func):
        call, name = found, last_name(found.func)
    inner = failure.text(call.func.value) if call is not None and isinstance(call.func, ast.Attribute) else "x"
    code = failure.with_(call, inner) if call is not None else inner
    title = f"`.{name}()` needs the numbers behind `{inner}` while JAX traces"
    why = f"`.{name}()` makes a number of Python out of a value, and that"
    outside = f"result = {failure.name}(...)\nresult.{name}()  # outside of the function, where there are numbers"
    cures = (
        shown_later(failure, call, inner) or Cure("Keep the array; it computes as a number does:", code),
        Cure("Or take it out of the result:", outside),
    )
    return told(
        failure, "taken out", title, why, (*cures, *static_cures(failure)), error_page("ConcretizationTypeError")
    )


def _pickled(failure: Failure, _: re.Match[str]) -> Explanation:
    """A value that is written out while it is traced."""
    call = failure.find(ast.Call)
    written = failure.text(call) or "the value"
    names = failure.traced(call)
    title = f"`{written}` writes out a value that JAX traces"
    why = "To write a value out takes its numbers, and what they are"
    cures = []
    if call is not None and isinstance(failure.source.parent(call) if failure.source else None, ast.Expr) and names:
        given = ", ".join(names)
        code = f"jax.debug.callback(lambda {given}: {written}, {given})"
        cures = [Cure("Have it written while the program runs:", failure.with_(call, code))]
    return told(failure, "pickled", title, why, tuple(cures), error_page("ConcretizationTypeError"))


_CONCRETE = ("ConcretizationTypeError",)

CASES = (
    Case("pickled", _CONCRETE, r"__reduce__ method", _pickled),
    Case("conversion", _CONCRETE, r"problem arose with the `", _converted),
    Case("taken out", _CONCRETE, r"(item|tolist|__?\w+)\(\) method", _taken_out),
)
