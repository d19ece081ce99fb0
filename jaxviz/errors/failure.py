"""What is known of an error that ended a trace: its words, where it happened, and what values were at hand there."""

from __future__ import annotations

import ast
import functools
import inspect
import os
import re
import sysconfig
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from types import FrameType, TracebackType
from typing import Any

import jax

from jaxviz import compat
from jaxviz.arrays import is_array
from jaxviz.errors.source import Source, names_read
from jaxviz.read.frames import OWN_FOLDER
from jaxviz.read.values import short_dtype


@dataclass(frozen=True, eq=False)
class Place:
    """One step of a traceback."""

    frame: FrameType
    line: int
    instruction: int


@dataclass(frozen=True, eq=False)
class Failure:
    """An error in the function `fn` that was called as `call` reads, seen from where it was caught."""

    error: BaseException
    fn: Callable[..., Any]
    name: str
    call: str
    args: Sequence[Any]
    kwargs: Mapping[str, Any]
    #: Whether `call` is as somebody typed it; otherwise it may hold types where the arguments are.
    is_typed: bool = True

    @cached_property
    def kind(self) -> str:
        """The name of the class of the error."""
        return type(self.error).__name__

    @cached_property
    def message(self) -> str:
        """JAX's words, without the address of its page."""
        return re.sub(r"\n?See https://\S+\s*$", "", str(self.error)).strip()

    @cached_property
    def link(self) -> str:
        """The page that JAX itself names for the error."""
        found = re.search(
            r"https://(?:docs\.jax\.dev|jax\.readthedocs\.io|github\.com/jax-ml)/\S*[\w/]", str(self.error)
        )
        return found[0] if found else ""

    # Where.

    @cached_property
    def places(self) -> list[Place]:
        """The steps of the traceback inside the function, outermost first."""
        found = []
        at: TracebackType | None = self.error.__traceback__
        while at is not None:
            if not at.tb_frame.f_code.co_filename.startswith((OWN_FOLDER, functools.__file__)):
                found.append(Place(at.tb_frame, at.tb_lineno, at.tb_lasti))
            at = at.tb_next
        return found

    @cached_property
    def own(self) -> list[Place]:
        """Those of the person's own code; of libraries on JAX where there is none of it."""
        outside = [place for place in self.places if not place.frame.f_code.co_filename.startswith(compat.JAX_FOLDERS)]
        own = [place for place in outside if not _is_library(place.frame.f_code.co_filename)] or outside
        # Dataclasses write the code of their methods themselves; what calls them stands in a file.
        return [place for place in own if place.frame.f_code.co_filename != "<string>"] or own

    @cached_property
    def place(self) -> Place | None:
        return self.own[-1] if self.own else None

    def seen_from(self, place: Place) -> Failure:
        """The same error as it looks from another step of its traceback, such as the call of the function it is in."""
        other = replace(self)
        # Instead of what would be found; all else follows from it.
        other.__dict__["place"] = place
        return other

    def seen_in(self, source: Source | None, node: ast.expr) -> Failure:
        """The same error, told of an expression of the explored function, of which only the arguments are known."""
        other = replace(self)
        statement = next((one for one in source.around(node) if isinstance(one, ast.stmt)), None) if source else None
        given = {**self._bound}
        other.__dict__.update(place=None, source=source, expression=node, statement=statement, variables=given)
        return other

    @cached_property
    def library(self) -> str:
        """The function of a library on JAX in which the error came; empty where it came in the person's own code."""
        outside = [place for place in self.places if not place.frame.f_code.co_filename.startswith(compat.JAX_FOLDERS)]
        if not outside or self.place is None or outside[-1] is self.place:
            return ""
        code = outside[-1].frame.f_code
        return f"{getattr(code, 'co_qualname', code.co_name)} ({os.path.basename(code.co_filename)})"

    @cached_property
    def library_path(self) -> str:
        """The file of that function; empty where there is none."""
        outside = [place for place in self.places if not place.frame.f_code.co_filename.startswith(compat.JAX_FOLDERS)]
        return outside[-1].frame.f_code.co_filename.replace(os.sep, "/") if self.library else ""

    @cached_property
    def source(self) -> Source | None:
        """The person's code where the error came from; None where the function was not entered."""
        place = self.place
        return None if place is None else Source(place.frame.f_code, place.instruction, place.line)

    @cached_property
    def expression(self) -> ast.expr | None:
        return self.source.expression if self.source is not None else None

    @cached_property
    def statement(self) -> ast.stmt | None:
        return self.source.statement if self.source is not None else None

    @cached_property
    def line_text(self) -> str:
        """`line 4`, or the function where no line is known."""
        return f"line {self.source.line}" if self.source is not None else self.name

    def text(self, node: ast.AST | None) -> str:
        return self.source.text(node) if self.source is not None and node is not None else ""

    def with_(self, node: ast.AST, text: str) -> str:
        """The failing statement in which a node reads differently; the node alone where the statement is a block."""
        statement = self.statement
        if self.source is None or statement is None or hasattr(statement, "body") or not self._inside(node, statement):
            return text
        return self.source.replaced(statement, {node: text})

    def _inside(self, node: ast.AST, statement: ast.stmt) -> bool:
        return self.source is not None and statement in self.source.around(node)

    def find(self, kind: type[ast.AST] | tuple[type[ast.AST], ...]) -> Any | None:
        """The node of a kind that the failing expression is, or that stands around it in its statement."""
        if self.source is None or self.expression is None:
            return None
        for node in self.source.around(self.expression):
            if isinstance(node, kind):
                return node
            if isinstance(node, ast.stmt):
                return None
        return None

    def calls(self, *names: str) -> ast.Call | None:
        """The call, in the failing statement, of a function whose last name is one of these."""
        if self.statement is None:
            return None
        inside = [self.expression] if self.expression is not None else []
        for node in [*inside, *ast.walk(self.statement)]:
            if isinstance(node, ast.Call) and last_name(node.func) in names:
                return node
        return None

    def calling(self, *names: str) -> tuple[Failure, ast.Call | None]:
        """The innermost call, in the person's code, of a function whose last name is one of these, on the way to
        where the error came, and the error as it looks from there."""
        for place in reversed(self.own):
            there = self.seen_from(place)
            call = there.calls(*names)
            if call is not None:
                return there, call
        return self, None

    # Values.

    @cached_property
    def variables(self) -> dict[str, Any]:
        """What the names at the place stood for."""
        return dict(self.place.frame.f_locals) if self.place is not None else {}

    def value(self, node: ast.AST | None) -> Any:
        """What a name, a constant, an attribute or an item of these stood for; None for any other expression, for
        nothing is run again."""
        if isinstance(node, ast.Name):
            place = self.place
            missing = place.frame.f_globals.get(node.id) if place is not None else None
            return self.variables.get(node.id, missing)
        if isinstance(node, ast.Attribute):
            value = self.value(node.value)
            if node.attr == "T" and is_array(value):
                return jax.ShapeDtypeStruct(value.shape[::-1], value.dtype)
            return _held(value, node.attr)
        if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant):
            value = self.value(node.value)
            if type(value) in (dict, list, tuple):
                with suppress(KeyError, IndexError, TypeError):
                    return value[node.slice.value]
            return None
        return node.value if isinstance(node, ast.Constant) else None

    def arrays(self, node: ast.AST | None) -> dict[str, Any]:
        """The arrays in an expression, as they are written there: names, attributes and items."""
        found: dict[str, Any] = {}
        waiting: list[ast.AST] = [node] if node is not None else []
        while waiting:
            part = waiting.pop(0)
            value = self.value(part) if isinstance(part, (ast.Name, ast.Attribute, ast.Subscript)) else None
            if is_array(value) and not isinstance(value, type):
                found.setdefault(self.text(part), value)
            elif not isinstance(part, ast.Lambda):
                waiting += ast.iter_child_nodes(part)
        return found

    def types(self, node: ast.AST | None) -> str:
        """A sentence with the types of the arrays in an expression; empty where none is known."""
        listed = [f"`{text}` is {type_text(value)}" for text, value in list(self.arrays(node).items())[:4]]
        return f"Here {' and '.join([', '.join(listed[:-1]), listed[-1]] if listed[1:] else listed)}." if listed else ""

    @cached_property
    def met(self) -> tuple[Any, Any] | None:
        """The two arrays that an operation of JAX was given when it gave up: `lhs` and `rhs` in JAX's own frames."""
        for place in reversed(self.places):
            if place.frame.f_code.co_filename.startswith(compat.JAX_FOLDERS):
                held = place.frame.f_locals
                both = held.get("lhs"), held.get("rhs")
                if all(is_array(one) for one in both):
                    return both
        return None

    @cached_property
    def asked_last(self) -> Any | None:
        """The function of the person that JAX had called when it gave up on what that gave, as far as that shows."""
        for place in reversed(self.places[-_LOOKED_BACK:]):
            if not place.frame.f_code.co_filename.startswith(compat.JAX_FOLDERS):
                return None
            found = _of_the_person(place.frame.f_locals.get("f"))
            if found is not None:
                return found
        return None

    def traced(self, node: ast.AST | None) -> list[str]:
        """The names in an expression that stood for traced values."""
        names = names_read(node) if node is not None else []
        return [name for name in names if isinstance(self.variables.get(name), jax.core.Tracer)]

    def traced_inside(self, node: ast.AST | None) -> bool:
        """Whether a container that is a name holds traced values."""
        value = self.value(node)
        return isinstance(value, (list, tuple)) and any(isinstance(one, jax.core.Tracer) for one in value)

    def typed(self, names: Sequence[str]) -> str:
        """Names with their types, as they are told: `x` (f32[3])."""
        return ", ".join(f"`{name}` ({type_text(self.variables[name])})" for name in names)

    # The arguments.

    @cached_property
    def causes(self) -> list[str]:
        """The arguments that the value depends on, as far as JAX says."""
        said = re.findall(
            r"while tracing the function (\S+) .*depends on the values? of the arguments? ([^\n]+?)\.?(?:\n|$)",
            self.message,
        )
        # What is inside of an argument is a part of that; functions inside of the first have arguments of their own.
        parts = [part for function, one in said if function == said[0][0] for part in re.split(r",? and |, ", one)]
        names = [re.split(r"[.\[]", part)[0] for part in parts]
        return [name for name in dict.fromkeys(names) if name.isidentifier()]

    @cached_property
    def traced_for(self) -> str:
        """What the function was being traced for: jit, scan, cond, ..."""
        found = re.search(r"while tracing the function .* for ([\w ]+)\.", self.message)
        return found[1] if found else ""

    @cached_property
    def traced_function(self) -> str:
        """The function whose arguments JAX speaks of: the explored one, or one that is jitted inside of it."""
        found = re.search(r"while tracing the function (\S+) at", self.message)
        return found[1].rpartition(".")[2] if found else ""

    @cached_property
    def _bound(self) -> Mapping[str, Any]:
        """The arguments by the names of the parameters; none where they do not fit."""
        with suppress(TypeError, ValueError):
            return inspect.signature(self.fn).bind(*self.args, **self.kwargs).arguments
        return {}

    def given(self, name: str) -> Any:
        """What the explored function was given for a parameter."""
        return self._bound.get(name)

    def was_given(self, name: str) -> bool:
        """Whether the explored function was given something for a parameter, not left with its default."""
        return name in self._bound

    def static_among(self, names: Sequence[str]) -> list[tuple[str, int]]:
        """Arguments of the explored function, each with its place, where all of them could be static: where they were
        given as numbers or tuples of these, not as arrays. Otherwise none."""
        bound = self._bound
        places = {name: place for place, name in enumerate(bound)}
        if not all(is_plain(bound.get(name)) for name in names):
            return []
        return [(name, places[name]) for name in names]


