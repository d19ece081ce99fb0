"""What a function calls the parts of its arguments, where it takes them apart by names: `adv, following = carry`.

JAX knows a part by its path, `carry[1]`; the person knows it by the variable that it is kept in.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Sequence

from jaxviz.compat import Function
from jaxviz.read.definitions import definition_of

_STEP = re.compile(r"\[(?:'[^']*'|\"[^\"]*\"|[^\]]*)\]|\.[^[.\s]+")
_ROOT = re.compile(r"[^[.\s]+")


def names_of_parts(function: Function | None, paths: Sequence[str]) -> list[str]:
    """For each path of an argument the variable that holds it, or what is around it: `caches[0]['k']`; else empty.

    What is taken apart only under a condition, or when the variable means something else already, is none.
    """
    parts = [path for path in paths if _STEP.search(path)]
    definition = definition_of(function.file, function.line, function.name) if function is not None and parts else None
    if definition is None or isinstance(definition, ast.Lambda):
        return [""] * len(paths)
    found = _Parts(definition, parts).names
    return [_named(path, found) for path in paths]


def steps_of(path: str) -> list[str]:
    """The steps of a path after its root: `[0]`, `['k']`, `.mu`."""
    root = _ROOT.match(path)
    return _STEP.findall(path, root.end()) if root else []


def _named(path: str, names: dict[str, str]) -> str:
    """A path with the longest part of it that has a name called by that."""
    steps = steps_of(path)
    rest = ""
    while steps:
        name = names.get(path)
        if name is not None:
            return name + rest
        step = steps.pop()
        path, rest = path.removesuffix(step), step + rest
    return ""


class _Parts:
    """Goes through a function from its beginning: `names` are the variables that hold parts of its arguments."""

    def __init__(self, definition: ast.FunctionDef | ast.AsyncFunctionDef, paths: Sequence[str]) -> None:
        self.names: dict[str, str] = {}
        self._paths = paths
        arguments = definition.args
        own = [one.arg for one in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)]
        # What each variable holds now.
        self._held = {name: name for name in own}
        self._go_through(definition.body)

    def _go_through(self, body: Iterable[ast.stmt]) -> None:
        for statement in body:
            if isinstance(statement, (ast.With, ast.AsyncWith)):
                self._go_through(statement.body)
            elif isinstance(statement, ast.Assign):
                bound = [pair for target in statement.targets for pair in self._bound(target, statement.value)]
                self._bind(bound, statement)
            elif isinstance(statement, ast.AnnAssign) and statement.value is not None:
                self._bind(list(self._bound(statement.target, statement.value)), statement)
            else:
                self._bind([], statement)

    def _bind(self, bound: Sequence[tuple[str, str]], statement: ast.stmt) -> None:
        """Keeps what a statement puts into variables; what else it assigns holds something new."""
        for name in _stored(statement):
            self._held.pop(name, None)
        for name, path in bound:
            self._held[name] = path
            if _STEP.search(path) and name.strip("_"):
                self.names.setdefault(path, name)

    def _bound(self, target: ast.expr, value: ast.expr) -> Iterator[tuple[str, str]]:
        """The variables of a target, and the path of what each gets, as far as that is a part of an argument."""
        pairs = isinstance(target, (ast.Tuple, ast.List)) and isinstance(value, (ast.Tuple, ast.List))
        if pairs and len(target.elts) == len(value.elts) and not _is_starred([*target.elts, *value.elts]):  # type: ignore[attr-defined]
            for one, its in zip(target.elts, value.elts, strict=True):  # type: ignore[attr-defined]
                yield from self._bound(one, its)
            return
        path = self._path(value)
        if path:
            yield from self._taken_apart(target, path)

    def _taken_apart(self, target: ast.expr, path: str) -> Iterator[tuple[str, str]]:
        if isinstance(target, ast.Name):
            yield target.id, path
        elif isinstance(target, (ast.Tuple, ast.List)):
            fields = self._fields(path)
            whole = len(fields) == len(target.elts) and not _is_starred(target.elts)
            for place, element in enumerate(target.elts):
                if isinstance(element, ast.Starred):
                    return
                step = f"[{place}]"
                if step not in fields and whole and fields[place].startswith("."):
                    # A named tuple is taken apart in the order of its fields.
                    step = fields[place]
                yield from self._taken_apart(element, path + step)

    def _fields(self, path: str) -> list[str]:
        """The steps that lead on from a path, in order."""
        inside = (_STEP.match(one, len(path)) for one in self._paths if one.startswith(path))
        return list(dict.fromkeys(step[0] for step in inside if step))

    def _path(self, node: ast.expr) -> str:
        """The path of an expression that takes a part of what a variable holds; empty for any other."""
        if isinstance(node, ast.Name):
            return self._held.get(node.id, "")
        if isinstance(node, ast.Attribute):
            around = self._path(node.value)
            return f"{around}.{node.attr}" if around else ""
        if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant):
            around = self._path(node.value)
            return f"{around}[{node.slice.value!r}]" if around else ""
        return ""


def _is_starred(elements: Iterable[ast.expr]) -> bool:
    return any(isinstance(element, ast.Starred) for element in elements)


def _stored(statement: ast.stmt) -> Iterator[str]:
    """The variables that a statement assigns anywhere in it."""
    for node in ast.walk(statement):
        if isinstance(node, ast.Name) and isinstance(node.ctx, (ast.Store, ast.Del)):
            yield node.id
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            yield node.name
