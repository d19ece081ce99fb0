"""What makes one compilation of a function differ from another: the function object, and what its arguments are.

JAX compiles a function for types of arguments, values of static ones and the structure of both, and knows the function
by identity. All of that is kept here as data, without the arrays.
"""

from __future__ import annotations

import functools
import inspect
import itertools
import threading
import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import CodeType
from typing import Any

import jax

from jaxviz.arrays import is_array
from jaxviz.read.values import short_dtype

#: Settings of JAX that are part of what it compiles for.
SETTINGS = (
    "jax_enable_x64",
    "jax_default_matmul_precision",
    "jax_numpy_dtype_promotion",
    "jax_debug_nans",
    "jax_debug_infs",
    "jax_default_prng_impl",
    "jax_threefry_partitionable",
    "jax_default_device",
)
#: Options of `jax.jit` that are.
OPTIONS = ("static_argnums", "donate_argnums", "keep_unused", "device", "backend")
# The longest text of a static value or a captured variable.
_TEXT = 60
# Wrappers in wrappers: how deep functions are looked for among what a function captured.
_DEPTH = 3
# Layers around one function; what has more says of anything that it wraps something.
_MOST_LAYERS = 100


# Numbers for function objects.
_NUMBERS: Iterator[int] = itertools.count(1)


@dataclass(frozen=True)
class Leaf:
    """An array among the arguments, or a number that is traced like one. `placement` is empty where JAX may choose."""

    path: str
    dtype: str
    shape: tuple[Any, ...]
    weak: bool = False
    placement: str = ""

    @property
    def text(self) -> str:
        """The type as one reads it: `f32[3,4]`."""
        return f"{self.dtype}[{','.join(map(str, self.shape))}]"


@dataclass(frozen=True, eq=False)
class Static:
    """A value that is part of what is compiled."""

    path: str
    text: str
    value: Any = field(repr=False)
    #: Whether the call gave it; else it is the default of its parameter.
    given: bool = True

    def same(self, other: Static) -> bool:
        """As JAX compares them: of one type, and equal."""
        try:
            return type(self.value) is type(other.value) and bool(self.value == other.value)
        except Exception:  # An `__eq__` of the person's that fails, or that gives an array.
            return self.value is other.value


@dataclass(frozen=True, eq=False)
class Signature:
    """The arguments of a call, as far as a compilation depends on them. `trees` and `by_name` are by argument."""

    leaves: tuple[Leaf, ...] = ()
    statics: tuple[Static, ...] = ()
    trees: Mapping[str, Any] = field(default_factory=dict)
    by_name: frozenset[str] = frozenset()

    @property
    def text(self) -> str:
        """One line: the types of all leaves, weak ones with a tilde, and the static values."""
        arrays = [f"{leaf.path}: {'~' * leaf.weak}{leaf.text}" for leaf in self.leaves]
        return ", ".join(arrays + [f"{static.path} = {static.text}" for static in self.statics])


