"""How trees of arrays are built, as far as code and values show, and results that are built anew after such a form."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from jaxviz.arrays import is_array
from jaxviz.errors.failure import Failure


@dataclass(frozen=True)
class Form:
    """A tuple, list or dictionary of forms, a leaf, or what is not known."""

    kind: str
    parts: tuple[Form, ...] = ()
    #: Of a dictionary, as they are written.
    keys: tuple[str, ...] = ()


LEAF, UNKNOWN, NOTHING = Form("leaf"), Form("unknown"), Form("nothing")

_SEQUENCES: dict[type[ast.AST], str] = {ast.Tuple: "tuple", ast.List: "list"}


def form_of_value(value: Any, depth: int = 4) -> Form:
    if is_array(value) or isinstance(value, (int, float, complex)):
        return LEAF
    if depth and type(value) in (tuple, list):
        parts = tuple(form_of_value(one, depth - 1) for one in value)
        return Form(type(value).__name__, parts)
    if depth and type(value) is dict:
        parts = tuple(form_of_value(one, depth - 1) for one in value.values())
        return Form("dict", parts, tuple(map(repr, value)))
    return UNKNOWN


def form_of_code(failure: Failure, node: ast.AST | None) -> Form:
    """How what code gives is built: names are looked up, and arithmetic gives arrays."""
    if isinstance(node, (ast.Tuple, ast.List)):
        if any(isinstance(one, ast.Starred) for one in node.elts):
            return UNKNOWN
        return Form(_SEQUENCES[type(node)], tuple(form_of_code(failure, one) for one in node.elts))
    if isinstance(node, ast.Dict) and all(isinstance(key, ast.Constant) for key in node.keys):
        keys = tuple(repr(getattr(key, "value", None)) for key in node.keys)
        return Form("dict", tuple(form_of_code(failure, one) for one in node.values), keys)
    if isinstance(node, (ast.BinOp, ast.UnaryOp, ast.Compare)):
        return LEAF
    if _is_none(node):
        return NOTHING
    return form_of_value(failure.value(node)) if node is not None else UNKNOWN


def _is_none(node: ast.AST | None) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def parts_of(node: ast.AST) -> dict[str, ast.expr]:
    """The parts of a tuple, list or dictionary that is written out, by how each is taken from it."""
    if isinstance(node, (ast.Tuple, ast.List)):
        return {f"[{place}]": one for place, one in enumerate(node.elts)}
    if isinstance(node, ast.Dict):
        return {f"[{getattr(key, 'value', None)!r}]": one for key, one in zip(node.keys, node.values, strict=True)}
    return {}


def is_written_out(node: ast.AST | None) -> bool:
    return isinstance(node, (ast.Tuple, ast.List, ast.Dict))


def part_of(whole: ast.expr | None, path: str) -> ast.expr | None:
    """The part of what is written out that is taken by a path, such as `[1]['w']`."""
    at: ast.expr | None = whole
    for step in re.findall(r"\[[^\]]*\]", path):
        at = parts_of(at).get(step) if at is not None else None
    return None if is_written_out(at) else at


def fitted(failure: Failure, form: Form, node: ast.AST, path: str, missing: Callable[[str], str | None]) -> str | None:
    """The text of a result that is built after a form, of the parts of one that is built differently.

    `missing` gives what stands for a part that it lacks, by the way to it, such as `[1]['w']`; None where nothing can.
    """
    parts = parts_of(node)
    if form is NOTHING:
        return "None"
    if _is_none(node) and form.kind in ("leaf", "unknown"):
        return missing(path)
    if form.kind in ("leaf", "unknown"):
        if not is_written_out(node):
            return failure.text(node)
        # Of several for one, the first.
        first = next(iter(parts.values()), None)
        return fitted(failure, form, first, path, missing) if first is not None and form is LEAF else failure.text(node)
    if form_of_code(failure, node) == form and not is_written_out(node):
        return failure.text(node)
    if not is_written_out(node):
        if not form.parts or not _is_one(failure, node):
            return None
        parts = {_steps(form)[0]: node} if isinstance(node, ast.expr) else {}
    steps = _steps(form)
    by_place = list(parts.values())
    # Of a tuple where a dictionary is wanted, or the other way round, each part has its place.
    named = isinstance(node, ast.Dict) == (form.kind == "dict")
    texts = []
    for place, (step, part) in enumerate(zip(steps, form.parts, strict=True)):
        given = parts.get(step) if named else by_place[place] if place < len(by_place) else None
        text = fitted(failure, part, given, path + step, missing) if given is not None else missing(path + step)
        if text is None:
            return None
        texts.append(text)
    return _built(form, texts)


def _is_one(failure: Failure, node: ast.AST) -> bool:
    """Whether an expression gives one array, as far as that shows."""
    if isinstance(node, ast.Call):
        of_jax = str(getattr(failure.value(node.func), "__module__", "")).startswith("jax")
        return of_jax or isinstance(node.func, ast.Attribute)
    if isinstance(node, ast.Name):
        return not _is_container(failure, node)
    kinds = (ast.BinOp, ast.UnaryOp, ast.Compare, ast.Subscript, ast.Attribute, ast.Constant)
    return isinstance(node, kinds)


def _is_container(failure: Failure, node: ast.Name) -> bool:
    """Whether a variable was assigned what is written as a container, in the function that gives it."""
    source = failure.source
    around = source.around(node) if source is not None else []
    function = next((one for one in around if isinstance(one, (ast.FunctionDef, ast.Lambda))), None)
    assigned = [one for one in ast.walk(function) if isinstance(one, ast.Assign)] if function is not None else []
    values = [one.value for one in assigned if ast.unparse(one.targets[0]) == node.id]
    made = ("list", "tuple", "dict")
    return any(
        isinstance(one, (ast.List, ast.Tuple, ast.Dict, ast.ListComp, ast.DictComp))
        or (isinstance(one, ast.Call) and getattr(one.func, "id", "") in made)
        for one in values
    )


def _steps(form: Form) -> list[str]:
    return [f"[{key}]" for key in form.keys] if form.kind == "dict" else [f"[{n}]" for n in range(len(form.parts))]


def _built(form: Form, texts: list[str]) -> str:
    inside = ", ".join(texts)
    if form.kind == "dict":
        keys = [f'"{key[1:-1]}"' if key[1:-1].isidentifier() else key for key in form.keys]
        return "{" + ", ".join(f"{key}: {text}" for key, text in zip(keys, texts, strict=True)) + "}"
    return f"[{inside}]" if form.kind == "list" else f"({inside},)" if len(texts) == 1 else f"({inside})"
