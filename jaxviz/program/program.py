"""A function and the arguments it is explored with; what JAX makes of it, each thing made once and timed.

Tracing calls the person's function; an error in it passes through as it is. Nothing else is run, and no state of JAX
changes.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from time import perf_counter
from typing import Any

import jax
from jax import export

from jaxviz import compat
from jaxviz.arrays import is_array
from jaxviz.compat.threads import surroundings
from jaxviz.program import accepted_equinox
from jaxviz.program.accepted import accepted
from jaxviz.program.accepted_equinox import EquinoxJit
from jaxviz.program.accepted_nnx import NnxJit
from jaxviz.program.calling_line import calling_line
from jaxviz.program.hearing import hearing_traces
from jaxviz.program.jit_options import JitOptions, Static, anew, options_within, static_at
from jaxviz.program.narrowing import Cut, Narrowed, cut_in, hearing_narrowed
from jaxviz.program.sampling import Sampler
from jaxviz.program.specialization import innermost, parameter_names
from jaxviz.read.frames import CallingLine, last_line_of
from jaxviz.read.garbage import with_rare_walks
from jaxviz.read.values import short_dtype
from jaxviz.scope.captured import CapturedNames
from jaxviz.scope.impure import Seen, seen_in
from jaxviz.scope.returned import names_of_results
from jaxviz.targets import Target, find_target

# The longest spelling of one argument in a call that is rebuilt from types.
_ARGUMENT_LENGTH = 40
# Parts of an argument that are spelled out one by one.
_MOST_PARTS = 8
#: What JAX made of a function that it was given the arguments of: it is called for results alone, and not traced again.
MADE = (jax.stages.Traced, jax.stages.Lowered, jax.stages.Compiled, export.Exported)


class Program:
    """`fn(*args, **kwargs)`, as JAX sees it. Arguments may be arrays, pytrees, numbers or `jax.ShapeDtypeStruct`.

    >>> program = Program(lambda x: x * 2.0, (1.0,), {})
    >>> program.jaxpr.eqns[0].primitive.name
    'mul'
    >>> program.argument_names, program.result_names
    (('x',), ('result',))
    """

    #: Whether only what JAX made of a call is known; the arguments are those of the jaxpr then, not of the function.
    is_recorded = False

    def __init__(
        self,
        fn: Callable[..., Any],
        args: Sequence[Any] = (),
        kwargs: Mapping[str, Any] | None = None,
        options: JitOptions | None = None,
        target: str | Target | None = None,
    ) -> None:
        if not callable(fn) or isinstance(fn, MADE):
            raise TypeError(
                f"expected a function and its arguments, but got {type(fn).__name__} as the function{_hint(fn)}"
            )
        self.fn = fn
        self.args = tuple(args)
        self.kwargs = dict(kwargs or {})
        #: What was said beside the call; a function that is jitted has its own, also below wrappers.
        self.options = options or options_within(fn, self.args, self.kwargs)
        #: Which arguments were said to be static.
        self.said_static = self.options.static_of(fn, len(self.args))
        #: What it is compiled for; None is the device that JAX uses anyway.
        self.target = find_target(target) if isinstance(target, str) else target
        #: What JAX is given of all that.
        self.accepted = accepted(fn, self.args, self.kwargs, self.said_static, self.options)
        #: What JAX was set to when the program was given; it is that program under no other settings.
        self.surroundings = surroundings(checks=False)
        #: Which line of the person's gave it.
        self.calling: CallingLine | None = calling_line()
        #: Where tracing spends its time.
        self.traced_where = Sampler()
        #: What each thing cost, by name: `trace`.
        self.seconds: dict[str, float] = {}
        #: Whether JAX had the trace of an earlier call, so that what tracing costs is not known.
        self.traced_before = False
        #: Types of 64 bits that tracing asked for and did not get.
        self.narrowed: tuple[Narrowed, ...] = ()

    def __repr__(self) -> str:
        return f"<Program {self.call}>"

    # Of the function.

    @cached_property
    def name(self) -> str:
        """Of the function, without the partials and methods around it."""
        function = innermost(self.fn)
        name = getattr(function, "__name__", None)
        return name if isinstance(name, str) else type(function).__name__

    @cached_property
    def file(self) -> str:
        """The file or notebook cell that defines the function; empty where that is not known."""
        code = self.code
        return code.co_filename if code is not None else ""

    @cached_property
    def line(self) -> int:
        """The line at which its definition begins, decorators included; 0 where that is not known."""
        code = self.code
        return code.co_firstlineno if code is not None else 0

    @cached_property
    def last_line(self) -> int:
        """The line at which its definition ends, as far as Python keeps that: that of its last code."""
        return last_line_of(self.code) if self.code is not None else 0

    @cached_property
    def code(self) -> Any:
        """Of the function below partials, methods and decorators; None where Python has none of it."""
        function = innermost(self.fn)
        code = getattr(function, "__code__", None)
        if code is None:
            code = getattr(innermost(type(function).__call__), "__code__", None)
        return code

    @cached_property
    def call(self) -> str:
        """The call, rebuilt from the types of its arguments: `settle(f32[16])`."""
        places, static = self.said_static
        names = parameter_names(self.fn, len(self.args))
        written = [
            _spell_static(argument, name) if number in places else _spell(argument, name)
            for number, (argument, name) in enumerate(zip(self.args, names, strict=True))
        ]
        written += [
            f"{name}={_spell_static(argument) if name in static else _spell(argument)}"
            for name, argument in self.kwargs.items()
        ]
        return f"{self.name}({', '.join(written)})"

    # What JAX makes of it.

    @cached_property
    def traced(self) -> Any:
        """`jax.stages.Traced`: the function traced with these arguments, by the person's own jit if it is jitted."""
        start = perf_counter()
        args, kwargs = self._placed_arguments
        jitted: Any = self.accepted.fn
        if self._is_bound_jit:
            # Bound, it would forget its object: `trace` is looked up on the function.
            jitted, args = jitted.__func__, (jitted.__self__, *args)
        elif self._is_jitted_here:
            jitted = jax.jit(anew(jitted), **self.options.given)
        with self.traced_where, hearing_traces() as heard, hearing_narrowed() as narrowed:
            # Equations stay, and each is many objects.
            traced = with_rare_walks(jitted.trace)(*args, **kwargs)
        self.seconds["trace"] = perf_counter() - start
        self.traced_before = not heard
        self.narrowed = tuple(narrowed)
        return traced

    @cached_property
    def jaxpr(self) -> Any:
        """The closed jaxpr."""
        return self.traced.jaxpr

    def lower(self, jaxpr: Any) -> Any:
        """`jax.stages.Lowered` of a copy of the jaxpr, with everything else as the person's own jit has it."""
        start = perf_counter()
        traced = compat.with_jaxpr(self.traced, jaxpr)
        lower = traced.lower if traced is not None else functools.partial(self._lower_anew, jaxpr)
        lowered = lower() if self.target is None else self.target.lower(lower, self.name)
        self.seconds["lower"] = perf_counter() - start
        return lowered

    def _lower_anew(self, jaxpr: Any) -> Any:
        """By public names alone, which costs a trace and loses the options of the person's jit."""
        run = compat.jaxpr_as_fun(jaxpr)
        tree = jax.tree_util.tree_structure(self.traced.out_info)

        def wrapper(*args: Any, **kwargs: Any) -> Any:
            return jax.tree_util.tree_unflatten(tree, run(*jax.tree_util.tree_leaves((args, kwargs))))

        wrapper.__name__ = self.name
        args, kwargs = self._placed_arguments
        numbers, names = self._static
        dynamic = [argument for number, argument in enumerate(args) if number not in numbers]
        named = {name: argument for name, argument in kwargs.items() if name not in names}
        return self._jit(wrapper).lower(*dynamic, **named)

    def _jit(self, function: Callable[..., Any]) -> Any:
        """What a function that is lowered anew is jitted with."""
        return jax.jit(function)

    def check_lengths(self) -> None:
        """Raise `OpenLengthsError` where a length of an argument is no number: there the compiler has none to make."""
        for name, aval in zip(self.argument_names, self.jaxpr.in_avals, strict=True):
            if not all(isinstance(length, int) for length in getattr(aval, "shape", ())):
                raise OpenLengthsError(
                    f"XLA compiles for known lengths: give numbers for those of `{name}`, {_spell(aval)}"
                )

    @property
    def _is_bound_jit(self) -> bool:
        fn = self.accepted.fn
        return inspect.ismethod(fn) and compat.is_jitted(fn.__func__) and not self.options

    @property
    def is_filtered(self) -> bool:
        """Whether Equinox jitted it, which hands JAX the arguments over in another form."""
        return isinstance(self.accepted.fn, EquinoxJit)

    @property
    def _is_jitted_here(self) -> bool:
        """Whether the function, or a jit of the person's to which something is added, is to be jitted."""
        return self.accepted.jitted is None or (bool(self.options) and not isinstance(self.accepted.fn, NnxJit))

    @cached_property
    def jit_options(self) -> JitOptions:
        """What another function of the same arguments is to be jitted with, to take them as this one does."""
        (numbers, names), first = self._static, int(self._is_bound_jit)
        infos, named = self.traced.args_info
        dynamic = [number for number in range(first + len(self.accepted.args)) if number not in numbers]
        donated = [number for number, info in zip(dynamic, infos, strict=True) if _is_donated(info)]
        places = (tuple(number - first for number in sorted(some) if number >= first) for some in (numbers, donated))
        return JitOptions(
            static_argnums=next(places),
            static_argnames=tuple(name for name in self.accepted.kwargs if name in names),
            donate_argnums=next(places),
            donate_argnames=tuple(name for name, info in named.items() if _is_donated(info)),
        )

    @cached_property
    def _static(self) -> Static:
        """The arguments that are part of what is compiled: their places among `_called_with`, and their names."""
        if self._is_jitted_here:
            return self.said_static
        return static_at(*compat.static_arguments_of(self.accepted.jitted), len(self._called_with))

    @property
    def _called_with(self) -> tuple[Any, ...]:
        return self._bound(self.accepted.args)

    def _bound(self, args: Sequence[Any]) -> tuple[Any, ...]:
        fn = self.accepted.fn
        return (fn.__self__, *args) if self._is_bound_jit else tuple(args)  # type: ignore[attr-defined]

    @property
    def dynamic_arguments(self) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """What the compiled program is called with: the arguments without those that are static."""
        return self.without_static(self.accepted.args, self.accepted.kwargs)

    def without_static(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """The same for other arguments that JAX accepts."""
        numbers, names = self._static
        dynamic = tuple(argument for number, argument in enumerate(self._bound(args)) if number not in numbers)
        return dynamic, {name: argument for name, argument in kwargs.items() if name not in names}

    def with_static(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """What the function itself is called with, for arguments like `dynamic_arguments`."""
        numbers, names = self._static
        dynamic = iter(args)
        full = tuple(
            argument if number in numbers else next(dynamic) for number, argument in enumerate(self._called_with)
        )
        static = {name: argument for name, argument in self.accepted.kwargs.items() if name in names}
        return self.accepted.complete(full, {**kwargs, **static})

    @property
    def _placed_arguments(self) -> tuple[Sequence[Any], Mapping[str, Any]]:
        """The arguments, those of them that have a type abstract and on the target's device if it is another."""
        given = self.accepted.args, self.accepted.kwargs
        return given if self.target is None else self.target.abstract(given)

    @cached_property
    def argument_names(self) -> tuple[str, ...]:
        """A name for each argument of the jaxpr, by its place in the arguments: `params[0]['w']`."""
        names = compat.argument_names_of(self.jaxpr)
        if all(names):
            known = self._names_in_models(names)
            return tuple(known.get(number, name) for number, name in enumerate(names))
        leaves = jax.tree_util.tree_flatten_with_path(getattr(self.traced, "args_info", ()))[0]
        paths = [f"args{jax.tree_util.keystr(path)}" for path, _ in leaves]
        fallback = paths if len(paths) == len(names) else [f"argument[{number}]" for number in range(len(names))]
        return tuple(name or other for name, other in zip(names, fallback, strict=True))

    @property
    def renamed_arguments(self) -> Mapping[str, str]:
        """By the name that JAX gives an argument, the one that it has here, where that is another."""
        pairs = zip(compat.argument_names_of(self.jaxpr), self.argument_names, strict=True)
        return {name: own for name, own in pairs if name and name != own}

    @cached_property
    def result_names(self) -> tuple[str, ...]:
        """A name for each result of the jaxpr, by its place in what the function gives: `result[0]['w']`."""
        names = compat.result_names_of(self.jaxpr)
        leaves = jax.tree_util.tree_flatten_with_path(getattr(self.traced, "out_info", ()))[0]
        if all(names):
            return self._results_in_models(names, leaves) if len(names) == len(leaves) else names
        paths = [f"result{jax.tree_util.keystr(path)}" for path, _ in leaves]
        fallback = paths if len(paths) == len(names) else [f"result[{number}]" for number in range(len(names))]
        return tuple(name or other for name, other in zip(names, fallback, strict=True))

    @cached_property
    def returned_names(self) -> tuple[str, ...]:
        """What the function itself calls each result of the jaxpr; empty for those without a name."""
        return names_of_results(self.fn, self.result_names)

    @cached_property
    def _leaves(self) -> list[tuple[Any, Any]]:
        """What JAX gets, each with its path."""
        numbers, names = self._static
        args = tuple(None if number in numbers else argument for number, argument in enumerate(self._called_with))
        kwargs = {name: None if name in names else argument for name, argument in self.accepted.kwargs.items()}
        return list(jax.tree_util.tree_flatten_with_path((args, kwargs))[0])

    def _names_in_models(self, names: Sequence[str]) -> dict[int, str]:
        """Of arguments that a library took out of a model, by their numbers: the argument, and what it is in that."""
        if not self.accepted.names or len(self._leaves) != len(names):
            return {}
        found = {}
        for number, ((path, _), name) in enumerate(zip(self._leaves, names, strict=True)):
            inside = self.accepted.names.get(jax.tree_util.keystr(path))
            if inside is not None:
                own = "" if self.is_filtered else name.removesuffix(jax.tree_util.keystr(path[2:]))
                found[number] = own + inside
        return found

    def _results_in_models(self, names: Sequence[str], leaves: Sequence[tuple[Any, Any]]) -> tuple[str, ...]:
        """A library gives back what is in models now at the places of the arguments, and what the function gives last:
        each of the former is called by the argument that it replaces. Equinox gives a marker beside it."""
        if self.is_filtered:
            return tuple(map(accepted_equinox.result_name, names))
        inside = {
            jax.tree_util.keystr(self._leaves[number][0]): name
            for number, name in self._names_in_models(compat.argument_names_of(self.jaxpr)).items()
        }
        if not inside:
            return tuple(names)
        return tuple(
            inside.get(jax.tree_util.keystr(path)) or f"result{jax.tree_util.keystr(path[1:])}" for path, _ in leaves
        )

    @cached_property
    def seen(self) -> tuple[Seen, ...]:
        """What the function does only while it is traced."""
        return seen_in(self.fn)

    @cached_property
    def donated(self) -> tuple[bool, ...]:
        """For each argument of the jaxpr whether its memory may be used for results; empty where JAX does not say."""
        leaves = jax.tree_util.tree_leaves(
            getattr(self.traced, "args_info", ()), is_leaf=lambda leaf: hasattr(leaf, "donated")
        )
        donated = tuple(bool(getattr(leaf, "donated", False)) for leaf in leaves)
        return donated if len(donated) == len(self.argument_names) and any(donated) else ()

    def constant_name(self, constant: Any) -> str:
        """The variable or attribute that a constant of the jaxpr was taken from; empty where it is not found."""
        return self._captured.of(constant)

    def constant_scope(self, constant: Any) -> str:
        """Where that variable lives; empty where it is not known."""
        return self._captured.scope_of(constant)

    @property
    def numbers(self) -> dict[str, int]:
        """The whole numbers around the function, by name."""
        return self._captured.numbers

    @cached_property
    def cut(self) -> tuple[Cut, ...]:
        """What arguments hold and JAX, which takes 32 bits of 64, does not keep."""
        known = len(self._leaves) == len(self.argument_names)
        return cut_in([leaf for _, leaf in self._leaves]) if known else ()

    @cached_property
    def _captured(self) -> CapturedNames:
        return CapturedNames(self.fn)


class OpenLengthsError(ValueError):
    """A program whose arguments have lengths that are names, as `jax.export` takes them."""


def _hint(fn: Any) -> str:
    """What to do with what is no function but was made of one."""
    if isinstance(fn, MADE):
        return ": jv.open shows what that holds"
    return ": jax.extend.core.jaxpr_as_fun makes a function of it" if isinstance(fn, compat.ClosedJaxpr) else ""


def _is_donated(info: Any) -> bool:
    return any(leaf.donated for leaf in jax.tree_util.tree_leaves(info, is_leaf=lambda leaf: hasattr(leaf, "donated")))


def _spell_static(argument: Any, name: str = "") -> str:
    """An argument that is part of what is compiled by its value, where that is short."""
    text = repr(argument)
    return text if len(text) <= _ARGUMENT_LENGTH else _spell(argument, name)


def _spell(argument: Any, name: str = "") -> str:
    """An argument by its type: f32[3,4], 2, {'w': f32[3]} where that is short, else by the name of its parameter."""
    if is_array(argument):
        return f"{short_dtype(argument.dtype)}[{','.join(map(str, argument.shape))}]"
    if isinstance(argument, float):
        # JAX has a class of its own for numbers whose type is known.
        text = float.__repr__(argument)
    elif isinstance(argument, (bool, int, complex, str, type(None))):
        text = repr(argument)
    elif (isinstance(argument, dict) or type(argument) in (tuple, list)) and len(argument) > _MOST_PARTS:
        text = name or type(argument).__name__
    elif isinstance(argument, dict):
        text = "{" + ", ".join(f"{key!r}: {_spell(value)}" for key, value in argument.items()) + "}"
    elif type(argument) in (tuple, list):
        inner = ", ".join(_spell(value) for value in argument)
        text = f"({inner})" if isinstance(argument, tuple) else f"[{inner}]"
    else:
        named = getattr(argument, "__name__", None)
        text = named if isinstance(named, str) else type(argument).__name__
    return text if len(text) <= _ARGUMENT_LENGTH else name or type(argument).__name__