@dataclass(frozen=True, eq=False)
class Definition:
    """Where a function comes from, and which function object JAX was given."""

    name: str
    qualified: str
    file: str
    line: int
    code: CodeType | None = None
    #: Functions that the function captured: one decorator of the person's makes many functions of one code.
    around: tuple[CodeType, ...] = ()
    #: What stands around the code of the person's: partials, methods, wrappers of libraries such as `vmap`.
    layers: tuple[Any, ...] = ()
    #: Plain values that it captured, as text.
    captured: Mapping[str, str] = field(default_factory=dict)
    #: Gives the function object as long as somebody else keeps it.
    function: Callable[[], Any] = field(default=lambda: None, repr=False)
    #: The number of the function object, and of the one that the person wrote: two that lived at once and are equal
    #: have one, and no later object gets it, though it may lie at the same address.
    serial: int = field(default_factory=lambda: next(_NUMBERS), repr=False)
    inner_serial: int = field(default_factory=lambda: next(_NUMBERS), repr=False)
    #: The function of JAX, such as `fori_loop`, that was called outside of `jit`: it is told by what it was given.
    called: str = ""
    #: Whether that makes a function of its own of what it is given, a new one in each call.
    wrapping: bool = False
    #: Which piece of a transformation of a jitted function it is; empty for the function itself.
    piece: str = ""

    def same_object(self, other: Definition) -> bool:
        """Whether JAX takes both for one function. An object that is gone is no longer known to JAX either."""
        return self.serial == other.serial and not self.piece and not other.piece

    def made_again(self, other: Definition) -> bool:
        """Whether both are made of the same code, in the same way."""
        return (
            self.code is not None
            and self.code is other.code
            and self.piece == other.piece
            and not (self.piece and self.serial == other.serial)
            and (self.file, self.line) == (other.file, other.line)
            and _all_same(self.around, other.around)
            and _all_same(self.layers, other.layers)
        )

    def written_again(self, other: Definition) -> bool:
        """Whether one replaced the other: a cell or a module was run anew."""
        if self.code is None or other.code is None or self.code is other.code or self.qualified != other.qualified:
            return False
        if "<lambda>" in self.qualified:
            return False
        return self.file == other.file or (is_cell(self.file) and is_cell(other.file))


@dataclass(frozen=True, eq=False)
class Specialization:
    """A function, compiled for one kind of arguments. `settings` are those of JAX and of its jit; `when` is in seconds
    since 1970."""

    definition: Definition
    signature: Signature
    settings: Mapping[str, str]
    when: float


def definition_of(function: Any) -> Definition:
    """Of what was given to `jax.jit`, or called without it."""
    inner = innermost(function)
    code = getattr(inner, "__code__", None)
    if code is None:
        code = getattr(inspect.getattr_static(type(inner), "__call__", None), "__code__", None)
    code = code if isinstance(code, CodeType) else None
    name = getattr(inner, "__name__", None)
    name = name if isinstance(name, str) else type(inner).__name__
    qualified = getattr(inner, "__qualname__", None)
    captured = dict(_captured(function))
    return Definition(
        name,
        qualified if isinstance(qualified, str) else name,
        code.co_filename if code is not None else "",
        code.co_firstlineno if code is not None else 0,
        code,
        tuple(_codes_around(function)),
        tuple(_layers(function)),
        {key: _text(value) for key, value in captured.items() if is_plain(value)},
        _reference(function),
        _serial_of(function),
        _serial_of(inner),
    )


# JAX knows functions by their hash and by equality too.
_serials: weakref.WeakKeyDictionary[Any, int] = weakref.WeakKeyDictionary()
_lock = threading.Lock()


def _serial_of(function: Any) -> int:
    with _lock:
        number = next(_NUMBERS)
        try:
            return _serials.setdefault(function, number)
        except Exception:  # It cannot be hashed, compared or kept track of: it is taken for a new one each time.
            return number


