"""What is compiled where nothing is jitted: JAX makes a program of its own of each operation that is called.

Most of these are single operations and are made once. A loop or a choice is compiled with the functions that the person
gave it, and told by these; a piece of a transformation, such as `jax.grad` of a jitted function, by its equations.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from jaxviz import compat
from jaxviz.program.specialization import Definition, Signature, Static

if TYPE_CHECKING:
    from jaxviz.listening.listening import Place

#: Operations that run what they are given, wherever that comes from.
_LOOPS = ("scan", "while", "cond")
#: Functions of JAX that put a function of their own around what they are given, a new one in each call.
_WRAPPING = ("map",)
# Equations of a body that are looked at for the function that they come from.
_LOOKED_AT = 16


def is_jax(file: str) -> bool:
    """Whether code of a file is JAX's own."""
    return file.startswith((*compat.JAX_FOLDERS, "<frozen "))


def is_bare(file: str, jaxpr: Any) -> bool:
    """Whether a program, of a function in this file, is one operation that was called for itself, and runs what it was
    given."""
    equations = compat.open_jaxpr(jaxpr).eqns
    if len(equations) != 1 or not is_jax(file):
        return False
    return equations[0].primitive.name in _LOOPS or next(given(jaxpr), None) is not None


def given(jaxpr: Any) -> Iterator[compat.Function]:
    """The functions of the person's that loops and choices of a program were given."""
    for equation in compat.open_jaxpr(jaxpr).eqns:
        for value in equation.params.values():
            for body in value if isinstance(value, (tuple, list)) else (value,):
                if type(body) in compat.BODY_CLASSES:
                    found = compat.function_of(body)
                    found = _wrapped(body) if found is None or is_jax(found.file) else found
                    if found is not None and found.file:
                        yield found


def _wrapped(body: Any) -> compat.Function | None:
    """The function that one of JAX's calls: the person's outermost one within frames of JAX."""
    for equation in compat.open_jaxpr(body).eqns[:_LOOKED_AT]:
        if equation.source_info.traceback is None:
            continue
        codes, _ = compat.raw_frames(equation.source_info.traceback)
        inside = False
        for code in reversed(codes):
            if is_jax(code.co_filename):
                inside = True
            elif inside:
                return compat.Function(code.co_name, code.co_filename, code.co_firstlineno)
    return None


def definition_of_bare(own: Definition, jaxpr: Any, called: str, place: Place | None) -> Definition:
    """Of such an operation: JAX's own definition is `own`, and `called` the function of JAX that the person called."""
    function = next(given(jaxpr), None)
    where = (function.file, function.line) if function is not None else place
    if where is None:
        return own
    file, line = where
    called = called or own.name
    return replace(own, name=called, file=file, line=line, called=called, wrapping=called in _WRAPPING)


def with_length(signature: Signature, jaxpr: Any) -> Signature:
    """With the number of turns, where a loop does not have it from the shape of what it goes over."""
    (equation,) = compat.open_jaxpr(jaxpr).eqns
    length = equation.params.get("length")
    if not isinstance(length, int):
        return signature
    body = compat.open_jaxpr(equation.params["jaxpr"])
    pairs = zip(equation.invars, body.invars, strict=True)
    if any(whole.aval.shape != one.aval.shape for whole, one in pairs):
        return signature
    return replace(signature, statics=(*signature.statics, Static("length", str(length), length)))


def definition_of_piece(own: Definition, whole: Definition, jaxpr: Any) -> Definition:
    """Of a piece of a transformation, as its equations tell it, of a function that was jitted."""
    names = "\n".join(_names(jaxpr))
    return replace(
        own,
        code=whole.code,
        around=whole.around,
        captured=whole.captured,
        serial=whole.serial,
        inner_serial=whole.inner_serial,
        piece=hashlib.sha1(names.encode()).hexdigest(),
    )


def _names(jaxpr: Any) -> Iterator[str]:
    """What tells the equations of one piece from those of another. Numbers in them may come from a closure."""
    for equation in compat.open_jaxpr(jaxpr).eqns:
        yield f"{equation.primitive.name} {[variable.aval for variable in equation.outvars]}"
        for value in equation.params.values():
            for body in value if isinstance(value, (tuple, list)) else (value,):
                if type(body) in compat.BODY_CLASSES:
                    yield from _names(body)
