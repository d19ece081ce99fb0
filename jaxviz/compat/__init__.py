"""Differences between JAX versions, 0.6 to 0.12, and nothing else.

Every other module reads jaxprs through these names. Public names are preferred; what is private is optional, guarded,
and says for which versions it is there.
"""

from __future__ import annotations

import copy
import functools
import importlib
import os
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import lru_cache
from types import CodeType
from typing import Any, NamedTuple

import jax
import jaxlib


def _extension(name: str, private: str) -> Any:
    """A module of `jax.extend`. From 0.11 on, that imports Pallas, by whose settings compiled functions are known from
    then on: all that the person has compiled would be compiled again. There it is the private one behind it."""
    if jax.__version_info__ >= (0, 11) and "jax.extend" not in sys.modules:
        with suppress(ImportError):
            return importlib.import_module(private)
    return importlib.import_module(name)


_core = _extension("jax.extend.core", "jax._src.core")
Jaxpr = _core.Jaxpr
# One class with the other from 0.11 on.
ClosedJaxpr = getattr(_core, "ClosedJaxpr", Jaxpr)
Literal = _core.Literal
Var = _core.Var
Primitive = _core.Primitive
jaxpr_as_fun = _core.jaxpr_as_fun

#: The name stack of what has no scope around it.
NO_SCOPES = _extension("jax.extend.source_info_util", "jax._src.source_info_util").new_name_stack()
#: Whether what is in a function that is called several times has the name of its first call alone. So it was until 0.6.
NAMED_BY_FIRST_CALL = jax.__version_info__ < (0, 7)


class PartialJaxpr:
    """A jaxpr that JAX did not finish, because an error ended it; of what a jaxpr has, that which is read."""

    def __init__(
        self,
        eqns: tuple[Any, ...],
        invars: tuple[Any, ...],
        outvars: tuple[Any, ...],
        constvars: tuple[Any, ...],
        consts: tuple[Any, ...],
        trace: Any,
    ) -> None:
        self.eqns, self.invars, self.outvars = eqns, invars, outvars
        self.constvars, self.consts = constvars, consts
        self.debug_info = getattr(trace.frame, "debug_info", None)


class Operand(NamedTuple):
    """What went into a body: a variable from around it, as the argument of that number, whole or a slice each turn."""

    variable: Any
    argument: int
    sliced: bool


class UnfinishedEquation:
    """The operation whose body was being traced, with what is known of what goes in."""

    outvars: tuple[Any, ...] = ()

    def __init__(self, body: PartialJaxpr, operands: Sequence[Operand]) -> None:
        self.operands = operands
        self.invars = tuple(operand.variable for operand in operands)
        function = function_of(body)
        traced_for = getattr(body.debug_info, "traced_for", "") or "call"
        # `while_body` and `while_cond` are of one operation.
        kind = traced_for.replace("while_", "while ")
        self.primitive = Primitive(kind.partition(" ")[0])
        self.params = {f"{kind}_jaxpr": body, "name": function.name if function is not None else ""}
        self.source_info = _NO_SOURCE


class FailedEquation:
    """The operation that could not be made, called as the person wrote it, with what it was to be made of."""

    outvars: tuple[Any, ...] = ()

    def __init__(self, name: str, operands: tuple[Any, ...]) -> None:
        self.invars = operands
        self.primitive = Primitive(name)
        self.params: dict[str, Any] = {}
        self.source_info = _NO_SOURCE


class _NoSource:
    traceback = None
    name_stack = ""


_NO_SOURCE = _NoSource()

#: What a parameter of an equation is when it holds a body. One class from 0.11 on, where both names are the same.
BODY_CLASSES: frozenset[type] = frozenset({Jaxpr, ClosedJaxpr, PartialJaxpr})

#: Where JAX's own frames lie.
JAX_FOLDERS: tuple[str, ...] = tuple(
    os.path.dirname(os.path.abspath(package.__file__ or "")) + os.sep for package in (jax, jaxlib)
)

#: What of JAX is a library above it: solvers, which call the person's functions back.
JAX_SOLVERS: tuple[str, ...] = tuple(
    os.path.join(JAX_FOLDERS[0], *place)
    for place in (
        ("_src", "scipy", "optimize", ""),
        ("_src", "scipy", "sparse", ""),
        ("experimental", "ode.py"),
        ("experimental", "sparse", "linalg.py"),
    )
)


class Function(NamedTuple):
    """Where the Python function that a jaxpr was traced from begins; what tells its frame among others."""

    name: str
    file: str
    line: int


def open_jaxpr(jaxpr: Any) -> Any:
    """The equations of a jaxpr, closed or not. From 0.11 on this is the jaxpr itself."""
    return getattr(jaxpr, "jaxpr", jaxpr)


def constants_of(jaxpr: Any) -> Sequence[Any]:
    """The values of its constants; none for a jaxpr that is not closed."""
    return getattr(jaxpr, "consts", ())