def signature_of(
    function: Any,
    args: Sequence[Any],
    kwargs: Mapping[str, Any],
    *,
    static_argnums: Sequence[int] = (),
    static_argnames: Sequence[str] = (),
    types: Sequence[Any] | None = None,
) -> Signature:
    """Of a call. `types` are the abstract values that JAX made of its leaves, where they are known.

    >>> signature_of(lambda x, n: x, (1.0, 2), {}, static_argnums=(1,)).text
    'x: ~f32[], n = 2'
    """
    names = parameter_names(function, len(args))
    static = {number % len(args) for number in static_argnums if -len(args) <= number < len(args)}
    leaves: list[tuple[str, Any]] = []
    statics: list[Static] = []
    trees: dict[str, Any] = {}
    for number, argument in enumerate(args):
        if number in static:
            statics.append(Static(names[number], _text(argument), argument))
        else:
            _flatten(names[number], argument, leaves, trees)
    for name in sorted(kwargs):
        if name in static_argnames:
            statics.append(Static(name, _text(kwargs[name]), kwargs[name]))
        else:
            _flatten(name, kwargs[name], leaves, trees)
    # What is left to its default is a value that JAX compiles for like any other that is static.
    passed = {*names, *kwargs}
    after = [number for number in static_argnums if number >= len(args)]
    by_position = parameter_names(function, max(after) + 1) if after else []
    named = dict.fromkeys([*static_argnames, *(by_position[number] for number in after)])
    defaults = _defaults(function) if named else {}
    statics += [
        Static(name, _text(defaults[name]), defaults[name], given=False)
        for name in named
        if name not in passed and name in defaults
    ]
    known = types if types is not None and len(types) == len(leaves) else [None] * len(leaves)
    # Libraries that jit for the person may trace arrays alone, and take numbers as static values.
    arrays = sum(is_array(leaf) for _, leaf in leaves)
    only_arrays = types is not None and len(types) == arrays < len(leaves)
    described = []
    for (path, leaf), type_ in zip(leaves, known, strict=True):
        found = _leaf(path, leaf, type_) if is_array(leaf) or not only_arrays else None
        if found is None:
            statics.append(Static(path, _text(leaf), leaf))
        else:
            described.append(found)
    return Signature(tuple(described), tuple(statics), trees, frozenset(kwargs))


def settings_now(options: Any = None) -> dict[str, str]:
    """The settings of JAX that a compilation depends on, and what `jax.jit` was given."""
    settings = {name: str(getattr(jax.config, name, "")) for name in SETTINGS}
    return settings | {name: str(getattr(options, name)) for name in OPTIONS if hasattr(options, name)}


def is_partial(function: Any) -> bool:
    """Whether it is a function with some of its arguments; Equinox has a class of its own, for methods too."""
    kind = type(function)
    return isinstance(function, functools.partial) or (
        kind.__name__ == "Partial" and kind.__module__.partition(".")[0] == "equinox"
    )


def innermost(function: Any) -> Any:
    """The function that the person wrote: below partials, methods, jit and decorators that say what they wrap."""
    return wrapped(function)[-1]


def wrapped(function: Any) -> list[Any]:
    """A function, what it wraps, what that wraps, and so on, to the innermost.

    Some make a new object whenever they are asked what they wrap, and some, such as mocks, have no innermost.
    """
    found = [function]
    while len(found) < _MOST_LAYERS and (below := _below(found[-1])) is not None:
        found.append(below)
    return found if len(found) < _MOST_LAYERS else found[:1]


def _below(function: Any) -> Any:
    """What a function calls in the end, if it says so: one layer further in; None for the innermost."""
    if is_partial(function):
        return function.func
    if inspect.ismethod(function):
        return function.__func__
    return getattr(function, "__wrapped__", None)


def _flatten(name: str, argument: Any, leaves: list[tuple[str, Any]], trees: dict[str, Any]) -> None:
    found, tree = jax.tree_util.tree_flatten_with_path(argument)
    leaves += [(name + jax.tree_util.keystr(path), leaf) for path, leaf in found]
    trees[name] = tree


def _leaf(path: str, leaf: Any, type_: Any) -> Leaf | None:
    """How JAX sees a leaf; None for what it cannot trace."""
    if type_ is None:
        if not is_array(leaf):
            if not isinstance(leaf, (bool, int, float, complex)):
                return None
            dtype = short_dtype(jax.dtypes.canonicalize_dtype(jax.dtypes.result_type(leaf)))
            return Leaf(path, dtype, (), not isinstance(leaf, bool))
        type_ = getattr(leaf, "aval", leaf)
    shape = tuple(size if isinstance(size, int) else str(size) for size in type_.shape)
    dtype = type_.dtype
    if not jax.dtypes.issubdtype(dtype, jax.dtypes.extended):
        dtype = jax.dtypes.canonicalize_dtype(dtype)
    # What another function is traced with has no place yet.
    placed = not isinstance(leaf, jax.core.Tracer) and getattr(leaf, "committed", False)
    placement = _placement(leaf.sharding) if placed else ""
    return Leaf(path, short_dtype(dtype), shape, bool(getattr(type_, "weak_type", False)), placement)


