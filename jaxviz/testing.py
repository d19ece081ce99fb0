"""Assertions about what JAX makes of a function, for tests of the person's own::

    def test_step_is_lean():
        jv.testing.assert_no_unrolled_loop(step, params, x)
        jv.testing.assert_kernels(step, params, x, at_most=12)

All take a function and its arguments, of which types alone (`jax.ShapeDtypeStruct`) are enough, except where the
function must be called. What fails says where, and what to do.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import Any

from jaxviz.exploration import Exploration
from jaxviz.program.program import Program

__all__ = [
    "assert_compiles_once",
    "assert_flops",
    "assert_fused",
    "assert_kernels",
    "assert_no_collective",
    "assert_no_dead_code",
    "assert_no_unrolled_loop",
    "assert_peak_bytes",
]


def assert_no_unrolled_loop(fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> None:
    """No Python loop was unrolled into many copies of its body."""
    __tracebackhide__ = True
    _assert_no_finding("unrolled", fn, args, kwargs)


def assert_no_dead_code(fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> None:
    """Every line of the function reaches a result."""
    __tracebackhide__ = True
    _assert_no_finding("dead", fn, args, kwargs)


def assert_kernels(
    fn: Callable[..., Any], /, *args: Any, at_most: int, target: str | None = None, **kwargs: Any
) -> None:
    """The function runs as so many kernels at most, those in loops counted once."""
    __tracebackhide__ = True
    from jaxviz.costs.kernels import kernel_count

    exploration = _explored(fn, args, kwargs, target)
    count = kernel_count(exploration.hlo)
    if count > at_most:
        names = ", ".join(_kernel_names(exploration)[:12])
        raise AssertionError(f"{exploration.call} runs as {count} kernels, expected {at_most} at most: {names}")


def assert_flops(
    fn: Callable[..., Any], /, *args: Any, at_most: float, target: str | None = None, **kwargs: Any
) -> None:
    """A run of the function takes so many floating-point operations at most, by shapes::

    assert_flops(attention, q, k, v, at_most=5e9)
    """
    __tracebackhide__ = True
    from jaxviz.units import flops_text

    exploration = _explored(fn, args, kwargs, target)
    if exploration.flops > at_most:
        takes, most = flops_text(exploration.flops), flops_text(at_most)
        raise AssertionError(f"{exploration.call} takes {takes} in a run, expected {most} at most")


def assert_fused(
    fn: Callable[..., Any],
    /,
    *args: Any,
    operations: Sequence[str] | None = None,
    target: str | None = None,
    **kwargs: Any,
) -> None:
    """All that the function computes runs in one kernel, or all equations of the given names do::

    assert_fused(layer, x, operations=["dot_general", "add", "max"])
    """
    __tracebackhide__ = True
    exploration = _explored(fn, args, kwargs, target)
    where = _kernels_by_equation(exploration)
    if operations is not None:
        missing = [name for name in operations if name not in {name for name, _ in where}]
        if missing:
            there = ", ".join(sorted({name for name, _ in where}))
            raise AssertionError(f"{exploration.call} has no equation {missing[0]!r}; it has: {there}")
        where = [(name, kernels) for name, kernels in where if name in operations]
    alive = [(name, kernels) for name, kernels in where if kernels]
    kernels = set().union(*(kernels for _, kernels in alive))
    if len(kernels) > 1:
        graph = exploration.hlo
        placed = "; ".join(f"{name} in {_names(graph, found)}" for name, found in alive[:8])
        raise AssertionError(f"{exploration.call} is not fused into one kernel but runs as {len(kernels)}: {placed}")


def assert_no_collective(*args: Any, target: str | None = None, **kwargs: Any) -> None:
    """No communication between devices, or none of the given kinds::

    assert_no_collective(step, params, x)
    assert_no_collective("all-gather", step, params, x)
    """
    __tracebackhide__ = True
    from jaxviz.read.communication import COLLECTIVES, is_collective

    number = next((number for number, one in enumerate(args) if not isinstance(one, str)), len(args))
    kinds = [str(kind).replace("_", "-") for kind in args[:number]]
    unknown = [kind for kind in kinds if kind not in COLLECTIVES]
    if unknown:
        raise ValueError(f"{unknown[0]!r} is no collective; they are: {', '.join(sorted(COLLECTIVES))}")
    if number == len(args):
        raise TypeError("assert_no_collective wants a function and its arguments")
    exploration = _explored(args[number], args[number + 1 :], kwargs, target)
    found = []
    for node in exploration.hlo:
        name = node.op.replace("_", "-").removesuffix("-start")
        if is_collective(node.op) and (not kinds or name in kinds):
            found.append(name)
    if found:
        counted = ", ".join(f"{found.count(name)} {name}" for name in dict.fromkeys(found))
        raise AssertionError(f"{exploration.call} communicates between devices: {counted}")


def assert_peak_bytes(
    fn: Callable[..., Any], /, *args: Any, at_most: float, target: str | None = None, **kwargs: Any
) -> None:
    """The memory of arguments, results and all that is alive between them is so many bytes at most at its peak."""
    __tracebackhide__ = True
    from jaxviz import compat
    from jaxviz.compat.threads import outside_the_cache

    program = Program(fn, args, kwargs, target=target)
    with outside_the_cache():
        compiled = program.lower(program.jaxpr).compile()
    stats = compat.memory_of(compiled)
    peak = compat.peak_of(stats) if stats is not None else 0
    if not peak:
        raise RuntimeError(f"the compiler does not say how much memory {program.call} needs here")
    if peak > at_most:
        raise AssertionError(f"{program.call} needs {peak:,} bytes at its peak, expected {int(at_most):,} at most")


def assert_compiles_once(
    fn: Callable[..., Any] | None = None, /, *args: Any, **kwargs: Any
) -> AbstractContextManager[None]:
    """Two calls of the function compile nothing twice. Without a function, for what runs in a block::

    assert_compiles_once(train_step, params, batch)

    with assert_compiles_once():
        for batch in batches:
            params = train_step(params, batch)
    """
    __tracebackhide__ = True
    if fn is None:
        return _compiled_once()
    with _compiled_once():
        for _ in range(2):
            fn(*args, **kwargs)
    return _done()


@contextmanager
def _done() -> Iterator[None]:
    raise TypeError("assert_compiles_once has called the function already; leave it out to check a block")
    yield


@contextmanager
def _compiled_once() -> Iterator[None]:
    __tracebackhide__ = True
    from jaxviz.listening.recorder import recording

    with recording() as found:
        yield
    again = [
        (compilation, why)
        for compilation, why in zip(found.compilations, found.reasons, strict=True)
        if why[0].kind not in ("first", "redefined")
    ]
    if again:
        lines = [f"{len(again)} of {len(found)} compilations were of functions that had been compiled before:"]
        for compilation, why in again[:8]:
            place = f" (called at {compilation.place.file}:{compilation.place.line})" if compilation.place else ""
            lines.append(f"  {compilation.call}{place}: {'; '.join(reason.text for reason in why)}")
        lines += dict.fromkeys(f"  {reason.remedy}" for _, why in again for reason in why if reason.remedy)
        raise AssertionError("\n".join(lines))


def _explored(fn: Any, args: Any, kwargs: Any, target: str | None = None) -> Exploration:
    __tracebackhide__ = True
    exploration = Exploration(Program(fn, args, kwargs, target=target))
    exploration.trace()
    return exploration


def _assert_no_finding(kind: str, fn: Any, args: Any, kwargs: Any) -> None:
    __tracebackhide__ = True
    exploration = _explored(fn, args, kwargs)
    found = [finding for finding in exploration.found_in_jaxpr if finding.kind == kind]
    if found:
        lines = [f"{finding.title}. {finding.text} {finding.remedy}".rstrip() for finding in found]
        raise AssertionError(f"{exploration.call}: " + "\n".join(lines))


def _kernels_by_equation(exploration: Exploration) -> list[tuple[str, set[int]]]:
    """The name of each equation, and the kernels that its work is in."""
    from jaxviz.costs.kernels import kernels_of
    from jaxviz.graph import OPERATION

    graph, kernels = exploration.jaxpr, kernels_of(exploration.hlo)
    links = exploration.links("hlo")
    found: dict[int, set[int]] = {}
    for source, target in zip(links.source.tolist(), links.target.tolist(), strict=True):
        if kernels[target] >= 0:
            found.setdefault(source, set()).add(int(kernels[target]))
    strings = graph.tables.strings
    return [
        (strings[op], found.get(node, set()))
        for node, (kind, op) in enumerate(zip(graph.nodes.kind.tolist(), graph.nodes.op.tolist(), strict=True))
        if kind == OPERATION
    ]


def _kernel_names(exploration: Exploration) -> list[str]:
    from jaxviz.costs.kernels import kernels_of

    graph = exploration.hlo
    return [node.name or node.op for number, node in enumerate(graph) if kernels_of(graph)[number] == number]


def _names(graph: Any, nodes: set[int]) -> str:
    listed = list(graph)
    return ", ".join(listed[node].name or listed[node].op for node in sorted(nodes))