def function_of(jaxpr: Any) -> Function | None:
    """The function that a jaxpr was traced from, where JAX remembers it."""
    debug_info = getattr(open_jaxpr(jaxpr), "debug_info", None)
    if debug_info is None:
        return None
    # JAX takes the three apart from this text each time they are asked for.
    text = debug_info.func_src_info
    function = _functions.get(text)
    if function is None:
        line = debug_info.func_lineno
        name, file = debug_info.func_name or "", debug_info.func_filename or ""
        # Where `pmap` is made of `shard_map`, what it maps is a wrapper of its own around the function.
        name = "pmap" if name == "_fun" and file.replace("\\", "/").endswith("jax/_src/pmap.py") else name
        function = Function(name, file, line or 0)
        if len(_functions) < _KNOWN_FUNCTIONS:
            _functions[text] = function
    return function


_KNOWN_FUNCTIONS = 10_000
_functions: dict[str, Function] = {}


def argument_names_of(jaxpr: Any) -> tuple[str, ...]:
    """A name for each argument as JAX knows it, such as `params[0]['w']`; empty where it knows none."""
    jaxpr = open_jaxpr(jaxpr)
    return _names(getattr(jaxpr, "debug_info", None), "arg_names", len(jaxpr.invars))


def result_names_of(jaxpr: Any) -> tuple[str, ...]:
    """A name for each result as JAX knows it, such as `result[0]`; empty where it knows none."""
    jaxpr = open_jaxpr(jaxpr)
    return _names(getattr(jaxpr, "debug_info", None), "result_paths", len(jaxpr.outvars))


def _names(debug_info: Any, field: str, count: int) -> tuple[str, ...]:
    names = getattr(debug_info, field, None)
    # A thunk while tracing, None where unknown, and of another length where a transformation added arguments.
    if not isinstance(names, (tuple, list)) or len(names) != count:
        return ("",) * count
    return _known_names(tuple(names))


@lru_cache(1024)
def _known_names(names: tuple[Any, ...]) -> tuple[str, ...]:
    return tuple(name if isinstance(name, str) and not _OF_NOBODY.fullmatch(name) else "" for name in names)


# What JAX calls arguments that it does not know, and those that `pmap` hands on.
_OF_NOBODY = re.compile(r"unknown|flat_args\[\d+\]")


def is_dropped(variable: Any) -> bool:
    """Whether a result of an equation has no reader and no name."""
    # The class is public from 0.7 on.
    return type(variable).__name__ == "DropVar"


def body_of(equations: Sequence[Any], arguments: Sequence[Any], results: Sequence[Any]) -> Any:
    """A closed jaxpr of these equations. What they do to the world is not declared: they are to be traced again."""
    empty = jax.make_jaxpr(lambda: ())()
    inner = open_jaxpr(empty)
    effects = {effect for equation in equations for effect in equation.effects}
    fields = {"invars": list(arguments), "outvars": list(results), "eqns": list(equations), "effects": effects}
    debug_info = getattr(inner, "debug_info", None)
    if debug_info is not None:
        # Names for arguments that the empty one has not.
        fields["debug_info"] = debug_info._replace(arg_names=("",) * len(arguments), result_paths=("",) * len(results))
    made = inner.replace(**fields)
    return made if inner is empty else ClosedJaxpr(made, ())


def scan_counts(params: Mapping[str, Any]) -> tuple[int, int]:
    """How many operands of a scan are constants, and how many the carry."""
    if "num_carry" in params:
        return params["num_consts"], params["num_carry"]
    # From 0.12 on the operands are described by a tree of three groups.
    constants, carry, _ = params["ft_in"].unpack()
    return len(list(constants)), len(list(carry))


def scope_text(name_stack: Any) -> str:
    """The name stack of an equation as JAX writes it. Each trace makes a new one, and most are empty."""
    # Private, there in all versions: the names that were pushed.
    stack = getattr(name_stack, "stack", None)
    if stack is None:
        return str(name_stack)
    if not stack:
        return ""
    # JAX 0.6 leaves out transformations that have no scope inside; newer ones write `jvp()`.
    return str(name_stack.extend("") if type(stack[-1]).__name__ == "Transform" else name_stack)


def raw_frames(traceback: Any) -> tuple[Sequence[CodeType], Sequence[int]]:
    """The code objects of a traceback of an equation, innermost first, and the instruction each stood at."""
    return traceback.raw_frames()


def location(traceback: Any, code: CodeType, instruction: int) -> tuple[int, int, int, int]:
    """First line, first column, last line, last column (in bytes, as Python counts them) of an instruction."""
    return traceback.code_addr2location(code, instruction)


def is_jitted(function: Any) -> bool:
    """Whether JAX itself made this of a function. Objects of other classes may have a method `trace` of their own."""
    return type(function).__module__.partition(".")[0] in ("jax", "jaxlib") and hasattr(function, "trace")


def static_arguments_of(jitted: Any) -> tuple[tuple[int, ...], tuple[str, ...]]:
    """The static arguments of a jitted function, by place and by name."""
    # Private; there from 0.6 to 0.12.
    info = getattr(jitted, "_jit_info", None)
    return tuple(getattr(info, "static_argnums", None) or ()), tuple(getattr(info, "static_argnames", None) or ())


