"""Functions of NumPy and SciPy are given traced values, or traced values are written into their arrays."""

from __future__ import annotations

import ast
import importlib
import re
from dataclasses import replace

import jax.numpy as jnp
import numpy as np

from jaxviz.arrays import is_array
from jaxviz.errors.cases.draws import drawn
from jaxviz.errors.cases.ifs import if_cures
from jaxviz.errors.cases.in_place import assigned, done_at, without
from jaxviz.errors.cases.lengths import length
from jaxviz.errors.cases.values import static_cures, told
from jaxviz.errors.explanation import Case, Cure, Explanation, error_page
from jaxviz.errors.failure import Failure, last_name


def _numpy(failure: Failure, _: re.Match[str]) -> Explanation | None:
    if itself := _numpy_itself(failure):
        return itself
    taken = failure.expression
    if isinstance(taken, ast.Subscript) and isinstance(failure.value(taken.value), np.ndarray):
        is_read = isinstance(taken.ctx, ast.Load)
        return _out_of_numpy(failure, taken) if is_read else _into_numpy(failure, taken)
    call = failure.find(ast.Call)
    if call is not None and _of_jax(failure, call):
        return length(failure, _)
    target = next(iter(getattr(failure.statement, "targets", [])), None)
    if call is None and isinstance(target, ast.Subscript):
        return _into_numpy(failure, target)
    if call is None and failure.statement is not None:
        call = next((node for node in ast.walk(failure.statement) if isinstance(node, ast.Call)), None)
    if call is None:
        return None
    function = failure.text(call.func)
    argument = next((failure.text(one) for one in call.args if failure.traced(one)), failure.text(call))
    cures = []
    written = _of_jax_numpy(failure, call)
    if written and any(keyword.arg == "out" for keyword in call.keywords):
        target = next(keyword.value for keyword in call.keywords if keyword.arg == "out")
        text = without(failure, call, ["out"]).replace(function, written, 1)
        cures.append(Cure(_USE, assigned(failure, call, target, text)))
    elif written and isinstance(failure.statement, ast.If) and _is_asked(failure, call):
        # With that alone, Python would still ask whether it is true.
        test, text = failure.text(failure.statement.test), _all_of_jax(failure, call, written)
        cures += [replace(one, code=one.code.replace(test, text)) for one in if_cures(failure, failure.statement)]
    elif written:
        cures.append(Cure(_USE, _all_of_jax(failure, call, written)))
    array = failure.value(call.args[0]) if len(call.args) == 1 and not call.keywords else None
    if isinstance(failure.value(call.func), np.ufunc) and is_array(array) and not _is_inside(failure, call):
        # Of these the shape of the result is that of what they are given.
        shape = f"jax.ShapeDtypeStruct({argument}.shape, {argument}.dtype)"
        text = "Or have Python called while the program runs; the result must have a known shape:"
        cures.append(Cure(text, failure.with_(call, f"jax.pure_callback({function}, {shape}, {argument})")))
    title = f"`{function}` needs the numbers behind `{argument}` while JAX traces"
    why = "NumPy computes at once and asks for the numbers in the array, but what these are"
    explained = told(failure, "numpy", title, why, tuple(cures), error_page("TracerArrayConversionError"))
    if not cures and (written_at := done_at(failure)):
        return replace(explained, cures=(written_at,))
    if cures:
        return explained
    if draws := drawn(failure, call):
        return replace(explained, cures=draws)
    also = (
        " Random numbers of JAX come from `jax.random`, with a key that is passed."
        if ".random." in f".{function}."
        else " `jax.pure_callback` has Python called while the program runs, if the shape of the result is known."
    )
    return replace(explained, reason=explained.reason + also)


def _numpy_itself(failure: Failure) -> Explanation | None:
    """For a function of NumPy that is explored as it is."""
    name = getattr(failure.fn, "__name__", "")
    places = [place for place in ("", "linalg.", "fft.") if name and _found(np, place + name) is failure.fn]
    if not places:
        return None
    path = places[0] + name
    code = f"jnp.{path}{failure.call[failure.call.find('(') :]}"
    cures = (Cure(_USE, code, inside=False),) if _found(jnp, path) is not None else ()
    title = f"`{path}` is NumPy's, and needs the numbers that JAX traces without"
    why = "NumPy computes at once and asks for the numbers in the array, but what these are"
    return told(failure, "numpy", title, why, cures, error_page("TracerArrayConversionError"))


def _found(module: object, path: str) -> object:
    for name in path.split("."):
        module = getattr(module, name, None)
    return module


def _is_inside(failure: Failure, call: ast.Call) -> bool:
    """Whether another function of NumPy, or a statement with a body, is given what a call makes."""
    around = failure.source.around(call)[1:] if failure.source is not None else []
    given = any(isinstance(one, ast.Call) and _of_jax_numpy(failure, one) for one in around)
    return given or hasattr(failure.statement, "body")


def _is_asked(failure: Failure, call: ast.Call) -> bool:
    return failure.source is not None and getattr(failure.statement, "test", None) in failure.source.around(call)


