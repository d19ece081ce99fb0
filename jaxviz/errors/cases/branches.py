"""Branches of cond and switch that give different types or different structures: one of them brought to the other."""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence
from typing import Any

from jaxviz.errors.cases.given import argument, function_given, gives_nothing, result_of, written_out
from jaxviz.errors.explanation import Case, Cure, Explanation, api_page
from jaxviz.errors.failure import Failure, last_name
from jaxviz.errors.forms import UNKNOWN, fitted, form_of_code, is_written_out, parts_of
from jaxviz.errors.rewriting import all_rewritten, grouped, known_beside, parameters
from jaxviz.errors.source import names_read
from jaxviz.errors.trial import cannot_work, given_by


def _branches(failure: Failure) -> tuple[str, list[Any | None]]:
    """The function that was called, and the definitions of its branches, as far as they are known."""
    call = failure.calls("cond", "switch")
    name = last_name(call.func) if call is not None else "cond"
    if call is None:
        return name, []
    if name == "cond":
        named = {keyword.arg: keyword.value for keyword in call.keywords}
        given = [*call.args[1:3], *(named[one] for one in ("true_fun", "false_fun") if one in named)]
    else:
        given = written_out(failure, argument(call, 1, "branches"))
    return name, [function_given(failure, one) for one in given]


def _types(failure: Failure, match: re.Match[str]) -> Explanation:
    name, functions = _branches(failure)
    found = re.search(
        r"output of (\S+(?: \d+)?)(?: at path \S+)? has type (\w+\[[^\]]*\]) but the "
        r"corresponding output of (\S+(?: \d+)?) has type (\w+\[[^\]]*\])",
        failure.message,
    )
    words, cures = "Each branch must give the same types.", []
    if found is not None:
        words = f"Here one gives {found[2]} and the other {found[4]}."
        cure = _of_type(failure, functions, found)
        cures = [cure] if cure is not None else _of_common_shape(failure, functions, found)
    reason = f"`{name}` is compiled with all its branches, and what comes after must fit each of them. {words}"
    title = f"the branches of `{name}` give different types"
    return Explanation("branch types", title, reason, tuple(cures), api_page(f"jax.lax.{name}"))


def _of_type(failure: Failure, functions: Sequence[Any | None], found: re.Match[str]) -> Cure | None:
    """One branch with the type of the other: the wider of two shapes, for what is cut cannot be made again."""
    places, path = _places(found), _path(failure)
    types = {places[0]: found[2], places[1]: found[4]}
    shapes = {place: _sizes(type_) for place, type_ in types.items()}
    first, other = places
    changed, like = (other, first)
    if shapes[first] == shapes[other] and _kind(types[other]) > _kind(types[first]):
        # A whole number can be a float, and not the other way round.
        changed, like = first, other
    if shapes[first] != shapes[other] and not _stretches(shapes[other], shapes[first]):
        changed, like = (first, other) if _stretches(shapes[first], shapes[other]) else (-1, -1)
    if changed < 0 or changed >= len(functions):
        return None
    part = _part(result_of(functions[changed]), path)
    if part is None:
        return None
    if len(functions) > 2 and shapes[changed] == shapes[like]:
        return _all_of_type(failure, functions, like, path, types[like].partition("[")[0])
    if len(functions) > 2 and shapes[changed] != shapes[like]:
        return _all_of_shape(failure, functions, changed, path, types[like])
    dtype, shape = types[like].partition("[")[0], shapes[like]
    text = failure.text(part)
    of_type = types[changed].partition("[")[0] == dtype
    if not of_type and isinstance(part, (ast.Constant, ast.UnaryOp)):
        text, of_type = f"jnp.asarray({text}, jnp.{_dtype(dtype)})", True
    if shapes[changed] != shape:
        text = f"jnp.broadcast_to({text}, ({', '.join(shape)}{',' if len(shape) == 1 else ''}))"
        part_text = text
    else:
        part_text = grouped(text, part)
    text = text if of_type else f"{part_text}.astype(jnp.{_dtype(dtype)})"
    return Cure("Bring one branch to the type of the other:", all_rewritten(failure, {part: text}))