def input_shardings(compiled: Any) -> Any:
    """The sharding of each argument of a compiled program, as a tree of their form; None where it does not say."""
    try:
        return compiled.input_shardings
    except (AttributeError, NotImplementedError, RuntimeError):
        return None


def start_trace(folder: str) -> None:
    """Starts the profiler, without events of Python where that can be asked for."""
    options = getattr(jax.profiler, "ProfileOptions", None)  # from 0.7 on
    if options is None:
        jax.profiler.start_trace(folder)
        return
    wanted = options()
    wanted.python_tracer_level = 0
    wanted.host_tracer_level = 2
    jax.profiler.start_trace(folder, profiler_options=wanted)


def profile_reader() -> Callable[[Any], Any] | None:
    """Reads a profile that was written to a file, from 0.7.2 on."""
    data = getattr(jax.profiler, "ProfileData", None)
    return None if data is None else lambda path: data.from_file(str(path))


def serialized_profile_reader() -> Callable[[bytes], Any] | None:
    """Reads a profile from its bytes, from 0.7.2 on."""
    data = getattr(jax.profiler, "ProfileData", None)
    return None if data is None else data.from_serialized_xspace


class CompilerHooks(NamedTuple):
    """To be called with each module, as a serialized proto, when the compiler has finished with its HLO."""

    add: Callable[[Callable[[bytes], None], str], None]
    remove: Callable[[str], None]


def compiler_hooks() -> CompilerHooks | None:
    """The hooks into the compiler of this process, from 0.10.2 on."""
    try:
        xla = _extension("jax.extend.xla", "jax._src.xla_transform")
    except ImportError:
        return None
    stage = xla.PipelineStage.POST_SCHEDULER

    def add(callback: Callable[[bytes], None], name: str) -> None:
        xla.register_hlo_module_transformation(callback, name=name, stage=stage, platforms="cpu")

    def remove(name: str) -> None:
        xla.clear_hlo_module_transformation(name, stage=stage, platforms="cpu")

    return CompilerHooks(add, remove)


def optimized_proto(compiled: Any) -> bytes:
    """The optimized module of a compiled program as a serialized `HloModuleProto`."""
    executable = compiled.runtime_executable()
    return executable.hlo_modules()[0].as_serialized_hlo_module_proto()


def platforms_of(lowered: Any) -> tuple[str, ...]:
    """What a lowered program is for: ("cpu",), ("cuda",); empty where JAX does not say, 0.6 to 0.12 do."""
    return tuple(getattr(getattr(lowered, "_lowering", None), "_platforms", None) or ())


def memory_of(compiled: Any) -> Any | None:
    """What the compiler says of memory, as `CompiledMemoryStats`; None where it says nothing."""
    try:
        return compiled.memory_analysis()
    except (NotImplementedError, RuntimeError):
        return None


def peak_of(stats: Any) -> int:
    """What a program needs at its peak, in bytes: where JAX does not say that (0.6), all that is set aside."""
    peak = getattr(stats, "peak_memory_in_bytes", 0)
    passed = stats.argument_size_in_bytes + stats.output_size_in_bytes - stats.alias_size_in_bytes
    return int(peak or passed + stats.temp_size_in_bytes)


def with_jaxpr(traced: Any, jaxpr: Any) -> Any | None:
    """A copy of a traced program that lowers another jaxpr of the same type; None where JAX is built otherwise.

    There is no public way that keeps the person's jit as it is: donation, shardings, compiler options.
    """
    other = copy.copy(traced)
    try:
        if hasattr(other, "_params"):  # from 0.7 on
            other._params = {**traced._params, "jaxpr": jaxpr}
            for cached in ("_lojax", "_closure_converted"):
                if hasattr(other, cached):
                    setattr(other, cached, None)
        else:
            lower = traced._lower_callable
            arguments = tuple(jaxpr if argument is traced.jaxpr else argument for argument in lower.args)
            keywords = {key: jaxpr if value is traced.jaxpr else value for key, value in lower.keywords.items()}
            other._lower_callable = functools.partial(lower.func, *arguments, **keywords)
            other.jaxpr = jaxpr
    except AttributeError:
        return None
    return other if other.jaxpr is jaxpr else None


def listen_to_durations(listener: Callable[..., None]) -> Callable[[], None]:
    """Has JAX tell how long each step of each compilation took; gives what ends that."""
    from jax import monitoring

    monitoring.register_event_duration_secs_listener(listener)

    def stop() -> None:
        unregister = getattr(monitoring, "unregister_event_duration_listener", None)
        if unregister is None:  # Public from 0.9 on; private, there in 0.6.
            private = importlib.import_module("jax._src.monitoring")
            unregister = getattr(private, "_unregister_event_duration_listener_by_callback", None)
        # Where there is neither it stays, and hears without doing anything.
        if unregister is not None:
            unregister(listener)

    return stop


def place_among_processes() -> tuple[int, int] | None:
    """The number of this process and how many there are, once `jax.distributed` knows; no device is asked for it."""
    with suppress(ImportError, AttributeError):
        # Private; what is public waits for the devices of all processes.
        from jax._src.distributed import global_state

        if global_state.client is not None:
            return int(global_state.process_id), int(global_state.num_processes)
    return None