def _all_of_jax(failure: Failure, call: ast.Call, written: str) -> str:
    """The failing statement with this function of JAX, and with those for the others in it that get traced values."""
    statement, source = failure.statement, failure.source
    if statement is None or source is None:
        return written
    whole: ast.AST = getattr(statement, "test", call) if hasattr(statement, "body") else statement
    changes: dict[ast.AST, str] = {call.func: written, **_lists(failure, call)}
    for other in ast.walk(whole):
        if isinstance(other, ast.Call) and other is not call and failure.traced(other):
            text = _of_jax_numpy(failure, other)
            changes |= {other.func: text, **_lists(failure, other)} if text else {}
    return source.replaced(whole, changes)


def _lists(failure: Failure, call: ast.Call) -> dict[ast.AST, str]:
    """Lists that NumPy makes arrays of by itself; JAX wants to be given arrays."""
    if not isinstance(call.func, (ast.Attribute, ast.Name)) or last_name(call.func) in _TAKING_LISTS:
        return {}
    return {one: f"jnp.array({failure.text(one)})" for one in call.args if isinstance(one, ast.List)}


_TAKING_LISTS = frozenset(
    {"array", "asarray", "stack", "concatenate", "hstack", "vstack", "dstack", "column_stack", "block", "select"}
    | {
        "ix_",
        "broadcast_arrays",
        "meshgrid",
        "choose",
        "piecewise",
        "unravel_index",
        "transpose",
        "full",
        "zeros",
        "ones",
    }
)


_USE = "Use the function of jax.numpy, which becomes part of the program:"

# The modules of NumPy and SciPy, and what JAX has for them.
_MODULES = {
    "numpy": ("jnp", "jax.numpy"),
    "numpy.linalg": ("jnp.linalg", "jax.numpy.linalg"),
    "numpy.fft": ("jnp.fft", "jax.numpy.fft"),
    "scipy.special": ("jax.scipy.special", "jax.scipy.special"),
    "scipy.linalg": ("jax.scipy.linalg", "jax.scipy.linalg"),
    "scipy.signal": ("jax.scipy.signal", "jax.scipy.signal"),
    "scipy.stats": ("jax.scipy.stats", "jax.scipy.stats"),
}


def _of_jax_numpy(failure: Failure, call: ast.Call) -> str:
    """The function of JAX in place of one of NumPy or SciPy, by its name; empty where there is none."""
    called, names = failure.value(call.func), failure.text(call.func).split(".")
    name = names[-1]
    module = failure.value(call.func.value) if isinstance(call.func, ast.Attribute) else None
    known = _MODULES.get(getattr(module, "__name__", ""))
    if known is None and isinstance(call.func, ast.Name):
        # Imported by its name.
        origin = str(getattr(called, "__module__", "") or "numpy")
        known = _MODULES.get("numpy" if isinstance(called, np.ufunc) and hasattr(np, name) else origin)
    if known is None:
        return ""
    try:
        there = importlib.import_module(known[1])
    except ImportError:
        return ""
    return f"{known[0]}.{name}" if callable(getattr(there, name, None)) else ""


def _filled(failure: Failure, _: re.Match[str]) -> Explanation | None:
    """One entry of an array of NumPy, which asks for a number."""
    target = next(iter(getattr(failure.statement, "targets", [])), None)
    traced = failure.traced(getattr(failure.statement, "value", None))
    return _into_numpy(failure, target) if isinstance(target, ast.Subscript) and traced else None


def _of_jax(failure: Failure, call: ast.Call) -> bool:
    """Whether a function of JAX is called: it asks for the number of what must be a part of the program."""
    return str(getattr(failure.value(call.func), "__module__", "")).startswith("jax.")


def _out_of_numpy(failure: Failure, node: ast.Subscript) -> Explanation:
    """An entry of an array of NumPy, by a traced index."""
    array, index = failure.text(node.value), failure.text(node.slice)
    code = failure.with_(node, f"jnp.asarray({array})[{index}]")
    keep = Cure("Make it an array of JAX, which can be asked so:", code)
    title = f"`{array}` is an array of NumPy, and `{index}` is no number yet"
    why = "NumPy takes an entry out at once, and which one that is"
    return told(failure, "numpy", title, why, (keep, *static_cures(failure)), error_page("TracerArrayConversionError"))


def _into_numpy(failure: Failure, target: ast.Subscript) -> Explanation:
    """A traced value written into an array of NumPy."""
    array, index = failure.text(target.value), failure.text(target.slice)
    value = failure.text(getattr(failure.statement, "value", None))
    cures = (
        Cure(
            "Make it an array of JAX, and a new one with the change in it:",
            f"{array} = jnp.asarray({array}).at[{index}].set({value})",
        ),
        Cure("Or collect the rows and stack them:", f"{array} = jnp.stack(rows)"),
    )
    title = f"`{array}` is an array of NumPy, and cannot hold traced values"
    why = f"An array of NumPy holds numbers, and what `{value}` is"
    return told(failure, "numpy", title, why, cures, error_page("TracerArrayConversionError"))


CASES: tuple[Case, ...] = (
    Case("numpy", ("TracerArrayConversionError",), "", _numpy),
    Case("numpy", ("ValueError", "TypeError"), r"setting an array element with a sequence", _filled),
)