def _places(found: re.Match[str]) -> list[int]:
    """Which two branches an error speaks of."""
    return [int(number[1]) if (number := re.search(r"(\d+)$", found[at])) else at // 3 for at in (1, 3)]


def _path(failure: Failure) -> str:
    """Which part of the results an error speaks of; empty for all of it."""
    path = re.search(r"output of \S+(?: \d+)? at path ((?:\[[^\]]*\])+)", failure.message)
    return path[1] if path else ""


def _of_common_shape(failure: Failure, functions: Sequence[Any | None], found: re.Match[str]) -> list[Cure]:
    """Two branches of which neither stretches to the other: zeros where one is shorter, or only what both have."""
    places, types = _places(found), (found[2], found[4])
    shapes = [[int(size) for size in _sizes(type_)] for type_ in types]
    if len(functions) != 2 or types[0].partition("[")[0] != types[1].partition("[")[0]:
        return []
    parts = [_part(result_of(functions[place]), _path(failure)) for place in places]
    if len(shapes[0]) != len(shapes[1]) or None in parts:
        return []
    wide = [max(both) for both in zip(*shapes, strict=True)]
    narrow = [min(both) for both in zip(*shapes, strict=True)]
    filled: dict[ast.AST, str] = {}
    cut: dict[ast.AST, str] = {}
    for part, shape in zip(parts, shapes, strict=True):
        assert part is not None  # as is asked above
        text = failure.text(part)
        if shape != wide:
            ends = [f"(0, {whole - size})" for whole, size in zip(wide, shape, strict=True)]
            filled[part] = f"jnp.pad({text}, {ends[0] if len(ends) == 1 else '(' + ', '.join(ends) + ')'})"
        if shape != narrow:
            kept = [":" if size == least else f":{least}" for size, least in zip(shape, narrow, strict=True)]
            while kept[-1] == ":":
                kept.pop()
            cut[part] = f"{grouped(text, part)}[{', '.join(kept)}]"
    cures = (
        Cure("Fill up with zeros what is shorter:", all_rewritten(failure, filled)),
        Cure("Or give only what both have:", all_rewritten(failure, cut)),
    )
    return [cure for cure in cures if not cannot_work(failure, cure.code)]


def _all_of_type(failure: Failure, functions: Sequence[Any | None], like: int, path: str, dtype: str) -> Cure | None:
    """All branches of a switch in the type of one: which of the others have it already is not known."""
    parts = [_part(result_of(function), path) for place, function in enumerate(functions) if place != like]
    changes: dict[ast.AST, str] = {}
    for part in parts:
        if part is None:
            return None
        text = failure.text(part)
        is_number = isinstance(part, (ast.Constant, ast.UnaryOp))
        changes[part] = (
            f"jnp.asarray({text}, jnp.{_dtype(dtype)})"
            if is_number
            else f"{grouped(text, part)}.astype(jnp.{_dtype(dtype)})"
        )
    return Cure("Bring all branches to one type:", all_rewritten(failure, changes))


def _all_of_shape(failure: Failure, functions: Sequence[Any | None], first: int, path: str, type_: str) -> Cure | None:
    """The branches of a switch in the widest shape of one; which of the others have it already is tried."""
    shape = f"({', '.join(_sizes(type_))}{',' if len(_sizes(type_)) == 1 else ''})"
    parts = {place: _part(result_of(function), path) for place, function in enumerate(functions)}
    changes: dict[ast.AST, str] = {}
    for place in sorted(parts, key=lambda place: place != first):
        part = parts[place]
        if part is None:
            return None
        changes[part] = f"jnp.broadcast_to({failure.text(part)}, {shape})"
        code = all_rewritten(failure, changes)
        if not cannot_work(failure, code):
            return Cure(f"Bring all branches to one shape, {shape}:", code)
    return None


def _kind(type_: str) -> int:
    """How much a type of entries can hold: truths, whole numbers, floats, complex numbers."""
    name = type_.partition("[")[0]
    kinds = ("bool", "uint", "int", "bfloat", "float", "complex")
    return next((place for place, kind in enumerate(kinds) if name.startswith(kind)), -1)


def _dtype(name: str) -> str:
    return "bool_" if name == "bool" else name


def _part(result: ast.expr | None, path: str) -> ast.expr | None:
    """Of a result that is written out, the part that an error names; all of it where it names none."""
    at = result
    for step in re.findall(r"\[[^\]]*\]", path):
        at = parts_of(at).get(step) if at is not None else None
    return None if is_written_out(at) else at


def _sizes(type_: str) -> list[str]:
    return [size for size in type_.partition("[")[2].rstrip("]").split(",") if size]


def _stretches(one: Sequence[str], other: Sequence[str]) -> bool:
    """Whether the first shape becomes the second by broadcasting."""
    ends = zip(reversed(one), reversed(other), strict=False)
    return len(one) <= len(other) and all(size in (wide, "1") for size, wide in ends)


def _trees(failure: Failure, match: re.Match[str]) -> Explanation:
    name, functions = _branches(failure)
    results = [result_of(function) for function in functions]
    texts = [failure.text(result) if result is not None else "None" for result in results]
    known = [function is not None for function in functions]
    seen = ""
    if all(known) and len(texts) == 2:
        seen = f" Here one gives `{texts[0]}` and the other `{texts[1]}`."
    elif all(known) and texts:
        seen = f" Here they give {', '.join(f'`{text}`' for text in texts[:4])}."
    reason = (
        f"`{name}` is compiled with all its branches, and what comes after must fit each of them: "
        f"the same tuples, lists and dictionaries.{seen}"
    )
    cure = _alike(failure, functions) if len(functions) > 1 and all(known) else None
    title = f"the branches of `{name}` give different structures"
    cures = (cure,) if cure is not None else ()
    return Explanation("branch structure", title, reason, cures, api_page(f"jax.lax.{name}"))


def _alike(failure: Failure, functions: Sequence[Any]) -> Cure | None:
    """All branches built as the one with the most parts is; where one has too little, zeros of the type of the other.

    Where what is lacking cannot be written there, they are built as the one with the fewest parts.
    """
    results = [result_of(function) for function in functions]
    if any(gives_nothing(function) for function in functions):
        return _given_too(failure, functions, results)
    sizes = [len(parts_of(result)) if result is not None else 0 for result in results]
    for like in (sizes.index(max(sizes)), sizes.index(min(sizes))):
        wanted = results[like]
        form = form_of_code(failure, wanted)
        if wanted is None or form is UNKNOWN:
            continue
        changes: dict[ast.AST, str] = {}
        for function, result in zip(functions, results, strict=True):
            names = dict(zip(parameters(functions[like]), parameters(function), strict=False))
            text = fitted(failure, form, result, "", _zeros(failure, wanted, names)) if result is not None else None
            if text is None:
                changes = {}
                break
            if result is not None and not _reads_alike(text, failure.text(result)):
                changes[result] = text
        if changes:
            return Cure(
                "Give the same from each; zeros where there is nothing to give:", all_rewritten(failure, changes)
            )
    return None


def _reads_alike(one: str, other: str) -> bool:
    return ast.dump(ast.parse(one, mode="eval")) == ast.dump(ast.parse(other, mode="eval"))


def _zeros(failure: Failure, wanted: ast.AST, names: dict[str, str]) -> Any:
    """What stands for a part that a branch lacks: zeros like what the other gives."""

    def missing(path: str) -> str | None:
        part: ast.AST | None = wanted
        for step in re.findall(r"\[[^\]]*\]", path):
            part = parts_of(part).get(step) if part is not None else None
        if part is None or is_written_out(part):
            return None
        read = [name for name in names_read(part) if name not in names]
        if not all(known_beside(failure, ast.Name(name, ast.Load())) for name in read):
            return None
        if isinstance(part, ast.Constant) and part.value is None:
            return "None"
        text = failure.text(part)
        for name, here in names.items():
            text = re.sub(rf"\b{name}\b", here, text)
        return f"jnp.zeros_like({text})"

    return missing


def _given_too(failure: Failure, functions: Sequence[Any], results: Sequence[ast.expr | None]) -> Cure | None:
    """A branch that gives nothing gives what it computes, or back what it was handed where that is of the type that
    another gives; zeros otherwise."""
    nothing = next(one for one in functions if gives_nothing(one))
    where = f", at the end of `{nothing.name}`" if isinstance(nothing, ast.FunctionDef) else ""
    kept = _not_returned(nothing)
    if kept:
        return Cure(f"Give back what it computes{where}:", f"return {kept}")
    giving = [(one, result) for one, result in zip(functions, results, strict=True) if not gives_nothing(one)]
    if not giving:
        return None
    function, result = giving[0]
    own = parameters(nothing)
    if own and _gives_what_it_is_handed(failure, function):
        told, text = f"Give back what it is handed{where}:", ", ".join(own)
        text = f"({text})" if len(own) > 1 and not where else text
    else:
        names = dict(zip(parameters(function), own, strict=False))
        if result is None or not all(
            name in names or known_beside(failure, ast.Name(name, ast.Load())) for name in names_read(result)
        ):
            return None
        text = failure.text(result)
        for name, here in names.items():
            text = re.sub(rf"\b{name}\b", here, text)
        text = f"jax.tree.map(jnp.zeros_like, {text})" if is_written_out(result) else f"jnp.zeros_like({text})"
        told = f"Give zeros of the same type where there is nothing to give{where}:"
    lacking = result_of(nothing)
    return Cure(told, all_rewritten(failure, {lacking: text}) if lacking is not None else f"return {text}")


def _not_returned(function: Any) -> str:
    """The name to which a function without a `return` assigns last; empty where there is none."""
    last = function.body[-1] if isinstance(function, ast.FunctionDef) else None
    if not isinstance(last, (ast.Assign, ast.AugAssign)) or result_of(function) is not None:
        return ""
    target = last.targets[0] if isinstance(last, ast.Assign) else last.target
    return target.id if isinstance(target, ast.Name) else ""


def _gives_what_it_is_handed(failure: Failure, function: Any) -> bool:
    """Whether a branch is known to give what it is called with, by shapes and types."""
    call = failure.calls("cond", "switch")
    handed = call.args[3 if last_name(call.func) == "cond" else 2 :] if call is not None else []
    if not handed or any(isinstance(one, ast.Starred) for one in handed):
        return False
    operands = ", ".join(map(failure.text, handed))
    name = f"({failure.text(function)})" if isinstance(function, ast.Lambda) else function.name
    given = given_by(failure, f"{name}({operands})")
    return given is not None and given == given_by(failure, f"({operands})")


_TYPE = ("TypeError",)

CASES: tuple[Case, ...] = (
    Case(
        "branch types",
        _TYPE,
        r"(?:branches must have equal output types|branch outputs must have equal types)",
        _types,
    ),
    Case(
        "branch structure",
        _TYPE,
        r"branch(?:es| outputs) must have (?:the )?same (?:pytree|type) structure",
        _trees,
    ),
)
