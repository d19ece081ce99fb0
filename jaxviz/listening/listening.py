"""Hears what JAX compiles, from JAX's own public events, and reads in the frames of JAX that are running just then what
is compiled: the jaxpr, the function and its arguments.

Nothing listens until somebody asks, and nothing of JAX is replaced: what is cached, traced or compiled stays the same.
The names of variables in JAX's frames are private. They are the same from 0.6 to 0.12; where they are not found, the
program is known by its jaxpr alone.
"""

from __future__ import annotations

import contextlib
import os
import sys
import sysconfig
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import FrameType
from typing import Any, NamedTuple

from jaxviz import compat
from jaxviz.listening.outside_jit import (
    definition_of_bare,
    definition_of_piece,
    given,
    is_bare,
    is_jax,
    with_length,
)
from jaxviz.program.hearing import TRACE
from jaxviz.program.jit_options import JitOptions
from jaxviz.program.program import Program
from jaxviz.program.specialization import (
    Definition,
    Specialization,
    definition_of,
    innermost,
    settings_now,
    signature_of,
)
from jaxviz.read.frames import OWN_FOLDER, CallingLine, is_library

_LOWER = "/jax/core/compile/jaxpr_to_mlir_module_duration"
_COMPILE = "/jax/core/compile/backend_compile_duration"

# Frames of ours that a person's call passes through.
_PASSED = tuple(
    os.path.join(OWN_FOLDER, *path)
    for path in (
        ("listening", "listening.py"),
        ("listening", "watching.py"),
        ("listening", "recorder.py"),
        ("testing.py",),
        ("notebook", "magic.py"),
        ("notebook", "cell.py"),
    )
)
_STANDARD = os.path.abspath(sysconfig.get_paths()["stdlib"]) + os.sep
# Functions of JAX beyond which the jaxpr of a frame is no longer the one that is compiled.
_CALLS = ("cache_miss", "call_impl_cache_miss", "jit_lower", "jit_trace", "bind")
# Where JAX shortens tracebacks: its functions that people call stand in a wrapper of this file.
_FILTERING = "traceback_util.py"
# Traces and programs without their compile time that are remembered.
_PENDING = 64


class Place(NamedTuple):
    """A line of the person's code."""

    file: str
    line: int


@dataclass(eq=False)
class Compilation:
    """One function that JAX compiled. `seconds` are JAX's own: trace, lower, compile; the last comes after the rest."""

    specialization: Specialization
    jaxpr: Any
    call: str
    #: Where the person's code called it; None where no code of the person's is on the way.
    place: Place | None
    #: Whether it is the person's own function, and not an operation of JAX that was called outside of `jit`.
    own: bool
    #: Which arguments may be reused for results, by number.
    donated: tuple[int, ...] = ()
    #: Whether it is a piece of a transformation that ran outside of `jit`, such as `jax.grad` of a jitted function.
    piece: bool = False
    seconds: dict[str, float] = field(default_factory=dict)

    @property
    def definition(self) -> Definition:
        """Of the function."""
        return self.specialization.definition

    def program(self) -> RecordedProgram:
        """To be explored, without running the person's function again."""
        return RecordedProgram(self)


Hearer = Callable[[Compilation, bool], None]


class _Ear:
    """The one listener of this process. Hearers are told of each compilation, and again when its cost is known."""

    def __init__(self) -> None:
        self._hearers: tuple[Hearer, ...] = ()
        self._stop: Callable[[], None] | None = None
        self._lock = threading.Lock()
        self._traces: deque[tuple[str, float]] = deque(maxlen=_PENDING)
        self._pending: deque[tuple[str, Compilation]] = deque(maxlen=_PENDING)

    def add(self, hearer: Hearer) -> None:
        with self._lock:
            self._hearers = (*self._hearers, hearer)
            # Anew each time: whoever clears JAX's listeners takes ours with them.
            if self._stop is not None:
                with contextlib.suppress(Exception):
                    self._stop()
            self._stop = compat.listen_to_durations(self._hear)

    def remove(self, hearer: Hearer) -> None:
        with self._lock:
            self._hearers = tuple(one for one in self._hearers if one != hearer)
            if not self._hearers and self._stop is not None:
                with contextlib.suppress(Exception):
                    self._stop()
                self._stop = None
                self._traces.clear()
                self._pending.clear()

    def _hear(self, event: str, seconds: float, **details: Any) -> None:
        if not self._hearers or event not in (TRACE, _LOWER, _COMPILE):
            return
        name = str(details.get("fun_name", ""))
        # An error here would be an error of the person's call.
        with contextlib.suppress(Exception):
            if event == TRACE:
                self._traces.append((name, seconds))
            elif event == _LOWER:
                self._lowered(name, seconds, sys._getframe(1))
            else:
                self._compiled(name, seconds)

    def _lowered(self, name: str, seconds: float, frame: FrameType | None) -> None:
        if _is_ours(frame):
            return
        seen = look(frame)
        if seen.jaxpr is None:
            return
        compilation = _compilation(name, seen)
        for traced, cost in reversed(self._traces):
            if traced == _bare(name):
                compilation.seconds["trace"] = cost
                break
        self._traces.clear()
        compilation.seconds["lower"] = seconds
        self._pending.append((name, compilation))
        self._tell(compilation, False)

    def _compiled(self, name: str, seconds: float) -> None:
        for number in range(len(self._pending) - 1, -1, -1):
            waiting, compilation = self._pending[number]
            if waiting == name:
                del self._pending[number]
                compilation.seconds["compile"] = seconds
                self._tell(compilation, True)
                return

    def _tell(self, compilation: Compilation, whole: bool) -> None:
        for hearer in self._hearers:
            hearer(compilation, whole)


