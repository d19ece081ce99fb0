"""`watch`: every new specialization of a function is a program of the session, with the reason why it was compiled."""

from __future__ import annotations

import functools
import inspect
import threading
import time
from collections.abc import Callable
from types import CodeType
from typing import TYPE_CHECKING, Any, TypeVar

from jaxviz.arrays import is_array

if TYPE_CHECKING:
    from jaxviz.listening.listening import Compilation

Function = TypeVar("Function", bound=Callable[..., Any])

_lock = threading.Lock()
#: The code of the functions that are watched: a decorator above or below keeps it.
_watched: set[CodeType] = set()
_listens = False


def watch(function: Function) -> Function:
    """Shows every new specialization of a function in the side panel, and in `jv.session()`::

        @jv.watch
        @jax.jit
        def step(params, x): ...

    It may stand above or below `jax.jit`, and costs nothing for calls that compile nothing. A function that is not
    jitted runs as before, and is listed once for each kind of arguments that it is called with.
    """
    from jaxviz.program.specialization import innermost

    if not callable(function):
        raise TypeError(f"jv.watch wants a function, but got {type(function).__name__}")
    code = getattr(innermost(function), "__code__", None)
    if code is None:
        code = getattr(inspect.getattr_static(type(innermost(function)), "__call__", None), "__code__", None)
    if code is None:
        raise TypeError(f"jv.watch wants a function written in Python, but got {type(function).__name__}")
    _listen(code)
    if hasattr(function, "lower") or not inspect.isfunction(function):
        # JAX tells when it compiles this; nothing stands in the way of a call.
        return function
    return _seen_at_calls(function)


def _listen(code: CodeType) -> None:
    global _listens
    from jaxviz.listening.listening import ear

    with _lock:
        _watched.add(code)
        if not _listens:
            _listens = True
            ear.add(_hear)


def _hear(compilation: Compilation, whole: bool) -> None:
    from jaxviz.notebook.session import session

    if compilation.definition.code in _watched:
        session().note_compiled(compilation, "watched")


def _seen_at_calls(function: Any) -> Any:
    """The function, which notes with what it is called; not while JAX traces it, since then a compilation is heard."""
    import jax

    seen: set[Any] = set()

    @functools.wraps(function)
    def watched(*args: Any, **kwargs: Any) -> Any:
        leaves, tree = jax.tree_util.tree_flatten((args, kwargs))
        if not any(isinstance(leaf, jax.core.Tracer) for leaf in leaves):
            key = (tree, *map(_kind, leaves))
            if key not in seen:
                seen.add(key)
                _note_call(function, args, kwargs)
        return function(*args, **kwargs)

    return watched


def _kind(leaf: Any) -> Any:
    """What JAX would compile for: the type of an array or number, the value of anything else."""
    if is_array(leaf):
        return leaf.shape, str(leaf.dtype), getattr(leaf, "weak_type", False)
    if isinstance(leaf, (bool, int, float, complex)):
        return type(leaf)
    try:
        hash(leaf)
    except TypeError:
        return id(leaf)
    return leaf


def _note_call(function: Any, args: Any, kwargs: Any) -> None:
    from jaxviz.notebook.session import session
    from jaxviz.program.specialization import Specialization, definition_of, settings_now, signature_of

    special = Specialization(definition_of(function), signature_of(function, args, kwargs), settings_now(), time.time())
    session().note_called(special, function, args, kwargs)