def _placement(sharding: Any) -> str:
    """Where an array lies, as one reads it: `cpu:0`, `P('data', None) of the mesh data=4, model=2`."""
    spec, mesh = getattr(sharding, "spec", None), getattr(sharding, "mesh", None)
    if spec is not None and mesh is not None:
        axes = ", ".join(f"{name}={size}" for name, size in mesh.shape.items())
        memory = getattr(sharding, "memory_kind", None)
        kept = f" in {memory}" if memory not in (None, "device") else ""
        return f"P{tuple(spec)} of the mesh {axes}{kept}".replace(",)", ")")
    devices = sorted(getattr(sharding, "device_set", ()), key=lambda device: device.id)
    return ", ".join(f"{device.platform}:{device.id}" for device in devices) if len(devices) == 1 else str(sharding)


def parameter_names(function: Any, count: int) -> list[str]:
    """The name of each positional argument; `args[2]` for those without one of their own."""
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        parameters = []
    own = [one.name for one in parameters if one.kind in (one.POSITIONAL_ONLY, one.POSITIONAL_OR_KEYWORD)]
    rest = next((one.name for one in parameters if one.kind is one.VAR_POSITIONAL), "args")
    return own[:count] + [f"{rest}[{number}]" for number in range(count - len(own[:count]))]


def _defaults(function: Any) -> dict[str, Any]:
    """Of the parameters that need not be given."""
    try:
        parameters = inspect.signature(function).parameters
    except (TypeError, ValueError):
        return {}
    return {name: one.default for name, one in parameters.items() if one.default is not one.empty}


def _captured(function: Any) -> Iterator[tuple[str, Any]]:
    """What a function holds beside its code: variables of closures, arguments of partials."""
    while isinstance(function, functools.partial):
        yield from ((f"argument {number}", value) for number, value in enumerate(function.args))
        yield from function.keywords.items()
        function = function.func
    code = getattr(function, "__code__", None)
    for name, cell in zip(getattr(code, "co_freevars", ()), getattr(function, "__closure__", None) or (), strict=False):
        try:
            yield name, cell.cell_contents
        except ValueError:  # Not yet filled.
            continue


def _codes_around(function: Any, depth: int = _DEPTH) -> Iterator[CodeType]:
    for _, value in _captured(function):
        code = getattr(innermost(value), "__code__", None) if callable(value) else None
        if isinstance(code, CodeType):
            yield code
            if depth:
                yield from _codes_around(value, depth - 1)


def _layers(function: Any) -> Iterator[Any]:
    """What is around the innermost function: the code of each wrapper, or its class."""
    for one in wrapped(function)[:-1]:
        yield getattr(one, "__code__", None) or type(one)


def _reference(function: Any) -> Callable[[], Any]:
    try:
        return weakref.ref(function)
    except TypeError:
        return lambda: None


def _all_same(one: tuple[Any, ...], other: tuple[Any, ...]) -> bool:
    return len(one) == len(other) and all(a is b for a, b in zip(one, other, strict=True))


def is_cell(file: str) -> bool:
    """Whether code comes from a notebook or prompt, where each run of a cell is a file of its own."""
    return "ipykernel_" in file or file.startswith("<")


def is_plain(value: Any) -> bool:
    if isinstance(value, (tuple, list)):
        return len(value) <= 8 and all(map(is_plain, value))
    return isinstance(value, (bool, int, float, complex, str, type(None)))


def _text(value: Any) -> str:
    if callable(value) and hasattr(value, "__qualname__"):
        return str(value.__qualname__)
    try:
        text = " ".join(repr(value).split())
    except Exception:  # A `__repr__` of the person's.
        text = object.__repr__(value)
    return text if len(text) <= _TEXT else f"{text[: _TEXT - 1]}…"