ear = _Ear()


class Seen(NamedTuple):
    """What the frames of JAX show of a compilation."""

    jaxpr: Any = None
    donated: Sequence[bool] = ()
    function: Any = None
    info: Any = None
    args: Sequence[Any] = ()
    kwargs: Mapping[str, Any] = {}
    piece: bool = False
    place: Place | None = None
    #: The function of JAX that the person's code called.
    called: str = ""


def look(frame: FrameType | None) -> Seen:
    """Walks outwards from where JAX tells of an event."""
    seen = Seen()
    frames = _frames(frame)
    calling = False
    called = ""
    for one in frames:
        if not _is_machinery(one):
            return _through_wrapper(seen, one)._replace(place=_place(one), called=called)
        code, values = one.f_code.co_name, one.f_locals
        if not one.f_code.co_filename.endswith(_FILTERING):
            called = code
        if code == "call_impl_cache_miss":
            seen = seen._replace(piece=True)
        calling = calling or code in _CALLS
        if not calling and isinstance(values.get("jaxpr"), compat.ClosedJaxpr):
            seen = seen._replace(jaxpr=values["jaxpr"], donated=values.get("donated_invars", seen.donated))
        if seen.function is None and code in ("cache_miss", "jit_lower", "jit_trace"):
            jitted = values.get("jit_func")
            seen = seen._replace(
                function=values.get("fun", getattr(jitted, "__wrapped__", None)),
                info=values.get("jit_info", getattr(jitted, "_jit_info", None)),
                args=values.get("args", ()),
                kwargs=values.get("kwargs", {}),
            )
    return seen


def _through_wrapper(seen: Seen, frame: FrameType) -> Seen:
    """Some libraries jit a function of their own, which is given the person's: `equinox.filter_jit`, `flax.nnx.jit`.
    Theirs is an object that says what it wraps, called with the person's arguments."""
    if seen.function is None or seen.piece:
        return seen
    for one in _frames(frame):
        file = one.f_code.co_filename
        if not is_library(file) and not file.startswith((_STANDARD, *compat.JAX_FOLDERS)):
            return seen
        values = one.f_locals
        wrapped = getattr(values.get("self"), "__wrapped__", None)
        if one.f_code.co_name == "__call__" and callable(wrapped) and isinstance(values.get("args"), tuple):
            kwargs = values.get("kwargs")
            return seen._replace(
                function=wrapped, info=None, args=values["args"], kwargs=kwargs if isinstance(kwargs, dict) else {}
            )
    return seen


def _frames(frame: FrameType | None) -> Iterator[FrameType]:
    while frame is not None:
        yield frame
        frame = frame.f_back


def _is_machinery(frame: FrameType) -> bool:
    file = frame.f_code.co_filename
    return file.startswith((*compat.JAX_FOLDERS, _STANDARD, "<frozen ")) or file in _PASSED


def _is_ours(frame: FrameType | None) -> bool:
    """Whether jaxviz itself has this compiled, to look at it."""
    files = {one.f_code.co_filename for one in _frames(frame)}
    return any(file.startswith(OWN_FOLDER) and file not in _PASSED for file in files)


def _place(frame: FrameType | None) -> Place | None:
    """The line of the person's own code that led here."""
    for one in _frames(frame):
        file = one.f_code.co_filename
        if not is_library(file) and not file.startswith(OWN_FOLDER) and not file.startswith(compat.JAX_FOLDERS):
            return Place(file, one.f_lineno)
    return None


