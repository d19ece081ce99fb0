"""Derivatives by what is counted: an argument that is an integer, a tree of parameters that holds one."""

from __future__ import annotations

import ast
import re
from typing import Any

import jax

from jaxviz.arrays import is_array
from jaxviz.errors.explanation import Case, Cure, Explanation, api_page
from jaxviz.errors.failure import Failure, last_name


def _integer(failure: Failure, match: re.Match[str]) -> Explanation:
    call = failure.calls("grad", "value_and_grad")
    name = last_name(call.func) if call is not None else "grad"
    outer = failure.source.parent(call) if failure.source is not None and call is not None else None
    outer = outer if isinstance(outer, ast.Call) and outer.func is call else None
    places = _places(failure, call)
    given = [outer.args[place] for place in places if place < len(outer.args)] if outer is not None else []
    asked = next((one for one in given if _is_whole(failure, one)), given[0] if given else None)
    held = failure.value(asked)
    if isinstance(held, (dict, tuple, list)) or not (held is None or is_array(held) or isinstance(held, (int, bool))):
        return _leaf(failure, held, call, asked, name)
    text = failure.text(asked)
    dtype = re.search(r"but got (\w+)", failure.message)
    reason = (
        f"A derivative says what a small change of the argument does, and integers and booleans have no small changes. "
        f"{f'`{text}`' if text else 'The argument'} is {dtype[1] if dtype else 'an integer'}."
    )
    cures = []
    if asked is not None and not any(_is_known_float(failure, one) for one in given):
        code = f"{text}.0" if isinstance(asked, ast.Constant) else f"jnp.asarray({text}, jnp.float32)"
        cures.append(Cure("Differentiate with respect to a floating-point number:", failure.with_(asked, code)))
    whole = next((one for one in failure.args if type(one) is int), None)
    if failure.place is None and whole is not None:
        reason += f" Call it with {float(whole)}, not with {whole}."
    if call is not None and outer is not None:
        cures += _by_another(failure, call, outer, places)
    title = f"`{name}` has no derivative by an integer"
    return Explanation("grad of integer", title, reason, tuple(cures), api_page(f"jax.{name}"))


def _places(failure: Failure, call: ast.Call | None) -> tuple[int, ...]:
    """The arguments by which is differentiated."""
    given = next((one.value for one in call.keywords if one.arg == "argnums"), None) if call is not None else None
    if given is None and call is not None and len(call.args) > 1:
        given = call.args[1]
    parts = given.elts if isinstance(given, (ast.Tuple, ast.List)) else [given]
    places = tuple(value for part in parts if type(value := failure.value(part)) is int and value >= 0)
    return places or (0,)


def _is_whole(failure: Failure, node: ast.expr) -> bool:
    value = failure.value(node)
    if is_array(value):
        return not jax.numpy.issubdtype(value.dtype, jax.numpy.inexact)
    return isinstance(value, int)


def _is_known_float(failure: Failure, node: ast.expr) -> bool:
    value = failure.value(node)
    return is_array(value) and bool(jax.numpy.issubdtype(value.dtype, jax.numpy.inexact))


def _by_another(failure: Failure, call: ast.Call, outer: ast.Call, places: tuple[int, ...]) -> list[Cure]:
    """The derivative by the arguments that are floating-point numbers."""
    kept = [place for place in places if place < len(outer.args) and not _is_whole(failure, outer.args[place])]
    other = [place for place, one in enumerate(outer.args) if _is_known_float(failure, one)]
    if (not kept and not other) or kept == [*places]:
        return []
    asked = f"({', '.join(map(str, kept))}{',' if len(kept) == 1 else ''})" if kept else str(other[0])
    arguments = [failure.text(call.args[0])]
    arguments += [f"{one.arg}={failure.text(one.value)}" for one in call.keywords if one.arg not in ("argnums", None)]
    code = f"{failure.text(call.func)}({', '.join([*arguments, f'argnums={asked}'])})"
    return [Cure("Or with respect to what is one:", failure.with_(call, code))]


def _leaf(failure: Failure, held: Any, call: ast.Call | None, given: ast.expr | None, name: str) -> Explanation:
    """A tree of parameters in which one is an integer, such as a count of steps."""
    text, leaves = failure.text(given), jax.tree_util.tree_flatten_with_path(held)[0]
    whole = [
        text + jax.tree_util.keystr(path)
        for path, leaf in leaves
        if isinstance(leaf, (bool, int)) or (is_array(leaf) and not jax.numpy.issubdtype(leaf.dtype, jax.numpy.inexact))
    ]
    first = whole[0] if whole else text
    listed = ", ".join(f"`{one}`" for one in whole[:4]) or f"a part of `{text}`"
    reason = (
        f"`{name}` differentiates by all that is in `{text}`, and integers and booleans have no small changes: "
        f"{listed}. What is counted or chosen is no parameter."
    )
    cures = []
    if call is not None and given is not None:
        cures = [
            *_apart(failure, held, call, given, whole),
            Cure(
                "Or make floating-point numbers of all, if they are parameters:",
                failure.with_(given, f"jax.tree.map(lambda leaf: jnp.asarray(leaf, jnp.float32), {text})"),
            ),
            Cure(
                "Or allow it; its derivative is then of the type float0:",
                failure.with_(call, f"{failure.text(call)[:-1].rstrip().rstrip(',')}, allow_int=True)"),
            ),
        ]
    title = f"`{first}` is an integer, which has no derivative"
    return Explanation("grad of integer", title, reason, tuple(cures), api_page(f"jax.{name}"))


def _apart(failure: Failure, held: Any, call: ast.Call, given: ast.expr, whole: list[str]) -> list[Cure]:
    """The integers of a dictionary kept beside what is differentiated by."""
    text = failure.text(given)
    keys = [key for key in held if f"{text}[{key!r}]" in whole] if type(held) is dict else []
    if not keys or len(keys) != len(whole) or not call.args or not all(isinstance(key, str) for key in keys):
        return []
    function = failure.text(call.args[0])
    function = function if isinstance(call.args[0], (ast.Name, ast.Attribute)) else f"({function})"
    inside = ", ".join(f'"{key}": {text}["{key}"]' for key in keys)
    rest = f"{{name: value for name, value in {text}.items() if name not in counts}}"
    outer = failure.source.parent(call) if failure.source is not None else None
    if not isinstance(outer, ast.Call):
        return []
    arguments = [failure.text(call.func) + f"(lambda rest: {function}({{**rest, **counts}})"]
    arguments += [f"{one.arg}={failure.text(one.value)}" for one in call.keywords]
    code = f"counts = {{{inside}}}\n" + failure.with_(outer, f"{', '.join(arguments)})({rest})")
    return [Cure("Keep it apart:", code)] if len(outer.args) == 1 else []


CASES: tuple[Case, ...] = (
    Case("grad of integer", ("TypeError",), r"grad requires real- or complex-valued inputs", _integer),
)