def is_plain(value: Any) -> bool:
    """Whether a value is a number or a text, or a tuple of these, such as a shape."""
    if type(value) is tuple:
        return bool(value) and all(map(is_plain, value))
    return isinstance(value, (bool, int, str, float))


def parameters_of(function: Callable[..., Any]) -> list[str]:
    """The names of the parameters of a function; none where it does not say."""
    with suppress(TypeError, ValueError):
        return list(inspect.signature(function).parameters)
    return []


def last_name(node: ast.AST) -> str:
    """`full` of `jnp.full`."""
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def _held(value: Any, name: str) -> Any:
    """An attribute that an object or a module keeps, without asking it: a property would be run."""
    try:
        return object.__getattribute__(value, "__dict__").get(name)
    except (AttributeError, TypeError):
        return None


def type_text(value: Any) -> str:
    """f32[3,4]; the name of the class of what is no array."""
    if not is_array(value):
        return type(value).__name__
    return f"{short_dtype(value.dtype)}[{','.join(map(str, value.shape))}]"


# So many of the innermost steps of JAX are asked for the function that it had called.
_LOOKED_BACK = 6
# So deep JAX wraps a function in its steps, and a few more.
_WRAPPED = 8

_LIBRARIES = tuple(
    path for name, path in sysconfig.get_paths().items() if name in ("stdlib", "platstdlib", "purelib", "platlib")
)


def _is_library(path: str) -> bool:
    if path.endswith((".pyx", ".pxd")):
        # Compiled by Cython, as parts of NumPy and SciPy are.
        return True
    return path.startswith((*_LIBRARIES, "<frozen ")) or "/site-packages/" in path or "\\site-packages\\" in path


def _of_the_person(held: Any, deep: int = _WRAPPED) -> Any | None:
    """The person's function in what JAX wraps it with: a partial of its own steps around it, in older versions."""
    if isinstance(held, functools.partial):
        inner = (_of_the_person(one, deep - 1) for one in (held.func, *held.args) if deep and callable(one))
        return next((one for one in inner if one is not None), None)
    code = getattr(held, "__code__", None)
    return held if code is not None and not code.co_filename.startswith(compat.JAX_FOLDERS) else None