def _bare(name: str) -> str:
    """The name of a function in that of its module: `f` of `jit(f)` and of `jit_f`."""
    if name.endswith(")"):
        return name[name.find("(") + 1 : -1]
    return name.removeprefix("jit_").removeprefix("pmap_")


def _compilation(name: str, seen: Seen) -> Compilation:
    jaxpr = seen.jaxpr
    types = tuple(getattr(jaxpr, "in_avals", ()))
    function = None if seen.piece else seen.function
    if function is not None:
        definition = definition_of(function)
        signature = signature_of(
            function,
            seen.args,
            seen.kwargs,
            static_argnums=getattr(seen.info, "static_argnums", ()),
            static_argnames=getattr(seen.info, "static_argnames", ()),
            types=types,
        )
        static = [number for number in getattr(seen.info, "static_argnums", ()) if number < len(seen.args)]
        call = Program(function, seen.args, seen.kwargs, JitOptions(tuple(static))).call
        if is_bare(definition.file, jaxpr):
            definition = definition_of_bare(definition, jaxpr, seen.called, seen.place)
            signature = with_length(signature, jaxpr)
    else:
        definition = _by_jaxpr(jaxpr, _bare(name))
        if seen.function is not None:
            definition = definition_of_piece(definition, definition_of(seen.function), jaxpr)
        paths = [path or f"argument[{number}]" for number, path in enumerate(compat.argument_names_of(jaxpr))]
        signature = signature_of(None, [], dict(zip(paths, types, strict=False)))
        call = f"{definition.name}({', '.join(leaf.text for leaf in signature.leaves[:4])}{', ...' * (len(types) > 4)})"
    return Compilation(
        Specialization(definition, signature, settings_now(seen.info), time.time()),
        # As another object: JAX drops what it compiled when its own is gone.
        _shallow(jaxpr),
        call,
        seen.place,
        _is_own(seen.function, jaxpr),
        tuple(number for number, given in enumerate(seen.donated) if given),
        seen.piece,
    )


def _shallow(jaxpr: Any) -> Any:
    return jaxpr.replace() if hasattr(jaxpr, "replace") else jaxpr


def _by_jaxpr(jaxpr: Any, name: str) -> Definition:
    function = compat.function_of(jaxpr)
    if function is None:
        return Definition(name, name, "", 0)
    return Definition(function.name or name, function.name or name, function.file, function.line)


def _is_own(function: Any, jaxpr: Any) -> bool:
    """Whether a function is the person's, or runs code of the person's, as `lax.scan` outside of `jit` does."""
    if function is not None:
        inner = innermost(function)
        code = getattr(inner, "__code__", None)
        if code is None or not is_jax(code.co_filename) or is_bare(code.co_filename, jaxpr):
            return True
    else:
        found = compat.function_of(jaxpr)
        if found is not None and found.file and not is_jax(found.file):
            return True
    return next(given(jaxpr), None) is not None


class RecordedProgram(Program):
    """A program whose jaxpr is known already: the person's function is not called for it."""

    is_recorded = True

    def __init__(self, compilation: Compilation) -> None:
        import jax

        types = getattr(compilation.jaxpr, "in_avals", ())
        arguments = [
            jax.ShapeDtypeStruct(type_.shape, type_.dtype, weak_type=getattr(type_, "weak_type", False))
            for type_ in types
        ]
        definition = compilation.definition
        place = compilation.place
        super().__init__(definition.function() or _gone, arguments)
        self._donated = compilation.donated
        self.calling = CallingLine(place.file, "", place.line) if place is not None else None
        self.seconds.update(compilation.seconds)
        self.seconds.setdefault("trace", 0.0)
        # What the base reads from the function, which may be gone.
        self.__dict__.update(
            name=definition.name,
            file=definition.file,
            line=definition.line,
            call=compilation.call,
            traced=_Traced(
                compilation.jaxpr,
                (tuple(_Argument(number in compilation.donated) for number in range(len(arguments))), {}),
                list(getattr(compilation.jaxpr, "out_avals", ())),
            ),
        )

    def _jit(self, function: Callable[..., Any]) -> Any:
        import jax

        return jax.jit(function, donate_argnums=self._donated)


class _Traced(NamedTuple):
    """What a program reads of `jax.stages.Traced`."""

    jaxpr: Any
    args_info: Any
    out_info: Any


@dataclass(frozen=True)
class _Argument:
    """What a program reads of `jax.stages.ArgInfo`; no tuple, because it is a leaf of a tree."""

    donated: bool


def _gone(*args: Any) -> Any:
    raise RuntimeError("this function is gone: only what JAX made of it is known")
